"""The figures of a report on plates: intervals on the reader's scale, plates over time."""

import numpy as np

from pybandit._shared.html import number
from pybandit.lab._report_tables import UNITS
from pybandit.report._figures import interval_figure
from pybandit.report._svg import WIDTH, Scale, polyline, svg, x_axis, y_axis


def answer_figure(facts):
    """The answer's arms and the next ones, with a second scale of readings where they differ."""
    if not facts.has_readings:
        return interval_figure(facts)
    return interval_figure(facts, facts.readings, _on_readers_scale(facts))


def _on_readers_scale(facts):
    unit = UNITS.get(facts.plates.normalise)
    made = f"reading, {unit}" if unit else "reading"
    return f"{made}; geometric mean" if facts.plates.log else made


def drift_figure(facts):
    """Median and middle half of the plates, in order; None below two plates with results."""
    levels = [(i, *np.nanquantile(part.values, [0.25, 0.5, 0.75]))
              for i, part in enumerate(facts.parts) if not np.isnan(part.values).all()]
    if facts.plates is None or len(levels) < 2:
        return None
    at, low, middle, high = np.array(levels).T
    if not np.isfinite([low, middle, high]).all():
        return None
    at, bottom = at + facts.first_part + 1, 196
    x, y = Scale(at[0], at[-1], 52, WIDTH - 14), Scale(low.min(), high.max(), bottom, 26)
    out = x_axis(x, bottom + 6, 26, x.whole_ticks(), "plate, in the order they were asked for")
    out += y_axis(y, 48, WIDTH - 14, y.ticks(), "values")
    band = [(x(i), y(value)) for i, value in zip(at, high, strict=True)]
    band += [(x(i), y(value)) for i, value in zip(at[::-1], low[::-1], strict=True)]
    out.append(polyline(band, "band"))
    out.append(polyline([(x(i), y(value)) for i, value in zip(at, middle, strict=True)],
                        "series c0"))
    return svg(bottom + 42, f"Medians of the plates, the last {number(middle[-1])}", out)
