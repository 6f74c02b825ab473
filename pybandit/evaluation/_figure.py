"""The picture of a race of models: running means, and where models were dropped."""

import numpy as np

from pybandit._shared.drawing import DATA, EXACT, SEQUENCE, new_figure, percent, tidy

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
    for model in np.setdiff1d(np.arange(result.n_arms), left).tolist():
        reads, means = _running_means(result, model, sign)
        axis.plot(reads, means, lw=0.6, color=DATA, zorder=1)
        axis.plot(reads[-1], means[-1], "o", ms=2.5, color=EXACT, zorder=2)
    for place, model in enumerate(left.tolist()):
        _draw_survivor(axis, result, model, sign, SEQUENCE[place % len(SEQUENCE)],
                       place < BANDS)
    _name_lines(axis, [(result.name(model), result.pulls[model], sign * result.means[model],
                        SEQUENCE[place % len(SEQUENCE)])
                       for place, model in enumerate(left.tolist()) if model in result.best_arms])
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
    if band and result._has_bounds:
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
    total = result.n_arms * result.n_items
    share = f"{percent(result.fraction_read)} of {total:,} scores read"
    if not result.decided and result._budgeted:
        return f"budget used, not certified: {share}"
    if not result.decided:
        return f"not decided, {result.survivors.size} of {result.n_arms} models left: {share}"
    best = "best" if result.best_arms.size == 1 else f"{result.best_arms.size} best"
    return f"{best} of {result.n_arms} models: {share}"
