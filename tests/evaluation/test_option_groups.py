"""Items, Calls, Costs and Bets: invalid values, and options that do not apply."""

import asyncio

import numpy as np
import pytest

import pybandit as pb
from pybandit.betting import Bets, Costs
from pybandit.evaluation import Calls, Items

from evaluation.judges import GIVEN, SCORES, K, N, in_blocks

ONE_BY_ONE = {"concurrency": 4, "executor": len, "retry": OSError, "timeout": 3.0,
              "per_minute": 60.0, "failed": 0.0}


@pytest.mark.parametrize("make, error, words", [
    (lambda: Items(0), ValueError, "items must be at least 1; got 0"),
    (lambda: Items(["q", "q"]), ValueError, "items must .*'q'"),
    (lambda: Items(9, population_size="all"), TypeError, "population_size must be .*'all'"),
    (lambda: Items(9, population_size=0), ValueError, "population_size must be at least 1; got 0"),
    (lambda: Items(weights=[1.0, 0.0]), ValueError, "weights must be finite and above 0; got 0.0"),
    (lambda: Items(weights=[1.0, np.inf]), ValueError, "weights must be finite and above 0"),
    (lambda: Items(weights=np.ma.array([1.0, 2.0], mask=[0, 1])), ValueError, "weights .* masked"),
    (lambda: Items(prior_scores=np.ma.array([1.0, 2.0], mask=[0, 1])), ValueError,
     "prior_scores .* masked"),
    (lambda: Items(9, 100), TypeError, "positional"),
    (lambda: Calls(block_size=0), ValueError, "block_size must be at least 1; got 0"),
    (lambda: Calls(concurrency=1.5), TypeError, "concurrency must be an integer"),
    (lambda: Calls(executor=3), TypeError, "executor must have submit.*; got 3"),
    (lambda: Calls(timeout=-1.0), ValueError, "timeout must be .*above 0; got -1"),
    (lambda: Calls(per_minute=np.inf), ValueError, "per_minute must be .*; got inf"),
    (lambda: Calls(failed=[0.5, 0.5]), ValueError, r"failed must be one number.*\[0.5, 0.5\]"),
    (lambda: Calls(failed="no"), TypeError, "failed must hold real numbers"),
    (lambda: Calls(version=2), TypeError, "version must be text; got 2"),
    (lambda: Calls(64), TypeError, "positional"),
    (lambda: Costs("free"), ValueError, "values must be numbers or 'told'; got 'free'"),
    (lambda: Costs(None), TypeError, "values must be numbers or 'told'; got None"),
    (lambda: Costs([1.0, -1.0]), ValueError, "values must be finite and at least 0; got -1.0"),
    (lambda: Costs(budget=0.0), ValueError, "budget must be .*above 0; got 0"),
    (lambda: Costs(max_cost=np.inf), ValueError, "max_cost must be .*; got inf"),
    (lambda: Costs(budget=2.0, max_cost=3.0), ValueError,
     "pass at most one of budget and max_cost to Costs; got 2.0 and 3.0"),
    (lambda: Bets("no"), ValueError, "mixture must be .*'plug-in'.*'no'"),
    (lambda: Bets("product", hybrid=np.zeros(2)), TypeError, "hybrid must be True or False; got"),
    (lambda: Bets(hybrid=True), ValueError, "hybrid must be False unless mixture is 'product'")])
def test_option_groups_refuse_invalid_values(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_single_call_options_are_refused_elsewhere(name):
    calls, left_out = Calls(**{name: ONE_BY_ONE[name]}), f"{name} of Calls must be left out"
    with pytest.raises(ValueError, match=f"{left_out} unless scores are a function; got "):
        pb.best_of(SCORES, calls=calls, **GIVEN)
    with pytest.raises(ValueError, match=f"{left_out} for pairs, which are judged in blocks"):
        pb.best_of_pairs(lambda a, b, items: items * 0.5, K, N, calls=calls)
    if name not in ("concurrency", "executor"):
        with pytest.raises(ValueError, match=f"concurrency or executor for {name}, unless"):
            pb.best_of(in_blocks(), K, N, calls=calls, **GIVEN)


@pytest.mark.parametrize("options, words", [
    (dict(items=Items(N, prior_scores=np.ones(N))), "prior_scores must be left out for pairs"),
    (dict(items=Items(N, population_size=10 * N)), "population_size must be left out without a b"),
    (dict(max_pulls=90, budget=80), "max_pulls must be left out with a budget; got 90"),
    (dict(calls=Calls(version="2")), "version must be left out without a store in a file"),
    (dict(calls=Calls(version="2"), store={}), "version must be left out without a store in a f")])
def test_pairs_refuse_inapplicable_options(options, words):
    with pytest.raises(ValueError, match=words):
        pb.best_of_pairs(lambda a, b, items: items * 0.5, K, **{"items": N, **options})


def test_pairs_refuse_a_class():
    with pytest.raises(TypeError, match="judge must be a function of two models and items; got "):
        pb.best_of_pairs(dict, K, N)


@pytest.mark.parametrize("call", [
    lambda calls: pb.best_of(in_blocks(), K, N, calls=calls, **GIVEN),
    lambda calls: pb.best_of_pairs(lambda a, b, items: items * 0.5, K, N, calls=calls),
    lambda calls: asyncio.run(pb.best_of_async(in_blocks(), K, N, calls=calls, **GIVEN))])
def test_calls_must_be_a_calls_object(call):
    with pytest.raises(TypeError, match="calls must be a Calls, such as Calls.*; got 64"):
        call(64)


@pytest.mark.parametrize("options, words", [
    (dict(costs=Costs(max_cost=9.0)), "costs must be numbers for a table of scores"),
    (dict(costs=Costs(0.1, budget=9.0), epsilon=0.1), "epsilon must be left out with a budget"),
    (dict(costs=Costs(0.1, budget=9.0), max_pulls=90), "max_pulls must be left out with a bud"),
    (dict(budget=90, costs=Costs(0.1, max_cost=9.0)), "must have budget instead of max_cost"),
    (dict(calls=Calls(version="2")), "version must be left out without a store in a file"),
    (dict(items=Items(population_size=N - 1)), f"population_size must be at least {N}"),
    (dict(items=Items(weights=np.ones(N), population_size=2 * N)), "weights must be left out")])
def test_best_of_refuses_inapplicable_options(options, words):
    with pytest.raises(ValueError, match=words):
        pb.best_of(SCORES, **GIVEN, **options)


def test_option_groups_are_immutable():
    for group, name in ((Items(9), "weights"), (Calls(), "timeout"), (Costs(1.0), "budget"),
                        (Bets(), "n_bets")):
        with pytest.raises(AttributeError):
            setattr(group, name, 1.0)
