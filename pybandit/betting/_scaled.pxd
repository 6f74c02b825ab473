"""Bets in units of the standard deviation, as the kernels take them. Private."""

from pybandit.betting._csrc cimport pb_scaled


cdef pb_scaled scaled_bets(population_size, planned, double delta, most=*) except *
