"""A control that leaves its remainder to few rows is found out in warm-up."""

import warnings

import numpy as np
import pytest

import pybandit as pb

pytest.importorskip("xarray")


def chain(x, y, kind):
    mode = np.zeros(1)
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ mode))
        mode = mode + x.T @ (y - p) / ((p * (1 - p)) @ x[:, 0] ** 2 + 1)
    p = 1 / (1 + np.exp(-x @ mode))
    if kind == "glm":
        control = pb.mcmc.GLMControl(x, y - p, -p * (1 - p), mode)
    else:
        control = pb.mcmc.TaylorControl(mode, (y - p)[:, None] * x,
                                        -(p * (1 - p))[:, None, None] * x[:, :, None] ** 2)

    def log_likelihood(indices, points):
        s = x[indices] @ points.T
        return y[indices, None] * s - np.logaddexp(0, s)

    sampler = pb.mcmc.RacingMetropolis(log_likelihood, *x.shape, control=control,
                                       proposal=pb.mcmc.RandomWalk(0.3))
    return sampler.sample(5, n_warmup=60, n_chains=1, rng=3)


@pytest.mark.parametrize("kind", ["glm", "taylor"])
def test_few_rows_of_high_leverage_warn(kind):
    rng = np.random.default_rng(0)
    x = 0.01 * rng.normal(size=(10_000, 1))
    x[:40] = rng.uniform(4.0, 8.0, size=(40, 1))
    y = (rng.random(10_000) < 1 / (1 + np.exp(-0.4 * x[:, 0]))).astype(float)
    with pytest.warns(UserWarning, match="few rows"):
        chain(x, y, kind)


def test_even_rows_do_not_warn():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 1))
    y = (rng.random(2000) < 1 / (1 + np.exp(-x[:, 0]))).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chain(x, y, "glm")
