"""Memory for estimates of swaps."""

import numpy as np

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int64_t

from pybandit.cluster._csrc cimport (
    PB_SWAP_LIMITS, PB_TILE, pb_swap_decision, pb_swap_trial, pb_tile_memory,
)
from pybandit.cluster._distances cimport Distances


cdef class Workspace:
    """Memory of one thread for distances of k or n rows to a tile."""

    def __cinit__(self, Distances distances, int64_t k, int64_t n):
        cdef int64_t most = max(k, n)
        self.out = np.empty(most * PB_TILE)
        self.columns = np.empty(pb_tile_memory(&distances.points, most))
        self.rows = np.empty(k, dtype=np.int64)
        self.tile.memory = &self.columns[0]


cdef class Together:
    """Memory for estimates of n candidates at once."""

    def __cinit__(self, Distances distances, int64_t n, int64_t k):
        cdef int64_t i
        self.records = np.zeros(n * sizeof(pb_swap_trial), dtype=np.uint8)
        self.trials = <pb_swap_trial *>&self.records[0]
        self.decisions = <pb_swap_decision *>PyMem_Calloc(n, sizeof(pb_swap_decision))
        if self.decisions == NULL:
            raise MemoryError
        self.memory, self.out = np.empty(4 * k * n), np.zeros(n * PB_TILE)
        self.touched = np.zeros(2 * k * n, dtype=np.int32)
        self.columns = np.empty(pb_tile_memory(&distances.points, n))
        self.tile.memory = &self.columns[0]
        self.known = np.empty(2 * PB_SWAP_LIMITS * k)
        self.limits.values, self.limits.version = &self.known[0], -1
        self.group = np.zeros(3 * n + k + 1, dtype=np.int64)
        self.rows, self.found = np.zeros((2, n), dtype=np.int64)
        for i in range(n):
            self.trials[i].memory = &self.memory[4 * k * i]
            self.trials[i].touched = &self.touched[2 * k * i]

    def __dealloc__(self):
        PyMem_Free(self.decisions)
