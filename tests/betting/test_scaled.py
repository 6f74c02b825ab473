"""Bets in units of the standard deviation: exact means, published numbers, the reference."""

import itertools
import math

import numpy as np
import pytest

from pybandit.betting._mixtures import ENDLESS, FINITE, mixture_for
from pybandit.betting._scaled import log_wealth

from betting.reference import scaled as twin

MIXTURES = {"finite": (FINITE, twin.FINITE, 1000), "endless": (ENDLESS, twin.ENDLESS, math.inf)}
PLACES = np.arange(300)
A = ((PLACES * 37) % 100 < 72).astype(float)
B = ((PLACES * 53 + 11) % 100 < 64).astype(float)
A[(B == 0) & (PLACES % 4 == 0)] = 1.0


def wealth(x, mean, population_size=math.inf, planned=None, known=None, delta=0.05):
    """Return the log wealth against both one-sided hypotheses, shape (2, n)."""
    mixture = mixture_for(population_size if known is None else known, planned)
    return log_wealth(np.asarray(x, float), mean, mixture, population_size, delta)


@pytest.mark.parametrize("planned", [None, 300])
@pytest.mark.parametrize("size", [None, 400])
@pytest.mark.parametrize("name", MIXTURES)
def test_wealth_matches_the_reference(name, size, planned):
    if planned and name == "endless":
        planned = 100_000
    rng = np.random.default_rng(3)
    for x in (rng.random(350), A, np.zeros(300), np.ones(300), rng.beta(10, 30, 390)):
        bets = twin.mixture(MIXTURES[name][1], planned)
        known = 100_000 if name == "endless" else 1000
        found = wealth(x, 0.3, size or math.inf, planned, known)
        for side, (values, mean) in enumerate([(x, 0.3), (1 - x, 0.7)]):
            expected = twin.log_wealth(values, mean, bets, 0.05, size)
            # a population may prove the mean impossible; then both are large and differ by rounding
            fine = np.isfinite(expected) & (np.abs(expected) < 1e4)
            np.testing.assert_allclose(found[side][fine], expected[fine], rtol=1e-9, atol=1e-9)


def test_mixtures_are_those_of_the_reference():
    for ours, theirs, size in MIXTURES.values():
        for planned in (None, 300 if size == 1000 else 100_000):
            mixed = mixture_for(size, planned)
            np.testing.assert_allclose(np.transpose(mixed)[[0, 1, 2, 3]],
                                       twin.mixture(theirs, planned), rtol=1e-15)
            assert sum(bet.weight for bet in mixed) == pytest.approx(1.0)
            assert len(ours) + 1 <= 20


def test_wealth_matches_published_numbers():
    """Log wealth of the finite mixture against .5 after 25 and 100 values, without a plan."""
    found = wealth(A, 0.5, known=1000)[0, [24, 99]]
    np.testing.assert_allclose(found, [2.552602962517, 9.655566444478], rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", MIXTURES)
@pytest.mark.parametrize("law", [{0.0: 0.3, 0.5: 0.4, 1.0: 0.3}, {0.0: 0.75, 1.0: 0.25}])
def test_mean_wealth_over_all_paths_is_one(name, law):
    """A bet that looked at its own value would have another mean."""
    mean, total = sum(value * p for value, p in law.items()), np.zeros(2)
    for path in itertools.product(law, repeat=7):
        weight = math.prod(law[value] for value in path)
        total += weight * np.exp(wealth(path, mean, known=MIXTURES[name][2])[:, -1])
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
    mixed = mixture_for(planned=900)
    assert (mixed[-1].amplitude, mixed[-1].weight, mixed[-1].falls) == (0.1, 0.5, False)
