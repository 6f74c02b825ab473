"""Default looks of races on arrays: they cost at most a quarter of a pass over the array."""

import numpy as np
import pytest

import pybandit as pb
from pybandit.racing._read_cost import SHARE, default_fraction

BETS = pb.racing.BettingBound(value_range=(-6.0, 6.0))


def near_tie(n_factors, n_states, seed=0):
    rewards = np.random.default_rng(seed).normal(size=(n_factors, n_states))
    return rewards - rewards.mean(axis=0)


@pytest.mark.parametrize("bound", ["student", "normal", BETS,
                                   pb.racing.EBSBound(delta=0.05, value_range=12.0)],
                         ids=["student", "normal", "betting", "EBS"])
@pytest.mark.parametrize("n_states", [2, 10, 100])
def test_undecided_race_reads_few_rows_at_random(bound, n_states):
    rewards = near_tie(50_000, n_states)
    options = {"bound": bound} if not isinstance(bound, str) else {"bound": bound, "delta": 1e-6}
    sampler = pb.RacingSampler(rewards, rng=1, **options)
    rows = sampler.schedule.rows
    assert rows[0] <= rows[-2] <= max(rows[0], 0.05 * rows[-1])
    result = pb.race(rewards, rng=1, **options)
    assert result.exact and result.n_looks <= rows.size
    assert result.n_evaluations == rewards.size  # everything was read, and it says so


def test_default_share_is_that_of_the_costs():
    bound = pb.racing.StudentBound()
    shares = [default_fraction(bound, d, 8, False) for d in (2, 10, 100, 1000)]
    assert shares == sorted(shares) and 0.004 < shares[0] and shares[-1] < SHARE
    assert default_fraction(bound, 10, 1, False) < default_fraction(bound, 10, 4, False)
    assert default_fraction(BETS, 10, 8, False) < 0.5 * default_fraction(bound, 10, 8, False)
    assert default_fraction(bound, 10, 8, True) > 1.5 * default_fraction(bound, 10, 8, False)


def test_first_look_is_always_taken():
    for first in (None, 7, 60):
        sampler = pb.RacingSampler(near_tie(100, 3), looks=pb.racing.Looks(first=first))
        assert sampler.schedule.rows.tolist() == [first or 50, 100]
    assert pb.RacingSampler(near_tie(40, 3)).schedule.rows.tolist() == [40]


def test_functions_and_given_shares_look_at_all_rows():
    rewards = near_tie(10_000, 3)
    looked_at = [50 * 2**k for k in range(8)] + [10_000]
    function = pb.Factors(lambda n, i: rewards[n][:, i], *rewards.shape)
    assert pb.RacingSampler(function).schedule.rows.tolist() == looked_at
    everything = pb.racing.Looks(max_fraction=1.0)
    assert pb.RacingSampler(rewards, looks=everything).schedule.rows.tolist() == looked_at
    ratios = pb.racing.AcceptanceTest(rewards[:, 0], looks=everything)
    assert ratios.schedule.rows.tolist() == looked_at


@pytest.mark.parametrize("bound", ["student", pb.racing.BettingBound(value_range=(-6.0, 6.0))],
                         ids=["student", "betting"])
def test_undecided_test_reads_few_ratios_at_random(bound):
    ratios = near_tie(100_000, 1)[:, 0]
    options = {"bound": bound} if not isinstance(bound, str) else {"bound": bound, "delta": 1e-6}
    test = pb.racing.AcceptanceTest(ratios, rng=1, **options)
    assert test.schedule.rows[-2] <= 0.01 * ratios.size
    for result in (test.test(0.0), pb.racing.accept(ratios, 0.0, rng=1, **options)):
        assert result.exact and result.n_evaluations == ratios.size


@pytest.mark.slow
def test_error_is_not_larger_than_with_more_looks():
    """An exact answer is not an error, so errors are a subset of those with more looks."""
    rewards = near_tie(4000, 4)
    rewards[:, 0] -= 1e-3
    wrong = {}
    for share in (None, 1.0):
        looks = pb.racing.Looks(max_fraction=share)
        wrong[share] = sum(pb.race(rewards, looks=looks, rng=seed).best == 0
                           for seed in range(20_000))
    assert wrong[None] <= 0.05 * 20_000
