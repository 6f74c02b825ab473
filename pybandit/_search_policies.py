"""The policies that a model search knows by name, and those that its user brings."""

import copy

import numpy as np

import pybandit.policies as policies
from pybandit._checks import check_numeric

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
        made = policy(budget + 1, kernel=kernel, noise_std=noise_std, prior_std=prior_std,
                      **options)
        made.absorb(arms, rewards)
        return made

    return make


def plain_policy(policy, budget, kernel):
    """A policy that is told scores: of one arm, by name, made by a callable, or a copy."""
    n_arms = len(kernel)
    if n_arms == 1:
        return policies.Uniform(1, budget)
    if isinstance(policy, str):
        return policies.SequentialHalving(n_arms, budget, reuse=True)
    made = copy.deepcopy(policy) if hasattr(policy, "ask") else policy(n_arms, budget, kernel)
    if made.n_arms != n_arms:
        raise ValueError(f"policy must have {n_arms} arms, the distinct candidates; got "
                         f"{made.n_arms}")
    return made


def checked_kernel(kernel, candidates):
    """A user's covariance of these candidates, symmetric and positive semidefinite."""
    matrix = check_numeric("kernel", kernel(candidates) if callable(kernel) else kernel)
    n = len(candidates)
    if matrix.shape != (n, n):
        raise ValueError(f"kernel must have shape ({n}, {n}), the candidates; got {matrix.shape}")
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T, rtol=1e-8):
        raise ValueError("kernel must be finite and symmetric; got "
                         f"{np.abs(matrix - matrix.T).max():.3g} between two mirrored entries")
    lowest, highest = np.linalg.eigvalsh(matrix)[[0, -1]]
    if lowest < -1e-8 * max(highest, 0.0) or highest <= 0:
        raise ValueError("kernel must be positive semidefinite, as a covariance is; its "
                         f"eigenvalues are between {lowest:.3g} and {highest:.3g}")
    return (matrix + matrix.T) * (0.5 / np.diag(matrix).mean())
