"""Control variates: reference implementation, sums, and effect on the variance."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import pybandit as pb

from _shared.reference.bits import Bits
from racing.reference import race as reference
from racing.reference.problems import as_function, parts
from racing.reference.subsample import KINDS

N, D = 900, 4


def problem(seed, scale=0.05):
    """Return log factors, values close to them, and a log_prior; several states may win."""
    rng = np.random.default_rng(seed)
    close = rng.normal(size=(N, D)) * 3.0 + rng.normal(size=D)
    factors = close + scale * rng.normal(size=(N, D))
    return factors, close, -factors.sum(axis=0) + 20.0 * rng.normal(size=D)


def with_control(factors, close, as_values):
    values = close if as_values == "array" else lambda n, i: close[np.ix_(n, i)]
    return dataclasses.replace(as_function(factors),
                               control=pb.racing.ControlVariate(values, close.sum(axis=0)))


@pytest.mark.parametrize("as_values", ["array", "function"])
def test_a_race_with_control_equals_the_reference(as_values):
    """The race equals a reference race of l - h with the sums of h added to log_prior."""
    options = reference.Options("student", delta=0.1, first_look=10, skewness=False)
    read = []
    for seed in range(20):
        factors, close, log_prior = problem(seed)
        bits = Bits(seed)
        stream = KINDS["permutation"](N)
        stream.restart(bits)
        expected = reference.race(factors - close, log_prior + close.sum(axis=0),
                                  lambda n, bits=bits, stream=stream: stream.next(bits, n),
                                  options, to_the_end=True)
        bound = pb.racing.StudentBound(delta=0.1, skewness=False)
        got = pb.race(with_control(factors, close, as_values), log_prior, bound=bound,
                      looks=pb.racing.Looks(first=10, indices="permutation"), rng=seed)
        assert parts(got) == tuple(expected)
        read.append(got.n_evaluations)
        plain = pb.race(as_function(factors), log_prior, bound=bound,
                        looks=pb.racing.Looks(first=10), rng=seed)
        assert got.n_evaluations < plain.n_evaluations
    assert np.mean(read) < 0.3 * N * D


@pytest.mark.parametrize("as_values", ["array", "function"])
def test_a_control_does_not_change_an_exact_winner(as_values):
    """Full sums decide if the boundary is too wide for eliminations, with or without control."""
    for seed in range(20):
        factors, close, log_prior = problem(seed)
        never = pb.racing.NormalBound(boundary=1e9)
        got = pb.race(with_control(factors, close, as_values), log_prior, bound=never, rng=seed)
        assert got == pb.race(as_function(factors), log_prior, bound=never, rng=seed)
        assert got.exact


@pytest.mark.parametrize("as_values", ["array", "function"])
def test_the_sampler_with_control_draws_from_the_distribution(as_values):
    factors, close, _ = problem(1)
    log_prior = -factors.sum(axis=0) + np.log([0.4, 0.3, 0.2, 0.1])
    sampler = pb.RacingSampler(with_control(factors, close, as_values), log_prior, delta=1e-6,
                               rng=1)
    states, info = sampler.draw(4000)
    assert stats.chisquare(np.bincount(states, minlength=4),
                           4000 * np.array([0.4, 0.3, 0.2, 0.1])).pvalue > 1e-6
    assert info.fraction < 1.0
    log_prior[2] = -np.inf
    sampler.log_prior = log_prior
    assert 2 not in sampler.draw(200)[0]


def test_exact_samples_ignore_the_control():
    factors, close, log_prior = problem(2)
    controlled = with_control(factors, close, "function")
    assert np.array_equal(pb.racing.exact_sample(controlled, log_prior, 50, rng=1),
                          pb.racing.exact_sample(as_function(factors), log_prior, 50, rng=1))


def test_an_exception_of_the_values_is_unchanged():
    def values(indices, states):
        raise KeyError("mine")

    factors, close, log_prior = problem(3)
    control = pb.racing.ControlVariate(values, close.sum(axis=0))
    with pytest.raises(KeyError, match="mine"):
        pb.race(dataclasses.replace(as_function(factors), control=control), log_prior, rng=1)


@pytest.mark.parametrize("values, totals, kind, words", [
    (np.ones((5, 2)), [5.0, 5.1], ValueError, "totals must be the sums .* state 1"),
    (np.ones((5, 2)), [5.0], ValueError, "D = 1"),
    (np.ones(5), [5.0], ValueError, "shape"),
    (np.full((5, 1), np.nan), [5.0], ValueError, "sums of values"),
    ([["a"]], [1.0], TypeError, "real array"),
    (np.ones((5, 2)), [5.0, np.inf], ValueError, "totals must be finite"),
    (np.ones((5, 2)), 5.0, ValueError, "totals must have shape"),
    (len, [], ValueError, "totals must have shape"),
])
def test_bad_control_variates_are_rejected(values, totals, kind, words):
    with pytest.raises(kind, match=words):
        pb.racing.ControlVariate(values, totals)


def test_control_variates_copy_their_values():
    factors, close, log_prior = problem(4)
    values = close.copy()
    control = pb.racing.ControlVariate(values, close.sum(axis=0))
    values[:, 2] += 100.0
    assert np.array_equal(control.values, close)
    controlled = dataclasses.replace(as_function(factors), control=control)
    never = pb.racing.NormalBound(boundary=1e9)
    assert pb.race(controlled, log_prior, bound=never, rng=1) == pb.race(
        as_function(factors), log_prior, bound=never, rng=1)


def test_expansions_copy_their_arrays():
    rng = np.random.default_rng(6)
    y, outliers = rng.normal(size=30), rng.random(30) < 0.2
    arrays = [np.zeros((1, 1)), rng.normal(size=(1, 3)), rng.normal(size=(1, 3, 1)),
              rng.normal(size=(1, 3, 1, 1))]
    moments = pb.racing.PopulationMoments(y, outliers=outliers)
    control = pb.racing.taylor_control(moments, *arrays)
    everything = np.arange(30), np.arange(3)
    values = control.values(*everything)
    outliers[:] = ~outliers
    for array in arrays:
        array += 1.0
    assert np.array_equal(control.values(*everything), values)


def test_factors_reject_a_control_of_other_sizes():
    control = pb.racing.ControlVariate(np.ones((5, 2)), [5.0, 5.0])
    with pytest.raises(ValueError, match="D = 3"):
        pb.Factors(len, 5, 3, control=control)
    with pytest.raises(ValueError, match=r"\(6, 2\)"):
        pb.Factors(len, 6, 2, control=control)
    with pytest.raises(TypeError, match="ControlVariate"):
        pb.Factors(len, 5, 2, control=np.ones((5, 2)))
    short = pb.racing.ControlVariate(lambda n, i: np.ones(len(n)), np.ones(2))
    with pytest.raises(ValueError, match="values of ControlVariate must return shape"):
        pb.race(pb.Factors(lambda n, i: np.ones((len(n), len(i))), 50, 2, control=short))


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_totals_of_an_expansion_equal_its_sums(seed):
    rng = np.random.default_rng(seed)
    n, p, d, bins = rng.integers(1, 40), rng.integers(1, 4), rng.integers(1, 5), rng.integers(1, 4)
    points = rng.normal(size=(n, p)) * 5
    labels = rng.integers(0, bins, n)
    bins = labels.max() + 1
    outliers = [None, rng.random(n) < 0.2, rng.random((n, d)) < 0.2][rng.integers(3)]
    hessians = rng.normal(size=(bins, d, p, p)) if rng.random() < 0.7 else None
    values, gradients = rng.normal(size=(bins, d)), rng.normal(size=(bins, d, p))
    centers = rng.normal(size=(bins, p))
    control = pb.racing.taylor_control(points, centers, values, gradients, hessians, labels=labels,
                                       outliers=outliers)
    everything = control.values(np.arange(n), np.arange(d))
    expected = np.zeros((n, d))
    for row in range(n):
        for state in range(d):
            if outliers is not None and np.broadcast_to(outliers.T, (d, n))[state, row]:
                continue
            bin, away = labels[row], points[row] - centers[labels[row]]
            expected[row, state] = values[bin, state] + gradients[bin, state] @ away
            if hessians is not None:
                expected[row, state] += 0.5 * away @ hessians[bin, state] @ away
    assert np.allclose(everything, expected, rtol=1e-10, atol=1e-9)
    assert np.allclose(control.totals, expected.sum(axis=0), rtol=1e-9, atol=1e-7)
    some = rng.permutation(n)[:7], np.sort(rng.permutation(d)[:2])
    assert np.array_equal(control.values(*some), everything[np.ix_(*some)])


@pytest.mark.parametrize("labels", [
    np.random.default_rng(2).integers(0, 10_000, 20_000) * 160,
    np.array([0, 1, 2_000_000, 1, 0]),
])
def test_moments_of_many_bins_equal_those_of_single_bins(labels):
    """Empty bins do not change moments; they only take memory."""
    rng = np.random.default_rng(7)
    points, outliers = rng.normal(size=(labels.size, 1)), rng.random((labels.size, 2)) < 0.3
    moments = pb.racing.PopulationMoments(points, labels, outliers)
    assert moments.counts.shape == (labels.max() + 1, 2)
    assert moments.counts.sum() == (~outliers).sum()
    for bin in [*np.unique(labels)[:20], labels.max()]:
        for column in range(2):
            kept = points[(labels == bin) & ~outliers[:, column]]
            assert moments.counts[bin, column] == len(kept)
            if len(kept):
                mean = kept.mean(axis=0)
                assert moments.means[bin, column] == mean
                assert moments.covariances[bin, column] == (kept - mean).T @ (
                    kept - mean) / len(kept)


def student_problem():
    """Return Student log densities of heavy-tailed data, and their derivatives at a point."""
    y = np.random.default_rng(5).standard_t(4, 20_000)
    means, nu = np.linspace(-0.2, 0.2, 5), 4.0

    def log_density(x, center):
        return -(nu + 1) / 2 * np.log1p((x - center) ** 2 / nu)

    def expansion(center):
        away = center[:, None] - means
        scale = nu + away**2
        slopes = -(nu + 1) * away / scale
        curvatures = -(nu + 1) * (nu - away**2) / scale**2
        return log_density(center[:, None], means), slopes[..., None], curvatures[..., None, None]

    return y, log_density(y[:, None], means), expansion


def variance_of_differences(rewards):
    return np.var(rewards[:, 0] - rewards[:, -1])


def test_an_expansion_far_from_its_center_is_worse_than_none():
    """It helps if outliers are excluded and bins keep the other points near centers (App. C.2)."""
    y, factors, expansion = student_problem()
    everything = np.arange(y.size), np.arange(5)
    plain = variance_of_differences(factors)

    one = pb.racing.taylor_control(y, [[0.0]], *expansion(np.zeros(1)))
    assert variance_of_differences(factors - one.values(*everything)) > 1.5 * plain

    labels = np.searchsorted(np.quantile(y, np.arange(1, 10) / 10), y)
    centers = np.array([y[labels == bin].mean() for bin in range(10)])
    away = np.abs(y - centers[labels])
    outliers = away > np.quantile(away, 0.9)
    moments = pb.racing.PopulationMoments(y, labels, outliers)
    binned = pb.racing.taylor_control(moments, centers[:, None], *expansion(centers),
                                      outlier_values=factors[outliers])
    left = factors - binned.values(*everything)
    assert not left[outliers].any()
    assert variance_of_differences(left) < plain / 1000
    assert np.allclose(binned.totals, binned.values(*everything).sum(axis=0), rtol=1e-10)

    zeroed = pb.racing.taylor_control(moments, centers[:, None], *expansion(centers))
    left = factors - zeroed.values(*everything)
    assert np.array_equal(left[outliers], factors[outliers])
    assert np.allclose(zeroed.totals, zeroed.values(*everything).sum(axis=0), rtol=1e-10)


def test_a_race_reads_less_with_a_good_control():
    y, factors, expansion = student_problem()
    labels = np.searchsorted(np.quantile(y, np.arange(1, 10) / 10), y)
    centers = np.array([y[labels == bin].mean() for bin in range(10)])
    outliers = np.abs(y) > 3
    control = pb.racing.taylor_control(y, centers[:, None], *expansion(centers), labels=labels,
                                       outliers=outliers, outlier_values=factors[outliers])
    plain = as_function(factors)
    controlled = dataclasses.replace(plain, control=control)
    states, info = pb.RacingSampler(plain, rng=1).draw(100)
    same, less = pb.RacingSampler(controlled, rng=1).draw(100)
    assert less.fraction < 0.05 * info.fraction
    assert np.mean(states == same) > 0.9


@pytest.mark.parametrize("changed, words", [
    (dict(centers=np.zeros((2, 1))), "centers must have shape"),
    (dict(gradients=np.zeros((3, 2))), "gradients must have shape"),
    (dict(hessians=np.zeros((3, 1))), "hessians must have shape"),
    (dict(values=np.full(3, np.nan)), "values must be finite"),
    (dict(points=np.zeros((0, 1))), "points must have shape"),
    (dict(labels=np.zeros(4, dtype=int)), "labels must be"),
    (dict(labels=-np.ones(6, dtype=int)), "labels must be"),
    (dict(outliers=np.zeros(6)), "outliers must be bool"),
    (dict(outliers=np.zeros((6, 2), dtype=bool)), "outliers must have shape"),
    (dict(outlier_values=np.zeros((0, 3))), "must come with outliers"),
    (dict(outliers=np.ones(6, dtype=bool), outlier_values=np.zeros((2, 3))), "outlier_values"),
    (dict(points=pb.racing.PopulationMoments(np.zeros(6)), labels=np.zeros(6, dtype=int)),
     "labels and"),
])
def test_bad_expansions_are_rejected(changed, words):
    given = dict(points=np.arange(6.0), centers=[0.0], values=np.zeros(3),
                 gradients=np.zeros((3, 1))) | changed
    with pytest.raises(ValueError, match=words):
        pb.racing.taylor_control(**given)
