"""Policies, runs and tables that the examples on Monte Carlo estimators share."""

import functools

import numpy as np

import pybandit as pb

# name: (policy of EstimatorAllocator, options); "UCB-V (1/3, 1)" has half the regret of the
# usual constants
PAPER = {
    "UCB1": ("ucb1", pb.policies.UCB1, {}),
    "UCB-V": ("ucb-v", pb.policies.UCBV, {}),
    "UCB-V (1/3, 1)": (None, pb.policies.UCBV, {"c": 1 / 3, "zeta": 1.0}),
    "KL-UCB": ("kl-ucb", pb.policies.KLUCB, {}),
    "Thompson": ("thompson", pb.policies.ThompsonSampling, {}),
}
OURS = {"lcb-variance": "lcb-variance", "thompson-variance": "thompson-variance"}


def make(name, n_arms, **options):
    """Return an allocator with this policy."""
    if name in OURS or name == "uniform":
        return pb.montecarlo.EstimatorAllocator(n_arms, policy=name, **options)
    policy, cls, arguments = PAPER[name]
    return pb.montecarlo.EstimatorAllocator(n_arms, policy=policy or cls(n_arms, **arguments),
                                            **options)


def shared_variance(variances, policy, environment):
    """Return sum_k V_k N_k / n: n times the squared error of the pooled mean, less noisy."""
    return float(policy.pulls @ variances) / policy.pulls.sum()


def excess(variances, policy, environment):
    """Return sum_k N_k (V_k - V*), the regret."""
    return float(policy.pulls @ (variances - variances.min()))


def measure(name, environment, n_runs, seed, metric, **options):
    """Return the mean of a metric over runs, and half of its 95 % interval."""
    named = functools.partial(metric)
    named.__name__ = "value"
    result = pb.simulate(lambda e: make(name, e.n_arms, **options), environment, n_runs, rng=seed,
                         metrics=[named], progress=False)
    values = result.metrics["value"]
    half = 1.96 * values.std(ddof=1) / np.sqrt(n_runs) if n_runs > 1 else np.nan
    return values.mean(), half


def agrees(value, half, known, known_half):
    """Return True if two means of independent runs agree within their intervals."""
    return abs(value - known) <= np.hypot(half, known_half)
