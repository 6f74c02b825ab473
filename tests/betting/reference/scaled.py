"""Reference of bets in units of the standard deviation, for values in [0, 1].

A component bets ``min(amplitude / deviation * tilt * (1, or fall_t), cap / m_t)`` against the mean
m_t of a value given the past. Everything but the value is known before it is read.
"""

import numpy as np

TWIN_OF = ("scaled",)  # kernels of csrc

SMALLEST_MEAN = 1e-9


def mixture(rows, horizon=None):
    """Return amplitudes, flags of falling, weights and caps; with half on the planned number."""
    amplitude, falls, weight, cap = (np.array(column, dtype=float) for column in zip(*rows,
                                                                                    strict=True))
    weight /= weight.sum()
    if horizon is not None:
        amplitude, falls = np.append(amplitude, 3 / np.sqrt(horizon)), np.append(falls, 0.0)
        weight, cap = np.append(weight / 2, 0.5), np.append(cap, 0.6)
    return amplitude, falls.astype(bool), weight, cap


FINITE = [(1, 1, .16, .6), (1, 1, .05, .9), (1, 0, .1, .9), (1, 0, .14, .6), (1 / 2, 0, .14, .6),
          (1 / 4, 0, .04, .6), (1 / 8, 0, .06, .6), (1 / 16, 0, .11, .6), (1 / 32, 0, .12, .6),
          (1 / 64, 0, .05, .6), (1 / 128, 0, .018, .6), (2**-8, 0, .006, .6), (2**-9, 0, .003, .6),
          (2**-10, 0, .0018, .6), (2**-11, 0, .0012, .6)]
ENDLESS = [(1, 1, .2, .6), (1, 1, .03, .9), (1, 0, .07, .9), (2, 0, .02, .9), (1, 0, .15, .6),
           (1 / 2, 0, .07, .6), (1 / 4, 0, .03, .6), (1 / 8, 0, .08, .6), (1 / 16, 0, .08, .6),
           (1 / 32, 0, .1, .6), (1 / 64, 0, .06, .6), (1 / 128, 0, .045, .6), (2**-8, 0, .02, .6),
           (2**-9, 0, .028125, .6), (2**-10, 0, .009375, .6), (2**-11, 0, .0046875, .6),
           (2**-12, 0, .0028125, .6)]


def deviations(x):
    """Return the estimate of the standard deviation before each value."""
    found, total, square = np.empty(len(x)), 0.0, 0.0
    for i, value in enumerate(x):
        found[i] = np.sqrt((0.5 + square) / (i + 2))
        total += value
        square += (value - (0.5 + total) / (i + 2)) ** 2
    return found


def null_means(x, mean, size):
    """Return the mean of each value given the past, if the mean of all values is `mean`."""
    if size is None:
        return np.full(len(x), float(mean)), np.ones(len(x))
    left = size - np.arange(len(x))
    earlier = np.concatenate([[0.0], np.cumsum(x)[:-1]])
    return np.maximum((size * mean - earlier) / left, SMALLEST_MEAN), size / left


def log_wealth(x, mean, bets, alpha, size=None, deviation=None):
    """Return the log of the total wealth against `mean` after each value."""
    amplitude, falls, weight, cap = bets
    x, t = np.asarray(x, float), np.arange(1, len(x) + 1)
    m, tilt = null_means(x, mean, size)
    fall = np.sqrt(2 * np.log(2 / alpha) / (t * np.log1p(t)))
    unit = tilt / (deviations(x) if deviation is None else deviation)
    wanted = unit[:, None] * amplitude * np.where(falls, fall[:, None], 1.0)
    stakes = np.minimum(wanted, cap / m[:, None])
    logs = np.log1p(stakes * (x - m)[:, None]).cumsum(axis=0) + np.log(weight)
    return np.logaddexp.reduce(logs, axis=1)


def lower_bound(x, bets, alpha, size=None):
    """Return the largest mean that the wealth has ever excluded, by bisection."""
    x = np.asarray(x, float)
    low, high, deviation = 0.0, 1.0, deviations(x)
    for _ in range(45):
        middle = (low + high) / 2
        impossible = size is not None and middle <= x.sum() / size
        if impossible or (log_wealth(x, middle, bets, alpha, size, deviation).max()
                          >= np.log(2 / alpha)):
            low = middle
        else:
            high = middle
    return low


def interval(x, bets, alpha, size=None):
    """Return both bounds after all values."""
    x = np.asarray(x, float)
    return lower_bound(x, bets, alpha, size), 1 - lower_bound(1 - x, bets, alpha, size)
