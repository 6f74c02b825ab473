"""Upper bounds with variances, on one core: UCB-V in `simulate`, and bounds on a variance.

Run with ``make bench``. UCB-V: nanoseconds per pull, Bernoulli rewards included. The lower limit
only draws the rewards one by one; it is compared with a plain loop compiled by numba, where
every index is computed at every pull. `kl_variance`: a lower and an upper bound for each of
10,000 statistics. The lower limit takes the two logarithms of the divergence once for each
bound; it is compared with plain bisection compiled by numba, 40 steps per bound.
"""

import math

import numpy as np
import pytest

import pybandit as pb

from native import size

numba = pytest.importorskip("numba")

SIZES = size([10, 1000], [10])
HORIZON = size(100_000, 2_000)
N_BOUNDS, N_PAIRS, DELTA = size(10_000, 100), 200, 8.0


@numba.njit
def numba_ucb_v(means, horizon, rng):
    """Compute all indices at every pull."""
    n = means.size
    pulls, sums, squares = np.zeros(n), np.zeros(n), np.zeros(n)
    for t in range(1, horizon + 1):
        best, largest = t - 1, -1.0
        if t > n:
            level = 1.2 * math.log(t)
            for arm in range(n):
                mean = sums[arm] / pulls[arm]
                variance = max(squares[arm] / pulls[arm] - mean * mean, 0.0)
                index = (mean + math.sqrt(2 * variance * level / pulls[arm])
                         + 3 * level / pulls[arm])
                if index > largest:
                    best, largest = arm, index
        reward = 1.0 if rng.random() < means[best] else 0.0
        pulls[best] += 1
        sums[best] += reward
        squares[best] += reward * reward
    return pulls


@numba.njit
def kl(p, q):
    return ((p * math.log(p / q) if p > 0.0 else 0.0)
            + ((1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if p < 1.0 else 0.0))


@numba.njit
def numba_bounds(statistics, level, lower, upper):
    for i in range(statistics.size):
        p = 2 * statistics[i]
        for side in range(2):
            inside, outside = p, float(side)
            for _ in range(40):
                middle = (inside + outside) / 2
                if kl(p, middle) > level:
                    outside = middle
                else:
                    inside = middle
            if side:
                upper[i] = inside / 2
            else:
                lower[i] = inside / 2


@pytest.mark.parametrize("n_arms", SIZES)
@pytest.mark.parametrize("role", ["rewards alone", "UCBV", "numba UCB-V"])
def test_ucb_v(timed, n_arms, role):
    means, rng = np.linspace(0.1, 0.9, n_arms), np.random.default_rng(1)
    environment = pb.environments.BernoulliBandit(means)
    if role == "rewards alone":
        in_turn = np.arange(HORIZON) % n_arms

        def run():
            environment.pull(in_turn, rng)
    elif role == "UCBV":
        def run():
            pb.simulate(lambda e: pb.policies.UCBV(n_arms), environment, 1, rng=1, n_threads=1,
                        progress=False, max_pulls=HORIZON)
    else:
        def run():
            numba_ucb_v(means, HORIZON, rng)
    timed(f"a pull of UCB-V, K = {n_arms:,}", role, run, per=HORIZON, rounds=5)


@pytest.mark.parametrize("role", ["limit: two logarithms per bound", "kl_variance",
                                  "numba kl_variance"])
def test_kl_variance(timed, role):
    statistics = np.random.default_rng(1).uniform(0.01, 0.49, N_BOUNDS)
    lower, upper = np.empty(N_BOUNDS), np.empty(N_BOUNDS)
    if role.startswith("limit"):
        def run():
            for out in (lower, upper):
                np.log(statistics, out=out)
                np.log1p(statistics, out=out)
    elif role == "kl_variance":
        def run():
            pb.bounds.kl_variance(statistics, N_PAIRS, DELTA)
    else:
        numba_bounds(statistics, DELTA / N_PAIRS, lower, upper)
        expected = pb.bounds.kl_variance(statistics, N_PAIRS, DELTA)
        np.testing.assert_allclose([lower, upper], expected, rtol=1e-6)

        def run():
            numba_bounds(statistics, DELTA / N_PAIRS, lower, upper)
    timed("both bounds on a variance", role, run, per=N_BOUNDS, rounds=20)
