"""The order of items: drawn as far as it is read, or given to `BettingRace.in_order`."""

import numpy as np
import pytest

import pybandit as pb
from pybandit.betting._order import FEWEST_DRAWN
from pybandit.betting._reads import DrawnOrder

from betting.reference.order import order_of

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


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.SFC64])
@pytest.mark.parametrize("n", [1, 2, 3, 63, 64, 65, 66, 1000, 7001])
def test_drawn_order_matches_the_reference(bits, n):
    ours, theirs = (np.random.Generator(bits(n)) for _ in range(2))
    order = DrawnOrder(ours, n).copy()
    assert order.tolist() == order_of(theirs, n)
    assert ours.random() == theirs.random()


@pytest.mark.parametrize("n", [1, 2, 9, 200])
def test_order_does_not_depend_on_what_is_read_first(n):
    whole = DrawnOrder(np.random.default_rng(n), n).copy()
    rng = np.random.default_rng(1)
    for _ in range(20):
        order = DrawnOrder(np.random.default_rng(n), n)
        for _ in range(5):
            first, last = np.sort(rng.integers(n + 1, size=2))
            places = rng.integers(-n, n, size=3)
            assert order[first:last].tolist() == whole[first:last].tolist()
            assert order[first:last:-1].tolist() == whole[first:last:-1].tolist()
            assert order[places].tolist() == whole[places].tolist()
            assert order[int(places[0])] == whole[places[0]]
        assert order.places(whole).tolist() == list(range(n))
        assert np.asarray(order).tolist() == whole.tolist() and len(order) == n
    for wrong in (n, -n - 1, [0, n]):
        with pytest.raises(IndexError):
            DrawnOrder(np.random.default_rng(n), n)[wrong]


@pytest.mark.parametrize("n_items", [FEWEST_DRAWN - 1, FEWEST_DRAWN, FEWEST_DRAWN + 1])
def test_race_is_the_same_whatever_else_the_generator_draws(n_items):
    """The order comes from a private generator, seeded once; to save a race draws all of it."""
    rng, lone = np.random.default_rng(5), np.random.default_rng(5)
    race, other = (pb.BettingRace(4, n_items, value_range=(0, 1), rng=r) for r in (rng, lone))
    again = pb.BettingRace.from_state(race.get_state())
    while not race.done:
        arms, items = race.ask()
        rng.random(7)
        for one in (other, again):
            assert one.ask()[1].tolist() == items.tolist()
        for one in (race, other, again):
            one.tell(arms, items, SCORES[items % 300, arms])
    assert other.done and again.done and len(race.items) < 300
    assert np.sort(other.get_state()["order"]).tolist() == list(range(n_items))


def test_table_race_equals_ask_and_tell_with_an_order_drawn_as_read():
    scores = np.random.default_rng(2).random((FEWEST_DRAWN + 5, 5)) * [0.9, 0.95, 1, 1, 1]
    for gap in (0.0, 0.1):
        scores[:, 0] = np.minimum(scores[:, 0] + gap, 1.0)
        for options in ({}, {"budget": 5_000}):
            found = pb.best_of(scores, value_range=(0, 1), rng=3, progress=False, **options)
            asked = pb.best_of(lambda model, items: scores[items, model], 5, len(scores), rng=3,
                               value_range=(0, 1), progress=False, **options)
            assert found.pulls.tolist() == asked.pulls.tolist()
            assert found.items.tolist() == asked.items.tolist()
            state = found._race.get_state()
            np.testing.assert_array_equal(state["order"], asked._race.get_state()["order"])
            assert len(np.unique(state["order"])) == len(scores)
