"""Intervals of EstimatorAllocator: bets against a reference, orders, and infinite intervals."""

import copy
import math
import pickle

import numpy as np
import pytest
from scipy.stats import binom

import pybandit as pb
from pybandit.montecarlo._intervals import Moments, all_times, sequence_width
from pybandit.montecarlo._weights import Combined

from montecarlo.nasty import LAWS, misses
from montecarlo.reference import stakes

RANGES = np.array([[0.0, 1.0], [-1.0, 2.0]])
NOTHING = (-math.inf, math.inf)


def fed(n=60, seed=1, order=lambda arms, values: np.arange(arms.size), **options):
    """Report values of two coins of mean .3 in batches of four, in some order; return both."""
    allocator = pb.montecarlo.EstimatorAllocator(2, batch_size=4, budget=n, rng=seed, **options)
    rng, told = np.random.default_rng(seed), []
    while not allocator.done:
        arms = allocator.ask()
        low, high = RANGES[arms].T
        values = low + (high - low) * (rng.random(arms.size) < (0.3 - low) / (high - low))
        at = order(arms, values)
        told += [(k, x, allocator.n_batches) for k, x in zip(arms[at], values[at], strict=True)]
        allocator.tell(arms[at], values[at])
    return allocator, told


@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_bets_equal_their_reference(alpha):
    allocator, told = fed(value_range=RANGES)
    estimators, values, batches = map(np.array, zip(*told, strict=True))
    weights = stakes.weights_of(values, estimators, batches, RANGES)
    kept = allocator.get_state()["progress"]["stakes"]
    np.testing.assert_allclose(kept[:2], [values, weights], rtol=1e-12)
    low, high = allocator.interval(delta=alpha)
    assert (low, high) == allocator.interval(delta=alpha, method="betting")
    bets = 0.5 ** np.arange(20)  # parts of the ranges' intersection, [0, 1]
    # the bound is never inside the exact bound, and outside by at most 1/64 of the first step
    for bound, side, inward in [(low, 0, 0.005), (high, 1, -0.005)]:
        capital = [stakes.capital(values, weights, estimators, batches, RANGES, bets, m, side)
                   for m in (bound, bound + inward)]
        assert capital[0] >= 2 / alpha * bets.size > capital[1]


def test_betting_interval_is_as_narrow_as_a_confidence_sequence():
    values = np.random.default_rng(2).beta(2, 5, 3000)
    allocator = pb.montecarlo.EstimatorAllocator(1, policy="uniform", value_range=(0, 1))
    bounds, widths = pb.confidence_sequence(values), []
    for n, value in enumerate(values, 1):
        allocator.tell([0], [value])
        if n in (30, 100, 300, 1000, 3000):
            low, high = allocator.interval()
            assert low < 2 / 7 < high
            assert high - low < 1.2 * (bounds.upper[n - 1] - bounds.lower[n - 1])
            widths.append(high - low)
    assert widths == sorted(widths, reverse=True)


def test_bad_estimator_hardly_widens_the_interval():
    rng = np.random.default_rng(3)
    widths = {}
    for n_bad in (0, 3):
        sd = np.array([0.01] + [0.3] * n_bad)
        allocator = pb.montecarlo.EstimatorAllocator(sd.size, budget=1000, value_range=(0, 1),
                                                     rng=1)
        while not allocator.done:
            arms = allocator.ask()
            allocator.tell(arms, np.clip(rng.normal(0.5, sd[arms]), 0, 1))
        low, high = allocator.interval()
        assert low < 0.5 < high
        widths[n_bad] = high - low
    assert widths[3] < 1.3 * widths[0] < 0.01


def sorted_up(arms, values):
    return np.lexsort((values, arms))


@pytest.mark.parametrize("weights", ["mean", "predictable"])
def test_order_within_a_batch_does_not_matter(weights):
    """All values of a batch must have the same weight, whatever their position."""
    for seed in range(20):
        one, told = fed(weights=weights, least_values=2, value_range=(-1, 2), seed=seed)
        other, again = fed(weights=weights, least_values=2, value_range=(-1, 2), seed=seed,
                           order=sorted_up)
        assert told != again
        assert other.pulls.tolist() == one.pulls.tolist()
        assert other.estimate == pytest.approx(one.estimate, rel=1e-12)
        assert other.interval() == pytest.approx(one.interval(), rel=1e-9)
        assert other.interval(method="asymptotic") == pytest.approx(
            one.interval(method="asymptotic"), rel=1e-9)


@pytest.mark.parametrize("weights", ["mean", "predictable"])
def test_distinct_values_are_counted_in_any_order(weights):
    """The number of distinct values must not depend on the order within batches."""
    values = np.repeat([-2.0, -1.0, 0.0, 1.0, 2.0], [2, 2, 992, 2, 2])
    more = np.r_[values, 0.5]
    for told, is_known in [(values, False), (more, True)]:
        for seed in range(5):
            shuffled = np.random.default_rng(seed).permutation(told)
            for batch in [np.sort(told), np.sort(told)[::-1], shuffled]:
                allocator = pb.montecarlo.EstimatorAllocator(1, policy="uniform", weights=weights,
                                                             batch_size=batch.size)
                allocator.tell(allocator.ask(), batch)
                allocator.tell(allocator.ask(), np.zeros(batch.size))
                low, high = allocator.interval()
                assert (low > -math.inf) == is_known == (high < math.inf)


def kinds(values):
    """Return the number of values, the most frequent one counted once."""
    return values.size - np.unique(values, return_counts=True)[1].max() + 1


def test_distinct_values_are_counted_exactly_up_to_fifty():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        values = rng.zipf(1.1 + rng.random() * 2, size=int(rng.integers(1, 150))).astype(float)
        allocator = pb.montecarlo.EstimatorAllocator(1, policy="uniform", batch_size=values.size)
        allocator.tell(allocator.ask(), values)
        counts = allocator.get_state()["progress"]["n_common"][0]
        found = values.size - counts.max() + 1
        assert min(found, 50) == min(kinds(values), 50)


def test_states_with_invalid_counts_are_rejected():
    allocator = pb.montecarlo.EstimatorAllocator(1, policy="uniform", batch_size=100)
    allocator.tell(allocator.ask(), np.repeat([1.0, 2.0, 3.0], [5, 92, 3]))
    state = allocator.get_state()
    assert state["progress"]["common"][0, :3].tolist() == [2.0, 1.0, 3.0]
    counts = state["progress"]["n_common"]
    for bad in (counts - 1, counts * 2, counts[:, :2]):
        state["progress"]["n_common"] = bad
        with pytest.raises(ValueError, match="state must hold n_common"):
            type(allocator).from_state(state)


def shifted(unit, weights, method, n=400, **options):
    """Return estimate, error and interval for two exponentials, in units of `unit`."""
    allocator = pb.montecarlo.EstimatorAllocator(2, weights=weights, budget=n, rng=1, **options)
    rng = np.random.default_rng(1)
    while not allocator.done:
        arms = allocator.ask()
        allocator.tell(arms, unit * rng.gamma(np.array([9.0, 100.0])[arms],
                                              np.array([1.0, 0.09])[arms]))
    restored = type(allocator).from_state(allocator.get_state())
    assert restored.estimate == allocator.estimate
    return np.array([allocator.estimate, allocator.standard_error,
                     *restored.interval(method=method)]) / unit


@pytest.mark.parametrize("weights, method", [
    ("mean", "normal"), ("mean", "asymptotic"), ("inverse-variance", "normal"),
    ("predictable", "asymptotic"), ("predictable", "normal")])
def test_units_do_not_change_results(weights, method):
    """Results scale with the units, without NaN, 0 or infinity."""
    expected = shifted(1.0, weights, method)
    assert np.isfinite(expected).all()
    for k in (-320, -170, -1, 170, 320):
        np.testing.assert_allclose(shifted(2.0**k, weights, method), expected, rtol=1e-12)


@pytest.mark.parametrize("weights", ["mean", "inverse-variance", "predictable"])
@pytest.mark.parametrize("k", [-520, -400, 400, 480])
def test_units_with_overflowing_cubes_raise(weights, k):
    with pytest.raises(ValueError, match="values must have standard deviations between 1e-100 and"
                                         r" 1e\+100 for this interval"):
        shifted(2.0**k, weights, None)


def test_state_with_weight_but_no_scale_is_rejected():
    one, _ = fed(weights="predictable", least_values=2)
    state = one.get_state()
    assert state["progress"]["scale"] > 0.0
    state["progress"]["scale"] = 0.0
    with pytest.raises(ValueError, match="a scale above 0 if there is a weight"):
        type(one).from_state(state)


def test_sorted_batches_do_not_bias_the_estimate():
    """Sorted batches must not bias the estimate (-.16 +- .01 if a value chose its weight)."""
    errors = []
    for seed in range(1500):
        rng = np.random.default_rng(seed)
        allocator = pb.montecarlo.EstimatorAllocator(1, weights="predictable", least_values=2,
                                                     pilot=2, batch_size=8, budget=34)
        while not allocator.done:
            arms = allocator.ask()
            allocator.tell(arms, np.sort(rng.normal(size=arms.size)))
        errors.append(allocator.estimate)
    assert abs(np.mean(errors)) < 3.5 * np.std(errors) / math.sqrt(len(errors)) < 0.05


@pytest.mark.parametrize("weights", ["mean", "inverse-variance", "predictable"])
def test_interval_is_infinite_if_variances_are_unknown(weights):
    for draw in [lambda rng, n: np.ones(n), lambda rng, n: rng.random(n) < 0.02,
                 lambda rng, n: np.where(rng.random(n) < 0.02, rng.normal(size=n), 0.0)]:
        rng = np.random.default_rng(1)
        allocator = pb.montecarlo.EstimatorAllocator(1, policy="uniform", weights=weights)
        assert allocator.interval() == NOTHING
        for _ in range(100):
            allocator.tell([0], draw(rng, 1).astype(float))
            assert allocator.interval() == NOTHING == allocator.interval(anytime=False)
    rng = np.random.default_rng(1)
    for _ in range(900):
        allocator.tell([0], rng.normal(size=1))
    assert allocator.interval() != NOTHING


def test_estimator_without_weight_may_be_unknown():
    rng = np.random.default_rng(1)
    allocator = pb.montecarlo.EstimatorAllocator(2, budget=3000, weights="predictable", rng=1)
    while not allocator.done:
        arms = allocator.ask()
        allocator.tell(arms, np.where(arms, 0.01 * rng.normal(size=arms.size),
                                      2.0 * (rng.random(arms.size) < 0.5) - 1.0))
    assert allocator.pulls[0] < 40
    low, high = allocator.interval()
    assert low < 0 < high < 0.01


@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_anytime_width_equals_the_confidence_sequence(alpha):
    values = np.random.default_rng(1).gamma(2.0, size=900)
    bounds = pb.confidence_sequence(values, delta=alpha, value_range=None, method="asymptotic")
    for n in (2, 10, 100, 900):
        error = values[:n].std(ddof=1) / math.sqrt(n)
        assert bounds.upper[n - 1] - bounds.lower[n - 1] == pytest.approx(
            2 * error * sequence_width(n, alpha), rel=1e-10)


@pytest.mark.parametrize("predictable", [False, True])
def test_clock_counts_variance_instead_of_values(predictable):
    """A value of the estimator with standard deviation 5 instead of 1 adds its variance share."""
    n, v = np.array([100, 100]), np.array([1.0, 25.0])
    w = 1 / v if predictable else np.ones(2)
    combined = Combined(0.0, math.sqrt(n @ (w * w * v)) / (n @ w), n * w, n * w**2, n * w**3)
    low, high = all_times(combined, Moments(n, v, np.zeros(2), n), 0.05, predictable)
    clock = 104 if predictable else 100 * 26
    assert high == -low == pytest.approx(sequence_width(clock, 0.05) * combined.error)


@pytest.mark.some(1)
@pytest.mark.parametrize("name, method, before", [
    ("coin of .9, B / p", None, 0.36), ("coin of .9, B / p", "betting", 0.0),
    ("coin of .01, B / p", "betting", 0.0)])
def test_anytime_error_is_at_most_alpha(name, method, before):
    """200 runs with a look after each of 150 values; `before`: misses without correction."""
    missed, _ = misses(name, 200, 150, looks=range(1, 151), weights="predictable", method=method)
    assert missed <= binom.ppf(0.999, 200, 0.05)
    assert not before or missed < before * 100


def test_one_look_with_inverse_variance_weights_rarely_misses():
    """Five exponentials at n = 150; most intervals are infinite, .18 miss without correction."""
    missed, finite = misses("five exponentials", 200, 150, weights="inverse-variance")
    assert missed <= binom.ppf(0.999, 200, 0.05) and finite < 150
    assert len(LAWS) > 5


def test_states_contain_the_stakes():
    one, _ = fed(n=100, value_range=RANGES)
    state = pickle.loads(pickle.dumps(one.get_state()))
    for other in [type(one).from_state(state), copy.deepcopy(one),
                  pickle.loads(pickle.dumps(one))]:
        assert other.interval() == one.interval()
        assert other.interval(delta=0.3) == one.interval(delta=0.3)
        assert repr(other.get_state()) == repr(one.get_state())
    for change, message in [
            (lambda told: told[:, :-1], "the stakes of all 100 values; got 99"),
            (lambda told: told[:3], r"stakes of the state must be numbers of shape \(4, n\)"),
            (lambda told: told * [[1], [-1], [1], [1]], "weights above 0"),
            (lambda told: told + [[0], [0], [2], [0]], r"estimators in \[0, 2\)"),
            (lambda told: told + [[np.nan], [0], [0], [0]], "stakes of the state must be finite"),
            (lambda told: told + 1j, "stakes of the state must be numbers")]:
        bad = copy.deepcopy(state)
        bad["progress"]["stakes"] = change(bad["progress"]["stakes"])
        with pytest.raises(ValueError, match=message):
            type(one).from_state(bad)


def test_restored_allocator_has_the_same_bets():
    rng = np.random.default_rng(1)
    one = pb.montecarlo.EstimatorAllocator(2, value_range=(0, 1), batch_size=3, rng=1)
    other = copy.deepcopy(one)
    for _ in range(30):
        arms = one.ask()
        values = rng.random(arms.size)
        for allocator in (one, other):
            allocator.tell(arms, values)
        other = pickle.loads(pickle.dumps(other))
        assert other.interval() == one.interval()


@pytest.mark.parametrize("value_range", [(0, 1e-300), (0, 5e-324), (0, 1e200)])
def test_ranges_without_bets_can_be_saved(value_range):
    """Such ranges give no usable bets, but the state can be saved and loaded."""
    allocator = pb.montecarlo.EstimatorAllocator(2, policy="uniform", value_range=value_range,
                                                 rng=1)
    for _ in range(5):
        allocator.tell(allocator.ask(), [0.5])
    again = pickle.loads(pickle.dumps(allocator))
    for one in (allocator, again):
        with pytest.raises(ValueError, match="value_range must"):
            one.interval(method="betting")
    assert again.estimate == allocator.estimate


def test_values_outside_the_range_raise_for_bets():
    allocator = pb.montecarlo.EstimatorAllocator(2, policy="uniform", value_range=RANGES,
                                                 weights="predictable")
    assert allocator.interval() == (0.0, 1.0)
    allocator.tell([0], [0.5])
    allocator.tell([1], [1.5])
    allocator.tell([0], [1.5])
    with pytest.raises(ValueError, match=r"all values for method='betting'; got 1.5 of estimator "
                                         r"0, outside \[0.0, 1.0\]"):
        allocator.interval()
    assert allocator.interval(method="asymptotic") == NOTHING
    with pytest.raises(ValueError, match="got 1.5 of estimator 0"):
        copy.deepcopy(allocator).interval()


@pytest.mark.parametrize("made, asked, message", [
    ({}, dict(method="betting"), "value_range must be given for method='betting'"),
    ({}, dict(method="bets"), "method must be one of 'betting', 'asymptotic', 'normal'; got"),
    ({}, dict(method=["betting"]), "method must be one of"),
    ({}, dict(method="normal", anytime=True), "anytime must be False with method='normal'"),
    (dict(value_range=1.0), dict(method="betting", anytime=False), "anytime must be True with"),
    (dict(weights="inverse-variance"), dict(method="asymptotic"), "anytime must be False with w"),
    (dict(value_range=(0, 1e-200)), {}, "value_range must be 1e-100 to 1e\\+100 wide"),
])
def test_invalid_methods_raise(made, asked, message):
    with pytest.raises(ValueError, match=message):
        pb.montecarlo.EstimatorAllocator(2, **made).interval(**asked)


@pytest.mark.parametrize("given, error, message", [
    (dict(pilot=2**62), ValueError, "pilot must be at most 25000000; got 4611686018427387904"),
    (dict(batch_size=2**63), ValueError, "batch_size must be at most"),
    (dict(least_values=2**63), ValueError, "least_values must be at most"),
    (dict(budget=2**70), ValueError, "budget must be at most"),
    (dict(policy=["ucb1"]), TypeError, "policy must be one of"),
    (dict(policy=np.array(["ucb1", "uniform"])), TypeError, "policy must be one of"),
    (dict(weights=["mean"]), ValueError, "weights must be one of"),
    (dict(weights=np.array(["mean", "mean"])), ValueError, "weights must be one of"),
    (dict(weights={"mean"}), ValueError, "weights must be one of"),
    (dict(costs=np.array(["equal", "equal"])), ValueError, "costs must be one of"),
    (dict(dependent_costs=np.ones(2)), ValueError, "dependent_costs must be one of True, False"),
    (dict(value_range=np.ones((2, 2, 2))), ValueError, r"value_range must be .*shape \(2, 2, 2\)"),
    (dict(value_range=(-1.7e308, 1.7e308)), ValueError, "value_range .*a finite width"),
    (dict(value_range=[[0, 1], [2, 3], [0, 5], [0, 5]]), ValueError,
     "value_range must hold overlapping ranges.* above 2.0 and one below 1.0"),
])
def test_invalid_arguments_raise(given, error, message):
    with pytest.raises(error, match=message):
        pb.montecarlo.EstimatorAllocator(4, **given)


@pytest.mark.parametrize("costs", ["equal", "told"])
def test_allocator_is_locked_during_tell(costs):
    allocator = pb.montecarlo.EstimatorAllocator(2, policy="uniform", costs=costs)
    told = (np.ones(1),) if costs == "told" else ()

    class Meddler:
        def __array__(self, dtype=None, copy=None):
            allocator.tell([0], [1.0], *told)
            return np.ones(1)

    # exceptions of __array__ are quoted by the check that called it
    with pytest.raises((RuntimeError, ValueError), match="this EstimatorAllocator is in use"):
        allocator.tell([0], Meddler(), *told)
    assert allocator.n_pulls == 0
    allocator.tell([0], [1.0], *told)
    assert allocator.n_pulls == 1


def test_too_narrow_slices_raise():
    with pytest.raises(ValueError, match="width must be at least 0.001 times sqrt"):
        pb.environments.LogisticEvidence([[0.5], [-1.0]], labels=[1, 0], n_anneals=[10],
                                         width=1e-300)
    evidence = pb.environments.LogisticEvidence([[0.5], [-1.0]], labels=[1, 0], n_anneals=[10],
                                                width=3e-4)
    assert np.isfinite(evidence.pull([0], rng=1)).all()
