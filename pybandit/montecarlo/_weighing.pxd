"""Private to pybandit."""

from libc.stdint cimport int64_t

from pybandit.montecarlo._sharing cimport SharedBudget
from pybandit.montecarlo._stakes cimport Stakes


cdef class WeighedValues(SharedBudget):
    cdef readonly object weights
    cdef readonly int64_t least_values
    # Sums of cubes about the mean, and different values, and how often they came.
    cdef double[::1] thirds
    cdef double[:, ::1] common
    cdef int64_t[:, ::1] n_common
    # The weights of a batch's values follow from the statistics at its start, which are computed at
    # the first value of an estimator: the number of that batch, and its weights.
    cdef int64_t[::1] weighed_in
    cdef double[::1] start_variances, start_weights, start_stakes
    # Predictable weights are `scale` over a variance, a power of two near the first one, so
    # that their cubes are numbers in all units. Their sum, that of weighted values about the first
    # value, and for each estimator those of weights, squares and cubes: shape (3, n_arms).
    cdef bint predictable
    cdef double scale, origin, weight, weighted
    cdef double[:, ::1] powers
    cdef Stakes stakes                   # where a range was given
    cdef bint bets

    cdef void _begin_batch(self, int64_t arm) noexcept nogil
    cdef double _least_variance(self, int64_t arm) noexcept nogil
    cdef void _note(self, int64_t arm, double value) noexcept nogil
    cdef void _count(self, int64_t arm, double value) noexcept nogil
