# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""A user-defined policy and environment that `pybandit.simulate` runs without Python.

LUCB of Kalyanakrishnan, Tewari, Auer and Stone, PAC subset selection in stochastic
multi-armed bandits, ICML 2012, for one arm; rewards are ratings of one to five stars.
"""

cimport pybandit
from libc.math cimport INFINITY, log, sqrt
from libc.stdint cimport int64_t
from pybandit.policies.base cimport NativePolicy
from pybandit.simulation.base cimport Environment

import numpy as np


cdef class LUCB(NativePolicy):
    """LUCB for the best arm with rewards in [0, 1], wrong with probability at most delta."""

    cdef double delta, gap            # gap: upper bound on the lead of the challenger
    cdef int64_t[::1] everyone, pair  # pair: the leader and its challenger
    cdef bint begun                   # true if every arm has a reward

    def __init__(self, n_arms, delta=0.05):
        super().__init__(n_arms)
        self.delta, self.gap = delta, INFINITY
        self.everyone, self.pair = np.arange(n_arms), np.zeros(2, dtype=np.int64)

    cdef bint _is_done(self) noexcept nogil:
        return self.gap <= 0.0

    cdef pybandit.pb_batch _next(self) noexcept nogil:
        if self.begun:
            return pybandit.pb_batch(&self.pair[0], 2, 0, 2, NULL)
        return pybandit.pb_batch(&self.everyone[0], self.n_arms, 0, self.n_arms, NULL)

    cdef void _advance(self) noexcept nogil:
        cdef double level = log(1.25 * self.n_arms / self.delta) + 4.0 * log(self.n_batches)
        cdef double mean, best = -INFINITY, upper = -INFINITY, bound
        cdef int64_t arm, leader = 0, challenger = 0
        for arm in range(self.n_arms):
            if self._pulls[arm] == 0:  # its first reward was lost
                return
            mean = self._sums[arm] / self._pulls[arm]
            if mean > best:
                best, leader = mean, arm
        for arm in range(self.n_arms):
            bound = (self._sums[arm] / self._pulls[arm]
                     + sqrt(level / (2.0 * self._pulls[arm])))
            if arm != leader and bound > upper:
                upper, challenger = bound, arm
        self.gap = upper - (best - sqrt(level / (2.0 * self._pulls[leader])))
        self.pair[0], self.pair[1], self.begun = leader, challenger, True

    def recommend(self):
        return np.array([np.nanargmax(self.means)])


cdef class Ratings(Environment):
    """Ratings 0, 1/4, 1/2, 3/4 and 1, with probabilities of shape (n_arms, 5)."""

    cdef double[:, ::1] below  # probabilities of at most 1, ..., 5 stars

    def __init__(self, chances):
        stars, chances = np.arange(5) / 4.0, np.asarray(chances)
        super().__init__(chances @ stars, np.sqrt(chances @ stars**2 - (chances @ stars) ** 2))
        self.below = np.cumsum(chances, axis=1)
        self._draws_each = True  # Ctrl-C ends a batch early

    cdef double _draw(self, int64_t arm, int64_t seen,
                      pybandit.pb_bitgen *bitgen) noexcept nogil:
        cdef double u = bitgen.next_double(bitgen.state)
        cdef int64_t star = 0
        while star < 4 and u >= self.below[arm, star]:
            star += 1
        return 0.25 * star
