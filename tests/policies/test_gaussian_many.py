"""Many correlated arms: skipping arms and reading them in blocks does not change any pull."""

import math
import pickle

import numpy as np
import pytest

import pybandit as pb

UPPER = ["GPUCB", "BayesUCB"]


def many(rng, K=1500, d=6):
    """Return clustered features, some rows equal and some zero, and the arms' means."""
    X = rng.normal(size=(12, d))[rng.integers(12, size=K)] + 0.2 * rng.normal(size=(K, d))
    X[rng.random(K) < 0.1] = X[0]
    X[rng.random(K) < 0.02] = 0.0
    return X, X @ rng.normal(size=d)


@pytest.mark.parametrize("noise_std", [0.3, 1e-3, None])
@pytest.mark.parametrize("name", UPPER)
def test_reading_posterior_does_not_change_pulls(name, noise_std):
    """Pulls are bitwise equal if the posterior is never read, read every round, or restored."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, means = many(rng)
        alone, watched, resumed = (getattr(pb.policies, name)(len(X), budget=150, features=X,
                                                              noise_std=noise_std)
                                   for _ in range(3))
        while not alone.done:
            arms = alone.ask()
            upper = watched.posterior_means + factor_of(watched, name) * watched.posterior_std
            assert upper[arms[0]] >= upper.max() - 1e-12 * np.abs(upper).max()
            assert watched.ask() == arms and resumed.ask() == arms
            reward = [np.nan] if rng.random() < 0.1 else rng.normal(means[arms], 0.3)
            for policy in alone, watched, resumed:
                policy.tell(arms, reward, missing="drop")
            if rng.random() < 0.1:
                resumed = pickle.loads(pickle.dumps(resumed))
        assert alone.recommend() == watched.recommend() == resumed.recommend()
        assert alone.recommend()[0] == np.argmax(watched.posterior_means)
        for other in watched, resumed:
            np.testing.assert_array_equal(other.posterior_means, alone.posterior_means)
            np.testing.assert_array_equal(other.posterior_std, alone.posterior_std)


def factor_of(policy, name):
    t = policy.n_pulls + 1
    if name == "GPUCB":
        return math.sqrt(2 * math.log(policy.n_arms * t**2 * math.pi**2 / (6 * policy.delta)))
    from scipy.special import ndtri

    return ndtri(1 - 1 / (t + 1))


@pytest.mark.parametrize("name", UPPER)
def test_chosen_arm_matches_full_update_in_numpy(name):
    """Computes all means and variances by the textbook in every round; ties may differ."""
    n_same = 0
    for seed in range(4):
        rng = np.random.default_rng([seed, 1])
        X, means = many(rng)
        policy = getattr(pb.policies, name)(len(X), budget=120, features=X, noise_std=0.3)
        precision, weighted = np.eye(6), np.zeros(6)
        while not policy.done:
            arm = policy.ask()[0]
            covariance = np.linalg.inv(precision)
            upper = X @ covariance @ weighted + factor_of(policy, name) * np.sqrt(
                np.einsum("ki,ij,kj->k", X, covariance, X))
            assert upper[arm] == pytest.approx(upper.max(), rel=1e-9)
            n_same += arm == upper.argmax()
            reward = rng.normal(means[arm], 0.3)
            policy.tell([arm], [reward])
            precision += np.outer(X[arm], X[arm]) / 0.09
            weighted += X[arm] * reward / 0.09
    assert n_same > 0.8 * 4 * 120


@pytest.mark.parametrize("name", UPPER)
def test_rewards_of_unasked_arms_update_the_posterior(name):
    rng = np.random.default_rng(5)
    X, means = many(rng)
    policy, watched = (getattr(pb.policies, name)(len(X), budget=200, features=X, noise_std=None)
                       for _ in range(2))
    for _ in range(40):
        arms = rng.integers(1500, size=3)
        rewards = rng.normal(means[arms], 0.3)
        for one in policy, watched:
            one._take(arms, rewards)
        watched.posterior_std  # noqa: B018
        assert policy.ask() == watched.ask()
        assert policy.noise_estimate == watched.noise_estimate
    np.testing.assert_array_equal(policy.posterior_means, watched.posterior_means)


@pytest.mark.parametrize("n_beta", ["T", "T-K"])
@pytest.mark.parametrize("budget", [60, 3000, 10**6])
def test_bayes_gap_rounds_match_the_paper_over_many_blocks(budget, n_beta):
    """Compares J, j, beta and B with the paper's formulas on the posterior of the round."""
    rng = np.random.default_rng(budget)
    X, means = many(rng)
    policy = pb.policies.BayesGap(len(X), budget=budget, features=X, noise_std=0.3, n_beta=n_beta)
    norms = (X**2).sum(axis=1)
    n = budget if n_beta == "T" else max(budget - 1500, 0)
    numerator = n / 0.09 + (1 / norms[norms > 0]).sum()
    for _ in range(60):
        arm = policy.ask()[0]
        mean, std = policy.posterior_means, policy.posterior_std
        high, low = (others(mean + sign * 3 * std) for sign in (1, -1))
        H = (np.maximum(high - (mean - 3 * std), mean + 3 * std - low) / 2) ** -2.0
        J, j, beta, B = policy._last_round()
        assert beta == pytest.approx(math.sqrt(numerator / (4 * H.sum())), rel=1e-9)
        upper, lower = mean + beta * std, mean - beta * std
        gaps = others(upper) - lower
        assert gaps.argmin() == J and B == pytest.approx(gaps[J], rel=1e-12)
        upper[J] = -np.inf
        assert upper.argmax() == j
        assert arm in (J, j) and std[arm] == max(std[J], std[j])
        policy.tell([arm], rng.normal(means[[arm]], 0.3))


def others(values):
    """Return, for each entry, the largest of the other entries."""
    second, first = np.argsort(values)[-2:]
    out = np.full(values.size, values[first])
    out[first] = values[second]
    return out
