"""Boundary constants: the reference table, and brute force on other schedules."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

import pybandit as pb

from racing.reference import b_normal as reference
from racing.reference import tables

CONVENTIONS = ["one-sided", "two-sided", "union"]
IRREGULAR = {
    "three": [0.001, 0.02, 0.4],
    "close": [0.1, 0.11, 0.12, 0.13],
    "almost all": [0.5, 0.9, 0.999],
    "tenths": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
    "tripling": [1e-4, 3e-4, 9e-4, 2.7e-3, 8.1e-3, 2.43e-2],
    "one": [0.37],
    "far": [1e-6, 0.5],
}


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_b_normal_equals_the_reference_table(convention):
    table = tables.b_normal()
    assert len(table["delta"]) == 316
    result = pb.bounds.b_normal(table["delta"], table["first_fraction"], convention=convention)
    expected = table["b_" + convention.replace("-", "_")]
    # the table has 11 decimals, so its rounding error is at most 5e-12
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-9)


def test_the_printed_table_is_two_sided():
    table = tables.b_normal()
    printed = table["printed_table_1"]
    small = (table["delta"] <= 0.25) & np.isfinite(printed)
    two_sided = pb.bounds.b_normal(table["delta"], table["first_fraction"], convention="two-sided")
    one_sided = pb.bounds.b_normal(table["delta"], table["first_fraction"], convention="one-sided")
    assert small.sum() > 100
    # the paper interpolates between 60 nodes in delta
    assert np.abs(two_sided - printed)[small].max() <= 0.003
    assert np.abs(one_sided - printed)[small].max() > 0.02


@pytest.mark.some(9)
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("name", IRREGULAR)
@pytest.mark.parametrize("delta", [1e-6, 0.003, 0.2])
def test_boundaries_of_any_schedule_equal_brute_force(name, convention, delta):
    fractions = IRREGULAR[name]
    result = pb.bounds.boundary(delta, fractions, convention=convention)
    assert abs(result - reference.boundary(delta, fractions, convention, points_per_sd=40)) <= 1e-9


@pytest.mark.some(4)
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("boundary", [0.0, 0.3, 1.7, 3.1, 6.0])
@pytest.mark.parametrize("name", ["three", "close", "tenths", "one"])
def test_crossing_probability_equals_brute_force(name, boundary, convention):
    fractions = IRREGULAR[name]
    if boundary == 0.0 and convention == "two-sided":
        expected = 0.5
    else:
        expected = reference.crossing_probability(boundary, fractions, convention)
    result = pb.bounds.crossing_probability(boundary, fractions, convention=convention)
    # this corresponds to less than 1e-9 in B, because d log E / dB is about -B
    np.testing.assert_allclose(result, expected, rtol=2e-9)


@pytest.mark.some(24)
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("delta", [1e-12, 1e-16, 1e-20, 1e-30, 1e-78, 1e-200])
@pytest.mark.parametrize("name", ["three", "tenths", "tripling", "far"])
def test_boundaries_of_tiny_error_rates_are_accurate(name, delta, convention):
    """With nodes placed for smaller boundaries, E would be up to four times delta."""
    level = pb.bounds.boundary(delta, IRREGULAR[name], convention=convention)
    expected = reference.crossing_probability(level, IRREGULAR[name], convention, points_per_sd=20)
    np.testing.assert_allclose(expected, delta, rtol=1e-8)


def test_crossing_probability_is_that_of_a_finite_population():
    """E(B) is the crossing rate of standardised means in randomly permuted populations."""
    rng = np.random.default_rng(20160)
    size, looks = 800, np.array([50, 100, 200, 400])
    values = rng.standard_normal(size)
    values = (values - values.mean()) / values.std()
    sums = rng.permuted(np.tile(values, (40_000, 1)), axis=1).cumsum(axis=1)[:, looks - 1]
    z = sums / np.sqrt(looks * (1 - (looks - 1) / (size - 1)))
    for boundary in (0.5, 1.5, 2.5):
        for convention, crossed in [
            ("one-sided", (z > boundary).any(axis=1)),
            ("two-sided", (np.abs(z) > boundary).any(axis=1)),
        ]:
            expected = pb.bounds.crossing_probability(boundary, looks / size, convention=convention)
            expected *= 2 if convention == "two-sided" else 1
            # the values are not exactly Gaussian: E(B) is accurate to a few parts in a thousand
            assert abs(crossed.mean() - expected) <= 5 * np.sqrt(expected / len(z)) + 0.002


@settings(max_examples=60, deadline=None)
@given(
    delta=st.floats(1e-9, 0.49),
    steps=st.lists(st.floats(0.05, 3.0), min_size=1, max_size=8),
    convention=st.sampled_from(CONVENTIONS),
)
def test_the_boundary_solves_its_equation(delta, steps, convention):
    odds = 1e-3 * np.exp(np.cumsum(steps))
    fractions = odds / (1 + odds)
    boundary = pb.bounds.boundary(delta, fractions, convention=convention)
    error = pb.bounds.crossing_probability(boundary, fractions, convention=convention)
    assert error == pytest.approx(delta, rel=1e-7)
    # B lies between the constant of a single look and that of the union bound
    assert -special.ndtri(delta) - 1e-9 <= boundary <= -special.ndtri(delta / len(steps)) + 1e-9


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_b_normal_is_monotone_in_its_arguments(convention):
    deltas = np.array([1e-6, 1e-4, 1e-2, 0.1, 0.4])
    firsts = np.array([5e-5, 1e-3, 0.1, 0.4, 0.7])
    by_delta = pb.bounds.b_normal(deltas, 1e-3, convention=convention)
    assert np.all(np.diff(by_delta) < 0)
    by_first = pb.bounds.b_normal(0.01, firsts, convention=convention)
    assert np.all(np.diff(by_first) < 0)


def test_conventions_are_ordered_and_meet_at_small_delta():
    for delta, limit in [(1e-6, 5e-5), (1e-3, 5e-5), (0.1, 0.02)]:
        one = pb.bounds.b_normal(delta, 5e-4, convention="one-sided")
        two = pb.bounds.b_normal(delta, 5e-4, convention="two-sided")
        assert two <= one <= pb.bounds.b_normal(delta, 5e-4, convention="union")
        assert one - two <= limit


def test_one_partial_look_is_the_normal_quantile():
    for convention in CONVENTIONS:
        boundary = pb.bounds.b_normal(0.05, 0.5, convention=convention)
        assert boundary == pytest.approx(stats.norm.isf(0.05), abs=1e-12)
        assert pb.bounds.b_normal(0.05, 1.0, convention=convention) == 0.0


def test_shapes_and_types():
    deltas = np.array([[0.1], [0.01]])
    firsts = np.array([0.01, 0.1, 0.3])
    table = pb.bounds.b_normal(deltas, firsts)
    assert table.shape == (2, 3) and table.dtype == np.float64
    assert table[1, 2] == pb.bounds.b_normal(0.01, 0.3)
    assert isinstance(pb.bounds.b_normal(0.01, 0.3), float)
    assert isinstance(pb.bounds.boundary(0.01, [0.1, 0.5]), float)
    doubling = reference.doubling_fractions(0.01)
    assert pb.bounds.boundary(0.01, doubling) == pb.bounds.b_normal(0.01, 0.01)


@pytest.mark.parametrize("delta", [0.0, 0.5, 0.7, 1.0, -0.1, np.nan, np.inf])
def test_delta_without_a_solution_is_rejected(delta):
    for call in (
        lambda: pb.bounds.b_normal(delta, 0.01),
        lambda: pb.bounds.boundary(delta, [0.1, 0.5]),
        lambda: pb.bounds.b_normal(np.array([0.1, delta]), 0.01),
    ):
        with pytest.raises(ValueError, match=r"delta.*0\.5"):
            call()


@pytest.mark.parametrize("first", [0.0, -0.1, 1.1, np.nan])
def test_first_fraction_outside_its_range_is_rejected(first):
    with pytest.raises(ValueError, match="first_fraction"):
        pb.bounds.b_normal(0.05, first)


@pytest.mark.parametrize(
    "fractions", [[0.5, 0.5], [0.5, 0.1], [0.0, 0.5], [0.5, 1.0], [0.1, np.nan], [[0.1, 0.2]]]
)
def test_bad_fractions_are_rejected(fractions):
    for call in (
        lambda: pb.bounds.boundary(0.05, fractions),
        lambda: pb.bounds.crossing_probability(2.0, fractions),
    ):
        with pytest.raises(ValueError, match="fractions"):
            call()


def test_no_looks_give_0_and_bad_conventions_are_rejected():
    assert pb.bounds.boundary(0.05, []) == 0.0
    assert pb.bounds.crossing_probability(1.0, []) == 0.0
    with pytest.raises(ValueError, match="convention.*'onesided'"):
        pb.bounds.b_normal(0.05, 0.1, convention="onesided")
    with pytest.raises(ValueError, match="boundary.*-1"):
        pb.bounds.crossing_probability(-1.0, [0.1])


def test_looks_too_close_to_resolve_are_rejected():
    with pytest.raises(ValueError, match="fractions must be far enough apart"):
        pb.bounds.boundary(0.05, [0.3, 0.3 + 1e-8])
    assert pb.bounds.boundary(0.05, [0.3, 0.3003]) > stats.norm.isf(0.05)
