"""BudgetRace: reference implementation, budget, certificates of bets, states, invalid arguments."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pybandit as pb
from costly import part
from pybandit.betting._rejects import Rejects

from betting.races import assert_says, frozen, grouped, play
from betting.reference import budget as twin
from racing.reference.problems import random_rewards

UNIT = dict(value_range=(0, 1))


def table(seed, n_items=200, n_arms=12, gap=0.02):
    """Return coins on items of unequal difficulty; the first arm is best."""
    rng = np.random.default_rng(seed)
    chance = 0.75 - gap * np.arange(n_arms) + 0.2 * rng.random((n_items, 1))
    return (rng.random((n_items, n_arms)) < chance) * 1.0


# -- reference implementation ---------------------------------------------------


@given(st.integers(2, 250), st.integers(1, 3000), st.floats(0, 1), st.data())
@settings(max_examples=300, deadline=None)
def test_schedule_matches_the_reference(n_arms, n_items, strength, data):
    n_alive, k = data.draw(st.integers(2, n_arms)), data.draw(st.integers(1, n_arms - 1))
    places, n_read = data.draw(st.integers(1, n_alive - 1)), data.draw(st.integers(0, n_items - 1))
    cells = data.draw(st.integers(0, n_alive * n_items))
    where = n_alive, places, n_read, cells
    kernel, plain = Rejects(n_arms, n_items, k, strength), twin.Schedule(n_arms, n_items,
                                                                           strength, k)
    assert kernel.keep(*where) == plain.keep(*where)
    assert kernel.block(*where) == plain.block(*where)
    assert places <= kernel.keep(*where) <= n_alive
    assert 0 <= kernel.block(*where) * n_alive <= cells
    assert kernel.block(*where) <= n_items - n_read


def test_weights_match_reference_numbers():
    """Compare with an independent implementation, for 218 arms and strength .7."""
    weights = twin.Schedule(218, 1172, 0.7).weights
    assert weights[[3, 8, 9, 40, 218]] / weights[2] == pytest.approx(
        [0.6131399693651779, 0.18778529039748856, 0.16566242839902018, 0.033869094345397706,
         0.005573340323186042], rel=1e-12)


@pytest.mark.examples
def test_race_matches_the_reference():
    ends = set()
    for seed in range(part(50, of=120)):
        rng = np.random.default_rng(seed)
        n_items, n_arms = int(rng.choice([6, 60, 250])), int(rng.integers(2, 14))
        rewards = random_rewards(rng, n_items, n_arms)
        if seed % 2:
            rewards = np.round(rewards)  # ties, and sums without rounding
        budget = int(rng.integers(n_arms, n_items * n_arms + 1))
        options = dict(delta=float(rng.choice([0.5, 0.05])), n_bets=int(rng.choice([4, 16])),
                       mixture=str(rng.choice(["product", "ebmix"])))
        race = pb.BudgetRace(n_arms, n_items, budget=budget, rng=seed, **UNIT, **grouped(options))
        state = race.get_state()
        expected = twin.race(rewards, state["order"], budget, state["keys"], options["delta"], 1.0,
                             options["mixture"], options["n_bets"])
        play(race, rewards)
        assert race.recommend().tolist() == [expected.winner], seed
        assert tuple(race.pulls) == expected.pulls, seed
        assert tuple(race.dropped) == expected.dropped, seed
        assert tuple(race.excluded) == expected.excluded, seed
        assert race.decided == expected.certified, seed
        ends.add((race.decided, race.exact, race.excluded.size > 0, race.dropped.size > 0))
    assert len(ends) >= 4


def test_successive_rejects_by_hand():
    """Three arms, twelve cells: log-bar(3) = 4/3, depths 3 and 4, hence 9 + 2 cells."""
    assert twin.rejects_depths(100, 3, 12) == [3, 4]
    rewards = np.tile([0.0, 1.0, 0.0], (100, 1))
    rewards[3] = [1.0, 0.0, 1.0]
    assert twin.successive_rejects(rewards, np.arange(100), 12, np.arange(3)) == (1, 11)
    assert twin.rejects_depths(4, 3, 12) == [4, 4]  # all items


# -- budgets --------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(st.integers(2, 9), st.integers(1, 80), st.integers(0, 500), st.integers(1, 8),
       st.integers(0, 99))
def test_budget_is_kept_and_used(n_arms, n_items, spare, k, seed):
    k, budget = min(k, n_arms - 1), n_arms + spare
    rewards = random_rewards(np.random.default_rng(seed), n_items, n_arms)
    race = pb.BudgetRace(n_arms, n_items, budget=budget, k=k, rng=seed, **UNIT)
    while not race.done:
        arms, items = race.ask()
        assert 0 < len(arms) <= budget - race.n_pulls
        assert set(arms) == set(race.survivors) and not set(arms) & set(race.dropped)
        race.tell(arms, items, rewards[items, arms])
    top = race.recommend()
    assert len(set(top.tolist())) == k and race.pulls.min() >= 1
    assert not set(top.tolist()) & set(race.dropped.tolist())
    parts = np.concatenate([race.survivors, race.dropped, race.excluded])
    assert sorted(parts.tolist()) == list(range(n_arms))
    if budget >= n_items * n_arms:  # the budget covers all cells: only bets eliminate arms
        assert race.decided and not race.dropped.size


def test_race_errs_less_than_successive_rejects():
    """Tests a few arms near the best and many worse ones, with ten cells per arm."""
    errors = np.zeros(2)
    for seed in range(200):
        rewards = table(seed, 150, 20, 0.025)
        best = np.flatnonzero(rewards.sum(axis=0) == rewards.sum(axis=0).max())
        rng = np.random.default_rng(seed)
        order, keys = rng.permutation(150), rng.permutation(20)
        race = play(pb.BudgetRace(20, 150, budget=600, rng=seed, **UNIT), rewards)
        errors += [race.recommend()[0] not in best,
                   twin.successive_rejects(rewards, order, 600, keys)[0] not in best]
    assert errors[0] <= errors[1] - 4, errors


def test_ties_are_broken_at_random():
    """Equal arms win equally often, whatever their index."""
    same = np.tile(np.random.default_rng(1).random((40, 1)), 5)
    wins = np.bincount([play(pb.BudgetRace(5, 40, budget=60, rng=seed, **UNIT), same)
                        .recommend()[0] for seed in range(500)], minlength=5)
    assert wins.min() > 65 and wins.max() < 137  # 100 expected, standard deviation 9


# -- certificates ---------------------------------------------------------------


def test_certificate_equals_that_of_the_bets():
    rewards = table(3, 400, 6, 0.08)
    race = play(pb.BudgetRace(6, 400, budget=2400, rng=1, **UNIT), rewards)
    assert race.decided and race.n_pulls < 2400 and race.recommend()[0] == 0
    assert race.error_estimate <= race.delta and "certified" in repr(race)
    poor = play(pb.BudgetRace(6, 400, budget=120, rng=1, **UNIT), rewards)
    assert not poor.decided and poor.dropped.size and "budget used" in repr(poor)


@pytest.mark.some(2)
@pytest.mark.parametrize("rewards", [
    np.eye(6)[:, :3] * [[1.0, 0.9, 0.8]],
    np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [1, 1.0]]),
    np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1.0]])],
    ids=["alone", "two", "three"])
@pytest.mark.parametrize("budget", ["least", 9, 14, "all"])
@pytest.mark.parametrize("delta", [0.3, 0.6])
def test_exclusions_err_with_probability_at_most_delta_by_enumeration(delta, budget, rewards):
    """Enumerates all orders of tiny populations; the schedule may drop any arm."""
    n_items, n_arms = rewards.shape
    budget = {"least": n_arms, "all": rewards.size}.get(budget, budget)
    best = set(np.flatnonzero(rewards.sum(axis=0) >= rewards.sum(axis=0).max() - 1e-9))
    wrong, orders = 0, list(itertools.permutations(range(n_items)))
    for order in orders:
        made = twin.race(rewards, order, budget, np.arange(n_arms), delta, 1.0)
        wrong += best <= set(made.excluded)
        wrong += made.certified and made.winner not in best and not best <= set(made.excluded)
    assert wrong <= delta * len(orders)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2])
def test_certificates_are_wrong_at_most_delta(k):
    """One item of 120 decides; counts wrong certified answers, and exclusions of all best arms."""
    wrong = certified = 0
    for seed in range(10_000):
        rewards = np.random.default_rng(seed).permuted(
            np.repeat([[1.0] * 4, [0.0] * 4], [61, 59], axis=0), axis=0)
        rewards[np.flatnonzero(rewards[:, 3] == 1)[0], 3] = 0.0
        if k == 2:
            rewards[np.flatnonzero(rewards[:, 2] == 1)[0], 2] = 0.0
        race = play(pb.BudgetRace(4, 120, budget=460, k=k, delta=0.3, rng=seed, **UNIT), rewards)
        worst = {3} if k == 1 else {2, 3}
        certified += race.decided
        wrong += race.decided and bool(worst & set(race.recommend().tolist()))
        if k == 1:
            wrong += not race.decided and {0, 1, 2} <= set(race.excluded.tolist())
    assert certified > 100 and 0 < wrong <= 0.3 * 10_000


# -- states ---------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3])
def test_restored_race_continues_bit_for_bit(k):
    rewards = table(2)
    options = dict(budget=700, k=k, rng=4, **UNIT)
    whole = play(pb.BudgetRace(12, 200, **options), rewards)
    for copied in (copy.deepcopy, lambda race: pickle.loads(pickle.dumps(race)),
                   lambda race: pb.BudgetRace.from_state(race.get_state())):
        pieces = play(pb.BudgetRace(12, 200, **options), rewards, copied=copied)
        assert frozen(pieces.get_state()) == frozen(whole.get_state())
        assert pieces.recommend().tolist() == whole.recommend().tolist()
        assert pieces.error_estimate == whole.error_estimate


@pytest.mark.parametrize("change, words", [
    (dict(keys=None), ["keys", "0 to 11"]), (dict(keys=np.zeros(12, int)), ["keys", "once"]),
    (dict(keys=np.arange(12.0)), ["keys", "float64"]), (dict(type="BettingRace"), ["BudgetRace"]),
    (dict(lengths=np.array([3])), ["lengths"])])
def test_invalid_states_raise(change, words):
    state = play(pb.BudgetRace(12, 200, budget=300, rng=4, **UNIT), table(2), 8).get_state()
    with pytest.raises(ValueError) as caught:
        pb.BudgetRace.from_state(state | change)
    assert_says(caught.value, *words)
    state.pop("keys")
    with pytest.raises(ValueError, match="state must be a dict of costs, keys, "):
        pb.BudgetRace.from_state(state)


# -- invalid arguments ----------------------------------------------------------


@pytest.mark.parametrize("options, error, words", [
    (dict(budget=11), pb.errors.InfeasibleBudgetError, ["budget", 12, 11]),
    (dict(budget=-1), ValueError, ["budget", -1]),
    (dict(budget=1.5), TypeError, ["budget", 1.5]),
    (dict(k=12), ValueError, ["k", 12]), (dict(k=0), ValueError, ["k", 0]),
    (dict(value_range=(1, 0)), ValueError, ["value_range"]),
    (dict(delta=0), ValueError, ["delta"]),
    (dict(bets="ebmix"), TypeError, ["bets", "Bets", "ebmix"])])
def test_invalid_arguments_raise(options, error, words):
    with pytest.raises(error) as caught:
        pb.BudgetRace(12, 200, **{"budget": 100, **UNIT, **options})
    assert_says(caught.value, *words)


def test_invalid_reports_change_nothing():
    race = pb.BudgetRace(12, 200, budget=300, rng=4, **UNIT)
    arms, items = race.ask()
    before = frozen(race.get_state())
    for told in [(arms[1:] * 0, items[1:], np.zeros(arms.size - 1)),
                 (arms, items, np.full(arms.size, 1.5)), (arms, items, np.full(arms.size, np.nan)),
                 (np.zeros_like(arms), items, np.zeros(arms.size))]:
        with pytest.raises(ValueError):
            race.tell(*told)
        assert frozen(race.get_state()) == before
    with pytest.raises(RuntimeError, match="is already initialised"):
        race.__init__(12, 200, budget=300, **UNIT)
