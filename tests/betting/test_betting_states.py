"""States of BettingRace and BettingThreshold: copies continue bit for bit, bad states raise."""

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pybandit as pb
from costly import examples

from betting.races import MAKERS, REWARDS, frozen, makers, play
from racing.reference.problems import random_rewards


def as_json(value):
    return value.tolist() if isinstance(value, np.ndarray) else value


def through_json(race):
    """Convert a state to text and back; arrays keep their dtype."""
    def back(value, like):
        if isinstance(like, dict):
            return {name: back(value[name], like[name]) for name in like}
        return np.array(value, dtype=like.dtype) if isinstance(like, np.ndarray) else value

    state = race.get_state()
    text = json.dumps(state, default=as_json)
    return type(race).from_state(back(json.loads(text), state))


COPIES = [lambda race: race, lambda race: type(race).from_state(race.get_state()),
          lambda race: pickle.loads(pickle.dumps(race)), copy.deepcopy, through_json]


@examples(8, of=60)
@given(st.sampled_from(sorted(MAKERS)), st.integers(0, 999), st.sampled_from([None, 1, 5]),
       st.sampled_from([None, 350]))
def test_restored_race_continues_bit_for_bit(name, seed, block_size, budget):
    rng = np.random.default_rng(seed)
    rewards = random_rewards(rng, 300, 4)

    def make():
        return MAKERS[name](rng=seed, block_size=block_size, max_pulls=budget)

    straight = play(make(), rewards, 120)
    copied = play(make(), rewards, 120, lambda race: COPIES[rng.integers(len(COPIES))](race))
    races = [copied, *(make_copy(straight) for make_copy in COPIES)]
    states = [frozen(race.get_state()) for race in races]
    assert states == [frozen(straight.get_state())] * len(races)
    for race in races:
        assert race.n_pulls == straight.n_pulls and race.done == straight.done
        assert frozen(race.means) == frozen(straight.means)
        assert frozen(race.recommend()) == frozen(straight.recommend())


@makers
def test_copy_is_independent(make):
    race = play(make(), REWARDS, 20)
    state = race.get_state()
    before = frozen(state)
    other = type(race).from_state(state)
    play(other, REWARDS, 60)
    assert frozen(state) == before == frozen(race.get_state())
    for value in state.values():
        if isinstance(value, np.ndarray):
            value[...] = 0
    assert frozen(race.get_state()) == before


def changed(state, **more):
    """Return the state with other options, or other entries."""
    state = copy.deepcopy(state)
    for name, value in more.items():
        if name in state["options"]:
            state["options"][name] = value
        else:
            state[name] = value
    return state


@pytest.mark.parametrize(
    "change",
    [
        dict(n_arms=5), dict(n_arms=3), dict(n_items=299), dict(order=None),
        dict(order=np.arange(299)), dict(order=np.zeros(300, int)), dict(rewards=np.zeros(3)),
        dict(rewards=np.full(20, np.nan)), dict(lengths=np.array([4, 3])), dict(block_size=3),
        dict(type="BettingThreshold"), dict(type="race"), dict(delta=0.0), dict(k=4),
        dict(options={}),
    ],
)
def test_inconsistent_states_raise(change):
    state = play(MAKERS["near"](), REWARDS, 20).get_state()
    with pytest.raises(ValueError):
        pb.BettingRace.from_state(changed(state, **change))
    pb.BettingRace.from_state(state)


def test_state_of_another_class_raises():
    state = MAKERS["best"]().get_state()
    with pytest.raises(ValueError, match="BettingThreshold.*BettingRace"):
        pb.BettingThreshold.from_state(state)
    with pytest.raises(ValueError, match="BettingRace.*BettingThreshold"):
        pb.BettingRace.from_state(MAKERS["sides"]().get_state())
