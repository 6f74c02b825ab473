"""Reference experiments on estimators of Neufeld et al. 2014: prices, variances, evidence.

About two minutes. Seeds are fixed, so a result repeats exactly.
"""

import math
from pathlib import Path

import numpy as np
import pytest

from pybandit.environments import CIRCaplet, LogisticEvidence

from montecarlo.test_estimators import population_monte_carlo

pytestmark = pytest.mark.slow

PRICES = {0.06: 18.4502722400, 0.07: 9.2567468094, 0.08: 1.8865208223}
# theta = 0, 0.1, ... for strike 0.07; for the other strikes (arm, variance) of 0 and the best
VARIANCES = {
    0.06: {0: 22.06, 3: 1.40615},
    0.07: dict(enumerate([21.47, 13.85, 8.383, 4.764, 2.785, 2.332, 3.368, 5.935, 10.15, 16.22,
                          24.45, 35.28, 49.32, 67.38, 90.61, 120.5])),
    0.08: {0: 7.906, 12: 0.969046},
}
POPULATION = {0.06: 3.9, 0.07: 3.9, 0.08: 1.01}
TABLE = np.loadtxt(Path(__file__).parent / "data" / "ais_tiny.csv", delimiter=",", skiprows=1)
LOG_Z = {5: -3.54127125156440, 10: -6.82154703257868, 50: -33.85061785016038}


@pytest.mark.parametrize("strike", PRICES)
def test_sampled_prices_and_variances_match_references(strike):
    """Means are within 5 standard errors; variances too, and within 2 %."""
    caplet, n = CIRCaplet(strike), 1_000_000
    for arm, variance in VARIANCES[strike].items():
        rewards = caplet.pull(np.full(n, arm), arm)
        assert abs(rewards.mean() - PRICES[strike]) <= 5 * math.sqrt(variance / n)
        squares = (rewards - PRICES[strike]) ** 2
        # the reference is rounded to four digits
        error, noise = abs(squares.mean() - variance), squares.std() / math.sqrt(n)
        assert error <= 5 * noise + 5e-4 * variance
        assert error <= 0.02 * variance or noise > 0.004 * variance


@pytest.mark.parametrize("strike", PRICES)
def test_population_monte_carlo_beats_the_printed_rule(strike):
    """Compare n times the mean squared error, computed from the variance within each run."""
    caplet, found = CIRCaplet(strike), {}
    for rule in ("variance", "printed"):
        runs = [population_monte_carlo(caplet, 100_000, rule=rule, rng=seed)
                for seed in range(30)]
        variances = np.array([run.variance for run in runs])
        errors = np.array([run.estimate for run in runs]) - PRICES[strike]
        assert abs(errors.sum()) <= 5 * math.sqrt(variances.sum() / 100_000)
        found[rule] = variances.mean(), variances.std() / math.sqrt(len(runs))
    mean, error = found["variance"]
    # the reference value has its own error
    assert abs(mean - POPULATION[strike]) <= 4 * error + 0.1 * POPULATION[strike]
    assert mean < 0.75 * found["printed"][0]


@pytest.mark.parametrize("n_rows", LOG_Z)
def test_evidence_of_tiny_tables_matches_quadrature(n_rows):
    evidence = LogisticEvidence(TABLE[:n_rows, :2], labels=TABLE[:n_rows, 2],
                                n_anneals=[1, 10, 400, 2000],
                                log_evidence=LOG_Z[n_rows])
    products = []
    for arm, n in enumerate([1_000_000, 100_000, 2000, 400]):
        rewards, costs = evidence.pull_with_costs(np.full(n, arm), 30 + arm)
        assert abs(rewards.mean() - evidence.means[arm]) <= 4 * rewards.std() / math.sqrt(n)
        products.append(costs.mean() * rewards.var())
    # by cost times variance, the prior alone is far better; more annealing changes little
    assert min(products[1:]) > 15 * products[0]
    assert max(products[1:]) < 2 * min(products[1:])
