"""Distances for the kernels: rows, a matrix, or a function of indices."""

from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_status
from pybandit.cluster._csrc cimport pb_distances, pb_tile


cdef class Distances:
    cdef pb_distances points       # the argument of the kernels
    cdef readonly object rows      # the array that points refers to; None for a function
    cdef object held               # arrays of CSR that points refers to
    cdef object function           # a Python function, or the Callback of a compiled one
    cdef object error              # exception raised by the function

    # Return 1 if the points are given by a function; only one thread may read it.
    cdef bint is_function(self) noexcept nogil
    # Return True if tiles of the points hold their rows: not of functions, and not in CSR.
    cdef bint holds_rows(self) noexcept nogil
    # Return True if distances, or their square roots, satisfy the triangle inequality.
    cdef bint is_metric(self) noexcept nogil
    # Return the number of candidates per call of pb_tile_read: few rows, whose distances stay in
    # the cache, or many of a function, whose calls are expensive.
    cdef int64_t block_size(self) noexcept nogil
    # Raise the error of a pb_tile_read that did not return PB_OK.
    cdef raise_failure(self, pb_status status, const int64_t *candidates, int64_t n_candidates,
                       const pb_tile *tile, const double *out)
