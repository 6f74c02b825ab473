"""race_populations: exact distribution, reference implementation and bad input."""

import collections
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import pybandit as pb

from _shared.reference.bits import Bits
from racing.reference import populations as reference
from racing.reference import subsample, tables
from racing.reference.problems import parts
from racing.test_race_law import assert_law


def as_populations(arms):
    return pb.racing.Populations(lambda n, i: arms[i[0]][n, None], [len(arm) for arm in arms])


def the_case():
    (case,) = (case for name, case in tables.exact_cases().items() if name.startswith("case8"))
    return case, [np.array(values, dtype=float) for values in case["F"]]


def test_schedules():
    for size, rows in tables.exact_cases()["formula_vectors"]["coref_schedule"].items():
        assert reference.schedule(int(size)) == rows
    assert reference.schedule(0) == []
    # in print the second batch has the smaller of 1 and a tenth of the rest, at most one mention
    assert reference.schedule(1_003)[1] - 3 == 100 > min(1, 1_000 / 10)
    case, arms = the_case()
    assert [reference.schedule(len(arm)) for arm in arms] == case["schedules"]


@pytest.mark.parametrize("source", ["arrays", "function"])
def test_the_exact_case_has_its_distribution(source):
    case, arms = the_case()
    law = reference.enumerate_law(arms, case["const"], case["B"])
    for key, of in [("P_winner", lambda o: str(o.best)), ("P_t_last", lambda o: str(o.n_looks)),
                    ("P_rewards", lambda o: str(o.n_evaluations))]:
        found = collections.Counter()
        for outcome, p in law.items():
            found[of(outcome)] += p
        assert found == {value: Fraction(p) for value, p in case[key].items()}
    rng, n_races = np.random.default_rng(8), 5000
    populations = arms if source == "arrays" else as_populations(arms)
    observed = collections.Counter(
        parts(pb.racing.race_populations(populations, case["const"], rng=rng,
                                         bound=pb.racing.NormalBound(boundary=case["B"])))
        for _ in range(n_races))
    assert_law(observed, {tuple(outcome): p for outcome, p in law.items()}, n_races)


@pytest.mark.parametrize("bound", ["student", "normal"])
@pytest.mark.parametrize("source", ["arrays", "function"])
def test_outcomes_equal_the_reference_bit_for_bit(source, bound):
    outcomes = collections.Counter()
    for seed in range(50):
        rng = np.random.default_rng(seed)
        sizes = rng.choice([0, 1, 2, 3, 4, 7, 40, 300, 700], int(rng.integers(2, 9)))
        arms = [rng.normal(rng.normal(0, 0.05), 1.0, size) for size in sizes]
        if seed % 3 == 0:  # skewed values, many of them equal
            arms = [arm**2 for arm in arms]
        elif seed % 3 == 1:
            arms = [np.rint(arm / 2) for arm in arms]
        log_prior = rng.normal(size=sizes.size) * rng.choice([0.0, 10.0])
        log_prior[rng.random(sizes.size) < 0.1] = -np.inf
        log_prior[0] = 0.0
        delta, first_look = float(rng.choice([0.05, 0.4])), int(rng.choice([2, 3, 3, 10]))
        bits, streams = Bits(seed), [subsample.Rejection(size) for size in sizes]
        for stream in streams:
            stream.restart(bits)
        expected = reference.race(arms, log_prior, lambda i, n, s=streams, b=bits: s[i].next(b, n),
                                  reference.union_boundary(delta, sizes, first_look), first_look,
                                  to_the_end=source == "function", student=bound == "student")
        result = pb.racing.race_populations(
            arms if source == "arrays" else as_populations(arms), log_prior, bound=bound,
            delta=delta, first_look=first_look, rng=np.random.default_rng(seed))
        assert parts(result) == tuple(expected), seed
        outcomes[result.n_looks, result.exact] += 1
    assert len(outcomes) >= 6


def test_errors_are_at_most_delta():
    """Errors for two nearly equal totals are at most delta and not much smaller."""
    rng = np.random.default_rng(9)
    arms = [rng.normal(size=1000), rng.normal(size=400)]
    arms = [arm - arm.mean() for arm in arms]
    arms[1] += 1e-9
    n_races, delta = 3000, 0.2
    wrong = sum(pb.racing.race_populations(arms, delta=delta, first_look=50, rng=rng).best == 0
                for _ in range(n_races))
    assert stats.binom.sf(wrong, n_races, delta) > 1e-7
    assert wrong > 0.3 * delta * n_races  # the union over six looks is conservative


def test_small_populations_have_known_outcomes():
    def outcome(*given):
        return parts(pb.racing.race_populations(*given))

    assert outcome([[], []]) == (0, 1, 0, True)
    assert outcome([[], []], [0.0, 1.0]) == (1, 1, 0, True)
    assert outcome([[1.0]]) == (0, 0, 0, True)
    assert outcome([[1.0], [5.0, -1.0], []], [0, -np.inf, 3]) == (2, 1, 1, True)
    assert outcome([[1.0], [0.5, 0.5]]) == (0, 1, 3, True)  # the lowest arm wins a tie
    matrix = np.random.default_rng(1).normal(size=(3, 500)) + [[0], [5], [1]]
    assert pb.racing.race_populations(matrix, rng=1).best == 1
    assert outcome(as_populations([[], []])) == (0, 1, 0, True)


@pytest.mark.parametrize(
    "populations, word",
    [
        (3.0, "populations"),
        ([], "populations"),
        ([[1.0], [[2.0]]], r"populations\[1\]"),
        ([["a"]], r"populations\[0\]"),
        ([np.zeros(9), np.full(9, np.nan)], "got nan at factor [0-8] of arm 1"),
        ([np.zeros(30), np.r_[np.zeros(29), 1e200]], "square|arm 1"),
    ],
)
def test_bad_populations_are_rejected(populations, word):
    with pytest.raises((ValueError, TypeError), match=word):
        # at most 20 of 30 are read before the last look, which computes no squares
        for seed in range(100):
            pb.racing.race_populations(populations, rng=seed,
                                       bound=pb.racing.NormalBound(boundary=1e9))


@pytest.mark.parametrize(
    "options, word",
    [
        ({"delta": 1.0}, "delta"),
        ({"bound": "betting"}, "bound .*BettingBound"),
        ({"bound": "best"}, "bound"),
        ({"bound": pb.racing.EBSBound(delta=0.1, value_range=1.0)}, "bound"),
        ({"bound": pb.racing.StudentBound(delta=0.1), "delta": 0.1}, "delta"),
        ({"delta": 0.999}, "delta"),
        ({"first_look": 1}, "first_look"),
        ({"log_prior": [0.0]}, "log_prior"),
        ({"log_prior": [-np.inf, -np.inf]}, "log_prior"),
    ],
)
def test_bad_options_are_rejected(options, word):
    with pytest.raises(ValueError, match=word):
        pb.racing.race_populations([np.zeros(4), np.zeros(4)], **options)


@pytest.mark.parametrize("sizes", [[1.5], [-1], [], [[1]], [np.nan]])
def test_bad_sizes_are_rejected(sizes):
    with pytest.raises(ValueError, match="sizes"):
        pb.racing.Populations(lambda n, i: None, sizes)
    with pytest.raises(TypeError, match="function"):
        pb.racing.Populations(None, [1])


def test_what_a_function_may_do():
    def broken(indices, states):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        pb.racing.race_populations(pb.racing.Populations(broken, [10, 10]))
    with pytest.raises(ValueError, match="shape"):
        pb.racing.race_populations(pb.racing.Populations(lambda n, i: np.zeros(n.size), [10, 10]))
