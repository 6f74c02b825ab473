"""Items that are a sample: bets and answers are about the population."""

import functools
import itertools
import math

import numpy as np
import pytest

import pybandit as pb

from betting.races import RACE, REWARDS, assert_says, frozen, play

# Possible items of a small population: the rewards of two arms, and the probability. Arm 0 has a
# mean larger by 0.1.
WORLD = [(1.0, 0.0, 0.45), (0.0, 1.0, 0.35), (1.0, 1.0, 0.2)]


BETS = pb.betting.Bets("product", n_bets=4)


def raced(rewards, **options):
    """Return a race after it has read the rows in their order."""
    race = pb.BettingRace(rewards.shape[1], len(rewards), value_range=(0, 1), rng=1, block_size=1,
                          **options)
    race._order = np.arange(len(rewards))
    return play(race, rewards)


@pytest.mark.parametrize("options", [{}, {"k": 2}, {"epsilon": 0.01},
                                     {"k": 2, "epsilon": 0.01}])
def test_race_on_a_sample_equals_a_race_on_a_stream(options):
    sample = pb.BettingRace(4, 300, population_size=math.inf, **RACE, **options)
    sample._order = np.arange(300)
    stream = pb.BettingRace(4, None, **RACE, **options)
    play(sample, REWARDS), play(stream, REWARDS, sample.pulls.max())
    assert frozen(sample._race.arrays) == frozen(stream._race.arrays)
    assert sample.recommend().tolist() == stream.recommend().tolist()
    assert sample.decided == stream.decided


def test_race_on_a_part_equals_a_race_on_the_whole():
    """A sample of 120 from a population of 300 races like all 300 items, up to item 120."""
    whole = raced(REWARDS, delta=1e-6)
    part = raced(REWARDS[:120], delta=1e-6, population_size=300)
    same = pb.BettingRace(4, 300, value_range=(0, 1), rng=1, block_size=1, delta=1e-6)
    same._order = np.arange(300)
    play(same, REWARDS, 120)
    assert frozen(part._race.arrays) == frozen(same._race.arrays)
    assert part.done and not part.decided and not part.exact and whole.decided
    assert part.survivors.tolist() == same.survivors.tolist()


@pytest.mark.parametrize("population", [math.inf, 301, 10**6])
@pytest.mark.parametrize("make", [pb.BettingRace, pb.BudgetRace, pb.BettingThreshold])
def test_reading_all_items_of_a_sample_does_not_decide(make, population):
    tied = np.repeat(np.random.default_rng(1).random((300, 1)), 3, axis=1)
    options = {pb.BudgetRace: dict(budget=900), pb.BettingThreshold: dict(threshold=tied.mean())}
    race = play(make(3, 300, population_size=population, **RACE, **options.get(make, {})), tied)
    assert race.done and not race.decided and not race.exact and race.pulls.tolist() == [300] * 3
    assert "sample" in repr(race) or f"of {population:,}" in repr(race)
    of_these = play(make(3, 300, **RACE, **options.get(make, {})), tied)
    assert of_these.exact and "sample" not in repr(of_these)
    if make is pb.BudgetRace:
        assert race.error_estimate > 0.5 > of_these.error_estimate


def test_population_of_n_items_is_the_default():
    race = pb.BettingRace(4, 300, population_size=300, **RACE)
    assert race.population_size == 300 and play(race, REWARDS).decided


# -- guarantees -----------------------------------------------------------------


@pytest.mark.parametrize("delta", [0.3, 0.6])
def test_errors_over_all_samples_of_a_small_population(delta):
    """Over all samples of 6 items, the better arm is lost with probability below delta."""
    lost = 0.0
    for drawn in itertools.product(WORLD, repeat=6):
        rewards = np.array([item[:2] for item in drawn])
        race = raced(rewards, delta=delta, population_size=math.inf, bets=BETS)
        lost += np.prod([item[2] for item in drawn]) * (0 not in race.survivors)
    assert lost <= delta
    assert delta < 0.5 or lost > 0.01


def test_errors_over_all_samples_without_replacement():
    """Enumerates all ordered samples of 4 of 7 items."""
    population = np.array([(1, 0), (0, 1), (1, 0), (1, 1), (0, 1), (1, 0), (0, 0)], dtype=float)
    lost = [0 not in raced(population[list(order)], delta=0.6, population_size=7,
                           bets=BETS).survivors
            for order in itertools.permutations(range(7), 4)]
    assert len(lost) == 840 and np.mean(lost) <= 0.6


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["race", "top", "budget"])
def test_errors_in_ten_thousand_samples_are_at_most_delta(kind):
    """Arms .1 standard deviations apart; in a third of the samples of 60 another arm is best."""
    rng, delta, n_wrong, n_other = np.random.default_rng(5), 0.1, 0, 0
    options = dict(k=2) if kind == "top" else dict(budget=170) if kind == "budget" else {}
    make = pb.BudgetRace if kind == "budget" else pb.BettingRace
    chance = np.array([0.53, 0.5, 0.5])
    right = {0}
    for seed in range(10_000):
        rewards = (rng.random((60, 1)) * 0.5 + rng.random((60, 3)) * 0.5 < chance) * 1.0
        race = play(make(3, 60, population_size=math.inf, delta=delta, value_range=(0, 1), rng=seed,
                         **options), rewards)
        answer = race.recommend() if race.decided else (
            np.arange(3) if kind != "race" else race.survivors)
        n_wrong += not right <= set(answer.tolist())
        n_other += int(rewards.mean(axis=0).argmax()) != 0
    assert n_wrong <= 10_000 * delta
    assert n_other > 10_000 * delta  # an answer about the items alone would be wrong too often


@pytest.mark.slow
@pytest.mark.parametrize("budget", [None, 150])
def test_errors_in_ten_thousand_samples_of_a_hundred_are_at_most_delta(budget):
    """60 of 100 items are read. One item decides among all, and often not among those read."""
    rng, delta, n_wrong, n_other = np.random.default_rng(9), 0.1, 0, 0
    make = (pb.BettingRace if budget is None else
            functools.partial(pb.BudgetRace, budget=budget))
    for seed in range(10_000):
        world = np.column_stack([rng.permutation(np.arange(100) < wins) for wins in (51, 50, 50)])
        sample = world[rng.permutation(100)[:60]] * 1.0
        race = play(make(3, 60, population_size=100, delta=delta, value_range=(0, 1), rng=seed),
                    sample)
        answer = race.recommend() if race.decided else np.arange(3) if budget else race.survivors
        n_wrong += 0 not in answer
        n_other += int(sample.mean(axis=0).argmax()) != 0
    assert n_wrong <= 10_000 * delta
    assert n_other > 10_000 * delta


@pytest.mark.parametrize("population, error, words", [
    ("sample", TypeError, ["population_size", "math.inf", "'sample'"]),
    (299, ValueError, ["population_size", "at least 300", "299"]),
    (2.5, TypeError, ["population_size", "integer", "2.5"])])
def test_invalid_populations_raise(population, error, words):
    with pytest.raises(error) as caught:
        pb.BettingRace(4, 300, population_size=population, **RACE)
    assert_says(caught.value, *words)


def test_stream_has_no_population_size():
    with pytest.raises(ValueError, match="population_size must be left out for an endless stream"):
        pb.BettingRace(4, None, population_size=300, **RACE)
    assert pb.BettingRace(4, None, population_size=math.inf, **RACE).n_items is None
