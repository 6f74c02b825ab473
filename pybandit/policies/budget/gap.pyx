# cython: auto_pickle=False
"""The best arm within a budget of pulls, one at a time at the largest index.

Gabillon, Ghavamzadeh, Lazaric and Bubeck, Multi-bandit best arm identification,
NIPS 2011; Gabillon, Ghavamzadeh and Lazaric, Best arm identification: a unified
approach to fixed budget and fixed confidence, NIPS 2012; Audibert, Bubeck and Munos,
Best arm identification in multi-armed bandits, COLT 2010.
"""

import numpy as np

from pybandit._shared.checks import (
    MOST_PULLS, check_in, check_integer, check_numeric, check_positive, check_scalar, shown,
)
from pybandit.policies.budget._states import UGAP

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport (
    pb_scan_largest, pb_scan_position, pb_scan_sum, pb_scan_two, pb_two,
)
from pybandit.policies.protocol._index cimport _IndexPolicy, bounded

__all__ = ["GapE", "GapEV", "UCBE", "UGapEb"]


cdef class _BudgetPolicy(_IndexPolicy):
    """An index policy of a budget that knows the problem's complexity, or estimates it."""

    cdef readonly object complexity       # None: estimated before each pull
    cdef double known_complexity

    def __init__(self, n_arms, budget, complexity, least):
        super().__init__(n_arms, check_integer("budget", budget, 0, MOST_PULLS), least)
        if complexity is not None:
            complexity = check_positive("complexity", complexity)
            self.known_complexity = complexity
        self.complexity = complexity


cdef class _GapPolicy(_BudgetPolicy):
    """The index is minus the gap, and a width."""

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
        """H where the centre of the arm of mean `top` is the second mean."""
        return 0.0

    cdef void _choose(self) noexcept nogil:
        cdef pb_two best = pb_scan_two(&self.centres[0], self.n_arms)
        cdef int64_t leader = pb_scan_position(&self.centres[0], self.n_arms, best.first, -1)
        cdef double complexity
        # the leader's gap is to the second, the others' to the leader: one formula for all
        self.centres[leader] = best.second
        complexity = self.known_complexity if self.known_complexity else self._estimate(best.first)
        self._choose_largest(
            self.factor * (self.limit - self.least * self.n_arms)
            / (self.complexity_scale * complexity), best.first)
        self.centres[leader] = best.first


cdef class GapE(_GapPolicy):
    """Pulls where the gap to the best mean is small or little known.

    Gabillon et al. 2011, GapE for one problem: after one pull each, the arm of largest
    ``-D_i + b sqrt(a / T_i)``, ``a = (4/9) (n - K) / H``, where T_i are the pulls of arm
    i and D_i is the distance of its mean to the best, that of the best to the second.
    Ties go to the lowest index; the best mean is recommended.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    budget : int
        n, at least K; all of it is spent.
    value_range : float or (float, float)
        b, the length of the interval that holds all rewards, above 0; or its ends.
    complexity : float, optional
        ``H = sum_i b^2 / Delta_i^2`` of the true gaps, above 0. Without it H is
        estimated before each pull (A-GapE), with ``u_i = D_i + b sqrt(1 / (2 T_i))``
        for Delta_i.
    complexity_scale : float, default 1
        H is multiplied by it, above 0: below 1 the policy explores more. Lalitha et
        al. 2023 take ``(1/144) 4 log2(K)``.

    Attributes
    ----------
    done : bool
    n_pulls, n_batches : int
    pulls, means, variances : ndarray
        See the protocol, `Policy`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` below K pulls.

    See Also
    --------
    GapEV : arms that are not equally noisy.
    UCBE, UGapEb : other rules for a budget.

    Notes
    -----
    O(K) a pull. An arm whose first pull was lost is asked again, n // K times in all.

    **Threads.** One at a time; a second gets a RuntimeError.

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
    """Pulls where the gap to the best mean is small or little known, given the variances.

    Gabillon et al. 2011, GapE-V for one problem: after two pulls each, the arm of largest
    ``-D_i + sqrt(2 a v_i / T_i) + 7 a b / (3 (T_i - 1))``, ``a = (8/9) (n - 2 K) / H``,
    where v_i is the unbiased variance of its T_i rewards and D_i the gap as in `GapE`.
    Ties go to the lowest index; the best mean is recommended.

    Parameters
    ----------
    n_arms, value_range, complexity_scale
        As in `GapE`; Lalitha et al. 2023 scale by ``(1/512) 4 log2(K)``.
    budget : int
        n, at least 2 K; all of it is spent.
    complexity : float, optional
        ``H = sum_i (s_i + sqrt(s_i^2 + (16/3) b Delta_i))^2 / Delta_i^2`` of the true gaps
        and standard deviations s_i, above 0. Without it H is estimated before each pull
        (A-GapE-V), with ``D_i + b sqrt(1 / (2 T_i))`` for Delta_i and
        ``max(0, sqrt(v_i) - b sqrt(2 / (T_i - 1)))`` for s_i.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` below 2 K pulls.

    See Also
    --------
    GapE : takes all arms for equally noisy.

    Notes
    -----
    O(K) a pull. An arm without two rewards is asked again, n // K times in all.

    **Threads.** One at a time; a second gets a RuntimeError.

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

    # lower bounds of the standard deviations; what an estimated gap is widened by
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
    """Pulls the arm of the largest upper bound, bounds as wide as the budget allows.

    Audibert, Bubeck and Munos 2010, UCB-E: after one pull each, the arm of largest
    ``mean_i + sqrt(a / N_i)``, ``a = (25/36) (T - K) / H1``, where N_i are its pulls.
    Ties go to the lowest index; the best mean is recommended.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    budget : int
        T, at least K; all of it is spent.
    complexity : float
        ``H1 = sum_i 1 / Delta_i^2`` of the true gaps, rewards in [0, 1]; above 0.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` below K pulls.

    See Also
    --------
    SuccessiveRejects : needs no `complexity`.
    UGapEb, GapE : can estimate it.

    Notes
    -----
    O(K) a pull. An arm whose first pull was lost is asked again, T // K times in all.

    **Threads.** One at a time; a second gets a RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> means, rng = np.array([0.3, 0.4, 0.8]), np.random.default_rng(1)
    >>> complexity = np.sum(1 / np.array([0.5, 0.4, 0.4]) ** 2)  # gaps; of the best, to the next
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
        self._choose_largest(25.0 / 36.0 * (self.limit - self.n_arms) / self.known_complexity,
                             0.0)


cdef class UGapEb(_BudgetPolicy):
    """Pulls the likely best arm or its strongest rival, whichever is less known.

    Gabillon, Ghavamzadeh and Lazaric 2012, UGapEb for one best arm: after one pull each,
    with ``U, L = mean_k +- sqrt((T - K) / (4 H N_k))`` and
    ``B_k = max_{i != k} U_i - L_k``, J is the arm of least B and j, of the others, that of
    largest U; the one of the two with fewer pulls is pulled. J of the round of least B_J
    is recommended, of equal ones the earliest. Ties go to the lowest index.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    budget : int
        T, at least K; all of it is spent.
    complexity : float, optional
        ``H = sum_k max((Delta_k + epsilon) / 2, epsilon)^-2`` of the true gaps, above 0.
        Without it H is estimated before each pull, with the largest gaps that
        ``mean_k +- 3 noise_std / sqrt(N_k)`` leave for Delta_k (Hoffman, Shahriari and de
        Freitas 2014, two-sided).
    noise_std : float, optional
        Standard deviation of the rewards, above 0; needed without `complexity`.
    epsilon : float, default 0
        How much worse than the best an arm may be, at least 0; part of the estimate of H,
        not used where `complexity` is given.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or neither `complexity` nor `noise_std` is
        given; `InfeasibleBudgetError` below K pulls.

    See Also
    --------
    UGapEc : a confidence that is given, not a budget.
    GapE, UCBE : other rules for a budget.

    Notes
    -----
    O(K) a pull. An arm whose first pull was lost is asked again, T // K times in all.

    **Threads.** One at a time; a second gets a RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> bandit = pb.environments.GaussianBandit([0.0, 0.5, 1.0, 0.8], noise_std=0.5)
    >>> policy, rng = pb.policies.UGapEb(4, budget=200, noise_std=0.5), np.random.default_rng(1)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, bandit.pull(arms, rng))
    >>> policy.recommend(), policy.pulls
    (array([2]), array([ 4, 32, 82, 82]))
    """

    cdef readonly double epsilon
    cdef readonly object noise_std
    cdef double reach                     # 3 noise_std
    cdef double[::1] upper, lower
    cdef double least_bound
    cdef int64_t found                    # -1: before the first round

    def __init__(self, n_arms, *, budget, complexity=None, noise_std=None, epsilon=0.0):
        super().__init__(n_arms, budget, complexity, 1)
        self.epsilon = check_scalar("epsilon", epsilon, "finite and at least 0",
                                    lambda x: np.isfinite(x) & (x >= 0))
        if noise_std is not None:
            noise_std = check_positive("noise_std", noise_std)
            self.reach = 3.0 * noise_std
        elif complexity is None:
            raise ValueError("noise_std must be given if complexity is None; got None")
        self.noise_std = noise_std
        self.upper, self.lower = np.zeros(self.n_arms), np.zeros(self.n_arms)
        self.least_bound, self.found = INFINITY, -1
        self._made(UGapEb)

    cdef void _set_aside(self, int64_t arm) noexcept nogil:
        _BudgetPolicy._set_aside(self, arm)
        if arm == self.found:  # the next round finds another
            self.least_bound, self.found = INFINITY, -1

    cdef object _schema(self):
        return UGAP

    def _options(self):
        return dict(n_arms=self.n_arms, budget=self.budget, complexity=self.complexity,
                    epsilon=self.epsilon, noise_std=self.noise_std)

    cdef void _bound(self, double width) noexcept nogil:
        """Fills `upper` and `lower`."""
        cdef const double *centres = &self.centres[0]
        cdef const double *roots = &self.roots[0]
        cdef double *upper = &self.upper[0]
        cdef double *lower = &self.lower[0]
        cdef int64_t arm
        for arm in range(self.n_arms):
            upper[arm] = centres[arm] + width * roots[arm]
            lower[arm] = centres[arm] - width * roots[arm]

    cdef double _estimate(self) noexcept nogil:
        """Return H of the largest gaps within the intervals of 3 noise_std."""
        cdef const double *upper = &self.upper[0]
        cdef const double *lower = &self.lower[0]
        cdef double *terms = &self.scratch[0]
        cdef int64_t arm, highest, lowest
        cdef pb_two high, low
        cdef double epsilon = self.epsilon
        self._bound(self.reach)
        high, low = pb_scan_two(upper, self.n_arms), pb_scan_two(lower, self.n_arms)
        highest = pb_scan_position(upper, self.n_arms, high.first, -1)
        lowest = pb_scan_position(lower, self.n_arms, low.first, -1)
        for arm in range(self.n_arms):
            terms[arm] = max(high.first - lower[arm], upper[arm] - low.first)
        terms[highest] = max(high.second - lower[highest], upper[highest] - low.first)
        terms[lowest] = max(high.first - lower[lowest], upper[lowest] - low.second)
        if highest == lowest:
            terms[lowest] = max(high.second - lower[lowest], upper[lowest] - low.second)
        for arm in range(self.n_arms):
            terms[arm] = max(0.5 * (terms[arm] + epsilon), epsilon)
            terms[arm] = 1.0 / (terms[arm] * terms[arm])
        return pb_scan_sum(terms, self.n_arms)

    cdef void _choose(self) noexcept nogil:
        cdef const double *lower = &self.lower[0]
        cdef double *bounds = &self.scratch[0]
        cdef double complexity, least
        cdef int64_t arm, best, rival, first, other
        cdef pb_two two
        complexity = self.known_complexity if self.known_complexity else self._estimate()
        self._bound(sqrt(bounded((self.limit - self.n_arms) / (4.0 * complexity))))
        two = pb_scan_two(&self.upper[0], self.n_arms)
        first = pb_scan_position(&self.upper[0], self.n_arms, two.first, -1)
        other = pb_scan_position(&self.upper[0], self.n_arms, two.second, first)
        # -B, the largest of which is looked for
        for arm in range(self.n_arms):
            bounds[arm] = lower[arm] - two.first
        bounds[first] = lower[first] - two.second
        least = pb_scan_largest(bounds, self.n_arms)
        best = pb_scan_position(bounds, self.n_arms, least, -1)
        least = -least
        if least < self.least_bound:
            self.least_bound, self.found = least, best
        rival = other if best == first else first
        self.chosen = best
        if (self._pulls[rival] < self._pulls[best]
                or (self._pulls[rival] == self._pulls[best] and rival < best)):
            self.chosen = rival

    def _get_progress(self):
        return {**super()._get_progress(), "least_bound": self.least_bound, "found": self.found}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self.least_bound, self.found = progress["least_bound"], progress["found"]

    def recommend(self):
        """The arm found, int64 of shape (1,): before the first round, the best mean."""
        with self.guard.reading():
            if self.found < 0:
                return super().recommend()
            return np.array([self.found], dtype=np.int64)


def _range(value_range):
    """The length of an interval that is given by its length or its two ends."""
    ends = check_numeric("value_range", value_range)
    if ends.ndim == 0:
        return check_positive("value_range", ends)
    ends = check_in("value_range", ends, "finite", np.isfinite)
    if ends.shape != (2,) or not ends[0] < ends[1] or not np.isfinite(ends[1] - ends[0]):
        raise ValueError(f"value_range must be a length or (low, high), low below high; got "
                         f"{shown(value_range)}")
    return float(ends[1] - ends[0])
