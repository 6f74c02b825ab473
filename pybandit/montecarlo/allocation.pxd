"""Private to pybandit."""

from libc.stdint cimport int64_t

from pybandit.montecarlo._rules cimport Rule
from pybandit.policies.base cimport NativePolicy


cdef class EstimatorAllocator(NativePolicy):
    cdef readonly object policy, costs, weights, budget, centre, value_range, max_cost
    cdef readonly int64_t batch_size, pilot, least_values
    cdef readonly bint dependent_costs
    cdef readonly double cost_floor, total_cost
    cdef Rule rule
    cdef object generator
    cdef bint rng_given
    cdef int64_t[::1] all_arms
    cdef int64_t runs                    # of a decision
    cdef int64_t told                    # pulls that the rule knows of
    cdef double most_cost                # the budget
    cdef double[::1] cost_sums
    # Predictable weights: their sum, that of weighted values about the first value, and of
    # squares for each estimator.
    cdef bint predictable
    cdef double origin, weight, weighted
    cdef int64_t n_weighted
    cdef double[::1] squares

    cdef void _take(self, int64_t arm, double value, double cost) noexcept nogil
    cdef double _weight_of(self, int64_t arm) noexcept nogil
