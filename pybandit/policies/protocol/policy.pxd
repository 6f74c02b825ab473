"""What all policies have; `pybandit.policies.base` says what one of your own defines."""

from libc.stdint cimport int64_t

from pybandit._shared.guard cimport Guard
from pybandit.policies.protocol._silence cimport Silence


cdef class Policy:
    cdef Guard guard             # shut until __init__ is through
    cdef readonly int64_t n_arms, k
    cdef int64_t n_pulls, n_batches    # Python reads them under the guard
    # per arm, what was lost left out; deviations: sum of squares about the mean
    cdef int64_t[::1] _pulls
    cdef double[::1] _sums, _deviations

    cdef Silence silence
    cdef bint answered                 # any arm, in this tell
    cdef bint may_tell                 # ask was called since the last tell, or may have been

    # An error where there was no way to report it; raised by the call that the user made.
    cdef bint broken
    cdef object failure

    # The last line of a subclass's __init__, with the subclass: the object is made.
    cdef int _made(self, cls) except -1
    cdef int _tell(self, arms, rewards, missing) except -1
    cdef int _prepare(self, const int64_t *arms, const double *rewards, int64_t n) except -1
    # The batch was pulled: the statistics and the counts hold it. Decide what comes next.
    cdef void _advance(self) noexcept nogil
    cdef void _absorb(self, const int64_t *arms, const double *rewards, int64_t n) noexcept nogil
    cdef void _settle(self, const int64_t *arms, int64_t n) noexcept nogil
    cdef void _finish(self, int64_t n) noexcept nogil
    # Before the first lost pull: memory for losses.
    cdef int _make_silence(self) except -1
    cdef void _hear(self, const int64_t *arms, const double *rewards, int64_t n) noexcept nogil
    # Rewards that an arm needs before it is taken back; pulls of a batch, which waits count.
    cdef int64_t _least_rewards(self) noexcept nogil
    cdef int64_t _batch_pulls(self) noexcept nogil
    # An arm is aside now, or no longer: what a policy keeps of it besides the statistics.
    cdef void _set_aside(self, int64_t arm) noexcept nogil
    cdef void _take_back(self, int64_t arm) noexcept nogil
    cdef bint _is_as_asked(self, const int64_t *arms, const double *rewards,
                           int64_t n) except -1
    cdef int _take_statistics(self, n_pulls, n_batches, pulls, sums, deviations,
                              silence) except -1
    cdef void _break(self, error) noexcept
    cdef bint _notes_asks(self)
    cdef _checked(self, arms, rewards, missing)


cdef object last_compiled(cls)
