"""Rewards far from 0, at 1e9 and 1e12: answers and means against exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

import pybandit as pb

from betting.races import play

OFFSETS = [0.0, 1e9, 1e12, -1e12]
offsets = pytest.mark.parametrize("offset", OFFSETS)


def near_ties(seed, offset, n_items=60, n_arms=5):
    """Return rewards whose totals differ by little, rounded to float64 after adding the offset."""
    rng = np.random.default_rng(seed)
    rewards = rng.permuted(np.tile(rng.random((n_items, 1)), n_arms), axis=0)
    rewards[rng.integers(n_items, size=n_arms), np.arange(n_arms)] += 2e-3 * rng.random(n_arms)
    # a grid that float64 can represent at 1e12
    return offset + np.round(np.clip(rewards, 0, 1) * 2**12) / 2**12


def exact_totals(rewards):
    return [sum(map(Fraction, column), Fraction(0)) for column in rewards.T.tolist()]


def ranges(offset):
    return (offset, offset + 1), 1.0


@pytest.mark.some(4)
@offsets
@pytest.mark.parametrize("k", [1, 2, 3])
def test_exact_ends_match_rational_arithmetic(offset, k):
    n_exact = 0
    for seed in range(40):
        rewards = near_ties(seed, offset)
        totals = exact_totals(rewards)
        order = sorted(range(5), key=lambda arm: (-totals[arm], arm))
        for value_range in ranges(offset):
            result = pb.best_of(rewards, value_range=value_range, k=k, delta=1e-9, rng=seed)
            assert result.best_arms.tolist() == order[:k], (seed, value_range)
            n_exact += result.exact
    assert n_exact > 40


@offsets
def test_thresholds_match_rational_arithmetic(offset):
    for seed in range(40):
        rewards = near_ties(seed, offset)
        totals = exact_totals(rewards)
        # tau is exactly the mean of one arm, if float64 can represent that
        tau = float(totals[seed % 5] / 60)
        race = play(pb.BettingThreshold(5, 60, threshold=tau, value_range=(offset, offset + 1),
                                        delta=1e-9, rng=seed), rewards)
        assert race.exact
        above = [arm for arm in range(5) if totals[arm] >= 60 * Fraction(tau)]
        # sums of 60 differences are exact except for the rounding of tau
        unsure = {arm for arm in range(5) if abs(totals[arm] - 60 * Fraction(tau)) < 1e-12}
        assert set(race.above) ^ set(above) <= unsure
        assert offset == 0 or not unsure or set(race.above) == set(above)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("options", [{}, {"bets": pb.betting.Bets("ebmix")}, {"epsilon": 0.05}])
def test_race_does_not_depend_on_a_common_offset(k, options):
    """If rewards on a grid are shifted, the same items are read and the same arms eliminated."""
    rng = np.random.default_rng(6)
    grid = rng.integers(0, 2**12, size=(500, 4)) * [0.8, 0.9, 0.95, 1.0] // 1 / 2**12
    for scalar in (False, True):
        races = []
        for offset in OFFSETS:
            value_range = ranges(offset)[scalar]
            races.append(play(pb.BettingRace(4, 500, k=k, value_range=value_range, delta=0.1, rng=2,
                                             **options), grid + offset))
        for race in races[1:]:
            assert race.pulls.tolist() == races[0].pulls.tolist()
            assert race.recommend().tolist() == races[0].recommend().tolist()


@offsets
def test_means_and_variances_with_an_offset(offset):
    race = pb.BettingRace(3, 200, value_range=(offset, offset + 1), rng=1, delta=1e-9)
    rewards = offset + np.random.default_rng(8).integers(0, 2**12, size=(200, 3)) / 2**12
    play(race, rewards)
    for arm in range(3):
        read = [Fraction(reward) for reward in race.rewards(arm).tolist()]
        mean = sum(read, Fraction(0)) / len(read)
        variance = sum((reward - mean) ** 2 for reward in read) / (len(read) - 1)
        assert abs(race.means[arm] - mean) <= np.spacing(abs(float(mean)))
        assert race.variances[arm] == pytest.approx(float(variance), rel=1e-12)


@offsets
def test_items_may_have_different_offsets(offset):
    """If only differences are bounded, every item may have an offset of its own."""
    for seed in range(20):
        rewards = near_ties(seed, 0.0)
        moved = rewards + offset * np.random.default_rng(seed).integers(1, 4, size=(60, 1))
        result = pb.best_of(moved, value_range=1.0, delta=1e-9, rng=seed)
        totals = exact_totals(moved)
        assert totals[result.best] == max(totals)
