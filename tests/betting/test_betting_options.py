"""Invalid options of BettingRace and BettingThreshold, and their messages."""

import numpy as np
import pytest

import pybandit as pb

from betting.races import assert_says, grouped

SHARED = [
    ({"delta": 0}, ["delta", "0.0"]),
    ({"delta": 1}, ["delta", "1.0"]),
    ({"delta": np.nan}, ["delta", "nan"]),
    ({"delta": -0.5}, ["delta", "-0.5"]),
    ({"epsilon": -0.1}, ["epsilon", "-0.1"]),
    ({"epsilon": np.inf}, ["epsilon", "inf"]),
    ({"epsilon": np.nan}, ["epsilon", "nan"]),
    ({"value_range": (1, 0)}, ["value_range", "(1, 0)"]),
    ({"value_range": (1, 1)}, ["value_range", "(1, 1)"]),
    ({"value_range": None}, ["value_range", "None"]),
    ({"value_range": (0, np.nan)}, ["value_range", "nan"]),
    ({"value_range": (0, np.inf)}, ["value_range", "inf"]),
    ({"value_range": (0, 1, 2)}, ["value_range", "(0, 1, 2)"]),
    ({"value_range": np.nan}, ["value_range", "nan"]),
    ({"value_range": 0}, ["value_range", "0"]),
    ({"value_range": -1}, ["value_range", "-1"]),
    ({"value_range": (-1e308, 1e308)}, ["value_range", "1e+150 wide", "1e+308"]),
    ({"value_range": (0, 1e-310)}, ["value_range", "1e-150 to", "1e-310"]),
    ({"value_range": 1e-310}, ["value_range", "1e-150 to", "1e-310"]),
    ({"value_range": 1e151}, ["value_range", "1e+150 wide", "1e+151"]),
    ({"n_bets": 0}, ["n_bets", "0"]),
    ({"n_bets": 65}, ["n_bets", "64", "65"]),
    ({"mixture": "sum"}, ["mixture", "sum", "ebmix", "product"]),
    ({"block_size": 0}, ["block_size", "0"]),
    ({"block_size": -3}, ["block_size", "-3"]),
    ({"n_items": 0}, ["n_items", "0"]),
    ({"max_pulls": 2}, ["max_pulls", "3", "2"]),
    ({"n_arms": 2**40}, ["n_arms must be at most", 2**40]),
    ({"n_items": 2**64}, ["n_items must be at most", 2**64]),
    ({"block_size": 2**64}, ["block_size must be at most", 2**64]),
    ({"max_pulls": 2**64}, ["max_pulls must be at most", 2**64]),
    ({"delta": [0.1, 0.2]}, ["delta must be a number", "(2,)"]),
]
RACE_ONLY = [
    ({"k": 0}, ["k", "0"]),
    ({"k": 3}, ["k", "n_arms = 3", "3"]),
    ({"k": -1}, ["k", "-1"]),
    ({"hybrid": True, "mixture": "ebmix"}, ["hybrid", "ebmix"]),
    ({"hybrid": True, "k": 2}, ["hybrid", "k = 1"]),
    ({"hybrid": True, "mixture": "plug-in"}, ["hybrid", "plug-in"]),
    ({"n_bets": 5, "mixture": "plug-in"}, ["n_bets", "plug-in", "5"]),
    ({"n_arms": 1}, ["n_arms", "2", "1"]),
]
THRESHOLD_ONLY = [
    ({"threshold": 0}, ["threshold", "0.0", "(0.0, 1.0)"]),
    ({"threshold": 1}, ["threshold", "1.0", "(0.0, 1.0)"]),
    ({"threshold": 2.5}, ["threshold", "2.5"]),
    ({"threshold": np.nan}, ["threshold", "nan"]),
    ({"value_range": 1.0}, ["value_range", "1.0"]),
    ({"n_arms": 0}, ["n_arms", "0"]),
    ({"mixture": "plug-in"}, ["mixture", "product", "plug-in"]),
    ({"hybrid": True}, ["BettingThreshold", "hybrid=False"]),
]


def make_race(n_arms=3, n_items=10, **options):
    return pb.BettingRace(n_arms, n_items, **grouped({"value_range": (0, 1), **options}))


def make_threshold(n_arms=3, n_items=10, **options):
    return pb.BettingThreshold(n_arms, n_items, **grouped({
        "value_range": (0, 1), "threshold": 0.5, **options}))


@pytest.mark.parametrize(
    "make, options, words",
    [(make, *case) for make, cases in [(make_race, SHARED + RACE_ONLY),
                                       (make_threshold, SHARED + THRESHOLD_ONLY)]
     for case in cases],
)
def test_invalid_options_raise(make, options, words):
    with pytest.raises(ValueError) as caught:
        make(**options)
    assert_says(caught.value, *words)


@pytest.mark.parametrize("make", [make_race, make_threshold])
@pytest.mark.parametrize(
    "options, word",
    [({"n_arms": 2.5}, "n_arms"), ({"n_arms": None}, "n_arms"), ({"n_items": 1.5}, "n_items"),
     ({"n_items": "x"}, "n_items"), ({"n_bets": 1.5}, "n_bets"), ({"n_bets": True}, "n_bets"),
     ({"delta": "0.1"}, "delta"), ({"epsilon": None}, "epsilon"),
     ({"value_range": "ab"}, "value_range"), ({"value_range": ("a", "b")}, "value_range"),
     ({"block_size": 2.5}, "block_size"), ({"max_pulls": 9.5}, "max_pulls"),
     ({"rng": "seed"}, "rng")],
)
def test_invalid_types_raise(make, options, word):
    with pytest.raises(TypeError, match=word):
        make(**options)


@pytest.mark.parametrize("make", [make_race, make_threshold])
def test_bets_must_be_a_bets_object(make):
    with pytest.raises(TypeError, match=r"bets of \w+ must be a Bets.*; got 16"):
        make(bets=16)
    assert make(bets=pb.betting.Bets("ebmix", n_bets=4)).bets.n_bets == 4


def test_race_accepts_only_the_limit_of_its_kind():
    with pytest.raises(ValueError, match="BettingRace must have max_cost instead of budget"):
        make_race(costs=pb.betting.Costs(1.0, budget=9.0))
    with pytest.raises(ValueError, match="BudgetRace must have budget instead of max_cost"):
        pb.BudgetRace(3, 10, budget=9, costs=pb.betting.Costs(1.0, max_cost=9.0), value_range=1.0)
    with pytest.raises(ValueError, match="hybrid=False"):
        pb.BudgetRace(3, 10, budget=9, value_range=1.0,
                      bets=pb.betting.Bets("product", hybrid=True))
