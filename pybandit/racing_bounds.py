"""The bounds a race can use, and the schedule of looks they make.

A bound turns a schedule of looks into two numbers a look: a gap counts when it
exceeds ``scale * sd + slack * range``. The kernel knows nothing else of it.
"""

import functools
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from pybandit import bounds
from pybandit._checks import check_choice, check_in, check_integer

CONVENTIONS = ("one-sided", "two-sided", "union")


class Schedule(NamedTuple):
    """When a race looks and how wide its bound is there.

    Attributes
    ----------
    rows : ndarray of int64, shape (n_looks,)
        Factors read at each look; the last is N, where the answer is exact.
    scale, slack : ndarray of float64, shape (n_looks,)
        A state is dropped when it is behind the leader by more than
        ``scale * sd + slack * range``, sd with divisor T; pairwise, sd is of the
        differences from the leader and range the sum of the two states' ranges;
        marginal, both are summed over the two states. 0 at the last look.
    """

    rows: np.ndarray
    scale: np.ndarray
    slack: np.ndarray


@dataclass(frozen=True)
class NormalBound:
    """The paper's bound: normal means, the estimated deviation taken for known.

    Chen & Ghahramani 2016, Eq. 9. Not guaranteed: with deviations estimated from
    50 values two arms without a gap err 1.31 times delta at delta = 0.001, and
    more on skewed rewards. `StudentBound` mends the first.

    Parameters
    ----------
    delta : float, default 0.05
        Error probability of the race, in (0, 1). It is split over the D - 1
        rivals (pairwise) or D states (marginal); the share must be below 1/2.
    convention : {"one-sided", "two-sided", "union"}
        How the looks share the error; see `pybandit.bounds.b_normal`.
        ``"two-sided"`` is right for two states.
    boundary : float, optional
        The constant B itself, in standard errors, instead of the one that
        `delta` and the looks give; >= 0.

    Raises
    ------
    ValueError
        Where a parameter is outside its range.
    """

    delta: float = 0.05
    convention: str = "one-sided"
    boundary: float | None = None
    default_first_look: ClassVar[int] = 50
    smallest_first_look: ClassVar[int] = 2

    def __post_init__(self):
        check_race_delta(self.delta)
        check_choice("convention", self.convention, CONVENTIONS)
        if self.boundary is not None:
            check_in("boundary", self.boundary, "finite and at least 0",
                     lambda b: np.isfinite(b) & (b >= 0))

    def terms(self, rows, n_factors, n_comparisons):
        """Scale and slack at the partial looks `rows`, for delta / n_comparisons."""
        fractions = np.asarray(rows, dtype=np.float64) / n_factors
        boundary = self.boundary
        if boundary is None and rows.size:
            boundary = bounds.boundary(self.delta / n_comparisons, fractions, self.convention)
        if not rows.size:
            return np.zeros(0), np.zeros(0)
        return self._scale(rows, n_factors, boundary), np.zeros(rows.size)

    def _scale(self, rows, n_factors, boundary):
        return bounds.normal(rows, n_factors, 1.0, boundary)


@dataclass(frozen=True)
class StudentBound(NormalBound):
    """The normal bound with Student quantiles: right for estimated deviations.

    At each look B is replaced by the Student quantile ``t_{T-1}^{-1}(Phi(B))``
    and the deviation has divisor T - 1. Where differences are near normal the
    error is delta; on strongly skewed rewards it can be more. The default.

    Parameters
    ----------
    delta, convention, boundary
        As in `NormalBound`.
    """

    def _scale(self, rows, n_factors, boundary):
        rows = np.asarray(rows, dtype=np.float64)
        unbiased = np.sqrt(rows / (rows - 1.0))
        return unbiased * bounds.student(rows, n_factors, 1.0, boundary)


@dataclass(frozen=True)
class EBSBound:
    """The empirical Bernstein-Serfling bound: guaranteed, for rewards of known range.

    Chen & Ghahramani 2016, Eq. 6 and 7; the error is split evenly over the
    partial looks.

    Parameters
    ----------
    delta : float, default 0.05
        Error probability of the race, in (0, 1).
    value_range : float or sequence of float, shape (D,)
        Largest minus smallest reward of a state over all factors, one for all
        states or one a state. A spread beyond it raises when it is seen.
    difference_range : float, optional
        The same for the differences of two states; by default the sum of their
        ranges. Used with ``variance="pairwise"`` only.

    Raises
    ------
    ValueError
        Where a parameter is outside its range, or neither range is given.
    """

    delta: float = 0.05
    value_range: float | tuple | None = None
    difference_range: float | None = None
    default_first_look: ClassVar[int] = 2
    smallest_first_look: ClassVar[int] = 1

    def __post_init__(self):
        check_race_delta(self.delta)
        if self.value_range is None and self.difference_range is None:
            raise ValueError("value_range must be given for the ebs bound: the largest minus "
                             "the smallest reward of a state; got None")
        for name in ("value_range", "difference_range"):
            value = getattr(self, name)
            if value is not None:
                check_in(name, value, "finite and above 0",
                         lambda c: np.isfinite(c) & (c > 0))
        if np.ndim(self.value_range):
            frozen = tuple(float(c) for c in np.ravel(self.value_range))
            object.__setattr__(self, "value_range", frozen)

    def terms(self, rows, n_factors, n_comparisons):
        """Scale and slack at the partial looks `rows`, for delta / n_comparisons."""
        share = self.delta / n_comparisons / max(1, rows.size)
        return bounds.bernstein_serfling_terms(rows, n_factors, share)


SHORTCUTS = {"student": StudentBound, "normal": NormalBound, "ebs": EBSBound}


def check_race_delta(delta):
    """Return `delta` as a float in (0, 1)."""
    return float(check_in("delta", delta, "in (0, 1)", lambda x: (x > 0) & (x < 1)))


def as_bound(bound, delta, value_range):
    """The bound object that the `bound`, `delta` and `value_range` of a race mean."""
    if not isinstance(bound, str):
        if not hasattr(bound, "terms"):
            raise TypeError(f"bound must be a bound object or one of {sorted(SHORTCUTS)}; "
                            f"got {bound!r}")
        for name, value in (("delta", delta), ("value_range", value_range)):
            if value is not None:
                raise ValueError(f"{name} must be given to the bound object itself when bound "
                                 f"is one; got {name}={value!r} and bound={bound!r}")
        return bound
    check_choice("bound", bound, SHORTCUTS)
    options = {} if delta is None else {"delta": delta}
    if bound == "ebs":
        options["value_range"] = value_range
    elif value_range is not None:
        raise ValueError(f"value_range is used by bound='ebs' only; got value_range="
                         f"{value_range!r} with bound={bound!r}")
    return SHORTCUTS[bound](**options)


@functools.lru_cache(maxsize=1024)
def make_schedule(bound, n_factors, n_states, pairwise, first_look, max_fraction):
    """The looks of a race and the terms of its bound there, read-only arrays."""
    if first_look is None:
        first_look = bound.default_first_look
    first_look = check_integer("first_look", first_look, 1)
    if first_look < min(bound.smallest_first_look, n_factors):
        raise ValueError(f"first_look must be at least {bound.smallest_first_look}: a variance "
                         f"is estimated there; got {first_look}")
    partial = []
    rows = first_look
    while rows < n_factors and rows <= max_fraction * n_factors:
        partial.append(rows)
        rows *= 2
    partial = np.array(partial, dtype=np.int64)
    n_comparisons = max(1, n_states - 1 if pairwise else n_states)
    scale, slack = bound.terms(partial, n_factors, n_comparisons)
    schedule = Schedule(
        np.append(partial, n_factors), np.append(scale, 0.0), np.append(slack, 0.0)
    )
    for array in schedule:
        array.flags.writeable = False
    return schedule
