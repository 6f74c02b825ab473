"""Private to pybandit: what a policy is to the engine that simulates it."""

from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_batch
from pybandit.policies.policy cimport Policy


# A policy whose batches the engine can pull without Python.
cdef class NativePolicy(Policy):
    # Whether it looks at every reward; else at the sums of an arm's rewards.
    cdef bint _wants_rewards
    # Whether `_absorb_with_cost` gets them one by one, each with what it cost.
    cdef bint _wants_costs
    # Whether it is the rule of an allocator, whose decisions give it many rewards, or none.
    cdef bint _serves_a_rule

    cdef bint _never_ends(self) noexcept
    cdef _asked(self)
    # Of states: the schema of `_get_progress`, the sizes that it names; what follows.
    cdef object _schema(self)
    cdef dict _sizes(self)
    cdef int _resume(self) except -1

    cdef bint _is_done(self) noexcept nogil
    cdef pb_batch _next(self) noexcept nogil
    cdef bint _accepts(self, double reward) noexcept nogil
    cdef void _absorb_with_cost(self, int64_t arm, double reward, double cost) noexcept nogil
