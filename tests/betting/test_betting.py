"""BettingRace and BettingThreshold: reference implementations, ask and tell, budgets."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pybandit as pb
from costly import part
from pybandit.betting import _paired

from betting.races import RACE, REWARDS, frozen, grouped, makers, play
from betting.reference import betting as twin
from racing.reference.problems import random_rewards


def problem(seed, plugged=False):
    """Return rewards in some range, the range, and options for race and reference."""
    rng = np.random.default_rng(seed)
    n_items, n_arms = int(rng.choice([12, 60, 250])), int(rng.integers(2, 6 + 6 * plugged))
    rewards, limits = random_rewards(rng, n_items, n_arms), [(0.0, 1.0), (-2.0, 3.0)][seed % 2]
    rewards = limits[0] + (limits[1] - limits[0]) * rewards
    options = dict(
        delta=float(rng.choice([0.4, 0.1, 0.01])),
        epsilon=float(rng.choice([0.0, 0.0, 0.05, 0.5])),
        mixture=str(rng.choice(["product", "product", "ebmix"])),
        n_bets=int(rng.choice([1, 2, 5, 16, 64])),
        block_size=int(rng.choice([0, 1, 1])) or None,
    )
    if plugged and rng.random() < 0.6:
        options.update(mixture="plug-in", n_bets=None)
    return rng, rewards, limits, options


def order_of(race, most_items):
    order = race.get_state()["order"]
    return np.arange(most_items) if order is None else order


def assert_items(race, n_items):
    """Check that a race decided by item n_items has read the whole block of that item, not more."""
    read = int(race.pulls.max())
    last = race.get_state()["lengths"][-1]
    assert n_items <= read < n_items + last
    if race.block_size == 1:
        assert last == 1


@pytest.mark.some(1)
@pytest.mark.parametrize("n_problems", [50, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_best_arm_races_match_the_reference(k, n_problems):
    """Given the order of items, the reference reaches the same answer at the same item."""
    ends = set()
    for seed in range(1000 * k, 1000 * k + n_problems):
        rng, rewards, limits, options = problem(seed, plugged=True)
        n_items, n_arms = rewards.shape
        if n_arms <= k:
            continue
        stream = seed % 5 == 0
        options["block_size"] = 1 if stream else options["block_size"]
        hybrid = k == 1 and options["mixture"] == "product" and bool(rng.random() < 0.4)
        most_items = 400 if stream else n_items
        scalar = seed % 3 == 0
        race = pb.BettingRace(n_arms, None if stream else n_items, k=k, rng=seed,
                              value_range=limits[1] - limits[0] if scalar else limits,
                              **grouped(options | {"hybrid": hybrid}))
        order = order_of(race, most_items) % n_items
        play(race, rewards, most_items)
        shared = dict(mixture=options["mixture"], n_bets=options["n_bets"], iid=stream,
                      epsilon=options["epsilon"])
        if k == 1:
            expected = twin.race(
                rewards, np.zeros(n_arms), order,
                twin.Options(options["delta"], limits[1] - limits[0], hybrid=hybrid, **shared))
            chosen = (expected.best,)
            if race.block_size == 1 or not race.done:
                assert tuple(race.survivors) == expected.alive, seed
        else:
            expected = twin.top_k(rewards, order, k, options["delta"], limits[1] - limits[0],
                                  **shared)
            chosen = expected.chosen
        assert tuple(sorted(race.recommend())) == chosen, (seed, options)
        if race.done:
            assert_items(race, expected.n_items)
            if race.block_size == 1:
                assert race.n_pulls == expected.n_pulls, (seed, options)
        assert race.exact <= expected.exact
        ends.add((race.done, race.exact, stream, options["mixture"], options["epsilon"] > 0))
    assert len(ends) >= 12


@pytest.mark.examples
def test_threshold_race_matches_the_reference():
    ends = set()
    for seed in range(part(60, of=150)):
        rng, rewards, limits, options = problem(seed)
        n_items, n_arms = rewards.shape
        n_arms = 1 if seed % 7 == 0 else n_arms
        rewards = rewards[:, :n_arms]
        stream = seed % 5 == 0
        options["block_size"] = 1 if stream else options["block_size"]
        options["epsilon"] *= float(rng.choice([0.02, 0.2]))
        tau = float(np.quantile(rewards.mean(axis=0), rng.random())) + 0.01
        tau = min(max(tau, limits[0] + 0.01), limits[1] - 0.01)
        most_items = 400 if stream else n_items
        race = pb.BettingThreshold(n_arms, None if stream else n_items, threshold=tau,
                                   value_range=limits, rng=seed, **grouped(options))
        order = order_of(race, most_items) % n_items
        play(race, rewards, most_items)
        expected = twin.threshold(
            rewards, order, tau, options["delta"], limits, options["epsilon"],
            options["mixture"], options["n_bets"], iid=stream)
        if race.done:
            assert tuple(np.isin(np.arange(n_arms), race.above)) == expected.above, seed
            assert_items(race, max(expected.n_items))
            if race.block_size == 1:
                assert tuple(race.pulls) == expected.n_items, (seed, options)
        else:
            decided = ~np.isin(np.arange(n_arms), race.survivors)
            assert np.array_equal(np.isin(np.arange(n_arms), race.above)[decided],
                                  np.array(expected.above)[decided])
        assert race.exact == (race.done and max(expected.exact) and race.n_items is not None
                              and bool(race._race.alive.size))
        ends.add((race.done, race.exact, stream, options["mixture"], options["epsilon"] > 0))
    assert len(ends) >= 10


# -- ask and tell ---------------------------------------------------------------


@makers
def test_ask_has_no_effect_and_order_of_tell_does_not_matter(make):
    rng = np.random.default_rng(0)
    race, other = make(), make()
    while not race.done and race.pulls.max() < 600:
        before = frozen(race.get_state())
        arms, items = race.ask()
        for again in race.ask(), race.ask():
            assert np.array_equal(again, (arms, items))
        assert frozen(race.get_state()) == before
        # each survivor on the same items, each item new
        assert np.array_equal(np.unique(arms), race.survivors)
        assert len(set(zip(arms, items, strict=True))) == len(arms)
        assert len(arms) == len(np.unique(arms)) * len(np.unique(items))
        told = REWARDS[items % 300, arms]
        race.tell(arms, items, told)
        mixed = rng.permutation(len(arms))
        # small integers and lists are accepted
        other.tell(arms[mixed].astype(np.int8), items[mixed].tolist(), told[mixed].tolist())
        told[:] = np.nan  # the race must have copied them
        assert frozen(race.get_state()) == frozen(other.get_state())
    assert race.n_pulls == race.pulls.sum() > 0 and race.n_batches > 2
    if race.done:
        arms, items = race.ask()
        assert arms.shape == items.shape == (0,) and arms.dtype == items.dtype == np.int64


@makers
def test_properties_during_the_race(make):
    race, read = make(), {arm: [] for arm in range(4)}
    assert not race.done and not race.exact and race.n_pulls == race.n_batches == 0
    assert np.isnan(race.means).all() and np.isnan(race.variances).all()
    assert not race.pulls.any() and race.survivors.tolist() == [0, 1, 2, 3]
    if isinstance(race, pb.BettingRace):
        assert race.recommend().tolist() == list(range(race.k))
    else:
        assert race.recommend().size == race.above.size == race.below.size == 0
    while not race.done and race.pulls.max() < 600:
        arms, items = race.ask()
        for arm, item in zip(arms, items, strict=True):
            read[arm].append(REWARDS[item % 300, arm])
        race.tell(arms, items, REWARDS[items % 300, arms])
        assert race.pulls.tolist() == [len(read[arm]) for arm in range(4)]
        for arm in range(4):
            if race.weights is None:
                assert race.means[arm] == pytest.approx(np.mean(read[arm]), rel=1e-12)
            assert race.variances[arm] == pytest.approx(np.var(read[arm], ddof=1), rel=1e-12)
            assert race.rewards(arm).tolist() == read[arm]
        recommended = race.recommend()
        assert recommended.dtype == race.survivors.dtype == np.int64
        if isinstance(race, pb.BettingRace):
            assert len(set(recommended)) == race.k
        else:
            parts = np.concatenate([race.above, race.below, race.survivors])
            assert sorted(parts) == [0, 1, 2, 3] and set(recommended) == set(race.above)
        assert np.all(np.diff(race.means[recommended]) <= 0)
    race.pulls[:] = -1
    assert race.pulls.min() > 0


def test_equal_rewards_are_read_completely():
    """Constant rewards decide nothing before the last item; equal totals go to the lowest index."""
    for k in (1, 2):
        race = play(pb.BettingRace(3, 50, k=k, **RACE), np.full((50, 3), 0.5))
        assert race.done and race.exact and race.n_pulls == 150
        assert race.recommend().tolist() == list(range(k)) and race.survivors.size == 3
    race = pb.BettingThreshold(3, 50, threshold=0.5, delta=1e-9, **RACE)
    play(race, np.full((50, 3), [0.5, 0.499, 0.501]))
    assert race.done and race.exact and race.n_pulls == 150 and not race.survivors.size
    assert race.recommend().tolist() == [2, 0] and race.below.tolist() == [1]
    race = play(pb.BettingRace(2, 1, **RACE), np.array([[0.2, 0.7]]))
    assert race.exact and race.recommend() == 1


# -- budgets ----------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(st.integers(2, 6), st.integers(1, 80), st.integers(0, 400), st.integers(1, 5),
       st.sampled_from([None, 1, 3, 17]), st.integers(0, 99))
def test_budget_is_never_exceeded(n_arms, n_items, spare, k, block_size, seed):
    rng, budget = np.random.default_rng(seed), n_arms + spare
    rewards = random_rewards(rng, n_items, n_arms)
    options = dict(max_pulls=budget, block_size=block_size, rng=seed, value_range=(0, 1))
    for race in (pb.BettingRace(n_arms, n_items, k=min(k, n_arms - 1), **options),
                 pb.BettingThreshold(n_arms, n_items, threshold=0.5, **options)):
        while not race.done:
            arms, items = race.ask()
            assert 0 < len(arms) <= budget - race.n_pulls
            race.tell(arms, items, rewards[items, arms])
        assert 0 < race.n_pulls <= budget
        assert race.ask()[0].size == 0
        # the budget ended the race: it does not cover another item of all survivors
        if race.survivors.size > 1 and not race.exact and not race._race.decided:
            assert budget - race.n_pulls < race.survivors.size
        if isinstance(race, pb.BettingRace):
            assert len(race.recommend()) == race.k
            if race.k == 1:
                assert race.recommend()[0] in race.survivors


def test_too_small_budgets_raise():
    for make in (pb.BettingRace, lambda *a, **o: pb.BettingThreshold(*a, threshold=0.5, **o)):
        for budget in (0, 6):
            with pytest.raises(pb.errors.InfeasibleBudgetError,
                               match=rf"max_pulls.* 7.* {budget}$"):
                make(7, 100, max_pulls=budget, **RACE)
        race = play(make(7, 100, max_pulls=7, **RACE), np.eye(100)[:, :7])
        assert race.done and race.n_pulls == 7 and not race.exact


# -- epsilon ----------------------------------------------------------------------


@pytest.mark.some(1)
@pytest.mark.parametrize("wins, epsilon", [([5, 3, 3], 0.2), ([4, 4, 2], 0.3), ([6, 4], 0.3)])
def test_tolerance_errs_with_probability_at_most_delta_by_enumeration(wins, epsilon):
    """Enumerates all orders of populations in which an arm exceeds the epsilon by one item."""
    rewards = np.array([[float(item % 6 < win) for win in wins] for item in range(6)])
    rewards = np.column_stack([np.roll(column, 2 * arm) for arm, column in enumerate(rewards.T)])
    means = rewards.mean(axis=0)
    bad = np.flatnonzero(means < means.max() - epsilon)
    assert bad.size
    for delta in (0.2, 0.6):
        law = twin.enumerate_errors(rewards, np.zeros(len(wins)),
                                    twin.Options(delta, epsilon=epsilon))
        assert sum(law.get(int(arm), 0) for arm in bad) <= delta


def test_tolerance_costs_little_and_saves_on_near_ties():
    """An epsilon costs at most 2 % more items without near ties, and saves 5 % with one."""
    rng = np.random.default_rng(11)
    difficulty = 0.3 * rng.random((1500, 1))
    far = (rng.random((1500, 12)) < 0.7 - 0.04 * np.arange(12) + difficulty) * 1.0
    near = far.copy()
    near[:, 1] = near[:, 0]
    near[:3, 1] = 1.0 - near[:3, 1]

    def read(rewards, epsilon):
        return sum(play(pb.BettingRace(12, 1500, epsilon=epsilon, value_range=(0, 1), rng=seed),
                        rewards).n_pulls for seed in range(15))

    assert read(far, 0.005) <= 1.02 * read(far, 0.0)
    assert read(near, 0.01) <= 0.95 * read(near, 0.0)


@pytest.mark.parametrize("sizes", [None, 1, 7])
@pytest.mark.parametrize("pieces", [(2**18, 512), (1, 1), (1, 20)])
def test_rewards_of_all_arms_equal_rewards_of_each(sizes, pieces, monkeypatch):
    """Rewards are the same however many arms are copied at a time."""
    monkeypatch.setattr(_paired, "COPIED", pieces[0])
    monkeypatch.setattr(_paired, "SLICE", pieces[1])
    race = pb.BettingRace(12, 2000, value_range=(0, 1), rng=1, block_size=sizes)
    assert [rewards.size for rewards in race._rewards_of_all()] == [0] * 12
    values = np.random.default_rng(1).random((2000, 12)) * np.linspace(0.2, 1.0, 12)
    while not race.done:
        arms, items = race.ask()
        race.tell(arms, items, values[items, arms])
    assert len(set(race.pulls.tolist())) > 3
    for arm, rewards in enumerate(race._rewards_of_all()):
        assert np.array_equal(rewards, race.rewards(arm))


def test_variances_copy_rewards_of_one_arm_at_a_time():
    n_items, n_arms = 100_000, 16
    race = pb.BettingRace(n_arms, n_items, value_range=(0, 1), rng=1)
    rng = np.random.default_rng(1)
    while not race.done:
        arms, items = race.ask()
        race.tell(arms, items, rng.random(items.size // n_arms).repeat(n_arms))
    assert (race.pulls == n_items).all()
    tracemalloc.start()
    try:
        variances = race.variances
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 7 * 8 * n_items
    assert variances[3] == np.var(race.rewards(3), ddof=1)
