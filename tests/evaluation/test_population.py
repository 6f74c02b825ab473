"""best_of on a sample of a population: words and bounds of the result."""

import math

import numpy as np
import pytest

import pybandit as pb

from evaluation.grouped import grouped

RNG = np.random.default_rng(1)
NEAR = np.repeat((RNG.random((200, 1)) < 0.5) * 1.0, 3, axis=1)
CLEAR = RNG.random((200, 3)) * [0.5, 0.6, 1.0]
UNIT = dict(value_range=(0, 1), rng=1)


@pytest.mark.parametrize("population, words", [
    (None, "on these 200 items"),
    (math.inf, "on the population that these 200 items are a sample of"),
    (5000, "on the 5,000 items that these 200 items are a sample of")])
@pytest.mark.parametrize("options", [{}, {"budget": 400}, {"max_pulls": 90}, {"k": 2}])
def test_result_names_population(population, words, options):
    result = pb.best_of(CLEAR, **grouped(population_size=population, **UNIT, **options))
    assert words in result.summary() and words in str(result) and words in result._repr_html_()
    assert result.population_size == (population or 200)
    assert result.to_dict()["population_size"] == {None: 200, math.inf: None}.get(population, 5000)


def test_reading_whole_sample_decides_nothing():
    of_these = pb.best_of(NEAR, **UNIT)
    assert of_these.decided and of_these.exact and of_these.tied.size == 2
    for population in (math.inf, 1000):
        result = pb.best_of(NEAR, items=pb.Items(population_size=population), **UNIT)
        assert result.fraction_read == 1.0 and not result.decided and not result.exact
        assert result.survivors.size == 3 and result.tied.size == 0
        assert "after all 200 items of the sample: 3 of 3 models left" in result.guarantee()
        lower, upper = result.intervals.T
        assert (upper - lower > 0.05).all()
    lower, upper = of_these.intervals.T
    np.testing.assert_allclose(upper, lower, atol=1e-9)


def test_intervals_are_those_of_the_population():
    result = pb.best_of(NEAR, items=pb.Items(population_size=math.inf), **UNIT)
    expected = pb.confidence_sequence(result.rewards(1), delta=0.05)
    np.testing.assert_array_equal(result.confidence_sequence(1).lower, expected.lower)
    result = pb.best_of(NEAR, items=pb.Items(population_size=1000), **UNIT)
    expected = pb.confidence_sequence(result.rewards(1), population_size=1000, delta=0.05)
    np.testing.assert_array_equal(result.confidence_sequence(1).upper, expected.upper)


def test_budget_on_sample_gives_an_estimate():
    result = pb.best_of(NEAR, items=pb.Items(population_size=math.inf), budget=600, **UNIT)
    assert not result.decided and result.error_estimate > 0.1
    assert pb.best_of(NEAR, budget=600, **UNIT).decided
