"""`BettingRace(order=)`: an order of the items that the caller drew."""

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
    given = pb.BettingRace(4, 300, value_range=(0, 1), order=order, **options)
    assert given.get_state()["order"].tolist() == order.tolist()
    read = finished(given, SCORES)
    assert read == order[:len(read)].tolist() == finished(drawn, SCORES)
    np.testing.assert_array_equal(given.means, drawn.means)
    assert given.recommend().tolist() == drawn.recommend().tolist()
    again = pb.BettingRace.from_state(given.get_state())
    assert again.get_state()["order"].tolist() == order.tolist()


def test_order_is_copied():
    order = np.arange(300)[::-1].copy()
    race = pb.BettingRace(4, 300, value_range=(0, 1), order=order)
    order[:] = 0
    assert race.ask()[1].max() == 299 and len(finished(race, SCORES)) > 3


@pytest.mark.parametrize("options, words", [
    ({"order": [0, 1, 1]}, "order must be a permutation of the 3 items"),
    ({"order": [0, 1]}, "order must be a permutation of the 3 items"),
    ({"order": [0.5, 1, 2]}, "order must be a permutation of the 3 items"),
    ({"order": [1, 2, 3]}, "order must be a permutation of the 3 items"),
    ({"order": np.nan}, "order"),
    ({"order": [0, 1, 2], "weights": [1, 2, 3]}, "weighted items"),
    ({"order": [0, 1, 2], "n_items": None}, "endless stream")])
def test_bad_orders_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        pb.BettingRace(**{"n_arms": 2, "n_items": 3, "value_range": (0, 1), **options})
