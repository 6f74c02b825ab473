"""Simulate races of two states with equal means and normal differences from their sums.

The rows between two looks of a centred normal population have a normal sum and a chi-square
sum of squares about their mean, and a race uses nothing else. A million races of 100,000
factors therefore take seconds.
"""

import numpy as np

from racing.reference import b_normal, bounds

BATCH = 50_000


def error(bound, delta, first_look, size, n_races, rng, convention="one-sided"):
    """Return the share of races with an early wrong answer: half of those that end early."""
    looks = np.array(bounds.doubling(size, first_look))
    boundary = b_normal.boundary(delta, looks[:-1] / size, convention, points_per_sd=20)
    early = sum(
        count_early(bound, boundary, looks, min(BATCH, n_races - done), rng)
        for done in range(0, n_races, BATCH)
    )
    return 0.5 * early / n_races


def count_early(bound, boundary, looks, n_races, rng):
    sizes = np.diff([0, *looks])
    sums = rng.normal(size=(n_races, len(looks))) * np.sqrt(sizes)
    about_mean = 2 * rng.standard_gamma(np.maximum(sizes - 1, 0) / 2, size=sums.shape)
    squares = about_mean + sums**2 / sizes
    centre = sums.sum(axis=1, keepdims=True) / looks[-1]
    rows = looks[:-1]
    means = sums.cumsum(axis=1)[:, :-1] / rows
    variances = squares.cumsum(axis=1)[:, :-1] / rows - means**2
    limits = [half_width(bound, n, looks[-1], boundary) for n in rows]
    return np.count_nonzero((np.abs(means - centre) > np.sqrt(variances) * limits).any(axis=1))


def half_width(bound, n, population, boundary):
    """Return the half-width in units of the standard deviation with divisor n."""
    if bound == "normal":
        return bounds.normal(n, population, 1.0, boundary)
    return bounds.student(n, population, np.sqrt(n / (n - 1)), boundary)
