"""Policies with a bound on the error: whole simulations on one core, compared with plain loops.

Run with ``make bench``; times are nanoseconds per pull of 20,000 pulls, rewards included. A loop is
what a careful user writes with numba, in one compiled function without a stopping rule: every
posterior draw, bound and statistic is computed before each pull.
"""

import math

import numpy as np
import pytest

import pybandit as pb

from native import size

numba = pytest.importorskip("numba")

SIZES = size([64, 1000], [16])
PULLS, KL_PULLS = size((20_000, 4000), (500, 200))
SIGMA = 0.5


@numba.njit
def kl(p, q):
    q = min(max(q, 1e-15), 1.0 - 1e-15)
    return ((p * math.log(p / q) if p > 0.0 else 0.0)
            + ((1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if p < 1.0 else 0.0))


@numba.njit
def kl_bound(mean, level, outside):
    """Return the farthest point toward `outside`, 0 or 1, of divergence `level`, by bisection."""
    inside = mean
    for _ in range(40):
        middle = (inside + outside) / 2
        if kl(mean, middle) > level:
            outside = middle
        else:
            inside = middle
    return inside


@numba.njit
def top_two(rng, means, n_pulls, draws):
    """Run TopTwo for Gaussian rewards; the leader is a posterior draw, or an upper bound."""
    n_arms = means.size
    sums, pulls = np.empty(n_arms), np.ones(n_arms)
    for arm in range(n_arms):
        sums[arm] = means[arm] + SIGMA * rng.standard_normal()
    for t in range(n_arms, n_pulls):
        leader, largest, level = 0, -np.inf, 2.0 * math.log(t)
        for arm in range(n_arms):
            index = sums[arm] / pulls[arm]
            if draws:
                index += SIGMA * rng.standard_normal() / math.sqrt(pulls[arm])
            else:
                index += SIGMA * math.sqrt(2.0 * level / pulls[arm])
            if index > largest:
                leader, largest = arm, index
        rival, least = 0, np.inf
        for arm in range(n_arms):
            gap = sums[leader] / pulls[leader] - sums[arm] / pulls[arm]
            z = 0.0
            if gap > 0.0:
                z = gap * gap / (2 * SIGMA**2 * (1 / pulls[leader] + 1 / pulls[arm]))
            if arm != leader and z < least:
                rival, least = arm, z
        chosen = leader if rng.random() < 0.5 else rival
        sums[chosen] += means[chosen] + SIGMA * rng.standard_normal()
        pulls[chosen] += 1
    return pulls


@numba.njit
def kl_lucb(rng, means, n_pulls, delta):
    n_arms = means.size
    sums, pulls = np.empty(n_arms), np.ones(n_arms)
    for arm in range(n_arms):
        sums[arm] = rng.random() < means[arm]
    for t in range(n_arms, n_pulls, 2):
        x = math.log((4 * math.e + 2) * n_arms / delta) + 2 * math.log(t)
        rate, top = x + math.log(x), np.argmax(sums / pulls)
        rival, largest = -1, -1.0
        for arm in range(n_arms):
            if arm != top:
                bound = kl_bound(sums[arm] / pulls[arm], rate / pulls[arm], 1.0)
                if bound > largest:
                    rival, largest = arm, bound
        if largest < kl_bound(sums[top] / pulls[top], rate / pulls[top], 0.0):
            break
        for arm in (top, rival):
            sums[arm] += rng.random() < means[arm]
            pulls[arm] += 1
    return pulls


def simulated(policy, bandit, n_pulls):
    return lambda: pb.simulate(policy, bandit, 1, rng=1, max_pulls=n_pulls, n_threads=1,
                               progress=False)


@pytest.mark.parametrize("n_arms", SIZES)
@pytest.mark.parametrize("leader", ["thompson", "ucb"])
@pytest.mark.parametrize("role", ["numba", "TopTwo"])
def test_top_two(timed, role, leader, n_arms):
    means = np.linspace(1.0, 0.0, n_arms)
    if role == "numba":
        top_two(np.random.default_rng(1), means, n_arms + 2, True)

        def run():
            top_two(np.random.default_rng(1), means, PULLS, leader == "thompson")
    else:
        run = simulated(pb.policies.TopTwo(n_arms, noise_std=SIGMA, leader=leader),
                        pb.environments.GaussianBandit(means, SIGMA), PULLS)
    timed(f"a pull of TopTwo, leader {leader!r}, K = {n_arms:,}", role, run, per=PULLS, rounds=5)


@pytest.mark.parametrize("n_arms", SIZES)
@pytest.mark.parametrize("role", ["numba", "KLLUCB"])
def test_kl_lucb(timed, role, n_arms):
    means, n_pulls = np.linspace(0.9, 0.1, n_arms), KL_PULLS if role == "numba" else PULLS
    if role == "numba":
        kl_lucb(np.random.default_rng(1), means, n_arms + 2, 0.05)

        def run():
            kl_lucb(np.random.default_rng(1), means, n_pulls, 0.05)
    else:
        run = simulated(pb.policies.KLLUCB(n_arms), pb.environments.BernoulliBandit(means), n_pulls)
    timed(f"a pull of KLLUCB, K = {n_arms:,}", role, run, per=n_pulls, rounds=3)
