"""Cumulants of the correction for skewness, against all samples of a small population."""

import itertools

import numpy as np
import pytest

from racing.reference import skewness


@pytest.mark.parametrize("n", [2, 4, 7])
def test_cumulants_without_replacement_are_those_of_all_samples(n):
    """r is the skewness of the mean, c its covariance with the variance up to 1 in N - 2."""
    population = np.array([0.0, 0.1, 0.1, 0.4, 0.9, 1.7, 3.0, 5.5, 11.0])
    size, deviations = population.size, population - population.mean()
    g = (deviations**3).mean() / (deviations**2).mean() ** 1.5
    samples = np.array(list(itertools.combinations(population, n)))
    means, variances = samples.mean(axis=1), samples.var(axis=1, ddof=1)
    error = means - population.mean()
    r, c = skewness.unit_cumulants(n, size)
    assert (error**3).mean() / means.var() ** 1.5 == pytest.approx(g * r, rel=1e-12)
    together = (error * variances).mean() / (means.std() * population.var(ddof=1))
    assert together == pytest.approx(g * c * (size - 1) / (size - 2), rel=1e-12)
