"""Races with a guarantee on tables in memory: the compiled loop gives the bits of ask and tell."""

import math

import numpy as np
import pytest

import pybandit as pb
from pybandit.betting._reads import permutation
from pybandit.betting._table import read_ahead
from pybandit.tables import _npy

from betting.races import assert_says, frozen
from betting.reference.table import gather
from evaluation.grouped import grouped
from evaluation.test_budget_table import by_ask, table

GIVEN = dict(value_range=(0, 1), progress=False)
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2.0, 150)


@pytest.mark.parametrize("options", [
    {}, {"value_range": 1.0}, {"epsilon": 0.05}, {"max_pulls": 700}, {"max_pulls": 14},
    {"population_size": math.inf}, {"population_size": 400}, {"weights": WEIGHTS},
    {"block_size": 1}, {"block_size": 37}, {"k": 3}, {"k": 2, "epsilon": 0.03},
    {"costs": np.ones(14)}, {"prior_scores": WEIGHTS}, {"delta": 0.4}],
    ids=lambda options: ", ".join(options) or "usual")
def test_table_race_equals_ask_and_tell(options):
    ends = set()
    for seed in range(6):
        scores = table(seed, gap=0.1 if seed % 2 else 0.01)
        given = {**GIVEN, **options, "rng": seed}
        found, asked = pb.best_of(scores, **grouped(**given)), by_ask(scores, **given)
        assert frozen(found._race.get_state()) == frozen(asked._race.get_state())
        assert found.best_arms.tolist() == asked.best_arms.tolist()
        ends.add((found.exact, found.decided, found.n_pulls))
    assert len(ends) > 1 or "max_pulls" in options


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int32", "int64", "float32"])
def test_other_types_give_the_bits_of_float64(dtype):
    scores = (table(5, gap=0.02) > 0.5).astype(dtype)
    found = pb.best_of(scores, rng=2, **GIVEN)
    same = pb.best_of(scores.astype(float), rng=2, **GIVEN)
    assert frozen(found._race.get_state()) == frozen(same._race.get_state())
    assert read_ahead(pb.BettingRace(14, 150, value_range=(0, 1), rng=2), scores,
                      lambda n: None).size == found.pulls.max()


@pytest.mark.parametrize("dtype", ["bool", "int32", "float32", "float64"])
def test_rewards_are_the_cells_of_the_items_read(dtype):
    scores = (table(5, gap=0.02) * 0.9).astype(dtype)
    race = pb.BettingRace(14, 150, value_range=(0, 1), rng=2)
    items = read_ahead(race, scores, lambda n: None)
    cells = gather(scores, items, range(14), 0.0, 1.0, 1.0)
    for arm, n in enumerate(race.pulls.tolist()):
        assert race.rewards(arm).tolist() == cells[:n, arm].tolist()
    scores = scores.astype(float)
    scores[items[2], 1] = 2.0
    assert len(gather(scores, items, range(14), 0.0, 1.0, 1.0)) == 2
    race = pb.BettingRace(14, 150, value_range=(0, 1), rng=2)
    assert read_ahead(race, scores, lambda n: None).size == 0  # the first block has four items


@pytest.mark.parametrize("view", [np.asfortranarray, lambda x: x[::-1], lambda x: x[:, ::-1],
                                  lambda x: np.repeat(x, 3, axis=1)[:, ::3]])
def test_views_are_read_in_place(view):
    scores = view(table(7))
    found, asked = pb.best_of(scores, rng=3, **GIVEN), by_ask(np.array(scores), rng=3, **GIVEN)
    assert frozen(found._race.get_state()) == frozen(asked._race.get_state())


@pytest.mark.parametrize("dtype", [">f8", "float16", "uint16"])
def test_types_without_a_compiled_loop_are_converted(dtype):
    scores = table(7).astype(dtype)
    found = pb.best_of(scores, rng=3, **GIVEN)
    same = pb.best_of(scores.astype(float), rng=3, **GIVEN)
    assert frozen(found._race.get_state()) == frozen(same._race.get_state())


@pytest.mark.parametrize("mode", ["r", "c", "r+"])
@pytest.mark.parametrize("held", [1 << 16, 1 << 40])
def test_memmap_gives_the_bits_of_an_array(mode, held, tmp_path, monkeypatch):
    monkeypatch.setattr(_npy, "MOST_MAPPED", held)
    scores = table(9, n_items=3000, gap=0.001)
    np.save(tmp_path / "x.npy", scores)
    mapped = np.load(tmp_path / "x.npy", mmap_mode=mode)
    found, same = (pb.best_of(one, rng=4, **GIVEN) for one in (mapped, scores))
    assert frozen(found._race.get_state()) == frozen(same._race.get_state())


@pytest.mark.parametrize("bad, words", [
    (np.nan, ["finite", "nan"]), (np.inf, ["finite", "inf"]), (1.5, ["value_range", "1.5"])])
def test_bad_cell_error_names_item_and_model(bad, words):
    """The error comes from the block that reads the cell, with the race as before that block."""
    scores = table(4, gap=0.0)
    order = pb.best_of(scores, rng=5, **GIVEN).items
    scores[order[60], 3] = bad
    with pytest.raises(ValueError) as caught:
        pb.best_of(scores, rng=5, **GIVEN)
    assert_says(caught.value, *words, f"item {order[60]}", "model 3")
    race = pb.BettingRace(14, 150, rng=5, value_range=(0, 1))
    items = read_ahead(race, scores, lambda n: None)
    assert 50 < items.size <= 60 and race.pulls.max() == items.size and not race.done


def test_threshold_races_read_tables_too():
    scores = table(8)
    found, asked = (pb.evaluation.run_race(
        pb.BettingThreshold(14, 150, threshold=0.6, value_range=(0, 1), rng=1), source)
        for source in (scores, lambda model, items: scores[items, model]))
    assert frozen(found._race.get_state()) == frozen(asked._race.get_state())


def test_reported_rewards_are_not_read_again():
    """A race with rewards that wait for their block continues by ask and tell."""
    scores = table(6)
    race = pb.BettingRace(14, 150, rng=5, value_range=(0, 1))
    arms, items = race.ask()
    race.tell(arms[:3], items[:3], scores[items[:3], arms[:3]])
    assert read_ahead(race, scores, lambda n: None).size == 0
    race.tell(arms[3:], items[3:], scores[items[3:], arms[3:]])
    assert read_ahead(race, scores, lambda n: None).size > 0
    whole = pb.best_of(scores, rng=5, **GIVEN)
    assert frozen(race.get_state()) == frozen(whole._race.get_state())


def test_race_continues_after_error_in_progress():
    scores, seen = table(6, gap=0.01), []

    def advance(n):
        seen.append(n)
        if len(seen) == 7:
            raise KeyboardInterrupt

    race = pb.BettingRace(14, 150, rng=5, value_range=(0, 1))
    with pytest.raises(KeyboardInterrupt):
        read_ahead(race, scores, advance)
    assert race.n_pulls == sum(seen) and race.n_batches == 7
    read_ahead(race, scores, lambda n: None)
    whole = pb.best_of(scores, rng=5, **GIVEN)
    assert frozen(race.get_state()) == frozen(whole._race.get_state())


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.SFC64])
@pytest.mark.parametrize("n", [1, 2, 3, 63, 64, 65, 66, 1000, 70_001])
def test_permutation_is_that_of_numpy(bits, n):
    ours, theirs = (np.random.Generator(bits(n)) for _ in range(2))
    ours.random(dtype=np.float32), theirs.random(dtype=np.float32)  # half a word is left
    assert permutation(ours, n).tolist() == theirs.permutation(n).tolist()
    assert ours.random() == theirs.random()
