"""Private to pybandit: rules that choose the estimator that an allocator runs next."""

from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_bitgen
from pybandit.montecarlo._csrc cimport pb_spreads
from pybandit.policies._csrc cimport pb_batch
from pybandit.policies.protocol.base cimport NativePolicy


cdef class Rule:
    cdef int64_t n_arms
    cdef int64_t chosen                  # next estimator; -1: not chosen yet
    # Arrays owned by the allocator: values per estimator, sums, squared deviations, costs.
    cdef const int64_t[::1] pulls
    cdef const double[::1] sums, deviations, cost_sums
    cdef pb_spreads spreads              # the same arrays in the form that C reads
    cdef int64_t[::1] asked              # decisions per estimator, reported or not
    cdef int64_t n_decisions             # since the pilot
    cdef int64_t n_first                 # number of runs of the pilot
    cdef bint waits                      # True until `end_pilot`; False if no pilot is needed

    # Return the next decision; the allocator runs it one or more times.
    cdef pb_batch next(self) noexcept nogil
    # Called when the allocator's statistics include this value of estimator `arm`.
    cdef void absorb(self, int64_t arm, double value, double cost) noexcept nogil
    # Called when all values of the pilot have been reported, if `waits` is set.
    cdef void end_pilot(self) noexcept nogil
    # Called when all runs of `n` decisions have been reported.
    cdef void advance(self, int64_t n) noexcept nogil
    # Choose among the estimators with two values or more; -1 if there is none.
    cdef int64_t _choose(self) noexcept nogil


cdef class ThompsonRule(Rule):
    cdef object generator
    cdef pb_bitgen *bitgen
    cdef seed(self, generator)


cdef class BanditRule(Rule):
    cdef readonly NativePolicy inner
    cdef readonly int64_t per_reward     # runs per reward: 1, or 2 or 3 with observed costs
    cdef bint has_costs
    cdef bint has_centre
    cdef bint scales_each                # True if each estimator has its own scale
    cdef double set_centre               # centre given by the user, if has_centre
    cdef double centre                   # losses are squared distances from it (without costs)
    cdef double[::1] scales              # largest loss of each estimator that has a reward above 0
    cdef double[:, ::1] pilot_values, pilot_costs
    cdef double[:, ::1] held             # values of incomplete pairs: (arm, 2)
    cdef double[::1] held_costs
    cdef int64_t[::1] n_held
    cdef claim(self)
    cdef void _feed(self, int64_t arm, double value, double cost) noexcept nogil
    cdef double loss(self, int64_t arm, double value, double cost) noexcept nogil
    cdef double _least_spread(self) noexcept nogil
    cdef double _pilot_centre(self) noexcept nogil
