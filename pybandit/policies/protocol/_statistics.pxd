"""Private to pybandit: the statistics of a policy's arms."""

from libc.stdint cimport int64_t

from pybandit._shared.guard cimport Guard
from pybandit.policies.protocol._silence cimport Silence


cdef class ArmStatistics:
    cdef Guard guard             # shut until __init__ is through
    cdef readonly int64_t n_arms, k
    cdef int64_t n_pulls, n_batches    # Python reads them under the guard
    # per arm, what was lost left out; deviations: sum of squares about the mean
    cdef int64_t[::1] _pulls
    cdef double[::1] _sums, _deviations

    cdef Silence silence
    cdef bint answered                 # any arm, in this tell

    cdef void _absorb(self, const int64_t *arms, const double *rewards, int64_t n) noexcept nogil
    # Before the first lost pull: memory for losses.
    cdef int _make_silence(self) except -1
    cdef void _hear(self, const int64_t *arms, const double *rewards, int64_t n) noexcept nogil
    # Rewards that an arm needs before it is taken back; pulls of a batch, which waits count.
    cdef int64_t _least_rewards(self) noexcept nogil
    cdef int64_t _batch_pulls(self) noexcept nogil
    # An arm is aside now, or no longer: what a policy keeps of it besides the statistics.
    cdef void _set_aside(self, int64_t arm) noexcept nogil
    cdef void _take_back(self, int64_t arm) noexcept nogil
    cdef tuple _statistics(self)
    cdef int _take_statistics(self, state) except -1


cdef object last_compiled(cls)
