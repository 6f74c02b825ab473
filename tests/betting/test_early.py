"""Rewards in any order, in parts and ahead of their block: the race equals the serial one."""

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pybandit as pb
from costly import examples
from pybandit.betting import _need as need

from betting.races import (
    MAKERS,
    RACE,
    REWARDS,
    assert_says,
    frozen,
    makers,
    play,
    price,
    told_costs,
)
from betting.reference.early import may_be_asked_ahead, played, useless, wanted
from betting.reference.need import chance, order
from betting.reference.plug_in import Plugged

RACES = {**MAKERS,
         "capped": lambda **o: MAKERS["best"](max_pulls=700, **o),
         "prior": lambda **o: MAKERS["best"](prior_scores=REWARDS[:, :2], **o),
         "differences": lambda **o: MAKERS["best"](value_range=1.0, **o),
         "budget": lambda **o: pb.BudgetRace(4, 300, budget=700, **{**RACE, **o}),
         "budget of 2": lambda **o: pb.BudgetRace(4, 300, costs=pb.betting.Costs(budget=300.0), k=2,
                                                  **{**RACE, **o})}
NOTHING = np.empty(0, dtype=np.int64)


def without_ahead(race):
    """Return the state of a race without rewards that are ahead of their block."""
    return frozen({name: part for name, part in race.get_state().items() if name != "ahead"})


def kernel(race):
    """Return the kernel's memory except predictions (pointers) and the memory of `recommend`."""
    return frozen({name: part for name, part in race._race.arrays.items()
                   if name not in ("predictions", "inside")})


def pairs(arms, items):
    return list(zip(arms.tolist(), items.tolist(), strict=True))


def answer(race, cells):
    """Report these cells to a race; return the rewards reported, by cell."""
    arms, items = np.array(cells, dtype=np.int64).reshape(-1, 2).T
    rewards, costs = REWARDS[items % 300, arms], told_costs(race, arms, items)
    race.tell(arms, items, rewards, costs)
    return {cell: (rewards[i], None if costs is None else costs[i])
            for i, cell in enumerate(cells)}


COPIES = [lambda race: race, lambda race: type(race).from_state(race.get_state()),
          lambda race: pickle.loads(pickle.dumps(race))]


@examples(8, of=50)
@given(st.sampled_from(sorted(RACES)), st.integers(0, 9999))
def test_any_cells_in_any_order(name, seed):
    """After every `tell`, the race equals a reference race that received all complete blocks."""
    rng = np.random.default_rng(seed)

    def make():
        return RACES[name](rng=seed)

    race, known, out = make(), {}, []
    for _ in range(60):
        n = None if rng.random() < 0.3 else int(rng.integers(1, 90))
        asked = pairs(*race.ask(n))
        assert asked == pairs(*race.ask(n))
        plain = played(make, known)
        block = wanted(plain, known)[:n]
        assert asked[:len(block)] == block and len(set(asked)) == len(asked) <= (n or len(block))
        assert set(asked[len(block):]) <= may_be_asked_ahead(plain, known)
        assert race.done == plain.done and without_ahead(race) == without_ahead(plain)
        assert kernel(race) == kernel(plain)
        wasted = useless(plain, known)
        waiting = {cell for cell in known if cell not in wasted} - told_of(plain)
        assert set(pairs(*race.pending)) == waiting
        assert race.n_wasted_by_arm.tolist() == [sum(arm == cell[0] for cell in wasted)
                                                 for arm in range(4)]
        if race.cost is not None:
            assert np.isclose(race.waste_cost, cost_of(race, wasted, known))
        out += [cell for cell in asked if cell not in out]
        if not out:
            break
        # includes rewards requested long ago, the latest request first
        rng.shuffle(out)
        late = [out.pop() for _ in range(int(rng.integers(1, len(out) + 1)))]
        known |= answer(race, late)
        race = COPIES[rng.integers(len(COPIES))](race)


def told_of(race):
    order = race.get_state()["order"]
    return {(arm, place if order is None else int(order[place]))
            for arm, n in enumerate(race.pulls.tolist()) for place in range(n)}


def cost_of(race, cells, known):
    if race._is_told_costs():
        return sum(known[cell][1] for cell in cells)
    return sum(float(price(arm, item)) for arm, item in cells)


@pytest.mark.some(3)
@pytest.mark.parametrize("name", sorted(RACES))
@pytest.mark.parametrize("seed", range(3))
def test_end_equals_that_of_the_serial_race(seed, name):
    """The end does not depend on which rewards come early, late, or are requested ahead."""
    plain = play(RACES[name](), REWARDS, 900)
    rng, race, out = np.random.default_rng(seed), RACES[name](), set()
    while not race.done and race.pulls.max() < 900:
        out |= set(pairs(*race.ask(40)))
        late = sorted(out)[int(rng.integers(len(out)))]
        out.remove(late)
        answer(race, [late])
    if plain.done:
        assert without_ahead(race) == without_ahead(plain)
        assert race.recommend().tolist() == plain.recommend().tolist()
    if out and race.done:
        before = race.n_wasted_by_arm.sum() if not race._is_capped() else 0
        answer(race, sorted(out))
        assert race.n_wasted_by_arm.sum() == before + len(out)
        assert without_ahead(race) == without_ahead(plain) and race.pending[0].size == 0


@makers
def test_missing_part_of_a_block_is_requested_again(make):
    """Only the missing pairs are requested."""
    race = make()
    arms, items = race.ask()
    answer(race, pairs(arms[3:9], items[3:9]))
    again = race.ask()
    assert pairs(*again) == pairs(np.delete(arms, slice(3, 9)), np.delete(items, slice(3, 9)))
    assert race.n_pulls == 0 and race.n_batches == 0
    assert race.pending[0].size == 6 and not race.n_wasted_by_arm.any()
    assert race.waste_cost in (None, 0.0)
    answer(race, pairs(*again))
    assert race.n_batches == 1 and race.n_pulls == arms.size and race.pending[0].size == 0
    assert "ahead" not in race.get_state()


@pytest.mark.parametrize("name", ["best", "prior", "told", "budget of 2"])
def test_bad_cells_change_nothing(name):
    race = RACES[name]()
    arms, items = race.ask()
    answer(race, pairs(arms[2:4], items[2:4]))
    before, costs = frozen(race.get_state()), told_costs(race, arms, items)

    def refused(cells, reward, *words, cost=0.5):
        one, two = np.array(cells).T
        told = (one, two, np.broadcast_to(reward, one.shape))
        with pytest.raises(ValueError) as caught:
            race.tell(*told, None if costs is None else np.full(one.shape, cost))
        assert_says(caught.value, *words)
        assert frozen(race.get_state()) == before

    first, told = (arms[0], items[0]), (arms[2], items[2])
    refused([first, told], 0.5, "reported before", f"item {items[2]} of arm {arms[2]}")
    refused([first, first], 0.5, "once", "twice")
    refused([first, (arms[0], items[-1]), first], 0.5, "twice")
    refused([first], 1.5, "1.5", "value_range")
    refused([first], np.nan, "finite")
    ahead = set(pairs(*RACES["best"](block_size=100).ask())) - set(pairs(arms, items))
    refused([first, sorted(ahead)[0]], 0.5, "was not requested")
    refused([first, (4, items[0])], 0.5, "arm 4")
    refused([first, (-1, items[0])], 0.5, "arm -1")
    refused([first, (0, 300)], 0.5, "item 300")
    refused([first, (0, -1)], 0.5, "item -1")
    if costs is not None:
        refused([first], 0.5, "costs", cost=-1.0)
    for n in (0, -1):
        with pytest.raises(ValueError, match=f"n must be at least 1; got {n}"):
            race.ask(n)
    with pytest.raises(TypeError, match="n must be an integer"):
        race.ask(2.5)


def test_differences_are_checked_for_rewards_that_come_one_by_one():
    race = pb.BettingRace(3, 100, value_range=0.5, rng=1)
    arms, items = race.ask()
    race.tell(arms[3:4], items[3:4], [10.0])
    before = frozen(race.get_state())
    with pytest.raises(ValueError) as caught:
        race.tell(arms[4:5], items[4:5], [10.625])
    assert_says(caught.value, "value_range = 0.5", "10.0", "10.625", f"item {items[3]}")
    assert frozen(race.get_state()) == before
    race.tell(arms[4:5], items[4:5], [10.5])


def test_cells_ahead_are_wasted_once_their_arm_has_left():
    """Cells were requested while the arm was in the race; late, they may be reported once."""
    table = np.tile([0.0, 1.0, 1.0], (300, 1))
    race = pb.BettingRace(3, 300, value_range=(0, 1), rng=1)
    arms, items = race.ask(450)
    assert arms.size == 450 and race.n_pulls == 0 and (np.bincount(arms) == 150).all()
    late = np.flatnonzero(arms == 0)[-3:]
    now = np.delete(np.arange(450), late)
    race.tell(arms[now], items[now], table[items, arms][now])
    assert 0 not in race.survivors and race.pulls[0] < 140
    wasted = 147 - race.pulls[0]
    assert race.n_wasted_by_arm.tolist()[0] == wasted and race.n_pulls == race.pulls.sum()
    race.tell(arms[late], items[late], np.zeros(3))
    assert race.n_wasted_by_arm.tolist()[0] == wasted + 3
    again = type(race).from_state(race.get_state())
    assert again.n_wasted_by_arm.tolist() == race.n_wasted_by_arm.tolist()
    for one in (race, again):
        with pytest.raises(ValueError, match="reported before"):
            one.tell(arms[late[:1]], items[late[:1]], [0.0])


def test_race_with_a_cap_requests_no_more_than_its_block():
    for name in ("priced", "told", "capped", "budget", "budget of 2"):
        race = play(RACES[name](), REWARDS, 40)
        assert pairs(*race.ask(10**6)) == pairs(*race.ask())
        assert pairs(*race.ask(3)) == pairs(*race.ask())[:3]
    race = play(RACES["best"](), REWARDS, 40)
    assert race.ask(10**6)[0].size > 500


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 9999))
def test_requests_ahead_match_the_reference(seed):
    """The chance that each cell is needed, and the order of requests, equal the reference's."""
    rng = np.random.default_rng(seed)
    n_arms, told, later = int(rng.integers(2, 6)), int(rng.integers(0, 30)), 12
    k, first = int(rng.integers(1, n_arms)), told + int(rng.integers(0, 5))
    rewards = rng.random((told, n_arms)) * rng.random(n_arms)
    waiting = np.where(rng.random((later, n_arms)) < 0.4, rng.random((later, n_arms)), np.nan)
    limit, scale = float(np.log(20 * rng.random() + 2)), 0.5 + rng.random()
    means = rewards.mean(axis=0) if told else np.zeros(n_arms)
    ranks = sorted(range(n_arms), key=lambda arm: (-means[arm], arm))
    spread = need.Spread(0, np.zeros(n_arms))
    known, squares, early, waits = need.between(means, waiting, told, spread.squares, k, scale)
    missing = np.where(rng.random(n_arms) < 0.5, limit * rng.random(n_arms), np.nan)
    expected, places = np.empty((9, n_arms)), np.arange(first, first + 9)
    for arm in range(n_arms):
        inside = arm in ranks[:k]
        rival = ranks[k] if inside else ranks[k - 1]
        sign = 1 if inside else -1
        before = sign * (rewards[:, arm] - rewards[:, rival]) / scale
        more = sign * (waiting[:, arm] - waiting[:, rival]) / scale
        squares[arm] = (before**2).sum()
        assert np.isclose(known[arm], before.sum()) and np.array_equal(early[:, arm], more, True)
        expected[:, arm] = [chance(place, missing[arm], limit, before, more) for place in places]
    own = expected.copy()
    expected[:, ranks[k - 1]] = own[:, [ranks[k - 1], *ranks[k:]]].max(axis=1)
    expected[:, ranks[k]] = np.maximum(own[:, ranks[k]], expected[:, ranks[:k]].max(axis=1))
    made = need.chances(places, told, limit, missing, known, squares, early, waits)
    assert np.allclose(made, expected)
    new, n = rng.random(made.shape) < 0.7, int(rng.integers(1, 30))
    assert list(zip(*need.first_needed(made, new, n), strict=True)) == order(made, new, n)


@pytest.mark.parametrize("n", [1, 70, 400, 3000])
@pytest.mark.parametrize("name", ["best", "near", "stream", "top"])
def test_no_later_item_is_needed_more(name, n):
    """The few items that the race considers give the same cells as considering all later items."""
    race, found = RACES[name](), set()
    while not race.done and race.pulls.max() < 250:
        (places, arms), told = race._needed(n), race._books.n_items
        start, last = told + race._block_length(), race.n_items or 10**6
        if start < last:
            made, new = race._chances(start, min(start + n, last))
            rows, columns = need.first_needed(made, new, n)
            assert np.array_equal(places, start + rows)
            assert np.array_equal(arms, race.survivors[columns])
            found.add(places.size == n)
        arms, items = race.ask()
        race.tell(arms, items, REWARDS[items % 300, arms], told_costs(race, arms, items))
    assert found


def test_cells_ahead_take_memory_by_their_number():
    race = pb.BettingRace(500, 100_000, **RACE)
    tracemalloc.start()
    try:
        arms, _ = race.ask(20_000)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert arms.size == 20_000 and most < 50e6


@pytest.mark.parametrize("mixture", ["plug-in", "product", "ebmix", "hybrid"])
def test_missing_wealth_matches_the_reference(mixture):
    """Log wealth that an elimination needs: log(1 / delta) at first, above 0 for survivors."""
    hybrid = mixture == "hybrid"
    bets = pb.betting.Bets("product" if hybrid else mixture, hybrid=hybrid)
    race = pb.BettingRace(4, 300, delta=0.01, block_size=1, bets=bets, **RACE)
    twin, scores, t, alive = Plugged(4, 1.0), np.zeros(4), 0, np.arange(4)
    while not race.done:
        missing = race._race.missing
        if mixture == "ebmix" or hybrid:
            assert np.isnan(missing).all()
        else:
            assert missing.shape == race.survivors.shape and (missing > 0).all()
            assert t or np.allclose(missing, np.log(100.0))
        if mixture == "plug-in":
            assert np.allclose(missing, np.log(100.0) - twin.log_capital[alive])
        arms, items = race.ask()
        rewards = np.zeros(4)
        rewards[arms] = REWARDS[items, arms]
        race.tell(arms, items, rewards[arms])
        t += 1
        twin.update(np.isin(np.arange(4), alive), scores, rewards, t, 300)
        scores, alive = scores + rewards, race.survivors


def test_spread_is_of_rewards_minus_item_means():
    race = play(RACES["best"](), REWARDS, 60)
    spread = need.Spread(0, np.zeros(4)).after(race._books.blocks)
    part = need.Spread(0, np.zeros(4)).after(race._books.blocks[:3]).after(race._books.blocks)
    expected = np.zeros(4)
    for arms, values in race._books.blocks:
        for row in values:
            expected[arms] += (row - row.mean())**2
    assert np.allclose(spread.squares, expected) and frozen(spread._asdict()) == frozen(
        part._asdict())


@pytest.mark.parametrize("change", [
    dict(handed=np.zeros(3, int)), dict(handed=np.full(4, -1)), dict(handed=np.full(4, 301)),
    dict(arms=np.full(6, 9)), dict(items=np.full(6, 300)), dict(items=np.zeros(6, int)),
    dict(rewards=np.full(6, 2.0)), dict(rewards=np.full(5, 0.5)), dict(costs=np.zeros(6)),
    dict(handed=np.zeros(4, int)), dict(arms=None), dict(rewards=[[1.0], [1.0, 2.0]])])
def test_inconsistent_states_raise(change):
    race = play(RACES["best"](), REWARDS, 20)
    arms, items = race.ask(200)
    answer(race, pairs(arms[-6:], items[-6:]))
    state = race.get_state()
    assert frozen(type(race).from_state(state).get_state()) == frozen(state)
    with pytest.raises(ValueError):
        type(race).from_state({**state, "ahead": {**state["ahead"], **change}})
    with pytest.raises(ValueError, match="the part ahead of state must be a dict of"):
        type(race).from_state({**state, "ahead": change})


def test_finished_race_accepts_only_late_rewards():
    race = RACES["best"]()
    out = [cell for cell in pairs(*race.ask(1200)) if cell[0] == 0][-3:]
    while not race.done:
        answer(race, [cell for cell in pairs(*race.ask()) if cell not in out])
    assert race.ask(5)[0].size == 0 == race.ask()[0].size
    arm, item = next(iter(told_of(race)))
    for told in ((NOTHING, NOTHING, np.empty(0)), ([arm], [item], [0.5])):
        with pytest.raises(ValueError, match="done and asks for nothing"):
            race.tell(*told)
    answer(race, out)
    assert race.n_wasted_by_arm.tolist() == [3, 0, 0, 0]
