# cython: auto_pickle=False
"""The memory of a heap and its saved state."""

import numpy as np


cimport cython
from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_heap_build


@cython.final
cdef class Heap:
    """A heap of at most n_arms arms, empty at first."""

    def __cinit__(self, n_arms):
        self.arms, self.keys = np.zeros(n_arms, dtype=np.int64), np.zeros(n_arms)
        self.heap.arms, self.heap.keys = &self.arms[0], &self.keys[0]

    cdef void clear(self) noexcept nogil:
        self.heap.n = 0

    cdef void add(self, int64_t arm, double key) noexcept nogil:
        self.heap.arms[self.heap.n], self.heap.keys[self.heap.n] = arm, key
        self.heap.n += 1

    cdef void build(self) noexcept nogil:
        pb_heap_build(&self.heap)

    def get_progress(self):
        """Return the heap's part of a policy's progress."""
        return {"heap_n": self.heap.n, "heap_arms": np.array(self.arms),
                "keys": np.array(self.keys)}

    def set_progress(self, progress):
        """Restore the heap from a policy's progress."""
        self.heap.n = progress["heap_n"]
        np.asarray(self.arms)[:] = progress["heap_arms"]
        np.asarray(self.keys)[:] = progress["keys"]
