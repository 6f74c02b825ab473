"""Wealth of bets in units of the standard deviation against one mean."""

import math

import numpy as np

from libc.stdint cimport int64_t

from pybandit.betting._csrc cimport (
    pb_scaled, pb_scaled_begin, pb_scaled_init, pb_scaled_moments, pb_scaled_play,
    pb_scaled_prepare, pb_scaled_value, pb_scaled_wealth,
)


cdef pb_scaled scaled_bets(population_size, planned, double delta, most=math.inf) except *:
    """Return the bets for a population and a planned number of values, or None.

    `most` is the largest number of values, if more is known than the population and the plan.
    """
    cdef pb_scaled bets
    n_values = min(population_size, most, math.inf if planned is None else planned)
    pb_scaled_init(&bets, n_values, population_size, 0.0 if planned is None else planned, delta)
    return bets


def mixture(population_size=math.inf, planned=None):
    """Return amplitude, 1.0 if it falls with time, weight and cap of each bet, (n_bets, 4)."""
    cdef pb_scaled bets = scaled_bets(population_size, planned, 0.05)
    return np.array([(bets.fixed[g] + bets.falling[g], bets.falling[g] > 0.0, bets.weight[g],
                      bets.cap[g]) for g in range(bets.n_bets)])


def log_wealth(double[::1] values, double mean, double delta, *, population_size=math.inf,
               planned=None, most=math.inf):
    """Return the log of the wealth after each value, against both one-sided hypotheses.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        In [0, 1].
    mean : float
        In (0, 1).
    delta : float
        For the bets that fall with time.
    population_size, planned, most : optional
        They select the bets; see `scaled_bets`.

    Returns
    -------
    ndarray of float64, shape (2, n)
        Against "the mean is at most `mean`" and against "the mean is at least `mean`".
    """
    cdef int64_t n = values.shape[0], side
    cdef pb_scaled bets = scaled_bets(population_size, planned, delta, most)
    cdef pb_scaled_moments moments = pb_scaled_moments(0, 0.0, 0.0)
    cdef pb_scaled_wealth wealth
    logs = np.empty((2, n))
    cdef double[:, ::1] out = logs
    cdef double[:, ::1] prepared = np.empty((n, sizeof(pb_scaled_value) // sizeof(double)))
    if n == 0:
        return logs
    cdef pb_scaled_value *history = <pb_scaled_value *>&prepared[0, 0]
    with nogil:
        pb_scaled_prepare(&bets, &moments, &values[0], n, history)
        for side in range(2):
            pb_scaled_begin(&bets, &wealth)
            pb_scaled_play(&bets, side, 1.0 - mean if side else mean, history, 0, n, 0.0,
                           &wealth, &out[side, 0])
    return logs
