"""Counts and states of races on counts, checked before anything is made of them."""

import numpy as np

from pybandit._shared.checks import MOST_PULLS, check_counts
from pybandit.betting._count_bets import Batch
from pybandit.betting._state import array_of, check_mapping, flat

PARTS = "type", "options", "trials", "sums", "late", "retired"
OPTIONS = "n_arms", "delta", "value_range", "ties"


def checked_batch(trials, sums, before, value_range):
    """A batch of these, its rewards in units of their range; `before` are trials until now."""
    low, high = value_range
    trials, sums = check_counts(trials, sums, before.size, MOST_PULLS - int(before.sum()))
    bad = outside(trials, sums, value_range)
    if bad.any():
        arm = int(bad.argmax())
        raise ValueError(f"sums must be those of rewards in {value_range}; got {sums[arm]} for "
                         f"{int(trials[arm])} trials of arm {arm}")
    return Batch(trials, np.clip((sums - trials * low) / (high - low), 0.0, trials))


def outside(trials, sums, value_range):
    """Of which arms the sum is not one of so many rewards in this range."""
    low, high = value_range
    # ends that are no binary fractions, as .1, added up
    slack = 1e-9 * trials * max(high - low, abs(low), abs(high))
    return ~((sums >= trials * low - slack) & (sums <= trials * high + slack))


def check_count_state(state, cls):
    """Trials, sums, late and retired arms of a state; what the options must fit is left."""
    check_mapping("state", state, PARTS)
    if state["type"] != cls.__name__:
        raise ValueError(f"state must be that of a {cls.__name__}; got one of a "
                         f"{state['type']!r}")
    check_mapping("the options of state", state["options"], OPTIONS)
    trials, sums = _table(state, "trials", "iu"), _table(state, "sums", "f")
    if trials.shape != sums.shape:
        raise ValueError(f"state must hold sums of the shape of trials, {trials.shape}; got "
                         f"{sums.shape}")
    if (trials < 0).any() or trials.sum(dtype=float) > MOST_PULLS:
        raise ValueError(f"state must hold trials of at least 0, at most {MOST_PULLS} in all; got "
                         "others")
    if not ((sums >= 0) & (sums <= trials)).all():
        raise ValueError("state must hold sums of rewards in [0, 1], one a trial; got others")
    n_batches, n_arms = trials.shape
    late, retired = flat(state, "late", "iu"), flat(state, "retired", "iu")
    if (np.diff(late) < 0).any() or ((late < 0) | (late > n_batches)).any():
        raise ValueError(f"state must hold late arms in order, each in [0, {n_batches}]; got "
                         "others")
    if ((np.diff(retired) < 1).any() or ((retired < 0) | (retired >= n_arms)).any()
            or retired.size >= n_arms):
        raise ValueError(f"state must hold retired arms in order, each in [0, {n_arms}), and not "
                         "all; got others")
    return (trials.astype(np.int64), sums.astype(np.float64), late.astype(np.int64),
            retired.astype(np.int64))


def _table(state, name, kinds):
    return array_of(state, name, 2, kinds, "a table of numbers, a row a batch")
