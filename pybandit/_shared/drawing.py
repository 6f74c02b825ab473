"""What all pictures share: colours, a figure, its edges. Matplotlib is imported inside."""

from pybandit._shared.optional import require

EXACT, RACING, DATA = "#6b7280", "#d9541e", "#c7ccd4"
SEQUENCE = ("#1f4e79", "#2a9d8f", "#e9a23b", "#d9541e", "#7b2d5b")


def percent(fraction):
    """A share as text: two digits, "100 %" for all."""
    return f"{100 * fraction:.3g} %" if fraction >= 0.995 else f"{100 * fraction:.2g} %"


def new_figure(width, height, rows=1, columns=1, **subplots):
    """A figure of its own, outside pyplot's state, and its axes (rows, columns)."""
    figure = require("matplotlib.figure", "plot").Figure(figsize=(width, height),
                                                         layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **subplots)


def pair_of_axes(axes, content):
    """The two axes given, for this content, or those of a figure of their own."""
    if axes is None:
        _, (axes,) = new_figure(9.0, 3.4, 1, 2)
    axes = list(axes)
    if len(axes) != 2:
        raise ValueError(f"axes must be two, for {content}; got {len(axes)}")
    return axes


def save(figure, path, dpi=100):
    """Write a picture; the name's ending gives the format."""
    figure.savefig(path, dpi=dpi)


def tidy(axis):
    """No frame above and to the right, small ticks."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=8)


def measured_figure(panels, x_label, y_label, log=False):
    """Panels of measured lines with intervals; rings are reference values.

    Parameters
    ----------
    panels : dict of str to list of dict
        Title -> lines with the keys ``label``, ``x``, ``y``, ``half`` (of an interval;
        0 for none) and ``reference``, which may hold None.
    x_label, y_label : str
    log : bool
        Both axes.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = new_figure(3.8 * len(panels), 3.4, 1, len(panels), sharey=True)
    for axis, (title, lines) in zip(axes[0], panels.items(), strict=True):
        for i, line in enumerate(lines):
            colour = SEQUENCE[i % len(SEQUENCE)]
            axis.errorbar(line["x"], line["y"], line["half"], fmt="o-", ms=3, lw=1, color=colour,
                          label=line["label"])
            known = [pair for pair in zip(line["x"], line["reference"], strict=True)
                     if pair[1] is not None]
            if known:
                axis.plot(*zip(*known, strict=True), "o", ms=8, mfc="none", color=colour)
        if log:
            axis.set_xscale("log")
            axis.set_yscale("log")
        axis.set_xlabel(x_label, fontsize=9)
        axis.set_title(title, fontsize=10, loc="left")
        tidy(axis)
    axes[0, 0].set_ylabel(y_label, fontsize=9)
    axes[0, 0].legend(fontsize=8, frameon=False)
    return figure
