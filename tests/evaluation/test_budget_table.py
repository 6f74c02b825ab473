"""Budget races on tables in memory: the compiled loop gives the bits of ask and tell."""

import math

import numpy as np
import pytest

import pybandit as pb
from pybandit.betting._table import read_ahead

from betting.races import assert_says, frozen
from evaluation.grouped import grouped

GIVEN = dict(value_range=(0, 1), progress=False)


def table(seed, n_items=150, n_models=14, gap=0.03):
    rng = np.random.default_rng(seed)
    chance = 0.8 - gap * np.arange(n_models) + 0.2 * rng.random((n_items, 1))
    return (rng.random((n_items, n_models)) < chance) * rng.choice([1.0, 0.3], (n_items, 1))


def by_ask(scores, **options):
    """Make the same call with a function of scores, which makes best_of use ask and tell."""
    n_items, n_models = scores.shape
    return pb.best_of(lambda model, items: scores[items, model], n_models,
                      **grouped(n_items, **options))


@pytest.mark.parametrize("options", [
    {}, {"value_range": 1.0}, {"population_size": math.inf}, {"population_size": 400},
    {"delta": 0.4}, {"k": 2}, {"costs": np.ones(14)}], ids=repr)
def test_table_race_equals_ask_and_tell(options):
    ends = set()
    for seed in range(12):
        scores = table(seed, gap=0.1 if seed % 3 == 0 else 0.03)
        given = {**GIVEN, **options, "budget": [14, 90, 400, 1200, 2100][seed % 5], "rng": seed}
        found, asked = pb.best_of(scores, **grouped(**given)), by_ask(scores, **given)
        assert frozen(found._race.get_state()) == frozen(asked._race.get_state())
        assert found.items.tolist() == asked.items.tolist()
        assert (found.best_arms.tolist(), found.error_estimate) == (
            asked.best_arms.tolist(), asked.error_estimate)
        ends.add((found.decided, found.dropped.size > 0))
    assert len(ends) > 1


@pytest.mark.parametrize("make", [
    lambda scores: scores.astype(np.float32), lambda scores: np.asfortranarray(scores),
    lambda scores: (scores > 0).astype(bool), lambda scores: scores[::-1]])
def test_other_table_types_equal_ask_and_tell(make):
    scores = make(table(3))
    given = dict(budget=600, rng=2, **GIVEN)
    found, asked = pb.best_of(scores, **grouped(**given)), by_ask(np.asarray(scores), **given)
    assert frozen(found._race.get_state()) == frozen(asked._race.get_state())


@pytest.mark.parametrize("bad, words", [
    (np.nan, ["finite", "nan"]), (np.inf, ["finite", "inf"]), (1.5, ["value_range", "1.5"]),
    (-0.5, ["value_range", "-0.5"])])
def test_bad_cell_error_names_item_and_model(bad, words):
    """The error comes from the look that reads the cell, with the race as before that look."""
    scores = table(4)
    order = pb.best_of(scores, budget=1500, rng=5, **GIVEN).items
    scores[order[60], :] = bad
    with pytest.raises(ValueError) as caught:
        pb.best_of(scores, budget=1500, rng=5, **GIVEN)
    assert_says(caught.value, *words, f"item {order[60]}")
    race = pb.BudgetRace(14, 150, budget=1500, rng=5, value_range=(0, 1))
    items = read_ahead(race, scores, lambda n: None)
    assert 50 < items.size <= 60 and race.pulls.max() == items.size and not race.done


def test_large_spread_is_refused():
    scores = table(4) * 2.0
    with pytest.raises(ValueError, match="must differ by at most value_range = 1.0"):
        pb.best_of(scores, budget=1500, rng=5, value_range=1.0, progress=False)


def test_race_continues_after_error_in_progress():
    scores, seen = table(6), []

    def advance(n):
        seen.append(n)
        if len(seen) == 7:
            raise KeyboardInterrupt

    race = pb.BudgetRace(14, 150, budget=1500, rng=5, value_range=(0, 1))
    with pytest.raises(KeyboardInterrupt):
        read_ahead(race, scores, advance)
    assert race.n_pulls == sum(seen) and race.n_batches == 7
    read_ahead(race, scores, lambda n: None)
    whole = pb.best_of(scores, budget=1500, rng=5, **GIVEN)
    assert frozen(race.get_state()) == frozen(whole._race.get_state())


def test_ctrl_c_at_schedule_change_can_be_continued():
    """Ctrl-C comes right after the schedule is set; it is set again when the race continues."""
    scores = table(6)
    race = pb.BudgetRace(14, 150, budget=300, rng=5, value_range=(0, 1))
    measure = race._measure

    def interrupted(values):
        measure(values)
        raise KeyboardInterrupt

    race._measure = interrupted
    with pytest.raises(KeyboardInterrupt):
        read_ahead(race, scores, lambda n: None)
    del race._measure
    assert 0 < race.n_pulls < 300 and not race.dropped.size
    read_ahead(race, scores, lambda n: None)
    whole = pb.best_of(scores, budget=300, rng=5, **GIVEN)
    assert frozen(race.get_state()) == frozen(whole._race.get_state())
    assert race._measured[1] == whole._race._measured[1]


@pytest.mark.parametrize("bets", [pb.betting.Bets("product", n_bets=5), pb.betting.Bets("ebmix")],
                         ids=repr)
def test_other_bets_equal_ask_and_tell(bets):
    scores = table(3)

    def race():
        return pb.BudgetRace(14, 150, budget=900, value_range=(0, 1), bets=bets, rng=4)

    found = pb.evaluation.run_race(race(), scores)
    asked = pb.evaluation.run_race(race(), lambda model, items: scores[items, model])
    assert frozen(found._race.get_state()) == frozen(asked._race.get_state())
