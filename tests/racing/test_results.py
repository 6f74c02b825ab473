"""Results of races, tests and draws are frozen records."""

import json
import pickle

import numpy as np
import pytest

import pybandit as pb

FACTORS = np.random.default_rng(0).normal([0.0, 0.1, 0.3], 1.0, (10_000, 3))
MADE = {
    "race": lambda: pb.race(FACTORS, rng=1),
    "accept": lambda: pb.racing.accept(FACTORS[:, 2], rng=1),
    "draw": lambda: pb.RacingSampler(FACTORS, rng=1).draw()[1],
    "draws": lambda: pb.RacingSampler(FACTORS, rng=1).draw(5)[1],
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_hot_results_are_frozen_records(make):
    one, other = make(), make()
    assert one == other and not one != other and one != 3
    assert pickle.loads(pickle.dumps(one)) == one
    for name in type(one).__match_args__:
        assert hasattr(one, name)
        with pytest.raises(AttributeError):
            setattr(one, name, 0)
    with pytest.raises(TypeError):
        one[0]
    with pytest.raises(TypeError):
        iter(one)
    plain = json.loads(json.dumps(one.to_dict()))
    assert list(plain) == list(type(one).__match_args__)
    assert all(np.array_equal(plain[name], getattr(one, name)) for name in plain)
    assert "\n" not in repr(one) and repr(one).startswith(type(one).__name__ + "(")


def test_results_that_differ_are_not_equal():
    race = pb.racing.RaceResult(1, 2, 3, True)
    assert race != pb.racing.RaceResult(1, 2, 3, False)
    assert race != pb.racing.AcceptResult(True, 2, 3, True)
    assert len({race, pb.racing.RaceResult(1, 2, 3, True)}) == 1
    assert len({pb.racing.AcceptResult(i > 0, 2, 3, True) for i in range(4)}) == 2
    many = pb.racing.DrawInfo(np.array([1, 2]), np.array([1, 1]), np.array([True, False]), 0.5)
    assert many != pb.racing.DrawInfo(np.array([1, 3]), many.n_looks, many.exact, 0.5)
    for info in (many, pb.racing.DrawInfo(1, 1, True, 0.5)):
        with pytest.raises(TypeError, match="unhashable type"):
            hash(info)
    assert repr(many) == ("DrawInfo(n_evaluations=array([1, 2]), n_looks=array([1, 1]), "
                          "exact=array([ True, False]), fraction=0.5)")


def test_summary_states_the_best_state():
    result = pb.race(FACTORS, rng=1)
    assert result.decided and f"State {result.best} is the best" in result.summary()
    assert result.summary() in result._repr_html_()
    match result:
        case pb.racing.RaceResult(best, n_looks):
            assert (best, n_looks) == (result.best, result.n_looks)


def test_reprs_name_the_object():
    assert repr(pb.RacingSampler(FACTORS)) == (
        "<RacingSampler: 10,000 factors, 3 states, student, delta 0.05>")
    bets = pb.racing.BettingBound(value_range=(-9, 9), delta=0.01)
    assert repr(pb.racing.AcceptanceTest(FACTORS[:, 0], bound=bets)) == (
        "<AcceptanceTest: 10,000 log ratios, betting, delta 0.01>")
    assert repr(pb.racing.PopulationMoments(FACTORS)) == (
        "<PopulationMoments: 10,000 points of 3 numbers, 1 bins>")


def test_a_function_of_indices_is_a_test():
    ratios = FACTORS[:, 2] - FACTORS[:, 0]
    given = {"n_factors": ratios.size, "rng": 1}
    expected = pb.racing.accept(pb.Factors(lambda n, i: ratios[n, None], ratios.size, 1), rng=1)
    assert pb.racing.accept(ratios.__getitem__, **given) == expected
    test = pb.racing.AcceptanceTest(ratios.__getitem__, **given)
    assert test.test().accepted == expected.accepted
    with pytest.raises(TypeError, match="n_factors must be given if log_ratios is a function"):
        pb.racing.accept(ratios.__getitem__)
    with pytest.raises(ValueError, match=r"log_ratios must return shape \(n,\)"):
        pb.racing.accept(lambda indices: np.zeros(3), n_factors=1000)


def test_chain_results_are_records():
    step = pb.racing.slice_sample(lambda n, x: -0.5 * (FACTORS[n, :1] - x) ** 2, 0.1,
                                  n_factors=10_000, width=0.05, rng=1)
    assert json.loads(json.dumps(step.to_dict()))["n_tests"] == step.n_tests
    assert "\n" not in repr(step) and repr(step).startswith("SliceResult(x=")
    with pytest.raises(AttributeError):
        step.x = 0.0
    with pytest.raises(TypeError):
        pb.racing.SliceResult(0.0, 1, 2, 0.5)
    assert pickle.loads(pickle.dumps(step)).to_dict() == step.to_dict()
