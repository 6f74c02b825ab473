"""race: reference implementation, invariances and edge cases."""

import collections
import dataclasses
import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import pybandit as pb

from _shared.reference.bits import Bits
from racing.reference import race as reference
from racing.reference import subsample, tables
from racing.reference.problems import as_function, parts, run


def random_options(rng, n_states):
    bound = rng.choice(["student", "normal", "ebs"])
    options = dict(
        bound=str(bound),
        delta=float(rng.choice([0.4, 0.1, 0.01])),
        variance=str(rng.choice(["pairwise", "marginal"])),
        first_look=int(rng.choice([2, 3, 10, 25])),
        max_fraction=float(rng.choice([1.0, 1.0, 0.3])),
    )
    if bound != "ebs":
        options["convention"] = str(rng.choice(["one-sided", "two-sided", "union"]))
        if rng.random() < 0.3:
            options["boundary"] = float(rng.uniform(0, 4))
    return options


def random_problem(seed):
    rng = np.random.default_rng(seed)
    n_factors, n_states = int(rng.choice([30, 200, 700])), int(rng.integers(2, 20))
    scale = 10.0 ** rng.uniform(-6, 3)
    common = rng.normal(size=(n_factors, 1)) * rng.choice([0.0, 3.0])
    gaps = rng.normal(size=n_states) * rng.choice([0.0, 0.3, 2.0])
    rewards = scale * (rng.standard_t(4, size=(n_factors, n_states)) + common + gaps)
    log_prior = scale * rng.normal(size=n_states) * rng.choice([0.0, 30.0])
    log_prior[rng.random(n_states) < 0.1] = -np.inf
    log_prior[rng.integers(n_states)] = 0.0
    options = random_options(rng, n_states)
    if options["bound"] == "ebs":
        spread = np.ptp(rewards, axis=0)
        options["value_range"] = tuple(spread.tolist())
        if rng.random() < 0.5:
            options["difference_range"] = float(
                max(np.ptp(rewards - rewards[:, [i]], axis=0).max() for i in range(n_states))
            )
    return rewards, log_prior, reference.Options(**options)


@pytest.mark.some(1)
@pytest.mark.parametrize("indices, kind", [(k, k) for k in ("permutation", "rejection", "keyed")])
@pytest.mark.parametrize("source", ["matrix", "function"])
def test_outcomes_equal_the_reference_bit_for_bit(source, indices, kind):
    """The same random bits give the same winner, looks and evaluations."""
    outcomes = collections.Counter()
    for seed in range(400):
        rewards, log_prior, options = random_problem(seed)
        stream, bits = subsample.KINDS[kind](len(rewards)), Bits(seed)
        stream.restart(bits)
        following = functools.partial(stream.next, bits)
        expected = reference.race(rewards, log_prior, following, options)
        factors = rewards if source == "matrix" else as_function(rewards)
        result = run(factors, log_prior, options, np.random.default_rng(seed), indices=indices)
        assert parts(result) == tuple(expected), (seed, options)
        outcomes[result.n_looks, result.exact] += 1
    assert len(outcomes) >= 10  # races end at many different looks, exactly or not


def test_schedules():
    """Looks double, and max_fraction removes the later ones."""
    for key, rows in tables.exact_cases()["formula_vectors"]["schedule"].items():
        n_factors, first_look = (int(part.split("=")[1]) for part in key.split(","))
        sampler = pb.RacingSampler(np.zeros((n_factors, 2)),
                                   looks=pb.racing.Looks(first=first_look, max_fraction=1))
        assert sampler.schedule.rows.tolist() == rows
        for share in (0.001, 0.1, 0.5, 0.512):
            sampler = pb.RacingSampler(np.zeros((n_factors, 2)),
                                       looks=pb.racing.Looks(first=first_look, max_fraction=share))
            expected = reference.schedule(n_factors, first_look, share)
            assert sampler.schedule.rows.tolist() == expected
            assert sampler.schedule.scale[-1] == sampler.schedule.slack[-1] == 0.0


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**40), source=st.sampled_from(["matrix", "function"]))
def test_relabelling_the_states_relabels_the_winner(seed, source):
    rewards, log_prior, options = random_problem(seed)
    order = np.random.default_rng(seed).permutation(len(log_prior))
    moved_options = options
    if options.value_range is not None:
        ranges = tuple(options.value_range[i] for i in order)
        moved_options = dataclasses.replace(options, value_range=ranges)
    moved = np.ascontiguousarray(rewards[:, order])
    if source == "function":
        rewards, moved = as_function(rewards), as_function(moved)
    first = run(rewards, log_prior, options, np.random.default_rng(seed))
    second = run(moved, log_prior[order], moved_options, np.random.default_rng(seed))
    assert order[second.best] == first.best
    assert parts(second)[1:] == parts(first)[1:]


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**40))
def test_constants_and_units_do_not_matter(seed):
    """Constants added to all offsets, to all rewards or to a factor do not matter, nor do units."""
    rewards, log_prior, options = random_problem(seed)
    if options.bound == "ebs":
        options = reference.Options("normal", delta=0.1, first_look=10)
    unit = np.abs(rewards).max()

    def outcome(rewards, log_prior):
        return run(rewards, log_prior, options, np.random.default_rng(seed))

    plain = outcome(rewards, log_prior)
    assert outcome(rewards, log_prior + 50 * unit) == plain
    assert outcome(rewards + 3 * unit, log_prior) == plain
    assert outcome(rewards * 2.0**-20, log_prior * 2.0**-20) == plain
    if options.variance == "pairwise":
        per_factor = np.random.default_rng(1).normal(size=(len(rewards), 1)) * unit
        assert outcome(rewards + per_factor, log_prior) == plain
    # an offset is equivalent to its share added to every factor
    possible = np.isfinite(log_prior)
    inside = rewards + np.where(possible, log_prior, 0) / len(rewards)
    assert outcome(inside, np.where(possible, 0.0, -np.inf)) == plain


def test_large_common_rewards_cancel():
    """Rewards near 1e9 may have differences near 1; raw second moments would be noise."""
    rng = np.random.default_rng(31)
    rewards = rng.normal(size=(20_000, 4)) + [0.0, 0.1, 0.2, 1.0]
    small = pb.race(rewards, rng=1)
    large = pb.race(rewards + 1e9, rng=1)
    assert large == small and large.best == 3 and not large.exact


def test_ties_go_to_the_lowest_state():
    result = pb.race(np.zeros((100, 4)), rng=0)
    # equal states have no gap above a bound of 0, so everything is read
    assert result == pb.racing.RaceResult(0, 2, 400, True)
    rewards = np.tile([1.0, 2.0, 2.0], (100, 1))
    assert pb.race(rewards, rng=0).best == 1


def test_one_possible_state_needs_no_reading():
    for result in (
        pb.race(np.ones((5, 1)), rng=0),
        pb.race(np.ones((5, 3)), [-np.inf, 0.0, -np.inf], rng=0),
    ):
        assert result.n_evaluations == result.n_looks == 0 and result.exact
    assert pb.race(np.ones((5, 3)), [-np.inf, 0.0, -np.inf], rng=0).best == 1


@pytest.mark.parametrize("n_factors, first_look", [(1, 1), (1, 50), (2, 2), (49, 50), (50, 50)])
@pytest.mark.parametrize("bound", ["student", "normal", "ebs"])
def test_a_first_look_at_all_factors_is_exact(n_factors, first_look, bound):
    rewards = np.random.default_rng(n_factors).normal(size=(n_factors, 3))
    if bound == "ebs":
        bound = pb.racing.EBSBound(value_range=10.0)
    result = pb.race(rewards, looks=pb.racing.Looks(first=first_look), bound=bound, rng=3)
    assert parts(result) == (rewards.sum(axis=0).argmax(), 1, 3 * n_factors, True)


def test_max_fraction_reads_the_rest_at_once():
    rewards = np.random.default_rng(5).normal(size=(5000, 3))
    rewards -= rewards.mean(axis=0)
    log_prior = [0.0, 0.0, 1e-6]
    for share, looks in [(1.0, 8), (0.5, 7), (0.04, 4), (0.01, 2), (0.009, 1)]:
        result = pb.race(rewards, log_prior, delta=1e-9, looks=pb.racing.Looks(max_fraction=share),
                         rng=1)
        assert result == pb.racing.RaceResult(2, looks, 15_000, True)


def test_each_pair_is_requested_once():
    rng = np.random.default_rng(37)
    rewards = rng.normal(size=(40_000, 5)) + [0.0, 0.02, 0.03, 0.03, 0.5]
    asked = np.zeros(rewards.shape, dtype=int)

    def function(indices, states):
        assert indices.dtype == states.dtype == np.int64
        assert np.all(np.diff(states) > 0)
        asked[np.ix_(indices, states)] += 1
        return rewards[np.ix_(indices, states)]

    for log_prior in (None, [0.0, 0.0, 0.0, 0.0, -1e5], [0, -np.inf, 0, 0, -1e5]):
        asked[:] = 0
        result = pb.race(pb.Factors(function, *rewards.shape), log_prior, delta=0.001, rng=7)
        assert asked.max() == 1
        assert asked.sum() == result.n_evaluations
        matrix = pb.race(rewards, log_prior, delta=0.001,
                         looks=pb.racing.Looks(max_fraction=1.0), rng=7)
        assert matrix == result


def test_names_of_bounds_equal_the_bound_objects():
    rewards = np.random.default_rng(41).normal(size=(3000, 6)) * [1, 1, 1, 1, 1, 0.1]
    for seed in range(20):
        log_prior = np.random.default_rng(seed).gumbel(size=6) * 100
        for name, bound in [
            ("student", pb.racing.StudentBound(delta=0.2)),
            ("normal", pb.racing.NormalBound(delta=0.2)),
        ]:
            by_name = pb.race(rewards, log_prior, bound=name, delta=0.2, rng=seed)
            assert by_name == pb.race(rewards, log_prior, bound=bound, rng=seed)
        assert pb.race(rewards, log_prior, rng=seed) == pb.race(
            rewards, log_prior, bound=pb.racing.StudentBound(delta=0.05),
            looks=pb.racing.Looks(first=50), rng=seed)


def test_the_same_seed_gives_the_same_race():
    rewards = np.random.default_rng(43).normal(size=(2000, 3)) + [0.0, 0.05, 0.1]
    looks, sequence = pb.racing.Looks(max_fraction=1), np.random.SeedSequence(5)
    for make in (lambda: 5, lambda: np.random.default_rng(5), lambda: sequence):
        results = {pb.race(rewards, looks=looks, rng=make()) for _ in range(3)}
        assert len(results) == 1
    assert len({pb.race(rewards, looks=looks, rng=seed) for seed in range(40)}) > 5
    assert len({pb.race(rewards, looks=looks) for _ in range(40)}) > 1


def test_errors_of_nearly_equal_states_are_near_delta():
    """Errors for two nearly equal states are close to delta, not half or twice as many."""
    rng = np.random.default_rng(47)
    n_races, wrong = 6000, 0
    for _ in range(6):
        rewards = np.zeros((2000, 2))
        rewards[:, 1] = rng.normal(size=2000)
        rewards[:, 1] -= rewards[:, 1].mean() - 1e-9
        bound = pb.racing.StudentBound(delta=0.1, convention="two-sided")
        wrong += sum(pb.race(rewards, bound=bound, rng=rng).best == 0 for _ in range(1000))
    low, high = stats.binom.ppf([1e-7, 1 - 1e-7], n_races, 0.1)
    assert low <= wrong <= high
