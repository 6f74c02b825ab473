"""Wealth of bets in units of the standard deviation against one mean."""

import math

import numpy as np

from libc.stdint cimport int64_t

from pybandit.betting._csrc cimport (
    PB_SCALED_BETS, pb_scaled, pb_scaled_begin, pb_scaled_moments, pb_scaled_play,
    pb_scaled_prepare, pb_scaled_value, pb_scaled_wealth,
)


cdef pb_scaled scaled_bets(mixture, population_size, double delta) except *:
    """Return the bets of a mixture for the kernels; `delta` sets how fast falling bets fall."""
    cdef pb_scaled bets
    cdef int64_t g
    assert len(mixture) <= PB_SCALED_BETS, len(mixture)
    bets.n_bets = len(mixture)
    for g in range(PB_SCALED_BETS):
        bets.fixed[g] = bets.falling[g] = bets.cap[g] = bets.weight[g] = 0.0
    for g, bet in enumerate(mixture):
        if bet.falls:
            assert g < 4, g
            bets.falling[g] = bet.amplitude
        else:
            bets.fixed[g] = bet.amplitude
        bets.cap[g], bets.weight[g] = bet.cap, bet.weight
    bets.size = 1.0 if population_size == math.inf else population_size
    bets.drained = population_size != math.inf
    bets.level = 2.0 * math.log(2.0 / delta)
    return bets


def log_wealth(double[::1] values, double mean, mixture, population_size, double delta):
    """Return the log of the wealth after each value, against both one-sided hypotheses.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        In [0, 1].
    mean : float
        In (0, 1).
    mixture : list of Bet
    population_size : int or math.inf
    delta : float
        For the bets that fall with time.

    Returns
    -------
    ndarray of float64, shape (2, n)
        Against "the mean is at most `mean`" and against "the mean is at least `mean`".
    """
    cdef int64_t n = values.shape[0], side
    cdef pb_scaled bets = scaled_bets(mixture, population_size, delta)
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
