"""Environments of estimators: C code against references, moments against recursions."""

import decimal
import math
from pathlib import Path

import numpy as np
import pytest

import pybandit as pb
from pybandit.environments import CIRCaplet, LogisticEvidence
from test_examples import EXAMPLES, load

from montecarlo.reference import estimators as twins


def population_monte_carlo(*given, **options):
    """Call `population_monte_carlo` of examples/papers/neufeld2014/population.py."""
    if not EXAMPLES.is_dir():
        pytest.skip("no examples beside the tests")
    return load("population")["population_monte_carlo"](*given, **options)


PRICES = {0.06: 18.4502722400, 0.07: 9.2567468094, 0.08: 1.8865208223}
BEST = {0.06: (3, 1.40615), 0.07: (5, 2.33162), 0.08: (12, 0.969046)}
TABLE = np.loadtxt(Path(__file__).parent / "data" / "ais_tiny.csv", delimiter=",", skiprows=1)
LOG_Z = {5: -3.54127125156440, 10: -6.82154703257868, 50: -33.85061785016038}


def tiny(n, n_anneals=(1, 2, 10), **options):
    return LogisticEvidence(TABLE[:n, :2], labels=TABLE[:n, 2], n_anneals=n_anneals, **options)


def affine_moments(sigma, strike, n, *, eta=0.016, kappa=0.2, r0=0.08):
    """Return mean and variance of a year's discounted payoff if r_n never is below the strike.

    In sixty digits: E exp(-u r') is exp(-u (r + (eta - kappa r) h) + u^2 sigma^2 h r / 2), again
    an exponential of r; powers of r_n are derivatives by its factor.
    """
    with decimal.localcontext(prec=60):
        eta, kappa, sigma, r0, strike = (
            decimal.Decimal(repr(x)) for x in (eta, kappa, sigma, r0, strike))
        h = decimal.Decimal(1) / n

        def laplace(power, extra):
            u, constant = power * h / 2 + extra, decimal.Decimal(0)
            for t in range(n):
                constant -= u * eta * h
                u = u * (1 - kappa * h) - (u * sigma) ** 2 * h / 2
                u += power * h / (1 if t < n - 1 else 2)
            return (constant - u * r0).exp()

        e = decimal.Decimal("1e-15")
        one, two = ([laplace(power, k * e) for k in (-1, 0, 1)] for power in (1, 2))
        price = (one[0] - one[2]) / (2 * e) - strike * one[1]
        square = ((two[0] - 2 * two[1] + two[2]) / e**2
                  - strike * (two[0] - two[2]) / e + strike**2 * two[1])
        return float(price), float(square - price**2)


@pytest.mark.parametrize("sigma", [3e-3, 1e-3, 3e-4, 1.5e-4])
@pytest.mark.parametrize("n_steps", [1, 100])
def test_moments_are_exact_for_small_sigmas(sigma, n_steps):
    """Variances have at least ten correct digits for sigma = 1e-4 too."""
    caplet = pb.environments.CIRCaplet(0.05, thetas=[0.0], sigma=sigma, notional=1.0,
                                       n_steps=n_steps)
    price, variance = affine_moments(sigma, 0.05, n_steps)
    assert caplet.means[0] == pytest.approx(price, rel=1e-12)
    assert caplet.variances[0] == pytest.approx(variance, rel=1e-7 if sigma < 1e-3 else 1e-9)


@pytest.mark.parametrize("sigma", [1e-5, 3e-6, 1e-6])
def test_too_small_sigmas_raise(sigma):
    with pytest.raises(ValueError, match=f"sigma must be so large .* least 1e-06 .*{sigma}"):
        pb.environments.CIRCaplet(0.07, thetas=[0.0, 0.5], sigma=sigma)


@pytest.mark.parametrize("options", [
    {"strike": 0.07},
    {"strike": 0.01, "n_steps": 1, "maturity": 0.5},
    {"strike": 0.05, "thetas": [-0.5, 0.25], "eta": 0.02, "kappa": 0.0, "sigma": 0.02, "r0": 0.06,
     "maturity": 2.0, "notional": 7.0, "n_steps": 13},
])
def test_caplet_equals_its_reference(options):
    caplet = CIRCaplet(**options)
    n_steps = options.get("n_steps", 100)
    parameters = {k: v for k, v in options.items() if k not in ("thetas", "n_steps")}
    for arm, theta in enumerate(caplet.thetas):
        normals = np.random.default_rng(arm).standard_normal((40, n_steps))
        arms = np.full(40, arm)
        np.testing.assert_allclose(caplet.pull(arms, arm),
                                   twins.cir_weighted(normals, theta, **parameters), rtol=1e-11)
        payoffs, brownian = caplet.paths(arms, arm)
        expected = twins.cir_paths(normals, theta, **parameters)
        np.testing.assert_allclose(payoffs, expected[0], rtol=1e-11)
        np.testing.assert_allclose(brownian, expected[1], atol=1e-13)


@pytest.mark.parametrize("strike", PRICES)
def test_prices_and_variances_match_references(strike):
    caplet = CIRCaplet(strike)
    assert caplet.means == pytest.approx([PRICES[strike]] * 16, rel=1e-10)
    arm, variance = BEST[strike]
    assert caplet.variances.argmin() == arm
    assert caplet.variances[arm] == pytest.approx(variance, rel=1e-5)
    assert caplet.strike == strike and caplet.costs.tolist() == [1.0] * 16


def test_variances_match_references_for_every_drift():
    assert CIRCaplet(0.07).variances == pytest.approx(
        [21.47, 13.85, 8.383, 4.764, 2.785, 2.332, 3.368, 5.935, 10.15, 16.22, 24.45, 35.28,
         49.32, 67.38, 90.61, 120.5], rel=5e-4)


def test_one_step_equals_a_sum_over_normals():
    """Compare the recursion for one step with a sum over a fine grid of normals."""
    caplet = CIRCaplet(0.07, thetas=[0.0, 1.0], n_steps=1, sigma=0.01)
    z, h = np.linspace(-9, 9, 200_001, retstep=True)
    density = h * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    for arm, theta in enumerate([0.0, 1.0]):
        weighted = twins.cir_weighted(z[:, None], theta, strike=0.07, sigma=0.01)
        mean = density @ weighted
        assert caplet.means[arm] == pytest.approx(mean, rel=1e-8)
        assert caplet.variances[arm] == pytest.approx(density @ (weighted - mean) ** 2, rel=1e-7)


@pytest.mark.parametrize("strike", PRICES)
def test_rewards_have_the_computed_moments(strike):
    caplet, n = CIRCaplet(strike), 40_000
    for arm in (0, 4, 8):
        rewards = caplet.pull(np.full(n, arm), 10 + arm)
        mean, variance = caplet.means[arm], caplet.variances[arm]
        assert abs(rewards.mean() - mean) <= 5 * math.sqrt(variance / n)
        squares = (rewards - mean) ** 2
        assert abs(squares.mean() - variance) <= 5 * squares.std() / math.sqrt(n)


@pytest.mark.parametrize("rule", ["variance", "printed"])
@pytest.mark.parametrize("n, population", [(250, 100), (60, 7), (2, 5)])
def test_population_equals_its_reference(rule, n, population):
    caplet = CIRCaplet(0.08)
    found = population_monte_carlo(caplet, n, population=population, rule=rule, rng=3)
    weighted, alphas = twins.population(caplet, caplet.thetas.tolist(), 1.0, n, population, rule,
                                        np.random.default_rng(3))
    assert found.estimate == pytest.approx(weighted.mean(), rel=1e-12)
    assert found.variance == pytest.approx(weighted.var(ddof=1), rel=1e-10, abs=1e-20)
    np.testing.assert_allclose(found.alphas, alphas, rtol=1e-10)


def test_population_draws_are_reproducible():
    found = population_monte_carlo(CIRCaplet(0.08, n_steps=16), 600, population=60, rng=1)
    assert found.estimate == pytest.approx(1.8638739, rel=1e-9)
    assert found.variance == pytest.approx(1.247877399, rel=1e-9)
    assert not found.alphas[:7].any() and found.alphas[7] == pytest.approx(0.07965535017, rel=1e-9)


def test_population_without_payoffs_keeps_its_shares():
    caplet = CIRCaplet(0.5)
    found = population_monte_carlo(caplet, 300, rng=1)
    assert found.estimate == 0.0 and found.alphas.tolist() == [1 / 16] * 16


@pytest.mark.parametrize("n_rows, n_features", [(1, 1), (4, 1), (7, 3), (50, 2), (1003, 5)])
def test_log_likelihood_equals_its_reference(n_rows, n_features):
    rng = np.random.default_rng(n_rows)
    features, labels = rng.normal(size=(n_rows, n_features)), rng.integers(0, 2, n_rows)
    evidence = LogisticEvidence(features, labels=labels, n_anneals=[1])
    for scale in (0.0, 0.1, 3.0, 100.0):
        theta = scale * rng.normal(size=n_features)
        assert evidence.log_likelihood(theta) == pytest.approx(
            twins.log_likelihood(features, labels, theta), rel=1e-12)


@pytest.mark.parametrize("n_rows", LOG_Z)
@pytest.mark.parametrize("options", [{}, {"prior_variance": 2.0, "width": 1.5}])
def test_annealing_equals_its_reference(n_rows, options):
    """The same random numbers give the same points, draw by draw."""
    evidence = tiny(n_rows, [1, 2, 30], log_scale=-1.5, **options)
    arms = np.array([2, 0, 1, 2])
    rewards, costs = evidence.pull_with_costs(arms, 5)
    rng = np.random.default_rng(5)
    for reward, cost, arm in zip(rewards, costs, arms, strict=True):
        log_weight, n_evaluations = twins.annealed(
            TABLE[:n_rows, :2], TABLE[:n_rows, 2], evidence.n_anneals[arm], rng, **options)
        assert math.log(reward) - 1.5 == pytest.approx(log_weight, rel=1e-9)
        assert cost == n_evaluations
    np.testing.assert_array_equal(evidence.pull(arms, 5), rewards)


@pytest.mark.parametrize("n_rows", LOG_Z)
def test_evidence_of_tiny_tables_matches_quadrature(n_rows):
    evidence = tiny(n_rows, log_evidence=LOG_Z[n_rows])
    assert evidence.log_scale == pytest.approx(LOG_Z[n_rows], abs=0.02)  # Laplace's approximation
    assert evidence.n_rows == n_rows
    for arm, n in enumerate([40_000, 10_000, 4000]):
        rewards = evidence.pull(np.full(n, arm), 20 + arm)
        error = rewards.mean() - evidence.means[arm]
        assert abs(error) <= 5 * rewards.std() / math.sqrt(n)


def test_unknown_moments_are_nan():
    evidence = tiny(5, log_scale=0.0)
    for values in (evidence.means, evidence.variances, evidence.costs):
        assert values.shape == (3,) and np.isnan(values).all()
    known = tiny(5, log_scale=1.0, log_evidence=-2.0)
    assert known.means == pytest.approx([math.exp(-3.0)] * 3)


def total(policy, environment):
    return policy.means.sum()


@pytest.mark.parametrize("make", [lambda: CIRCaplet(0.07), lambda: tiny(10, [1, 3, 9])])
def test_simulation_does_not_depend_on_threads(make):
    environment, totals = make(), []
    n = environment.n_arms
    for n_threads in (1, 4):
        found = pb.simulate(lambda e: pb.policies.UCBE(n, budget=40 * n, complexity=9.0),
                            environment, 12, rng=4,
                            n_threads=n_threads, progress=False, metrics=[total])
        totals.append(found.metrics["total"])
    assert np.isfinite(totals[0]).all() and len(set(totals[0])) == 12
    np.testing.assert_array_equal(totals[1], totals[0])


@pytest.mark.parametrize("make, error, words", [
    (lambda: CIRCaplet(-1.0), ValueError, "strike must be finite and at least 0, at most"),
    (lambda: CIRCaplet("a"), TypeError, "strike"),
    (lambda: CIRCaplet(0.07, thetas=[]), ValueError, "thetas must be flat and not empty"),
    (lambda: CIRCaplet(0.07, thetas=[math.nan]), ValueError, "thetas must be finite; got nan"),
    (lambda: CIRCaplet(0.07, sigma=0.0), ValueError, "sigma must be finite and above 0; got 0.0"),
    (lambda: CIRCaplet(0.07, sigma=0.2), ValueError, "sigma must keep the rate clear of 0.*0.2"),
    (lambda: CIRCaplet(0.07, eta=math.inf), ValueError, "eta .* got inf"),
    (lambda: CIRCaplet(0.07, kappa=100.0), ValueError, "kappa .* n_steps / maturity, 100.0; got"),
    (lambda: CIRCaplet(0.07, r0=-0.1), ValueError, "r0 .* got -0.1"),
    (lambda: CIRCaplet(0.07, maturity=0), ValueError, "maturity .* got 0"),
    (lambda: CIRCaplet(0.07, notional=0), ValueError, "notional .* got 0"),
    (lambda: CIRCaplet(0.07, n_steps=0), ValueError, "n_steps must be at least 1; got 0"),
    (lambda: CIRCaplet(0.07).paths([16]), ValueError, r"arms must be in \[0, 16\); got 16"),
    (lambda: population_monte_carlo(CIRCaplet(0.07), 1), ValueError, "n must be at least 2"),
    (lambda: population_monte_carlo(3, 9), TypeError, "caplet must be a CIRCaplet; got int"),
    (lambda: population_monte_carlo(CIRCaplet(0.07), 9, population=0), ValueError,
     "population must be at least 1; got 0"),
    (lambda: population_monte_carlo(CIRCaplet(0.07), 9, rule="x"), ValueError, "rule .* 'x'"),
    (lambda: LogisticEvidence([[math.nan]], labels=[1]), ValueError,
     "features must be finite; got nan"),
    (lambda: LogisticEvidence([1.0], labels=[1]), ValueError,
     r"features must have shape .* got \(1,\)"),
    (lambda: LogisticEvidence([[1.0]], labels=[2]), ValueError, "labels must be 0 or 1; got 2.0"),
    (lambda: LogisticEvidence([[1.0]], labels=[1, 0]), ValueError,
     r"labels must have shape \(1,\)"),
    (lambda: tiny(5, 8), ValueError, r"n_anneals must be flat and not empty; got shape \(\)"),
    (lambda: tiny(5, [0]), ValueError, "n_anneals must be at least 1; got 0"),
    (lambda: tiny(5, [1.5]), TypeError, "n_anneals must be an integer; got"),
    (lambda: tiny(5, prior_variance=0.0), ValueError, "prior_variance .* got 0.0"),
    (lambda: tiny(5, width=-1.0), ValueError, "width .* got -1.0"),
    (lambda: tiny(5, log_scale=math.inf), ValueError, "log_scale must be finite; got inf"),
    (lambda: tiny(5, log_evidence=math.nan), ValueError, "log_evidence must be finite; got nan"),
    (lambda: tiny(5).log_likelihood([1.0]), ValueError, r"theta must have shape \(2,\)"),
])
def test_invalid_arguments_raise(make, error, words):
    with pytest.raises(error, match=words):
        make()
