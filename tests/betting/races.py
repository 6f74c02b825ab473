"""Races by betting that the tests share, and functions that run them on a table of rewards."""

import math

import numpy as np
import pytest

import pybandit as pb

RACE = dict(value_range=(0, 1), rng=1)


def play(race, rewards, most_items=np.inf, copied=lambda race: race):
    """Report rewards until the race is done; item i of a stream is row i modulo N."""
    while not race.done and race.pulls.max() < most_items:
        race = copied(race)
        arms, items = race.ask()
        race.tell(arms, items, rewards[items % len(rewards), arms], told_costs(race, arms, items))
    return race


def price(arms, items):
    """Return arbitrary costs of these evaluations."""
    return (np.asarray(items) % 7 + 1.0) * (np.asarray(arms) + 1.0) / 8


def told_costs(race, arms, items):
    """Return the costs to report to a race made with costs="told"; None for other races."""
    costs = getattr(race, "costs", None)
    told = costs is not None and isinstance(costs.values, str)
    return price(arms, items) if told else None


def grouped(options):
    """Return options with mixture, n_bets and hybrid as Bets, and limits of money as Costs."""
    options = dict(options)
    bets = {name: options.pop(name) for name in ("n_bets", "hybrid") if name in options}
    if bets or "mixture" in options:
        options["bets"] = pb.betting.Bets(options.pop("mixture", "product"), **bets)
    limits = {limit: options.pop(name) for name, limit in
              (("max_cost", "max_cost"), ("cost_budget", "budget")) if name in options}
    if limits:
        options["costs"] = pb.betting.Costs(options.get("costs", "told"), **limits)
    return options


def frozen(value):
    """Return a state, or a value in it, in a form that can be compared bit for bit."""
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
    "best": lambda **o: pb.BettingRace(4, 300, **grouped({**RACE, **o})),
    "hybrid": lambda **o: pb.BettingRace(4, 300, **grouped({**RACE, "hybrid": True, **o})),
    "near": lambda **o: pb.BettingRace(4, 300, epsilon=0.03, **grouped({**RACE, **o})),
    "top": lambda **o: pb.BettingRace(4, 300, k=2, epsilon=0.03, **grouped({**RACE, **o})),
    "ebmix": lambda **o: pb.BettingRace(4, 300, k=2, **grouped({**RACE, "mixture": "ebmix", **o})),
    "stream": lambda **o: pb.BettingRace(4, None, **grouped({**RACE, "n_bets": 7, **o})),
    "sample": lambda **o: pb.BettingRace(
        4, 300, **grouped({**RACE, "population_size": math.inf, **o})),
    "of more": lambda **o: pb.BettingRace(
        4, 300, k=2, **grouped({**RACE, "population_size": 1000, **o})),
    "weighted": lambda **o: pb.BettingRace(4, 300, **grouped({
        **RACE, "weights": np.arange(300) % 9 + 1.0, **o})),
    "priced": lambda **o: pb.BettingRace(4, 300, **grouped({
        **RACE, "costs": price(np.arange(4), np.arange(300)[:, None]), "max_cost": 900.0,
        "block_size": 4, **o})),
    "told": lambda **o: pb.BettingRace(4, 300, k=2, **grouped({
        **RACE, "costs": "told", "max_cost": 900.0, **o})),
    "sides": lambda **o: pb.BettingThreshold(4, 300, threshold=0.43, **grouped({**RACE, **o})),
    "sides near": lambda **o: pb.BettingThreshold(4, None, threshold=0.43, epsilon=0.03,
                                                  **grouped({**RACE, "mixture": "ebmix", **o})),
}
# costs="told": costs are reported to `tell`
SILENT = {name: make for name, make in MAKERS.items() if name != "told"}
makers = pytest.mark.parametrize("make", SILENT.values(), ids=SILENT.keys())
