"""Plots of races: running means with names, and intervals around a threshold."""

import numpy as np

from pybandit._shared.drawing import (
    COLOURS,
    DATA,
    EXACT,
    FEW,
    RACING,
    axes_or_new,
    draw_band,
    draw_bars,
    draw_points,
    height_for,
    label_axes,
    line_styles,
    percent,
    scale_axes,
    tidy,
)
from pybandit.betting import confidence_sequence

# Maximum number of points per line (more cannot be seen), and of models with a name.
LINE_POINTS, MOST_NAMES = 400, 100
NAME_POINTS = 9.0  # height of a name and of the gap to the next one


def plot_height(result):
    """Return the height in inches of a figure with a name for each model, up to 100."""
    return max(4.5, 0.8 + min(result.n_arms, MOST_NAMES) * NAME_POINTS * 1.25 / 72)


def elimination_axes(result, ax=None, logx=True, sign=1):
    """Draw the running mean of every model over the items read; dots mark eliminations.

    Models are in the order of their rank: survivors by mean, then the others by the number of
    items read. Each has its name to the right of the axes, and the survivors have a band or bars.
    `sign` is -1 if the result is about negated scores, which are then drawn with their own sign.
    """
    order = _by_rank(result)
    named = order[:MOST_NAMES]
    ax = axes_or_new(ax, (8.0, plot_height(result)))
    start = _first_item(result) if logx else 1
    ends = []
    for place, (model, style) in enumerate(zip(order, line_styles(len(order)), strict=True)):
        ends.append(_draw_model(ax, result, model, place, style, start, sign))
    scale_axes(ax, logx, False)
    ax.set_xlim(start, 1.02 * max(2, result.pulls.max()))
    sure = f", {100 - 100 * result.delta:g} %" if result._has_bounds else ""
    label_axes(ax, "items read (dots: eliminated)", f"mean score so far{sure}")
    tidy(ax, _share_title(result))
    _name_lines(ax, ends[:MOST_NAMES], len(order) - len(named))
    return ax


def threshold_axes(result, ax=None):
    """Draw the mean of every model with its confidence bounds, and the threshold as a line."""
    order = result._order()[:MOST_NAMES]
    ax = axes_or_new(ax, (6.4, height_for(len(order))))
    bounds = [confidence_sequence(
        result.rewards(arm), population_size=result.population_size, delta=result.delta,
        value_range=result.value_range) for arm in order if result.pulls[arm]]
    shown = [arm for arm in order if result.pulls[arm]]
    colours = [RACING if arm in result.above else EXACT if arm in result.below else COLOURS[1]
               for arm in shown]
    draw_points(ax, result.means[shown], [one.lower[-1] for one in bounds],
                [one.upper[-1] for one in bounds], [result.name(arm) for arm in shown], colours)
    ax.axvline(result.threshold, color=EXACT, ls="--", lw=1.2)
    more = f", {result.n_arms - len(order):,} more" if result.n_arms > len(order) else ""
    ax.set_xlabel(f"mean score, {100 - 100 * result.delta:g} % per model; line: threshold",
                  fontsize=9)
    tidy(ax, f"{result.above.size:,} above, {result.below.size:,} below, {result.survivors.size:,} "
             f"not decided{more}")
    return ax


def _draw_model(axis, result, model, place, style, start, sign):
    """Draw the line of a model, its band or bars, and a dot if the model is eliminated.

    Returns the name of the model, the last point of its line (x, y) and its colour.
    """
    reads, means = _running_means(result, model, start, sign)
    n_left, colour = result.survivors.size, style["color"]
    is_left = place < n_left
    if is_left and result._has_bounds and colour != DATA:
        bounds = (sign * bound[reads - 1] for bound in result.confidence_sequence(model))
        lower, upper = bounds if sign > 0 else reversed(list(bounds))
        if n_left <= FEW:
            draw_band(axis, reads, lower, upper, colour)
        else:
            draw_bars(axis, reads, means, lower, upper, colour, place, most=2)
    name, front = result.name(model), colour != DATA
    axis.plot(reads, means, lw=1.6 if is_left and front else 0.8, zorder=2 + is_left + front,
              label=name, **style)
    if not is_left:
        axis.plot(reads[-1], means[-1], "o", ms=2.5, color=colour, zorder=3)
    return name, reads[-1], means[-1], colour


def _by_rank(result):
    left = result.survivors[np.argsort(-result.means[result.survivors], kind="stable")]
    gone = np.setdiff1d(np.arange(result.n_arms), left)
    gone = gone[np.lexsort((-result.means[gone], -result.pulls[gone]))]
    return np.concatenate([left, gone]).tolist()


def _first_item(result):
    """Return the first item of a logarithmic axis: before it, no model had been eliminated."""
    return max(1, int(result.pulls.min()) // 2)


def _name_lines(axis, ends, n_unnamed):
    """Write names to the right of the axes, moved apart, with leaders to the ends of lines."""
    figure = axis.get_figure()
    figure.draw_without_rendering()  # so that the layout has set the height of the axes
    height = 72 * axis.get_position().height * figure.get_size_inches()[1]
    low, high = axis.get_ylim()
    size = min(8.0, 0.8 * height / max(1, len(ends)))
    gap = 1.25 * size * (high - low) / height
    order = sorted(range(len(ends)), key=lambda i: -ends[i][2])
    places, last = {}, np.inf
    for i in order:
        last = places[i] = min(ends[i][2], last - gap)
    short = low - last  # names that would leave the axes at the bottom push the others up
    last = low
    for i in reversed(order):
        if short > 0:
            last = places[i] = max(places[i], last)
            last += gap
    leader = {"arrowstyle": "-", "lw": 0.4, "alpha": 0.6, "shrinkA": 1, "shrinkB": 1}
    for i in order:
        name, x, y, colour = ends[i]
        axis.annotate(name, (x, y), (1.03, places[i]), textcoords=axis.get_yaxis_transform(),
                      color=EXACT if colour == DATA else colour, fontsize=size, va="center",
                      annotation_clip=False, parse_math=False,
                      arrowprops=leader | {"color": colour})
    axis.set_ylim(low, high)
    if n_unnamed:
        axis.annotate(f"and {n_unnamed:,} others", (1.03, -0.04), xycoords="axes fraction",
                      fontsize=8, color=EXACT, annotation_clip=False)


def _running_means(result, model, start, sign):
    """Return numbers of items, evenly on a log scale from `start`, and the mean after each."""
    rewards = result.rewards(model)
    means = sign * np.cumsum(rewards) / np.arange(1, rewards.size + 1)
    first = min(start, means.size)
    reads = np.unique(np.concatenate([
        np.geomspace(first, means.size, LINE_POINTS // 2).round(),
        np.linspace(first, means.size, LINE_POINTS // 2).round()]).astype(np.int64))
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
