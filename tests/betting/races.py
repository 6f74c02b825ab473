"""Races by betting that the tests share, answered from a table of rewards."""

import math

import numpy as np
import pytest

import pybandit as pb

RACE = dict(value_range=(0, 1), rng=1)


def play(race, rewards, most_items=np.inf, copied=lambda race: race):
    """Answer until the race is done; item i of a stream is row i modulo N."""
    while not race.done and race.pulls.max() < most_items:
        race = copied(race)
        arms, items = race.ask()
        race.tell(arms, items, rewards[items % len(rewards), arms], told_costs(race, arms, items))
    return race


def price(arms, items):
    """What it costs to evaluate them, whatever they are."""
    return (np.asarray(items) % 7 + 1.0) * (np.asarray(arms) + 1.0) / 8


def told_costs(race, arms, items):
    """What is told to a race made with costs="told"; None for another."""
    costs = getattr(race, "costs", None)
    return price(arms, items) if isinstance(costs, str) else None


def frozen(value):
    """A state, or anything in it, as what can be compared bit for bit."""
    if isinstance(value, dict):
        return {name: frozen(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return type(value), repr(value)


def assert_says(error, *words):
    for word in words:
        assert str(word) in str(error), (word, str(error))


REWARDS = np.random.default_rng(3).random((300, 4)) * [0.8, 0.85, 0.9, 1.0]
MAKERS = {
    "best": lambda **o: pb.BettingRace(4, 300, **{**RACE, **o}),
    "hybrid": lambda **o: pb.BettingRace(4, 300, hybrid=True, **{**RACE, **o}),
    "near": lambda **o: pb.BettingRace(4, 300, epsilon=0.03, **{**RACE, **o}),
    "top": lambda **o: pb.BettingRace(4, 300, k=2, epsilon=0.03, **{**RACE, **o}),
    "ebmix": lambda **o: pb.BettingRace(4, 300, k=2, mixture="ebmix", **{**RACE, **o}),
    "stream": lambda **o: pb.BettingRace(4, None, bets=7, **{**RACE, **o}),
    "sample": lambda **o: pb.BettingRace(4, 300, **{**RACE, "population_size": math.inf, **o}),
    "of more": lambda **o: pb.BettingRace(4, 300, k=2, **{**RACE, "population_size": 1000, **o}),
    "weighted": lambda **o: pb.BettingRace(4, 300, **{
        **RACE, "weights": np.arange(300) % 9 + 1.0, **o}),
    "priced": lambda **o: pb.BettingRace(4, 300, **{
        **RACE, "costs": price(np.arange(4), np.arange(300)[:, None]), "max_cost": 900.0,
        "block_size": 4, **o}),
    "told": lambda **o: pb.BettingRace(4, 300, k=2, **{
        **RACE, "costs": "told", "max_cost": 900.0, **o}),
    "sides": lambda **o: pb.BettingThreshold(4, 300, threshold=0.43, **{**RACE, **o}),
    "sides near": lambda **o: pb.BettingThreshold(4, None, threshold=0.43, epsilon=0.03,
                                                  mixture="ebmix", **{**RACE, **o}),
}
# "told" takes costs in `tell`
SILENT = {name: make for name, make in MAKERS.items() if name != "told"}
makers = pytest.mark.parametrize("make", SILENT.values(), ids=SILENT.keys())
