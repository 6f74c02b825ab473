"""Data shared by chains on minibatches: a split log posterior and the bounds of its rows."""

from pybandit.mcmc._csrc cimport pb_minibatch


cdef class Problem:
    cdef pb_minibatch problem
    cdef double[:, ::1] row_memory, alias_memory, factor_memory
    cdef double[::1] mode_memory, slope_memory

    cdef _begin(self, double[::1] mode, double[:, ::1] factor, double[::1] slope)
    cdef _settle(self)
