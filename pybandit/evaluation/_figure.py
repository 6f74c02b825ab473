"""Pictures of the demo and the examples. Matplotlib is imported inside the functions."""

import numpy as np

from pybandit._drawing import DATA, EXACT, RACING, SEQUENCE, new_figure, percent, save, tidy
from pybandit._simulation_figures import measured_figure, simulation_figure

__all__ = ["demo_figure", "elimination_figure", "leaderboard_figure", "measured_figure",
           "new_figure", "percent", "race_figure", "save", "simulation_figure"]


def demo_figure(results):
    """One row for each subject: data, exact posterior, racing draws, time a draw.

    Parameters
    ----------
    results : list of (Subject, list of Comparison)
        As `demo.run` returns.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = new_figure(13.0, 3.3 * len(results), len(results), 4,
                              gridspec_kw={"width_ratios": [1.25, 1, 1, 1.3]})
    for row, (subject, lines) in zip(axes, results, strict=True):
        best = lines[-1]
        _draw_data(row[0], subject, best.exact.probabilities)
        top = best.exact.probabilities.max()
        _draw_cells(row[1], subject.fine, best.exact.probabilities, top, "exact posterior")
        _draw_cells(row[2], subject.fine, best.frequencies, top,
                    f"{best.n_draws:,} racing draws, {percent(best.fraction)} read")
        _draw_times(row[3], lines)
    return figure


def _draw_data(axis, subject, probabilities):
    cell = int(np.argmax(probabilities))
    dof, scale = (values[cell] for values in subject.fine.cells())
    values = subject.observations
    reach = np.quantile(np.abs(values), 0.9995)
    axis.hist(values, bins=np.linspace(-reach, reach, 121), density=True, color=DATA, log=True)
    x = np.linspace(-reach, reach, 801)
    axis.plot(x, _student_density(x, dof, scale), color=RACING, lw=1.4)
    floor, _ = axis.get_ylim()
    axis.set_ylim(floor, 30.0)
    axis.set_title(f"{subject.name.partition(':')[0]}: {values.size:,} factors", fontsize=10,
                   loc="left")
    axis.set_xlabel(f"{subject.name.partition(': ')[2]} ({subject.unit})", fontsize=8.5)
    axis.set_ylabel("density", fontsize=8.5)
    tidy(axis)
    inset = axis.inset_axes([0.62, 0.66, 0.38, 0.34])
    if subject.source.ndim == 2:
        inset.imshow(subject.source[::4, ::4], cmap="gray")
    else:
        inset.plot(subject.source, lw=0.25, color=EXACT)
    inset.set_axis_off()


def _student_density(x, dof, scale):
    from scipy.stats import t

    return t.pdf(x, dof, scale=scale)


def _draw_cells(axis, grid, probabilities, top, title):
    axis.pcolormesh(grid.scale, grid.dof, probabilities.reshape(grid.shape), cmap="Blues",
                    vmin=0.0, vmax=top, shading="nearest", edgecolors="white", linewidth=0.4)
    axis.set_title(title, fontsize=10, loc="left")
    axis.set_xlabel("scale", fontsize=8.5)
    axis.set_ylabel("degrees of freedom", fontsize=8.5)
    axis.locator_params(nbins=5)
    tidy(axis)


def _draw_times(axis, lines):
    """Bars of milliseconds a draw, with the share read beside each."""
    where = np.arange(len(lines))[::-1]
    exact = [1e3 * line.exact.seconds for line in lines]
    racing = [1e3 * line.seconds for line in lines]
    axis.barh(where + 0.19, exact, 0.36, color=EXACT, label="exact")
    axis.barh(where - 0.19, racing, 0.36, color=RACING, label="racing")
    for y, line, milliseconds in zip(where, lines, racing, strict=True):
        axis.annotate(f"{percent(line.fraction)} read", (milliseconds, y - 0.19), (4, 0),
                      textcoords="offset points", va="center", fontsize=8, color=RACING)
    axis.set_xscale("log")
    axis.set_xlim(0.4 * min(*exact, *racing), 12.0 * max(*exact, *racing))
    axis.set_yticks(where, [line.label.replace(", ", ",\n") for line in lines])
    axis.set_title("time a draw (ms)", fontsize=10, loc="left")
    axis.legend(fontsize=8, frameon=False, loc="lower right")
    tidy(axis)


def race_figure(table, deltas):
    """Errors and share read of the synthetic race, against the noise of the factors.

    Parameters
    ----------
    table : list of dict
        Keys ``distribution``, ``sigma``, ``delta``, ``error``, ``error_interval`` (low, high),
        ``proportion``, and ``reference_error``, ``reference_proportion``, which may be None.
    deltas : sequence of float

    Returns
    -------
    matplotlib.figure.Figure
    """
    distributions = list(dict.fromkeys(row["distribution"] for row in table))
    figure, axes = new_figure(3.6 * len(distributions), 5.8, 2, len(distributions), sharex=True,
                              sharey="row")
    for column, distribution in zip(axes.T, distributions, strict=True):
        for i, (delta, colour) in enumerate(zip(deltas, SEQUENCE, strict=False)):
            rows = [row for row in table
                    if row["distribution"] == distribution and row["delta"] == delta]
            _draw_errors(column[0], rows, delta, 1.2 ** (2 * i - len(deltas) + 1), colour)
            _draw_proportions(column[1], rows, delta, colour)
        column[0].set_title(f"{distribution} factors", fontsize=10, loc="left")
        column[1].set_xlabel(r"$\sigma$, deviation of the log factors", fontsize=9)
        for axis in column:
            axis.set_xscale("log")
            tidy(axis)
    axes[0, 0].set_yscale("symlog", linthresh=1e-4, linscale=0.5)
    axes[0, 0].set_ylim(-2e-5, 0.3)
    axes[0, 0].set_ylabel("wrong winners, 95 % (dotted: $\\delta$)", fontsize=9)
    axes[1, 0].set_yscale("log")
    axes[1, 0].set_ylabel("share read (rings: reference)", fontsize=9)
    axes[1, 0].legend(fontsize=8, frameon=False)
    return figure


def _draw_errors(axis, rows, delta, shift, colour):
    """Dots with intervals, moved sideways so that they do not hide each other."""
    x = [shift * row["sigma"] for row in rows]
    error = np.array([row["error"] for row in rows])
    low, high = np.transpose([row["error_interval"] for row in rows])
    axis.errorbar(x, error, [error - low, high - error], fmt="o", ms=3, lw=1, color=colour)
    _draw_rings(axis, x, rows, "reference_error", colour)
    axis.axhline(delta, color=colour, lw=0.8, ls=":")


def _draw_proportions(axis, rows, delta, colour):
    x = [row["sigma"] for row in rows]
    axis.plot(x, [row["proportion"] for row in rows], "o-", ms=3, lw=1, color=colour,
              label=rf"$\delta$ = {delta:g}")
    _draw_rings(axis, x, rows, "reference_proportion", colour)


def _draw_rings(axis, x, rows, what, colour):
    known = [(place, row[what]) for place, row in zip(x, rows, strict=True)
             if row[what] is not None]
    if known:
        axis.plot(*zip(*known, strict=True), "o", ms=8, mfc="none", color=colour)


# Points of a line and bands at most; more cannot be seen.
LINE_POINTS, BANDS = 400, len(SEQUENCE)


def elimination_figure(result, axis=None, sign=1):
    """Running mean of every model over the items read, and where models were dropped.

    Parameters
    ----------
    result : BestOfResult
    axis : matplotlib.axes.Axes, optional
        Where to draw; by default a figure of its own.
    sign : {1, -1}
        -1 where the result is about negated scores, to show them as they were.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = axis.figure if axis is not None else None
    if figure is None:
        figure, ((axis,),) = new_figure(8.0, 4.5)
    left = result.survivors[np.argsort(-result.means[result.survivors], kind="stable")]
    for model in np.setdiff1d(np.arange(result.n_models), left).tolist():
        reads, means = _running_means(result, model, sign)
        axis.plot(reads, means, lw=0.6, color=DATA, zorder=1)
        axis.plot(reads[-1], means[-1], "o", ms=2.5, color=EXACT, zorder=2)
    for place, model in enumerate(left.tolist()):
        _draw_survivor(axis, result, model, sign, SEQUENCE[place % len(SEQUENCE)],
                       place < BANDS)
    _name_lines(axis, [(result.name(model), result.pulls[model], sign * result.means[model],
                        SEQUENCE[place % len(SEQUENCE)])
                       for place, model in enumerate(left.tolist()) if model in result.top])
    axis.set_xscale("log")
    axis.set_xlim(0.9, 1.1 * max(2, result.pulls.max()))
    axis.set_xlabel("items read (dots: dropped)", fontsize=9)
    axis.set_ylabel("mean score so far", fontsize=9)
    axis.set_title(_share_title(result), fontsize=10, loc="left")
    tidy(axis)
    return figure


def _draw_survivor(axis, result, model, sign, colour, band):
    reads, means = _running_means(result, model, sign)
    axis.plot(reads, means, lw=1.6 if band else 0.8, color=colour, zorder=4)
    if band and isinstance(result.value_range, tuple):
        lower, upper = (sign * bound[reads - 1] for bound in result.confidence_sequence(model))
        axis.fill_between(reads, lower, upper, color=colour, alpha=0.15, lw=0, zorder=3)


def _name_lines(axis, lines):
    """Names at the ends of lines (name, x, y, colour), moved down until they are legible."""
    low, high = axis.get_ylim()
    points = 72 * axis.bbox.height / axis.figure.dpi
    gap, last = 10 * (high - low) / points, np.inf
    for name, x, y, colour in sorted(lines, key=lambda line: -line[2]):
        last = min(y, last - gap)
        axis.annotate(name, (x, last), (4, 0), textcoords="offset points", va="center",
                      fontsize=9, color=colour, annotation_clip=False, parse_math=False)


def _running_means(result, model, sign):
    """Items read, evenly on a log scale, and the mean after each."""
    means = sign * np.cumsum(result.rewards(model)) / np.arange(1, result.pulls[model] + 1)
    reads = np.unique(np.geomspace(1, means.size, LINE_POINTS).round().astype(np.int64))
    return reads, means[reads - 1]


def _share_title(result):
    total = result.n_models * result.n_items
    share = f"{percent(result.fraction_read)} of {total:,} scores read"
    if not result.decided:
        return f"not decided, {result.survivors.size} of {result.n_models} models left: {share}"
    best = "best" if result.top.size == 1 else f"{result.top.size} best"
    return f"{best} of {result.n_models} models: {share}"


def leaderboard_figure(table, means, rows_read, n_rows):
    """Share of a table of scores that each bound reads, and how long each model is read.

    Parameters
    ----------
    table : list of dict
        Keys ``bound``, ``share``, ``low``, ``high`` (quantiles of the share), ``errors``,
        ``orders``.
    means : ndarray of float, shape (D,)
        Mean score of each model over all rows.
    rows_read : ndarray of int, shape (D,)
        Rows each model was read on in one race.
    n_rows : int

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = new_figure(10.0, 3.6, 1, 2)
    bars, dots = axes[0]
    where = np.arange(len(table))[::-1]
    share, low, high = (100 * np.array([row[key] for row in table])
                        for key in ("share", "low", "high"))
    colours = [RACING if row["bound"].startswith("betting") else EXACT for row in table]
    bars.barh(where, share, 0.6, color=colours,
              xerr=[np.maximum(share - low, 0.0), np.maximum(high - share, 0.0)],
              error_kw={"lw": 0.8, "ecolor": DATA})
    for y, row, end in zip(where, table, np.maximum(share, high), strict=True):
        bars.annotate(f"{100 * row['share']:.3g} %, {row['errors']} of {row['orders']} wrong",
                      (end, y), (4, 0), textcoords="offset points", va="center", fontsize=8)
    bars.set_yticks(where, [row["bound"] for row in table])
    bars.set_xlim(0.0, 1.7 * high.max())
    bars.set_xticks(np.arange(0, 101, 20))
    bars.set_title("of the table read, % (line: middle 80 %)", fontsize=10, loc="left")
    order = np.argsort(-means)
    dots.plot(np.arange(1, means.size + 1), rows_read[order], "o", ms=4, color=RACING)
    dots.axhline(n_rows, color=EXACT, lw=0.8, ls=":")
    dots.set_yscale("log")
    dots.set_xlabel("rank of the model", fontsize=9)
    dots.set_title(f"rows read until dropped, of {n_rows:,}; betting, one race", fontsize=10,
                   loc="left")
    tidy(bars)
    tidy(dots)
    return figure
