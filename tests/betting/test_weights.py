"""Items with weights: reference implementation, every order by its probability, invalid weights."""

import math

import numpy as np
import pytest

import pybandit as pb

from betting.races import RACE, REWARDS, assert_says, frozen, grouped, play
from betting.reference import weighted as twin
from racing.reference.problems import random_rewards

UNIT = dict(value_range=(0, 1), mixture="product")


def raced(rewards, weights, order=None, **options):
    """Return a race after it has read the items in this order, or in its own order."""
    race = pb.BettingRace(rewards.shape[1], len(rewards), weights=weights, block_size=1,
                          **grouped({**UNIT, "rng": 1, **options}))
    if order is not None:
        race._order = np.array(order)
        race._weigh(race._race)
    return play(race, rewards)


def test_best_arm_race_matches_the_reference():
    ends = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n_items, n_arms = int(rng.choice([9, 60, 200])), int(rng.integers(2, 6))
        rewards = random_rewards(rng, n_items, n_arms)
        weights = rng.exponential(size=n_items) ** 2 + 0.01
        n_bets, delta = int(rng.choice([1, 5, 16])), float(rng.choice([0.3, 0.05]))
        race = raced(rewards, weights, rng=seed, delta=delta, n_bets=n_bets)
        order = race.get_state()["order"]
        alive, n_read = twin.race(rewards[order], weights[order], delta, n_bets)
        assert race.survivors.tolist() == alive and race.pulls.max() == n_read, seed
        ends.add((race.exact, n_read == n_items))
    assert len(ends) > 1


@pytest.mark.parametrize("seed", range(6))
def test_pair_race_matches_the_reference(seed):
    """The first arm decided has two claims against it or makes two itself, each at 4 / delta."""
    rng = np.random.default_rng(seed)
    rewards = random_rewards(rng, 120, 4)
    weights = rng.exponential(size=120) + 0.05
    race = raced(rewards, weights, rng=seed, k=2, delta=0.2)
    order = race.get_state()["order"]
    won = twin.claims(rewards[order], weights[order]) >= np.log(4 / 0.2)
    won = np.maximum.accumulate(won, axis=0)[: race.pulls.max()]
    first = np.flatnonzero(((won.sum(axis=1) >= 2) | (won.sum(axis=2) >= 2)).any(axis=1))
    gone = 120 if not first.size else first[0] + 1
    assert race.pulls.min() == min(gone, race.pulls.max())


@pytest.mark.parametrize("options", [{}, {"k": 2}, {"hybrid": True}, {"epsilon": 0.03},
                                     {"k": 2, "epsilon": 0.03}, {"mixture": "ebmix"}])
@pytest.mark.parametrize("weight", [1.0, 0.25, 7.0])
def test_equal_weights_equal_no_weights(options, weight):
    """Races are equal bit for bit, whatever the sum of the weights."""
    even = pb.BettingRace(4, 300, **grouped({**RACE, **options}))
    same = pb.BettingRace(4, 300, weights=np.full(300, weight), **grouped({**RACE, **options}))
    same._order = even._order.copy()
    same._weigh(same._race)
    play(even, REWARDS), play(same, REWARDS)
    arrays = dict(same._race.arrays)
    assert arrays.pop("left").tolist() == np.arange(300, -1, -1).tolist()
    assert frozen(arrays) == frozen(even._race.arrays)
    assert even.recommend().tolist() == same.recommend().tolist()
    np.testing.assert_allclose(even.means, same.means)


def test_order_is_drawn_by_weight():
    """The first item is drawn by weight, the second by weight among the items left."""
    weights, firsts = np.array([1.0, 2.0, 5.0]), np.zeros((3, 3))
    for seed in range(4000):
        order = pb.BettingRace(2, 3, weights=weights, **{**RACE, "rng": seed})._order
        firsts[order[0], order[1]] += 1
    expected = np.zeros((3, 3))
    for order, chance in twin.orders([1, 2, 5]):
        expected[order[0], order[1]] = chance
    assert np.abs(firsts / 4000 - expected).max() < 0.03


@pytest.mark.some(2)
@pytest.mark.parametrize("delta", [0.25, 0.6])
@pytest.mark.parametrize("options", [dict(k=1, n_bets=3), dict(k=2, n_bets=3),
                                     dict(k=1, mixture="plug-in"), dict(k=2, mixture="plug-in")])
def test_errors_over_every_order_by_its_probability(options, delta):
    """Light items favour the better arm, heavy ones are drawn first: it is lost below delta."""
    weights = [1, 1, 2, 3, 1, 4]
    rewards = np.array([[1, 0, 0], [1, 0, 1], [1, 0, 0], [0, 1, 0], [1, 0, 0], [0.5, 0.4, 0]])
    means = np.array(weights) @ rewards
    assert means.argmax() == 0 and rewards[:, 0].sum() > rewards[:, 1].sum()
    right, lost = set(np.argsort(-means)[:options["k"]].tolist()), 0.0
    for order, chance in twin.orders(weights):
        race = raced(rewards, np.array(weights, dtype=float), order, delta=delta, **options)
        lost += float(chance) * (set(race.recommend().tolist()) != right)
    assert lost <= delta


def test_completely_read_items_have_exact_means():
    weights = np.random.default_rng(2).exponential(size=300) + 0.1
    rewards = REWARDS[:, [3, 0, 3]]
    race = raced(rewards, weights)
    means = weights @ rewards / weights.sum()
    assert race.exact and race.recommend()[0] == 0
    full = race.pulls == 300
    assert full.tolist() == [True, False, True]
    np.testing.assert_allclose(race.means[full], means[full])


def test_means_during_the_race_are_unbiased():
    """Items left count as the mean of the items read, so heavy items cause no bias."""
    rng = np.random.default_rng(1)
    weights = np.repeat([1.0, 20.0], 200)
    rewards = np.repeat([0.2, 0.8], 200)[:, None] + 0.1 * rng.random((400, 2))
    found = []
    for seed in range(60):
        race = pb.BettingRace(2, 400, weights=weights, delta=1e-9, max_pulls=200,
                              **{**RACE, "rng": seed})
        found.append(play(race, rewards).means[0])
    assert np.mean(found) == pytest.approx(weights @ rewards[:, 0] / weights.sum(), abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2])
def test_errors_in_ten_thousand_weighted_races_are_at_most_delta(k):
    """Near ties that depend on the weights, and scores related to the weights."""
    rng, delta, n_wrong = np.random.default_rng(11), 0.1, 0
    for seed in range(10_000):
        weights = rng.exponential(size=40) ** 2 + 0.05
        chance = 0.5 + 0.4 * np.sign(weights - 1.0)[:, None] * [1.0, -0.4, 0.0]
        rewards = (rng.random((40, 3)) < chance) * 1.0
        means = weights @ rewards
        race = play(pb.BettingRace(3, 40, k=k, weights=weights, delta=delta,
                                   **{**RACE, "rng": seed}), rewards)
        worst = means[race.recommend()].min()
        n_wrong += worst < np.sort(means)[-k] - 1e-9
    assert n_wrong <= 10_000 * delta


@pytest.mark.parametrize("weights, words", [
    (np.ones(7), ["weights", "(300,)", "(7,)"]), (np.ones((300, 1)), ["weights", "(300, 1)"]),
    (np.append(np.ones(299), 0.0), ["weights", "above 0", "0.0 at index 299"]),
    (np.append(np.ones(299), -1.0), ["weights", "-1.0"]),
    (np.append(np.ones(299), np.nan), ["weights", "nan"]),
    (np.full(300, np.inf), ["weights", "inf"]),
    (np.append(np.ones(299), 1e-12), ["weights", "at least 1e-09 of the largest", "index 299"]),
    (np.ma.masked_array(np.ones(300), mask=np.arange(300) == 3), ["weights", "masked"])])
def test_invalid_weights_raise(weights, words):
    with pytest.raises(ValueError) as caught:
        pb.BettingRace(4, 300, weights=weights, **RACE)
    assert_says(caught.value, *words)


@pytest.mark.parametrize("options",
                         [dict(n_items=None), dict(n_items=300, population_size=math.inf),
                          dict(n_items=300, population_size=400)])
def test_weights_raise_unless_the_question_is_about_these_items(options):
    with pytest.raises(ValueError, match="weights must be left out unless"):
        pb.BettingRace(4, weights=np.ones(300), **options, **RACE)
