"""Regret on two scaled Bernoulli arms, compared with reference experiments."""

import numpy as np
import pytest

import pybandit as pb

pytestmark = pytest.mark.slow

# V1, V2 - V1, policy, regret at n = 1e5 and 1.96 times its standard error
ROWS = [
    (0.001, 0.005, lambda: pb.policies.UCB1(2), 193.6, 0.4),
    (0.001, 0.005, lambda: pb.policies.UCBV(2), 75.2, 1.0),
    (0.001, 0.005, lambda: pb.policies.UCBV(2, c=1 / 3, zeta=1.0), 39.3, 1.0),
    (0.001, 0.005, lambda: pb.policies.KLUCB(2), 154.6, 0.7),
    (0.05, 0.05, lambda: pb.policies.UCB1(2), 269.0, 5.0),
    (0.05, 0.05, lambda: pb.policies.UCBV(2), 110.0, 2.5),
    (0.05, 0.05, lambda: pb.policies.UCBV(2, c=1 / 3, zeta=1.0), 59.2, 2.1),
    (0.05, 0.05, lambda: pb.policies.KLUCB(2), 114.6, 3.3),
    (0.2, 0.05, lambda: pb.policies.UCB1(2), 265.0, 7.0),
    (0.2, 0.05, lambda: pb.policies.UCBV(2), 160.0, 5.0),
    (0.2, 0.05, lambda: pb.policies.UCBV(2, c=1 / 3, zeta=1.0), 106.0, 5.0),
    (0.2, 0.05, lambda: pb.policies.KLUCB(2), 129.0, 5.0),
]


def squared_loss_bandit(variances):
    """Return rewards 1 - X^2, X = 1/2 + s (Z - 1/2), s = 2 sqrt(V): two values with equal odds."""
    scales = 2.0 * np.sqrt(variances)
    high, low = 1.0 - (0.5 - scales / 2) ** 2, 1.0 - (0.5 + scales / 2) ** 2
    return pb.environments.ScaledBernoulliBandit((high + low) / 2, high - low, 0.5)


@pytest.mark.parametrize("variance, gap, make, regret, margin", ROWS)
def test_regret_matches_reference(variance, gap, make, regret, margin):
    bandit = squared_loss_bandit(np.array([variance, variance + gap]))
    assert bandit.means[0] - bandit.means[1] == pytest.approx(gap)
    result = pb.simulate(lambda e: make(), bandit, 400, rng=2014, max_pulls=100_000, n_threads=2)
    own = result.cumulative_regrets.std(ddof=1) / 20
    assert abs(result.mean_cumulative_regret - regret) < 4 * np.hypot(own, margin / 1.96), result
