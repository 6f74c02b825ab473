"""Regret of Thompson sampling on two scaled Bernoulli estimators, compared with independent runs.

Neufeld, Gyorgy, Schuurmans and Szepesvari 2014, section 5.1: X = 1/2 + s (Z - 1/2) with a fair
Z, reward 1 - X^2, 100,000 draws.
"""

import numpy as np
import pytest

import pybandit as pb

pytestmark = pytest.mark.slow

N_RUNS = 400


@pytest.mark.parametrize("variance, gap, expected, half_width", [
    (0.001, 0.005, 112.0, 10.0),
    (0.05, 0.05, 42.6, 5.3),
    (0.2, 0.05, 48.1, 5.6),
])
def test_regret_matches_reference(variance, gap, expected, half_width):
    scales = 2.0 * np.sqrt([variance, variance + gap])
    low, high = 1.0 - (0.5 - scales / 2) ** 2, 1.0 - (0.5 + scales / 2) ** 2
    bandit = pb.environments.ScaledBernoulliBandit((low + high) / 2, low - high, 0.5)
    result = pb.simulate(lambda e: pb.policies.ThompsonSampling(2), bandit, N_RUNS, rng=1,
                         max_pulls=100_000, metrics=[second_pulls])
    regrets = gap * result.metrics["second_pulls"]
    error = np.hypot(regrets.std() / np.sqrt(N_RUNS), half_width / 1.96)
    # 5.5 standard errors: runs with an unlucky start make the tail heavy
    assert abs(regrets.mean() - expected) < 5.5 * error


def second_pulls(policy, environment):
    return policy.pulls[1]
