"""The memory of a heap, and how a policy saves it."""

import numpy as np

from pybandit._shared.checks import are_increasing, check_entry

cimport cython
from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_heap_build


@cython.final
cdef class Heap:
    """A heap of some of n_arms arms, empty at first."""

    def __init__(self, n_arms):
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
        """Its part of a policy's progress."""
        return {"heap_n": self.heap.n, "heap_arms": np.array(self.arms),
                "keys": np.array(self.keys)}

    def set_progress(self, progress, in_use):
        """Take it from a policy's progress; in use it is not empty."""
        n_arms = self.arms.shape[0]
        n = check_entry(progress, "heap_n", 1 if in_use else 0, n_arms)
        arms, keys = np.asarray(progress["heap_arms"]), np.asarray(progress["keys"])
        if not are_increasing(np.sort(arms[:n]), n_arms) or np.isnan(keys[:n]).any():
            raise ValueError(f"state must hold heap_n different arms of {n_arms} in heap_arms, "
                             f"their keys in keys; got {arms[:n]}, {keys[:n]}")
        self.heap.n = n
        np.asarray(self.arms)[:], np.asarray(self.keys)[:] = arms, keys
