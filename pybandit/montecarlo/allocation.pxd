"""Private to pybandit."""

from libc.stdint cimport int64_t

from pybandit.montecarlo._sharing cimport SharedBudget


cdef class EstimatorAllocator(SharedBudget):
    cdef readonly object weights
    cdef readonly int64_t least_values
    # Predictable weights: their sum, that of weighted values about the first value, and of
    # squares for each estimator.
    cdef bint predictable
    cdef double origin, weight, weighted
    cdef int64_t n_weighted
    cdef double[::1] squares

    cdef double _weight_of(self, int64_t arm) noexcept nogil
