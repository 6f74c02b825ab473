"""Bets on counts: reference numbers, the bound on unseen rewards, squares, power."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import pybandit as pb
from pybandit.betting._count_bets import (
    GRID,
    WEIGHTS,
    Batch,
    after,
    least_growth,
    log_wealth,
    no_bets,
)

from betting.reference import counts as reference

VISITS = [(2, 2), (1, 3), (3, 2)]
# batches of (trials, sums) or (trials, sums, squares): scale, log wealth against arms 0 and 1
NUMBERS = [
    ([([500, 500], [150, 165]), ([480, 520], [140, 180]), ([510, 490], [155, 166])],
     0.096315696246, [1.513060509079, -1.408280157526]),
    ([([500, 500], [50, 52], [6, 6.6]), ([500, 500], [49, 53], [5.8, 6.9]),
      ([480, 520], [48.5, 54], [5.7, 6.8])], None, [1.374243316802, -1.515584668705]),
    ([([500_000] * 2, [250_000, 251_000])] * 4, None, [4.499551136178, None]),
]


def log_factor(n, s, q, stake, level):
    """Return the package's bound for one arm and one stake of either sign."""
    if stake < 0:
        s, q, stake, level = n - s, n - 2 * s + q, -stake, 1 - level
    columns = [np.array([one], dtype=float) for one in (n, s, q)]
    return float(least_growth(*columns, np.array([[stake]]), level)[0, 0])


def told(batches, **options):
    race = pb.CountRace(len(batches[0][0]), **options)
    for batch in batches:
        race.tell_counts(*batch)
    return race


@pytest.mark.parametrize(("batches", "scale", "expected"), NUMBERS)
def test_log_wealth_equals_reference_numbers(batches, scale, expected):
    race = told(batches)
    for found, right in zip(np.log(race.capital), expected, strict=True):
        assert right is None or abs(found - right) < 1e-11
    assert scale is None or abs(race._race[1].scale - scale) < 1e-11


def test_log_factor_equals_reference_numbers():
    assert abs(log_factor(10, 3, 1.5, 0.5, 0.25) - 0.172572643440210) < 1e-14
    assert abs(log_factor(10, 3, 1.5, -0.5, 0.25) + 0.355044090473413) < 1e-14


def expected_capital(rates):
    """Return the mean wealth against arm 1 over all counts of three small batches."""
    def step(bets, left):
        if not left:
            return math.exp(log_wealth(bets.logs)[1])
        (trials, means), total = left[0], 0.0
        for came in itertools.product(*(range(n + 1) for n in trials)):
            chance = binom.pmf(came, trials, means).prod()
            sums = np.array(came, dtype=float)
            then = after(bets, Batch(np.array(trials), sums, sums), 1e30)
            total += chance * step(then, left[1:])
        return total

    return step(no_bets(2, np.zeros(2, dtype=bool)), list(zip(VISITS, rates, strict=True)))


@pytest.mark.parametrize(("rates", "expected"), [
    ([(0.9, 0.9), (0.1, 0.1), (0.5, 0.5)], 0.543615370867), ([(0.5, 0.5)] * 3, 0.918987815095),
    ([(0.9, 0.95), (0.1, 0.15), (0.5, 0.55)], 0.470895482049), ([(0.5, 0.3)] * 3, 1.554492984706)])
def test_expected_wealth_equals_reference_numbers(rates, expected):
    assert abs(expected_capital(rates) - expected) < 1e-11


def test_grid_and_weights():
    assert abs(WEIGHTS.sum() - 1.0) < 1e-15 and WEIGHTS.size == GRID.size == 30
    assert np.allclose(WEIGHTS, reference.WEIGHTS, rtol=1e-14)
    assert GRID[9] == 1.2 and WEIGHTS[9:13].tolist() == [0.2125] * 4
    assert abs(WEIGHTS[:9].sum() - 0.05) < 1e-15 and abs(WEIGHTS[13:].sum() - 0.10) < 1e-15


REWARDS = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0])), min_size=1,
                   max_size=30)


@given(rewards=REWARDS, level=st.floats(0, 1), part=st.floats(-1, 1))
def test_log_factor_is_at_most_the_true_sum(rewards, level, part):
    """This holds for arbitrary rewards; for rewards of 0 and 1 the factor equals the true sum."""
    x = np.array(rewards)
    worst = level if part > 0 else 1.0 - level
    stake = part * 0.9 / max(0.9, worst)
    true = np.log1p(stake * (x - level)).sum()
    found = log_factor(x.size, x.sum(), (x * x).sum(), stake, level)
    assert found <= true + 1e-12
    chord = log_factor(x.size, x.sum(), x.sum(), stake, level)
    assert chord <= found + 1e-12
    whole = np.round(x)
    assert abs(log_factor(x.size, whole.sum(), whole.sum(), stake, level)
               - np.log1p(stake * (whole - level)).sum()) < 1e-12
    assert abs(found - reference.log_factor(x.size, x.sum(), (x * x).sum(), stake, level)) < 1e-12


@given(rewards=REWARDS, level=st.floats(0.01, 0.99), stake=st.floats(-0.9, 0.9))
def test_bound_is_attained(rewards, level, stake):
    """k rewards of q / s and zeros attain the bound; for bets against an arm, 1 - x replaces x."""
    x = np.array(rewards) if stake > 0 else 1.0 - np.array(rewards)
    s, q = x.sum(), (x * x).sum()
    if q > 1e-6:
        k, at = s * s / q, q / s
        sign, centre = abs(stake), level if stake > 0 else 1.0 - level
        attained = k * math.log1p(sign * (at - centre)) + (x.size - k) * math.log1p(-sign * centre)
        back = (x.size, s, q) if stake > 0 else (x.size, x.size - s, x.size - 2 * s + q)
        assert abs(log_factor(*back, stake, level) - attained) < 1e-9


def values(rng, n, mean):
    x = np.clip(rng.gamma(2.25 * mean / 3.0, 4 / 3, n), 0, 30)
    return x.sum(), (x * x).sum()


def test_squares_are_in_the_units_of_the_rewards():
    """Rewards in another unit give the same wealth; sums without squares give less."""
    rng, batches = np.random.default_rng(1), []
    for _ in range(8):
        columns = zip(*(values(rng, 500, mean) for mean in (3.0, 3.6)), strict=True)
        batches.append([np.array([500, 500]), *map(np.array, columns)])
    plain = told(batches, value_range=(0, 30))
    shifted = told([(n, 2 * s - 7 * n, 4 * q - 28 * s + 49 * n) for n, s, q in batches],
                   value_range=(-7, 53))
    assert np.allclose(np.log(plain.capital), np.log(shifted.capital), atol=1e-8)
    alone = told([batch[:2] for batch in batches], value_range=(0, 30))
    assert plain.capital[0] > 40 > alone.capital[0]


def test_squares_of_conversions_change_nothing():
    batches = [([100, 90], [7, 9]), ([100, 90], [9, 10]), ([80, 90], [5, 9])]
    with_squares = told([(n, s, s) for n, s in batches])
    assert with_squares.capital.tolist() == told(batches).capital.tolist()
    state = with_squares.get_state()
    assert state["squares"].shape == (0, 2)  # the sums already contain all information


@pytest.mark.parametrize("sums", [[0, 0], [9, 9], [4.5, 4.5]])
def test_equal_rewards_do_not_cause_errors(sums):
    """Bets are at their cap if the variance is 0, and equal arms win nothing."""
    squares = np.array(sums) ** 2 / 9
    race = told([([9, 9], sums, squares)] * 30)
    assert np.isfinite(race.capital).all() and (race.capital <= 1.0).all() and not race.done


def test_scale_is_set_by_the_first_batch_with_bets():
    race = told([([0, 0], [0, 0]), ([50, 0], [5, 0]), ([0, 40], [0, 9]), ([0, 0], [0, 0])])
    assert math.isnan(race._race[1].scale)
    race.tell_counts([30, 50], [3, 9])
    expected = reference.scale(90, 14, 14, [30, 50])
    assert abs(race._race[1].scale - expected) < 1e-12
    race.retire(1)
    race.add_arm()
    assert math.isnan(race._race[1].scale)  # arm 1 had no visits, so there was no bet
    race.tell_counts([10, 0, 30], [1, 0, 3])
    assert abs(race._race[1].scale - reference.scale(80, 8, 8, [10, 30])) < 1e-12


@pytest.mark.parametrize(("rates", "visits", "most"), [
    ([0.5, 0.502], 1_000_000, 12), ([0.04, 0.0404], 10_000_000, 8), ([0.3, 0.303], 5000, 800),
    ([0.3, 0.33], 1000, 60), ([0.04, 0.05], 50_000, 6)])
def test_every_lift_is_found(rates, visits, most):
    """With a grid of bets not scaled to the traffic, the first three were never found."""
    race, rng = pb.CountRace(2), np.random.default_rng(11)
    while not race.done and race.n_batches < most:
        trials = rng.multinomial(visits, [0.5, 0.5])
        race.tell_counts(trials, rng.binomial(trials, rates))
    assert race.done and race.recommend().tolist() == [1]


def test_equal_arms_at_any_traffic_are_seldom_named():
    """In A/A tests with a million visits per day, at most a share delta names a winner."""
    named = 0
    for seed in range(40):
        race, rng = pb.CountRace(2, delta=0.1), np.random.default_rng(seed)
        while not race.done and race.n_batches < 60:
            trials = rng.multinomial(1_000_000, [0.5, 0.5])
            race.tell_counts(trials, rng.binomial(trials, 0.5))
        named += race.done
    assert binom.sf(named - 1, 40, 0.1) > 1e-3


def test_long_race_compares_logarithms():
    """A wealth beyond the range of floats still drops its arm, and is reported as infinite."""
    race = pb.CountRace(2, delta=1e-300)
    for _ in range(40):
        race.tell_counts([10_000] * 2, [2000, 3000])
    assert race.done and race.recommend().tolist() == [1] and race.capital[0] == math.inf
