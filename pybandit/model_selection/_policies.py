"""The policies that a model search knows by name, and those that its user brings."""

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
    """A function that makes the policy of a Gaussian prior and tells it what was seen."""
    policy = getattr(policies, GAUSSIAN[name])
    options = dict(rng=rng) if name == "thompson" else {}

    def make(kernel, noise_std, prior_std, arms, rewards):
        made = policy(len(kernel), budget=budget + 1, kernel=kernel, noise_std=noise_std,
                      prior_std=prior_std,
                      **options)
        made._take(arms, rewards)
        return made

    return make


def plain_policy(policy, n_arms, budget, kernel):
    """A policy that is told scores: of one arm, by name, made by a callable, or a copy.

    `kernel` makes the matrix, which callables alone take.
    """
    if n_arms == 1:
        return policies.Uniform(1, budget=budget)
    if isinstance(policy, str):
        return policies.SequentialHalving(n_arms, budget=budget, reuse=True)
    made = (copy.deepcopy(policy) if hasattr(policy, "ask")
            else policy(n_arms, budget, kernel()))
    if not hasattr(made, "n_arms"):
        raise TypeError(f"policy must make a policy when it is called; got {shown(made)}")
    if made.n_arms != n_arms:
        raise ValueError(f"policy must have {n_arms} arms, the distinct candidates; got "
                         f"{made.n_arms}")
    return made


def scaled_kernel(kernel, candidates):
    """A user's covariance of these candidates, scaled to a mean variance of 1."""
    matrix, n = checked_kernel(kernel(candidates) if callable(kernel) else kernel), len(candidates)
    if len(matrix) != n:
        raise ValueError(f"kernel must have shape ({n}, {n}), the candidates; got {matrix.shape}")
    if not matrix.any():
        raise ValueError("kernel must not be 0 everywhere: then all scores are known")
    return matrix / matrix.diagonal().mean()
