"""lil_ucb: exact distributions, reference implementation and bad input."""

import collections
import signal
import time
from fractions import Fraction

import numpy as np
import pytest

import pybandit as pb

from _shared.reference.bits import Bits
from racing.reference import lil_ucb as reference
from racing.reference import subsample, tables
from racing.reference.problems import as_function, parts
from racing.test_race_law import assert_law

CASES = {name: case for name, case in tables.exact_cases().items() if "lilucb" in name}


def test_the_bonus_equals_known_values():
    """The bonus has known check values."""
    vectors = tables.exact_cases()["formula_vectors"]
    c = reference.constants("heuristic", 0.05, 2)
    for pulls in (1, 100):
        expected = vectors[f"lilucb_bonus_T{pulls}_s1_delta0p05"]
        assert reference.bonus(c, 1.0, pulls) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("name", CASES)
def test_exact_cases(name):
    case = CASES[name]
    n, log_prior = case["N"], np.array(case["const"]) * case["N"]
    c = reference.constants("heuristic", case["delta"], 2)
    assert c.lam == case["lam"]
    law = reference.enumerate_law(case["ones"], n, log_prior, c, case["C"] / 2)
    for key, of in [("P_winner", lambda o: str(o.best)),
                    ("P_total_pulls", lambda o: str(o.n_pulls)),
                    ("P_how", lambda o: "exact" if o.exact else "lil")]:
        found = collections.Counter()
        for outcome, p in law.items():
            found[of(outcome)] += p
        assert found == {value: Fraction(p) for value, p in case[key].items()}

    rewards = np.arange(n)[:, None] < np.array(case["ones"])
    rng, n_runs = np.random.default_rng(9), 4000
    observed = collections.Counter()
    for _ in range(n_runs):
        result = pb.racing.lil_ucb(rewards, log_prior, delta=case["delta"], value_range=case["C"],
                                   rng=rng)
        assert result.n_looks == result.n_evaluations
        observed[result.best, result.n_evaluations, result.exact] += 1
    assert_law(observed, {tuple(outcome): p for outcome, p in law.items()}, n_runs)


@pytest.mark.parametrize("guarantee", ["heuristic", "proven"])
@pytest.mark.parametrize("source", ["matrix", "function"])
def test_outcomes_equal_the_reference_bit_for_bit(source, guarantee):
    ends = collections.Counter()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n_factors, n_states = int(rng.choice([1, 20, 200])), int(rng.integers(2, 6))
        rewards = rng.random((n_factors, n_states)) + rng.normal(size=n_states) * rng.choice(
            [0.1, 3.0])
        log_prior = rng.normal(size=n_states) * n_factors * rng.choice([0.0, 1.0])
        log_prior[rng.random(n_states) < 0.1] = -np.inf
        log_prior[0] = 0.0
        delta, ranges = float(rng.choice([0.01, 0.3, 0.9])), np.ptp(rewards, axis=0) + 1e-9
        bits, streams = Bits(seed), [subsample.Rejection(n_factors) for _ in log_prior]
        for stream in streams:
            stream.restart(bits)

        def next_reward(state, streams=streams, bits=bits, rewards=rewards):
            return rewards[streams[state].next(bits, 1)[0], state]

        possible = np.isfinite(log_prior)
        c = reference.constants(guarantee, delta, possible.sum())
        expected = reference.lil_ucb(next_reward, n_factors, log_prior, c,
                                     ranges[possible].max() / 2)
        result = pb.racing.lil_ucb(rewards if source == "matrix" else as_function(rewards),
                                   log_prior, delta=delta, value_range=ranges, guarantee=guarantee,
                                   rng=np.random.default_rng(seed))
        assert (result.best, result.n_evaluations, result.exact) == tuple(expected), seed
        ends[result.exact] += 1
    assert min(ends.values()) >= 5


def test_the_heap_finds_the_largest_of_many_bounds():
    """The heap finds the largest of 100 bounds, which the reference implementation scans."""
    rng = np.random.default_rng(2)
    rewards = (rng.random((8, 100)) < np.linspace(0.1, 0.9, 100)).astype(float)
    bits, streams = Bits(1), [subsample.Rejection(8) for _ in range(100)]
    for stream in streams:
        stream.restart(bits)
    expected = reference.lil_ucb(lambda i: rewards[streams[i].next(bits, 1)[0], i], 8,
                                 np.zeros(100), reference.constants("heuristic", 0.05, 100), 0.5)
    result = pb.racing.lil_ucb(rewards, value_range=1.0, rng=np.random.default_rng(1))
    assert (result.best, result.n_evaluations, result.exact) == tuple(expected)


def test_one_possible_state_needs_no_reading_and_ties_go_to_the_lowest():
    assert parts(pb.racing.lil_ucb(np.ones((5, 1)), value_range=1)) == (0, 0, 0, True)
    assert parts(pb.racing.lil_ucb(np.ones((5, 2)), [-np.inf, 0], value_range=1)) == (1, 0, 0, True)
    assert parts(pb.racing.lil_ucb(np.ones((1, 3)), value_range=1)) == (0, 3, 3, True)
    assert pb.racing.lil_ucb(np.zeros((50, 3)), value_range=1, rng=1).best == 0


@pytest.mark.parametrize(
    "options, word",
    [
        ({"delta": 0.0}, "delta"),
        ({"guarantee": "practice"}, "guarantee"),
        ({"value_range": 0.0}, "value_range"),
        ({"value_range": [1.0, 1.0]}, "value_range"),
        ({"value_range": None}, "value_range"),
        ({"log_prior": [0.0, np.nan, 0.0]}, "log_prior"),
        ({"log_prior": [0.0]}, "log_prior"),
    ],
)
def test_bad_options_are_rejected(options, word):
    with pytest.raises((ValueError, TypeError), match=word):
        pb.racing.lil_ucb(np.zeros((10, 3)), **{"value_range": 1.0, **options})


def test_bad_rewards_are_rejected():
    rewards = np.random.default_rng(3).random((20, 2))
    with pytest.raises(ValueError, match="value_range.*0.1 for state"):
        pb.racing.lil_ucb(rewards, value_range=0.1)
    rewards[:, 1] = np.nan
    for source in (rewards, as_function(rewards)):
        with pytest.raises(ValueError, match="finite; got nan at factor [0-9]+, state 1"):
            pb.racing.lil_ucb(source, value_range=1.0)

    def broken(indices, states):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        pb.racing.lil_ucb(pb.Factors(broken, 20, 2), value_range=1.0)


def test_the_theorem_is_vacuous_for_common_delta():
    """The bound of the theorem is vacuous for d above 2e-6, as the docstring says."""
    e = 0.01
    c = (2 + e) / e * (1 / np.log1p(e)) ** (1 + e)
    assert 21_000 < c < 21_500
    assert 4 * np.sqrt(c * 2e-6) + 4 * c * 2e-6 < 1.0 < 4 * np.sqrt(c * 2.1e-6) + 4 * c * 2.1e-6
    text = " ".join(pb.racing.lil_ucb.__doc__.split())
    assert "proof" not in text and "delta does not bound the error with either choice" in text


def test_ctrl_c_stops_a_long_run():
    """Ctrl-C stops a near tie of ten million factors, which would take seconds."""
    matrix = np.zeros((5_000_000, 2))
    matrix[:, 0] = np.arange(5_000_000) % 2
    matrix[:, 1] = 1.0 - matrix[:, 0]
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        start = time.process_time()
        with pytest.raises(KeyboardInterrupt):
            pb.racing.lil_ucb(matrix, delta=1e-9, value_range=16.0, rng=1)
        assert time.process_time() - start < 1.5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    small = pb.racing.lil_ucb(matrix[:1000], value_range=1.0, rng=1)
    assert small == pb.racing.lil_ucb(matrix[:1000], value_range=1.0, rng=1)
