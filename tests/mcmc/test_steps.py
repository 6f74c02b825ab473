"""RacingMetropolis.step, for custom loops."""

import numpy as np
import pytest
from scipy import special

import pybandit as pb
from pybandit import mcmc

from mcmc.reference.chains import logistic_problem
from mcmc.samplers import normal_sampler

Y = np.random.default_rng(1).normal(0.7, 1.0, 400)


def test_steps_equal_those_of_a_chain():
    """Steps depend only on value and generator; n_accepted counts the steps that move the point."""
    sampler = normal_sampler(Y, proposal=mcmc.RandomWalk(0.1))
    one = sampler.step([0.7], n_steps=50, rng=3)
    same = sampler.step([0.7], n_steps=50, rng=3)
    assert same.value == one.value and same.to_dict() == one.to_dict() and 0 < one.n_accepted < 50
    assert 0 < one.n_evaluations <= 50 * 400
    calls, rng, value = 0, np.random.default_rng(3), np.array([0.7])
    for _ in range(50):
        before = value
        step = sampler.step(value, rng=rng)
        value, n_accepted = step.value, step.n_accepted
        assert value is not before and (n_accepted == 0) == np.array_equal(value, before)
        calls += n_accepted
    assert 5 < calls < 50


def test_steps_sample_the_posterior():
    """Sample a conjugate mean, with delta so small that tests never err."""
    sampler = normal_sampler(Y, proposal=mcmc.RandomWalk(0.12), delta=1e-6)
    chains = []
    for seed in range(8):
        rng, value, draws = np.random.default_rng(seed), np.array([0.7]), []
        for _ in range(400):
            value = sampler.step(value, n_steps=3, rng=rng).value
            draws.append(value[0])
        chains.append(draws)
    means = np.mean(chains, axis=1)
    expected, deviation = Y.sum() / 401, 401**-0.5
    assert abs(means.mean() - expected) < 6 * means.std(ddof=1) / np.sqrt(8)
    assert np.std(chains) == pytest.approx(deviation, rel=0.15)


def test_control_is_used_and_nothing_adapts():
    features, labels, mode, covariance = logistic_problem(3, 20_000, [0.5, -0.3])
    p = special.expit(features @ mode)

    def log_likelihood(n, points):
        s = features[n] @ points.T
        return labels[n, None] * s - np.logaddexp(0.0, s)

    sampler = mcmc.RacingMetropolis(
        log_likelihood, *features.shape,
        proposal=mcmc.RandomWalk(1.6 * np.linalg.cholesky(covariance)),
        control=mcmc.GLMControl(features, labels - p, -p * (1 - p), mode))
    step = sampler.step(mode, n_steps=100, rng=1)
    assert step.n_evaluations < 100 * 400 and 10 < step.n_accepted < 70
    assert isinstance(step, mcmc.MetropolisStep) and np.abs(step.value - mode).max() < 0.2
    assert sampler.adapt and sampler.options["looks"].indices == "auto"  # unchanged
    compiled = mcmc.RacingMetropolis(
        factors=lambda points: pb.Factors(lambda n, i: np.diff(log_likelihood(n, points)), 20_000,
                                          1), n_parameters=2, proposal=sampler.proposal,
        control=sampler.control)
    again = compiled.step(mode, n_steps=100, rng=1)
    assert np.array_equal(again.value, step.value)


@pytest.mark.parametrize("options, words", [
    (dict(value=[0.1, 0.2]), r"value must have shape \(1,\)"), (dict(value=[np.nan]), "value"),
    (dict(value=[0.1], n_steps=0), "n_steps"), (dict(value=[-1.0]), "value of a step"),
])
def test_invalid_arguments_raise(options, words):
    sampler = mcmc.RacingMetropolis(lambda n, x: np.zeros((len(n), 2)), 9, 1,
                                    log_prior=lambda x: 0.0 if x[0] > 0 else -np.inf)
    with pytest.raises(ValueError, match=words):
        sampler.step(**options)
