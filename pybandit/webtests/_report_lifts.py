"""Rates, lifts and days of a report on a web test as text, and the figure of the lifts."""

from datetime import date

import numpy as np

from pybandit._shared.html import number
from pybandit.report._figures import BOTTOM, COLOURS, RIGHT
from pybandit.report._svg import Scale, line, polyline, short, svg, text, x_axis, y_axis
from pybandit.webtests._dates import is_date
from pybandit.webtests._lifts import lift_of

SHOWN = 4  # arms whose lifts are listed and drawn


def rate_of(facts, mean):
    """Return a mean as text: in per cent if it is the rate of successes."""
    if not facts.counted.are_successes:
        return number(mean)
    if not np.isfinite(mean):
        return number(mean)
    return f"{100 * mean:#.3g}".rstrip(".") + " %" if mean else "0 %"


def per_visit(facts):
    """Return the words after a mean: empty if it is the rate of successes."""
    return "" if facts.counted.are_successes else " per visit"


def lifts_of(facts):
    """Return the `Lift` of the leading arms over the first arm, by arm."""
    counted, race = facts.counted, facts.counted.race
    if race is None or race.value_range[0] < 0:
        return {}
    low, high = race.value_range
    # squares that were not reported are taken as the largest that are possible
    most = (low + high) * counted.sums - low * high * counted.trials
    squares = np.where(np.isnan(counted.squares), most, counted.squares) / high**2
    columns = [(counted.trials[:, arm], counted.sums[:, arm] / high, squares[:, arm])
               for arm in range(facts.names.size)]
    leading = [arm for arm in facts.followed.tolist() if arm][:SHOWN]
    found = {arm: lift_of(columns[0], columns[arm], race.delta, facts.names.size)
             for arm in leading}
    return {arm: one for arm, one in found.items() if one is not None}


def signed(lift):
    """Return a lift in per cent, with its sign."""
    value = 100 * lift
    return f"{value:+.{1 if abs(value) < 9.95 else 0}f} %".replace("-", "\N{MINUS SIGN}")


def lift_figure(facts, lifts):
    """Draw the lifts and their ranges over the batches; None below three batches."""
    n = len(facts.counted.keys)
    late = [np.stack([one.low, one.high])[:, n // 2:] for one in lifts.values()]
    known = np.concatenate([one[np.isfinite(one)] for one in late]) if late else np.empty(0)
    if n < 3 or not known.size:
        return None
    y = Scale(100 * min(known.min(), 0.0), 100 * max(known.max(), 0.0), BOTTOM, 26)
    x = Scale(0, n - 1, 56, RIGHT)
    names, ticks = names_of(facts.counted.keys), x.whole_ticks(4)
    if n - 1 - ticks[-1] >= n // 8:
        ticks.append(n - 1)
    out = x_axis(x, BOTTOM + 8, 26, ticks, "batch" if names is number else "", names)
    out += y_axis(y, 52, RIGHT, y.ticks(), f"% more than {short(facts.names[0])}")
    out.append(line(56, y(0), RIGHT, y(0), "zero"))
    for arm, lift in lifts.items():
        colour = f"c{facts.followed.tolist().index(arm) % COLOURS}"
        last = int(np.flatnonzero(facts.counted.trials[:, arm])[-1]) + 1
        places = [np.clip(100 * one[:last], y.low, y.high) for one in lift]
        out.append(_band(x, y, places[1], places[2], colour))
        for values, drawn, kind in zip(lift, places, ("series", "bound", "bound"), strict=True):
            points = [(x(batch), y(at)) if np.isfinite(value) and abs(100 * value - at) < 1e-9
                      else None for batch, (value, at)
                      in enumerate(zip(values[:last], drawn, strict=True))]
            out.append(polyline(points, f"{kind} {colour}"))
        out.append(text(RIGHT + 15, y(places[0][-1]) + 3.5, short(facts.names[arm], 14), "start",
                        "label"))
    return svg(BOTTOM + 42, "Lifts over the control with their ranges, over the batches", out)


def _band(x, y, low, high, colour):
    """Return the area between two curves."""
    there = [(x(batch), y(value)) for batch, value in enumerate(low)]
    back = [(x(batch), y(value)) for batch, value in reversed(list(enumerate(high)))]
    path = "L".join(f"{a:.1f} {b:.1f}" for a, b in there + back)
    return f'<path class="band {colour}" d="M{path}Z"/>'


def unit_of(keys):
    """Return what the batches are: days if all keys are days."""
    return "days" if keys and all(is_date(key) and len(key) == 10 for key in keys) else "batches"


def names_of(keys):
    """Return a function that names the batches on an axis: by their days, or by numbers."""
    return (lambda at: day_of(keys[int(at)])) if all(map(is_date, keys)) else number


def day_of(key):
    """Return a day as text, such as 3 Mar."""
    day = date.fromisoformat(key[:10])
    return f"{day.day} {day:%b}" + (f" {key[11:16]}" if len(key) > 10 else "")
