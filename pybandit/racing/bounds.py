"""Bounds for races.

A bound gives the kernel two numbers per look: a gap is significant if it exceeds
``scale * sd + slack * range``. `BettingBound` selects a different kind of race, which may
decide after every item.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pybandit._shared.checks import (
    check_choice,
    check_delta,
    check_in,
    check_numeric,
    check_positive,
    check_scalar,
    nonnegative,
    shown,
)
from pybandit._shared.types import Floats, Ints
from pybandit.betting.limits import check_limits
from pybandit.betting.options import Bets
from pybandit.racing import b_normal, half_widths

N_BETS = 16
CONVENTIONS = ("one-sided", "two-sided", "union")


@dataclass(frozen=True, kw_only=True)
class NormalBound:
    """Bound of the paper, which treats means as normal and the standard deviation as known.

    Chen & Ghahramani 2016, Eq. 9. The error is about delta if differences are near normal
    and many were read. Otherwise the error has no bound, however small delta is.
    With standard deviations estimated from 50 values and delta = 0.001, the error for two
    arms without a gap is 1.31 times delta, and larger for skewed rewards. `StudentBound` corrects
    both effects as far as the data show them; `BettingBound` has a guarantee.

    Parameters
    ----------
    delta : float, default 0.05
        Approximate error probability of the race if differences are near normal, in (0, 1).
        It is split over D - 1 comparisons with the leader (pairwise) or D states (marginal);
        each share must be below 1/2.
    convention : {"one-sided", "two-sided", "union"}
        Division of the error over the looks; see `pybandit.bounds.b_normal`.
        ``"two-sided"`` is correct for two states.
    boundary : float, optional
        Constant B in standard errors, >= 0; computed from `delta` and the looks by default.

    Raises
    ------
    ValueError
        If a parameter is outside its range.

    See Also
    --------
    StudentBound : corrected version of this bound; the default.
    BettingBound, EBSBound : guaranteed, for rewards of known range.

    Notes
    -----
    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> factors = np.random.default_rng(0).normal([0.0, 0.1, 0.3], 1.0, (100_000, 3))
    >>> result = pb.race(factors, bound=pb.racing.NormalBound(delta=0.001, convention="union"),
    ...                  looks=pb.racing.Looks(max_fraction=1.0), rng=1)
    >>> result.best, result.n_evaluations
    (2, 6800)
    """

    delta: float = 0.05
    convention: str = "one-sided"
    boundary: float | None = None
    default_first_look: ClassVar[int] = 50
    smallest_first_look: ClassVar[int] = 2

    def __post_init__(self):
        object.__setattr__(self, "delta", check_delta(self.delta))
        check_choice("convention", self.convention, CONVENTIONS)
        if self.boundary is not None:
            object.__setattr__(self, "boundary", check_scalar(
                "boundary", self.boundary, "finite and at least 0", nonnegative))

    def terms(self, rows: Ints, n_factors: int, n_comparisons: int) -> tuple[Floats, Floats]:
        """Return scale and slack at the partial looks `rows`, for delta / n_comparisons."""
        fractions = np.asarray(rows, dtype=np.float64) / n_factors
        boundary = self.boundary
        if boundary is None and rows.size:
            boundary = b_normal.boundary(self.delta / n_comparisons, fractions,
                                         convention=self.convention)
        if not rows.size:
            return np.zeros(0), np.zeros(0)
        return self._scale(rows, n_factors, boundary), np.zeros(rows.size)

    def _scale(self, rows, n_factors, boundary):
        return half_widths.normal(rows, n_factors, 1.0, boundary)


@dataclass(frozen=True, kw_only=True)
class StudentBound(NormalBound):
    """Normal bound with Student quantiles, corrected for skewness. The default.

    At each look, B is replaced by the Student quantile ``q = t_{T-1}^{-1}(Phi(B))``, and
    the standard deviation has divisor T - 1. Let t be the t statistic of the T differences
    between the leader and a state, and g their skewness. For T much smaller than N, the
    state is eliminated if ``t + g (1 + 2 t**2) / (6 sqrt(T)) > q`` (Johnson 1978), with
    these exceptions:

    - If ``g / sqrt(T)`` is -0.1 or less, the tail is too heavy for this correction. The state
      is then eliminated only if t exceeds the smaller of ``30 q abs(g) / sqrt(T)`` and ``45 q``.
    - A state is never eliminated if ``t < q / 2``.
    - A state is never eliminated if all differences are equal, or if fewer than five of them
      differ from the first: such data do not show how much they vary.

    **Error probability.** About delta if differences are near normal: .047 to .052 at
    delta = .05. At delta = .001 with a first look of ten rows it is .00116, because of the
    correction. Otherwise the error has no bound, however small delta is: large rare
    values that were not read cannot be detected. Use `BettingBound` with a range for a
    guarantee.

    Parameters
    ----------
    delta, convention, boundary
        As in `NormalBound`.
    skewness : bool, default True
        False disables the correction and the exceptions.

    Raises
    ------
    ValueError
        If a parameter is outside its range.

    See Also
    --------
    NormalBound : the bound of the paper.
    BettingBound, EBSBound : guaranteed, for rewards of known range.

    Notes
    -----
    For T of N values, the correction uses the third cumulant of a mean without replacement:
    ``g ((1 - 2 e) + (2 - 3 f + 2 e) t**2) / (6 sqrt(T (1 - f)))``, with f = (T - 1) / (N - 1)
    and e = (T - 1) / (N - 2). If no t satisfies the condition, as for a tiny delta and a
    negative g, t must exceed 3 q.

    **Threads.** Immutable: threads may share it.

    References
    ----------
    N. J. Johnson, Modified t tests and confidence intervals for asymmetrical
    populations, JASA 73, 1978.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> factors = np.random.default_rng(0).normal([0.0, 0.1, 0.3], 1.0, (100_000, 3))
    >>> result = pb.race(factors, bound=pb.racing.StudentBound(delta=0.001),
    ...                  looks=pb.racing.Looks(max_fraction=1.0), rng=1)
    >>> result.best, result.n_evaluations
    (2, 3600)
    """

    skewness: bool = True

    def __post_init__(self):
        super().__post_init__()
        check_choice("skewness", self.skewness, (True, False))
        object.__setattr__(self, "skewness", bool(self.skewness))

    def _scale(self, rows, n_factors, boundary):
        return _unbiased(rows) * half_widths.student(rows, n_factors, 1.0, boundary)

    def units(self, rows: Ints, n_factors: int) -> Floats | None:
        """Return the standard error of a mean at each partial look per unit of sd, or None."""
        if not self.skewness:
            return None
        if not rows.size:
            return np.zeros(0)
        return _unbiased(rows) * half_widths.normal(rows, n_factors, 1.0, 1.0)


def _unbiased(rows):
    """Return the factor from a standard deviation with divisor T to one with divisor T - 1."""
    rows = np.asarray(rows, dtype=np.float64)
    return np.sqrt(rows / (rows - 1.0))


@dataclass(frozen=True, kw_only=True)
class EBSBound:
    """Empirical Bernstein-Serfling bound: guaranteed, for rewards of known range.

    Chen & Ghahramani 2016, Eq. 6 and 7; the error is split evenly over the
    partial looks.

    Parameters
    ----------
    value_range : float or sequence of float, shape (D,)
        Largest minus smallest reward of a state over all factors: one number for all states, or
        one per state. A race raises ValueError if the rewards of a state that it reads spread
        further. May be None if `difference_range` is given.
    delta : float, default 0.05
        Error probability of the race, in (0, 1).
    difference_range : float, optional
        Range of the differences of two states' rewards; by default the sum of the states'
        ranges. Used only with ``Looks(variance="pairwise")``.

    Raises
    ------
    ValueError
        If a parameter is outside its range, or both ranges are None.

    See Also
    --------
    BettingBound : also guaranteed, and reads less.

    Notes
    -----
    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> factors = np.random.default_rng(0).random((100_000, 3)) * [0.5, 0.8, 1.0]
    >>> result = pb.race(factors, bound=pb.racing.EBSBound(delta=0.05, value_range=1.0),
    ...                  looks=pb.racing.Looks(max_fraction=1.0), rng=1)
    >>> result.best, result.n_evaluations
    (2, 2560)
    """

    value_range: float | tuple | None
    delta: float = 0.05
    difference_range: float | None = None
    default_first_look: ClassVar[int] = 2
    smallest_first_look: ClassVar[int] = 1

    def __post_init__(self):
        object.__setattr__(self, "delta", check_delta(self.delta))
        if self.value_range is None and self.difference_range is None:
            raise ValueError("value_range must be given for EBSBound: the largest minus the "
                             "smallest reward of a state; got None")
        if self.difference_range is not None:
            object.__setattr__(self, "difference_range",
                               check_positive("difference_range", self.difference_range))
        if self.value_range is not None:
            ranges = check_in("value_range", self.value_range, "finite and above 0",
                              lambda c: np.isfinite(c) & (c > 0))
            frozen = tuple(np.ravel(ranges).tolist()) if ranges.ndim else float(ranges)
            object.__setattr__(self, "value_range", frozen)

    def terms(self, rows: Ints, n_factors: int, n_comparisons: int) -> tuple[Floats, Floats]:
        """Return scale and slack at the partial looks `rows`, for delta / n_comparisons."""
        share = self.delta / n_comparisons / max(1, rows.size)
        return half_widths.bernstein_serfling_terms(rows, n_factors, share)


@dataclass(frozen=True, kw_only=True)
class BettingBound:
    """Bound by betting against each state: guaranteed after every factor, and reads little.

    For each surviving state b, a wealth that starts at 1 bets that b is not best. It bets
    factor by factor on the difference between the current leader a and b, and is the mean
    over G bets ``lambda_g``, geometric from 0.004 to 2::

        c = (score_b - score_a) / (N - t + 1)        score: offset + sum of t - 1 rewards
        x = ((f_t(a) - f_t(b)) / R + 1) / 2,   m = (c / R + 1) / 2
        E_g *= 1 + min(lambda_g N / (N - t + 1), 0.9 / m) (x - m)

    b is eliminated if ``mean_g E_g >= 1 / delta``. For the leader itself, a is the runner-up.

    **Guarantee.** The race errs with probability at most delta, for any rewards in the range,
    any stopping time and any number of states. Proof: a is chosen before factor t is read. If
    b is best, its total is at least that of a, so the remaining factors have differences that
    sum to at most ``score_b - score_a``, and the next one, drawn uniformly from them, has
    mean at most c. Each term of the product E_g therefore has conditional mean at most 1. It is
    at least 0.1, because a bet risks at most 0.9 of its wealth. So E_g, and the mean over g,
    is a nonnegative supermartingale that starts at 1. By Ville's inequality it ever reaches
    1 / delta with probability at most delta. Only the wealth of the best state can cause an
    error, so no union over states, looks or factors is needed.

    Parameters
    ----------
    value_range : (float, float), float or "control"
        ``(low, high)``: range of all rewards, and R = high - low. A number: R, the largest
        difference between two states' rewards for one factor. A race raises ValueError if it reads
        a reward outside the range; the error names factor, state and reward. ``"control"``: for
        `mcmc.RacingMetropolis` with a control that has `third`, which gives the range of each
        decision.
    delta : float, default 0.05
        Error probability of the race, in (0, 1).
    bets : betting.Bets, default Bets("product")
        G = ``n_bets`` bets, 16 by default. With ``hybrid=True``, half of the wealth is bet on
        the leader and half is spread over all other surviving states. A wrong early leader then
        costs less; if the leader is right, the wealth is halved. D**2 processes are kept.
        ``Bets("ebmix")`` mixes ``exp(lambda_g A - psi(lambda_g) V)`` instead, with ``psi(l) =
        -log(1 - l) - l``. A is the sum of x - m, and V the sum of squared deviations of x from the
        mean of the values before it. It has the same guarantee, keeps 6 numbers per state instead
        of G, and reads 1.1 to 2.3 times as much. ``"plug-in"`` bets are for `BettingRace`.

    Raises
    ------
    ValueError
        If a parameter is outside its range, or `bets` are plug-in bets.

    See Also
    --------
    EBSBound : the guaranteed bound of the paper, which reads more.
    StudentBound : needs no range, and has no guarantee.

    Notes
    -----
    O(G) per state and factor: 8 to 13 ns with 16 bets. Decisions do not depend on a schedule
    of looks; factors are requested in blocks that grow by an eighth.

    **Threads.** Immutable: threads may share it.

    References
    ----------
    I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by
    betting, JRSS B 86, 2024; J. Ville, Etude critique de la notion de collectif,
    1939.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> factors = np.random.default_rng(0).random((100_000, 3)) * [0.5, 0.8, 1.0]
    >>> result = pb.race(factors, bound=pb.racing.BettingBound(delta=0.05, value_range=(0, 1)),
    ...                  rng=1)
    >>> result.best, result.n_evaluations
    (2, 188)
    """

    value_range: float | tuple | str
    delta: float = 0.05
    bets: Bets = Bets("product")
    default_first_look: ClassVar[int] = 32
    smallest_first_look: ClassVar[int] = 1

    def __post_init__(self):
        object.__setattr__(self, "delta", check_delta(self.delta))
        if not isinstance(self.bets, Bets):
            raise TypeError(f"bets must be a pybandit.betting.Bets; got {shown(self.bets)}")
        if self.bets.mixture == "plug-in":
            raise ValueError("bets must have mixture 'product' or 'ebmix' for BettingBound; got "
                             "'plug-in'")
        if isinstance(self.value_range, str) and self.value_range == "control":
            return
        if self.value_range is not None:
            check_numeric("value_range", self.value_range)
        object.__setattr__(self, "value_range", check_limits(self.value_range))

    @property
    def n_bets(self) -> int:
        """G, the number of bets in the mixture."""
        return N_BETS if self.bets.n_bets is None else self.bets.n_bets

    @property
    def limits(self) -> tuple[float, float, float | None]:
        """(low, high, R): limits of rewards, which may be infinite, and of differences."""
        if isinstance(self.value_range, str):
            raise ValueError("value_range must be (low, high) or a number; got 'control', which "
                             "is for mcmc.RacingMetropolis with a control that has third")
        if isinstance(self.value_range, tuple):
            low, high = self.value_range
            return low, high, high - low
        return -math.inf, math.inf, self.value_range

    def looks(self, n_factors: int, first_look: int, max_fraction: float) -> list[int]:
        """Return the rows at which blocks end; blocks grow by an eighth."""
        rows, partial = first_look, []
        while rows < n_factors and rows <= max_fraction * n_factors:
            partial.append(rows)
            rows += max(first_look, rows // 8)
        return partial

    def terms(self, rows: Ints, n_factors: int, n_comparisons: int) -> tuple[Floats, Floats]:
        """Return zeros: the bets decide."""
        return np.zeros(rows.size), np.zeros(rows.size)
