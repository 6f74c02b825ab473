"""Web tests by counts at full size: days to a decision, wrong winners, winners among equals."""

import numpy as np
import pytest
from scipy.stats import binom

import pybandit as pb

# rates of 4 to 5 %; for comparison, a Bonferroni z-test of 4.5 against 5 % needs 40 days
PAGES = np.array([0.04, 0.041, 0.042, 0.044, 0.05])
VISITS = 5000


def run(race, rates, rng, most, by_weekday=0.0):
    while not race.done and race.n_batches < most:
        shares = race.split(VISITS) / VISITS
        trials = rng.multinomial(VISITS, shares)  # every visitor draws a page
        today = rates * (1.0 + by_weekday * np.sin(2 * np.pi * race.n_batches / 7))
        race.tell_counts(trials, rng.binomial(trials, today))
    return race


def at_most(n, runs, chance):
    """Return False if n successes in `runs` reject "probability <= chance" at level 1 in 1,000."""
    return binom.sf(n - 1, runs, chance) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("by_weekday", [0.0, 0.3])
def test_days_to_a_decision(by_weekday):
    """The documentation has the numbers of one run."""
    races = [run(pb.CountRace(5), PAGES, np.random.default_rng(i), 365, by_weekday)
             for i in range(400)]
    days = np.array([race.n_batches for race in races])
    wrong = sum(race.recommend()[0] != 4 for race in races)
    print(f"\nweekdays {by_weekday}: median {np.median(days)}, 90 % {np.quantile(days, 0.9)}, "
          f"wrong {wrong} of {len(races)}")
    assert all(race.done for race in races) and wrong <= 0.05 * len(races)
    assert np.median(days) < 30


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["none", "any"])
@pytest.mark.parametrize("n_arms", [2, 5])
def test_equal_arms_are_seldom_named(n_arms, ties):
    """A/A tests of a year each, read daily."""
    runs, delta = 400, 0.1
    races = [run(pb.CountRace(n_arms, delta=delta, ties=ties), np.full(n_arms, 0.045),
                 np.random.default_rng(i), 365) for i in range(runs)]
    named = sum(race.done for race in races)
    print(f"\n{n_arms} equal arms, ties {ties}: {named} of {runs} named a winner, delta {delta}")
    assert at_most(named, runs, delta if ties == "none" else n_arms / (n_arms - 1) * delta)


@pytest.mark.slow
def test_near_ties_seldom_drop_the_best():
    """A difference of a hundredth of a point for a year: the better arm is hardly ever dropped."""
    races = [run(pb.CountRace(2, ties="any", delta=0.1), np.array([0.045, 0.0451]),
                 np.random.default_rng(i), 365) for i in range(400)]
    wrong = sum(race.done and race.recommend()[0] == 0 for race in races)
    print(f"\nnear ties: {wrong} of 400 wrong")
    assert at_most(wrong, 400, 0.1)
