"""Looks of a race, and the width of its bound at each look."""

import functools
from dataclasses import dataclass

import numpy as np

from pybandit._shared.checks import check_integer
from pybandit.racing._results import Record


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Schedule(Record):
    """Looks of a race, and the width of its bound at each look.

    Attributes
    ----------
    rows : ndarray of int64, shape (n_looks,)
        Factors read at each look; the last is N, where the answer is exact.
    scale, slack : ndarray of float64, shape (n_looks,)
        A state is eliminated if it is behind the leader by more than
        ``scale * sd + slack * range``, where sd has divisor T. In a pairwise race, sd is the
        standard deviation of the differences from the leader, and range is the sum of the two
        states' ranges. In a marginal race, sd and range are summed over the two states. `scale`
        and `slack` are 0 at the last look.
    unit : ndarray of float64, shape (n_looks,), or None
        Standard error of a mean at each look per unit of sd; None without correction for
        skewness. ``scale / unit`` is Student's quantile before its correction.
    """

    rows: np.ndarray
    scale: np.ndarray
    slack: np.ndarray
    unit: np.ndarray | None = None


def doubling_looks(n_factors, first_look, max_fraction):
    """Return the rows read at the partial looks."""
    rows, partial = first_look, []
    while rows < n_factors and rows <= max_fraction * n_factors:
        partial.append(rows)
        rows *= 2
    return partial


@functools.lru_cache(maxsize=1024)
def make_schedule(bound, n_factors, n_states, pairwise, first_look, max_fraction):
    """Return the `Schedule` of a race, with read-only arrays."""
    if first_look is None:
        first_look = bound.default_first_look
    first_look = check_integer("looks.first", first_look, 1)
    if first_look < min(bound.smallest_first_look, n_factors):
        raise ValueError(f"looks.first must be at least {bound.smallest_first_look}: a "
                         f"variance is estimated there; got {first_look}")
    looks = getattr(bound, "looks", doubling_looks)
    partial = np.array(looks(n_factors, first_look, max_fraction), dtype=np.int64)
    n_comparisons = max(1, n_states - 1 if pairwise else n_states)
    scale, slack = bound.terms(partial, n_factors, n_comparisons)
    unit = bound.units(partial, n_factors) if hasattr(bound, "units") else None
    schedule = Schedule(
        rows=np.append(partial, n_factors), scale=np.append(scale, 0.0),
        slack=np.append(slack, 0.0), unit=None if unit is None else np.append(unit, 0.0))
    for array in parts_of(schedule):
        if array is not None:
            array.flags.writeable = False
    return schedule


def parts_of(schedule):
    """Return the four arrays of a schedule."""
    return schedule.rows, schedule.scale, schedule.slack, schedule.unit


def check_schedule(schedule, n_factors):
    """Raise `ValueError` if the looks or terms of a user-defined bound are invalid."""
    rows, scale, slack, unit = parts_of(schedule)
    if (np.diff(rows, prepend=0) < 1).any() or rows[-1] != n_factors:
        raise ValueError(f"bound.looks must return increasing numbers of factors, at least 1 and "
                         f"below N = {n_factors}; got {rows[:-1]}")
    if not rows.shape == scale.shape == slack.shape or not (np.array([scale, slack]) >= 0).all():
        raise ValueError(f"bound.terms must return two terms of at least 0 per look; got "
                         f"{scale[:-1]} and {slack[:-1]} for {rows.size - 1} looks")
    if unit is not None and (unit.shape != rows.shape or not (unit[:-1] > 0).all()):
        raise ValueError(f"bound.units must return None or one unit above 0 per look; got "
                         f"{unit[:-1]} for {rows.size - 1} looks")
