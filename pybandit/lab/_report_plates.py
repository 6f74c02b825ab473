"""Figures of a report on plates: heat maps, plates over time, intervals of readings."""

from html import escape

import numpy as np

from pybandit._shared.html import number
from pybandit.lab._report_facts import OUTLYING, well_of
from pybandit.lab._report_tables import UNITS
from pybandit.lab.plates import letters
from pybandit.report._figures import interval_figure
from pybandit.report._svg import WIDTH, Scale, polyline, svg, text, x_axis, y_axis
from pybandit.studies._journal import LATE, LOST, OPEN

STEPS = 9  # colours, from -OUTLYING to OUTLYING
LEFT, TOP = 24, 16
FEW_LABELS = 26


def legend(plates):
    """Return the legend of colours and marks; HTML."""
    steps = "".join(f'<i class="z{step}"></i>' for step in range(STEPS))
    cell = '<svg class="key" viewBox="0 0 12 12" aria-hidden="true">{}</svg>'
    square = '<path class="{}" d="M.5 .5h11v11h-11z"/>'
    marks = [(square.format(f"z{STEPS - 1}") + _ring(0.4, 0.4, 12), "outlying"),
             (_cross(0, 0, 12), "lost"), (_dot(0, 0, 12), "late"),
             (square.format("open"), "pending")]
    if plates.controls or plates.positives:
        labels = [plates.label] + [plates.positive_label] * bool(plates.positives)
        marks.append((square.format("control"), escape(", ".join(labels))))
    keys = "".join(f"<span>{cell.format(mark)} {word}</span>" for mark, word in marks)
    ends = number(-OUTLYING), number(OUTLYING)
    return (f'<p class="legend"><span>z {ends[0]} <b class="steps">{steps}</b> {ends[1]}</span>'
            f"{keys}</p>")


def plate_figure(part, facts):
    """Return the heat map of one plate."""
    layout = facts.plates.layout
    cell = (WIDTH - LEFT - 4) / layout.columns
    high = min(cell, 40.0)
    board = _Board(layout.columns, cell, high)
    out = board.frame(layout.rows)
    controls = np.array([*facts.plates.controls, *facts.plates.positives], dtype=int)
    out += board.wells(part, part.places, facts)
    out.append(board.path(controls, "control"))
    return svg(TOP + layout.rows * high + 4, f"Plate {part.name}", out)


class _Board:
    """Coordinates of wells, which are counted along rows."""

    def __init__(self, columns, width, height):
        self.columns, self.width, self.height = columns, width, height

    def at(self, place):
        row, column = divmod(int(place), self.columns)
        return LEFT + column * self.width, TOP + row * self.height

    def frame(self, rows):
        """Return letters of rows and numbers of columns, as many as are legible."""
        out = []
        for column in range(0, self.columns, -(-self.columns // FEW_LABELS)):
            x, _ = self.at(column)
            out.append(text(x + self.width / 2, TOP - 4, str(column + 1), "middle", "well"))
        for row in range(0, rows, -(-rows // FEW_LABELS)):
            _, y = self.at(row * self.columns)
            out.append(text(LEFT - 5, y + self.height / 2 + 3, letters(row), "end", "well"))
        return out

    def path(self, places, kind):
        """Return one path with many wells of one colour."""
        gap = min(1.0, self.width / 8)
        w, h = f"{self.width - gap:.3g}", f"{self.height - gap:.3g}"
        corners = (self.at(place) for place in places)
        d = "".join(f"M{x:.1f} {y:.1f}h{w}v{h}h-{w}z" for x, y in corners)
        return f'<path class="{kind}" d="{d}"/>' if d else ""

    def wells(self, part, places, facts):
        """Return the wells of a part by colour, and marks on some of them."""
        known = ~np.isnan(part.values)
        # wells without a score get the middle colour
        z = np.nan_to_num(part.z, nan=0.0, posinf=OUTLYING, neginf=-OUTLYING)
        steps = np.clip(np.floor((z / OUTLYING + 1) / 2 * STEPS), 0, STEPS - 1).astype(int)
        out = [self.path(places[known & (steps == step)], f"z{step}") for step in range(STEPS)]
        out.append(self.path(places[part.marks == OPEN], "open"))
        for which, draw, word in ((part.outlying, _ring, "outlying"),
                                  (part.marks == LOST, _cross, "lost"),
                                  (part.marks == LATE, _dot, "late")):
            for i in np.flatnonzero(which).tolist():
                name = facts.names[part.arms[i]]
                tip = f"{well_of(facts, int(part.places[i]))}, {name}: {word}"
                if known[i]:
                    tip += f", {number(part.values[i])}"
                size = min(self.width, self.height)
                x, y = self.at(places[i])
                x, y = x + (self.width - size) / 2, y + (self.height - size) / 2
                out.append(f"<g><title>{escape(tip)}</title>{draw(x, y, size)}</g>")
        return out


def _ring(x, y, size):
    return (f'<circle class="ring" cx="{x + size * 0.47:.1f}" cy="{y + size * 0.47:.1f}" '
            f'r="{size * 0.36:.2g}" stroke-width="{min(1.7, size * 0.14):.2g}"/>')


def _cross(x, y, size):
    a, b = size * 0.2, size * 0.54
    return (f'<path class="cross" d="M{x + a:.1f} {y + a:.1f}l{b:.2g} {b:.2g}'
            f'm0 -{b:.2g}l-{b:.2g} {b:.2g}"/>')


def _dot(x, y, size):
    return (f'<circle class="late" cx="{x + size * 0.47:.1f}" cy="{y + size * 0.47:.1f}" '
            f'r="{size * 0.16:.2g}"/>')


def answer_figure(facts):
    """Return intervals of the arms found and the next ones, with a scale of readings if needed."""
    if not facts.has_readings:
        unit = UNITS.get(facts.plates and facts.plates.normalise)
        return interval_figure(facts, what="mean of the results" + f", {unit}" * bool(unit))
    return interval_figure(facts, facts.readings, _on_readers_scale(facts))


def _on_readers_scale(facts):
    unit = UNITS.get(facts.plates.normalise)
    made = f"reading, {unit}" if unit else "reading"
    return f"{made}; geometric mean" if facts.plates.log else made


def drift_figure(facts):
    """Return medians and quartiles of the plates in order; None if fewer than 2 have results."""
    levels = [(i, *np.nanquantile(part.values, [0.25, 0.5, 0.75]))
              for i, part in enumerate(facts.parts) if not np.isnan(part.values).all()]
    if facts.plates is None or len(levels) < 2:
        return None
    at, low, middle, high = np.array(levels).T
    if not np.isfinite([low, middle, high]).all():
        return None
    bottom = 196
    x, y = Scale(at[0], at[-1], 52, WIDTH - 14), Scale(low.min(), high.max(), bottom, 26)
    out = x_axis(x, bottom + 6, 26, x.whole_ticks(), "plate, in order of request",
                 lambda i: facts.parts[int(i)].name)
    out += y_axis(y, 48, WIDTH - 14, y.ticks(), "values")
    band = [(x(i), y(value)) for i, value in zip(at, high, strict=True)]
    band += [(x(i), y(value)) for i, value in zip(at[::-1], low[::-1], strict=True)]
    out.append(polyline(band, "band"))
    out.append(polyline([(x(i), y(value)) for i, value in zip(at, middle, strict=True)],
                        "series c0"))
    return svg(bottom + 42, f"Medians of the plates; the last is {number(middle[-1])}", out)
