"""Index policies in `simulate`, Bernoulli rewards included, on one core: nanoseconds per pull.

Run with ``make bench``. The first of a group only draws the same number of rewards one by one
with `BernoulliBandit.pull`. The others are whole runs of `simulate`. For comparison: the same
rules as loops compiled by numba, with every index computed at every pull, and in NumPy.
"""

import math

import numpy as np
import pytest

import pybandit as pb

from native import size

numba = pytest.importorskip("numba")

SIZES = size([10, 1000], [10])
HORIZON = size(100_000, 2_000)
OURS = [name for name in ("UCB1", "UCBV", "KLUCB", "ThompsonSampling")
        if hasattr(pb.policies, name)]


@numba.njit
def kl(p, q):
    q = min(max(q, 1e-15), 1.0 - 1e-15)
    sum = 0.0
    if p > 0.0:
        sum += p * math.log(p / q)
    if p < 1.0:
        sum += (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return sum


@numba.njit
def kl_upper(mean, level):
    low, high = mean, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if kl(mean, middle) > level:
            high = middle
        else:
            low = middle
    return low


@numba.njit
def numba_run(means, horizon, rng, is_kl):
    """Compute all indices at every pull."""
    n = means.size
    pulls, sums = np.zeros(n), np.zeros(n)
    for t in range(1, horizon + 1):
        best, largest = t - 1, -1.0
        if t > n:
            f = math.log(t) + 3 * math.log(math.log(t))
            a = 2 * math.log(t)
            for arm in range(n):
                mean = sums[arm] / pulls[arm]
                if is_kl:
                    index = kl_upper(mean, f / pulls[arm])
                else:
                    index = mean + math.sqrt(a / pulls[arm])
                if index > largest:
                    best, largest = arm, index
        sums[best] += rng.random() < means[best]
        pulls[best] += 1
    return pulls


def numpy_ucb1(means, horizon, rng):
    """Run the rule as a user would write it."""
    sums, pulls = (rng.random(means.size) < means) * 1.0, np.ones(means.size)
    for t in range(means.size + 1, horizon + 1):
        arm = int(np.argmax(sums / pulls + np.sqrt(2 * math.log(t) / pulls)))
        sums[arm] += rng.random() < means[arm]
        pulls[arm] += 1
    return pulls


ROLES = ["rewards alone", *OURS, "numba UCB1", "numba KL-UCB", "NumPy UCB1"]


@pytest.mark.parametrize("n_arms", SIZES)
@pytest.mark.parametrize("role", ROLES)
def test_index(timed, n_arms, role):
    means, rng = np.linspace(0.1, 0.9, n_arms), np.random.default_rng(1)
    horizon, rounds = HORIZON, 7
    environment = pb.environments.BernoulliBandit(means)
    if role == "rewards alone":
        in_turn = np.arange(horizon) % n_arms

        def run():
            environment.pull(in_turn, rng)
    elif role.startswith("n"):
        is_kl = role.endswith("KL-UCB")
        horizon, rounds = (size(5000, 500), 1) if is_kl else (HORIZON, 3)

        def run():
            numba_run(means, horizon, rng, is_kl)
    elif role == "NumPy UCB1":
        horizon, rounds = size(20_000, 500), 1

        def run():
            numpy_ucb1(means, horizon, rng)
    else:
        def run():
            pb.simulate(lambda e: getattr(pb.policies, role)(n_arms), environment, 1, rng=1,
                        n_threads=1, progress=False, max_pulls=horizon)
    timed(f"a pull, K = {n_arms:,}", role, run, per=horizon, rounds=rounds)
