"""Private to pybandit: bets on the values that an allocator received."""

from libc.stdint cimport int64_t

from pybandit.montecarlo._csrc cimport pb_stake, pb_stakes


cdef class Stakes:
    cdef double[::1] lows, highs, bets
    cdef pb_stake *memory
    cdef int64_t n, room
    cdef int64_t batch                   # number of the batch of the last value
    cdef bint memory_ran_out
    cdef double wrong_value              # first value outside its range
    cdef int64_t wrong_estimator         # estimator of that value; -1 if there is none
    cdef double total, weighted          # sums of weights, and of weighted distances from lows[0]

    # Estimate 1 / variance from n values with this sum of squares about their mean.
    cdef double weight_of(self, int64_t estimator, int64_t n, double deviation) noexcept nogil
    cdef void add(self, int64_t estimator, double value, double weight,
                  int64_t batch) noexcept nogil
    cdef double _bound(self, pb_stakes stakes, double delta, int side)
