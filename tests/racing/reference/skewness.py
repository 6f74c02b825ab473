"""Reference implementation of the correction of Student's t for skewed values."""

import math

import numpy as np

# Limit of (3 c - r) / 6. For T values much fewer than N, with skewness g, (3 c - r) / 6 is
# g / (3 sqrt(T)), so this is abs(g) / sqrt(T) = 0.1.
MOST_SKEWED = 0.1 / 3
LEAST_OTHERS = 5


def varies(values):
    """Return True if at least five values differ from the first."""
    return bool(np.count_nonzero(values != values[0]) >= LEAST_OTHERS)


def cumulants(values, population):
    """Return r and c: the skewness of the mean and its covariance with the variance."""
    deviations = values - values.mean()
    skewness = (deviations**3).mean() / (deviations**2).mean() ** 1.5
    r, c = unit_cumulants(len(values), population)
    return skewness * r, skewness * c


def unit_cumulants(n, population):
    """Return r and c of n values with skewness 1."""
    share = 1 - (n - 1) / (population - 1)
    uneven = 1 - 2 * (n - 1) / (population - 2)
    return uneven / math.sqrt(n * share), math.sqrt(share / n)


def least_t(quantile, r, c):
    """Return the t with t + c0 + c2 t**2 = quantile, or several quantiles for a heavy tail."""
    c0, c2 = r / 6, (3 * c - r) / 6
    if c2 > MOST_SKEWED:
        c0, c2 = c0 * MOST_SKEWED / c2, MOST_SKEWED
    root = 1 - 4 * c2 * (c0 - quantile)
    if c2 <= -MOST_SKEWED:
        return min(3 * -c2 / MOST_SKEWED, 45) * quantile
    if root < 0:
        return 3 * quantile
    t = quantile - c0 if c2 == 0 else (-1 + math.sqrt(root)) / (2 * c2)
    return min(max(t, quantile / 2), 3 * quantile)


def width(values, population, quantile):
    """Return by how much a mean may be overestimated; inf if the values hardly vary."""
    if not varies(values):
        return math.inf
    n, share = len(values), 1 - (len(values) - 1) / (population - 1)
    t = least_t(quantile, *cumulants(values, population))
    return t * values.std(ddof=1) * math.sqrt(share / n)
