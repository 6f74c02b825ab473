"""The top of a report on a web test: who won, by how much, and the lifts over time; HTML."""

from datetime import date

import numpy as np

from pybandit._shared.html import number
from pybandit.report._figures import BOTTOM, COLOURS, RIGHT
from pybandit.report._svg import Scale, figure, polyline, short, svg, text, x_axis, y_axis
from pybandit.report._tables import count, name_of
from pybandit.webtests._dates import is_date
from pybandit.webtests._lifts import lift_of

SHOWN = 4  # arms whose lifts are listed and drawn


def headline(facts):
    """Return the answer in a sentence, the lifts over the control, and their course."""
    if not facts.arms.n.any():
        return "<p class=\"soft\">No visits are recorded yet.</p>"
    lifts = _lifts(facts)
    drawing = _figure(facts, lifts)
    caption = (f"Lift over {name_of(facts.names[0])} after each batch, with its interval. The "
               "interval holds at every look.")
    return (f'<p class="headline">{_sentence(facts, lifts)}</p>{_list(facts, lifts)}'
            f"{figure(drawing, caption) if drawing else ''}<p class=\"soft\">{_state(facts)}</p>")


def rate_of(facts, mean):
    """Return a mean as text: in per cent if it is the rate of successes."""
    if not facts.counted.are_successes:
        return number(mean)
    return f"{100 * mean:.3g} %" if np.isfinite(mean) else number(mean)


def _lifts(facts):
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


def _sentence(facts, lifts):
    """Return the answer in one sentence."""
    means, names = facts.arms.means, facts.names
    if facts.counted.race is None or not facts.status.done:
        leader = int(np.nanargmax(np.where(facts.counted.gone, -np.inf, means)))
        head = "" if facts.counted.race is None else "No winner yet. "
        return (f"{head}{name_of(names[leader])} has the highest {_what(facts)} so far: "
                f"{rate_of(facts, means[leader])}.")
    best = int(facts.chosen[0])
    if not facts.counted.gone.any() or facts.counted.race.retired.sum() == names.size - 1:
        return f"{name_of(names[best])} is the only arm left."
    rest = np.where(np.arange(names.size) == best, -np.inf, means)
    other = 0 if best else int(np.nanargmax(rest))
    words = (f"{name_of(names[best])} won: {rate_of(facts, means[best])} against "
             f"{rate_of(facts, means[other])} of {name_of(names[other])}")
    if best in lifts:
        lift = lifts[best]
        words += f", a lift of {_signed(lift.estimate[-1]).lstrip('+')}"
        if lift.low[-1] > 0:
            words += f", at least {_signed(lift.low[-1]).lstrip('+')}"
        elif np.isfinite(lift.low[-1]):
            words += _between(lift)
    return words + "."


def _what(facts):
    return "rate" if facts.counted.are_successes else "mean"


def _list(facts, lifts):
    """Return a list of the lifts of the leading arms."""
    n, sums = facts.arms.n, facts.counted.sums.sum(axis=0)

    def entry(arm, more):
        of = (f" ({sums[arm]:,.0f} of {n[arm]:,})" if facts.counted.are_successes
              else f" ({count(n[arm], 'visit')})")
        return (f"<li><strong>{name_of(facts.names[arm])}</strong>: "
                f"{rate_of(facts, facts.arms.means[arm])}{of}{more}</li>")

    rows = [entry(0, ", the control")]
    rows += [entry(arm, f", lift {_signed(lift.estimate[-1])}{_between(lift)}")
             for arm, lift in lifts.items()]
    return f'<ul class="lifts">{"".join(rows)}</ul>' if lifts else ""


def _between(lift):
    low, high = lift.low[-1], lift.high[-1]
    if np.isinf(low) and np.isinf(high):
        return ", too early for an interval"
    if np.isinf(low):
        return f", at most {_signed(high)}"
    if np.isinf(high):
        return f", at least {_signed(low)}"
    return f", between {_signed(low)} and {_signed(high)}"


def _signed(lift):
    """Return a lift in per cent, with its sign."""
    value = 100 * lift
    return f"{value:+.{1 if abs(value) < 9.95 else 0}f} %".replace("-", "\N{MINUS SIGN}")


def _state(facts):
    """Return what is promised, in a sentence or two."""
    race, keys = facts.counted.race, facts.counted.keys
    when = f"{count(len(keys), 'batch').replace('batchs', 'batches')}"
    if len(keys) > 1 and is_date(keys[0]) and is_date(keys[-1]):
        when += f", {_day(keys[0])} to {_day(keys[-1])}"
    if race is None:
        return f"{when}. {facts.status.policy} splits the visits."
    return (f"{when}. A wrong winner has a probability of at most {100 * race.delta:.3g} %, "
            "however often the test is looked at. All intervals hold together with a probability "
            f"of at least {100 - 100 * race.delta:.3g} %, if a lift is the same on all days.")


def _figure(facts, lifts):
    """Draw the lifts and their intervals over the batches; None below three batches."""
    n = len(facts.counted.keys)
    ends = [np.stack([one.low, one.high]) for one in lifts.values()]
    late = [one[:, n // 2:] for one in ends]
    known = np.concatenate([one[np.isfinite(one)] for one in late]) if late else np.empty(0)
    if n < 3 or not known.size:
        return None
    y = Scale(100 * min(known.min(), 0.0), 100 * max(known.max(), 0.0), BOTTOM, 26)
    x = Scale(0, n - 1, 56, RIGHT)
    names = names_of(facts.counted.keys)
    out = x_axis(x, BOTTOM + 8, 26, x.whole_ticks(4), "batch" if names is number else "", names)
    out += y_axis(y, 52, RIGHT, y.ticks(), "lift, %")
    for at, (arm, lift) in enumerate(lifts.items()):
        colour = f"c{at % COLOURS}"
        for values, kind in ((lift.estimate, "series"), (lift.low, "bound"), (lift.high, "bound")):
            inside = np.isfinite(values) & (100 * values >= y.low) & (100 * values <= y.high)
            points = [(x(batch), y(100 * value)) if good else None
                      for batch, (value, good) in enumerate(zip(values, inside, strict=True))]
            out.append(polyline(points, f"{kind} {colour}"))
        end = float(np.clip(100 * lift.estimate[-1], y.low, y.high))
        out.append(text(RIGHT + 15, y(end) + 3.5, short(facts.names[arm], 14), "start", "label"))
    return svg(BOTTOM + 42, "Lifts over the control with intervals, over the batches", out)


def names_of(keys):
    """Return a function that names the batches on an axis: by their days, or by numbers."""
    return (lambda at: _day(keys[int(at)])) if all(map(is_date, keys)) else number


def _day(key):
    """Return a day as text, such as 3 Mar."""
    day = date.fromisoformat(key[:10])
    return f"{day.day} {day:%b}" + (f" {key[11:16]}" if len(key) > 10 else "")
