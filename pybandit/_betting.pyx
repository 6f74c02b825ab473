"""Owners of the memory of the kernels that bet: arrays that NumPy can save."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t

from pybandit._csrc cimport (
    PB_MIX_EBMIX, PB_MIX_PRODUCT, pb_bets_memory, pb_betting_memory, pb_items,
)

cnp.import_array()

MIXTURES = {"product": PB_MIX_PRODUCT, "ebmix": PB_MIX_EBMIX}
SMALLEST_BET = 0.004
LARGEST_BET = {"product": 2.0, "ebmix": 0.9}
# Arms between whom claims of being within a tolerance begin: 32 * 31 processes.
NEAR_ARMS = 32


cdef class Bets:
    """The bets lambda_g, geometric, filled up to whole vectors with bets of no capital."""

    def __cinit__(self, mixture, int n_bets):
        cdef int padded = (n_bets + 3) // 4 * 4
        largest = LARGEST_BET[mixture]
        bets = (np.geomspace(SMALLEST_BET, largest, n_bets) if n_bets > 1
                else np.sqrt([SMALLEST_BET * largest]))
        self.mixture, self.n_bets = mixture, n_bets
        self.table = np.zeros((3, padded))
        table = np.asarray(self.table)
        table[0, :n_bets] = bets
        table[1, :n_bets] = 1.0 / n_bets
        if mixture == "ebmix":
            table[2] = -np.log1p(-table[0]) - table[0]
        self.bets.mixture = MIXTURES[mixture]
        self.bets.n_bets = padded
        self.bets.bets = &self.table[0, 0]
        self.bets.shares = &self.table[1, 0]
        self.bets.psi = &self.table[2, 0]


def aligned_doubles(int64_t n):
    """Zeros that begin at a cache line, so that no vector lies across two."""
    memory = np.zeros(n + 8)
    start = -memory.ctypes.data // 8 % 8
    return memory[start:start + n]


cdef double *doubles_of(array):
    return <double *>cnp.PyArray_DATA(array)


cdef int64_t *integers_of(array):
    return <int64_t *>cnp.PyArray_DATA(array)


cdef class LeaderRace:
    """Owns the memory of a pb_betting of n_arms over n_items (0: without end).

    delta is for the wrong winner; near_delta, where there is a tolerance, for a
    false claim of being within it.
    """

    def __cinit__(self, int64_t n_arms, int64_t n_items, Bets bets, value_range, double delta,
                  bint hybrid=False, double tolerance=0.0, double near_delta=0.0):
        cdef pb_items items
        cdef int64_t near_arms = min(n_arms, NEAR_ARMS) if tolerance > 0 else 0
        items.n_items = n_items
        items.low, items.high, items.range = value_range
        self.bets = bets
        self.race.bets = bets.bets
        self.race.items = items
        self.race.threshold = 1.0 / delta
        self.race.hybrid = hybrid
        self.race.n_arms = n_arms
        self.memory = aligned_doubles(pb_betting_memory(&bets.bets, n_arms, hybrid))
        self.doubles = np.zeros(4 * n_arms + bets.bets.n_bets)
        self.integers = np.zeros((3, n_arms), dtype=np.int64)
        self.gone = np.zeros(n_arms, dtype=np.uint8)
        self.near.bets, self.near.items, self.near.slack = bets.bets, items, tolerance
        self.near_memory = aligned_doubles(near_arms * near_arms * pb_bets_memory(&bets.bets))
        self.near_claims = np.zeros((near_arms, near_arms), dtype=np.uint8)
        self.race.near_slots, self.race.near_error = near_arms, near_delta
        self._point()

    cdef _point(self):
        self.race.memory = doubles_of(self.memory)
        self.race.scores = doubles_of(self.doubles)
        self.race.rewards = self.race.scores + self.race.n_arms
        self.race.arms = integers_of(self.integers)
        self.race.columns = self.race.arms + self.race.n_arms
        self.race.slots = self.race.columns + self.race.n_arms
        self.race.gone = <unsigned char *>cnp.PyArray_DATA(self.gone)
        if self.race.near_slots:
            self.near.memory = doubles_of(self.near_memory)
            self.near.claims = <unsigned char *>cnp.PyArray_DATA(self.near_claims)
            self.race.near = &self.near
