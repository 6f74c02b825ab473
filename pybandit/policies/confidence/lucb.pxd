"""Private to pybandit: policies that stop when confidence bounds of the means separate."""

from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_ranked
from pybandit.policies.stopping._sequential cimport SequentialPolicy


cdef class _BoundsPolicy(SequentialPolicy):
    cdef readonly double delta, epsilon
    cdef double[:, ::1] sorting           # memory of two arrays of pb_ranked
    cdef unsigned char[::1] is_top
    cdef int64_t high, low                # the pair h and l

    cdef double _rate(self) noexcept nogil
    cdef double _lower(self, int64_t arm, double rate) noexcept nogil
    cdef double _upper(self, int64_t arm, double rate) noexcept nogil
    cdef void _rank(self) noexcept nogil
    cdef pb_ranked *_sorted(self, const double *values) noexcept nogil
    cdef void _mark(self, const pb_ranked *ranked) noexcept nogil
    cdef double _find_pair(self, double rate) noexcept nogil
