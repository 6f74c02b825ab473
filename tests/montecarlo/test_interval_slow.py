"""Error rates of allocators' intervals on difficult estimators, at every look. Some minutes."""

import pytest
from scipy.stats import binom

from montecarlo.nasty import misses, often

pytestmark = pytest.mark.slow
RUNS, ALPHA = 1000, 0.05
MOST = binom.ppf(0.999, RUNS, ALPHA)


@pytest.mark.parametrize("name", ["coin of .9, B / p", "coin of .99, B / p", "log-normal (1.5)",
                                  "README's three", "three exponentials", "three normals"])
def test_asymptotic_sequence_errs_at_most_alpha(name):
    """There is no guarantee, but the measured error is at most alpha on each of these."""
    missed, _ = misses(name, RUNS, 1000, looks=often(1000), weights="predictable")
    assert missed <= MOST


@pytest.mark.parametrize("name", ["coin of .9, B / p", "coin of .99, B / p", "coin of .01, B / p",
                                  "README's three"])
def test_betting_interval_errs_at_most_alpha(name):
    missed, finite = misses(name, RUNS, 600, looks=range(1, 601, 3), method="betting")
    assert missed <= MOST and finite == RUNS


@pytest.mark.parametrize("name", ["three exponentials", "five exponentials"])
@pytest.mark.parametrize("weights", ["mean", "inverse-variance", "predictable"])
@pytest.mark.parametrize("budget", [150, 600])
def test_one_look_errs_at_most_alpha(name, weights, budget):
    missed, _ = misses(name, RUNS, budget, weights=weights, method="normal")
    assert missed <= MOST
