# cython: auto_pickle=False
"""The best arm by bounds of the law of the iterated logarithm.

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
    """Pulls the arm of the largest upper bound, until one has nearly all pulls: lil' UCB.

    Jamieson et al. 2014: after one pull of each arm, each pull goes to the largest
    ``mean_k + (1 + beta) (1 + sqrt(e)) noise_std sqrt(2 (1 + e) log(log(w) / d) / N_k)``,
    ``w = (1 + e) N_k``, until an arm has ``N_k >= 1 + share sum(N_j, j != k)``: the answer.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    delta : float, default 0.05
        Error probability, in [1e-100, 1).
    noise_std : float, default 1
        Rewards are sub-Gaussian with it: Gaussian with at most that standard deviation, or in
        an interval of length ``2 noise_std``. Finite and above 0.
    guarantee : {"proven", "heuristic"}, default "proven"
        ``"proven"``: e = .01, beta = 1, and d and `share` of their theorem 2, see Notes.
        ``"heuristic"``: those of their experiments, which promise nothing: e = 0, beta = 1/2,
        d = delta / 5, ``share = 1 + 10 / K``, and w at least Euler's number.
    max_pulls : int, optional
        Pulls after which it is `done` in any case, perhaps not `decided`; at least K.

    Attributes
    ----------
    done : bool
    decided : bool
        True once an arm has its share.
    share : float
    n_pulls, n_batches : int
    pulls, means, variances : ndarray
        See the protocol, `Policy`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if `max_pulls` does not
        reach the first pulls.

    See Also
    --------
    LUCB : needs far fewer pulls.
    lil_ucb : the race of a few factors by such bounds, of Chen and Ghahramani 2016.

    Notes
    -----
    Theorem 2 of Jamieson et al., which is not proved again here: with
    ``c = (2 + e) / e (1 / log(1 + e))^(1 + e)`` the answer is wrong with probability at most
    ``4 sqrt(c d) + 4 c d``, which is delta, or less where d would not be below
    ``log(1 + e) / (c exp(1))``; where ``share`` is ``((2 + beta) / beta)^2 (1 +
    log(2 log(((2 + beta) / beta)^2 / d)) / log(1 / d))``. The pulls are of the order of ``H log(1 /
    delta)``, with a large constant: `TopTwo` needs a small part of them.

    While an arm is silent, others may get a share of the pulls that says nothing about it. So it
    stops only for an arm that was just chosen by its bound, against all arms that answer: then, if
    no bound fails, the best of them has too many pulls for any other arm to have the share.

    Where two means are the largest it may go on for ever. Ties go to the lowest index. O(K) a
    pull.

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
    cdef double e, d, reach               # reach: all that multiplies the root
    cdef double[::1] roots, indices       # of bounds by the arms' counts; scratch

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
            # as the theorem asks; it matters for delta above 1/4
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
        # only for the arm that its bound has just chosen among all that answer: see the Notes
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
        """The arm with the share of pulls, else that of the largest mean; int64, shape (1,)."""
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
