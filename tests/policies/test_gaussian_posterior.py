"""The joint posterior of arms' means: formula, sign of variances, equal arms, draws."""

import numpy as np
import pytest

import pybandit as pb

from policies.gaussian_arms import smooth_kernel
from policies.reference import gaussian as plain


def after(policy, n, rng):
    """Report n rewards to the policy; return the arms and the rewards."""
    seen, rewards = [], []
    for _ in range(n):
        arms = policy.ask()
        rewards.append(float(rng.normal()))
        seen.append(int(arms[0]))
        policy.tell(arms, rewards[-1:])
    return seen, rewards


@pytest.mark.parametrize("noise_std", [0.3, 0.03, 1e-3])
@pytest.mark.parametrize("K, d", [(100, 7), (40, 60), (25, 24), (100, None)])
@pytest.mark.parametrize("name", ["GPUCB", "ProbabilityOfImprovement", "GaussianThompson"])
def test_posterior_matches_formula_after_1000_pulls(name, K, d, noise_std):
    rng = np.random.default_rng([K, d or 0])
    X = None if d is None else rng.normal(size=(K, d)) / np.sqrt(d)
    G = smooth_kernel(K, 0.4) if d is None else X @ X.T
    stream = dict(rng=1) if name == "GaussianThompson" else {}
    policy = getattr(pb.policies, name)(K, budget=1000, kernel=G if d is None else None, features=X,
                                        noise_std=noise_std, prior_std=1.5, **stream)
    seen, rewards = after(policy, 1000, rng)
    # long double, because the formula loses digits if the noise is small
    mean, covariance = long_posterior(G, seen, rewards, noise_std, 1.5)
    # with noise 1e-3 the problem is ill-conditioned: rewards of size 1 are 1,000 times the noise
    margin = {0.3: 1e-10, 0.03: 1e-9, 1e-3: 1e-6}[noise_std]
    assert np.abs(policy.posterior_means - mean).max() < margin
    assert np.abs(policy.posterior_std**2 - covariance.diagonal()).max() < 1e-10
    assert (np.asarray(policy.get_state()["progress"]["posterior_variances"]) >= 0.0).all()


def long_posterior(G, arms, rewards, noise_std, prior_std):
    """Compute the textbook formula in extended precision, by Cholesky."""
    seen, at = np.unique(arms, return_inverse=True)
    counts = np.bincount(at)
    y = np.bincount(at, weights=rewards) / counts
    prior = np.longdouble(prior_std) ** 2 * G.astype(np.longdouble)
    A = prior[np.ix_(seen, seen)] + np.diag(np.longdouble(noise_std) ** 2 / counts)
    n = len(seen)
    L = np.zeros_like(A)
    rows = np.concatenate([y[:, None].astype(np.longdouble), prior[seen]], axis=1)
    for j in range(n):
        L[j, j] = np.sqrt(A[j, j] - L[j, :j] @ L[j, :j])
        L[j + 1:, j] = (A[j + 1:, j] - L[j + 1:, :j] @ L[j, :j]) / L[j, j]
        rows[j] = (rows[j] - L[j, :j] @ rows[:j]) / L[j, j]
    return (rows[:, 1:].T @ rows[:, 0]).astype(float), (prior - rows[:, 1:].T @ rows[:, 1:]).astype(
        float)


@pytest.mark.parametrize("as_kernel", [False, True])
def test_variance_of_one_arm_stays_positive(as_kernel):
    """The variance stays at the known 1 / (n / noise^2 + 1) despite rounding."""
    X = np.array([[1.0, 0.0], [1.0, 1e-9], [0.0, 0.5]])
    arms = dict(kernel=X @ X.T) if as_kernel else dict(features=X)
    policy = pb.policies.ProbabilityOfImprovement(3, budget=3000, **arms, noise_std=1e-3)
    seen = np.zeros(3)
    while not policy.done:
        arm = policy.ask()
        policy.tell(arm, [1.0 if arm[0] < 2 else -1.0])
        seen[arm] += 1
        assert (policy.posterior_std >= 0.0).all() and np.isfinite(policy.posterior_means).all()
    assert seen.max() > 1000
    state = policy.get_state()["progress"]
    exact = 1.0 / ((seen[0] + seen[1]) / 1e-6 + 1.0)
    assert state["posterior_variances"][0] == pytest.approx(exact, rel=1e-5, abs=1e-15)


def test_equal_arms_keep_equal_posteriors():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(6, 4))[[0, 1, 2, 1, 3, 4, 2, 0, 5]]
        for arms in dict(kernel=X @ X.T), dict(features=X):
            if "kernel" in arms:  # BLAS may round equal products differently
                first = np.array([0, 1, 2, 1, 4, 5, 2, 0, 8])
                arms["kernel"] = arms["kernel"][np.ix_(first, first)]
            policy = pb.policies.GPUCB(len(next(iter(arms.values()))), budget=60, **arms,
                                       noise_std=0.2)
            seen, _ = after(policy, 60, rng)
            for values in policy.posterior_means, policy.posterior_std:
                assert values[1] == values[3] and values[2] == values[6] and values[0] == values[7]
            assert not {3, 6, 7} & set(seen)


def test_draw_has_the_posterior_distribution():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(5, 3))
    policy = pb.policies.GaussianThompson(len(X), budget=10**6, features=X, noise_std=0.5, rng=1)
    seen, rewards = after(policy, 6, rng)
    mean, covariance = plain.posterior(X @ X.T, seen, rewards, 0.5, 1.0)
    draws = np.array([policy._draw(rng.normal(size=3)) for _ in range(40_000)])
    assert np.abs(draws.mean(axis=0) - mean).max() < 6 * np.sqrt(covariance.max() / 40_000)
    assert np.abs(np.cov(draws.T) - covariance).max() < 6 * 1.5 * covariance.max() / 200
    # use normals drawn here: how often each arm is the best
    shares = np.bincount(draws.argmax(axis=1), minlength=5) / 40_000
    policy = pb.policies.GaussianThompson(len(X), budget=4000, features=X, noise_std=0.5, rng=2)
    state = pb.policies.GaussianThompson(len(X), budget=6, features=X,
                                         noise_std=0.5).get_state()["options"]
    assert state["noise_std"] == 0.5
    for arm, reward in zip(seen, rewards, strict=True):
        one = policy.get_state()
        one["progress"]["chosen"] = arm
        policy = pb.policies.GaussianThompson.from_state(one)
        policy.tell([arm], [reward])
    chosen, policy.silent_after = np.zeros(5), None
    while not policy.done:  # lost pulls do not change the posterior
        arm = policy.ask()
        chosen[arm] += 1
        policy.tell(arm, [np.nan], missing="drop")
    assert np.abs(chosen / chosen.sum() - shares).max() < 6 * 0.5 / np.sqrt(chosen.sum()) + 0.02
