"""Error probabilities in the settings of Lalitha et al. 2023, compared with independent runs.

Takes about five minutes on two cores. Seeds are fixed, so results repeat exactly.
"""

import math

import numpy as np
import pytest
from scipy import stats

import pybandit as pb

from policies.reference import tables

pytestmark = pytest.mark.slow

N_RUNS = 5000
CELLS = tables.halving_cells()


def gaps_of(bandit):
    """Return the distance of every mean to the largest mean among the other arms."""
    best, second = np.sort(bandit.means)[[-1, -2]]
    return np.where(bandit.means == best, best - second, best - bandit.means)


def width_of(bandit, n):
    """Return the constant b of the paper: the largest plausible reward."""
    return (bandit.means + np.sqrt(bandit.variances * np.log(n))).max()


def scale_of(bandit, constant):
    """Return the factor by which the paper multiplies complexities."""
    return 4 * np.log2(bandit.n_arms) / constant


def gap_e(bandit, n):
    b = width_of(bandit, n)
    complexity = (b**2 / gaps_of(bandit) ** 2).sum() * scale_of(bandit, 144)
    return pb.policies.GapE(bandit.n_arms, budget=n, value_range=b, complexity=complexity)


def gap_ev(bandit, n):
    b, gaps, deviations = width_of(bandit, n), gaps_of(bandit), np.sqrt(bandit.variances)
    terms = (deviations + np.sqrt(bandit.variances + 16 / 3 * b * gaps)) ** 2 / gaps**2
    return pb.policies.GapEV(bandit.n_arms, budget=n, value_range=b,
                             complexity=terms.sum() * scale_of(bandit, 512))


def adaptive_gap_ev(bandit, n):
    return pb.policies.GapEV(bandit.n_arms, budget=n, value_range=width_of(bandit, n),
                             complexity_scale=scale_of(bandit, 512))


POLICIES = {
    "Uniform": lambda bandit, n: pb.policies.Uniform(bandit.n_arms, budget=n),
    "SequentialHalving": lambda bandit, n: pb.policies.SequentialHalving(bandit.n_arms, budget=n),
    "SHVar": lambda bandit, n: pb.policies.SHVar(bandit.n_arms, budget=n,
                                                 noise_std=bandit.noise_std),
    "SHAdaVar": lambda bandit, n: pb.policies.SHAdaVar(bandit.n_arms, budget=n),
    "SHAdaVar reuse": lambda bandit, n: pb.policies.SHAdaVar(bandit.n_arms, budget=n, reuse=True),
    "GapE": gap_e,
    "GapE-V": gap_ev,
    "A-GapE-V": adaptive_gap_ev,
    "VBR": lambda bandit, n: pb.policies.VBR(bandit.n_arms, budget=n),
}


def bandit_of(setting, n_arms):
    """Return an environment that differs per run; in setting B even arms are the noisy ones."""
    i = np.arange(n_arms)
    mean = 1 - np.sqrt(i / n_arms)
    noisy = i % 2 == (setting == "A")

    def draw(rng):
        means = mean + rng.normal(0, 0.05, n_arms)
        variances = np.where(noisy, 0.9 * mean**2 + 0.1, 0.1) * rng.uniform(0.5, 1.5, n_arms)
        return pb.environments.GaussianBandit(means, np.sqrt(variances))

    return draw


def test_all_cells_are_present():
    assert len(CELLS) >= 100 and {cell["policy"] for cell in CELLS} == set(POLICIES)


@pytest.mark.parametrize(
    "cell", CELLS, ids=lambda c: f"{c['setting']}-{c['policy']}-{c['K']}-{c['n']}")
def test_errors_match_known_values(cell):
    """Compares by the difference of two binomials, at 1 % for all cells together."""
    policy = POLICIES[cell["policy"]]
    result = pb.simulate(lambda bandit: policy(bandit, cell["n"]),
                         bandit_of(cell["setting"], cell["K"]), N_RUNS, rng=2023 + cell["n"])
    expected, runs = cell["error"], cell["runs"]
    pooled = (expected * runs + result.errors.sum()) / (runs + N_RUNS)
    deviation = math.sqrt(pooled * (1 - pooled) * (1 / runs + 1 / N_RUNS))
    width = stats.norm.isf(0.01 / 2 / len(CELLS)) * deviation
    assert abs(result.error_probability - expected) < width, (result, cell)
