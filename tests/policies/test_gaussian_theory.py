"""Theorem 1 of Hoffman, Shahriari and de Freitas 2014: the equation that its proof solves."""

import numpy as np
import pytest
from scipy.optimize import brentq

import pybandit as pb


def beta_of_the_proof(means, budget, sigma, norms, eta, epsilon):
    """Return the beta at which the pulls that all arms need add up to T - K."""
    needed = []
    for k, mean in enumerate(means):
        gap = abs(max(np.delete(means, k)) - mean)
        needed.append(max((gap + epsilon) / 2, epsilon))

    def excess(beta):
        pulls = sum(4 * (beta * sigma)**2 / s**2 - sigma**2 / (eta**2 * norm)
                    for s, norm in zip(needed, norms, strict=True))
        return pulls - (budget - len(means))

    return brentq(excess, 0.0, 1e6, xtol=1e-13)


@pytest.mark.parametrize("seed", range(20))
def test_bayes_gap_error_solves_the_equation_of_the_proof(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    means, norms = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    sigma, eta, epsilon = rng.uniform(0.1, 2.0, 3) * (1, 1, seed % 2)
    budget = int(rng.integers(n, 500))
    beta = beta_of_the_proof(means, budget, sigma, norms, eta, epsilon)
    found = pb.bounds.bayes_gap_error(means, budget=budget, noise_std=sigma, epsilon=epsilon,
                                      prior_variances=norms, prior_std=eta)
    assert found == pytest.approx(n * budget * np.exp(-beta**2 / 2), rel=1e-9)


def test_bayes_gap_error_says_nothing_below_as_many_pulls_as_arms():
    """T - K is negative, in the paper's T = 10 and K = 160 too."""
    means = np.linspace(0.0, 1.0, 160)
    for budget in 1, 10, 160:
        bound = pb.bounds.bayes_gap_error(means, budget=budget, noise_std=0.1)
        assert 0.99 * 160 * budget < bound <= 160 * budget
    assert pb.bounds.bayes_gap_error([1.0, 1.0], budget=5, noise_std=1.0) == 10.0


@pytest.mark.parametrize("change, message", [
    (dict(means=[1.0]), r"means must have shape \(n_arms,\), n_arms at least 2"),
    (dict(means=[1.0, np.nan]), "means must be finite"),
    (dict(budget=0), "budget must be at least 1; got 0"),
    (dict(noise_std=0.0), r"noise_std must be in \[1e-150, 1e150\]"),
    (dict(prior_variances=[1.0]), "prior_variances must have the shape of means"),
    (dict(prior_variances=[1.0, 0.0]), "prior_variances must be finite and above 0"),
    (dict(epsilon=-1.0), "epsilon must be finite and at least 0"),
])
def test_bad_input_is_refused(change, message):
    options = dict(means=[0.0, 1.0], budget=9, noise_std=1.0) | change
    with pytest.raises(ValueError, match=message):
        pb.bounds.bayes_gap_error(options.pop("means"), **options)
