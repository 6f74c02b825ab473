"""Figures of all reports: intervals, ranks, means and results of the arms."""

import numpy as np

from pybandit._shared.html import number
from pybandit.report._svg import WIDTH, Scale, line, polyline, short, svg, text, x_axis, y_axis

BARS, LEFT, COLOURS = 30, 118, 8
ROW, TALL, LABEL = 18.0, 900.0, 12.0  # heights of a row, of a figure with many rows, of a label
RIGHT, BOTTOM = WIDTH - 110, 236  # edges of plots over the batches; names are to the right


def interval_figure(facts, readings=None, title="", what="mean of the results", values=number):
    """Return means and intervals of all chosen arms and the next ones; None without results.

    Many rows are drawn narrower, and only some of them get a label. `readings` converts the
    values at the ticks to a second scale with the given `title`. `what` is the title of the axis,
    and `values` returns the label of a value.
    """
    arms = np.concatenate([facts.chosen, facts.others]).astype(np.int64)
    means, below, above = (one[arms] for one in (facts.arms.means, facts.arms.below,
                                                 facts.arms.above))
    low, high = _range_of(means, below, above)
    if low is None:
        return None
    room = min(ROW, max(1.0, TALL / arms.size))
    height = 20 + room * arms.size
    scale = Scale(low, high, LEFT + 12, WIDTH - 12)
    out = x_axis(scale, height, 10, scale.ticks(), what, values)
    if readings is not None:
        out += [text(scale(tick), height + 42, number(reading, 3), "middle", "tick")
                for tick, reading in zip(scale.ticks(), readings(scale.ticks()).tolist(),
                                         strict=True)]
        out.append(text((scale.start + scale.end) / 2, height + 56, title, "middle", "tick"))
    labelled = int(np.ceil(LABEL / room))
    for row, arm in enumerate(arms.tolist()):
        y, kind = 13 + room * (row + 0.5), "chosen" if row < facts.chosen.size else "other"
        if row % labelled == 0:
            out.append(text(LEFT, y + 4, short(facts.names[arm]), "end", "label"))
        if np.isfinite(means[row]):
            out += _interval(scale, means[row], below[row], above[row], y, min(4.0, room / 2),
                             kind)
    return svg(height + (34 if readings is None else 62),
               f"Means and intervals of the leading {facts.noun}s", out)


def _interval(scale, mean, below, above, y, size, kind):
    """Return a dot, its whiskers, and an arrow for each whisker that leaves the figure."""
    out = []
    if np.isfinite(below):
        ends = max(mean - below, scale.low), min(mean + above, scale.high)
        out.append(line(scale(ends[0]), y, scale(ends[1]), y, f"whisker {kind}"))
        if mean - below < scale.low:
            out.append(_arrow(scale.start, y, -size, kind))
        if mean + above > scale.high:
            out.append(_arrow(scale.end, y, size, kind))
    kind += "" if np.isfinite(below) else " single"  # no interval: from one result
    out.append(f'<circle class="dot {kind}" cx="{scale(mean):.1f}" cy="{y:.1f}" r="{size:.2g}"/>')
    return out


def _range_of(means, below, above):
    """Return the range to draw: the means, and the intervals as far as the means stay legible.

    Returns (None, None) if there is no finite range.
    """
    known = np.isfinite(means)
    if not known.any():
        return None, None
    spread = np.ptp(means[known])
    widths = np.maximum(below, above)
    widths = widths[np.isfinite(widths)]
    room = max(spread, 3 * np.median(widths)) if widths.size else spread
    below, above = (np.minimum(np.where(np.isfinite(one), one, 0.0), room)
                    for one in (below, above))
    low, high = (means - below)[known].min(), (means + above)[known].max()
    return (low, high) if np.isfinite([low, high]).all() else (None, None)


def _arrow(x, y, way, kind):
    return (f'<path class="whisker arrow {kind}" fill="none" '
            f'd="M{x:.1f} {y - abs(way):.1f}l{way:.2g} {abs(way):.2g}l{-way:.2g} {abs(way):.2g}"/>')


def rank_figure(facts):
    """Draw ranks of the leading arms after each batch; None if fewer than two have results."""
    ranks, batches = facts.ranks, facts.rank_batches
    if len(batches) < 2:
        return None
    y = Scale(1, max(2, np.nanmax(ranks)), 26, BOTTOM, log=True)
    out = y_axis(y, 34, RIGHT, y.ticks(), "rank by the mean so far")
    return svg(BOTTOM + 42, f"Ranks of the leading {facts.noun}s over the batches",
               _paths(facts, batches, ranks, Scale(batches[0], batches[-1], 38, RIGHT), y, out))


def mean_figure(facts, batches, means, names=number, what="mean so far", values=number):
    """Draw `means` of the leading arms, shape (batches, followed); None below two batches.

    `names` returns the label of a batch, `values` that of a mean.
    """
    known = means[np.isfinite(means)]
    if len(batches) < 2 or not known.size:
        return None
    y = Scale(known.min(), known.max(), BOTTOM, 26)
    out = y_axis(y, 52, RIGHT, y.ticks(), what, values)
    return svg(BOTTOM + 42, f"Means of the leading {facts.noun}s over the batches",
               _paths(facts, batches, means, Scale(batches[0], batches[-1], 56, RIGHT), y, out,
                      names))


def _paths(facts, batches, values, x, y, axis, names=number):
    """Return a line for each of the leading arms, with its name at the end."""
    out = x_axis(x, BOTTOM + 8, 26, x.whole_ticks(), "batch" if names is number else "",
                 names) + axis
    shown = [i for i in range(values.shape[1]) if np.isfinite(values[-1, i])]
    places = _spread([y(values[-1, i]) for i in shown], 14, BOTTOM + 8)
    for i, place in zip(shown, places, strict=True):
        colour = f"c{i % COLOURS}"
        points = [(x(batch), y(value)) if np.isfinite(value) else None
                  for batch, value in zip(batches, values[:, i], strict=True)]
        out.append(polyline(points, f"series {colour}"))
        end = y(values[-1, i])
        out.append(f'<circle class="mark {colour}" cx="{x(batches[-1]):.1f}" cy="{end:.1f}" '
                   'r="3"/>')
        out.append(line(x(batches[-1]) + 4, end, RIGHT + 12, place, "leader"))
        out.append(text(RIGHT + 15, place + 3.5, short(facts.names[facts.followed[i]], 14), "start",
                        "label"))
    return out


def _spread(places, gap, low):
    """Return places moved at least `gap` apart, in the same order, and none below `low`."""
    order = np.argsort(places, kind="stable")
    out = np.array(places, dtype=float)
    for before, after in zip(order, order[1:], strict=False):
        out[after] = max(out[after], out[before] + gap)
    if out.size:
        out[order[-1]] = min(out[order[-1]], low)
    for after, before in zip(order[::-1], order[-2::-1], strict=False):
        out[before] = min(out[before], out[after] - gap)
    return out.tolist()


def pull_figure(facts, what="results"):
    """Return the numbers of results as bars, or as a curve for many arms; None without results."""
    n = facts.arms.n
    if not n.any():
        return None
    return _bars(facts, what) if n.size <= BARS else _curve(n, what, facts.noun)


def _bars(facts, what):
    height = 20 + 16 * facts.arms.n.size
    scale = Scale(0, int(facts.arms.n.max()), LEFT + 8, WIDTH - 40)
    out = x_axis(scale, height, 10, scale.whole_ticks(), what)
    for arm, n in enumerate(facts.arms.n.tolist()):
        y = 14 + 16 * arm
        kind = "chosen" if arm in facts.chosen else "other"
        out.append(text(LEFT, y + 9, short(facts.names[arm]), "end", "label"))
        out.append(f'<rect class="bar {kind}" x="{LEFT + 8}" y="{y}" '
                   f'width="{scale(n) - scale.start:.1f}" height="11"/>')
        out.append(text(scale(n) + 4, y + 9, f"{n:,}", "start", "tick"))
    return svg(height + 34, f"{what.capitalize()} of each {facts.noun}", out)


def _curve(n, what, noun):
    ordered, bottom = np.sort(n)[::-1], 196
    # corners of the steps
    ends = np.append(np.flatnonzero(np.diff(ordered)) + 1, n.size)
    x = Scale(1, n.size, 42, WIDTH - 14, log=True)
    y = Scale(0, int(ordered[0]), bottom, 26)
    points, start = [(x(1), bottom)], 1
    for end in ends[::max(1, ends.size // 400)].tolist() + [n.size]:
        level = y(int(ordered[end - 1]))
        points += [(x(start), level), (x(end), level)]
        start = end
    points.append((x(n.size), bottom))
    out = x_axis(x, bottom, 26, x.ticks(), f"{noun}s, most {what} first (logarithmic)")
    out += y_axis(y, 38, WIDTH - 14, y.whole_ticks(), f"{what} per {noun}")
    return svg(bottom + 36, f"{what.capitalize()} of the {noun}s, in falling order",
               [*out, polyline(points, "area")])
