"""Laplace's approximation for parameters in any units."""

import numpy as np
import pytest

from pybandit import mcmc

N, D = 400, 3


def logistic(x, y):
    def log_likelihood(n, points):
        s = x[n] @ points.T
        return y[n, None] * s - np.logaddexp(0.0, s)

    return log_likelihood


def poisson(x, y):
    def log_likelihood(n, points):
        s = x[n] @ points.T
        return y[n, None] * s - np.exp(np.minimum(s, 500.0))

    return log_likelihood


def student(x, y):
    """Return a Student t log likelihood whose last parameter is the logarithm of the scale."""
    def log_likelihood(n, points):
        width = np.exp(np.clip(points[:, -1], -200.0, 200.0))
        u = (y[n, None] - x[n, :-1] @ points[:, :-1].T) / width
        return -2.5 * np.log1p(u**2 / 4) - np.log(width)

    return log_likelihood


def problem_of(model, rng):
    x = rng.normal(size=(N, D)) @ (np.eye(D) + 0.5 * rng.normal(size=(D, D)))
    s = x @ rng.normal(size=D)
    if model is logistic:
        return model(x, (rng.random(N) < 1 / (1 + np.exp(-s))).astype(float))
    if model is poisson:
        return model(x, rng.poisson(np.exp(0.3 * s)).astype(float))
    return model(x, s + 0.3 * rng.standard_t(4, size=N))


def in_units(log_likelihood, units):
    return lambda n, points: log_likelihood(n, points * units)


@pytest.mark.parametrize("size", [3e4, 1e5, 1e6])
def test_large_coordinate_next_to_an_intercept_is_found(size):
    rng = np.random.default_rng(0)
    x = np.stack([np.ones(5000), size * rng.lognormal(0.5, 0.5, 5000)], axis=1)
    y = (rng.random(5000) < 1 / (1 + np.exp(1 - x[:, 1] / size))).astype(float)
    exact = mcmc.ExactMinibatch(x, y, prior_precision=0.0)
    found = mcmc.laplace(logistic(x, y), 5000, 2)
    deviations = np.sqrt(np.diagonal(exact.covariance))
    assert np.abs((found.mode - exact.mode) / deviations).max() < 1e-3
    expected = exact.covariance / np.outer(deviations, deviations)
    assert np.allclose(found.covariance / np.outer(deviations, deviations), expected, atol=1e-2)


@pytest.mark.parametrize("model", [logistic, poisson, student])
def test_mode_does_not_depend_on_units(model):
    rng = np.random.default_rng(5)
    for _ in range(12):
        log_likelihood = problem_of(model, rng)
        expected = mcmc.laplace(log_likelihood, N, D)
        deviations = np.sqrt(np.diagonal(expected.covariance))
        units = 10.0**rng.uniform(-6, 6, D)
        found = mcmc.laplace(in_units(log_likelihood, units), N, D)
        assert np.abs((found.mode * units - expected.mode) / deviations).max() < 1e-2, units
        change = found.covariance * np.outer(units, units) - expected.covariance
        assert np.abs(change / np.outer(deviations, deviations)).max() < 1e-2, units


def test_unfinished_search_raises():
    y = np.random.default_rng(1).normal(size=100)

    def log_likelihood(n, points):
        return -np.logaddexp(y[n, None] - points[:, 0], points[:, 0] - y[n, None])

    with pytest.raises(ValueError, match="max_steps"):
        mcmc.laplace(log_likelihood, 100, 1, initial=[9.0], max_steps=1)
    assert abs(mcmc.laplace(log_likelihood, 100, 1, initial=[9.0]).mode[0]) < 0.5
