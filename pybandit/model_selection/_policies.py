"""Policies of a model search: by name, or supplied by the caller."""

import copy

import pybandit.policies as policies
from pybandit._shared.checks import shown
from pybandit.policies.correlated._kernel_matrix import checked_kernel

GAUSSIAN = {
    "bayes-gap": "BayesGap",
    "gp-ucb": "GPUCB",
    "bayes-ucb": "BayesUCB",
    "thompson": "GaussianThompson",
    "ei": "ExpectedImprovement",
    "pi": "ProbabilityOfImprovement",
}


def gaussian_maker(name, budget, rng):
    """Return a function that makes a policy for a Gaussian prior and reports past rewards."""
    policy = getattr(policies, GAUSSIAN[name])
    options = dict(rng=rng) if name == "thompson" else {}

    def make(kernel, noise_std, prior_std, arms, rewards):
        result = policy(len(kernel), budget=budget + 1, kernel=kernel, noise_std=noise_std,
                        prior_std=prior_std,
                        **options)
        result._take(arms, rewards)
        return result

    return make


def plain_policy(policy, n_arms, budget, kernel):
    """Return a policy that receives raw scores: a copy of `policy`, or what its name or call gives.

    `kernel` returns the kernel matrix; only callables receive it.
    """
    if n_arms == 1:
        return policies.Uniform(1, budget=budget)
    if isinstance(policy, str):
        return policies.SequentialHalving(n_arms, budget=budget, reuse=True)
    result = (copy.deepcopy(policy) if hasattr(policy, "ask")
              else policy(n_arms, budget, kernel()))
    if not hasattr(result, "n_arms"):
        raise TypeError(f"policy must return a Policy when called; got {shown(result)}")
    if result.n_arms != n_arms:
        raise ValueError(f"policy must have {n_arms} arms, one per distinct candidate; got "
                         f"{result.n_arms}")
    return result


def scaled_kernel(kernel, candidates):
    """Return the user-defined covariance of the candidates, scaled to a mean variance of 1."""
    matrix, n = kernel(candidates) if callable(kernel) else kernel, len(candidates)
    matrix = checked_kernel(matrix).matrix
    if len(matrix) != n:
        raise ValueError(f"kernel must have shape ({n}, {n}), one row per candidate; got "
                         f"{matrix.shape}")
    if not matrix.any():
        raise ValueError("kernel must have entries other than 0; got a matrix of zeros")
    return matrix / matrix.diagonal().mean()
