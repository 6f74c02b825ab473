"""Private to pybandit: the statistics of a policy's arms."""

from libc.stdint cimport int64_t

from pybandit._shared.guard cimport Guard
from pybandit.policies.protocol._silence cimport Silence


cdef class ArmStatistics:
    cdef Guard guard             # shut until __init__ ends
    cdef readonly int64_t n_arms, k
    cdef int64_t n_pulls, n_batches    # Python reads them under the guard
    # per arm, without lost pulls; deviations: sum of squares about the mean
    cdef int64_t[::1] _pulls
    cdef double[::1] _sums, _deviations

    cdef Silence silence
    cdef bint answered                 # True if any arm answered in this tell

    cdef void _absorb(self, const int64_t *arms, const double *rewards, int64_t n) noexcept nogil
    # Allocates memory for losses, before the first lost pull.
    cdef int _make_silence(self) except -1
    cdef void _hear(self, const int64_t *arms, const double *rewards, int64_t n) noexcept nogil
    # Return the rewards that an arm needs to be taken back; the pulls per batch, the unit of waits.
    cdef int64_t _least_rewards(self) noexcept nogil
    cdef int64_t _batch_pulls(self) noexcept nogil
    # Update a policy's own data when an arm falls silent or is taken back.
    cdef void _set_aside(self, int64_t arm) noexcept nogil
    cdef void _take_back(self, int64_t arm) noexcept nogil
    cdef tuple _statistics(self)
    cdef int _take_statistics(self, state) except -1


cdef object last_compiled(cls)
