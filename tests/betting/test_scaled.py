"""Bets in units of the standard deviation: exact means, published numbers, the reference."""

import itertools
import math

import numpy as np
import pytest

from pybandit.betting._scaled import log_wealth, mixture

from betting.reference import scaled as twin

MIXTURES = {"finite": (twin.FINITE, 1000), "endless": (twin.ENDLESS, math.inf)}
PLACES = np.arange(300)
A = ((PLACES * 37) % 100 < 72).astype(float)
B = ((PLACES * 53 + 11) % 100 < 64).astype(float)
A[(B == 0) & (PLACES % 4 == 0)] = 1.0


def wealth(x, mean, population_size=math.inf, planned=None, most=math.inf, delta=0.05):
    """Return the log wealth against both one-sided hypotheses, shape (2, n)."""
    return log_wealth(np.asarray(x, float), mean, delta, population_size=population_size,
                      planned=planned, most=most)


@pytest.mark.parametrize("name, size, planned", [
    ("finite", None, None), ("finite", None, 300), ("finite", 400, None), ("finite", 400, 300),
    ("endless", None, None), ("endless", None, 100_000)])
def test_wealth_matches_the_reference(name, size, planned):
    rng = np.random.default_rng(3)
    for x in (rng.random(350), A, np.zeros(300), np.ones(300), rng.beta(10, 30, 390)):
        bets = twin.mixture(MIXTURES[name][0], planned)
        found = wealth(x, 0.3, size or math.inf, planned, MIXTURES[name][1])
        for side, (values, mean) in enumerate([(x, 0.3), (1 - x, 0.7)]):
            expected = twin.log_wealth(values, mean, bets, 0.05, size)
            # a population may prove the mean impossible; then both are large and differ by rounding
            fine = np.isfinite(expected) & (np.abs(expected) < 1e4)
            np.testing.assert_allclose(found[side][fine], expected[fine], rtol=1e-9, atol=1e-9)


def test_mixtures_are_those_of_the_reference():
    for rows, size in MIXTURES.values():
        for planned in (None, 300 if size == 1000 else 100_000):
            mixed = mixture(size, planned)
            np.testing.assert_allclose(mixed.T, twin.mixture(rows, planned), rtol=1e-15)
            assert mixed[:, 2].sum() == pytest.approx(1.0)
    assert len(mixture(30_000)) == 15 and len(mixture(30_001)) == 17


def test_wealth_matches_published_numbers():
    """Log wealth of the finite mixture against .5 after 25 and 100 values, without a plan."""
    found = wealth(A, 0.5, most=1000)[0, [24, 99]]
    np.testing.assert_allclose(found, [2.552602962517, 9.655566444478], rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", MIXTURES)
@pytest.mark.parametrize("law", [{0.0: 0.3, 0.5: 0.4, 1.0: 0.3}, {0.0: 0.75, 1.0: 0.25}])
def test_mean_wealth_over_all_paths_is_one(name, law):
    """A bet that looked at its own value would have another mean."""
    mean, total = sum(value * p for value, p in law.items()), np.zeros(2)
    for path in itertools.product(law, repeat=7):
        weight = math.prod(law[value] for value in path)
        total += weight * np.exp(wealth(path, mean, most=MIXTURES[name][1])[:, -1])
    np.testing.assert_allclose(total, 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("planned", [None, 5])
def test_mean_wealth_over_all_orders_is_one(planned):
    values, total = [0.0, 0.1, 0.4, 0.4, 0.9, 1.0], np.zeros(2)
    orders = list(itertools.permutations(values))
    for order in orders:
        total += np.exp(wealth(order[:5], np.mean(values), 6, planned)[:, -1])
    np.testing.assert_allclose(total / len(orders), 1.0, rtol=0, atol=1e-7)


def test_wealth_neither_overflows_nor_underflows():
    logs = wealth(np.ones(20_000), 0.5)
    assert np.isfinite(logs).all()
    assert logs[0, -1] > 5_000 and logs[1, -1] < -5
    assert (np.diff(logs[0]) > 0).all() and (np.diff(logs[1]) < 0).all()


def test_planned_bet_has_half_of_the_wealth():
    assert mixture(planned=900)[-1].tolist() == [0.1, 0.0, 0.5, 0.6]
