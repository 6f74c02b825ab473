"""Fields and methods of all policies; see base.pxd for those that a user-defined one defines."""

from libc.stdint cimport int64_t

from pybandit.policies.protocol._statistics cimport ArmStatistics


cdef class Policy(ArmStatistics):
    cdef bint may_tell                 # ask was called since the last tell, or may have been

    # An error from code that cannot raise; the next call of the user raises it.
    cdef bint broken
    cdef object failure

    # Last line of a subclass's __init__, with the subclass as argument: opens the guard.
    cdef int _made(self, cls) except -1
    cdef int _tell(self, arms, rewards, missing) except -1
    cdef int _prepare(self, const int64_t *arms, const double *rewards, int64_t n) except -1
    # Plans the next pulls, after a batch was added to statistics and counts.
    cdef void _advance(self) noexcept nogil
    cdef void _settle(self, const int64_t *arms, int64_t n) noexcept nogil
    cdef void _finish(self, int64_t n) noexcept nogil
    cdef bint _is_as_asked(self, const int64_t *arms, const double *rewards,
                           int64_t n) except -1
    cdef void _break(self, error) noexcept
    cdef bint _notes_asks(self)
    cdef _checked(self, arms, rewards, missing)
