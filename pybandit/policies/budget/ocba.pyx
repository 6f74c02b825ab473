# cython: auto_pickle=False
"""Optimal computing budget allocation: the baseline of simulation optimisation.

Chen, Lin, Yucesan and Chick, Simulation budget allocation for further enhancing the efficiency of
ordinal optimization, Discrete Event Dynamic Systems 2000; Chen and Lee, Stochastic simulation
optimization, 2011.
"""

import numpy as np

from pybandit._shared.checks import MOST_PULLS, check_integer
from pybandit.policies.stopping._states import SEQUENTIAL

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int64_t

from pybandit.policies.stopping._sequential cimport SequentialPolicy, find_largest

__all__ = ["OCBA"]


cdef class OCBA(SequentialPolicy):
    """The best arm within a budget, by the asymptotically optimal shares of normal rewards.

    After `n_initial` pulls of each arm, each pull goes to the arm furthest below its share. With b
    the arm of the largest mean, d_i the distance of the mean of arm i from that of b, and s_i^2
    sample variances, the shares are proportional to

        ``w_i = s_i^2 / d_i^2`` for i other than b, and
        ``w_b = s_b sqrt(sum of w_i^2 / s_i^2)``

    (Chen et al. 2000, theorem 1). If means and variances are known, these shares maximise a bound
    on the probability of a right answer as the budget grows. Here means and variances are those
    seen so far, and one arm is pulled at a time (the "most starving" form of Chen and Lee 2011).

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    budget : int, optional
        Total number of pulls, at least ``n_initial K``. Without a budget the policy never ends;
        `recommend` may be called at any time.
    n_initial : int, default 10
        First pulls of each arm, at least 2. Chen and Lee advise 5 to 20.

    Attributes
    ----------
    done : bool
    n_pulls, n_batches : int
    pulls, means, variances : ndarray
        See `Policy`.
    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if the budget does not cover
        the first pulls.

    See Also
    --------
    SequentialHalving, SHVar, EBTC : other policies with a budget.

    Notes
    -----
    A baseline without a bound on its error. An arm whose first rewards are all equal has a sample
    variance of 0 and gets no further pulls; if its mean is too low by luck, it is never found.
    Use a larger `n_initial` for rewards such as clicks. If several arms have the largest mean,
    they get all further pulls. Ties go to the lowest index. O(K) per pull.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.policies.OCBA(4, budget=400)
    >>> rng, means = np.random.default_rng(2), np.array([0.1, 0.9, 0.8, 0.2])
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, means[arms] + 0.3 * rng.standard_normal(arms.size))
    >>> policy.recommend(), policy.pulls
    (array([1]), array([ 10, 188, 192,  10]))
    """

    cdef double[::1] shares

    def __init__(self, n_arms, *, budget=None, n_initial=10):
        n_initial = check_integer("n_initial", n_initial, 2, MOST_PULLS)
        super().__init__(n_arms, 1, None, budget, n_initial, 1, "budget")
        self._wants_rewards = True
        self.shares = np.zeros(self.n_arms)
        self._made(OCBA)

    @property
    def n_initial(self):
        """First pulls of each arm."""
        return self.needed

    @property
    def budget(self):
        """Pulls after which the policy is done; None if there is no limit."""
        return self.max_pulls

    def _options(self):
        self.guard.check()
        return dict(n_arms=self.n_arms, budget=self.max_pulls, n_initial=self.needed)

    cdef void _choose(self) noexcept nogil:
        cdef double *shares = &self.shares[0]
        cdef double total = self._find_shares(shares), pulls = 1.0
        cdef int64_t arm
        for arm in range(self.n_arms):
            pulls += 0.0 if self.silence.has(arm) else self._pulls[arm]
        for arm in range(self.n_arms):
            if self.silence.has(arm):
                shares[arm] = -INFINITY
            elif total > 0.0:
                shares[arm] = pulls * (shares[arm] / total) - self._pulls[arm]
            else:  # all sample variances are 0: pull in turn
                shares[arm] = -<double>self._pulls[arm]
        self.chosen[0] = find_largest(shares, self.n_arms)

    cdef double _variance(self, int64_t arm) noexcept nogil:
        """Return the sample variance; 0 if rewards differ by rounding alone."""
        cdef double n = self._pulls[arm]
        return self._arm(arm).variance * (n / (n - 1.0))

    cdef double _find_shares(self, double *shares) noexcept nogil:
        """Compute the shares, in units of the arm nearest to the best; return their sum."""
        cdef double nearest = INFINITY, gap, ratio, variance, own = 0.0, total = 0.0
        cdef int64_t arm
        for arm in range(self.n_arms):
            if arm != self.best:
                nearest = min(nearest, self.centres[self.best] - self.centres[arm])
        for arm in range(self.n_arms):
            shares[arm] = 0.0
            if arm == self.best or self.silence.has(arm):
                continue
            gap = self.centres[self.best] - self.centres[arm]
            ratio = nearest / gap if gap > nearest else 1.0
            variance = self._variance(arm) * ratio * ratio
            shares[arm] = variance
            own += variance * ratio * ratio  # w^2 / s^2
            total += variance
        shares[self.best] = sqrt(self._variance(self.best)) * sqrt(own)
        return total + shares[self.best]

    cdef object _schema(self):
        return SEQUENTIAL
