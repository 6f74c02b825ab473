"""Private to pybandit."""

from libc.stdint cimport int64_t

from pybandit.montecarlo._sharing cimport SharedBudget
from pybandit.montecarlo._stakes cimport Stakes


cdef class WeighedValues(SharedBudget):
    cdef readonly object weights
    cdef readonly int64_t least_values
    # Sums of cubes about the mean; distinct values, the most frequent one first, and their counts.
    cdef double[::1] thirds
    cdef double[:, ::1] common
    cdef int64_t[:, ::1] n_common
    # The weights of a batch's values depend on the statistics at its start. They are computed at
    # the batch's first value of an estimator: number of that batch, variance and weights.
    cdef int64_t[::1] weighed_in
    cdef double[::1] start_variances, start_weights, start_stakes
    # Predictable weights are `scale` / variance. `scale` is a power of two near the first
    # variance, so that cubes of weights do not overflow in any unit. `weight` is the sum of
    # weights, `weighted` that of weighted values minus `origin`; `powers` holds the sums of
    # weights, squares and cubes per estimator, shape (3, n_arms).
    cdef bint predictable
    cdef double scale, origin, weight, weighted
    cdef double[:, ::1] powers
    cdef Stakes stakes                   # None without a value_range
    cdef bint bets

    cdef void _begin_batch(self, int64_t arm) noexcept nogil
    cdef double _least_variance(self, int64_t arm) noexcept nogil
    cdef void _note(self, int64_t arm, double value) noexcept nogil
    cdef void _count(self, int64_t arm, double value) noexcept nogil
