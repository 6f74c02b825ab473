"""Private to pybandit: who owns the memory of the kernels that bet."""

from libc.stdint cimport int64_t

from pybandit._csrc cimport pb_bets, pb_betting, pb_items, pb_pairs


cdef class Bets:
    cdef readonly object mixture, n_bets
    cdef double[:, ::1] table
    cdef pb_bets bets


cdef class LeaderRace:
    cdef pb_betting race
    cdef pb_pairs near
    cdef Bets bets
    cdef readonly object memory, doubles, integers, near_memory, near_claims, gone

    cdef _point(self)
