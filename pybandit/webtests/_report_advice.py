"""What a report on a web test advises: what to count on, or how long a winner may take; HTML."""

import numpy as np

from pybandit.report._tables import name_of
from pybandit.webtests._report_lifts import signed, unit_of
from pybandit.webtests.plan import estimated_batches

MOST_BATCHES = 10_000


def winner(facts):
    """Return the winner, and the arm to compare it with: the control, or the next best."""
    best, n = int(facts.chosen[0]), facts.names.size
    if not facts.counted.gone.any() or facts.counted.race.retired.sum() == n - 1:
        return best, None
    rest = np.where(np.arange(n) == best, -np.inf, facts.arms.means)
    return best, 0 if best else int(np.nanargmax(rest))


def advice(facts, lifts):
    """Return what to count on if there is a winner, or how long one may take; a paragraph."""
    if facts.counted.race is None:
        return ""
    if not facts.status.done:
        return _wait(facts)
    best, other = winner(facts)
    if best not in lifts or other is None:
        return ""
    lift, gain = lifts[best], facts.arms.means[best] - facts.arms.means[other]
    more = f"{signed(lift.estimate[-1]).lstrip('+')} more than {name_of(facts.names[0])}"
    if facts.counted.are_successes:
        more += f" ({1000 * gain:.2g} more per 1,000 visits)"
    low = lift.low[-1]
    sure = (f"Safe to count on: {signed(low).lstrip('+')} more." if low > 0 else
            "How much better it is, is not known well yet.")
    return (f"<p>Best guess: {more}, probably too high, because a test stops when a "
            f"variant looks good. {sure}</p>")


def _wait(facts):
    """Return the time to a winner if the present difference is real; a paragraph or ""."""
    counted = facts.counted
    left = np.flatnonzero(~counted.gone & (facts.arms.n > 0))
    means = np.sort(facts.arms.means[left])
    if not counted.are_successes or means.size < 2 or not 0 < means[-2] < means[-1] < 1:
        return ""
    n = estimated_batches(means, counted.trials.sum(axis=1).mean(), counted.race.threshold)
    unit = unit_of(counted.keys)
    if n > MOST_BATCHES:
        return ("<p>The best two variants are so close that a winner would take more than "
                f"{MOST_BATCHES:,} {unit}.</p>")
    return (f"<p>If the present difference of the best two is real, a winner takes about "
            f"{float(f'{n:.2g}'):,.0f} {unit} in all. The difference is not known well yet.</p>")
