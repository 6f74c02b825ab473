"""Guardrail: alarms when an arm loses more than a margin, and their promise."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import pybandit as pb
from pybandit.betting._count_bets import log_wealth
from pybandit.webtests import Guardrail


def capital(rail, arm=1):
    """Return the wealth of the bets against the control and against an arm."""
    return np.exp(log_wealth(rail._told[1][arm - 1][1].logs))


def after(rail, rates, days, rng, n=2000):
    for _ in range(days):
        rail.tell_counts([n] * len(rates), rng.binomial(n, rates))
    return rail


def test_harmed_and_safe_arms_are_found_in_both_directions():
    rates = [0.30, 0.30, 0.25, 0.34]
    better = after(Guardrail(4, margin=0.01), rates, 60, np.random.default_rng(1))
    assert better.harmed == (2,) and set(better.safe) >= {3} and 2 not in better.safe
    errors = after(Guardrail(4, margin=0.01, lower_is_better=True), rates, 60,
                   np.random.default_rng(1))
    assert errors.harmed == (3,) and 2 in errors.safe and better.n_batches == 60


def test_it_is_the_race_between_arm_and_control_with_the_margin_added():
    """Each visit one by one: values plus the margin, in a race of two."""
    rng = np.random.default_rng(2)
    rail = Guardrail(2, margin=0.5, value_range=(0, 4), delta=0.1)
    race = pb.CountRace(2, delta=0.1, ties="any", value_range=(0, 4.5))
    for _ in range(12):
        values = [rng.random(40) * 4, rng.random(40) * 3]
        rail.tell_counts([40, 40], [one.sum() for one in values], [(one**2).sum()
                                                                   for one in values])
        values[1] = values[1] + 0.5
        race.tell_counts([40, 40], [one.sum() for one in values], [(one**2).sum()
                                                                   for one in values])
    np.testing.assert_allclose(capital(rail), race.capital, rtol=1e-9)


def test_conversions_need_no_squares():
    rng = np.random.default_rng(3)
    one, other = (Guardrail(2, margin=0.02) for _ in range(2))
    for _ in range(9):
        hits = rng.binomial(500, [0.3, 0.25])
        one.tell_counts([500, 500], hits)
        other.tell_counts([500, 500], hits, hits)
    np.testing.assert_array_equal(capital(one), capital(other))


@pytest.mark.parametrize("harmed", [True, False])
def test_mean_wealth_at_the_margin_is_at_most_one(harmed):
    """All counts of three batches of few visits, an arm that loses exactly the margin."""
    visits, margin, rates = [(2, 2), (1, 3), (3, 2)], 0.25, (0.5, 0.25)
    mean = 0.0
    for counts in itertools.product(*[itertools.product(range(a + 1), range(b + 1))
                                      for a, b in visits]):
        rail = Guardrail(2, margin=margin, delta=1e-9)
        chance = 1.0
        for trials, hits in zip(visits, counts, strict=True):
            rail.tell_counts(trials, hits)
            for n, k, rate in zip(trials, hits, rates, strict=True):
                chance *= binomial(n, k, rate)
        mean += chance * capital(rail)[1 if harmed else 0]
    assert mean <= 1 + 1e-12


def binomial(n, k, p):
    ways = {0: 1}
    for _ in range(n):
        ways = {one: ways.get(one, 0) + ways.get(one - 1, 0) for one in range(n + 1)}
    return ways[k] * p**k * (1 - p) ** (n - k)


@pytest.mark.more
def test_alarms_at_the_margin_are_at_most_as_frequent_as_promised():
    rng, alarms = np.random.default_rng(4), 0
    for _ in range(150):
        rail = after(Guardrail(3, margin=0.02, delta=0.1), [0.30, 0.28, 0.28], 60, rng, 1000)
        alarms += bool(rail.harmed)
    assert alarms <= 33  # 150 tests at .1: a true one exceeds this with probability below 1e-6


def test_replay_of_a_web_test_gives_the_same(tmp_path):
    rng = np.random.default_rng(5)
    direct = Guardrail(2, margin=0.01)
    with pb.webtests.WebTest.create(tmp_path / "errors.db", pb.CountRace(2)) as log:
        for day in range(20):
            hits = rng.binomial(3000, [0.3, 0.26])
            direct.tell_counts([3000, 3000], hits)
            log.tell_counts({"0": (3000, hits[0]), "1": (3000, hits[1])}, key=f"day {day}")
        again = Guardrail(2, margin=0.01).replay(log)
        assert again.harmed == direct.harmed == (1,) and again.n_batches == 20
        with pytest.raises(ValueError, match="before any batch; got 20"):
            again.replay(log)
        with pytest.raises(ValueError, match="test must have 3 arms; got 2"):
            Guardrail(3, margin=0.1).replay(log)
    assert "1 harmed, 0 safe" in repr(again)


@pytest.mark.parametrize("options, words", [
    ({"n_arms": 1}, "n_arms"), ({"margin": -1}, "margin"), ({"margin": np.nan}, "margin"),
    ({"value_range": (1, 1)}, "value_range"), ({"delta": 1}, "delta")])
def test_bad_arguments_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        Guardrail(**{"n_arms": 2, "margin": 0.1, **options})


def test_bad_counts_are_refused_and_nothing_is_recorded():
    rail = Guardrail(2, margin=0.1)
    for counts in (([5, 5], [6, 1]), ([5], [1]), ([5, 5], [1, 1], [1, 3])):
        with pytest.raises(ValueError, match=r"sums|shape|squares"):
            rail.tell_counts(*counts)
    assert rail.n_batches == 0 and capital(rail).tolist() == [1, 1]


def test_copies_continue_alike_and_an_interrupted_batch_is_not_recorded(monkeypatch):
    rail = after(Guardrail(3, margin=0.01), [0.3, 0.3, 0.28], 5, np.random.default_rng(6))
    copies = [copy.deepcopy(rail), pickle.loads(pickle.dumps(rail))]
    calls, real = [], pb.CountRace._after

    def interrupted(*given):
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(pb.CountRace, "_after", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rail.tell_counts([9, 9, 9], [3, 3, 3])
    monkeypatch.undo()
    assert rail.n_batches == 5
    for one in (rail, *copies):
        one.tell_counts([900, 900, 900], [300, 290, 250])
        np.testing.assert_array_equal(capital(one, 2), capital(rail, 2))
