"""Proposals around the mode, mixtures, and Laplace's approximation."""

import numpy as np
import pytest
from scipy import special, stats

from pybandit import mcmc

from mcmc.reference.chains import logistic_problem
from mcmc.samplers import normal_sampler

COVARIANCE = np.array([[0.5, 0.2], [0.2, 0.3]])


@pytest.mark.parametrize("step, scale", [(1.0, 1.0), (0.6, 1.0), (0.4, 1.5), (0.5, 7.0)])
def test_correction_is_the_density_ratio(step, scale):
    mode = np.array([0.3, -0.1])
    mover = mcmc.Preconditioned(mode, COVARIANCE, step=step).start(
        9, 2, np.random.default_rng(1))
    points = np.array([[0.9, 0.4], [0.0, 0.0]])
    b = min(1.0, step * scale)
    for _ in range(5):
        correction = mover.propose(points, scale)

        def log_q(to, of):
            return stats.multivariate_normal.logpdf(
                to, mode + np.sqrt(1 - b * b) * (of - mode), b * b * COVARIANCE)

        expected = log_q(points[0], points[1]) - log_q(points[1], points[0])
        assert correction == pytest.approx(expected, rel=1e-9, abs=1e-9)
        points[0] = points[1]


def test_proposals_leave_the_approximation_invariant():
    """If all proposals are accepted, the points have distribution N(mode, covariance)."""
    mover = mcmc.Preconditioned([1.0, 2.0], COVARIANCE, step=0.7).start(
        9, 2, np.random.default_rng(2))
    points, draws = np.array([[1.0, 2.0], [0.0, 0.0]]), np.empty((40_000, 2))
    for i in range(len(draws)):
        mover.propose(points, 1.0)
        draws[i] = points[0] = points[1]
    # with autocorrelation .71 per step, these are worth about 6,700 independent draws
    assert np.abs(draws.mean(axis=0) - [1.0, 2.0]).max() < 0.05
    assert np.abs(np.cov(draws.T) - COVARIANCE).max() < 0.05


MEAN = np.random.default_rng(1).normal(0.7, 1.0, 400)


@pytest.mark.some(1)
@pytest.mark.parametrize("proposal, accepted", [
    (mcmc.Preconditioned([MEAN.sum() / 401], [[1 / 401]]), 1.0),
    (mcmc.Preconditioned([MEAN.sum() / 401 + 0.02], [[2 / 401]]), 0.65),
    (mcmc.Mixture([mcmc.Preconditioned([MEAN.sum() / 401], [[1 / 401]]), mcmc.RandomWalk(0.1)],
                  [3, 1]), 0.86),
], ids=["the posterior", "another", "mixture"])
def test_racing_samples_a_conjugate_mean(proposal, accepted):
    pytest.importorskip("xarray")
    tree = normal_sampler(MEAN, proposal=proposal, delta=1e-6).sample(
        1000, n_warmup=300, n_chains=16, initial=[0.7], rng=2)
    draws = (tree["posterior"]["x"].to_numpy()[..., 0] - MEAN.sum() / 401) * np.sqrt(401)
    for moments, expected in ((draws.mean(axis=1), 0.0), ((draws**2).mean(axis=1), 1.0)):
        # |t| > 9 with 15 degrees of freedom: probability 1e-7
        assert abs(moments.mean() - expected) < 9 * moments.std(ddof=1) / 4
    # after 300 steps of warm-up the rate is near its target, and steps are at most 1
    assert abs(float(tree["sample_stats"]["accepted"].mean()) - accepted) < 0.12
    scale = tree["sample_stats"]["scale"].to_numpy()
    if isinstance(proposal, mcmc.Mixture):
        assert scale.shape == (16, 2) and (scale[:, 0] == 1.0).all()
        assert (scale[:, 1] != 1.0).all()
    else:
        assert scale.shape == (16,) and (scale <= 1.0).all()


def test_adapted_step_is_at_most_one():
    pytest.importorskip("xarray")
    exact = mcmc.Preconditioned([MEAN.sum() / 401], [[1 / 401]], step=0.5)
    tree = normal_sampler(MEAN, proposal=exact, delta=1e-6).sample(
        2, n_warmup=300, n_chains=1, initial=[0.7], rng=2)
    assert tree["sample_stats"]["scale"].item() == 2.0


def test_mixture_parts_are_used_by_weight():
    mixture = mcmc.Mixture([mcmc.RandomWalk(1.0), mcmc.RandomWalk(2.0)], [3, 1])
    mover = mixture.start(5, 1, np.random.default_rng(3))
    chosen = np.bincount([mover.choose() for _ in range(8000)])
    assert stats.binomtest(int(chosen[1]), 8000, 0.25).pvalue > 1e-6


def likelihood_of(features, labels):
    def log_likelihood(n, points):
        s = features[n] @ points.T
        return labels[n, None] * s - np.logaddexp(0.0, s)

    return log_likelihood


def test_laplace_equals_newton_step_of_a_control():
    features, labels, mode, covariance = logistic_problem(3, 3000, [0.5, -0.3, 1.5])
    found = mcmc.laplace(likelihood_of(features, labels), 3000, 3)
    deviations = np.sqrt(np.diagonal(covariance))
    assert np.abs((found.mode - mode) / deviations).max() < 1e-3
    assert np.abs(found.covariance - covariance).max() < 2e-3 * deviations.max()**2
    p = special.expit(features @ (mode + 0.1 * deviations))
    control = mcmc.GLMControl(features, labels - p, -p * (1 - p), mode + 0.1 * deviations)
    for prior in (0.0, 2.0, [2.0, 2.0, 2.0], 2.0 * np.eye(3)):
        proposal = mcmc.Preconditioned.from_control(control, prior_precision=prior)
        precision = np.linalg.inv(covariance) + np.eye(3) * np.max(prior)
        middle = np.linalg.solve(precision, np.linalg.solve(covariance, mode))
        assert np.abs((proposal.mode - middle) / deviations).max() < 0.02
        assert np.abs(proposal.covariance @ precision - np.eye(3)).max() < 0.05


def test_laplace_finds_a_mode_far_from_the_start():
    """Laplace's approximation of a normal target is exact; the log prior is half of it."""
    y = np.random.default_rng(1).normal(50.0, 1.0, 1000)
    found = mcmc.laplace(
        lambda n, x: -0.5 * (y[n, None] - x[:, 0])**2 / 4 - 0.5 * (y[n, None] - x[:, 1])**2,
        1000, 2, log_prior=lambda x: -50.0 * float((x[0] - x[1])**2), initial=[-3.0, 200.0])
    precision = np.array([[350.0, -100.0], [-100.0, 1100.0]])
    assert np.allclose(found.mode, y.mean(), atol=1e-4)
    assert np.allclose(found.covariance, np.linalg.inv(precision), rtol=1e-4)


FLAT = np.zeros(2)


@pytest.mark.parametrize("make, kind, words", [
    (lambda: mcmc.Preconditioned(0.0, [[1.0]]), ValueError, "mode"),
    (lambda: mcmc.Preconditioned([0.0], [1.0]), ValueError, "covariance must have shape"),
    (lambda: mcmc.Preconditioned(FLAT, [[1.0, 0.5], [0.0, 1.0]]), ValueError, "symmetric"),
    (lambda: mcmc.Preconditioned(FLAT, [[1.0, 2.0], [2.0, 1.0]]), ValueError, "positive definite"),
    (lambda: mcmc.Preconditioned(FLAT, COVARIANCE, step=1.1), ValueError, "step"),
    (lambda: mcmc.Preconditioned(FLAT, COVARIANCE, target=0.0), ValueError, "target"),
    (lambda: mcmc.Preconditioned(FLAT, COVARIANCE).start(9, 3, None), ValueError, "mode"),
    (lambda: mcmc.Preconditioned.from_control(3), TypeError, "control"),
    (lambda: mcmc.Preconditioned.from_control(mcmc.TaylorControl([0.0], [[1.0]])), ValueError,
     "control must be positive definite"),
    (lambda: mcmc.Preconditioned.from_control(
        mcmc.TaylorControl([0.0], [[1.0]]), prior_precision=-1.0), ValueError, "prior_precision"),
    (lambda: mcmc.Preconditioned.from_control(
        mcmc.TaylorControl(FLAT, [FLAT]), prior_precision=[[1.0, 1.0], [0.0, 1.0]]), ValueError,
     "prior_precision must be symmetric"),
    (lambda: mcmc.Mixture([]), TypeError, "proposals"),
    (lambda: mcmc.Mixture("walk"), TypeError, "proposals"),
    (lambda: mcmc.Mixture([mcmc.RandomWalk(), 3]), TypeError, "proposals"),
    (lambda: mcmc.Mixture([mcmc.Mixture([mcmc.RandomWalk()])]), TypeError, "mixtures"),
    (lambda: mcmc.Mixture([mcmc.RandomWalk()], [1.0, 2.0]), ValueError, "weights"),
    (lambda: mcmc.Mixture([mcmc.RandomWalk()], [0.0]), ValueError, "weights"),
    (lambda: mcmc.laplace(3, 5, 1), TypeError, "log_likelihood"),
    (lambda: mcmc.laplace(lambda n, x: np.zeros(len(n)), 5, 1), ValueError, "shape"),
    (lambda: mcmc.laplace(lambda n, x: np.full((len(n), 2), np.nan), 5, 1), ValueError, "NaN"),
    (lambda: mcmc.laplace(lambda n, x: np.zeros((len(n), 2)), 5, 1), ValueError, "mode"),
    (lambda: mcmc.laplace(lambda n, x: np.ones((len(n), 2)) * x[:, 0]**2, 5, 1), ValueError,
     "mode"),
    (lambda: mcmc.laplace(lambda n, x: np.zeros((len(n), 2)), 5, 1, initial=FLAT), ValueError,
     "initial"),
    (lambda: mcmc.laplace(lambda n, x: np.zeros((len(n), 2)), 5, 1, log_prior=3), TypeError,
     "log_prior"),
])
def test_invalid_arguments_raise(make, kind, words):
    with pytest.raises(kind, match=words):
        make()
