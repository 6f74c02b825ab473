"""The looks of a race, and what its bound asks for at each."""

import functools
from dataclasses import dataclass

import numpy as np

from pybandit._shared.checks import check_integer
from pybandit.racing._record import Record


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Schedule(Record):
    """Looks of a race, and the width of its bound there.

    Attributes
    ----------
    rows : ndarray of int64, shape (n_looks,)
        Factors read at each look; the last is N, where the answer is exact.
    scale, slack : ndarray of float64, shape (n_looks,)
        A state is dropped when it is behind the leader by more than
        ``scale * sd + slack * range``, sd with divisor T; pairwise, sd is of the
        differences from the leader and range the sum of the two states' ranges;
        marginal, both are summed over the two states. 0 at the last look.
    unit : ndarray of float64, shape (n_looks,), or None
        Where skewness counts: the standard error of a mean at each look where sd is
        1. ``scale / unit`` is Student's quantile before its correction.
    """

    rows: np.ndarray
    scale: np.ndarray
    slack: np.ndarray
    unit: np.ndarray | None = None


def doubling_looks(n_factors, first_look, max_fraction):
    """Rows read at the partial looks."""
    rows, partial = first_look, []
    while rows < n_factors and rows <= max_fraction * n_factors:
        partial.append(rows)
        rows *= 2
    return partial


@functools.lru_cache(maxsize=1024)
def make_schedule(bound, n_factors, n_states, pairwise, first_look, max_fraction):
    """The looks of a race and the terms of its bound there, read-only arrays."""
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
    """The four arrays of a schedule."""
    return schedule.rows, schedule.scale, schedule.slack, schedule.unit


def check_schedule(schedule, n_factors):
    """Raise `ValueError` unless a race can look so: a bound may be anybody's."""
    rows, scale, slack, unit = parts_of(schedule)
    if (np.diff(rows, prepend=0) < 1).any() or rows[-1] != n_factors:
        raise ValueError(f"bound must look after increasing numbers of factors, at least 1 and "
                         f"below N = {n_factors}; its looks gave {rows[:-1]}")
    if not rows.shape == scale.shape == slack.shape or not (np.array([scale, slack]) >= 0).all():
        raise ValueError(f"bound must have two terms of at least 0 a look; for {rows.size - 1} "
                         f"looks its terms gave {scale[:-1]} and {slack[:-1]}")
    if unit is not None and (unit.shape != rows.shape or not (unit[:-1] > 0).all()):
        raise ValueError(f"bound must have a unit above 0 a look, or none; for {rows.size - 1} "
                         f"looks its units gave {unit[:-1]}")
