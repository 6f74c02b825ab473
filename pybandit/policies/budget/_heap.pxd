"""Private to pybandit: a heap of arms by key, the largest at the root."""

cimport cython
from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_heap, pb_heap_replace_root
from pybandit.policies._csrc cimport pb_batch, pb_batch_one


@cython.final
cdef class Heap:
    cdef pb_heap heap
    cdef int64_t[::1] arms
    cdef double[::1] keys

    cdef void clear(self) noexcept nogil
    cdef void add(self, int64_t arm, double key) noexcept nogil
    # Called after the last `add` and before the methods below.
    cdef void build(self) noexcept nogil

    cdef inline int64_t root(self) noexcept nogil:
        return self.heap.arms[0]

    cdef inline void replace_root(self, double key) noexcept nogil:
        pb_heap_replace_root(&self.heap, key)

    cdef inline pb_batch pull_root(self) noexcept nogil:
        return pb_batch_one(self.heap.arms)
