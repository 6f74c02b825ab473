# cython: auto_pickle=False
"""The best arm within a budget of pulls, by pulling the arm of the largest index.

Gabillon, Ghavamzadeh, Lazaric and Bubeck, Multi-bandit best arm identification, NIPS 2011;
Audibert, Bubeck and Munos, Best arm identification in multi-armed bandits, COLT 2010.
"""

import numpy as np

from pybandit._shared.checks import (
    MOST_PULLS, check_in, check_integer, check_numeric, check_positive, shown,
)

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_scan_position, pb_scan_sum, pb_scan_two, pb_two
from pybandit.policies.protocol._index cimport _IndexPolicy, choose_by_root

__all__ = ["GapE", "GapEV", "UCBE"]


cdef class _BudgetPolicy(_IndexPolicy):
    """An index policy with a budget and a known or estimated complexity of the problem."""

    def __init__(self, n_arms, budget, complexity, least):
        super().__init__(n_arms, check_integer("budget", budget, 0, MOST_PULLS), least)
        if complexity is not None:
            complexity = check_positive("complexity", complexity)
            self.known_complexity = complexity
        self.complexity = complexity


cdef class _GapPolicy(_BudgetPolicy):
    """A policy whose index is minus the gap plus a width."""

    cdef readonly double value_range      # b
    cdef readonly double complexity_scale
    cdef double factor

    def __init__(self, n_arms, budget, value_range, complexity, complexity_scale, least, factor):
        super().__init__(n_arms, budget, complexity, least)
        self.value_range = _range(value_range)
        self.complexity_scale = check_positive("complexity_scale", complexity_scale)
        self.factor = factor

    def _options(self):
        return dict(n_arms=self.n_arms, budget=self.budget, value_range=self.value_range,
                    complexity=self.complexity, complexity_scale=self.complexity_scale)

    cdef double _estimate(self, double top) noexcept nogil:
        """Return an estimate of H, given that the leader's centre is set to the second mean."""
        return 0.0

    cdef void _choose(self) noexcept nogil:
        cdef pb_two best = pb_scan_two(&self.centres[0], self.n_arms)
        cdef int64_t leader = pb_scan_position(&self.centres[0], self.n_arms, best.first, -1)
        cdef double complexity
        # with the leader's centre at the second mean, one formula gives the gaps of all arms
        self.centres[leader] = best.second
        complexity = self.known_complexity if self.known_complexity else self._estimate(best.first)
        self._choose_largest(
            self.factor * (self.limit - self.least * self.n_arms)
            / (self.complexity_scale * complexity), best.first)
        self.centres[leader] = best.first


cdef class GapE(_GapPolicy):
    """Pulls the arm whose gap to the best mean is small or uncertain.

    Gabillon et al. 2011, GapE for one problem. After one pull of each arm, it pulls the arm of the
    largest ``-D_i + b sqrt(a / T_i)``, ``a = (4/9) (n - K) / H``. T_i is the number of pulls of arm
    i, and D_i the distance of its mean from the best one (for the best arm, from the second best).
    Ties go to the lowest index; the best mean is recommended.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    budget : int
        n, at least K; all of it is spent.
    value_range : float or (float, float)
        b, the length of an interval that contains all rewards, above 0; or its two ends.
    complexity : float, optional
        ``H = sum_i b^2 / Delta_i^2`` of the true gaps, above 0. Without it H is
        estimated before each pull (A-GapE), with ``u_i = D_i + b sqrt(1 / (2 T_i))``
        in place of Delta_i.
    complexity_scale : float, default 1
        Factor applied to H, above 0: below 1 the policy explores more. Lalitha et al. 2023 use
        ``(1/144) 4 log2(K)``.

    Attributes
    ----------
    done : bool
    n_pulls, n_batches : int
    pulls, means, variances : ndarray
        See `Policy`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if `budget` is below K.

    See Also
    --------
    GapEV : for arms of different noise.
    UCBE, UGapEb : other rules with a budget.

    Notes
    -----
    O(K) per pull. An arm whose first pull was lost is asked again, up to n // K times in all.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.policies.GapE(4, budget=80, value_range=1.0, complexity=6.0)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, np.array([0.1, 0.9, 0.8, 0.2])[arms])
    >>> policy.recommend()
    array([1])
    """

    def __init__(self, n_arms, *, budget, value_range, complexity=None, complexity_scale=1.0):
        super().__init__(n_arms, budget, value_range, complexity, complexity_scale, 1, 4.0 / 9.0)
        self._made(GapE)

    cdef void _widen(self, int64_t arm) noexcept nogil:
        self.roots[arm] = self.value_range / sqrt(<double>self._pulls[arm])

    cdef double _estimate(self, double top) noexcept nogil:
        cdef const double *centres = &self.centres[0]
        cdef const double *roots = &self.roots[0]
        cdef double *terms = &self.scratch[0]
        cdef double half = sqrt(0.5), gap
        cdef int64_t arm
        for arm in range(self.n_arms):
            gap = top - centres[arm] + half * roots[arm]
            terms[arm] = 1.0 / (gap * gap)
        return self.value_range * self.value_range * pb_scan_sum(terms, self.n_arms)


cdef class GapEV(_GapPolicy):
    """Pulls the arm whose gap to the best mean is small or uncertain, considering variances.

    Gabillon et al. 2011, GapE-V for one problem. After two pulls of each arm, it pulls the arm of
    the largest ``-D_i + sqrt(2 a v_i / T_i) + 7 a b / (3 (T_i - 1))``, ``a = (8/9) (n - 2 K) / H``.
    Here v_i is the unbiased variance of its T_i rewards and D_i the gap as in `GapE`. Ties go to
    the lowest index; the best mean is recommended.

    Parameters
    ----------
    n_arms, value_range, complexity_scale
        As in `GapE`; for `complexity_scale`, Lalitha et al. 2023 use ``(1/512) 4 log2(K)``.
    budget : int
        n, at least 2 K; all of it is spent.
    complexity : float, optional
        ``H = sum_i (s_i + sqrt(s_i^2 + (16/3) b Delta_i))^2 / Delta_i^2`` of the true gaps
        and standard deviations s_i, above 0. Without it H is estimated before each pull
        (A-GapE-V), with ``D_i + b sqrt(1 / (2 T_i))`` in place of Delta_i and
        ``max(0, sqrt(v_i) - b sqrt(2 / (T_i - 1)))`` in place of s_i.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if `budget` is below 2 K.

    See Also
    --------
    GapE : assumes that all arms are equally noisy.

    Notes
    -----
    O(K) per pull. An arm without two rewards is asked again, up to n // K times in all.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> bandit = pb.environments.BernoulliBandit([0.02, 0.1, 0.5, 0.7])
    >>> policy, rng = pb.policies.GapEV(4, budget=300, value_range=(0, 1)), np.random.default_rng(1)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, bandit.pull(arms, rng))
    >>> policy.recommend(), policy.pulls
    (array([3]), array([ 14,  18, 139, 129]))
    """

    # lower bounds of the standard deviations; amounts added to estimated gaps
    cdef double[::1] spreads, margins

    def __init__(self, n_arms, *, budget, value_range, complexity=None, complexity_scale=1.0):
        super().__init__(n_arms, budget, value_range, complexity, complexity_scale, 2, 8.0 / 9.0)
        self._wants_rewards = True
        self.spreads, self.margins = np.zeros(self.n_arms), np.zeros(self.n_arms)
        self._made(GapEV)

    cdef void _widen(self, int64_t arm) noexcept nogil:
        cdef double n = self._pulls[arm], b = self.value_range
        # rounding can put the sum of squares below 0
        cdef double variance = max(self._deviations[arm], 0.0) / (n - 1.0)
        self.roots[arm] = sqrt(2.0 * variance / n)
        self.slopes[arm] = 7.0 * b / (3.0 * (n - 1.0))
        self.spreads[arm] = max(sqrt(variance) - b * sqrt(2.0 / (n - 1.0)), 0.0)
        self.margins[arm] = b * sqrt(0.5 / n)

    cdef double _estimate(self, double top) noexcept nogil:
        cdef const double *centres = &self.centres[0]
        cdef const double *spreads = &self.spreads[0]
        cdef const double *margins = &self.margins[0]
        cdef double *terms = &self.scratch[0]
        cdef double product = self.value_range * 16.0 / 3.0, gap, root
        cdef int64_t arm
        for arm in range(self.n_arms):
            gap = top - centres[arm] + margins[arm]
            root = (spreads[arm] + sqrt(spreads[arm] * spreads[arm] + product * gap)) / gap
            terms[arm] = root * root
        if self.n_lacking:
            for arm in range(self.n_arms):
                if centres[arm] == -INFINITY:
                    terms[arm] = 0.0
        return pb_scan_sum(terms, self.n_arms)


cdef class UCBE(_BudgetPolicy):
    """Pulls the arm of the largest upper bound, with bounds as wide as the budget allows.

    Audibert, Bubeck and Munos 2010, UCB-E: after one pull of each arm, the arm of the largest
    ``mean_i + sqrt(a / N_i)``, ``a = (25/36) (T - K) / H1``, where N_i is its number of pulls.
    Ties go to the lowest index; the best mean is recommended.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    budget : int
        T, at least K; all of it is spent.
    complexity : float
        ``H1 = sum_i 1 / Delta_i^2`` of the true gaps, for rewards in [0, 1]; above 0.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if `budget` is below K.

    See Also
    --------
    SuccessiveRejects : does not need `complexity`.
    UGapEb, GapE : can estimate the complexity.

    Notes
    -----
    O(K) per pull. An arm whose first pull was lost is asked again, up to T // K times in all.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> means, rng = np.array([0.3, 0.4, 0.8]), np.random.default_rng(1)
    >>> complexity = np.sum(1 / np.array([0.5, 0.4, 0.4]) ** 2)  # the best arm's gap: to the next
    >>> policy = pb.policies.UCBE(3, budget=90, complexity=complexity)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, rng.binomial(1, means[arms]))
    >>> policy.recommend(), policy.pulls
    (array([2]), array([ 8,  8, 74]))
    """

    def __init__(self, n_arms, *, budget, complexity):
        super().__init__(n_arms, budget, check_positive("complexity", complexity), 1)
        self._made(UCBE)

    def _options(self):
        return dict(n_arms=self.n_arms, budget=self.budget, complexity=self.complexity)

    cdef void _choose(self) noexcept nogil:
        choose_by_root(self, 25.0 / 36.0 * (self.limit - self.n_arms) / self.known_complexity)


def _range(value_range):
    """Return the length of an interval given by its length or its two ends."""
    ends = check_numeric("value_range", value_range)
    if ends.ndim == 0:
        return check_positive("value_range", ends)
    ends = check_in("value_range", ends, "finite", np.isfinite)
    if ends.shape != (2,) or not ends[0] < ends[1] or not np.isfinite(ends[1] - ends[0]):
        raise ValueError(f"value_range must be a length, or (low, high) with low below high; got "
                         f"{shown(value_range)}")
    return float(ends[1] - ends[0])
