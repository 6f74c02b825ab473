"""A modified state raises an error with a reason, or gives an object that works."""

import copy
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pybandit as pb
from mutation_counts import share_of

from betting.mutations import mutate
from betting.races import MAKERS, REWARDS, frozen, play, told_costs
from betting.test_counts import grown

RACES = {name: [play(MAKERS[name](block_size=size, max_pulls=budget), REWARDS, 40).get_state()
                for size, budget in [(None, None), (7, 350)]]
         for name in MAKERS}
def ahead(name):
    """Return a state with rewards ahead of their block, also of an eliminated arm."""
    race = MAKERS[name](delta=0.3)
    while race.survivors.size == 4 and not race.done:
        arms, items = race.ask(100)
        for part in (slice(1, None), slice(1)):
            told = arms[part], items[part]
            race.tell(*told, REWARDS[told[1] % 300, told[0]], told_costs(race, *told))
    arms, items = (part[-9:] for part in race.ask(60))
    if arms.size:
        race.tell(arms, items, REWARDS[items % 300, arms], told_costs(race, arms, items))
    return race.get_state()


AHEAD = "best", "near", "stream", "told", "sides"
for name in AHEAD:
    RACES[name + " ahead"] = [ahead(name), ahead(name)]
RACES["budget"] = [play(pb.BudgetRace(4, 300, rng=1, value_range=(0, 1), **budget), REWARDS,
                        40).get_state()
                   for budget in (dict(budget=700), dict(costs=pb.betting.Costs(budget=300.0)))]


def class_of(name):
    """Return the class of a race by its name."""
    return (pb.BudgetRace if name == "budget" else
            pb.BettingThreshold if name.startswith("sides") else pb.BettingRace)


METHODS = ["betting", "empirical-bernstein", "hoeffding", "asymptotic"]


def sequences():
    rng, states = np.random.default_rng(1), []
    for method in METHODS:
        for population in (math.inf, 150, 10**6):
            for values in (rng.random(150), rng.random(80) < 0.1, np.zeros(20), np.empty(0)):
                for value_range in [(0, 1), None] if method == "asymptotic" else [(0, 1)]:
                    sequence = pb.betting.ConfidenceSequence(
                        population_size=population, value_range=value_range, method=method)
                    for piece in np.array_split(values, 3):
                        sequence.tell(piece)
                    states.append(sequence.get_state())
    return states


SEQUENCES = sequences()


def test_states_have_a_part_ahead():
    for name in AHEAD:
        assert RACES[name + " ahead"][0].keys() >= {"ahead"} or name == "told"


def assert_race_works(race, rounds=100):
    """Check that a race ends, keeps its budget and requests survivors and valid items only."""
    for _ in range(rounds):
        if race.done:
            break
        arms, items = race.ask()
        assert np.isin(arms, np.arange(race.n_arms)).all() and len(arms) > 0
        assert race.n_items is None or np.isin(items, np.arange(race.n_items)).all()
        low = race.value_range[0] if isinstance(race.value_range, tuple) else 0.0
        race.tell(arms, items, np.full(len(arms), low), told_costs(race, arms, items))
        assert race.max_pulls is None or race.n_pulls <= race.max_pulls
        assert getattr(race, "budget", None) is None or race.n_pulls <= race.budget
        if race.cost is not None and not race._is_told_costs():
            most = race.costs.max_cost
            assert most is None or race.cost <= most * (1 + 2e-12)  # costs are exact to 12 digits
    state = race.get_state()
    assert frozen(type(race).from_state(state).get_state()) == frozen(state)
    assert repr(race)


def assert_race_is_refused_or_works(data, name, which):
    state = mutate(data.draw, RACES[name][which])
    try:
        race = class_of(name).from_state(state)
    except (ValueError, TypeError) as error:
        assert len(str(error)) > 10
        return
    except MemoryError:  # valid, but a huge number of arms may not fit in memory
        return
    assert_race_works(race)


@settings(max_examples=600, deadline=None)
@given(st.data(), st.sampled_from(sorted(RACES)), st.integers(0, 1))
def test_modified_states_of_races(data, name, which):
    assert_race_is_refused_or_works(data, name, which)


@pytest.mark.slow
@settings(max_examples=share_of(0.12), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from(sorted(RACES)), st.integers(0, 1))
def test_many_modified_states_of_races(data, name, which):
    assert_race_is_refused_or_works(data, name, which)


@pytest.mark.parametrize("name", ["stream", "sides near"])
def test_blocks_too_long_for_memory_raise(name):
    """A state with such a block raises; a race requests blocks that fit into memory."""
    state = copy.deepcopy(RACES[name][0])
    assert state["options"]["n_items"] is None and len(state["lengths"]) > 0
    state["options"]["block_size"] = 2**40
    with pytest.raises(ValueError, match="blocks of the lengths that the race requests"):
        class_of(name).from_state(state)
    race = pb.BettingRace(5, None, value_range=(0, 1), block_size=2**40)
    arms, items = race.ask()
    assert arms.size == items.size == 5 * (2**24 // 5)


@pytest.mark.parametrize("name", [name for name in sorted(RACES) if "options" in RACES[name][0]])
def test_more_arms_than_rewards_raise_before_memory_is_taken(name):
    state = copy.deepcopy(RACES[name][0])
    state["options"]["n_arms"] = 2**27  # the pairs would not fit into any memory
    with pytest.raises(ValueError, match=r"a reward of every arm for its first \d+ items"):
        class_of(name).from_state(state)


def assert_sequence_works(sequence):
    state = sequence.get_state()
    again = pb.betting.ConfidenceSequence.from_state(state)
    low = 0.0 if sequence.value_range is None else sequence.value_range[0]
    room = sequence.population_size - sequence.n
    values = np.full(int(min(room, 70)), low)
    bounds = sequence.tell(values)
    for end in bounds:
        assert not np.isnan(end).any()
    if sequence.method != "asymptotic" and values.size:
        assert (np.diff(bounds.upper) <= 1e-9).all()
    again.tell(values)
    assert frozen(again.get_state()) == frozen(sequence.get_state())


def assert_sequence_is_refused_or_works(data, state):
    state = mutate(data.draw, state)
    try:
        sequence = pb.betting.ConfidenceSequence.from_state(state)
    except (ValueError, TypeError) as error:
        assert len(str(error)) > 10
        return
    assert_sequence_works(sequence)


@settings(max_examples=1500, deadline=None)
@given(st.data(), st.sampled_from(SEQUENCES))
def test_modified_states_of_sequences(data, state):
    assert_sequence_is_refused_or_works(data, state)


@pytest.mark.slow
@settings(max_examples=share_of(0.15), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from(SEQUENCES))
def test_many_modified_states_of_sequences(data, state):
    assert_sequence_is_refused_or_works(data, state)


def assert_counts_are_refused_or_work(data):
    state = mutate(data.draw, grown().get_state())
    try:
        race = pb.CountRace.from_state(state)
    except (ValueError, TypeError) as error:
        assert len(str(error)) > 10
        return
    except MemoryError:  # valid, but a huge number of arms may not fit in memory
        return
    assert_counts_work(race)


def assert_counts_work(race):
    """Check that a race on counts splits visits among survivors, takes counts, and has a state."""
    trials = race.split(90)
    assert trials.sum() == 90 and not np.delete(trials, race.survivors).any()
    race.tell_counts(trials, trials * race.value_range[0])
    state = race.get_state()
    again = pb.CountRace.from_state(state)
    assert frozen(again.get_state()) == frozen(state) and race.survivors.size
    assert again.capital.tobytes() == race.capital.tobytes() and repr(race)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_modified_states_of_counts(data):
    assert_counts_are_refused_or_work(data)


@pytest.mark.slow
@settings(max_examples=share_of(0.03), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_many_modified_states_of_counts(data):
    assert_counts_are_refused_or_work(data)


@pytest.mark.parametrize("state", [None, [], "x", 3, {}, {"type": "BettingRace"}])
@pytest.mark.parametrize("cls", [pb.BettingRace, pb.BettingThreshold, pb.betting.ConfidenceSequence,
                                 pb.CountRace])
def test_invalid_states_raise(cls, state):
    with pytest.raises(ValueError, match="state must be a dict of"):
        cls.from_state(state)


@pytest.mark.parametrize("method", METHODS[1:3])
@pytest.mark.parametrize("part, at", [("sides", (0, 0)), ("sides", (1, 0)), ("sides", (1, 1)),
                                      ("current", 0), ("current", 1), ("n", None)])
def test_bounds_that_do_not_follow_raise(method, part, at):
    """Changed bounds that do not follow from the rest of the state raise, in every entry."""
    sequence = pb.betting.ConfidenceSequence(population_size=10**6, method=method)
    sequence.tell(np.random.default_rng(2).random(500))
    for shift in (1e-3, -1e-3, 0.05):
        state = sequence.get_state()
        if at is None:
            state[part] += 1 if shift > 0 else -1
        else:
            state[part][at] += shift
        if part == "sides" and at[0] == 1 and shift > 0:
            # this running bound is possible, but the reported bound must change with it
            state["current"][:] = state["sides"][1, 0], 1 - state["sides"][1, 1]
            pb.betting.ConfidenceSequence.from_state(state)
            continue
        with pytest.raises(ValueError, match="state"):
            pb.betting.ConfidenceSequence.from_state(state)
