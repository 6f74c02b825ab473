# cython: auto_pickle=False
"""The best arm within a budget of pulls, by bounds on each arm's regret.

Gabillon, Ghavamzadeh and Lazaric, Best arm identification: a unified approach to fixed budget
and fixed confidence, NIPS 2012.
"""

import numpy as np

from pybandit._shared.checks import check_positive, check_scalar
from pybandit.policies.budget._states import UGAP

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport (
    pb_scan_largest, pb_scan_position, pb_scan_sum, pb_scan_two, pb_two,
)
from pybandit.policies.budget.gap cimport _BudgetPolicy
from pybandit.policies.protocol._index cimport bounded

__all__ = ["UGapEb"]


cdef class UGapEb(_BudgetPolicy):
    """Pulls the likely best arm or its strongest rival, whichever is less certain.

    Gabillon, Ghavamzadeh and Lazaric 2012, UGapEb for one best arm. After one pull of each arm,
    let ``U, L = mean_k +- sqrt((T - K) / (4 H N_k))`` and ``B_k = max_{i != k} U_i - L_k``. J is
    the arm of the least B, and j the other arm of the largest U; the one of the two with fewer
    pulls is pulled. The policy recommends the J of the round with the least B_J, the earliest of
    equal ones. Ties go to the lowest index.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    budget : int
        T, at least K; all of it is spent.
    complexity : float, optional
        ``H = sum_k max((Delta_k + epsilon) / 2, epsilon)^-2`` of the true gaps, above 0.
        Without it H is estimated before each pull, with Delta_k replaced by the largest gap that
        ``mean_k +- 3 noise_std / sqrt(N_k)`` allows (Hoffman, Shahriari and de Freitas 2014,
        two-sided).
    noise_std : float, optional
        Standard deviation of the rewards, above 0; required without `complexity`.
    epsilon : float, default 0
        Tolerated difference from the best mean, at least 0. Used in the estimate of H only, so it
        is ignored if `complexity` is given.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or neither `complexity` nor `noise_std` is
        given; `InfeasibleBudgetError` if `budget` is below K.

    See Also
    --------
    UGapEc : takes an error probability instead of a budget.
    GapE, UCBE : other rules with a budget.

    Notes
    -----
    O(K) per pull. An arm whose first pull was lost is asked again, up to T // K times in all.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

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
    cdef double reach                     # 3 noise_std: an interval is mean +- this over sqrt(N)
    cdef double[::1] upper, lower
    cdef double least_bound
    cdef int64_t found                    # -1 before the first round

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
        if arm == self.found:  # the next round chooses another arm
            self.least_bound, self.found = INFINITY, -1

    cdef object _schema(self):
        return UGAP

    def _options(self):
        return dict(n_arms=self.n_arms, budget=self.budget, complexity=self.complexity,
                    epsilon=self.epsilon, noise_std=self.noise_std)

    cdef void _bound(self, double width) noexcept nogil:
        """Compute `upper` and `lower`."""
        cdef const double *centres = &self.centres[0]
        cdef const double *roots = &self.roots[0]
        cdef double *upper = &self.upper[0]
        cdef double *lower = &self.lower[0]
        cdef int64_t arm
        for arm in range(self.n_arms):
            upper[arm] = centres[arm] + width * roots[arm]
            lower[arm] = centres[arm] - width * roots[arm]

    cdef double _estimate(self) noexcept nogil:
        """Return H for the largest gaps that the intervals of 3 noise_std allow."""
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
        # bounds[k] is -B_k; its maximum belongs to the least B
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
        """Return the arm found, int64 of shape (1,); before the first round, the best mean."""
        with self.guard.reading():
            if self.found < 0:
                return super().recommend()
            return np.array([self.found], dtype=np.int64)
