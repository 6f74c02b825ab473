"""Error rates of confidence sequences over whole populations, and their widths."""

import functools
import math

import numpy as np
import pytest
from scipy import stats

import pybandit as pb

pytestmark = pytest.mark.slow

ALPHA = 0.05
METHODS = ["betting", "empirical-bernstein", "hoeffding"]


@functools.cache
def population(kind, size):
    rng = np.random.default_rng(2024)
    if kind == "lognormal":
        values = rng.lognormal(size=size)
        top = np.quantile(values, 0.999)
        return np.minimum(values, top) / top
    if kind == "uniform":
        return rng.random(size)
    values = np.zeros(size)
    values[: round({"bernoulli .1": 0.1, "bernoulli .002": 0.002}[kind] * size)] = 1.0
    return values


KINDS = ["uniform", "bernoulli .1", "bernoulli .002", "lognormal"]


def misses(orders, mean, **options):
    """Return in how many orders the bounds ever exclude the mean."""
    count = 0
    for x in orders:
        lower, upper = pb.confidence_sequence(x, delta=ALPHA, **options)
        count += bool((lower > mean + 1e-9).any() or (upper < mean - 1e-9).any())
    return count


@pytest.mark.parametrize("size, n_runs", [(2_000, 1_500), (10_000, 100)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_bounds_miss_at_most_alpha(method, kind, size, n_runs):
    """A miss at any time counts, up to the last value."""
    values, rng = population(kind, size), np.random.default_rng(61)
    orders = (rng.permutation(values) for _ in range(n_runs))
    missed = misses(orders, values.mean(), population_size=size, method=method)
    assert missed <= stats.binom.ppf(0.999, n_runs, ALPHA), missed / n_runs
    if method == "betting" and kind == "uniform" and n_runs >= 1_000:
        # the permitted error is nearly reached: .0385 here
        assert missed >= 0.025 * n_runs, missed / n_runs


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_bounds_of_independent_values_miss_at_most_alpha(method, kind):
    values, rng, n_runs = population(kind, 2_000), np.random.default_rng(62), 1_000
    samples = (rng.choice(values, 2_000) for _ in range(n_runs))
    missed = misses(samples, values.mean(), method=method)
    assert missed <= stats.binom.ppf(0.999, n_runs, ALPHA), missed / n_runs


# Half-widths at n/N = .5 and .9 of N = 100,000, by an independent program; each interval is
# the average over a few orders. Its bets are not in units of the deviation, and give .00099 for the
# coins at .9, where bisection of ours gives .00111.
KNOWN_WIDTHS = {
    "uniform": (0.00262, 0.00094),
    "bernoulli .1": (0.00302, 0.00111),
    "lognormal": (0.00090, 0.00031),
}


@pytest.mark.parametrize("kind", KNOWN_WIDTHS)
def test_late_widths_match_known_numbers(kind):
    size, rng, widths = 100_000, np.random.default_rng(63), []
    for _ in range(60):
        lower, upper = pb.confidence_sequence(rng.permutation(population(kind, size))[:90_000],
                                              population_size=size or math.inf)
        widths.append((upper - lower)[[49_999, 89_999]] / 2)
    mean, error = np.mean(widths, axis=0), np.std(widths, axis=0) / np.sqrt(len(widths))
    for found, spread, known in zip(mean, error, KNOWN_WIDTHS[kind], strict=True):
        assert abs(found - known) <= 0.05 * known + 3 * spread, (kind, found, known)
