"""A control that fits a few rows badly is detected in warm-up."""

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
def test_rows_of_high_leverage_warn(kind):
    rng = np.random.default_rng(0)
    x = 0.01 * rng.normal(size=(10_000, 1))
    x[:40] = rng.uniform(4.0, 8.0, size=(40, 1))
    y = (rng.random(10_000) < 1 / (1 + np.exp(-0.4 * x[:, 0]))).astype(float)
    with pytest.warns(pb.errors.WeakControlWarning, match="few rows"):
        chain(x, y, kind)


def test_even_rows_do_not_warn():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 1))
    y = (rng.random(2000) < 1 / (1 + np.exp(-x[:, 0]))).astype(float)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        chain(x, y, "glm")
    assert not said


def normal_mean(n, control, n_chains=1, n_threads=1):
    y = np.random.default_rng(1).normal(0.3, 1.0, n)
    center = np.array([y.mean() + control]) if control is not None else None
    sampler = pb.mcmc.RacingMetropolis(
        lambda n, points: -0.5 * (y[n, None] - points[:, 0]) ** 2, n, 1,
        control=control if control is None else pb.mcmc.TaylorControl(center, y[:, None] - center),
        proposal=pb.mcmc.RandomWalk(2.4 / np.sqrt(n)), adapt=False)
    return sampler.sample(3, n_warmup=30, n_chains=n_chains, n_threads=n_threads, rng=1,
                          initial=[y.mean()])


@pytest.mark.parametrize("n_threads", [1, 2])
def test_reading_most_rows_warns_once(n_threads):
    with pytest.warns(pb.errors.SlowReadingWarning) as said:
        normal_mean(4000, None, n_chains=3, n_threads=n_threads)
    assert len(said) == 1
    assert "of the 4000 rows" in str(said[0].message)
    assert "GLMControl" in str(said[0].message) and "ExactMinibatch" in str(said[0].message)


def test_useless_control_warns():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2000, 1)), rng.normal(size=2000)
    sampler = pb.mcmc.RacingMetropolis(
        lambda n, points: -0.5 * (y[n, None] - x[n] * points[:, 0]) ** 2, 2000, 1,
        control=pb.mcmc.TaylorControl([0.0], np.zeros((2000, 1))),
        proposal=pb.mcmc.RandomWalk(0.05), adapt=False)
    with pytest.warns(pb.errors.SlowReadingWarning, match="control is not close enough"):
        sampler.sample(3, n_warmup=30, n_chains=1, rng=1)


@pytest.mark.parametrize("n, control", [(900, None), (4000, 0.0)])
def test_few_rows_or_a_good_control_do_not_warn(n, control):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        normal_mean(n, control)
    assert not said
