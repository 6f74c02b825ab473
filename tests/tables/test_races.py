"""Races on shuffled blocks equal races on rows in uniformly random order."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

import pybandit as pb

from evaluation.grouped import grouped
from tables.conftest import SCORES
from tables.reference.shuffle import block_rows, shuffled_rows

RNG = np.random.default_rng(4)
TABLE = RNG.random((600, 5)) * [0.6, 0.7, 0.8, 0.9, 1.0]
SIZES = [64] * 9 + [24]


def blocks_of(table, sizes, **options):
    parts = np.split(np.asarray(table), np.cumsum(sizes)[:-1])
    return pb.tables.Blocks(lambda block, columns: parts[block][:, columns], sizes, table.shape[1],
                            **dict(dict(shuffled=True), **options))


@pytest.mark.parametrize("options", [{}, {"k": 2}, {"budget": 900}, {"max_pulls": 400},
                                     {"epsilon": 0.05}, {"delta": 1e-200},
                                     {"population_size": math.inf}, {"costs": np.ones(5)}])
def test_best_of_blocks_equals_race_on_their_rows(options):
    """The same race on a table with the rows in the order of the blocks gives the result."""
    options = dict(options, value_range=(0, 1))
    found = pb.best_of(blocks_of(TABLE, SIZES, names="abcde"), **grouped(rng=3, **options))
    rng = np.random.default_rng(3)
    order = block_rows(np.array(SIZES), rng.permutation(len(SIZES)))
    assert np.array_equal(found.items, order[:found.items.size])

    class Given(np.random.Generator):
        """A generator whose order of the items is that of the blocks."""

        def order_of_items(self):
            return order

    alone = pb.best_of(TABLE, **grouped(rng=Given(rng.bit_generator), **options))
    first, second = found.to_dict(), alone.to_dict()
    assert first.pop("names") == list("abcde") and first.pop("best_name") == "abcde"[found.best]
    for name in ("summary", "guarantee", "best_names"):
        assert first.pop(name) and second.pop(name)
    assert first == {name: second[name] for name in first}


def test_order_of_items_is_uniform():
    """The shuffles of four rows give each order of items once, for any order of blocks."""
    for blocks in itertools.permutations(range(3)):
        read = block_rows(np.array([2, 1, 1]), blocks)
        orders = Counter(tuple(np.array(shuffle)[read])
                         for shuffle in itertools.permutations(range(4)))
        assert len(orders) == 24 and set(orders.values()) == {1}


def test_error_rate_over_all_shuffles_is_at_most_delta():
    """All 720 shuffles of six items in three blocks.

    Results have the same frequencies as those of a race without blocks on all orders of items.
    """
    scores = np.array([[1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    delta, ends = 0.5, Counter()
    rows = np.array(list(itertools.permutations(range(6))))
    for shuffle in rows:
        result = pb.best_of(blocks_of(scores[shuffle], [2, 2, 2]), value_range=(0, 1),
                            delta=delta, calls=pb.Calls(block_size=1), rng=0)
        ends["blocks", result.best, result.n_pulls] += 1
        one = pb.BettingRace(2, 6, value_range=(0, 1), delta=delta, block_size=1)
        one._order = shuffle
        while not one.done:
            arms, items = one.ask()
            one.tell(arms, items, scores[items, arms])
        ends["items", int(one.recommend()[0]), one.n_pulls] += 1
    by_blocks = {end[1:]: n for end, n in ends.items() if end[0] == "blocks"}
    assert by_blocks == {end[1:]: n for end, n in ends.items() if end[0] == "items"}
    wrong = sum(n for (best, _), n in by_blocks.items() if best == 1)
    assert 0 < wrong <= delta * len(rows)


def test_large_unshuffled_tables_are_refused(monkeypatch):
    """Whole blocks of a sorted table, for example, are not random items."""
    from pybandit.evaluation import _opened

    blocks = blocks_of(np.sort(TABLE, axis=0), SIZES, shuffled=False, names="abcde")
    assert pb.best_of(blocks, value_range=(0, 1), rng=1).best_name == "e"
    monkeypatch.setattr(_opened, "MOST_CELLS", 2999)
    with pytest.raises(ValueError, match=r"scores must have rows in random order.*pybandit shuf"):
        pb.best_of(blocks, value_range=(0, 1), rng=1)
    for call in (pb.race, pb.RacingSampler, pb.racing.exact_sample):
        with pytest.raises(ValueError, match="factors must have rows in random order"):
            call(blocks)


def test_weights_or_one_model_on_blocks_are_refused():
    with pytest.raises(ValueError, match="weights must be left out for blocks"):
        pb.best_of(blocks_of(TABLE, SIZES), value_range=(0, 1),
                   items=pb.Items(weights=np.arange(1, 601)))
    with pytest.raises(ValueError, match="at least 2 models"):
        pb.best_of(blocks_of(TABLE[:, :1], SIZES), value_range=(0, 1))


def test_bad_score_error_names_model():
    table = TABLE.copy()
    table[:, 2] = np.nan
    with pytest.raises(ValueError, match=r"scores must be finite.*model 'c' \(column 2\)"):
        pb.best_of(blocks_of(table, SIZES, names="abcde"), value_range=(0, 1), rng=1)


def test_saved_race_on_blocks_continues(folder):
    """The state has the order of the items, as for any race."""
    from pybandit.evaluation._sources import as_source

    source = as_source(pb.tables.Blocks.open(folder / "shuffled.parquet"), None, None)
    race = pb.BettingRace(4, 6000, value_range=(0, 1), rng=source.generator(2))
    for _ in range(5):
        arms, items = race.ask()
        race.tell(arms, items, source.read(np.unique(items), np.arange(4), lambda n: n)[0][
            np.searchsorted(np.unique(items), items), arms])
    other = pb.BettingRace.from_state(race.get_state())
    assert all(map(np.array_equal, other.ask(), race.ask()))


def test_order_of_reports_does_not_change_race():
    """Rewards are reported a few at a time, last ones first; no inverse order is stored."""
    from pybandit.evaluation._sources import as_source

    def race():
        source = as_source(blocks_of(TABLE, SIZES), None, None)
        return pb.BettingRace(5, 600, value_range=(0, 1), rng=source.generator(2))

    one, other = race(), race()
    while not one.done:
        arms, items = one.ask()
        one.tell(arms, items, TABLE[items, arms])
        for part in np.array_split(np.arange(arms.size)[::-1], 3):
            other.tell(arms[part], items[part], TABLE[items[part], arms[part]])
    assert other.done and one.recommend()[0] == other.recommend()[0] == 4
    assert np.array_equal(one.pulls, other.pulls) and other._inverse is None


@pytest.mark.parametrize("options", [{}, {"bound": pb.racing.BettingBound(value_range=(0, 1))},
                                     {"bound": "normal", "delta": 1e-9},
                                     {"looks": pb.racing.Looks(variance="marginal")}])
def test_race_reads_whole_blocks_in_random_order(options):
    """The race reads each block once and whole, and finds the best column."""
    asked = []

    def read(block, columns):
        asked.append((block, columns.size))
        return TABLE[64 * block:64 * block + SIZES[block]][:, columns]

    result = pb.race(pb.tables.Blocks(read, SIZES, 5, shuffled=True), rng=2, **options)
    assert result.best == 4
    blocks = [block for block, _ in asked]
    assert len(set(blocks)) == -(-result.n_evaluations // (64 * 5)) or result.n_evaluations > 320
    assert 9 not in blocks[:-1]  # the short block comes last


def test_fully_read_race_is_exact():
    result = pb.race(blocks_of(TABLE, SIZES), delta=1e-300, looks=pb.racing.Looks(first=600), rng=1)
    assert (result.best, result.exact, result.n_evaluations) == (4, True, 3000)


def test_draws_from_blocks_have_exact_distribution():
    """A chi-square test of 4,000 draws against the exact probabilities."""
    factors = np.random.default_rng(8).normal(size=(640, 3)) * 0.05
    blocks = blocks_of(factors, [64] * 10)
    totals = factors.sum(axis=0)
    law = np.exp(totals - totals.max())
    law /= law.sum()
    sampler = pb.RacingSampler(blocks, delta=1e-6, rng=5)
    counts = np.bincount(sampler.draw(4000)[0], minlength=3)
    assert (((counts - 4000 * law)**2) / (4000 * law)).sum() < 18.4  # p = 1e-4
    states = pb.racing.exact_sample(blocks, size=50, rng=3)
    assert np.array_equal(states, pb.racing.exact_sample(factors, size=50, rng=3))


def test_blocks_of_several_sizes_and_indices_are_refused():
    with pytest.raises(ValueError, match="in blocks of equal size"):
        pb.race(blocks_of(TABLE, [100, 400, 100]))
    with pytest.raises(ValueError, match="in blocks of equal size"):
        pb.RacingSampler(blocks_of(TABLE, [100, 500]))
    with pytest.raises(ValueError, match="indices='auto' for Blocks"):
        pb.race(blocks_of(TABLE, SIZES), looks=pb.racing.Looks(indices="keyed"))
    with pytest.raises(TypeError, match="lil_ucb reads row by row"):
        pb.racing.lil_ucb(blocks_of(TABLE, SIZES), value_range=1.0)


def test_memmap_gives_same_race_as_array(folder):
    """The memmap is of float32, and is read in place."""
    mapped = np.load(folder / "table.npy", mmap_mode="r")
    assert pb.race(mapped, rng=1) == pb.race(SCORES, rng=1)
    sampler = pb.RacingSampler(mapped, bound=pb.racing.BettingBound(value_range=1.0), rng=1)
    assert sampler.draw(20)[0].tolist() == [3] * 20


def test_shuffled_file_equals_reference_order(folder):
    """best_of gives the same result for the file and for rows in the reference order."""
    shuffled = SCORES[shuffled_rows(7, 6000)]
    blocks = pb.tables.Blocks.open(folder / "shuffled.parquet")
    found = pb.best_of(folder / "shuffled.parquet", value_range=(0, 1), rng=3)
    alone = pb.best_of(blocks_of(shuffled, blocks.sizes), value_range=(0, 1), rng=3)
    assert found.items.tolist() == alone.items.tolist() and found.best == alone.best == 3
    assert found.best_name == "3" and found.fraction_read < 0.2
    for model in range(4):
        assert np.array_equal(found.rewards(model), alone.rewards(model))
