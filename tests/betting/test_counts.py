"""Races on counts: distribution by enumeration, visit by visit, late and retired arms, states."""

import itertools
import pickle

import numpy as np
import pytest
from scipy.stats import binom

import pybandit as pb
from pybandit.betting._count_bets import Batch, after, log_wealth, no_bets

from betting.interrupts import alarms, interrupted
from betting.races import assert_says, frozen
from betting.reference.counts import WEIGHTS, capitals

SURE = 1e-12  # a delta at which no arm is dropped
RATES = np.array([0.2, 0.5, 0.4])


def told(batches, n_arms=None, **options):
    """Return a race that received these batches, each (trials, sums)."""
    race = pb.CountRace(n_arms or len(batches[0][0]), **options)
    for trials, sums in batches:
        race.tell_counts(trials, sums)
    return race


def random_batches(rng, n_arms=3, n_batches=6, most=12):
    for _ in range(n_batches):
        trials = rng.integers(0, most, n_arms)
        yield trials, rng.binomial(trials, RATES[:n_arms])


def walk(laws):
    """Yield, for every possible sequence of batches, the wealth after each batch and its chances.

    No arm is dropped. `laws` has, per batch, the trials, and for each arm a dict from its sum to
    the probabilities of that sum, one per distribution.
    """
    def step(bets, capitals, chances, left):
        if not left:
            yield np.array(capitals), chances
            return
        trials, arms = left[0]
        for sums in itertools.product(*arms):
            each = np.prod([arm[s] for arm, s in zip(arms, sums, strict=True)], axis=0)
            came = np.array(sums, dtype=float)
            then = after(bets, Batch(np.array(trials), came, came), 1 / SURE)
            yield from step(then, [*capitals, np.exp(log_wealth(then.logs))], chances * each,
                            left[1:])

    n_arms = len(laws[0][0])
    yield from step(no_bets(n_arms, np.zeros(n_arms, dtype=bool)), [], 1.0, laws)


def binomial(trials, rates):
    """Return the argument of `walk`; `rates` has shape (distributions, batches, arms)."""
    rates = np.array(rates)
    return [(row, [{s: binom.pmf(s, n, rates[:, i, arm]) for s in range(n + 1)}
                   for arm, n in enumerate(row)]) for i, row in enumerate(trials)]


TWO = [(1, 2), (3, 2), (2, 3)]
# arm 1 is as good as arm 0 in every batch, on good and bad days
LAWS = [[(0.3, 0.3)] * 3, [(0.05, 0.05)] * 3, [(0.2, 0.5)] * 3,
        [(0.5, 0.5), (0.1, 0.1), (0.9, 0.9)], [(0.9, 0.9), (0.1, 0.2), (0.5, 0.5)]]


def test_expected_wealth_by_enumeration():
    """The mean wealth against the best arm is at most 1 on any days; against a worse arm, more."""
    found = sum(np.multiply.outer(chances, capitals[-1])
                for capitals, chances in walk(binomial(TWO, LAWS)))
    assert (found[:, 1] <= 1 + 1e-12).all() and (found[:2, 1] > 0.85).all()
    assert found[2, 0] > 1.01


def test_errors_by_enumeration():
    """The best of two is dropped with chance at most 1 / threshold, one of two equals twice."""
    rates = [[(0.5, 0.5)] * 3, [(0.3, 0.35)] * 3, [(0.2, 0.2), (0.7, 0.7), (0.3, 0.3)]]
    runs = list(walk(binomial([(2, 2), (6, 6), (6, 5)], rates)))
    highest = np.array([capitals.max(axis=0) for capitals, _ in runs])
    weights = np.array([chances for _, chances in runs])
    for x in (1.1, 1.3, 1.7, 2.5):
        best, either = highest[:, 1] >= x, (highest >= x).any(axis=1)
        assert (weights[best].sum(axis=0) <= 1 / x).all() and weights[best].sum() > 0
        assert (weights[either].sum(axis=0)[[0, 2]] <= 2 / x).all()


def test_errors_of_three_arms_by_enumeration():
    rates = [[(0.4, 0.4, 0.4)] * 3, [(0.1, 0.3, 0.3)] * 3,
             [(0.1, 0.6, 0.7), (0, 0.1, 0.2), (1, 1, 1)]]
    found = sum(chances * capitals[-1, 2] for capitals, chances in
                walk(binomial([(1, 1, 1), (2, 1, 2), (1, 2, 2)], rates)))
    assert (found <= 1 + 1e-12).all()


def test_wealth_of_sums_of_halves_by_enumeration():
    """The mean is at most 1 for rewards of 0, 1/2 and 1, counted by their sums."""
    chances, laws = {0.0: 0.5, 0.5: 0.3, 1.0: 0.2}, []
    for n in range(4):
        law = {}
        for values in itertools.product(chances, repeat=n):
            law[sum(values)] = law.get(sum(values), 0.0) + np.prod([chances[v] for v in values])
        laws.append(law)
    steps = [(row, [laws[n] for n in row]) for row in [(1, 1), (3, 2), (2, 3)]]
    runs = [(capitals[-1], chance) for capitals, chance in walk(steps)]
    assert np.isclose(sum(chance for _, chance in runs), 1.0)
    assert (sum(capital * chance for capital, chance in runs) <= 1 + 1e-12).all()


@pytest.mark.parametrize("seed", range(5))
def test_every_order_has_the_wealth_of_the_counts(seed):
    rng = np.random.default_rng(seed)
    batches = list(random_batches(rng))
    expected = told(batches, delta=SURE)
    for _ in range(3):
        visits = [rng.permutation([(arm, float(i < s)) for arm, (n, s) in
                                   enumerate(zip(trials, sums, strict=True)) for i in range(n)])
                  for trials, sums in batches]
        found = capitals([[(int(arm), reward) for arm, reward in batch] for batch in visits])
        assert np.allclose(WEIGHTS @ found.T, expected.capital, rtol=1e-12)


@pytest.mark.parametrize("with_squares", [False, True])
def test_sums_have_at_most_the_wealth_of_the_rewards(with_squares):
    """The bound holds with and without squares."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        visits = [[(arm, rng.random()) for arm in range(3) for _ in range(rng.integers(1, 9))]
                  for _ in range(5)]
        race = pb.CountRace(3, delta=SURE)
        for batch in visits:
            arms, rewards = np.array(batch).T
            columns = [np.bincount(arms.astype(int), rewards**power) for power in (0, 1, 2)]
            race.tell_counts(*columns[:2 + with_squares])
        found = capitals(visits, with_squares) @ WEIGHTS
        assert (race.capital <= found * (1 + 1e-12)).all() and (race.capital < found).any()


def test_value_range_only_changes_units():
    rng = np.random.default_rng(2)
    batches = list(random_batches(rng))
    plain = told(batches)
    dollars = told([(n, -2.0 * n + 10.0 * s) for n, s in batches], value_range=(-2, 8))
    assert np.allclose(dollars.capital, plain.capital)
    assert np.allclose(dollars.means, -2 + 10 * plain.means, equal_nan=True)
    assert dollars.recommend().tolist() == plain.recommend().tolist()


def run(race, rates, rng, per_batch=2000, most=200):
    while not race.done and race.n_batches < most:
        trials = race.split(per_batch)
        race.tell_counts(trials, rng.binomial(trials, rates))
    return race


def test_best_arm_is_found_and_traffic_follows():
    race = run(pb.CountRace(3), [0.04, 0.05, 0.08], np.random.default_rng(3))
    assert race.done and race.recommend().tolist() == [2] and race.survivors.tolist() == [2]
    assert race.split(7).tolist() == [0, 0, 7]
    assert (race.capital[:2] >= race.threshold).all() and race.threshold == 40.0
    assert pb.CountRace(2, delta=0.1, ties="any").threshold == 10.0


def test_split_gives_the_rest_to_the_least_visited():
    """Every arm gets visits in time, even with more arms than visits per batch."""
    race = pb.CountRace(5)
    for _ in range(100):
        trials = race.split(2)
        assert trials.sum() == 2 and trials.max() == 1
        race.tell_counts(trials, trials * 0)
    assert race.pulls.tolist() == [40] * 5
    race.add_arm()
    assert race.split(7).tolist() == [1, 1, 1, 1, 1, 2]


def test_ab_tests_and_aa_tests_err_at_most_delta():
    """Counts wrong winners, and winners among equal arms; the long version is slow."""
    ab = [run(pb.CountRace(3), [0.1, 0.12, 0.16], np.random.default_rng(i)) for i in range(40)]
    assert sum(race.recommend()[0] != 2 for race in ab) <= 2 and all(race.done for race in ab)
    aa = [run(pb.CountRace(2), [0.1, 0.1], np.random.default_rng(i), most=40) for i in range(60)]
    assert sum(race.done for race in aa) <= 3


def test_arms_that_beat_each_other_leave_one():
    """With a delta near 1, one batch proves both arms worse than each other; one must stay."""
    race = told([((9, 9), (8, 2)), ((9, 9), (2, 8)), ((9, 9), (5, 5))], delta=0.999, ties="any")
    assert race.survivors.size == 1


def test_batch_without_trials_changes_nothing():
    race = told([((9, 9, 0), (2, 5, 0)), ((0, 30, 0), (0, 12, 0)), ((0, 0, 0), (0, 0, 0))])
    assert race.capital.tolist() == [1.0] * 3 and race.recommend().tolist() == [1]
    assert np.isnan(race.means[2])


def test_late_arms_start_at_one():
    """The wealth of the others is unchanged; the late arm may win."""
    rng = np.random.default_rng(4)
    race = run(pb.CountRace(2), [0.05, 0.08], rng)
    winner, capital = race.recommend()[0], race.capital
    assert race.add_arm() == 2 and race.n_arms == 3 and not race.done
    assert race.survivors.tolist() == [winner, 2]
    assert race.capital.tolist() == [*capital, 1.0]
    run(race, [0.05, 0.08, 0.12], rng)
    assert race.done and race.recommend().tolist() == [2]


@pytest.mark.parametrize("retired", range(3))
def test_retired_arm_has_no_influence(retired):
    """All numbers equal those of a race that never had the retired arm."""
    rng = np.random.default_rng(5)
    batches = list(random_batches(rng, most=300, n_batches=9))
    race, left = told(batches), np.delete(np.arange(3), retired)
    race.retire(retired)
    race.retire(retired)
    alone = told([(n[left], s[left]) for n, s in batches])
    assert race.retired.tolist() == [retired]
    assert race.capital[left].tolist() == alone.capital.tolist()
    assert race.survivors.tolist() == left[alone.survivors].tolist()
    assert race.recommend().tolist() == left[alone.recommend()].tolist()
    trials, sums = batches[0]
    race.tell_counts(trials, sums)
    alone.tell_counts(trials[left], sums[left])
    assert race.capital[left].tolist() == alone.capital.tolist()


def test_arm_dropped_because_of_a_retired_arm_returns():
    race = run(pb.CountRace(3), [0.05, 0.055, 0.12], np.random.default_rng(6))
    assert race.survivors.tolist() == [2]
    race.retire(2)
    assert race.survivors.tolist() == [0, 1] and not race.done
    race.retire(0)
    assert race.done
    with pytest.raises(ValueError, match="last one that is not retired"):
        race.retire(1)


def grown():
    """Return a race with everything that a state may hold."""
    rng, race = np.random.default_rng(7), pb.CountRace(2, value_range=(0, 2))
    for step in range(6):
        trials = race.split(300)
        sums = rng.binomial(trials, 0.3 + 0.1 * np.arange(race.n_arms)) * 2.0
        race.tell_counts(trials, sums, 1.5 * sums if step in (2, 4) else None)
        if step in (1, 3):
            race.add_arm()
    race.retire(2)
    race.add_arm()
    return race


def test_states_continue_bit_for_bit():
    for copied in (lambda one: pb.CountRace.from_state(one.get_state()),
                   lambda one: pickle.loads(pickle.dumps(one))):
        race = grown()
        again = copied(race)
        assert frozen(again.get_state()) == frozen(race.get_state())
        for one in (race, again):
            one.tell_counts(one.split(500), one.split(500) // 3 * 1.0)
        assert again.capital.tolist() == race.capital.tolist()
        assert again.survivors.tolist() == race.survivors.tolist()
    assert repr(race).startswith("<CountRace: 5 arms, ")


def test_invalid_counts_and_arguments_raise():
    race = grown()
    before = frozen(race.get_state())
    fine = [1] * 5
    for call, error, words in [
        (lambda: race.tell_counts([1, 2], [0, 1]), ValueError, ["trials", "(5,)"]),
        (lambda: race.tell_counts(fine, [0.0, 1.0]), ValueError, ["sums", "(5,)"]),
        (lambda: race.tell_counts([1, -1, 1, 1, 1], fine), ValueError, ["trials", "index 1"]),
        (lambda: race.tell_counts([1, 1.5, 1, 1, 1], fine), ValueError, ["trials", "1.5"]),
        (lambda: race.tell_counts(fine, [1, 1, 2.1, 1, 1]), ValueError, ["sums", "2.1", "arm 2"]),
        (lambda: race.tell_counts(fine, [1, 1, np.nan, 1, 1]), ValueError, ["sums", "nan"]),
        (lambda: race.tell_counts(fine, fine, [1, 1, 1, 1, 0.9]), ValueError,
         ["squares", "0.9", "arm 4", "sum 1.0"]),
        (lambda: race.tell_counts(fine, fine, [1, 1, 2.1, 1, 1]), ValueError, ["squares", "2.1"]),
        (lambda: race.tell_counts(fine, fine, [1, 1, np.nan, 1, 1]), ValueError, ["squares"]),
        (lambda: race.tell_counts(fine, fine, [1, 1]), ValueError, ["squares", "(5,)"]),
        (lambda: race.tell_counts([2.0**53] * 5, fine), ValueError, ["trials", "in all"]),
        (lambda: race.retire(5), ValueError, ["arm", "4"]),
        (lambda: race.split(-1), ValueError, ["n must"]),
        (lambda: pb.CountRace(1), ValueError, ["n_arms"]),
        (lambda: pb.CountRace(2, value_range=3.0), ValueError, ["value_range", "two numbers"]),
        (lambda: pb.CountRace(2, ties="some"), ValueError, ["ties"]),
        (lambda: race.__init__(2), RuntimeError, ["once"]),
    ]:
        with pytest.raises(error) as caught:
            call()
        assert_says(caught.value, *words)
        assert frozen(race.get_state()) == before


@pytest.mark.parametrize(("call", "length"), [
    (lambda race: race.tell_counts(race.split(400), race.split(400) * 0.5), 2e-4),
    (lambda race: race.add_arm(), 2e-5), (lambda race: race.retire(1), 6e-4)])
def test_ctrl_c_leaves_all_or_nothing(call, length):
    """A call interrupted by Ctrl-C is recorded completely or not at all."""
    rng, came, twin = np.random.default_rng(8), 0, grown()
    before = frozen(twin.get_state())
    call(twin)
    with alarms():
        while came < 30:
            race = grown()
            came += interrupted(1e-6 + length * rng.random(), call, race)
            if frozen(race.get_state()) == before:
                call(race)
            assert frozen(race.get_state()) == frozen(twin.get_state())
            assert race.capital.tolist() == twin.capital.tolist()
