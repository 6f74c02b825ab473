"""Checks of the counts and the saved states of races on counts."""

import numpy as np

from pybandit._shared.checks import (
    MOST_PULLS,
    check_counts,
    check_in,
    labels_of,
    refuse_masks,
    shown,
)
from pybandit._shared.schema import Schema, finite, integer
from pybandit.betting._count_bets import Batch
from pybandit.betting._state import check_form

OPTIONS = "n_arms", "delta", "value_range", "ties"
# relative tolerance for sums of values such as .1, which are not binary fractions
SLACK = 1e-9


def checked_batch(trials, sums, squares, before, value_range):
    """Return a checked batch with rewards in units of their range; `before`: trials so far."""
    low, high = value_range
    index = labels_of(trials)
    trials, sums = check_counts(trials, sums, before.size, MOST_PULLS - int(before.sum()))
    bad = outside(trials, sums, value_range)
    if bad.any():
        arm = int(bad.argmax())
        raise ValueError(f"sums must be sums of rewards in {value_range}; got {sums[arm]} for "
                         f"{int(trials[arm])} trials of arm {arm}")
    unit = np.clip((sums - trials * low) / (high - low), 0.0, trials)
    if squares is None:
        return Batch(trials, unit, unit)
    if index is not None and labels_of(squares) not in (None, index):
        raise ValueError(f"squares must have the index of trials, {shown(index)}; got "
                         f"{shown(labels_of(squares))}")
    squares = check_in("squares", refuse_masks("squares", squares), "finite", np.isfinite)
    if squares.shape != trials.shape:
        raise ValueError(f"squares must have shape {trials.shape}, one value per arm; got "
                         f"{squares.shape}")
    bad = squares_outside(trials, sums, squares, value_range)
    if bad.any():
        arm = int(bad.argmax())
        raise ValueError(f"squares must be sums of squared rewards in {value_range}; got "
                         f"{squares[arm]} for {int(trials[arm])} trials with sum {sums[arm]} of "
                         f"arm {arm}")
    return Batch(trials, unit, _unit_squares(trials, sums, squares, value_range)[0])


def outside(trials, sums, value_range):
    """Return, for each arm, True if no rewards in this range have this sum."""
    low, high = value_range
    slack = SLACK * trials * max(high - low, abs(low), abs(high))
    return ~((sums >= trials * low - slack) & (sums <= trials * high + slack))


def squares_outside(trials, sums, squares, value_range):
    """Return, for each arm, True if no rewards with this sum have this sum of squares."""
    return _unit_squares(trials, sums, squares, value_range)[1]


def _unit_squares(trials, sums, squares, value_range):
    """Return sums of squared rewards in units of their range, and True for impossible ones.

    The result is clipped to [s**2 / n, s] and rounded up, because larger squares are safe.
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


def trials_can_be_counted(s):
    """at most {most} trials in all"""
    return s.trials.sum(dtype=float) <= s.most


def sums_fit_trials(s):
    """sums of rewards in [0, 1], one per trial"""
    return (s.sums <= s.trials).all()


def squares_fit_sums(s):
    """the squares of rewards in [0, 1] with these sums, or a table without rows"""
    least = s.sums * s.sums / np.maximum(s.trials, 1) * (1.0 - SLACK)
    return s.n_squares == 0 or s.n_squares == s.n_batches and (
        (s.squares >= least) & (s.squares <= s.sums)).all()


def arms_are_in_order(s):
    """late arms in order; retired arms in order, each once and not all"""
    return (np.diff(s.late) >= 0).all() and (np.diff(s.retired) > 0).all() and (
        s.retired.size < s.n_arms and (s.retired < s.n_arms).all())


COUNTS = Schema(
    [integer("trials", 0, MOST_PULLS, ("n_batches", "n_arms")),
     finite("sums", 0.0, shape=("n_batches", "n_arms")),
     finite("squares", 0.0, shape=("n_squares", "n_arms")),
     integer("late", 0, "n_batches", ("n_late",)),
     integer("retired", 0, "n_arms", ("n_retired",))],
    invariants=[trials_can_be_counted, sums_fit_trials, squares_fit_sums, arms_are_in_order])


def check_count_state(state, cls):
    """Return the checked trials, sums, squares, late and retired arms of a state.

    The options are not checked.
    """
    names = [entry.name for entry in COUNTS.top]
    check_form(state, cls, ("type", "options", *names), OPTIONS)
    known = COUNTS.checked_part("counts", dict(state), {"most": MOST_PULLS})
    if not known["n_squares"]:  # never reported
        known["squares"] = known["sums"]
    return [known[name] for name in names]


def columns_of(batches, n_arms):
    """Return trials, sums and squares for a state; squares have no rows if they equal the sums."""
    shape = len(batches), n_arms
    trials, sums, squares = np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape)
    for row, batch in enumerate(batches):
        width = batch.trials.size
        trials[row, :width], sums[row, :width], squares[row, :width] = batch
    return trials, sums, squares[:0] if np.array_equal(squares, sums) else squares


def batches_of(trials, sums, squares, late, n_first):
    """Return the batches of a state, each with the arms that existed at that time."""
    widths = n_first + np.searchsorted(late, np.arange(len(trials)), side="right")
    for row, width in enumerate(widths.tolist()):
        if trials[row, width:].any() or sums[row, width:].any():
            raise ValueError("state must hold no trials of arms before they were added; got some "
                             f"in batch {row}")
    return tuple(Batch(*(one[row, :width].copy() for one in (trials, sums, squares)))
                 for row, width in enumerate(widths.tolist()))
