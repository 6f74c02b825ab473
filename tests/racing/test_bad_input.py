"""Invalid arguments of races and samplers: errors and their messages."""

import re

import numpy as np
import pytest

import pybandit as pb

from racing.reference.problems import as_function

GOOD = np.random.default_rng(0).normal(size=(400, 3)) + [0.0, 1.0, 2.0]


def assert_says(error, *words):
    for word in words:
        assert re.search(rf"(?<!\w){re.escape(str(word))}(?!\w)", str(error)), (word, str(error))


@pytest.mark.parametrize(
    "factors, words",
    [
        (np.zeros((0, 3)), ["factors", "(0, 3)"]),
        (np.zeros((3, 0)), ["factors", "(3, 0)"]),
        (np.zeros(3), ["factors", "(3,)"]),
        (np.zeros((2, 2, 2)), ["factors", "(2, 2, 2)"]),
        (1.0, ["factors"]),
    ],
)
def test_bad_shapes_of_matrices_are_rejected(factors, words):
    for call in (pb.race, pb.RacingSampler, pb.racing.exact_sample):
        with pytest.raises(ValueError) as caught:
            call(factors)
        for word in words:
            assert word in str(caught.value)


@pytest.mark.parametrize(
    "factors", [np.zeros((3, 2), dtype=complex), [["a", "b"]], [[None, 1.0]], "text", None]
)
def test_matrices_that_are_not_real_are_rejected(factors):
    for call in (pb.race, pb.RacingSampler, pb.racing.exact_sample):
        with pytest.raises((TypeError, ValueError), match="factors"):
            call(factors)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"delta": 0.0}, ["delta", "0"]),
        ({"delta": 1.0}, ["delta", "1"]),
        ({"delta": -0.1}, ["delta", "-0.1"]),
        ({"delta": np.nan}, ["delta", "nan"]),
        # with 3 states, pairwise splits delta in two and marginal in three; shares must be < 1/2
        (lambda: {"delta": 0.999999, "looks": pb.racing.Looks(variance="sideways")},
         ["variance"]),
        ({"bound": "gaussian"}, ["bound", "gaussian"]),
        (lambda: {"looks": pb.racing.Looks(variance="both")}, ["variance", "both"]),
        (lambda: {"looks": pb.racing.Looks(first=1)}, ["first", "1", "2"]),
        (lambda: {"looks": pb.racing.Looks(first=0)}, ["first", "0"]),
        (lambda: {"looks": pb.racing.Looks(first=-5), "bound": "normal"}, ["first", "-5"]),
        (lambda: {"looks": pb.racing.Looks(first=0), "bound": pb.racing.EBSBound(value_range=9.0)},
         ["first", "0"]),
        (lambda: {"looks": pb.racing.Looks(max_fraction=0.0)}, ["max_fraction", "0"]),
        (lambda: {"looks": pb.racing.Looks(max_fraction=1.5)}, ["max_fraction", "1.5"]),
        (lambda: {"looks": pb.racing.Looks(max_fraction=np.nan)}, ["max_fraction", "nan"]),
        (lambda: {"looks": pb.racing.Looks(indices="random")}, ["indices", "random"]),
        (lambda: {"bound": pb.racing.EBSBound(value_range=None)}, ["value_range", "None"]),
        (lambda: {"bound": pb.racing.EBSBound(value_range=0.0)}, ["value_range", "0"]),
        (lambda: {"bound": pb.racing.EBSBound(value_range=-1.0)}, ["value_range", "-1"]),
        (lambda: {"bound": pb.racing.EBSBound(value_range=np.nan)}, ["value_range", "nan"]),
        (lambda: {"bound": pb.racing.EBSBound(value_range=np.inf)}, ["value_range", "inf"]),
        (lambda: {"bound": pb.racing.EBSBound(value_range=[1.0, 2.0])}, ["value_range", "3", "2"]),
        ({"bound": "ebs"}, ["bound", "pb.racing.EBSBound(value_range=..., delta=...)"]),
        ({"bound": "betting"}, ["pb.racing.BettingBound(value_range=(low, high), delta=...)"]),
        ({"bound": "auto"}, ["bound", "student", "normal", "auto"]),
        (lambda: {"bound": pb.racing.StudentBound(), "delta": 0.1}, ["delta"]),
    ],
)
def test_options(options, words):
    for call in (pb.race, pb.RacingSampler):
        with pytest.raises(ValueError) as caught:
            call(GOOD, **(options() if callable(options) else options))
        assert_says(caught.value, *words)


def test_delta_without_a_solution_for_two_states_is_rejected():
    """E(B) = delta has no solution for delta >= 1/2 and one comparison of two states."""
    for delta in (0.5, 0.7):
        with pytest.raises(ValueError, match=r"delta.*0\.5"):
            pb.race(GOOD[:, :2], delta=delta)
    assert pb.race(GOOD[:, :2], delta=0.49, rng=0).best == 1
    # the empirical Bernstein bound allows any delta below 1
    assert pb.race(GOOD[:, :2], bound=pb.racing.EBSBound(value_range=9.0, delta=0.9),
                   rng=0).best == 1


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: pb.racing.NormalBound(delta=2.0), ["delta", "2"]),
        (lambda: pb.racing.StudentBound(convention="three-sided"), ["convention", "three-sided"]),
        (lambda: pb.racing.NormalBound(boundary=-1.0), ["boundary", "-1"]),
        (lambda: pb.racing.NormalBound(boundary=np.nan), ["boundary", "nan"]),
        (lambda: pb.racing.EBSBound(value_range=None), ["value_range", "None"]),
        (lambda: pb.racing.EBSBound(value_range=[1.0, -2.0]), ["value_range", "-2"]),
        (lambda: pb.racing.EBSBound(value_range=None, difference_range=0.0),
         ["difference_range", "0"]),
        (lambda: pb.racing.EBSBound(delta=0.0, value_range=1.0), ["delta", "0"]),
        (lambda: pb.Factors(len, 0, 3), ["n_factors", "0"]),
        (lambda: pb.Factors(len, 3, 0), ["n_states", "0"]),
        (lambda: pb.race(GOOD, [0.0, 1.0]), ["log_prior", "3", "2"]),
        (lambda: pb.race(GOOD, [0.0, np.nan, 1.0]), ["log_prior", "nan", "1"]),
        (lambda: pb.race(GOOD, [0.0, np.inf, 1.0]), ["log_prior", "inf", "1"]),
        (lambda: pb.race(GOOD, [-np.inf] * 3), ["log_prior", "-inf"]),
        (lambda: pb.RacingSampler(GOOD, [0.0]), ["log_prior", "3"]),
        (lambda: pb.RacingSampler(GOOD, [np.nan] * 3), ["log_prior", "nan"]),
        (lambda: pb.RacingSampler(GOOD, [-np.inf] * 3), ["log_prior", "-inf"]),
        (lambda: pb.RacingSampler(GOOD, layout="sorted"), ["layout", "sorted"]),
        (lambda: pb.RacingSampler(as_function(GOOD), layout="shuffled"), ["layout", "shuffled"]),
        (lambda: pb.RacingSampler(GOOD).draw(-1), ["size", "-1"]),
        (lambda: pb.racing.exact_sample(GOOD, [0.0]), ["log_prior", "3"]),
        (lambda: pb.race(GOOD, bound=pb.racing.EBSBound(value_range=None, difference_range=9.0),
                         looks=pb.racing.Looks(variance="marginal")),
         ["value_range", "marginal"]),
    ],
)
def test_values(make, words):
    with pytest.raises(ValueError) as caught:
        make()
    assert_says(caught.value, *words)


@pytest.mark.parametrize(
    "make, word",
    [
        (lambda: pb.Factors("name", 3, 3), "function"),
        (lambda: pb.Factors(len, 2.5, 3), "n_factors"),
        (lambda: pb.race(GOOD, rng="seed"), "rng"),
        (lambda: pb.race(GOOD, rng=np.random.RandomState(1)), "rng"),
        (lambda: pb.race(GOOD, bound=3.0), "bound"),
        (lambda: pb.race(GOOD, delta="0.1"), "delta"),
        (lambda: pb.racing.Looks(first=2.5), "first"),
        (lambda: pb.racing.Looks(first=True), "first"),
        (lambda: pb.racing.Looks(max_fraction="0.5"), "max_fraction"),
        (lambda: pb.racing.Looks(50), "positional"),
        (lambda: pb.race(GOOD, looks=50), "looks must be a pybandit.racing.Looks or None; got 50"),
        (lambda: pb.RacingSampler(GOOD, looks={"first": 50}), "looks must be a pybandit.racing"),
        (lambda: pb.racing.accept(GOOD[:, 0], looks=pb.racing.Looks), "looks must be"),
        (lambda: pb.race(GOOD, log_prior=["a", "b", "c"]), "log_prior"),
        (lambda: pb.RacingSampler(GOOD).draw(2.5), "size"),
        (lambda: pb.bounds.b_normal("0.1", 0.1), "delta"),
    ],
)
def test_types(make, word):
    with pytest.raises(TypeError, match=word):
        make()


def test_matrices_are_converted_once():
    whole = (GOOD * 10).astype(int)
    expected = pb.race(whole.astype(float), rng=1)
    stored = np.zeros((800, 6))
    stored[::2, ::2] = whole
    frozen = whole.astype(float)
    frozen.flags.writeable = False
    for factors in (whole, whole.astype(np.int8), whole.tolist(), whole.astype(np.float32),
                    np.asfortranarray(whole.astype(float)), stored[::2, ::2], frozen,
                    whole[::-1][::-1].astype(">f8")):
        assert pb.race(factors, rng=1) == expected
        state, _ = pb.RacingSampler(factors, rng=1).draw()
        assert state == expected.best
    assert pb.race(whole > 0, rng=1).best in (0, 1, 2)
    assert pb.race(GOOD, log_prior=[0, 0, -10_000], rng=1).best == 1
    assert pb.race(GOOD, bound=pb.racing.EBSBound(value_range=[9, 9, 9]), rng=1).best == 2
    zero_dimensional = pb.race(GOOD, bound=pb.racing.EBSBound(value_range=np.array(9.0)), rng=1)
    assert zero_dimensional == pb.race(GOOD, bound=pb.racing.EBSBound(value_range=9.0), rng=1)
    assert pb.race(GOOD, delta=np.array(0.05), rng=1) == pb.race(GOOD, rng=1)
