"""Errors and regrets of the policies for correlated arms, compared with reference experiments."""

import numpy as np
import pytest
from scipy.special import ndtri

import pybandit as pb

from policies.reference import tables

pytestmark = pytest.mark.slow

CELLS = tables.gaussian_cells()
N_RUNS, NOISE = 2000, 0.3
# Two tests per cell; all together fail by chance with probability 1 %. The reference used the same
# 500 functions for all policies of a length, so their deviations are correlated.
LIMIT = -ndtri(0.01 / (2 * 2 * len(CELLS)))


def problem(length):
    """Return the kernel of 100 points, and features that generate it."""
    x = np.linspace(0.0, 10.0, 100)
    G = np.exp(-((x[:, None] - x) ** 2) / length**2)
    values, vectors = np.linalg.eigh(G)
    kept = values > 1e-14 * values[-1]
    return G, vectors[:, kept] * np.sqrt(values[kept])


PROBLEMS = {length: problem(length) for length in {cell["length"] for cell in CELLS}}


def independent(cell, environment):
    """Return a policy that ignores correlations; an oracle receives the true complexity."""
    name, knows = cell["policy"].split()
    means = environment.means
    gaps = means.max() - means
    gaps[gaps == 0.0] = gaps[gaps > 0.0].min()
    if name == "UCBE":
        return pb.policies.UCBE(100, budget=cell["budget"], complexity=(1.0 / gaps**2).sum())
    complexity = (4.0 / gaps**2).sum() if knows == "oracle" else None
    return pb.policies.UGapEb(100, budget=cell["budget"], complexity=complexity, noise_std=NOISE)


def policy_of(cell, environment):
    name, *options = cell["policy"].split()
    if name in ("UCBE", "UGapEb"):
        return independent(cell, environment)
    G, X = PROBLEMS[cell["length"]]
    if name == "BayesGap":
        options = dict(n_beta=options[0], recommendation=options[1])
    else:
        options = dict(xi=0.0) if options else {}
    # features, because factoring a kernel in every run would take longer than the run
    arms = dict(features=X) if name == "GaussianThompson" else dict(kernel=G)
    return getattr(pb.policies, name)(100, budget=cell["budget"], **arms, noise_std=NOISE,
                                      **options)


def simulated(cell, n_runs=N_RUNS):
    _, X = PROBLEMS[cell["length"]]

    def environment(rng):
        return pb.environments.GaussianBandit(X @ rng.normal(size=X.shape[1]), NOISE)

    return pb.simulate(lambda e: policy_of(cell, e), environment, n_runs,
                       rng=2014 + CELLS.index(cell), n_threads=2)


def deviations(cell, result):
    """Return deviations of error and regret from the cell, in standard errors of the difference."""
    n, m = result.n_runs, cell["runs"]
    share = (result.errors.sum() + cell["error"] * m) / (n + m)
    of_error = np.sqrt(share * (1.0 - share) * (1.0 / n + 1.0 / m))
    of_regret = np.hypot(result.regrets.std() / np.sqrt(n), cell["regret_margin"] / 1.96)
    return ((result.error_probability - cell["error"]) / of_error,
            (result.mean_regret - cell["regret"]) / of_regret)


@pytest.mark.parametrize("cell", CELLS,
                         ids=lambda c: f"{c['policy']}-{c['length']}-{c['budget']}")
def test_errors_and_regrets_match_reference_cells(cell):
    error, regret = deviations(cell, simulated(cell))
    assert abs(error) < LIMIT and abs(regret) < LIMIT, (error, regret)
