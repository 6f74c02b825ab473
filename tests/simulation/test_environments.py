"""Environments give rewards with the declared distribution, one by one and as sums."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies
from scipy import optimize, stats

import pybandit as pb
from pybandit.environments import (
    BernoulliBandit,
    BinomialBandit,
    CostlyBandit,
    EmpiricalBandit,
    Environment,
    GaussianBandit,
    ScaledBernoulliBandit,
    TableBandit,
    TruncatedNormalBandit,
    UniformBandit,
)
from pybandit.simulation._truncated_law import largest_variance, natural_parameters

DRAWS = 100_000
CHANCES = [0.0, 0.001, 0.3, 0.5, 0.7, 0.999, 1.0]
SAMPLES = [[1.0, 1.0, 4.0], [-2.0], [0.5, 0.25, 8.0, -3.0]]
VALUES, COUNTS = [0.0, 1.0, 10.0], [[5, 0, 1], [0, 3, 0], [1, 2, 3.5]]
# cases: untruncated, truncated, nearly uniform, mode outside on either side, nearly exponential
TRUNCATED = ([0.5, 0.3, 0.5, 0.5, 0.2, 0.02, 0.9, 0.0101],
             [1e-6, 0.01, 0.07, 0.08333, 0.03, 3e-4, 0.0095, 1e-4])
RANDOM = {
    "gaussian": lambda: GaussianBandit([-1.0, 0.0, 3.0, 1e6], [1.0, 0.0, 2.0, 0.5]),
    "bernoulli": lambda: BernoulliBandit(CHANCES),
    "binomial, 24": lambda: BinomialBandit(CHANCES, trials=24),
    "binomial, 2000": lambda: BinomialBandit(CHANCES, trials=2000),
    "scaled": lambda: ScaledBernoulliBandit([0.0, 5.0, -1.0, 2.0], [1.0, 0.0, 3.0, 2.0],
                                            [0.5, 0.5, 0.01, 1.0]),
    "uniform": lambda: UniformBandit([0.5, -3.0, 7.0], np.sqrt([1 / 12, 0.0, 100.0])),
    "truncated": lambda: TruncatedNormalBandit(TRUNCATED[0], np.sqrt(TRUNCATED[1])),
    "costly": lambda: CostlyBandit(GaussianBandit([1.0, 2.0], [2.0, 0.5]), [1.0, 3.0],
                                   cost_shape=0.5),
    "samples": lambda: EmpiricalBandit(SAMPLES),
    "histograms": lambda: EmpiricalBandit(values=VALUES, counts=COUNTS),
}


def draws(environment, arm, n=DRAWS, seed=1):
    return environment.pull(np.full(n, arm), np.random.default_rng((seed, arm)))


def assert_moments(rewards, mean, variance):
    """Assert that mean and variance are within five standard errors of the true ones."""
    n, squares = rewards.size, (rewards - mean) ** 2
    tiny = 1e-12 * (1 + mean**2)
    assert abs(rewards.mean() - mean) <= 5 * np.sqrt(variance / n) + tiny
    assert abs(squares.mean() - variance) <= 5 * squares.std() / np.sqrt(n) + tiny


def assert_frequencies(rewards, values, chances):
    """Assert frequencies by a chi-square test, rare values pooled; others must not occur."""
    values, chances = np.asarray(values, dtype=float), np.asarray(chances)
    where = np.searchsorted(0.5 * (values[1:] + values[:-1]), rewards)
    np.testing.assert_allclose(rewards, values[where], rtol=1e-12, atol=1e-12)
    seen, expected = np.bincount(where, minlength=values.size), chances * rewards.size
    assert not seen[expected == 0].any()
    often = expected >= 20
    seen = np.append(seen[often], seen[~often].sum())
    expected = np.append(expected[often], expected[~often].sum())
    seen, expected = seen[expected > 0], expected[expected > 0]
    statistic = ((seen - expected) ** 2 / expected).sum()
    assert stats.chi2.sf(statistic, max(1, seen.size - 1)) > 1e-5


@pytest.mark.parametrize("name", RANDOM)
def test_rewards_have_the_declared_mean_and_variance(name):
    environment = RANDOM[name]()
    for arm in range(environment.n_arms):
        assert_moments(draws(environment, arm), environment.means[arm],
                       environment.variances[arm])


@pytest.mark.parametrize("trials", [1, 5, 24, 2000])
@pytest.mark.parametrize("p", [*CHANCES, 0.004, 0.0049, 0.0051, 0.45, 0.9951])
def test_binomial_rewards_have_their_distribution(trials, p):
    """Draws use inversion below ten expected successes, else rejection; p > 1/2 is mirrored."""
    environment = BernoulliBandit([p]) if trials == 1 else BinomialBandit([p], trials=trials)
    count = np.arange(trials + 1)
    assert_frequencies(draws(environment, 0), count / trials, stats.binom.pmf(count, trials, p))


def test_gaussian_rewards_have_their_distribution():
    environment = GaussianBandit([2.0, -1.0], [0.5, 3.0])
    for arm, deviation in enumerate([0.5, 3.0]):
        z = (draws(environment, arm) - environment.means[arm]) / deviation
        assert stats.kstest(z, "norm").pvalue > 1e-5


def test_gaussian_noise_std_defaults_to_one():
    assert GaussianBandit([0.0, 1.0]).noise_std.tolist() == [1.0, 1.0]


def test_scaled_bernoulli_has_two_rewards():
    environment = ScaledBernoulliBandit([0.0, 5.0], [1.0, 4.0], [0.25, 0.9])
    for arm, (low, high, p) in enumerate([(-0.5, 0.5, 0.25), (3.0, 7.0, 0.9)]):
        assert_frequencies(draws(environment, arm), [low, high], [1 - p, p])
    assert environment.means == pytest.approx([-0.25, 6.6])


def test_scaled_bernoulli_spreads_scalars():
    environment = ScaledBernoulliBandit(1.0, [2.0, 4.0], 0.5)
    assert environment.means.tolist() == [1.0, 1.0]
    assert environment.variances.tolist() == [1.0, 4.0]


def test_uniform_rewards_have_their_distribution():
    environment = UniformBandit([0.5, -3.0], np.sqrt([1 / 12, 3.0]))
    for arm, (low, width) in enumerate([(0.0, 1.0), (-6.0, 6.0)]):
        assert stats.kstest((draws(environment, arm) - low) / width, "uniform").pvalue > 1e-5


def parent_of(mean, variance):
    """Return the natural parameters of a truncated normal on [0, 1], by SciPy's solver."""
    x, weights = np.polynomial.legendre.leggauss(400)
    x, weights = (x + 1) / 2, weights / 2

    def density(theta):
        exponent = theta[0] * (x - mean) - theta[1] * (x - mean) ** 2
        shares = weights * np.exp(exponent - exponent.max())
        return shares / shares.sum()

    def wrong(theta):
        shares = density(theta)
        return shares @ (x - mean), shares @ (x - mean) ** 2 - variance

    found = optimize.root(wrong, [0.0, 0.5 / variance], tol=1e-13)
    return x, density(found.x), wrong(found.x)


@pytest.mark.some(2)
@pytest.mark.parametrize("arm", [1, 2, 4, 5, 6])
def test_truncated_normal_rewards_have_their_distribution(arm):
    environment = TruncatedNormalBandit(TRUNCATED[0], np.sqrt(TRUNCATED[1]))
    x, shares, wrong = parent_of(TRUNCATED[0][arm], TRUNCATED[1][arm])
    assert np.abs(wrong).max() < 1e-9
    rewards = draws(environment, arm)
    assert rewards.min() >= 0.0 and rewards.max() <= 1.0
    for order in (3, 4):  # moments 1 and 2 are tested for every environment
        powers = (rewards - TRUNCATED[0][arm]) ** order
        mean = shares @ (x - TRUNCATED[0][arm]) ** order
        assert abs(powers.mean() - mean) <= 5 * powers.std() / np.sqrt(DRAWS)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(where=strategies.floats(0.001, 0.999), share=strategies.floats(1e-4, 0.9999),
       low=strategies.sampled_from([0.0, -7.0]), width=strategies.sampled_from([1.0, 300.0]))
def test_truncated_normal_is_found_for_any_moments(where, share, low, width):
    """Compute the moments of the solution by a finer quadrature in 40 pieces."""
    mean, high = low + where * width, low + width
    variance = share * largest_variance(mean, low, high)
    slope, curve = natural_parameters(mean, variance, low, high)
    assert curve > -1e-6
    ends = (np.array([low, high]) - mean) / np.sqrt(variance)
    edges = np.linspace(*np.clip(ends, -60, 60), 41)
    x, weights = np.polynomial.legendre.leggauss(20)
    z = ((edges[1:] + edges[:-1])[:, None] + np.diff(edges)[:, None] * x) / 2
    exponent = slope * z - curve * z**2
    density = weights * np.exp(exponent - exponent.max())
    density /= density.sum()
    assert abs((density * z).sum()) < 1e-9
    assert abs((density * z**2).sum() - 1.0) < 1e-9


def test_truncated_normal_interval_can_be_set():
    """Another interval gives the same distribution, draw for draw."""
    unit = TruncatedNormalBandit([0.4], 0.06**0.5)
    wide = TruncatedNormalBandit([-1.0], 6.0**0.5, low=-5.0, high=5.0)
    assert (unit.low, unit.high, wide.low, wide.high) == (0.0, 1.0, -5.0, 5.0)
    np.testing.assert_allclose(draws(wide, 0, 100), 10 * draws(unit, 0, 100) - 5, atol=1e-7)


def test_costs_do_not_change_rewards():
    inner = GaussianBandit([0.0, 5.0])
    fixed, random = CostlyBandit(inner, [2.0, 0.5]), CostlyBandit(inner, [2.0, 0.5], cost_shape=4.0)
    assert random.costs.tolist() == [2.0, 0.5] and random.variances.tolist() == [1.0, 1.0]
    assert random.environment is inner and random.cost_shape == 4.0 and fixed.cost_shape is None
    rewards, costs = fixed.pull_with_costs([0, 1, 1], 3)
    np.testing.assert_array_equal(rewards, inner.pull([0, 1, 1], 3))
    assert costs.tolist() == [2.0, 0.5, 0.5]
    rng = np.random.default_rng(3)
    rewards, costs = random.pull_with_costs([0, 1], 3)
    for reward, cost, mean, arm in zip(rewards, costs, [2.0, 0.5], [0, 1], strict=True):
        assert reward == 5.0 * arm + rng.standard_normal()
        assert cost == pytest.approx(mean * rng.standard_gamma(4.0) / 4.0, rel=1e-15)
    np.testing.assert_array_equal(random.pull([0, 1], 3), rewards)


@pytest.mark.parametrize("shape", [0.5, 1.0, 20.0])
def test_costs_have_their_mean_and_are_independent(shape):
    random = CostlyBandit(GaussianBandit([1.0]), [3.0], cost_shape=shape)
    rewards, costs = random.pull_with_costs(np.zeros(DRAWS, dtype=int), 1)
    assert_moments(costs, 3.0, 9.0 / shape)
    assert abs(np.corrcoef(rewards, costs)[0, 1]) < 5 / np.sqrt(DRAWS)


def test_costly_table_continues_within_a_run():
    """A policy that does not use costs gets the rewards of the table in order."""
    means = []

    def keep(policy, environment):
        means.append(policy.means.tolist())
        return 0.0

    table = CostlyBandit(TableBandit([[1.0, 2.0, 4.0], [0.0, 8.0]]), 1.0, cost_shape=2.0)
    pb.simulate(lambda e: pb.policies.RoundRobin(2, 1, batch_size=4, max_batches=1), table, 2,
                n_threads=1, metrics=[keep])
    assert means == [[1.5, 4.0]] * 2
    for _ in range(2):  # each call restarts the table
        assert table.pull([0, 0, 1]).tolist() == [1.0, 2.0, 0.0]
    costly = table.pull_with_costs([1, 1, 0], 3)[0]
    assert costly.tolist() == [0.0, 8.0, 1.0]


def test_samples_are_equally_likely():
    environment = EmpiricalBandit(SAMPLES)
    for arm, sample in enumerate(SAMPLES):
        values, counts = np.unique(sample, return_counts=True)
        assert_frequencies(draws(environment, arm), values, counts / counts.sum())


def test_values_are_drawn_in_proportion_to_counts():
    environment = EmpiricalBandit(values=VALUES, counts=COUNTS)
    for arm, counts in enumerate(COUNTS):
        assert_frequencies(draws(environment, arm), VALUES, np.array(counts) / sum(counts))


@pytest.mark.parametrize("name", RANDOM)
def test_sums_have_the_distribution_of_single_rewards(name):
    """A batch pulls every arm seven times at once, over 3,000 runs."""
    environment, made = RANDOM[name](), []
    n = environment.n_arms

    def make(environment):  # with a metric, rewards would be drawn one by one
        made.append(pb.policies.RoundRobin(n, 1, batch_size=7 * n, max_batches=1))
        return made[-1]

    pb.simulate(make, environment, 3000, rng=3, n_threads=1)
    sums = [7 * policy.means for policy in made]
    for arm, told in enumerate(np.transpose(sums)):
        assert_moments(told, 7 * environment.means[arm], 7 * environment.variances[arm])
        if name == "bernoulli":
            count = np.arange(8)
            assert_frequencies(told, count, stats.binom.pmf(count, 7, environment.means[arm]))


def test_table_gives_rewards_in_order_and_wraps():
    table = TableBandit([[1.0, 2.0, 3.0], [10.0]])
    assert table.pull([0, 1, 0, 0]).tolist() == [1.0, 10.0, 2.0, 3.0]
    assert table.pull([0, 1, 0]).tolist() == [1.0, 10.0, 2.0]
    table.reset()
    assert table.pull([0]).tolist() == [1.0]
    assert table.means == pytest.approx([2.0, 10.0])
    assert table.variances == pytest.approx([2 / 3, 0.0])


def test_table_restarts_in_every_run():
    table, means = TableBandit([[1.0, 2.0, 4.0], [0.0, 8.0]]), []

    def keep(policy, environment):
        means.append(policy.means.tolist())
        return 0.0

    table.pull([0, 0, 1])
    pb.simulate(lambda e: pb.policies.RoundRobin(2, 1, batch_size=4, max_batches=1), table, 3,
                n_threads=1, metrics=[keep])
    assert means == [[1.5, 4.0]] * 3


def test_equal_samples_have_equal_means():
    """The order of samples must not change the mean, or ties would count as errors."""
    rng = np.random.default_rng(1)
    one = rng.integers(1, 6, 99) / 10
    orders = [rng.permutation(one) for _ in range(20)]
    counts = rng.integers(0, 9, (1, 7)).repeat(20, axis=0)
    which = [rng.permutation(7) for _ in range(20)]
    for bandit in (EmpiricalBandit(orders), TableBandit(orders)):
        assert len(set(bandit.means)) == len(set(bandit.variances)) == 1
        assert bandit.means[0] == pytest.approx(one.mean(), rel=1e-15)
        assert bandit.variances[0] == pytest.approx(one.var(), rel=1e-14)
    values = rng.random(7)
    for order, row in zip(which, counts, strict=True):
        found = EmpiricalBandit(values=values[order], counts=[row[order]])
        assert found.means == EmpiricalBandit(values=values, counts=[row]).means
        assert found.means == EmpiricalBandit([np.repeat(values, row)]).means


def test_mean_of_equal_rewards_is_exact():
    """Repeating 0.1 must not change the mean, or a tie would count as an error."""
    table = TableBandit([[0.1] * 4, [0.1] * 3])
    assert table.means.tolist() == [0.1, 0.1] and table.variances.tolist() == [0.0, 0.0]
    assert pb.simulate(pb.policies.Uniform(2, budget=20), table, 2, rng=1).error_probability == 0.0
    rng = np.random.default_rng(1)
    values = rng.standard_normal(300) * 10.0 ** rng.integers(-300, 300, 300)
    sizes = rng.integers(1, 40, 300)
    constant = [np.full(n, value) for n, value in zip(sizes, values, strict=True)]
    assert TableBandit(constant).means.tolist() == values.tolist()
    for sample in constant[:50]:
        found = EmpiricalBandit(values=sample, counts=[rng.random(sample.size)])
        assert found.means == sample[:1] and found.variances == 0.0


@pytest.mark.parametrize("weights", [[1.0, 1.0, 1.0], [1e300, 1e300, 1e300], [1e-300] * 3])
def test_mean_of_huge_values_is_finite(weights):
    found = EmpiricalBandit(values=[1.5e308] * 3, counts=[weights])
    assert found.means == pytest.approx([1.5e308]) and found.variances.tolist() == [0.0]


def test_binomial_sums_do_not_overflow():
    """The number of trials of a batch must not overflow."""
    made = []

    def make(environment):
        made.append(pb.policies.Uniform(2, budget=2**33))
        return made[-1]

    pb.simulate(make, BinomialBandit([0.4, 0.6], trials=2**31), 3, rng=1)
    assert np.array([policy.means for policy in made]) == pytest.approx(
        np.array([[0.4, 0.6]] * 3), abs=1e-8)


class Dear(GaussianBandit):
    """An environment whose method `costs` is in Python."""

    @property
    def costs(self):
        return np.array([1.0, 9.0])


class Timed(GaussianBandit):
    def pull_with_costs(self, arms, rng=None):
        rewards, _ = super().pull_with_costs(arms, rng)
        return rewards, 1.0 + 8.0 * np.asarray(arms)


class DearTable(TableBandit):
    costs = Dear.costs


@pytest.mark.parametrize("environment", [
    Dear([0.0, 0.0]), Timed([0.0, 0.0]), DearTable([[0.0, 1.0], [1.0, 0.0]])])
def test_costs_of_subclasses_are_used(environment):
    rewards, costs = environment.pull_with_costs([0, 1, 1], rng=1)
    assert costs.tolist() == [1.0, 9.0, 9.0] and rewards.shape == (3,)
    paid = pb.simulate(lambda e: pb.montecarlo.EstimatorAllocator(2, costs="told"), environment,
                       3, rng=1, max_pulls=50, answer=[0], metrics=[lambda p, e: p.total_cost])
    (total,) = paid.metrics.values()
    assert (total > 60).all()


def test_subclass_can_change_costs():
    """A subclass can call the base class and change its costs."""
    class Doubled(CostlyBandit):
        def pull_with_costs(self, arms, rng=None):
            rewards, costs = super().pull_with_costs(arms, rng)
            return rewards, 2.0 * costs

    one, other = (kind(GaussianBandit([0.0, 1.0]), [1.0, 2.0], cost_shape=3.0) for kind in (
        CostlyBandit, Doubled))
    assert (other.pull_with_costs([0, 1], 5)[1] == 2.0 * one.pull_with_costs([0, 1], 5)[1]).all()


def test_best_prefers_the_lower_index():
    environment = GaussianBandit([1.0, 3.0, 3.0, 0.0, 1.0])
    assert environment.best(4).tolist() == [1, 2, 0, 4]
    assert environment.best().tolist() == [1]
    assert environment.best(0).size == 0


@pytest.mark.parametrize("name", RANDOM)
def test_equal_seeds_give_equal_rewards(name):
    environment = RANDOM[name]()
    arms = np.arange(200) % environment.n_arms
    first = environment.pull(arms, 5)
    np.testing.assert_array_equal(environment.pull(arms, 5), first)
    np.testing.assert_array_equal(environment.pull(arms, np.random.default_rng(5)), first)
    assert not np.array_equal(environment.pull(arms, 6), first)


def test_returned_arrays_are_copies():
    environment = BernoulliBandit([0.5, 0.25])
    environment.means[0] = environment.variances[0] = environment.noise_std[0] = 9.0
    assert environment.means.tolist() == [0.5, 0.25]
    assert environment.variances.tolist() == [0.25, 0.1875]
    assert repr(environment) == "<BernoulliBandit of 2 arms>"


def test_arguments_are_copied():
    given = np.array([0.5, 0.25])
    environment = BernoulliBandit(given)
    given[:] = 1.0
    assert environment.means.tolist() == [0.5, 0.25]
    assert set(draws(environment, 1).tolist()) == {0.0, 1.0}


@pytest.mark.parametrize("make, error, words", [
    (lambda: BernoulliBandit([0.5, 1.5]), ValueError, r"means must be in \[0, 1\]; got 1.5 .*1"),
    (lambda: BernoulliBandit([np.nan]), ValueError, "means.*nan"),
    (lambda: BernoulliBandit([]), ValueError, "means must be flat and not empty"),
    (lambda: BernoulliBandit(["a"]), TypeError, "means must hold real numbers"),
    (lambda: BinomialBandit([0.5], trials=0), ValueError, "trials must be at least 1; got 0"),
    (lambda: BinomialBandit([0.5], trials=1.5), TypeError, "trials must be an integer; got 1.5"),
    (lambda: GaussianBandit([np.inf]), ValueError, "means must be finite; got inf"),
    (lambda: GaussianBandit([0.0], -1.0), ValueError, "noise_std .* got -1.0"),
    (lambda: GaussianBandit([0.0, 1.0], [1.0] * 3), ValueError, r"noise_std .* got shape \(3,\)"),
    (lambda: ScaledBernoulliBandit(0.0, -1.0, 0.5), ValueError, "scales .* got -1.0"),
    (lambda: ScaledBernoulliBandit(0.0, 1.0, 2.0), ValueError, "probabilities .* got 2.0"),
    (lambda: ScaledBernoulliBandit([0.0] * 2, [1.0] * 3, 0.5), ValueError,
     r"scales .* shapes \(2,\), \(3,\)"),
    (lambda: UniformBandit([0.0], -1.0), ValueError, "noise_std .* got -1.0"),
    (lambda: TruncatedNormalBandit([0.5], (1 / 12) ** 0.5), ValueError,
     r"noise_std must be below 0.288675 for a mean of 0.5 in \[0.0, 1.0\]; got 0.288.* index 0"),
    (lambda: TruncatedNormalBandit([0.5, 0.1], 0.1), ValueError, "below 0.09.* at index 1"),
    (lambda: TruncatedNormalBandit([0.5], 0.0), ValueError, "noise_std .* got 0.0"),
    (lambda: TruncatedNormalBandit([0.0], 0.1), ValueError, "means must be between 0.0 and 1.0"),
    (lambda: TruncatedNormalBandit([0.5], 0.1, low=2.0, high=1.0), ValueError,
     "high .* above low, 2.0"),
    (lambda: CostlyBandit([0.5], 1.0), TypeError, r"environment must be .*; got \[0.5\]"),
    (lambda: CostlyBandit(BernoulliBandit([0.5]), 0.0), ValueError, "costs .* got 0.0"),
    (lambda: CostlyBandit(BernoulliBandit([0.5]), [1.0] * 2), ValueError, r"shape \(2,\)"),
    (lambda: CostlyBandit(BernoulliBandit([0.5]), 1.0, cost_shape=0.0), ValueError,
     "cost_shape .* got 0.0"),
    (lambda: EmpiricalBandit(), ValueError, "samples, or values and counts"),
    (lambda: EmpiricalBandit(SAMPLES, values=VALUES, counts=COUNTS), ValueError, "not both"),
    (lambda: EmpiricalBandit([[1.0], []]), ValueError, r"samples\[1\] must be flat and not empty"),
    (lambda: EmpiricalBandit(values=VALUES, counts=[[0, 0, 0]]), ValueError, "row of zeros"),
    (lambda: EmpiricalBandit(values=VALUES, counts=[[1, 2]]), ValueError, r"counts .*\(1, 2\)"),
    (lambda: EmpiricalBandit(values=VALUES, counts=[[1, -2, 1]]), ValueError, "counts .* -2.0"),
    (lambda: TableBandit([[1.0], [np.nan]]), ValueError, r"rewards\[1\] must be finite; got nan"),
    (lambda: BernoulliBandit([0.5]).best(2), ValueError,
     "k must be at most the number of arms, 1; got 2"),
    (lambda: BernoulliBandit([0.5]).pull([0, 1]), ValueError, r"arms .* \[0, 1\); got 1 at .* 1"),
    (lambda: BernoulliBandit([0.5]).pull([-1]), ValueError, "got -1"),
    (lambda: TableBandit([[0.5]]).pull([3]), ValueError, "got 3"),
    (lambda: BernoulliBandit([0.5]).pull([0.0]), TypeError, "float64"),
    (lambda: BernoulliBandit([0.5]).pull([[0]]), TypeError, "2 dimensions"),
])
def test_invalid_arguments_raise(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_user_defined_environment_is_simulated():
    class Fixed(Environment):
        def __init__(self):
            super().__init__([1.0, 2.0], 0.0)

        def pull(self, arms, rng=None):
            return self.means[arms]

    assert Fixed().n_arms == 2 and Fixed().best().tolist() == [1]
    assert Fixed().variances.tolist() == [0.0, 0.0]
