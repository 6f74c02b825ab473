"""Private to pybandit: policies that may be told counts."""

from libc.stdint cimport int64_t

from pybandit.policies.protocol.base cimport NativePolicy


cdef class CountedPolicy(NativePolicy):
    # A sum of n > 0 rewards of an arm, whose statistics have it already.
    cdef void _add_counts(self, int64_t arm, int64_t n, double total) noexcept nogil
    cdef void _take(self, const int64_t[::1] tried, const double[::1] came,
                    int64_t total) noexcept
    cdef void _count(self, int64_t arm, int64_t n, double total) noexcept nogil
