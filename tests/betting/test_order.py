"""`BettingRace.in_order`: an order of the items that the caller drew."""

import numpy as np
import pytest

import pybandit as pb

SCORES = np.random.default_rng(1).random((300, 4)) * [0.6, 0.7, 0.8, 1.0]


def finished(race, scores):
    asked = []
    while not race.done:
        arms, items = race.ask()
        race.tell(arms, items, scores[items, arms])
        asked += items.tolist()
    return list(dict.fromkeys(asked))


@pytest.mark.parametrize("options", [{}, {"k": 2}, {"costs": np.arange(1.0, 301)[:, None]},
                                     {"prior_scores": SCORES.mean(axis=1)}])
def test_items_are_read_in_the_given_order(options):
    """It is the race that drew the same order itself, and the race of the table in that order."""
    drawn = pb.BettingRace(4, 300, value_range=(0, 1), rng=7, **options)
    order = drawn.get_state()["order"]
    given = pb.BettingRace.in_order(4, order, value_range=(0, 1), **options)
    assert given.get_state()["order"].tolist() == order.tolist()
    read = finished(given, SCORES)
    assert read == order[:len(read)].tolist() == finished(drawn, SCORES)
    np.testing.assert_array_equal(given.means, drawn.means)
    assert given.recommend().tolist() == drawn.recommend().tolist()
    again = pb.BettingRace.from_state(given.get_state())
    assert again.get_state()["order"].tolist() == order.tolist()


def test_order_is_copied():
    order = np.arange(300)[::-1].copy()
    race = pb.BettingRace.in_order(4, order, value_range=(0, 1))
    order[:] = 0
    assert race.ask()[1].max() == 299 and len(finished(race, SCORES)) > 3


@pytest.mark.parametrize("order, words", [
    ([0, 1, 1], "order must be a permutation of its 3 items"),
    ([0.5, 1, 2], "order must be a permutation"), ([1, 2, 3], "order must be a permutation"),
    ([[0, 1]], "order must be a permutation"), (np.nan, "order must be"),
    (np.ma.array([0, 1, 2], mask=[0, 1, 0]), "order must not be masked"), ([], "n_items")])
def test_bad_orders_are_refused(order, words):
    with pytest.raises(ValueError, match=words):
        pb.BettingRace.in_order(2, order, value_range=(0, 1))


def test_options_that_determine_the_order_are_refused():
    with pytest.raises(ValueError, match="weights must be left out if the order is given"):
        pb.BettingRace.in_order(2, [0, 1, 2], value_range=(0, 1), weights=[1, 2, 3])
    with pytest.raises(TypeError, match="n_items"):
        pb.BettingRace.in_order(2, [0, 1, 2], value_range=(0, 1), n_items=3)
