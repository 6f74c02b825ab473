"""accept and AcceptanceTest: reference implementation, exact distributions, errors, bad input."""

import collections
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pybandit as pb

from _shared.reference.bits import Bits
from racing.reference import accept as reference
from racing.reference import gap_zero, subsample
from racing.reference import race as race_reference
from racing.reference.problems import as_bound, parts
from racing.test_race_law import assert_law, find_case


def as_function(ratios):
    return pb.Factors(lambda n, i: ratios[n, None], ratios.size, 1)


def random_problem(seed):
    rng = np.random.default_rng(seed)
    n_factors = int(rng.choice([30, 200, 700, 40_000]))
    scale = 10.0 ** rng.uniform(-6, 3)
    ratios = scale * (rng.standard_t(4, n_factors) + rng.choice([0.0, 100.0]))
    gap = rng.normal() * rng.choice([0.05, 0.5, 5.0])
    log_threshold = ratios.sum() - scale * gap * n_factors
    bound = str(rng.choice(["student", "normal", "ebs"]))
    options = dict(
        bound=bound,
        delta=float(rng.choice([0.4, 0.1, 0.01])),
        first_look=int(rng.choice([2, 3, 10, 25])),
        max_fraction=float(rng.choice([1.0, 1.0, 0.3])),
        convention="two-sided",
    )
    if bound == "ebs":
        options["value_range"] = float(np.ptp(ratios))
    elif rng.random() < 0.3:
        options["boundary"] = float(rng.uniform(0, 4))
    return ratios, float(log_threshold), race_reference.Options(**options)


@pytest.mark.parametrize("indices", ["permutation", "rejection", "keyed"])
@pytest.mark.parametrize("source", ["array", "function"])
def test_outcomes_equal_the_reference_bit_for_bit(source, indices):
    """The same random bits give the same decision, looks and evaluations."""
    outcomes = collections.Counter()
    for seed in range(100):
        ratios, log_threshold, options = random_problem(seed)
        if indices != "permutation" and ratios.size > 1000:
            continue  # the reference implementations of the other orders are slow
        stream, bits = subsample.KINDS[indices](ratios.size), Bits(seed)
        stream.restart(bits)
        expected = reference.accept(ratios, log_threshold, lambda n, s=stream, b=bits: s.next(b, n),
                                    options)
        given = ratios if source == "array" else as_function(ratios)
        more = dict(bound=as_bound(options),
                    looks=pb.racing.Looks(first=options.first_look,
                                          max_fraction=options.max_fraction, indices=indices))
        result = pb.racing.accept(given, log_threshold, rng=np.random.default_rng(seed), **more)
        assert parts(result) == tuple(expected), (seed, options)
        kept = pb.racing.AcceptanceTest(given, rng=np.random.default_rng(seed), **more)
        assert kept.test(log_threshold) == result
        outcomes[result.n_looks, result.exact] += 1
    assert len(outcomes) >= 8


@pytest.mark.parametrize("source", ["array", "function"])
def test_outcomes_have_the_exact_distribution(source):
    """Tests the differences of case 1: acceptance means that state 0 wins the race."""
    case, rewards, _, options = find_case("case1")
    ratios, n_tests = rewards[:, 0] - rewards[:, 1], 30_000
    test = pb.racing.AcceptanceTest(ratios if source == "array" else as_function(ratios),
                                    bound=as_bound(options),
                                    looks=pb.racing.Looks(first=case["m1"], max_fraction=1.0),
                                    rng=8)
    law = race_reference.enumerate_law(rewards, np.zeros(2), options)
    law = {(o.best == 0, o.n_looks, o.n_evaluations // 2, o.exact): p for o, p in law.items()}
    observed = collections.Counter(parts(test.test()) for _ in range(n_tests))
    assert_law(observed, law, n_tests)


def test_names_of_bounds_are_two_sided():
    ratios = np.random.default_rng(3).normal(size=3000)
    for name, kind in [("student", pb.racing.StudentBound), ("normal", pb.racing.NormalBound)]:
        looks = pb.racing.Looks(max_fraction=1.0)
        two_sided = kind(delta=0.2, convention="two-sided")
        by_name, by_object, one_sided = (
            pb.racing.AcceptanceTest(ratios, bound=bound, delta=delta, looks=looks).schedule
            for bound, delta in ((name, 0.2), (two_sided, None), (kind(delta=0.2), None)))
        assert (by_name.scale == by_object.scale).all()
        assert (by_name.scale[:-1] != one_sided.scale[:-1]).all()
    default = pb.racing.AcceptanceTest(ratios).schedule
    student = pb.racing.StudentBound(delta=0.05, convention="two-sided")
    expected = pb.racing.AcceptanceTest(ratios, bound=student,
                                        looks=pb.racing.Looks(first=50)).schedule
    assert default.to_dict() == expected.to_dict()


def share_decided_early(bound, delta, first_look, size, n_tests, seed):
    """Return the error if the mean equals the threshold: half the share of early decisions."""
    rng = np.random.default_rng(seed)
    n_populations, early = 20, 0
    for _ in range(n_populations):
        ratios = rng.normal(size=size)
        ratios -= ratios.mean()
        test = pb.racing.AcceptanceTest(ratios, bound=bound, delta=delta,
                                        looks=pb.racing.Looks(first=first_look, max_fraction=1.0),
                                        rng=rng)
        early += sum(not test.test().exact for _ in range(n_tests // n_populations))
    return 0.5 * early / n_tests


@pytest.mark.parametrize("bound, first_look", [("student", 50), ("normal", 10)])
def test_errors_at_the_threshold_equal_the_reference(bound, first_look):
    delta, n_tests = 0.1, 20_000
    expected = gap_zero.error(bound, delta, first_look, 2000, 200_000,
                              np.random.default_rng(4), "two-sided")
    error = share_decided_early(bound, delta, first_look, 2000, n_tests, seed=5)
    spread = 5 * np.sqrt(0.5 * expected * (1 / n_tests + 1 / 200_000))
    assert abs(error - expected) <= spread + 0.01 * expected
    if bound == "student":
        assert abs(error - delta) <= spread + 0.03 * delta


@pytest.mark.parametrize("source", ["array", "function"])
def test_the_sum_decides_and_a_tie_rejects(source):
    ratios = np.array([3.0, -1.0, 4.0, 1.0, -5.0])
    given = ratios if source == "array" else as_function(ratios)
    for threshold, accepted in [(1.999, True), (2.0, False), (2.001, False)]:
        assert parts(pb.racing.accept(given, threshold)) == (accepted, 1, 5, True)
    assert parts(pb.racing.accept(given, -np.inf)) == (True, 0, 0, True)
    assert parts(pb.racing.accept(given, np.inf)) == (False, 0, 0, True)
    assert parts(pb.racing.accept([0.0, 0.0])) == (False, 1, 2, True)
    assert pb.racing.accept(ratios.tolist(), 1) == pb.racing.accept(ratios, 1.0)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**40))
def test_constants_and_units_do_not_matter(seed):
    """Decisions do not depend on units, a constant added to ratios and threshold, or the sign."""
    ratios, log_threshold, options = random_problem(seed)
    ratios = ratios[:700]
    log_threshold *= ratios.size / 700
    if options.bound == "ebs":
        options = race_reference.Options("normal", delta=0.1, convention="two-sided")

    def outcome(ratios, log_threshold):
        return pb.racing.accept(ratios, log_threshold, bound=as_bound(options),
                                looks=pb.racing.Looks(first=10, max_fraction=1.0), rng=seed)

    plain = outcome(ratios, log_threshold)
    assert outcome(ratios * 2.0**-20, log_threshold * 2.0**-20) == plain
    unit = 3 * np.abs(ratios).max()
    assert outcome(ratios + unit, log_threshold + unit * ratios.size) == plain
    other = outcome(-ratios, -log_threshold)
    assert parts(other) == (not plain.accepted, *parts(plain)[1:])


def test_each_log_ratio_is_requested_once_in_blocks():
    ratios = np.random.default_rng(5).normal(size=50_000)
    asked = []

    def function(indices, states):
        assert indices.dtype == states.dtype == np.int64 and states.tolist() == [0]
        asked.append(indices)
        return ratios[indices, None]

    result = pb.racing.accept(pb.Factors(function, ratios.size, 1), ratios.sum() - 1e-6, delta=1e-9)
    order = np.concatenate(asked)
    assert result.exact and np.array_equal(np.sort(order), np.arange(ratios.size))
    assert max(len(indices) for indices in asked) == 16384


def test_betting_keeps_delta_and_reads_little():
    rng = np.random.default_rng(6)
    ratios = rng.uniform(-1, 1, 4000)
    options = dict(bound=pb.racing.BettingBound(value_range=(-1, 1), delta=0.05),
                   looks=pb.racing.Looks(max_fraction=1.0))
    for source in (ratios, as_function(ratios)):
        test = pb.racing.AcceptanceTest(source, rng=7, **options)
        for gap in (-0.3, 0.3):
            results = [test.test(ratios.sum() - gap * ratios.size) for _ in range(100)]
            # with 5 errors expected in 100, more than 20 have a probability below 1e-6
            assert sum(r.accepted != (gap > 0) for r in results) <= 20
            assert max(r.n_evaluations for r in results) < 2000
        assert parts(test.test(-4400.0)) == (True, 0, 0, True)
        assert parts(test.test(4000.0)) == (False, 0, 0, True)
        # near the threshold a test reads everything, or errs with probability 0.05
        results = [test.test(ratios.sum() - 1e-3) for _ in range(60)]
        assert sum(not r.accepted for r in results) <= 15
        assert all(r.accepted for r in results if r.exact)
    with pytest.raises(ValueError, match=r"value_range.*\(0.0, 1.0\).*factor"):
        pb.racing.accept(ratios, bound=pb.racing.BettingBound(value_range=(0, 1)))
    with pytest.raises(ValueError, match=r"value_range must be \(low, high\)"):
        pb.racing.accept(ratios, bound=pb.racing.BettingBound(value_range=2.0))


def test_every_test_reads_the_log_ratios_again():
    ratios = np.zeros(1000)
    test = pb.racing.AcceptanceTest(ratios, rng=1)
    assert not test.test(0.0).accepted
    ratios += 1.0
    assert test.test(500.0).accepted
    ratios[:] = -1.0
    assert not test.test(-500.0).accepted


def test_the_same_seed_gives_the_same_tests():
    ratios = np.random.default_rng(8).normal(0.05, 1.0, 20_000)
    runs = []
    for rng in (3, 3, 4):
        test = pb.racing.AcceptanceTest(ratios, looks=pb.racing.Looks(max_fraction=1.0), rng=rng)
        runs.append([test.test() for _ in range(50)])
    assert runs[0] == runs[1] != runs[2]
    test = pb.racing.AcceptanceTest(ratios, rng=9)
    assert test.test(rng=5) == pb.racing.AcceptanceTest(ratios, rng=5).test()
    assert test.n_factors == 20_000


@pytest.mark.parametrize(
    "log_ratios, error, word",
    [
        (np.zeros((3, 2)), ValueError, "shape"),
        (np.zeros(0), ValueError, "shape"),
        (1.0, ValueError, "shape"),
        (["a"], TypeError, "log_ratios"),
        (pb.Factors(lambda n, i: None, 5, 2), ValueError, "n_states"),
    ],
)
def test_bad_log_ratios_are_rejected(log_ratios, error, word):
    for call in (pb.racing.accept, pb.racing.AcceptanceTest):
        with pytest.raises(error, match=word):
            call(log_ratios)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"delta": 0.0}, ["delta", "0"]),
        ({"delta": 0.5}, ["delta", "0.5"]),
        ({"bound": "gaussian"}, ["bound", "gaussian"]),
        (lambda: {"looks": pb.racing.Looks(first=1)}, ["first", "1"]),
        (lambda: {"looks": pb.racing.Looks(max_fraction=0.0)}, ["max_fraction"]),
        (lambda: {"looks": pb.racing.Looks(indices="sorted")}, ["indices", "sorted"]),
        (lambda: {"bound": pb.racing.EBSBound(value_range=None)}, ["value_range"]),
        (lambda: {"bound": pb.racing.EBSBound(value_range=(0, 1))}, ["value_range", "0"]),
        ({"bound": "betting"}, ["bound", "pb.racing.BettingBound(value_range=(low, high)"]),
        (lambda: {"looks": pb.racing.Looks(variance="marginal")}, ["variance", "marginal"]),
        (lambda: {"bound": pb.racing.BettingBound(value_range="control")},
         ["value_range", "'control'", "RacingMetropolis"]),
        ({"n_factors": 500}, ["n_factors", "function of indices", "500", "ndarray"]),
        (lambda: {"bound": pb.racing.StudentBound(delta=0.1), "delta": 0.1}, ["delta"]),
    ],
)
def test_bad_options_are_rejected(options, words):
    for call in (pb.racing.accept, pb.racing.AcceptanceTest):
        with pytest.raises(ValueError) as caught:
            call(np.zeros(500), **(options() if callable(options) else options))
        assert all(word in str(caught.value) for word in words)


def test_bad_thresholds_are_rejected():
    test = pb.racing.AcceptanceTest(np.ones(5))
    for call in (test.test, lambda threshold: pb.racing.accept(np.ones(5), threshold)):
        with pytest.raises(ValueError, match="log_threshold"):
            call(np.nan)
        with pytest.raises(TypeError, match="log_threshold"):
            call("half")
    assert test.test().accepted


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("source", ["array", "function"])
def test_ratios_that_are_not_finite_are_rejected(source, bad):
    ratios = np.random.default_rng(9).normal(size=500)
    ratios[13] = bad
    test = pb.racing.AcceptanceTest(ratios if source == "array" else as_function(ratios),
                                    delta=1e-9)
    for _ in range(2):
        with pytest.raises(ValueError, match=f"log_ratios must be finite; got {bad} at factor 13"):
            test.test(ratios[:13].sum())
    ratios[13] = 1e200
    with pytest.raises(ValueError, match="square"):
        pb.racing.accept(as_function(ratios), looks=pb.racing.Looks(first=500))
    ratios[13] = 0.0
    assert test.test(-1e6).accepted


def test_a_spread_beyond_the_range_is_rejected():
    ratios = np.random.default_rng(9).random(500)
    with pytest.raises(ValueError, match="value_range.*0.25"):
        pb.racing.accept(ratios, bound=pb.racing.EBSBound(value_range=0.25))
    assert pb.racing.accept(ratios, bound=pb.racing.EBSBound(value_range=1.0)).accepted


def test_what_a_function_may_do():
    ratios = np.random.default_rng(10).normal(size=500)
    problem = {"at": ratios}

    def function(indices, states):
        if isinstance(problem["at"], Exception):
            raise problem["at"]
        return problem["at"][indices, None]

    test = pb.racing.AcceptanceTest(pb.Factors(function, 500, 1))
    problem["at"] = KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        test.test()
    problem["at"] = ratios.reshape(-1, 1)[:, [0, 0]]
    with pytest.raises(ValueError, match="shape"):
        test.test()
    problem["at"] = ratios + 5
    assert test.test().accepted

    rng = np.random.default_rng(1)  # the function draws from the same generator as the test
    drawing = pb.Factors(lambda n, i: rng.normal(5.0, 1.0, (n.size, 1)), 500, 1)
    assert pb.racing.accept(drawing, rng=rng).accepted


def test_one_test_at_a_time():
    def again(indices, states):
        with pytest.raises(RuntimeError, match="under way"):
            test.test()
        return np.ones((indices.size, 1))

    test = pb.racing.AcceptanceTest(pb.Factors(again, 500, 1))
    assert test.test().accepted
    failed = []
    thread = threading.Thread(target=lambda: failed.append(test.test().accepted))
    thread.start()
    thread.join()
    assert failed == [True]
