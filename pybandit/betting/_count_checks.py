"""Counts and states of races on counts, checked before anything is made of them."""

import numpy as np

from pybandit._shared.checks import (
    MOST_PULLS,
    check_counts,
    check_in,
    labels_of,
    refuse_masks,
    shown,
)
from pybandit.betting._count_bets import Batch
from pybandit.betting._state import array_of, check_mapping, flat

PARTS = "type", "options", "trials", "sums", "squares", "late", "retired"
OPTIONS = "n_arms", "delta", "value_range", "ties"
# relative: ends that are not binary fractions, such as .1, added up
SLACK = 1e-9


def checked_batch(trials, sums, squares, before, value_range):
    """Return a batch with rewards in units of their range; `before` are the trials so far."""
    low, high = value_range
    index = labels_of(trials)
    trials, sums = check_counts(trials, sums, before.size, MOST_PULLS - int(before.sum()))
    bad = outside(trials, sums, value_range)
    if bad.any():
        arm = int(bad.argmax())
        raise ValueError(f"sums must be those of rewards in {value_range}; got {sums[arm]} for "
                         f"{int(trials[arm])} trials of arm {arm}")
    unit = np.clip((sums - trials * low) / (high - low), 0.0, trials)
    if squares is None:
        return Batch(trials, unit, unit)
    if index is not None and labels_of(squares) not in (None, index):
        raise ValueError(f"squares must have the index of trials, {shown(index)}; got "
                         f"{shown(labels_of(squares))}")
    squares = check_in("squares", refuse_masks("squares", squares), "finite", np.isfinite)
    if squares.shape != trials.shape:
        raise ValueError(f"squares must have the shape {trials.shape}, one value per arm; got "
                         f"{squares.shape}")
    bad = squares_outside(trials, sums, squares, value_range)
    if bad.any():
        arm = int(bad.argmax())
        raise ValueError(f"squares must be the sums of the squares of rewards in {value_range}; "
                         f"got {squares[arm]} for {int(trials[arm])} trials of sum {sums[arm]} "
                         f"of arm {arm}")
    return Batch(trials, unit, _unit_squares(trials, sums, squares, value_range)[0])


def outside(trials, sums, value_range):
    """Return, for each arm, True if the sum cannot be that of rewards in this range."""
    low, high = value_range
    slack = SLACK * trials * max(high - low, abs(low), abs(high))
    return ~((sums >= trials * low - slack) & (sums <= trials * high + slack))


def squares_outside(trials, sums, squares, value_range):
    """Return, for each arm, True if the squares cannot be those of rewards of this sum."""
    return _unit_squares(trials, sums, squares, value_range)[1]


def _unit_squares(trials, sums, squares, value_range):
    """Return the squares of rewards in units of their range, and for which arms they cannot be.

    The result is within [s**2 / n, s], and rounded up: larger squares are the safe side.
    """
    low, high = value_range
    width = high - low
    s = np.clip((sums - trials * low) / width, 0.0, trials)
    size = max(width, abs(low), abs(high)) / width
    with np.errstate(over="ignore", invalid="ignore"):
        q = (squares / width - 2.0 * low * (sums / width)) / width + trials * (low / width) ** 2
        q += 8 * np.finfo(float).eps * trials * size**2 if low else 0.0
        least = s * s / np.maximum(trials, 1)
        slack = SLACK * trials * size**2
        bad = ~((q >= least - slack) & (q <= s + slack))
    return np.clip(q, least, s), bad


def check_count_state(state, cls):
    """Return trials, sums, squares, late and retired arms of a state; options are not checked."""
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
    squares = _table(state, "squares", "f")
    if squares.shape[0] == 0:  # never told
        squares = sums
    with np.errstate(invalid="ignore"):
        fits = squares.shape == sums.shape and bool(
            ((squares >= sums * sums / np.maximum(trials, 1) * (1.0 - SLACK))
             & (squares <= sums)).all())
    if not fits:
        raise ValueError("state must hold the squares of rewards in [0, 1] with these sums, or a "
                         "table without rows; got others")
    n_batches, n_arms = trials.shape
    late, retired = flat(state, "late", "iu"), flat(state, "retired", "iu")
    if (np.diff(late) < 0).any() or ((late < 0) | (late > n_batches)).any():
        raise ValueError(f"state must hold late arms in order, each in [0, {n_batches}]; got "
                         "others")
    if ((np.diff(retired) < 1).any() or ((retired < 0) | (retired >= n_arms)).any()
            or retired.size >= n_arms):
        raise ValueError(f"state must hold retired arms in order, each in [0, {n_arms}), and not "
                         "all; got others")
    return (trials.astype(np.int64), sums.astype(np.float64), squares.astype(np.float64),
            late.astype(np.int64), retired.astype(np.int64))


def _table(state, name, kinds):
    return array_of(state, name, 2, kinds, "a table of numbers, a row a batch")


def columns_of(batches, n_arms):
    """Return trials, sums and squares of a state; the last without rows if nothing needs them."""
    shape = len(batches), n_arms
    trials, sums, squares = np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape)
    for row, batch in enumerate(batches):
        width = batch.trials.size
        trials[row, :width], sums[row, :width], squares[row, :width] = batch
    return trials, sums, squares[:0] if np.array_equal(squares, sums) else squares


def batches_of(trials, sums, squares, late, n_first):
    """Return the batches of a state, each of as many arms as there were then."""
    widths = n_first + np.searchsorted(late, np.arange(len(trials)), side="right")
    for row, width in enumerate(widths.tolist()):
        if trials[row, width:].any() or sums[row, width:].any():
            raise ValueError(f"state must hold no trials of arms before they came; got some in "
                             f"batch {row}")
    return tuple(Batch(*(one[row, :width].copy() for one in (trials, sums, squares)))
                 for row, width in enumerate(widths.tolist()))
