"""The top of a report on a web test: who won, by how much, and the lifts over time; HTML."""

import numpy as np

from pybandit.report._svg import figure
from pybandit.report._tables import count, name_of
from pybandit.webtests._dates import is_date
from pybandit.webtests._report_advice import advice, winner
from pybandit.webtests._report_lifts import (
    day_of,
    lift_figure,
    lifts_of,
    per_visit,
    rate_of,
    signed,
    unit_of,
)


def headline(facts):
    """Return the answer in a sentence, the lifts over the control, and the guarantee."""
    promise = f'<p class="soft">{_state(facts)}</p>' if facts.arms.n.any() else ""
    return answer(facts) + promise


def answer(facts):
    """Return the answer in a sentence, the lifts over the control, and their course."""
    if not facts.arms.n.any():
        return "<p class=\"soft\">No visits are recorded yet.</p>"
    lifts = lifts_of(facts)
    drawing = lift_figure(facts, lifts)
    caption = (f"How much more than {name_of(facts.names[0])}. Solid: the best guess; dashed and "
               "shaded: the range, which holds whenever you look.")
    return (f'<p class="headline">{_sentence(facts)}</p>{advice(facts, lifts)}'
            f"{_list(facts, lifts)}{figure(drawing, caption) if drawing else ''}")


def _sentence(facts):
    """Return the answer in one sentence."""
    means, names = facts.arms.means, facts.names
    if facts.counted.race is None or not facts.status.done:
        leader = int(np.nanargmax(np.where(facts.counted.gone, -np.inf, means)))
        head = ("" if facts.counted.race is None else
                "No winner yet: no variant is shown to be better than all others. ")
        return (f"{head}{name_of(names[leader])} has the highest {_what(facts)} so far, "
                f"{rate_of(facts, means[leader])}{per_visit(facts)}.")
    best, other = winner(facts)
    if other is None:
        return f"{name_of(names[best])} is the only variant left."
    return (f"{name_of(names[best])} won: {rate_of(facts, means[best])}{per_visit(facts)} against "
            f"{rate_of(facts, means[other])} of {name_of(names[other])}.")


def _what(facts):
    return "rate" if facts.counted.are_successes else "mean"


def _list(facts, lifts):
    """Return a list of the lifts of the leading arms."""
    n, sums = facts.arms.n, facts.counted.sums.sum(axis=0)

    def entry(arm, more):
        of = (f" ({sums[arm]:,.0f} of {n[arm]:,})" if facts.counted.are_successes
              else f" ({count(n[arm], 'visit')})")
        return (f"<li><strong>{name_of(facts.names[arm])}</strong>: "
                f"{rate_of(facts, facts.arms.means[arm])}{per_visit(facts)}{of}{more}</li>")

    rows = [entry(0, ", the control")]
    rows += [entry(arm, f", lift {signed(lift.estimate[-1])}{_between(lift)}")
             for arm, lift in lifts.items()]
    return f'<ul class="lifts">{"".join(rows)}</ul>' if lifts else ""


def _between(lift):
    low, high = lift.low[-1], lift.high[-1]
    if np.isinf(low) and np.isinf(high):
        return ", too early for an interval"
    if np.isinf(low):
        return f", at most {signed(high)}"
    if np.isinf(high):
        return f", at least {signed(low)}"
    return f", between {signed(low)} and {signed(high)}"


def _state(facts):
    """Return what is promised, in a sentence or two."""
    race = facts.counted.race
    when = period(facts.counted.keys) + "; the test is finished" * facts.status.done
    if race is None:
        return f"{when}. {facts.status.policy} splits the visits."
    return (f"{when}. There is a risk of at most {100 * race.delta:.3g} % that the wrong variant "
            "is named the winner, even if you look every day. All ranges hold together with a "
            f"probability of at least {100 - 100 * race.delta:.3g} %, if a lift is the same on all "
            "days.")


def period(keys):
    """Return the number of batches in words, with the first and the last day."""
    when = f"{len(keys):,} {unit_of(keys)}"
    if len(keys) > 1 and is_date(keys[0]) and is_date(keys[-1]):
        when += f", {day_of(keys[0])} to {day_of(keys[-1])}"
    return when
