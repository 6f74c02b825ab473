"""Kernels fitted again during a run: hyperparameters, restored policies, invalid input."""

import pickle

import numpy as np
import pytest

import pybandit as pb
from pybandit.policies.correlated import _gaussian

from policies import protocol
from policies.gaussian_arms import NAMES


def wiggly(rng, length_scale, n=40):
    """Return points, and a function whose kernel differs much from the initial one of policies."""
    points = np.linspace(0.0, 10.0, n)[:, None]
    G = np.exp(-0.5 * (points - points.T) ** 2 / length_scale**2)
    return points, rng.multivariate_normal(np.zeros(n), G + 1e-10 * np.eye(n))


def refitting(name, budget=61, **options):
    points, means = wiggly(np.random.default_rng(3), 2.0)
    policy = getattr(pb.policies, name)(len(points), budget=budget, kernel=pb.kernels.rbf(0.3),
                                        features=points, noise_std=0.5, refit_every=20, **options)
    return policy, means


@pytest.mark.some(3)
@pytest.mark.parametrize("name", NAMES)
def test_refit_gives_posterior_of_best_hyperparameters(name):
    process = pytest.importorskip("sklearn.gaussian_process")
    rng, pairs = np.random.default_rng(5), []
    policy, means = refitting(name)
    points = np.linspace(0.0, 10.0, 40)[:, None]
    while policy.n_pulls < 60:
        assert policy.prior_std == 1.0 or policy.n_pulls >= 20
        arms = policy.ask()
        rewards = rng.normal(means[arms], 0.05)
        pairs.append((arms[0], rewards[0]))
        policy.tell(arms, rewards)
    assert policy.noise_std < 0.2 and policy.prior_std != 1.0
    arms, rewards = map(np.array, zip(*pairs, strict=True))
    kernel = policy._fitted_kernel()
    assert kernel.length_scale > 0.6
    exact = process.GaussianProcessRegressor(
        process.kernels.ConstantKernel(policy.prior_std**2) * kernel, optimizer=None,
        alpha=policy.noise_std**2).fit(points[arms], rewards)
    mean, std = exact.predict(points, return_std=True)
    np.testing.assert_allclose(policy.posterior_means, mean, atol=1e-6)
    np.testing.assert_allclose(policy.posterior_std, std, atol=1e-6)


@pytest.mark.some(2)
@pytest.mark.parametrize("name", NAMES)
def test_refitted_policy_resumes_bit_for_bit(name):
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(6)
    options = dict(rng=4) if name == "GaussianThompson" else {}
    (one, means), (other, _) = (refitting(name, **options) for _ in range(2))
    while not one.done:
        arms = one.ask()
        assert other.ask().tolist() == arms.tolist()
        rewards = rng.normal(means[arms], 0.05)
        if one.n_pulls == 7:
            rewards[:] = np.nan
        one.tell(arms, rewards, missing="drop")
        other.tell(arms, rewards, missing="drop")
        if one.n_pulls % 13 == 0:
            other = pickle.loads(pickle.dumps(other))
    np.testing.assert_array_equal(other.posterior_means, one.posterior_means)
    assert other.noise_std == one.noise_std


def test_refits_are_the_same_in_simulate():
    pytest.importorskip("sklearn")
    _, means = refitting("GPUCB")
    bandit = pb.environments.GaussianBandit(means, 0.05)
    first, second = (pb.simulate(lambda e: refitting("GPUCB")[0], bandit, 2, rng=1, n_threads=n)
                     for n in (1, 2))
    assert first.to_dict() == second.to_dict() and (first.pulls == 61).all()


def test_refits_require_a_kernel_that_can_be_fitted():
    with pytest.raises(ValueError, match="kernel must be a kernel of scikit-learn.*ndarray"):
        pb.policies.GPUCB(len(np.eye(3)), budget=9, kernel=np.eye(3), noise_std=1.0, refit_every=2)
    pytest.importorskip("sklearn")
    for options, error, message in [
            (dict(noise_std=None), ValueError, "noise_std must be a number, the initial value"),
            (dict(refit_every=0), ValueError, "refit_every must be at least 1; got 0"),
            (dict(refit_every=1.5), TypeError, "refit_every must be an integer")]:
        with pytest.raises(error, match=message):
            pb.policies.GPUCB(len(np.eye(3)), budget=9, kernel=pb.kernels.rbf(), features=np.eye(3),
                              **{"noise_std": 1.0, "refit_every": 2, **options})


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_failing_refit_raises_and_changes_nothing(error, monkeypatch):
    x = np.linspace(0.0, 3.0, 6)[:, None]
    policy = pb.policies.BayesGap(len(x), budget=12, kernel=pb.kernels.rbf(1.0), features=x,
                                  noise_std=0.3, refit_every=4)
    for _ in range(3):
        policy.tell(policy.ask(), [0.5])
    before = protocol.frozen(policy.get_state())

    def fails(*arguments):
        raise error("in the kernel")

    refitted = _gaussian.refitted
    monkeypatch.setattr(_gaussian, "refitted", fails)
    for _ in range(2):
        with pytest.raises(error, match="in the kernel"):
            policy.tell(policy.ask(), [0.25])
        assert protocol.frozen(policy.get_state()) == before
    monkeypatch.setattr(_gaussian, "refitted", refitted)
    policy.tell(policy.ask(), [0.25])
    assert policy.n_pulls == 4


def test_failing_refit_in_simulate_invalidates_the_policy(monkeypatch):
    def fails(*arguments):
        raise ZeroDivisionError("in the kernel")

    monkeypatch.setattr(_gaussian, "refitted", fails)
    created, x = [], np.linspace(0.0, 3.0, 6)[:, None]

    def factory(environment):
        created.append(pb.policies.GPUCB(len(x), budget=12, kernel=pb.kernels.rbf(1.0), features=x,
                                      noise_std=0.3, refit_every=4))
        return created[-1]

    with pytest.raises(ZeroDivisionError, match="in the kernel"):
        pb.simulate(factory, pb.environments.GaussianBandit(np.zeros(6)), 2, rng=1)
    errors = []  # the second run may fail in another thread before the first has started
    for policy in created:
        try:
            policy.ask()
        except RuntimeError as error:
            errors.append(error)
    assert errors and all("invalidated by ZeroDivisionError" in str(error) for error in errors)
    assert all(isinstance(error.__cause__, ZeroDivisionError) for error in errors)
