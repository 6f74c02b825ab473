"""Private to pybandit: policies that can take counts."""

from libc.stdint cimport int64_t

from pybandit.policies.protocol.base cimport NativePolicy


cdef class CountedPolicy(NativePolicy):
    # Adds n > 0 rewards of an arm with this sum, which the statistics already include.
    cdef void _add_counts(self, int64_t arm, int64_t n, double total) noexcept nogil
    cdef void _take(self, const int64_t[::1] tried, const double[::1] came,
                    int64_t total) noexcept
    cdef void _count(self, int64_t arm, int64_t n, double total) noexcept nogil
