"""Private to pybandit: who owns the memory of the kernels that bet."""

from libc.stdint cimport int64_t

from pybandit.betting._csrc cimport pb_bets, pb_betting, pb_pairs, pb_threshold, pb_top_k


cdef class Bets:
    cdef readonly object mixture, n_bets
    cdef double[:, ::1] table
    cdef pb_bets bets


# Arrays that make up a race; the kernel's struct points into them.
cdef class Race:
    cdef readonly dict arrays
    cdef Bets bets
    cdef int64_t *columns          # the kernel's, as the two below
    cdef const int64_t *n_alive
    cdef const int *decided_flag

    cdef int64_t *_integers(self, int64_t n_arms, const int64_t *n_alive, const int *decided)
    cdef void _add_rows(self, const double *const *rows, int64_t n_rows) noexcept nogil
    cdef _claims(self, str name, pb_pairs *pairs, int64_t n_slots)


cdef class LeaderRace(Race):
    cdef pb_betting race
    cdef pb_pairs near


cdef class TopKRace(Race):
    cdef pb_top_k race


cdef class ThresholdRace(Race):
    cdef pb_threshold race
