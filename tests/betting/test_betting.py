"""BettingRace and BettingThreshold: the twins, ask and tell, states, what is refused."""

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pybandit as pb

from betting.reference import betting as twin
from racing.reference.problems import random_rewards

RACE = dict(value_range=(0, 1), rng=1)


def play(race, rewards, most_items=np.inf, copied=lambda race: race):
    """Answer until the race is done; item i of a stream is row i modulo N."""
    while not race.done and race.pulls.max() < most_items:
        race = copied(race)
        arms, items = race.ask()
        race.tell(arms, items, rewards[items % len(rewards), arms])
    return race


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


def problem(seed):
    """Rewards in some range, the range, and options that both sides take."""
    rng = np.random.default_rng(seed)
    n_items, n_arms = int(rng.choice([12, 60, 250])), int(rng.integers(2, 6))
    rewards, limits = random_rewards(rng, n_items, n_arms), [(0.0, 1.0), (-2.0, 3.0)][seed % 2]
    rewards = limits[0] + (limits[1] - limits[0]) * rewards
    options = dict(
        delta=float(rng.choice([0.4, 0.1, 0.01])),
        tolerance=float(rng.choice([0.0, 0.0, 0.05, 0.5])),
        mixture=str(rng.choice(["product", "product", "ebmix"])),
        bets=int(rng.choice([1, 2, 5, 16, 64])),
        block_size=int(rng.choice([0, 1, 1])) or None,
    )
    return rng, rewards, limits, options


def order_of(race, most_items):
    order = race.get_state()["order"]
    return np.arange(most_items) if order is None else order


def assert_items(race, n_items):
    """What was read, where the race needs n_items: all of the block where it ended."""
    read = int(race.pulls.max())
    last = race.get_state()["lengths"][-1]
    assert n_items <= read < n_items + last
    if race.block_size == 1:
        assert last == 1


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_twins_of_the_best_arms(k):
    """The order of the race's own state gives the twin's answer, at the twin's item."""
    ends = set()
    for seed in range(1000 * k, 1000 * k + 150):
        rng, rewards, limits, options = problem(seed)
        n_items, n_arms = rewards.shape
        if n_arms <= k:
            continue
        stream = seed % 5 == 0
        options["block_size"] = 1 if stream else options["block_size"]
        hybrid = k == 1 and options["mixture"] == "product" and bool(rng.random() < 0.4)
        most_items = 400 if stream else n_items
        scalar = seed % 3 == 0
        race = pb.BettingRace(n_arms, None if stream else n_items, k=k, hybrid=hybrid, rng=seed,
                              value_range=limits[1] - limits[0] if scalar else limits, **options)
        order = order_of(race, most_items) % n_items
        play(race, rewards, most_items)
        shared = dict(mixture=options["mixture"], n_bets=options["bets"], iid=stream,
                      tolerance=options["tolerance"])
        if k == 1:
            expected = twin.race(
                rewards, np.zeros(n_arms), order,
                twin.Options(options["delta"], limits[1] - limits[0], hybrid=hybrid, **shared))
            chosen = (expected.winner,)
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
                assert race.n_pulls == expected.n_evaluations, (seed, options)
        assert race.exact <= expected.exact
        ends.add((race.done, race.exact, stream, options["mixture"], options["tolerance"] > 0))
    assert len(ends) >= 12


def test_the_twin_of_the_threshold():
    ends = set()
    for seed in range(150):
        rng, rewards, limits, options = problem(seed)
        n_items, n_arms = rewards.shape
        n_arms = 1 if seed % 7 == 0 else n_arms
        rewards = rewards[:, :n_arms]
        stream = seed % 5 == 0
        options["block_size"] = 1 if stream else options["block_size"]
        options["tolerance"] *= float(rng.choice([0.02, 0.2]))
        tau = float(np.quantile(rewards.mean(axis=0), rng.random())) + 0.01
        tau = min(max(tau, limits[0] + 0.01), limits[1] - 0.01)
        most_items = 400 if stream else n_items
        race = pb.BettingThreshold(n_arms, None if stream else n_items, threshold=tau,
                                   value_range=limits, rng=seed, **options)
        order = order_of(race, most_items) % n_items
        play(race, rewards, most_items)
        expected = twin.threshold(
            rewards, order, tau, options["delta"], limits, options["tolerance"],
            options["mixture"], options["bets"], iid=stream)
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
        ends.add((race.done, race.exact, stream, options["mixture"], options["tolerance"] > 0))
    assert len(ends) >= 10


# -- ask and tell ---------------------------------------------------------------

REWARDS = np.random.default_rng(3).random((300, 4)) * [0.8, 0.85, 0.9, 1.0]
MAKERS = {
    "best": lambda **o: pb.BettingRace(4, 300, **{**RACE, **o}),
    "hybrid": lambda **o: pb.BettingRace(4, 300, hybrid=True, **{**RACE, **o}),
    "near": lambda **o: pb.BettingRace(4, 300, tolerance=0.03, **{**RACE, **o}),
    "top": lambda **o: pb.BettingRace(4, 300, k=2, tolerance=0.03, **{**RACE, **o}),
    "ebmix": lambda **o: pb.BettingRace(4, 300, k=2, mixture="ebmix", **{**RACE, **o}),
    "stream": lambda **o: pb.BettingRace(4, None, bets=7, **{**RACE, **o}),
    "sides": lambda **o: pb.BettingThreshold(4, 300, threshold=0.43, **{**RACE, **o}),
    "sides near": lambda **o: pb.BettingThreshold(4, None, threshold=0.43, tolerance=0.03,
                                                  mixture="ebmix", **{**RACE, **o}),
}
makers = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


@makers
def test_asking_changes_nothing_and_the_order_of_telling_neither(make):
    rng = np.random.default_rng(0)
    race, other = make(), make()
    while not race.done and race.pulls.max() < 600:
        before = frozen(race.get_state())
        arms, items = race.ask()
        for again in race.ask(), race.ask():
            assert np.array_equal(again, (arms, items))
        assert frozen(race.get_state()) == before
        # every survivor on the same items, each new
        assert np.array_equal(np.unique(arms), race.survivors)
        assert len(set(zip(arms, items, strict=True))) == len(arms)
        assert len(arms) == len(np.unique(arms)) * len(np.unique(items))
        told = REWARDS[items % 300, arms]
        race.tell(arms, items, told)
        mixed = rng.permutation(len(arms))
        # small integers and lists are as good
        other.tell(arms[mixed].astype(np.int8), items[mixed].tolist(), told[mixed].tolist())
        told[:] = np.nan  # they were copied
        assert frozen(race.get_state()) == frozen(other.get_state())
    assert race.n_pulls == race.pulls.sum() > 0 and race.n_batches > 2
    if race.done:
        arms, items = race.ask()
        assert arms.shape == items.shape == (0,) and arms.dtype == items.dtype == np.int64


@makers
def test_what_is_known_on_the_way(make):
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


def test_exact_ends():
    """Constant rewards tell nothing before the last item; equal totals go to the lowest."""
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


def without(values, at):
    return np.delete(values, at)


def replaced(values, at, value):
    values = np.array(values, dtype=float if isinstance(value, float) else None)
    values[at] = value
    return values


# what is told instead of (arms a, items i, rewards r) of a block, the error, its words
BAD = {
    "NaN": (lambda a, i, r: (a, i, replaced(r, 3, np.nan)), ValueError, ["rewards", "nan"]),
    "inf": (lambda a, i, r: (a, i, replaced(r, 3, np.inf)), ValueError, ["rewards", "inf"]),
    "-inf": (lambda a, i, r: (a, i, replaced(r, -1, -np.inf)), ValueError, ["rewards", "-inf"]),
    "above": (lambda a, i, r: (a, i, replaced(r, 5, 1.5)), ValueError, ["value_range", "1.5"]),
    "below": (lambda a, i, r: (a, i, replaced(r, 5, -1e-9)), ValueError, ["(0.0, 1.0)", "-1e-09"]),
    "permuted": (lambda a, i, r: (a[::-1], i[::-1], replaced(r, 0, 2.0)), ValueError, ["2.0"]),
    "short": (lambda a, i, r: (a, i, r[1:]), ValueError, ["rewards", "shape", "arms"]),
    "items": (lambda a, i, r: (a, i[1:], r), ValueError, ["items", "shape", "arms"]),
    "square": (lambda a, i, r: (a, i, r[:, None]), ValueError, ["rewards", "shape"]),
    "scalar": (lambda a, i, r: (a, i, 0.5), ValueError, ["rewards", "()"]),
    "2-D": (lambda a, i, r: (a[:, None], i, r), TypeError, ["arms", "2 dimensions"]),
    "missing": (lambda a, i, r: (without(a, 2), without(i, 2), without(r, 2)), ValueError,
                ["pairs of ask()", "without item"]),
    "nothing": (lambda a, i, r: (a[:0], i[:0], r[:0]), ValueError, ["got 0"]),
    "twice": (lambda a, i, r: (replaced(a, 1, a[0]), replaced(i, 1, i[0]), r), ValueError,
              ["once", "twice"]),
    "added": (lambda a, i, r: (np.append(a, a[0]), np.append(i, i[0]), np.append(r, 0.5)),
              ValueError, ["once", "twice"]),
    "not asked": (lambda a, i, r: (a, replaced(i, 0, 2999), r), ValueError,
                  ["item 2999", "not asked"]),
    "arm": (lambda a, i, r: (replaced(a, 0, 4), i, r), ValueError, ["arm 4", "not asked"]),
    "arm -1": (lambda a, i, r: (replaced(a, 0, -1), i, r), ValueError, ["arm -1", "not asked"]),
    "item -1": (lambda a, i, r: (a, replaced(i, 0, -1), r), ValueError, ["item -1"]),
    "float arms": (lambda a, i, r: (a + 0.0, i, r), TypeError, ["arms", "float64"]),
    "bool items": (lambda a, i, r: (a, i > 0, r), TypeError, ["items", "bool"]),
    "text": (lambda a, i, r: (a, i, ["x"] * len(a)), TypeError, ["rewards"]),
    "digits": (lambda a, i, r: (a, i, [str(x) for x in r]), TypeError, ["rewards"]),
    "None": (lambda a, i, r: (a, i, [None] * len(a)), TypeError, ["rewards"]),
    "complex": (lambda a, i, r: (a, i, r + 0j), TypeError, ["rewards"]),
}


@makers
def test_a_bad_block_changes_nothing(make):
    race, undisturbed, last = make(delta=1e-6), make(delta=1e-6), None
    for _ in range(4):
        arms, items = race.ask()
        rewards = REWARDS[items % 300, arms]
        before = frozen(race.get_state())
        for name, (spoiled, error, words) in BAD.items():
            with pytest.raises(error) as caught:
                race.tell(*spoiled(arms, items, rewards))
            assert_says(caught.value, *words)
            assert frozen(race.get_state()) == before, name
        if last is not None:
            with pytest.raises(ValueError) as caught:
                race.tell(*last)
            assert_says(caught.value, "told before", f"item {last[1][0]}", f"arm {last[0][0]}")
            assert frozen(race.get_state()) == before
        last = arms, items, rewards
        race.tell(*last)
        undisturbed.tell(*last)
    assert frozen(race.get_state()) == frozen(undisturbed.get_state())


def test_messages_name_item_arm_and_value():
    race = pb.BettingRace(3, 100, **RACE)
    arms, items = race.ask()
    rewards = np.full(len(arms), 0.5)
    rewards[4] = 7.25
    with pytest.raises(ValueError) as caught:
        race.tell(arms, items, rewards)
    assert_says(caught.value, f"item {items[4]} of arm {arms[4]}", "7.25", "(0.0, 1.0)")


def test_a_race_that_is_done_refuses():
    race = play(MAKERS["best"](), REWARDS)
    before = frozen(race.get_state())
    for told in ([0], [0], [0.5]), (*race.ask(), []):
        with pytest.raises(ValueError, match="done"):
            race.tell(*told)
    assert frozen(race.get_state()) == before


def test_a_number_as_value_range():
    """It limits the differences of an item's rewards, wherever they are."""
    shifts = np.arange(300)[:, None] * 1000.0
    race = play(pb.BettingRace(4, 300, value_range=1.0, rng=5), REWARDS + shifts)
    same = play(pb.BettingRace(4, 300, value_range=(0, 1), rng=5), REWARDS)
    assert race.pulls.tolist() == same.pulls.tolist() and race.recommend() == same.recommend()
    race = pb.BettingRace(3, 100, value_range=0.5, rng=1)
    arms, items = race.ask()
    rewards = np.tile([10.0, 10.0, 10.25], len(arms) // 3)
    rewards[3:6] = 10.0, 10.625, 10.25
    before = frozen(race.get_state())
    with pytest.raises(ValueError) as caught:
        race.tell(arms, items, rewards)
    assert_says(caught.value, "value_range = 0.5", "10.0", "10.625", f"item {items[3]}")
    assert frozen(race.get_state()) == before
    rewards[4] = 10.5
    race.tell(arms, items, rewards)


# -- budgets ----------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(st.integers(2, 6), st.integers(1, 80), st.integers(0, 400), st.integers(1, 5),
       st.sampled_from([None, 1, 3, 17]), st.integers(0, 99))
def test_a_budget_is_never_exceeded(n_arms, n_items, spare, k, block_size, seed):
    rng, budget = np.random.default_rng(seed), n_arms + spare
    rewards = random_rewards(rng, n_items, n_arms)
    options = dict(max_evaluations=budget, block_size=block_size, rng=seed, value_range=(0, 1))
    for race in (pb.BettingRace(n_arms, n_items, k=min(k, n_arms - 1), **options),
                 pb.BettingThreshold(n_arms, n_items, threshold=0.5, **options)):
        while not race.done:
            arms, items = race.ask()
            assert 0 < len(arms) <= budget - race.n_pulls
            race.tell(arms, items, rewards[items, arms])
        assert 0 < race.n_pulls <= budget
        assert race.ask()[0].size == 0
        # an end for want of money: another item would have cost too much
        if race.survivors.size > 1 and not race.exact and not race._race.decided:
            assert budget - race.n_pulls < race.survivors.size
        if isinstance(race, pb.BettingRace):
            assert len(race.recommend()) == race.k
            if race.k == 1:
                assert race.recommend()[0] in race.survivors


def test_budgets_too_small():
    for make in (pb.BettingRace, lambda *a, **o: pb.BettingThreshold(*a, threshold=0.5, **o)):
        for budget in (0, 6):
            with pytest.raises(pb.InfeasibleBudget, match=rf"max_evaluations.* 7.* {budget}$"):
                make(7, 100, max_evaluations=budget, **RACE)
        race = play(make(7, 100, max_evaluations=7, **RACE), np.eye(100)[:, :7])
        assert race.done and race.n_pulls == 7 and not race.exact


# -- states -------------------------------------------------------------------------


def as_json(value):
    return value.tolist() if isinstance(value, np.ndarray) else value


def through_json(race):
    """By text; what was an array becomes one again, with the dtype it had."""
    def back(value, like):
        if isinstance(like, dict):
            return {name: back(value[name], like[name]) for name in like}
        return np.array(value, dtype=like.dtype) if isinstance(like, np.ndarray) else value

    state = race.get_state()
    text = json.dumps(state, default=as_json)
    return type(race).from_state(back(json.loads(text), state))


COPIES = [lambda race: race, lambda race: type(race).from_state(race.get_state()),
          lambda race: pickle.loads(pickle.dumps(race)), copy.deepcopy, through_json]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(MAKERS)), st.integers(0, 999), st.sampled_from([None, 1, 5]),
       st.sampled_from([None, 350]))
def test_a_race_continues_bit_for_bit(name, seed, block_size, budget):
    rng = np.random.default_rng(seed)
    rewards = random_rewards(rng, 300, 4)

    def make():
        return MAKERS[name](rng=seed, block_size=block_size, max_evaluations=budget)

    straight = play(make(), rewards, 200)
    copied = play(make(), rewards, 200, lambda race: COPIES[rng.integers(len(COPIES))](race))
    races = [copied, *(make_copy(straight) for make_copy in COPIES)]
    states = [frozen(race.get_state()) for race in races]
    assert states == [frozen(straight.get_state())] * len(races)
    for race in races:
        assert race.n_pulls == straight.n_pulls and race.done == straight.done
        assert frozen(race.means) == frozen(straight.means)
        assert frozen(race.recommend()) == frozen(straight.recommend())


@makers
def test_a_copy_is_on_its_own(make):
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
    """The state with other options, or other entries."""
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
def test_states_that_do_not_fit(change):
    state = play(MAKERS["near"](), REWARDS, 20).get_state()
    with pytest.raises(ValueError):
        pb.BettingRace.from_state(changed(state, **change))
    pb.BettingRace.from_state(state)


def test_the_state_of_another_class():
    state = MAKERS["best"]().get_state()
    with pytest.raises(ValueError, match="BettingThreshold.*BettingRace"):
        pb.BettingThreshold.from_state(state)
    with pytest.raises(ValueError, match="BettingRace.*BettingThreshold"):
        pb.BettingRace.from_state(MAKERS["sides"]().get_state())


# -- what is refused -----------------------------------------------------------------

SHARED = [
    ({"delta": 0}, ["delta", "0.0"]),
    ({"delta": 1}, ["delta", "1.0"]),
    ({"delta": np.nan}, ["delta", "nan"]),
    ({"delta": -0.5}, ["delta", "-0.5"]),
    ({"tolerance": -0.1}, ["tolerance", "-0.1"]),
    ({"tolerance": np.inf}, ["tolerance", "inf"]),
    ({"tolerance": np.nan}, ["tolerance", "nan"]),
    ({"value_range": (1, 0)}, ["value_range", "(1, 0)"]),
    ({"value_range": (1, 1)}, ["value_range", "(1, 1)"]),
    ({"value_range": None}, ["value_range", "None"]),
    ({"value_range": (0, np.nan)}, ["value_range", "nan"]),
    ({"value_range": (0, np.inf)}, ["value_range", "inf"]),
    ({"value_range": (0, 1, 2)}, ["value_range", "(0, 1, 2)"]),
    ({"value_range": np.nan}, ["value_range", "nan"]),
    ({"value_range": 0}, ["value_range", "0"]),
    ({"value_range": -1}, ["value_range", "-1"]),
    ({"bets": 0}, ["bets", "0"]),
    ({"bets": 65}, ["bets", "64", "65"]),
    ({"mixture": "sum"}, ["mixture", "sum", "ebmix", "product"]),
    ({"block_size": 0}, ["block_size", "0"]),
    ({"block_size": -3}, ["block_size", "-3"]),
    ({"n_items": 0}, ["n_items", "0"]),
    ({"max_evaluations": 2}, ["max_evaluations", "3", "2"]),
]
RACE_ONLY = [
    ({"k": 0}, ["k", "0"]),
    ({"k": 3}, ["k", "n_arms = 3", "3"]),
    ({"k": -1}, ["k", "-1"]),
    ({"hybrid": True, "mixture": "ebmix"}, ["hybrid", "ebmix"]),
    ({"hybrid": True, "k": 2}, ["hybrid", "k = 2"]),
    ({"n_arms": 1}, ["n_arms", "2", "1"]),
]
THRESHOLD_ONLY = [
    ({"threshold": 0}, ["threshold", "0.0", "(0.0, 1.0)"]),
    ({"threshold": 1}, ["threshold", "1.0", "(0.0, 1.0)"]),
    ({"threshold": 2.5}, ["threshold", "2.5"]),
    ({"threshold": np.nan}, ["threshold", "nan"]),
    ({"value_range": 1.0}, ["value_range", "1.0"]),
    ({"n_arms": 0}, ["n_arms", "0"]),
]


def make_race(n_arms=3, n_items=10, **options):
    return pb.BettingRace(n_arms, n_items, **{"value_range": (0, 1), **options})


def make_threshold(n_arms=3, n_items=10, **options):
    return pb.BettingThreshold(n_arms, n_items, **{"value_range": (0, 1), "threshold": 0.5,
                                                   **options})


@pytest.mark.parametrize(
    "make, options, words",
    [(make, *case) for make, cases in [(make_race, SHARED + RACE_ONLY),
                                       (make_threshold, SHARED + THRESHOLD_ONLY)]
     for case in cases],
)
def test_options(make, options, words):
    with pytest.raises(ValueError) as caught:
        make(**options)
    assert_says(caught.value, *words)


@pytest.mark.parametrize("make", [make_race, make_threshold])
@pytest.mark.parametrize(
    "options, word",
    [({"n_arms": 2.5}, "n_arms"), ({"n_arms": None}, "n_arms"), ({"n_items": 1.5}, "n_items"),
     ({"n_items": "x"}, "n_items"), ({"bets": 1.5}, "bets"), ({"bets": True}, "bets"),
     ({"delta": "0.1"}, "delta"), ({"tolerance": None}, "tolerance"),
     ({"value_range": "ab"}, "value_range"), ({"value_range": ("a", "b")}, "value_range"),
     ({"block_size": 2.5}, "block_size"), ({"max_evaluations": 9.5}, "max_evaluations"),
     ({"rng": "seed"}, "rng")],
)
def test_types(make, options, word):
    with pytest.raises(TypeError, match=word):
        make(**options)
