"""`tell` of BettingRace and BettingThreshold: bad blocks, ranges, the end of a race."""

import numpy as np
import pytest

import pybandit as pb

from betting.races import MAKERS, RACE, REWARDS, assert_says, frozen, makers, play


def replaced(values, at, value):
    values = np.array(values, dtype=float if isinstance(value, float) else None)
    values[at] = value
    return values


# (report in place of a block's arms a, items i, rewards r; the error; words in its message)
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
    "nothing": (lambda a, i, r: (a[:0], i[:0], r[:0]), ValueError, ["got 0"]),
    "twice": (lambda a, i, r: (replaced(a, 1, a[0]), replaced(i, 1, i[0]), r), ValueError,
              ["once", "twice"]),
    "added": (lambda a, i, r: (np.append(a, a[0]), np.append(i, i[0]), np.append(r, 0.5)),
              ValueError, ["once", "twice"]),
    "not asked": (lambda a, i, r: (a, replaced(i, 0, 2999), r), ValueError,
                  ["item 2999", "not requested"]),
    "arm": (lambda a, i, r: (replaced(a, 0, 4), i, r), ValueError, ["arm 4", "not requested"]),
    "arm -1": (lambda a, i, r: (replaced(a, 0, -1), i, r), ValueError, ["arm -1", "not requested"]),
    "item -1": (lambda a, i, r: (a, replaced(i, 0, -1), r), ValueError, ["item -1"]),
    "float arms": (lambda a, i, r: (a + 0.0, i, r), TypeError, ["arms", "float64"]),
    "bool items": (lambda a, i, r: (a, i > 0, r), TypeError, ["items", "bool"]),
    "text": (lambda a, i, r: (a, i, ["x"] * len(a)), TypeError, ["rewards"]),
    "digits": (lambda a, i, r: (a, i, [str(x) for x in r]), TypeError, ["rewards"]),
    "None": (lambda a, i, r: (a, i, [None] * len(a)), TypeError, ["rewards"]),
    "complex": (lambda a, i, r: (a, i, r + 0j), TypeError, ["rewards"]),
}


@makers
def test_bad_block_changes_nothing(make):
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
            assert_says(caught.value, "reported before", f"item {last[1][0]}", f"arm {last[0][0]}")
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


def test_finished_race_refuses_rewards():
    race = play(MAKERS["best"](), REWARDS)
    before = frozen(race.get_state())
    for told in ([0], [0], [0.5]), (*race.ask(), []):
        with pytest.raises(ValueError, match="done"):
            race.tell(*told)
    assert frozen(race.get_state()) == before


def test_number_as_value_range_limits_differences():
    """The number limits the differences of an item's rewards, whatever their size."""
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


@makers
@pytest.mark.parametrize("place, word", [(0, "arms"), (1, "items"), (2, "rewards")])
def test_masked_values_raise(make, place, word):
    """Masked entries have no value, so reporting them raises."""
    race = make()
    arms, items = race.ask()
    told = [arms, items, REWARDS[items % 300, arms]]
    before = frozen(race.get_state())
    told[place] = np.ma.array(told[place], mask=np.arange(len(arms)) == 2)
    with pytest.raises(ValueError, match=f"{word} must not be masked; got a mask at index 2"):
        race.tell(*told)
    assert frozen(race.get_state()) == before
    race.tell(*(np.ma.array(values.data if np.ma.isMA(values) else values) for values in told))
    assert race.n_batches == 1


def test_repr_of_races():
    race = MAKERS["top"]()
    assert repr(race) == ("<BettingRace: the 2 best of 4 arms, 300 items, delta=0.05, going on "
                          "after 0 evaluations, 4 left>")
    play(race, REWARDS)
    assert f"after {race.n_pulls:,} evaluations" in repr(race)
    sides = play(MAKERS["sides"](), REWARDS)
    assert "at 0.43" in repr(sides) and f"{sides.above.size} above" in repr(sides)
    assert "endless items" in repr(MAKERS["stream"]())
    with pytest.raises(ValueError, match="arm must be at most 3; got 4"):
        race.rewards(4)
