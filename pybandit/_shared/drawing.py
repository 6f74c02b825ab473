"""Colours, axes and legends of all plots. Matplotlib is imported inside the functions."""

from itertools import product

from pybandit._shared.optional import require

EXACT, RACING, DATA = "#6b7280", "#d9541e", "#c7ccd4"
# Matplotlib's petroff10, which is safe for colour-blind readers; Matplotlib has it from 3.10 on.
COLOURS = ("#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6", "#a96b59", "#e76300", "#b9ac70",
           "#717581", "#92dadd")
STYLES = "-", "--", ":", "-."
# With more entries, the legend is to the right of the axes, and lines have bars instead of bands,
# which would blend into grey.
FEW = 4


def percent(fraction):
    """Return a share as text with two digits; "100 %" for all."""
    return f"{100 * fraction:.3g} %" if fraction >= 0.995 else f"{100 * fraction:.2g} %"


def line_styles(n):
    """Return the keywords of n lines: 40 pairs of colour and style, then grey.

    If n is above 40, only the first ten have a colour.
    """
    pairs = [{"color": colour, "ls": style} for style, colour in product(STYLES, COLOURS)]
    if n <= len(pairs):
        return pairs[:n]
    return pairs[:len(COLOURS)] + [{"color": DATA, "ls": "-"}] * (n - len(COLOURS))


def axes_or_new(ax, figsize=(6.4, 4.0)):
    """Return `ax`, or the axes of a new pyplot figure if it is None."""
    if ax is None:
        pyplot = require("matplotlib.pyplot", "plot")
        return pyplot.subplots(figsize=figsize, layout="constrained")[1]
    if not hasattr(ax, "get_figure") or not hasattr(ax, "plot"):
        raise TypeError(f"ax must be one matplotlib Axes; got an object of type "
                        f"{type(ax).__name__}")
    return ax


def new_figure(width, height, rows=1, columns=1, **subplots):
    """Return a figure outside pyplot's state, and its axes (rows, columns).

    For commands, reports and threads, which must not leave figures open in pyplot.
    """
    figure = require("matplotlib.figure", "plot").Figure(figsize=(width, height),
                                                         layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **subplots)


def save(figure, path, dpi=100):
    """Write a figure; the ending of the name gives the format."""
    figure.savefig(path, dpi=dpi)


def tidy(axis, title=None):
    """Remove the frame above and to the right, use small ticks, and set the title."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=8)
    if title is not None:
        axis.set_title(title, fontsize=10, loc="left")


def label_axes(axis, x, y):
    """Set the labels of both axes in the size of all plots."""
    axis.set_xlabel(x, fontsize=9)
    axis.set_ylabel(y, fontsize=9)


def scale_axes(axis, logx, logy):
    """Use logarithmic axes if asked for."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for log, set_scale, one in ((logx, axis.set_xscale, axis.xaxis),
                                (logy, axis.set_yscale, axis.yaxis)):
        if log:
            set_scale("log")
            one.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
            one.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.12g}"))
            one.set_minor_formatter(NullFormatter())


def add_legend(axis, labelled=None):
    """Add a legend, to the right of the axes if it has more than four entries.

    The entries are those of `labelled`, other axes of the figure, if given.
    """
    entries = (labelled or axis).get_legend_handles_labels()
    place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if len(entries[1]) > FEW else {}
    axis.legend(*entries, fontsize=8, frameon=False, handlelength=2.6, **place)


def draw_band(axis, x, low, high, colour):
    """Draw a band behind a line."""
    axis.fill_between(x, low, high, facecolor=colour, alpha=0.2, lw=0)


def draw_bars(axis, x, y, low, high, colour, place, most=6):
    """Draw up to `most` error bars along a line, at points that differ by `place`."""
    step = -(-len(x) // most)
    at = slice(place % step, None, step)
    axis.errorbar(x[at], y[at], [(y - low)[at], (high - y)[at]], fmt="none", ecolor=colour,
                  elinewidth=1.0, capsize=2, capthick=1.0, alpha=0.8)


def draw_points(axis, means, lows, highs, names, colours):
    """Draw a named point with a bar for each row, the first at the top."""
    for row, (mean, low, high, colour) in enumerate(zip(means, lows, highs, colours, strict=True)):
        axis.errorbar(mean, row, xerr=[[mean - low], [high - mean]], fmt="o", ms=4, color=colour)
    axis.set_yticks(range(len(names)), names)
    for label in axis.get_yticklabels():
        label.set_parse_math(False)
    axis.invert_yaxis()


def height_for(rows):
    """Return the height in inches of axes with this number of named rows."""
    return max(2.4, 0.9 + 0.2 * rows)


def measured_figure(panels, x_label, y_label, log=False):
    """Draw panels of measured lines with intervals; rings are reference values.

    Parameters
    ----------
    panels : dict of str to list of dict
        Title -> lines with the keys ``label``, ``x``, ``y``, ``half`` (of an interval;
        0 for none) and ``reference``, which may hold None.
    x_label, y_label : str
    log : bool
        Use logarithmic scales on both axes.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = new_figure(3.8 * len(panels), 3.4, 1, len(panels), sharey=True)
    for axis, (title, lines) in zip(axes[0], panels.items(), strict=True):
        for line, style in zip(lines, line_styles(len(lines)), strict=True):
            axis.errorbar(line["x"], line["y"], line["half"], marker="o", ms=3, lw=1,
                          label=line["label"], **style)
            known = [pair for pair in zip(line["x"], line["reference"], strict=True)
                     if pair[1] is not None]
            if known:
                axis.plot(*zip(*known, strict=True), "o", ms=8, mfc="none", color=style["color"])
        scale_axes(axis, log, log)
        axis.set_xlabel(x_label, fontsize=9)
        tidy(axis, title)
    axes[0, 0].set_ylabel(y_label, fontsize=9)
    add_legend(axes[0, -1], axes[0, 0])
    return figure
