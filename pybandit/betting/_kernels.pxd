"""Declarations of the classes that own the memory of the betting kernels. Private."""

from libc.stdint cimport int64_t

from pybandit.betting._csrc cimport (
    pb_bets, pb_betting, pb_pairs, pb_predictions, pb_threshold, pb_top_k,
)


cdef class Bets:
    cdef readonly object mixture, n_bets
    cdef double[:, ::1] table
    cdef pb_bets bets


# Rewards that a race received. Changed together with the kernel in one call, during which no
# signal is handled.
cdef class Books:
    cdef readonly list blocks      # (arms, rewards of shape (items, arms)) of each report
    cdef readonly int64_t n_items
    cdef int64_t[::1] _pulls
    cdef double[::1] _sums         # sums of reward - base
    cdef double _base              # NaN until the first reward sets it

    cdef void _enter(self, const int64_t *arms, int64_t n_arms, const double *const *rows,
                     int64_t n_rows) noexcept


# The arrays of a race; the kernel's struct points into them.
cdef class Race:
    cdef readonly dict arrays
    cdef Bets bets
    cdef int64_t *columns          # in the kernel's struct, like the next two
    cdef const int64_t *n_alive
    cdef const int *decided_flag

    cdef int64_t *_integers(self, int64_t n_arms, const int64_t *n_alive, const int *decided)
    cdef void _add_rows(self, const double *const *rows, int64_t n_rows) noexcept nogil
    cdef void _withdraw(self, int64_t n_kept, const int64_t *keys,
                        unsigned char *withdrawn) noexcept nogil
    cdef void _weigh(self, const double *left) noexcept
    cdef _check_predictions(self, values)
    cdef _take(self, Books books, arms, values, const double *const *rows, int64_t n_kept,
               const int64_t *keys)
    cdef _claims(self, str name, pb_pairs *pairs, int64_t n_slots)


cdef class LeaderRace(Race):
    cdef pb_betting race
    cdef pb_pairs near
    cdef pb_predictions given      # predictions of the next rewards


cdef class TopKRace(Race):
    cdef pb_top_k race


cdef class ThresholdRace(Race):
    cdef pb_threshold race
