"""Detect counts recorded twice: equal counts under two keys, or running totals as days."""

import math

import numpy as np

from pybandit.webtests._recorded_counts import same, wide

# If a day is recorded twice, its bets win twice, and the probability of an error has no bound.
# Equal counts are rejected if the chance of the coincidence is at most CHANCE. Otherwise there is
# only a warning: counts of a few visits, or of hours without a conversion, are often equal.
CHANCE = 1e-4
GROWING = 3  # growing batches before a warning
GROWN = "no count fell in three batches"  # start of the warning


def repeated_key(found, key, columns):
    """Return the key of another batch with the same counts, or None.

    Parameters
    ----------
    found : dict of Recorded
    key : str
        Key of the new batch.
    columns : tuple
        Trials, sums and squares or None; as `wide` returns them.
    """
    if not columns[0].any():
        return None
    return next((other for other, one in reversed(found.items()) if other != key
                 and same(columns, wide(one.body, columns[0].size)).all()), None)


def chance_of_repeat(columns, n_batches):
    """Return the approximate chance that one of `n_batches` other batches has these counts.

    Two independent counts of variance v are equal with probability ``1 / (2 sqrt(pi v))``. If the
    arms have equal trials (up to 1), the split may be fixed, and trials are not used.
    """
    trials, sums = (one[columns[0] > 0] for one in columns[:2])
    if (sums != np.floor(sums)).any() or (sums < 0).any() or (sums > trials).any():
        return 0.0  # values, not successes
    variances = sums * (1.0 - sums / trials)
    if trials.max() - trials.min() > 1:
        variances = np.append(variances, trials[1:])
    logs = -0.5 * np.log(np.maximum(4.0 * math.pi * variances, 1.0))
    return min(1.0, n_batches * math.exp(logs.sum()))


def are_growing(found, columns):
    """Return True if no count fell in three batches, and counts that changed grew each time.

    Running totals do so, even if an arm was stopped. Daily counts of two arms do so by chance
    about once in a thousand times.
    """
    n_arms = columns[0].size
    rows = [wide(one.body, n_arms) for one in list(found.values())[1 - GROWING:]] + [columns]
    if len(rows) < GROWING:
        return False
    steps = [np.diff([row[at] for row in rows], axis=0) for at in (0, 1)]
    was_there = rows[0][0] > 0
    grows = (steps[0] > 0).all(axis=0) & was_there
    stays = ~(steps[0] != 0).any(axis=0) & ~(steps[1] != 0).any(axis=0)
    return bool((grows | stays).all() and grows.any() and (steps[1][:, grows] >= 0).all()
                and (steps[1] > 0).any())
