"""Policies whose own work is little: whole simulations on one core, compared with plain loops.

Run with ``make bench``; times are nanoseconds per pull. A loop is what a careful user writes with
numba, all runs in one compiled function: it keeps the indices of UCB1, and draws every theta of
Thompson sampling. The limit draws the rewards alone, in one loop.
"""

import numpy as np
import pytest

import pybandit as pb

from native import size

numba = pytest.importorskip("numba")

SIZES = size({10: 1000, 64: 6400, 1000: 20_000}, {10: 1000})
PULLS = size(400_000, 20_000)
SIGMA = 0.5


@numba.njit
def rewards_alone(rng, means, stds, budget, n_runs):
    total = 0.0
    for _ in range(n_runs):
        for t in range(budget):
            arm = t % means.size
            total += means[arm] + stds[arm] * rng.standard_normal()
    return total


@numba.njit
def ucb1(rng, means, stds, budget, n_runs):
    n_arms, errors = means.size, 0
    for _ in range(n_runs):
        sums, pulls, roots = np.empty(n_arms), np.ones(n_arms), np.ones(n_arms)
        for arm in range(n_arms):
            sums[arm] = means[arm] + stds[arm] * rng.standard_normal()
        centres = sums.copy()
        for t in range(n_arms, budget):
            best, largest, a = 0, -np.inf, np.sqrt(2.0 * np.log(t + 1))
            for arm in range(n_arms):
                index = centres[arm] + a * roots[arm]
                if index > largest:
                    best, largest = arm, index
            sums[best] += means[best] + stds[best] * rng.standard_normal()
            pulls[best] += 1
            centres[best], roots[best] = sums[best] / pulls[best], 1.0 / np.sqrt(pulls[best])
        errors += np.argmax(centres) != 0
    return errors / n_runs


@numba.njit
def thompson(rng, means, stds, budget, n_runs):
    n_arms, errors = means.size, 0
    for _ in range(n_runs):
        sums, pulls, widths = np.empty(n_arms), np.ones(n_arms), np.full(n_arms, SIGMA)
        for arm in range(n_arms):
            sums[arm] = means[arm] + stds[arm] * rng.standard_normal()
        centres = sums.copy()
        for _ in range(n_arms, budget):
            best, largest = 0, -np.inf
            for arm in range(n_arms):
                theta = centres[arm] + widths[arm] * rng.standard_normal()
                if theta > largest:
                    best, largest = arm, theta
            sums[best] += means[best] + stds[best] * rng.standard_normal()
            pulls[best] += 1
            centres[best], widths[best] = sums[best] / pulls[best], SIGMA / np.sqrt(pulls[best])
        errors += np.argmax(centres) != 0
    return errors / n_runs


@numba.njit
def shvar(rng, means, stds, budget, n_runs):
    n_arms, errors = means.size, 0
    n_stages = int(np.ceil(np.log2(n_arms)))
    for _ in range(n_runs):
        arms = np.arange(n_arms)
        for _ in range(n_stages):
            n, variances = arms.size, stds[arms] ** 2
            counts, sums = np.zeros(n), np.zeros(n)
            for j in range(budget // n_stages):
                best, largest = j, np.inf
                if j >= n:
                    largest = -np.inf
                    for i in range(n):
                        ratio = variances[i] / counts[i]
                        if ratio > largest:
                            best, largest = i, ratio
                counts[best] += 1
                sums[best] += means[arms[best]] + stds[arms[best]] * rng.standard_normal()
            arms = np.sort(arms[np.argsort(-sums / counts)[:(n + 1) // 2]])
        errors += arms[0] != 0
    return errors / n_runs


LOOPS = {"UCB1": ucb1, "ThompsonSampling": thompson, "SHVar": shvar}
POLICIES = {
    "UCB1": lambda k, n, stds: pb.policies.UCB1(k),
    "ThompsonSampling": lambda k, n, stds: pb.policies.ThompsonSampling(
        k, law="gaussian", noise_std=SIGMA),
    "SHVar": lambda k, n, stds: pb.policies.SHVar(k, budget=n, noise_std=stds),
}


def arms_of(name, n_arms):
    """Return means and standard deviations; only SHVar's arms differ in noise."""
    stds = np.linspace(0.3, 0.9, n_arms) if name == "SHVar" else np.full(n_arms, SIGMA)
    return np.linspace(1.0, 0.0, n_arms), stds


@pytest.mark.parametrize("n_arms", SIZES)
@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("role", ["limit: rewards alone", "numba", "simulate, a policy",
                                  "simulate, a factory"])
def test_few_arms(timed, name, role, n_arms):
    (means, stds), budget = arms_of(name, n_arms), SIZES[n_arms]
    n_runs = max(PULLS // budget, 1)
    if not role.startswith("simulate"):
        loop = rewards_alone if role.startswith("limit") else LOOPS[name]
        loop(np.random.default_rng(1), means, stds, 2 * n_arms, 1)

        def run():
            loop(np.random.default_rng(1), means, stds, budget, n_runs)
    else:
        bandit, policy = pb.environments.GaussianBandit(means, stds), None
        if role.endswith("policy"):
            policy = POLICIES[name](n_arms, budget, stds)

        def run():
            pb.simulate(policy or (lambda e: POLICIES[name](n_arms, budget, stds)), bandit, n_runs,
                        rng=1, max_pulls=budget, n_threads=1, progress=False)
    timed(f"{name}, K = {n_arms}, n = {budget:,}", role, run, per=n_runs * budget, rounds=7)


@pytest.mark.parametrize("name", POLICIES)
def test_errors_are_those_of_the_loop(name):
    """Check that the policy and the loop err about equally often."""
    n_runs, means = 2000, np.r_[0.5, np.full(9, 0.35)]
    stds = arms_of(name, 10)[1]
    bandit = pb.environments.GaussianBandit(means, stds)
    result = pb.simulate(lambda e: POLICIES[name](10, 400, stds), bandit, n_runs, rng=1,
                         max_pulls=400)
    expected = LOOPS[name](np.random.default_rng(2), means, stds, 400, n_runs)
    assert abs(expected - result.error_probability) < 5 * np.sqrt(2 * 0.25 / n_runs)
