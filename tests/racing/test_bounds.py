"""Half-widths against their formulas, printed check values and their coverage."""

import numpy as np
import pytest
from scipy import stats

import pybandit as pb

from racing.reference import bounds as reference
from racing.reference import tables

SIZES = [(1, 2), (2, 3), (2, 10), (5, 10), (6, 10), (9, 10), (50, 100_000), (99_999, 100_000)]


def test_half_widths_equal_printed_values():
    vectors = tables.exact_cases()["formula_vectors"]
    normal, ebs = pb.bounds.normal, pb.bounds.empirical_bernstein_serfling
    for result, name in [
        (normal(50, 100_000, 1.0, 3.0), "G_normal_T50_N1e5_s1_B3"),
        (normal(50, 100_000, 1.0, 1.0) ** 2 * 50, "fpc_50_100000"),
        (ebs(100, 1000, 1.0, 4.0, 0.05), "B_ebs_delta0p05_n100_N1000_s1_C4"),
        (ebs(600, 1000, 1.0, 4.0, 0.05), "B_ebs_delta0p05_n600_N1000_s1_C4"),
        (ebs(128, 100_000, 1.0, 4.0, 0.05 / 16), "G_ebs_delta0p05_T128_N1e5_s1_C4_tstar17"),
    ]:
        assert result == pytest.approx(vectors[name], rel=1e-14), name


@pytest.mark.parametrize("n, population", SIZES)
def test_half_widths_equal_the_reference(n, population):
    for std, level, spread in [(1.0, 2.5, 4.0), (0.0, 1.0, 1.0), (3e-7, 5.2, 2e-6)]:
        assert pb.bounds.normal(n, population, std, level) == pytest.approx(
            reference.normal(n, population, std, level), rel=1e-13
        )
        assert pb.bounds.empirical_bernstein_serfling(
            n, population, std, spread, 0.01
        ) == pytest.approx(
            reference.empirical_bernstein_serfling(n, population, std, spread, 0.01), rel=1e-13
        )
        if n >= 2:
            assert pb.bounds.student(n, population, std, level) == pytest.approx(
                reference.student(n, population, std, level), rel=1e-9
            )


def test_student_is_a_t_interval():
    """Its coverage is exact for an infinite normal population: the pivot is Student's t."""
    for n in (2, 5, 50):
        level = stats.norm.isf(1e-4)
        width = pb.bounds.student(n, 1e18, 1.0, level)
        assert stats.t.sf(width * np.sqrt(n), n - 1) == pytest.approx(1e-4, rel=1e-8)
        assert width > pb.bounds.normal(n, 1e18, 1.0, level)


def test_student_keeps_its_digits_far_out():
    for level in (6.0, 8.0, 12.0):
        expected = stats.t.isf(stats.norm.sf(level), 49) / np.sqrt(50)
        assert pb.bounds.student(50, 1e18, 1.0, level) == pytest.approx(expected, rel=1e-9)


def test_an_extreme_boundary_is_never_crossed():
    """SciPy returns an infinity of the wrong sign for tails that are 0 in float64."""
    for boundary in (37.0, 38.0, 50.0, 1e300):
        assert pb.bounds.student(50, 5000, 1.0, boundary) > 1e6
    assert pb.bounds.student(50, 5000, 1.0, -50.0) == -np.inf
    assert pb.bounds.student([50, 100], 100, [0.0, 1.0], 50.0).tolist() == [0.0, 0.0]
    values = np.random.default_rng(0).normal(size=(5000, 2))
    values[:, 1] += 1e-3 - np.subtract(*values.mean(axis=0)[::-1])
    for options in (dict(bound=pb.racing.StudentBound(boundary=50.0)),
                    dict(delta=1e-300, looks=pb.racing.Looks(first=8))):
        assert [pb.race(values, rng=seed, **options).best for seed in range(40)] == [1] * 40
    log_ratios = values[:, 1] - values[:, 0]
    assert pb.racing.accept(log_ratios, bound=pb.racing.StudentBound(boundary=40.0), rng=1).exact


def test_negative_bounds_are_rejected():
    class Negative(pb.racing.NormalBound):
        def terms(self, n_read, n_factors, n_comparisons):
            scale, slack = super().terms(n_read, n_factors, n_comparisons)
            return -scale, slack

    with pytest.raises(ValueError, match="two terms of at least 0 per look"):
        pb.race(np.zeros((900, 2)), bound=Negative())


def test_underflowing_deviations_are_no_evidence():
    """Races read everything if a standard deviation underflows to 0."""
    values = np.random.default_rng(0).normal(size=(20_000, 2))
    values[:, 1] += 1e-2 - np.subtract(*values.mean(axis=0)[::-1])
    for bound in ("normal", pb.racing.StudentBound(skewness=False)):
        results = [pb.race(values * 1e-163, bound=bound, rng=seed) for seed in range(20)]
        assert [one.best for one in results] == [1] * 20
        tests = [pb.racing.accept((values[:, 1] - values[:, 0]) * 1e-163, bound=bound, rng=seed)
                 for seed in range(20)]
        assert all(one.accepted and one.exact for one in tests)


@pytest.mark.parametrize("population", [1, 2, 7, 1000])
def test_half_widths_are_0_if_everything_is_read(population):
    assert pb.bounds.normal(population, population, 1.0, 3.0) == 0.0
    assert pb.bounds.empirical_bernstein_serfling(population, population, 1.0, 4.0, 0.05) == 0.0
    if population > 1:
        assert pb.bounds.student(population, population, 1.0, 3.0) == 0.0


def test_the_bernstein_serfling_bound_has_its_coverage():
    """At most a share delta of the means of subsets lies outside, for any values."""
    rng = np.random.default_rng(7)
    for values in (rng.exponential(size=200), np.repeat([0.0, 1.0], [190, 10])):
        for n in (20, 60, 150):
            samples = rng.permuted(np.tile(values, (4000, 1)), axis=1)[:, :n]
            width = pb.bounds.empirical_bernstein_serfling(
                n, 200, samples.std(axis=1), np.ptp(values), 0.2
            )
            assert np.mean(samples.mean(axis=1) - values.mean() > width) <= 0.2


def test_half_widths_broadcast():
    widths = pb.bounds.normal(np.array([10, 20]), 100, np.array([[1.0], [2.0], [3.0]]), 2.0)
    assert widths.shape == (3, 2) and widths.dtype == np.float64
    assert widths[2, 1] == pb.bounds.normal(20, 100, 3.0, 2.0)
    assert isinstance(pb.bounds.normal(10, 100, 1.0, 2.0), float)
    assert isinstance(pb.bounds.student(10, 100, 1.0, 2.0), float)
    assert isinstance(pb.bounds.empirical_bernstein_serfling(10, 100, 1.0, 2.0, 0.1), float)


@pytest.mark.parametrize(
    "gap, rewards",
    [(1, 100), (0.7, 200), (0.3, 800), (0.1, 6400), (0.03, 51_200), (0.01, 200_000)],
)
def test_sample_complexity_equals_known_values(gap, rewards):
    assert pb.bounds.normal_sample_complexity(gap, 100_000, 2, delta=0.05) == rewards


def test_sample_complexity_equals_the_reference():
    for gap in (0.0, 0.01, 0.2, 5.0):
        for n_states, first_look, convention in [(2, 50, "two-sided"), (7, 10, "union")]:
            boundary = pb.bounds.b_normal(
                0.1 / (n_states - 1), first_look / 30_000, convention=convention
            )
            expected = reference.normal_sample_complexity(gap, 30_000, n_states, boundary,
                                                          first_look)
            result = pb.bounds.normal_sample_complexity(
                gap, 30_000, n_states, delta=0.1, first_look=first_look, convention=convention
            )
            assert result == expected
    many = pb.bounds.normal_sample_complexity(np.array([1.0, 0.01]), 100_000, 2, delta=0.05)
    assert many.dtype == np.int64 and many.tolist() == [100, 200_000]


@pytest.mark.parametrize(
    "call, names",
    [
        (lambda b: b.normal(0, 10, 1.0, 2.0), ["n", "0"]),
        (lambda b: b.normal(11, 10, 1.0, 2.0), ["n", "11", "population", "10"]),
        (lambda b: b.normal(5, 10, -1.0, 2.0), ["std", "-1"]),
        (lambda b: b.normal(5, 10, np.nan, 2.0), ["std", "nan"]),
        (lambda b: b.normal(5, 10, 1.0, np.nan), ["boundary", "nan"]),
        (lambda b: b.normal(5, 10, [1.0, np.inf], 2.0), ["std", "inf", "1"]),
        (lambda b: b.normal(np.nan, 10, 1.0, 2.0), ["n", "nan"]),
        (lambda b: b.normal(5, np.nan, 1.0, 2.0), ["population", "nan"]),
        (lambda b: b.student(1, 10, 1.0, 2.0), ["n", "2"]),
        (lambda b: b.student(5, 10, -1.0, 2.0), ["std", "-1"]),
        (lambda b: b.empirical_bernstein_serfling(5, 10, 1.0, -4.0, 0.1), ["value_range", "-4"]),
        (lambda b: b.empirical_bernstein_serfling(5, 10, 1.0, 4.0, 0.0), ["delta", "0"]),
        (lambda b: b.empirical_bernstein_serfling(5, 10, 1.0, 4.0, 1.0), ["delta", "1"]),
        (lambda b: b.normal_sample_complexity(-1, 100, 2, delta=0.05), ["gap", "-1"]),
        (lambda b: b.normal_sample_complexity(1, 100, 1, delta=0.05), ["n_states", "1"]),
        (lambda b: b.normal_sample_complexity(1, 100, 2, delta=0.5), ["delta", "0.5"]),
    ],
)
def test_arguments_outside_their_range_are_rejected(call, names):
    with pytest.raises(ValueError) as caught:
        call(pb.bounds)
    for name in names:
        assert name in str(caught.value)


def test_the_range_of_ucb_v_may_be_two_limits():
    plain, wide = (pb.bounds.ucb_v(0.5, 0.0, 4, 100, value_range=ends) - 0.5
                   for ends in ((0, 1), (-1, 2)))
    assert wide == pytest.approx(3 * plain, rel=1e-12)
    assert pb.bounds.ucb_v(0.5, 0.1, 4, 100) == pb.bounds.ucb_v(0.5, 0.1, 4, 100,
                                                                value_range=(0, 1))
    for bad in (1.0, (1, 0), (0, 0), (0, 1, 2), (0, np.inf), (-1e308, 1e308)):
        with pytest.raises(ValueError, match="value_range must be"):
            pb.bounds.ucb_v(0.5, 0.1, 4, 100, value_range=bad)
