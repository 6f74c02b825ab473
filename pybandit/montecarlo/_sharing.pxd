"""Private to pybandit: spending a budget of runs or of costs."""

from libc.stdint cimport int64_t

from pybandit.montecarlo._rules cimport Rule
from pybandit.policies.protocol.base cimport NativePolicy


cdef class SharedBudget(NativePolicy):
    cdef readonly object policy, costs, budget, centre, value_range, max_cost
    cdef readonly int64_t batch_size, pilot
    cdef readonly bint dependent_costs
    cdef readonly double cost_floor
    cdef double total_cost               # Python reads it under the guard
    cdef Rule rule
    cdef object generator
    cdef bint rng_given
    cdef int64_t[::1] all_arms
    cdef int64_t runs                    # runs per decision
    cdef int64_t n_reported              # pulls passed to the rule
    cdef double most_cost                # the budget, or infinity
    cdef double[::1] cost_sums

    # Called by __init__ only.
    cdef _make_rule(self, policy)
    cdef _set_scale(self, value_range, centre, max_cost, pilot)
    cdef _check_range_of_each(self, value_range)
    cdef _set_budget(self, budget)
    cdef _adopt(self)                    # last call of __init__ before `_made`
    cdef _seed_rule(self)
    cdef int _tell_costs(self, estimators, values, costs, missing) except -1
    cdef void _take(self, int64_t arm, double value, double cost) noexcept nogil
    cdef void _weigh(self, int64_t arm, double value) noexcept nogil
