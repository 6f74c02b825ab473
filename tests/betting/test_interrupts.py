"""Ctrl-C in calls that take data: a call is recorded completely or not at all."""

import time

import numpy as np
import pytest

import pybandit as pb

from betting.interrupts import alarms, interrupted
from betting.races import MAKERS, REWARDS, frozen, told_costs

TIMES = [50, pytest.param(1000, marks=pytest.mark.slow)]
TOP = "the best 3 of 30"
RACES = {**MAKERS, TOP: lambda: pb.BettingRace(30, 300, k=3, value_range=(0, 1), rng=1,
                                               delta=1e-6),
         "budget": lambda: pb.BudgetRace(30, 300, budget=4000, value_range=(0, 1), rng=1)}


def everything(race):
    """Return the rewards and costs recorded, and the memory of the kernel."""
    return (frozen(race.get_state()), frozen(race._race.arrays), race._race.decided,
            frozen(race.cost_by_arm))


def seconds_of(call, *args):
    start = time.perf_counter()
    call(*args)
    return time.perf_counter() - start


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("name", ["best", "near", TOP, "sides", "budget", "told", "weighted"])
def test_interrupted_tell_is_all_or_nothing(name, times):
    """A block is in both kernel and record, or in neither; the race ends as without Ctrl-C."""
    rng, table = np.random.default_rng(times), np.random.default_rng(4).random((300, 30))
    table[:, :4] = REWARDS
    n_interrupted = n_taken = n_not_taken = 0
    while n_interrupted < times:
        race, twin = RACES[name](), RACES[name]()
        while not race.done:
            arms, items = race.ask()
            mixed = rng.permutation(arms.size)
            costs = told_costs(race, arms, items)
            told = (arms[mixed], items[mixed], table[items, arms][mixed],
                    None if costs is None else costs[mixed])
            before = everything(twin)
            typical = seconds_of(twin.tell, *told)
            if interrupted(1e-6 + 1.2 * typical * rng.random(), race.tell, *told):
                n_interrupted += 1
                taken = race.n_batches == twin.n_batches
                n_taken, n_not_taken = n_taken + taken, n_not_taken + (not taken)
                if not taken:
                    assert everything(race) == before
                    assert np.array_equal(race.ask(), (arms, items))
                    race.tell(*told)
            assert everything(race) == everything(twin)
        assert twin.done and race.recommend().tolist() == twin.recommend().tolist()
    assert n_not_taken > n_interrupted / 4


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("name", ["best", "near", TOP, "sides", "budget", "told"])
def test_interrupted_tell_of_parts_is_all_or_nothing(name, times):
    """All cells of a call are recorded or none, and complete blocks are played in the end."""
    rng, table = np.random.default_rng(times), np.random.default_rng(4).random((300, 30))
    table[:, :4] = REWARDS
    n_interrupted = n_not_taken = 0
    while n_interrupted < times:
        race, twin = RACES[name](), RACES[name]()
        while not race.done and n_interrupted < times:
            arms, items = (part[::-1] for part in race.ask(60))
            assert all(map(np.array_equal, (arms[::-1], items[::-1]), twin.ask(60)))
            some = rng.permutation(arms.size)[:int(rng.integers(1, arms.size + 1))]
            arms, items = arms[some], items[some]
            told = arms, items, table[items, arms], told_costs(race, arms, items)
            before = frozen(twin.get_state())
            typical = seconds_of(twin.tell, *told)
            if interrupted(1e-6 + 1.2 * typical * rng.random(), race.tell, *told):
                n_interrupted += 1
                if frozen(race.get_state()) == before:
                    n_not_taken += 1
                    race.tell(*told)
            assert frozen(race.get_state()) == frozen(twin.get_state())
    assert n_not_taken > n_interrupted / 4


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("method", ["betting", "empirical-bernstein", "asymptotic"])
def test_interrupted_tell_of_a_sequence_is_all_or_nothing(method, times):
    rng = np.random.default_rng(times)
    n_interrupted = n_not_taken = 0
    while n_interrupted < times:
        race, twin = (pb.betting.ConfidenceSequence(population_size=10**6, method=method)
                      for _ in range(2))
        for _ in range(6):
            values = rng.random(int(rng.integers(1, 4000)))
            before = frozen(twin.get_state())
            typical = seconds_of(twin.tell, values)
            if interrupted(1e-6 + 1.2 * typical * rng.random(), race.tell, values):
                n_interrupted += 1
                if race.n != twin.n:
                    n_not_taken += 1
                    assert frozen(race.get_state()) == before
                    race.tell(values)
            assert frozen(race.get_state()) == frozen(twin.get_state())
    assert n_not_taken > n_interrupted / 2


@pytest.mark.parametrize("times", TIMES)
def test_interrupted_best_of_leaves_nothing(times):
    """The next call has the result of a call without an interrupted one before it."""
    rng = np.random.default_rng(times)
    scores = np.random.default_rng(5).random((400, 6)) * [0.7, 0.8, 0.8, 0.9, 0.9, 1.0]
    kept, n_interrupted = scores.copy(), 0

    def run():
        return pb.best_of(scores, value_range=(0, 1), rng=1, progress=False)

    alone, typical = run().to_dict(), seconds_of(run)
    while n_interrupted < times:
        n_interrupted += interrupted(1e-6 + typical * rng.random(), run)
        if n_interrupted % 10 == 0:
            assert run().to_dict() == alone
    assert np.array_equal(scores, kept)


@pytest.mark.parametrize("times", TIMES)
def test_interrupted_best_of_pairs_leaves_nothing(times):
    """Judgements of an interrupted call are not kept for the next call."""
    rng, n_interrupted = np.random.default_rng(times), 0
    strength = np.random.default_rng(5).normal([0, 0.1, 0.2, 0.6], 1.0, (200, 4))

    def run():
        return pb.best_of_pairs(lambda a, b, items: strength[items, a] > strength[items, b], 4,
                                200, rng=1, progress=False)

    alone, typical = run().to_dict(), seconds_of(run)
    while n_interrupted < times:
        n_interrupted += interrupted(1e-6 + typical * rng.random(), run)
        if n_interrupted % 10 == 0:
            assert run().to_dict() == alone


@pytest.fixture(autouse=True)
def _alarms():
    with alarms():
        yield
