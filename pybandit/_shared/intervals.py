"""Intervals of what was counted, and of means."""

import numpy as np

# of a standard normal, 95 %
NORMAL = 1.959963984540054


def wilson_interval(hits, n, z=NORMAL):
    """95 % interval of a probability of which `hits` of n trials came true."""
    share, z2 = hits / n, z * z
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * (share * (1 - share) / n + z2 / (4 * n * n)) ** 0.5
    # rounding leaves 1e-19 of nothing
    low = max(0.0, centre - half) if hits else 0.0
    return low, min(1.0, centre + half) if hits < n else 1.0


def mean_interval(values):
    """Mean over the first axis, and the ends of its 95 % normal interval; of one value infinite."""
    n = len(values)
    mean = np.mean(values, axis=0)
    half = np.full(np.shape(mean), np.inf)
    if n > 1:
        half = NORMAL * np.std(values, axis=0, ddof=1) / np.sqrt(n)
    return mean, mean - half, mean + half
