"""Costs of evaluations: the sums spent, where races stop, and what costs must not change."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pybandit as pb

from betting.races import RACE, assert_says, frozen, grouped, play, price, told_costs
from racing.reference.problems import random_rewards

N, K = 120, 5
REWARDS = np.random.default_rng(3).random((N, K)) * [0.7, 0.8, 0.8, 0.9, 1.0]
TABLE = price(np.arange(K), np.arange(N)[:, None])
SHAPES = {"table": TABLE, "arms": TABLE[0], "items": TABLE[:, 0], "row": TABLE[:1],
          "column": TABLE[:, :1], "one": np.array(0.25)}


def paid(race, table):
    """Return the cost of each arm, from the order of the items."""
    order = race.get_state()["order"]
    return np.array([table[order[:n], arm].sum() for arm, n in enumerate(race.pulls)])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("budgeted", [False, True])
def test_cost_equals_the_sum_spent(shape, budgeted):
    table = np.broadcast_to(SHAPES[shape][:, None] if shape == "items" else SHAPES[shape], (N, K))
    make = pb.BudgetRace if budgeted else pb.BettingRace
    race = make(K, N, costs=SHAPES[shape], **RACE, **({"budget": 300} if budgeted else {}))
    assert race.cost == 0.0 and race.cost_by_arm.tolist() == [0.0] * K
    play(race, REWARDS)
    np.testing.assert_allclose(race.cost_by_arm, paid(race, table))
    assert race.cost == pytest.approx(race.cost_by_arm.sum())
    race.cost_by_arm[:] = -1.0
    assert race.cost_by_arm.min() >= 0.0


def test_race_without_costs_has_no_cost():
    race = play(pb.BettingRace(K, N, **RACE), REWARDS)
    assert race.cost is None and race.cost_by_arm is None


@pytest.mark.parametrize("shape", ["table", "arms", "items"])
def test_costs_change_only_the_end(shape):
    """Items, rewards and answer equal those without costs, block by block, until the race stops."""
    free = play(pb.BettingRace(K, N, block_size=3, **RACE), REWARDS)
    costly = play(pb.BettingRace(K, N, block_size=3, costs=SHAPES[shape], **RACE), REWARDS)
    assert frozen(free._race.arrays) == frozen(costly._race.arrays)
    assert free.recommend().tolist() == costly.recommend().tolist()
    costs = pb.betting.Costs(SHAPES[shape], max_cost=30.0)
    stopped = play(pb.BettingRace(K, N, block_size=3, costs=costs, **RACE),
                   REWARDS)
    n = stopped.pulls.max()
    assert not stopped.decided and 0 < n < free.pulls.max()
    same = play(pb.BettingRace(K, N, block_size=3, **RACE), REWARDS, n)
    assert stopped.survivors.tolist() == same.survivors.tolist()


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 999), st.floats(1.0, 400.0), st.booleans(), st.sampled_from([1, 2]))
def test_known_costs_are_never_exceeded(seed, spare, budgeted, k):
    """The race stops when the money left does not pay for the next item; it skips no item."""
    rng = np.random.default_rng(seed)
    rewards, costs = random_rewards(rng, N, K), rng.exponential(size=(N, K)) ** 3
    most = float(costs.sum(axis=1).max()) + spare
    make = pb.BudgetRace if budgeted else pb.BettingRace
    limit = "budget" if budgeted else "max_cost"
    costed = pb.betting.Costs(costs, **{limit: most})
    race = play(make(K, N, k=k, value_range=(0, 1), rng=seed, costs=costed), rewards)
    assert race.cost <= most and race.n_batches > 0
    np.testing.assert_allclose(race.cost_by_arm, paid(race, costs))
    if not race.decided and not budgeted:
        item = race.get_state()["order"][race.pulls.max()]
        assert race.cost + costs[item, race.survivors].sum() > most * (1 - 1e-12)


@pytest.mark.parametrize("name", ["max_cost", "budget"])
def test_told_costs_limit_the_race(name):
    """The race asks for one item to learn its cost, then expects later items to cost as much."""
    make = pb.BudgetRace if name == "budget" else pb.BettingRace
    race = make(K, N, costs=pb.betting.Costs(**{name: 100.0}), delta=1e-9, **RACE)
    assert race.ask()[0].size == K
    dearest = 0.0
    while not race.done:
        arms, items = race.ask()
        costs = price(arms, items)
        dearest = max(dearest, costs.sum())
        mixed = np.random.default_rng(1).permutation(arms.size)
        race.tell(arms[mixed], items[mixed], REWARDS[items, arms][mixed], costs[mixed])
    np.testing.assert_allclose(race.cost_by_arm, paid(race, TABLE))
    assert 50.0 < race.cost < 100.0 + dearest
    state = race.get_state()
    assert state["costs"].size == race.n_pulls


def test_costs_of_zero_are_accepted():
    free = play(pb.BettingRace(K, N, costs=pb.betting.Costs(0.0, max_cost=1.0), block_size=4,
                               **RACE), REWARDS)
    assert free.decided and free.cost == 0.0
    spent = play(pb.BudgetRace(K, N, costs=pb.betting.Costs(0.0, budget=1.0), **RACE), REWARDS)
    assert spent.pulls.max() == N or spent.decided


# -- guarantees -----------------------------------------------------------------


def test_best_arm_survives_in_every_order():
    """Over all orders of 6 items whose costs reveal their scores, errors are at most delta."""
    rewards = np.array([[1, 0], [1, 0], [0, 1], [1, 0], [0, 1], [1, 1]], dtype=float)
    costs = np.abs(rewards - [[0.0, 1.0]]) * 3 + 0.1
    lost = n_orders = 0
    for order in itertools.permutations(range(6)):
        race = pb.BettingRace(2, 6, delta=0.6, value_range=(0, 1), rng=1,
                              costs=pb.betting.Costs(costs, max_cost=15.0))
        race._order = np.array(order)
        play(race, rewards)
        lost += 0 not in race.survivors
        n_orders += 1
    assert n_orders == 720 and 0 < lost / n_orders <= 0.6


@pytest.mark.slow
@pytest.mark.parametrize("told", [False, True])
def test_errors_in_ten_thousand_costly_races_are_at_most_delta(told):
    """Tests near ties, costs related to the scores, and budgets that end at any item."""
    rng, n_wrong, n_races, delta = np.random.default_rng(7), 0, 10_000, 0.1
    for seed in range(n_races):
        rewards = (rng.random((40, 3)) < rng.uniform(0.1, 0.9, (40, 1))) * 1.0
        best = np.flatnonzero(rewards.mean(axis=0) == rewards.mean(axis=0).max())
        costs = 0.1 + 5.0 * np.abs(rewards - rng.integers(0, 2))
        race = pb.BettingRace(3, 40, delta=delta, value_range=(0, 1), rng=seed, block_size=1,
                              costs=pb.betting.Costs("told" if told else costs,
                                                     max_cost=rng.uniform(20, 900)))
        while not race.done:
            arms, items = race.ask()
            race.tell(arms, items, rewards[items, arms], costs[items, arms] if told else None)
        answer = race.recommend() if race.decided else race.survivors
        n_wrong += not set(best) & set(answer.tolist())
    assert n_wrong / n_races <= delta


@pytest.mark.parametrize("cost", [0.1, 0.01, 0.3, 0.7])
@pytest.mark.parametrize("shape", ["one", "arms", "items", "table"])
@pytest.mark.parametrize("make, name", [(pb.BettingRace, "max_cost"),
                                        (pb.BudgetRace, "budget")])
def test_money_for_one_item_pays_for_it(make, name, shape, cost):
    """Whatever the floating-point sum of the prices is."""
    rewards = np.random.default_rng(1).random((60, 40))
    for n_arms in range(2, 41):
        sizes = {"one": (), "arms": n_arms, "items": 60, "table": (60, n_arms)}
        costs = np.full(sizes[shape], cost)
        most = pb.betting.Costs(costs, **{name: n_arms * cost})
        race = play(make(n_arms, 60, **RACE, costs=most), rewards[:, :n_arms])
        assert race.pulls.max() >= 1 and race.cost <= n_arms * cost * (1 + 1e-12), n_arms
        with pytest.raises(pb.errors.InfeasibleBudgetError):
            less = pb.betting.Costs(costs, **{name: n_arms * cost * (1 - 1e-9)})
            make(n_arms, 60, **RACE, costs=less)


@pytest.mark.parametrize("ahead", [False, True])
def test_told_costs_are_copied(ahead):
    """Reusing a buffer after `tell` changes nothing."""
    race, buffer = pb.BettingRace(K, N, costs="told", **RACE), np.empty(1000)
    for price_of_all in range(1, 5):
        arms, items = race.ask(30 if ahead else None)
        told = buffer[:arms.size]
        told[:] = price_of_all
        race.tell(arms, items, REWARDS[items, arms], told)
    cost = race.cost
    buffer[:] = 1000.0
    assert race.cost == type(race).from_state(race.get_state()).cost == cost < 1000.0


# -- invalid arguments ----------------------------------------------------------


@pytest.mark.parametrize("options, words", [
    (dict(costs=[1.0, -1.0, 1.0, 1.0, 1.0]), ["costs", "at least 0", "-1.0 at index 1"]),
    (dict(costs=np.where(TABLE > 4, np.nan, TABLE)), ["costs", "finite", "nan"]),
    (dict(costs=[1.0, np.inf, 1.0, 1.0, 1.0]), ["costs", "finite", "inf"]),
    (dict(costs=np.ones(7)), ["costs", "(5,)", "(120, 5)", "(7,)"]),
    (dict(costs=TABLE.T), ["costs", "(120, 5)", "(5, 120)"]),
    (dict(costs=TABLE[None]), ["costs", "(1, 120, 5)"]),
    (dict(costs="dear"), ["costs", "'told'", "'dear'"]),
    (dict(costs=np.ma.masked_array(np.ones(5), mask=[0, 1, 0, 0, 0])), ["costs", "masked"]),
    (dict(costs=TABLE, max_cost=0.0), ["max_cost", "above 0", "0.0"]),
    (dict(costs=TABLE, max_cost=np.nan), ["max_cost", "nan"]),
    (dict(costs=np.ones(5), max_cost=4.5), ["max_cost", "at least 5", "all 5 arms", "4.5"]),
])
def test_invalid_costs_raise(options, words):
    with pytest.raises(ValueError) as caught:
        pb.BettingRace(K, N, **RACE, **grouped(options))
    assert_says(caught.value, *words)
    assert isinstance(caught.value, pb.errors.InfeasibleBudgetError) == ("at least 5" in words)


def test_flat_array_that_fits_items_and_arms_raises():
    with pytest.raises(ValueError, match=r"\(1, 5\) or \(5, 1\) if there are .* got shape \(5,\)"):
        pb.BettingRace(5, 5, costs=np.ones(5), **RACE)
    race = pb.BettingRace(5, 5, costs=np.arange(5.0)[:, None], **RACE)
    assert frozen(type(race).from_state(race.get_state()).get_state()) == frozen(race.get_state())


@pytest.mark.parametrize("options, words", [
    ({}, ["budget", "Costs", "None"]),
    (dict(budget=99, cost_budget=9.0, costs=TABLE), ["budget", "Costs", "99", "9.0"]),
    (dict(cost_budget=9.0, costs=TABLE), ["budget", "at least", "most expensive"]),
])
def test_exactly_one_budget_is_accepted(options, words):
    with pytest.raises(ValueError) as caught:
        pb.BudgetRace(K, N, **RACE, **grouped(options))
    assert_says(caught.value, *words)


@pytest.mark.parametrize("spoil, words", [
    (lambda costs: None, ["costs", "costs='told'"]), (lambda costs: costs[1:], ["costs", "shape"]),
    (lambda costs: -costs, ["costs", "at least 0", "of arm 0"]),
    (lambda costs: costs * np.nan, ["costs", "finite", "nan for item"]),
    (lambda costs: np.ma.array(costs, mask=costs > 1), ["costs", "masked"])])
def test_invalid_told_costs_change_nothing(spoil, words):
    race = pb.BettingRace(K, N, costs="told", **RACE)
    for _ in range(3):
        arms, items = race.ask()
        before = frozen(race.get_state())
        costs = price(arms, items)
        with pytest.raises(ValueError) as caught:
            race.tell(arms, items, REWARDS[items, arms], spoil(costs))
        assert_says(caught.value, *words)
        assert frozen(race.get_state()) == before and race.n_pulls == round(before_pulls(race))
        race.tell(arms, items, REWARDS[items, arms], costs)


def before_pulls(race):
    return race.get_state()["costs"].size


def test_reporting_known_costs_raises():
    race = pb.BettingRace(K, N, costs=TABLE, **RACE)
    arms, items = race.ask()
    with pytest.raises(ValueError, match="costs must be given if and only if the race was made "
                                         "with costs='told'; got ndarray"):
        race.tell(arms, items, REWARDS[items, arms], price(arms, items))
    assert race.n_pulls == 0


@pytest.mark.parametrize("change, words", [
    (dict(costs=None), ["costs"]), (dict(costs=np.zeros(3)), ["costs", "got (3,)"]),
    (dict(costs=np.full(1, -1.0)), ["costs"])])
def test_states_without_their_costs_raise(change, words):
    race = pb.BettingRace(K, N, costs="told", **RACE)
    arms, items = race.ask()
    race.tell(arms, items, REWARDS[items, arms], told_costs(race, arms, items))
    state = race.get_state()
    if "costs" in change and change["costs"] is not None and change["costs"].size == 1:
        change = dict(costs=np.full(state["rewards"].size, -1.0))
    with pytest.raises(ValueError) as caught:
        pb.BettingRace.from_state(state | change)
    assert_says(caught.value, *words)
    other = pb.BettingRace(K, N, **RACE).get_state()
    with pytest.raises(ValueError, match="state must hold no costs"):
        pb.BettingRace.from_state(other | dict(costs=np.zeros(0)))
