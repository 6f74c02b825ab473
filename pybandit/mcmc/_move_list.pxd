"""Moves of a chain in the form that C reads."""

from pybandit.mcmc._csrc cimport pb_move


cdef class MoveList:
    cdef pb_move *moves
    cdef int n
    cdef object kept
    cdef char[::1] memory
    cdef double[::1] first_scales
