"""Private to pybandit: which estimator an allocator runs next."""

from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_bitgen
from pybandit.montecarlo._csrc cimport pb_spreads
from pybandit.policies._csrc cimport pb_batch
from pybandit.policies.protocol.base cimport NativePolicy


cdef class Rule:
    cdef int64_t n_arms
    cdef int64_t chosen                  # -1: not yet
    # The allocator's: values of each estimator, sums, sums of squares about the mean, costs.
    cdef const int64_t[::1] pulls
    cdef const double[::1] sums, deviations, cost_sums
    cdef pb_spreads spreads              # the same for the kernels
    cdef int64_t[::1] asked              # decisions for each, answered or not
    cdef int64_t n_decisions             # since the pilot,
    cdef int64_t n_first                 # which made so many runs
    cdef bint waits                      # for `end_pilot`

    # Decisions, each for as many runs as the allocator likes.
    cdef pb_batch next(self) noexcept nogil
    # The allocator's statistics hold this value of estimator `arm`.
    cdef void absorb(self, int64_t arm, double value, double cost) noexcept nogil
    # The pilot's values came, which a rule that waits was bound to.
    cdef void end_pilot(self) noexcept nogil
    # All runs of `n` decisions came back.
    cdef void advance(self, int64_t n) noexcept nogil
    # The estimator of a decision, among those with two values; -1 where there is none.
    cdef int64_t _choose(self) noexcept nogil


cdef class ThompsonRule(Rule):
    cdef object generator
    cdef pb_bitgen *bitgen
    cdef seed(self, generator)


cdef class BanditRule(Rule):
    cdef readonly NativePolicy inner
    cdef readonly int64_t per_reward     # runs for one reward: 1, or 2 or 3 where costs count
    cdef bint has_costs
    cdef bint has_centre
    cdef bint scales_each                # whether upper bounds are in units of each estimator
    cdef double set_centre               # by the user, if so
    cdef double centre                   # losses are squares about it, or of pairs,
    cdef double[::1] scales              # at most this of each estimator
    cdef double[:, ::1] pilot_values, pilot_costs
    cdef double[:, ::1] held             # values that wait for their pair: (arm, 2)
    cdef double[::1] held_costs
    cdef int64_t[::1] n_held
    cdef claim(self)
    cdef void _feed(self, int64_t arm, double value, double cost) noexcept nogil
    cdef double loss(self, int64_t arm, double value, double cost) noexcept nogil
    cdef double _least_spread(self) noexcept nogil
    cdef double _pilot_centre(self) noexcept nogil
