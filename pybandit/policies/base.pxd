"""Private to pybandit: what a policy is to the engine that simulates it."""

from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_batch


cdef class Policy:
    cdef readonly int64_t n_arms, k
    cdef readonly int64_t n_pulls, n_batches
    # per arm, what was lost left out; deviations: sum of squares about the mean
    cdef int64_t[::1] _pulls
    cdef double[::1] _sums, _deviations

    # The batch of ask was pulled; the arms' statistics hold it.
    cdef void _advance(self) noexcept nogil
    cdef void _absorb(self, const int64_t *arms, const double *rewards, int64_t n) noexcept nogil
    cdef void _settle(self, const int64_t *arms, int64_t n) noexcept nogil
    cdef void _finish(self, int64_t n) noexcept nogil
    cdef bint _as_asked(self, const int64_t[::1] arms, const double[::1] rewards) except -1
    cdef _checked(self, arms, rewards, missing)


# A policy whose batches the engine can pull without Python.
cdef class NativePolicy(Policy):
    # Whether it looks at every reward; else at the sums of an arm's rewards.
    cdef bint _wants_rewards
    # Whether `_absorb_with_cost` gets them one by one, each with what it cost.
    cdef bint _wants_costs

    cdef bint _is_done(self) noexcept nogil
    cdef pb_batch _next(self) noexcept nogil
    cdef bint _accepts(self, double reward) noexcept nogil
    cdef void _absorb_with_cost(self, int64_t arm, double reward, double cost) noexcept nogil
