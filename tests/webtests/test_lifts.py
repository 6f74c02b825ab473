"""Intervals of lifts: the bets of CountRace on scaled rewards, their promise and their width."""

import numpy as np
import pytest

import pybandit as pb
from pybandit.webtests._lifts import lift_of, rejected


def days(rng, rates, n, n_days, swing=0.0):
    """Return trials, sums and squares of control and arm; a day multiplies both rates."""
    factor = 1 + swing * np.sin(np.arange(n_days))
    trials = [rng.binomial(n, 0.5, n_days) for _ in rates]
    return [(one, sums := rng.binomial(one, np.minimum(1, rate * factor)).astype(float), sums)
            for one, rate in zip(trials, rates, strict=True)]


@pytest.mark.parametrize("is_larger", [True, False])
@pytest.mark.parametrize("values", [True, False])
def test_wealth_is_that_of_a_race_on_scaled_rewards(is_larger, values):
    rng = np.random.default_rng(1)
    control, arm = days(rng, (0.1, 0.12), 900, 12)
    if values:  # rewards of .5 and less
        control, arm = ((one[0], one[1] / 2, one[1] / 3) for one in (control, arm))
    lifts = np.array([-0.5, -0.1, 0.0, 0.1, 0.4])
    ours = rejected(control, arm, lifts, is_larger)
    for at, lift in enumerate(lifts):
        race = pb.CountRace(2, delta=1e-300, value_range=(0, max(1, 1 + lift)))
        for batch in range(12):
            n, s, q = ([one[of][batch] for one in (control, arm)] for of in range(3))
            race.tell_counts(n, [s[0] * (1 + lift), s[1]], [q[0] * (1 + lift) ** 2, q[1]])
            wealth = np.log(race.capital[0 if is_larger else 1])
            assert ours[batch, at] == pytest.approx(wealth, abs=1e-9)


@pytest.mark.more
def test_intervals_contain_the_lift_at_every_look_as_promised():
    rng, missed = np.random.default_rng(2), 0
    for _ in range(150):
        control, arm = days(rng, (0.2, 0.24), 2000, 30, swing=0.3)
        lift = lift_of(control, arm, 0.1, 2)
        missed += ((lift.low > 0.2) | (lift.high < 0.2)).any()
    assert missed <= 33  # 150 at .1: a true one exceeds this with probability below 1e-6


def test_interval_narrows_around_the_estimate_and_tells_equal_arms_from_better_ones():
    rng = np.random.default_rng(3)
    control, arm = days(rng, (0.2, 0.24), 4000, 60)
    lift = lift_of(control, arm, 0.05, 2)
    assert (lift.low <= lift.estimate).all() and (lift.estimate <= lift.high).all()
    assert (lift.low[1:] >= lift.low[:-1]).all() and (lift.high[1:] <= lift.high[:-1]).all()
    assert lift.low[0] == -np.inf and 0.1 < lift.low[-1] < 0.2 < lift.high[-1] < 0.3
    assert lift_of(control, arm, 0.05, 9).low[-1] < lift.low[-1]  # for all arms together
    same = lift_of(control, control, 0.05, 2)
    assert same.low[-1] < 0 < same.high[-1] and same.estimate[-1] == 0


def test_no_lift_without_conversions():
    n, none = np.array([5, 5]), np.zeros(2)
    assert lift_of((n, none, none), (n, none + 1, none + 1), 0.05, 2) is None
