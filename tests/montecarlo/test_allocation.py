"""EstimatorAllocator: reference implementation, cases, combined estimates, the protocol."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pybandit as pb
from costly import examples

from montecarlo.reference.allocation import Allocator
from policies.reference import tables

CASES = tables.index_cases()
RULES = ["uniform", "lcb-variance", "thompson-variance"]
WEIGHTS = ["mean", "inverse-variance", "predictable"]
FIVE = np.array([1.0, 1.5, 3.0, 10.0, 20.0])


def fed(allocator, rows):
    """Report these (estimator, value) pairs as if requested, through a policy in turn."""
    left = [list(row) for row in rows]
    while any(left):
        (arm,) = allocator.ask()
        allocator.tell([arm], [left[arm].pop(0) if left[arm] else np.nan], missing="drop")
    return allocator


def play(allocator, draw, twin=None, until=200):
    """Run an allocator together with its reference, whose requests must be the same."""
    asked = []
    while not allocator.done and allocator.n_pulls < until:
        arms = allocator.ask()
        values, costs = draw(arms)
        told = (costs,) if allocator.costs == "told" else ()
        if twin:
            assert arms.tolist() == twin.ask()
            twin.tell(arms.tolist(), values.tolist(), *[c.tolist() for c in told])
        allocator.tell(arms, values, *told, missing="drop")
        asked += arms.tolist()
    return asked


@pytest.mark.parametrize("costs", ["equal", "told"])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("policy", RULES)
def test_allocator_equals_its_reference(policy, weights, costs):
    for seed in range(12):
        rng = np.random.default_rng((seed, len(policy), len(weights), len(costs)))
        n = int(rng.integers(1, 6))
        options = dict(batch_size=int(rng.integers(1, 4)), pilot=int(rng.integers(2, 6)),
                       least_values=int(rng.integers(2, 8)), weights=weights,
                       budget=(int(rng.integers(5 * n, 150)) if costs == "equal"
                               else float(rng.uniform(1, 100))))
        allocator = pb.montecarlo.EstimatorAllocator(n, policy=policy, costs=costs, rng=seed,
                                                     **options)
        stream = np.random.default_rng(np.random.default_rng(seed).integers(2**63, size=4))
        twin = Allocator(n, policy, observed=costs == "told", generator=stream, **options)
        sd, mean_cost = rng.choice([0.5, 1.0, 4.0], n), rng.choice([0.2, 1.0, 2.0], n)
        grid, lost = rng.random() < 0.3, rng.choice([0.0, 0.2])

        def draw(arms, rng=rng, sd=sd, mean_cost=mean_cost, grid=grid, lost=lost):
            values = 1e3 + sd[arms] * rng.normal(size=arms.size)
            values = np.round(values) if grid else values
            return (np.where(rng.random(arms.size) < lost, np.nan, values),
                    mean_cost[arms] * rng.integers(0, 3, arms.size))

        play(allocator, draw, twin)
        assert allocator.total_cost == pytest.approx(twin.spent, rel=1e-12)
        assert allocator.pulls.tolist() == [len(values) for values in twin.values]
        estimate, error = twin.estimate()
        assert allocator.estimate == pytest.approx(estimate, rel=1e-11, nan_ok=True)
        assert allocator.standard_error == pytest.approx(error, rel=1e-7, nan_ok=True)


@pytest.mark.parametrize("case", CASES["inverse_variance"])
def test_inverse_variance_estimates_match_cases(case):
    rows = [[float(x) for x in arm] for arm in case["arms"]]
    for weights, expected in [("inverse-variance", case["ivw"]), ("mean", case["plain"])]:
        allocator = fed(pb.montecarlo.EstimatorAllocator(2, policy="uniform", weights=weights,
                                                         least_values=2), rows)
        assert allocator.estimate == pytest.approx(float(expected), abs=1e-10)
        if weights == "inverse-variance":
            assert allocator.standard_error**2 == pytest.approx(float(case["ivw_var_estimate"]),
                                                                abs=1e-10)
        means, variances = np.array(case["mean_var_unbiased"], dtype=float).T
        np.testing.assert_allclose(allocator.means, means, atol=1e-10)
        np.testing.assert_allclose(allocator.variances, variances, atol=1e-10)


def squared_error(policy, environment):
    return (policy.estimate - environment.means[0]) ** 2


def five(policy, weights, n_runs, n=1000):
    environment = pb.environments.GaussianBandit(np.full(5, 3.0), FIVE)
    result = pb.simulate(
        lambda e: pb.montecarlo.EstimatorAllocator(5, policy=policy, budget=n, weights=weights),
        environment, n_runs, rng=1, metrics=[squared_error])
    return n * result.metrics["squared_error"].mean(), result


def test_errors_for_five_estimators_match_references():
    """Compares n MSE / smallest variance with references: 1.05 and 107; uniform: exactly 102.45."""
    weighted, _ = five("thompson-variance", "predictable", 4000)
    pooled, result = five("thompson-variance", "mean", 1000)
    in_turn, _ = five("uniform", "mean", 1000)
    assert 0.92 < weighted < 1.10
    assert pooled == pytest.approx(result.arm_pulls @ FIVE**2 / 1000, rel=0.15)
    assert 5.0 < pooled < 7.0
    assert in_turn == pytest.approx((FIVE**2).mean(), rel=0.15)


@pytest.mark.some(1)
@pytest.mark.parametrize("policy", ["lcb-variance", "thompson-variance"])
def test_excess_error_is_the_regret_of_theorem_1(policy):
    """n^2 (MSE - V*/n) equals the regret of the choices, and the pooled mean is unbiased."""
    n, variances = 100, np.array([0.04, 0.25, 0.09])
    environment = pb.environments.ScaledBernoulliBandit(0.5, 2 * np.sqrt(variances), 0.5)

    def bias(policy, environment):
        return policy.estimate - 0.5

    def excess(policy, environment):
        return (n * (policy.estimate - 0.5)) ** 2 - policy.pulls @ variances

    result = pb.simulate(
        lambda e: pb.montecarlo.EstimatorAllocator(3, policy=policy, budget=n, pilot=2),
        environment, 8000, rng=7, metrics=[bias, excess])
    for name, values in result.metrics.items():
        assert abs(values.mean()) < 3 * values.std() / math.sqrt(values.size), name
    assert result.arm_pulls[0] > 60


@pytest.mark.slow
def test_rare_events_do_not_ruin_inverse_variance_weights():
    """One estimator returns 100 once in 1,000 runs, else 0, so its sample variance is mostly 0."""
    rng = np.random.default_rng(2)
    errors, naive = [], []
    for _ in range(300):
        steady, rare = rng.normal(0.1, 1.0, 500), 100.0 * (rng.random(60) < 0.001)
        allocator = fed(pb.montecarlo.EstimatorAllocator(2, policy="uniform",
                                                         weights="inverse-variance"),
                        [steady, rare])
        errors.append(allocator.estimate - 0.1)
        v = [steady.var(ddof=1) / 500, max(rare.var(ddof=1), 1e-12) / 60]
        naive.append((steady.mean() / v[0] + rare.mean() / v[1]) / (1 / v[0] + 1 / v[1]) - 0.1)
    assert np.mean(np.square(errors)) < 3 / 500
    assert np.mean(np.square(naive)) > 3 * np.mean(np.square(errors))


def test_intervals_contain_the_mean():
    """Intervals cover about .95 at run 2,000; those for all times from 100 on err at most alpha."""
    rng = np.random.default_rng(3)
    fixed, ever = 0, 0
    for seed in range(300):
        allocator = pb.montecarlo.EstimatorAllocator(3, budget=2000, batch_size=50,
                                                     weights="predictable", rng=seed)
        missed = False
        while not allocator.done:
            arms = allocator.ask()
            allocator.tell(arms, rng.exponential(np.array([1.0, 2.0, 3.0])[arms])
                           - np.array([1.0, 2.0, 3.0])[arms])
            if allocator.n_pulls >= 100:
                low, high = allocator.interval(delta=0.1)
                missed |= not low < 0 < high
        low, high = allocator.interval(delta=0.1, anytime=False)
        fixed += low < 0 < high
        ever += missed
    assert 0.80 < fixed / 300 < 0.96
    assert ever / 300 < 0.15


def test_inverse_variance_interval_is_for_one_time():
    allocator = pb.montecarlo.EstimatorAllocator(2, weights="inverse-variance", rng=1)
    with pytest.raises(ValueError, match="anytime must be False .*predictable"):
        allocator.interval(anytime=True)
    assert allocator.interval() == (-math.inf, math.inf)
    with pytest.raises(ValueError, match=r"delta must be in \(0, 1\); got 1"):
        allocator.interval(delta=1.0)


def test_run_beyond_the_budget_is_counted_but_not_used():
    allocator = pb.montecarlo.EstimatorAllocator(1, policy="uniform", costs="told", budget=10.0)
    for value, cost in [(1.0, 4.0), (3.0, 5.0), (100.0, 1.5)]:
        assert not allocator.done
        allocator.tell(allocator.ask(), [value], [cost])
    assert allocator.done and not allocator.ask().size
    assert allocator.estimate == 2.0 and allocator.pulls[0] == 2 and allocator.n_pulls == 3
    assert allocator.total_cost == 10.5


def test_zero_cost_counts_as_the_floor():
    allocator = pb.montecarlo.EstimatorAllocator(2, costs="told", pilot=2, cost_floor=0.5,
                                                 rng=1)
    allocator.tell(allocator.ask(), [1.0, 1.0, 2.0, 3.0], [0.0, 1.0, 0.25, 1.0])
    assert allocator.total_cost == 3.0
    assert allocator.mean_costs.tolist() == [0.5, 1.0]


def test_lost_runs_are_charged():
    allocator = pb.montecarlo.EstimatorAllocator(3, policy="lcb-variance", budget=600)
    rng = np.random.default_rng(1)
    asked = play(allocator, lambda arms: (
        np.where(arms == 1, np.nan, rng.normal(size=arms.size) * (1 + arms)), None), until=10**6)
    counts = np.bincount(asked)
    assert allocator.done and allocator.total_cost == 600
    assert allocator.pulls[1] == 0 and counts[1] <= 10 + 600 // 3 + 1
    assert allocator.pulls[0] > 2 * allocator.pulls[2]
    assert math.isfinite(allocator.estimate) and math.isnan(allocator.mean_costs[1])


def test_estimate_without_values_is_nan():
    allocator = pb.montecarlo.EstimatorAllocator(2, policy="thompson-variance", budget=50, rng=1)
    asked = play(allocator, lambda arms: (np.full(arms.size, np.nan), None))
    assert len(asked) == 50 and math.isnan(allocator.estimate)
    assert allocator.recommend().shape == (1,)


def test_constant_estimators_are_estimated():
    for weights in WEIGHTS:
        allocator = pb.montecarlo.EstimatorAllocator(3, weights=weights, budget=200, rng=1)
        play(allocator, lambda arms: (np.full(arms.size, 0.1), None))
        assert allocator.estimate == pytest.approx(0.1, abs=1e-15)
        assert allocator.standard_error < 1e-15


@pytest.mark.parametrize("weights", ["inverse-variance", "predictable"])
def test_exact_estimator_excludes_those_without_weight(weights):
    """Estimators without a weight must not turn an exact estimate into 8.1 +- 3.6."""
    allocator = pb.montecarlo.EstimatorAllocator(2, weights=weights, budget=1000, rng=0)
    rng = np.random.default_rng(0)
    play(allocator, lambda arms: (np.where(arms, rng.normal(5, 1000, arms.size), 5.0), None),
         until=1000)
    assert allocator.pulls.tolist() == [990, 10]
    assert (allocator.estimate, allocator.standard_error) == (5.0, 0.0)


@pytest.mark.parametrize("noisy", [1e4, 1e7, 1e9, 1e30])
def test_rounding_is_smaller_than_the_error(noisy):
    """The origin of the weighted sums must not stay at a noisy first value."""
    z = []
    for seed in range(40):
        allocator, twin = far_apart([noisy, 1e-8], seed)
        z.append(allocator.estimate / allocator.standard_error)
        estimate, error = twin.estimate()
        assert abs(allocator.estimate - estimate) < 1e-3 * error
        assert allocator.standard_error == pytest.approx(error, rel=1e-7)
    # 40 times this mean is chi square; it is outside with probability 1 in 10^6
    assert 0.25 < np.mean(np.square(z)) < 2.4


def far_apart(spread, seed):
    """Return an allocator with estimators of 0 after 200 runs, and its exact reference."""
    options = dict(budget=200, weights="predictable", least_values=10)
    allocator = pb.montecarlo.EstimatorAllocator(2, policy="uniform", pilot=2, **options)
    twin, rng = Allocator(2, "uniform", pilot=0, **options), np.random.default_rng(seed)
    play(allocator, lambda arms: (rng.normal(size=arms.size) * np.array(spread)[arms], None), twin)
    return allocator, twin


@pytest.mark.parametrize("spread", [[1e60, 1e-10], [1e-10, 1e60], [1e99, 1e-99], [1e-99, 1e99]])
def test_weights_of_very_different_estimators_are_finite(spread):
    """Cubes of the weights must not overflow, and the state must be loadable."""
    for seed in range(5):
        allocator, twin = far_apart(spread, seed)
        low, high = allocator.interval()
        assert low < allocator.estimate < high
        estimate, error = twin.estimate()
        assert abs(allocator.estimate) < 5.0 * allocator.standard_error
        if spread == [1e-10, 1e60]:  # weights decrease from 1, so none is capped
            assert allocator.estimate == pytest.approx(estimate, rel=1e-9)
            assert allocator.standard_error == pytest.approx(error, rel=1e-7)
        elif spread == [1e60, 1e-10]:  # capped: the exact values have equal weights
            exact = np.array(twin.values[1])[10:]
            assert allocator.estimate == pytest.approx(exact.mean(), rel=1e-9)
            assert allocator.standard_error == pytest.approx(error, rel=0.2)
        again = pb.montecarlo.EstimatorAllocator.from_state(allocator.get_state())
        assert again.interval() == (low, high)


@pytest.mark.parametrize("weight", [np.ones(2), "x", None])
def test_states_with_invalid_weights_are_rejected(weight):
    state = pb.montecarlo.EstimatorAllocator(2, budget=40).get_state()
    state["progress"]["weight"] = weight
    with pytest.raises(ValueError, match="state must hold weight"):
        pb.montecarlo.EstimatorAllocator.from_state(state)


@pytest.mark.parametrize("costs", ["equal", "told"])
def test_invalid_tell_leaves_the_allocator_unchanged(costs):
    allocator = pb.montecarlo.EstimatorAllocator(2, costs=costs, pilot=2, weights="predictable",
                                                 rng=1)
    rng = np.random.default_rng(1)
    play(allocator, lambda arms: (rng.normal(size=arms.size), rng.random(arms.size)), until=30)
    arms = allocator.ask()
    before = repr(allocator.get_state())
    good = (np.ones(1),) if costs == "told" else ()
    bad = [((arms, [np.nan], *good), ValueError, "rewards must be finite; got nan"),
           (([1 - arms[0]], [0.5], *good), ValueError, "arms must be those of ask"),
           ((arms, [0.5, 1.0], *good), ValueError, "rewards must have the shape"),
           ((arms, ["x"], *good), TypeError, "rewards must hold real numbers")]
    if costs == "told":
        bad += [((arms, [0.5]), ValueError, "costs must be given"),
                ((arms, [0.5], [-1.0]), ValueError, "costs must be finite and at least 0; got -1"),
                ((arms, [0.5], [np.nan]), ValueError, "costs must be .* got nan at index 0"),
                ((arms, [0.5], [1.0, 2.0]), ValueError, "costs must have the shape")]
    else:
        bad += [((arms, [0.5], [1.0]), ValueError, "costs must not be given")]
    for told, error, message in bad:
        with pytest.raises(error, match=message):
            allocator.tell(*told)
        assert repr(allocator.get_state()) == before
    allocator.tell(arms, [0.5], *good)


@examples(8, of=60)
@given(st.data())
def test_restored_allocator_continues_bit_for_bit(data):
    policy = data.draw(st.sampled_from(RULES))
    costs = data.draw(st.sampled_from(["equal", "told"]))
    made = dict(costs=costs, weights=data.draw(st.sampled_from(WEIGHTS)), pilot=3,
                least_values=2, batch_size=data.draw(st.integers(1, 3)), budget=60, rng=5)
    one, other = (pb.montecarlo.EstimatorAllocator(3, policy=policy, **made) for _ in range(2))
    seed = data.draw(st.integers(0, 2**32 - 1))
    streams = [np.random.default_rng(seed) for _ in range(2)]
    copies = [lambda a: type(a).from_state(a.get_state()), copy.deepcopy,
              lambda a: pickle.loads(pickle.dumps(a)),
              lambda a: type(a).from_state(pickle.loads(pickle.dumps(a.get_state())))]
    while not one.done:
        if data.draw(st.booleans()):
            other = data.draw(st.sampled_from(copies))(other)
        arms = one.ask()
        assert other.ask().tolist() == arms.tolist()
        for allocator, rng in zip((one, other), streams, strict=True):
            told = (rng.random(arms.size),) if costs == "told" else ()
            allocator.tell(arms, rng.normal(size=arms.size), *told)
        assert repr(one.get_state()) == repr(other.get_state())
        assert other.estimate == one.estimate or math.isnan(one.estimate)
    assert other.done
    assert costs == "told" or one.total_cost == one.n_pulls == 60


def assert_refused(allocator, message, rule=False, **changes):
    """Assert that a state with these changes is rejected, and the allocator still works."""
    state = allocator.get_state()
    (state["progress"]["rule"] if rule else state).update(changes)
    before = repr(state)
    with pytest.raises(ValueError, match=message):
        type(allocator).from_state(state)
    assert repr(state) == before


@pytest.mark.parametrize("policy", RULES)
def test_impossible_states_are_rejected(policy):
    rng = np.random.default_rng(1)
    allocator = pb.montecarlo.EstimatorAllocator(3, policy=policy, pilot=2, rng=1)
    play(allocator, lambda arms: (rng.normal(size=arms.size), None), until=30)
    n = allocator.get_state()["progress"]["rule"]["n_decisions"]
    for changes in [dict(chosen=3), dict(chosen=-2), dict(n_decisions=-1),
                    dict(n_decisions=2**60), dict(asked=[0, -1, 0]), dict(asked=[0, n + 1, 0]),
                    dict(n_decisions=n + 1), dict(asked=[0, np.nan, 0])]:
        (name,) = changes
        assert_refused(allocator, rf"state must hold {name} in \[", rule=True, **changes)
    assert_refused(allocator, r"asked of shape \(3,\); got \(4,\)", rule=True, asked=[0, 0, 0, 0])
    assert_refused(allocator, "asked that add up to n_decisions", rule=True, asked=[0, 0, n - 1])
    for pulls in [-1, 10, 10], [31, 0, 0]:
        assert_refused(allocator, r"state must hold pulls in \[0, 30\]", pulls=pulls)
    assert_refused(allocator, "state must hold n_pulls in", n_pulls=-1)
    if policy != "uniform":
        assert_refused(allocator, r"state must hold pulls in \[0, 5\]", n_pulls=5,
                       n_batches=1)


@pytest.mark.parametrize("made, error, message", [
    (dict(n_arms=0), ValueError, "n_arms must be at least 1"),
    (dict(policy="best"), ValueError, "policy must be one of .*'uniform'.*got 'best'"),
    (dict(policy=3), TypeError, "policy must be one of"),
    (dict(costs="free"), ValueError, "costs must be one of"),
    (dict(weights="none"), ValueError, "weights must be one of"),
    (dict(budget=29), pb.errors.InfeasibleBudgetError,
     "budget must be at least 30: the pilot.*got 29"),
    (dict(budget=-1.0, costs="told"), ValueError, "budget must be finite and above 0"),
    (dict(pilot=1), ValueError, "pilot must be at least 2"),
    (dict(batch_size=0), ValueError, "batch_size must be at least 1"),
    (dict(cost_floor=0.0), ValueError, "cost_floor must be finite and above 0"),
    (dict(least_values=1), ValueError, "least_values must be at least 2"),
    (dict(costs="told", budget=1e-10), pb.errors.InfeasibleBudgetError,
     "budget must be at least cost_floor, 1e-09, the least cost of a run; got 1e-10"),
    (dict(rng="x"), TypeError, "rng must be"),
])
def test_invalid_arguments_raise(made, error, message):
    with pytest.raises(error, match=message):
        pb.montecarlo.EstimatorAllocator(**{"n_arms": 3, **made})


def test_plot_draws_means_and_costs():
    pytest.importorskip("matplotlib")
    allocator = pb.montecarlo.EstimatorAllocator(3, budget=100, rng=1)
    rng = np.random.default_rng(1)
    play(allocator, lambda arms: (rng.normal(size=arms.size), None))
    axis = allocator.plot(names=["plain", "antithetic", "control"])
    assert "estimate" in axis.get_title(loc="left")
    assert [label.get_text() for label in axis.get_yticklabels()] == [
        "plain", "antithetic", "control"]
    costs = allocator.plot(of="costs")
    assert sum(bar.get_width() for bar in costs.patches) == pytest.approx(1)
    with pytest.raises(TypeError, match="ax must be one matplotlib Axes"):
        allocator.plot([axis])
    with pytest.raises(ValueError, match="names must have one name per estimator, 3; got 1"):
        allocator.plot(names=["plain"])


@pytest.mark.parametrize("options", [
    dict(value_range=(0, 1e200)), dict(value_range=(0, 1e-200)),
    dict(value_range=(0, 1), centre=1e200), dict(value_range=[(0, 1e200)] * 3),
    dict(value_range=(0, 1e-100), costs="told", max_cost=1e-200)])
def test_ranges_with_overflowing_squares_raise(options):
    """Squares that underflow or overflow must raise instead of giving rewards of 0."""
    with pytest.raises(ValueError, match="value_range must not make squared distances"):
        pb.montecarlo.EstimatorAllocator(3, policy="ucb1", **options)
