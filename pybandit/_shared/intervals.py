"""Confidence intervals of probabilities and of means."""

import numpy as np

# 97.5 % quantile of the standard normal distribution
NORMAL = 1.959963984540054


def wilson_interval(hits, n, z=NORMAL):
    """Return the Wilson interval (by default 95 %) of a probability, from `hits` of n trials."""
    share, z2 = hits / n, z * z
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * (share * (1 - share) / n + z2 / (4 * n * n)) ** 0.5
    # rounding could leave 1e-19 instead of 0
    low = max(0.0, centre - half) if hits else 0.0
    return low, min(1.0, centre + half) if hits < n else 1.0


def mean_interval(values):
    """Return the mean over the first axis and the ends of its 95 % normal interval.

    With a single value the interval is infinite.
    """
    n = len(values)
    mean = np.mean(values, axis=0)
    half = np.full(np.shape(mean), np.inf)
    if n > 1:
        half = NORMAL * np.std(values, axis=0, ddof=1) / np.sqrt(n)
    return mean, mean - half, mean + half
