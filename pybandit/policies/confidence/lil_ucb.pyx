# cython: auto_pickle=False
"""The best arm by bounds from the law of the iterated logarithm.

Jamieson, Malloy, Nowak and Bubeck, lil' UCB: an optimal exploration algorithm for multi-armed
bandits, COLT 2014.
"""

import math

import numpy as np

from pybandit._shared.checks import check_choice, check_delta, check_positive, check_scalar
from pybandit.policies.stopping._states import SEQUENTIAL

from libc.math cimport INFINITY, M_E, log, sqrt
from libc.stdint cimport int64_t

from pybandit.policies.stopping._sequential cimport SequentialPolicy, find_largest

__all__ = ["LilUCB"]


cdef class LilUCB(SequentialPolicy):
    """Pulls the arm of the largest upper bound until one arm has nearly all pulls: lil' UCB.

    Jamieson et al. 2014. After one pull of each arm, each pull goes to the largest
    ``mean_k + (1 + beta) (1 + sqrt(e)) noise_std sqrt(2 (1 + e) log(log(w) / d) / N_k)``,
    ``w = (1 + e) N_k``. The answer is the first arm with ``N_k >= 1 + share sum(N_j, j != k)``.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    delta : float, default 0.05
        Error probability, in [1e-100, 1).
    noise_std : float, default 1
        As in `LUCB`.
    guarantee : {"proven", "heuristic"}, default "proven"
        ``"proven"``: e = .01, beta = 1, and d and `share` from their theorem 2, see Notes.
        ``"heuristic"``: the values of their experiments, without a guarantee: e = 0, beta = 1/2,
        d = delta / 5, ``share = 1 + 10 / K``, and w at least Euler's number.
    max_pulls : int, optional
        Pulls after which the policy is `done`, even if it is not `decided`; at least K.

    Attributes
    ----------
    done : bool
    decided : bool
        True once an arm has enough pulls to be the answer.
    share : float
    n_pulls, n_batches : int
    pulls, means, variances : ndarray
        See `Policy`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if `max_pulls` does not
        cover the first pulls.

    See Also
    --------
    LUCB : needs far fewer pulls.
    lil_ucb : a race of a few factors with such bounds, of Chen and Ghahramani 2016.

    Notes
    -----
    Let ``c = (2 + e) / e (1 / log(1 + e))^(1 + e)``. By theorem 2 of Jamieson et al.,
    the answer is wrong with probability at most ``4 sqrt(c d) + 4 c d``. The value of d
    is the largest for which this bound is at most delta, but always below
    ``log(1 + e) / (c exp(1))``, as the theorem requires.
    `share` is ``((2 + beta) / beta)^2 (1 + log(2 log(((2 + beta) / beta)^2 / d)) / log(1 / d))``.
    The number of pulls is of the order of ``H log(1 / delta)`` with a large constant: `TopTwo`
    needs a small fraction of them.

    While an arm is silent, others may reach the share without evidence about that arm. The policy
    therefore stops only for the arm that its bound has just chosen among all arms that answer.
    Then, if no bound fails, the best of these has too many pulls for any other to reach the share.

    If several means are the largest, the policy may never stop. Ties go to the lowest index. O(K)
    per pull.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.policies.LilUCB(4, delta=0.05, noise_std=0.5, guarantee="heuristic")
    >>> rng, means = np.random.default_rng(2), np.array([0.1, 0.9, 0.4, 0.2])
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, means[arms] + 0.5 * rng.standard_normal(arms.size))
    >>> policy.recommend(), policy.decided
    (array([1]), True)
    """

    cdef readonly double delta, noise_std, share
    cdef readonly str guarantee
    cdef double e, d, reach               # reach: the factor of the square root
    cdef double[::1] roots, indices       # widths of the arms' bounds; scratch

    def __init__(self, n_arms, *, delta=0.05, noise_std=1.0, guarantee="proven",
                 max_pulls=None):
        super().__init__(n_arms, 1, None, max_pulls, 1, 1)
        self.delta = check_scalar("delta", check_delta(delta), "in [1e-100, 1)",
                                  lambda x: x >= 1e-100)
        self.noise_std = check_positive("noise_std", noise_std)
        self.guarantee = check_choice("guarantee", guarantee, ("proven", "heuristic"))
        beta, self.e, self.d, self.share = 0.5, 0.0, 0.2 * self.delta, 1.0 + 10.0 / self.n_arms
        if self.guarantee == "proven":
            beta, self.e = 1.0, 0.01
            c = (2 + self.e) / self.e * (1 / math.log1p(self.e)) ** (1 + self.e)
            self.d = (0.5 * self.delta / (math.sqrt(1 + self.delta) + 1)) ** 2 / c
            # a condition of the theorem; it matters for delta above 1/4
            self.d = min(self.d, 0.99 * math.log1p(self.e) / (math.e * c))
            odds = ((2 + beta) / beta) ** 2
            self.share = odds * (1 + math.log(2 * math.log(odds / self.d)) / -math.log(self.d))
        self.reach = ((1 + beta) * (1 + math.sqrt(self.e)) * self.noise_std
                      * math.sqrt(2 * (1 + self.e)))
        self.has_rule = True
        self.roots, self.indices = np.zeros((2, self.n_arms))
        self._made(LilUCB)

    def _options(self):
        options = super()._options() | dict(delta=self.delta, noise_std=self.noise_std,
                                            guarantee=self.guarantee)
        del options["stopping"]
        return options

    cdef void _measure(self, int64_t arm) noexcept nogil:
        cdef double n = self._pulls[arm], w = (1.0 + self.e) * n
        SequentialPolicy._measure(self, arm)
        if self.e == 0.0:
            w = max(w, M_E)
        self.roots[arm] = self.reach * sqrt(log(log(w) / self.d) / n)

    cdef void _decide(self) noexcept nogil:
        cdef int64_t arm, n = 0
        cdef double most = self._pulls[self.chosen[0]]
        for arm in range(self.n_arms):
            n += self._pulls[arm]
        # only for the arm that its bound has just chosen among all that answer; see Notes
        self.stopped = (most >= 1.0 + self.share * (n - most)
                        and not self.silence.has(self.chosen[0]))

    cdef void _retried(self) noexcept nogil:
        if self.begun and self.answered:
            self.settled = False
            self._choose()
        else:
            SequentialPolicy._retried(self)

    cdef void _choose(self) noexcept nogil:
        cdef int64_t arm
        for arm in range(self.n_arms):
            self.indices[arm] = self.centres[arm] + self.roots[arm]
            if self.silence.has(arm):
                self.indices[arm] = -INFINITY
        self.chosen[0] = find_largest(&self.indices[0], self.n_arms)

    def recommend(self):
        """Return the arm that stopped the policy or, before, the best mean; int64 of shape (1,)."""
        with self.guard.reading():
            if self.stopped:
                return np.array([np.argmax(self._pulls)], dtype=np.int64)
            return self._best(np.arange(self.n_arms), 1)

    cdef object _schema(self):
        return SEQUENTIAL

    cdef int _resume(self) except -1:
        cdef int64_t arm
        if self.begun:
            for arm in range(self.n_arms):
                if self._pulls[arm]:
                    self._look(arm)
        return 0
