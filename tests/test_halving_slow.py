"""Error probabilities in the settings of Lalitha et al. 2023, against runs apart from this code.

About two minutes on one core. Seeds are fixed, so a result repeats exactly.
"""

import math

import numpy as np
import pytest
from scipy import stats

import pybandit as pb

from reference import tables

pytestmark = pytest.mark.slow

K, N_RUNS = 64, 5000
CELLS = tables.halving_cells()
POLICIES = {
    "Uniform": lambda bandit, n: pb.Uniform(K, n),
    "SequentialHalving": lambda bandit, n: pb.SequentialHalving(K, n),
    "SHVar": lambda bandit, n: pb.SHVar(K, n, bandit.variances),
    "SHAdaVar": lambda bandit, n: pb.SHAdaVar(K, n),
    "SHAdaVar reuse": lambda bandit, n: pb.SHAdaVar(K, n, reuse=True),
}


def bandit_of(setting):
    """Every run another one; in setting B the arms of even index are the noisy ones."""
    i = np.arange(K)
    mean = 1 - np.sqrt(i / K)
    noisy = i % 2 == (setting == "A")

    def draw(rng):
        means = mean + rng.normal(0, 0.05, K)
        variances = np.where(noisy, 0.9 * mean**2 + 0.1, 0.1) * rng.uniform(0.5, 1.5, K)
        return pb.environments.GaussianBandit(means, variances)

    return draw


def test_cells_are_all_there():
    assert len(CELLS) == 40 and {cell["policy"] for cell in CELLS} == set(POLICIES)


@pytest.mark.parametrize("cell", CELLS, ids=lambda c: f"{c['setting']}-{c['policy']}-{c['n']}")
def test_errors_are_as_known(cell):
    """Within the difference of two binomials, at 1 % for all cells together."""
    policy = POLICIES[cell["policy"]]
    result = pb.simulate(lambda bandit: policy(bandit, cell["n"]), bandit_of(cell["setting"]),
                         N_RUNS, rng=2023 + cell["n"])
    expected, runs = cell["error"], cell["runs"]
    pooled = (expected * runs + result.errors.sum()) / (runs + N_RUNS)
    deviation = math.sqrt(pooled * (1 - pooled) * (1 / runs + 1 / N_RUNS))
    width = stats.norm.isf(0.01 / 2 / len(CELLS)) * deviation
    assert abs(result.error_probability - expected) < width, (result, cell)
