"""Policies, sizes and references of the experiments of Neufeld et al. 2014, Sec. 6."""

import functools
import sys
from pathlib import Path

import numpy as np

import pybandit as pb

sys.path.append(str(Path(__file__).parents[1]))
from figures import Figure, level  # noqa: E402, F401

# Rules of choice of EstimatorAllocator and arguments of the bandit policy. UCB-V with the
# constants of Audibert et al. 2009, as in the paper; (1/3, 1) has half the regret. Thompson
# sampling with the uniform Beta prior.
PAPER = {
    "UCB1": ("ucb1", pb.policies.UCB1, {}),
    "UCB-V": ("ucb-v", pb.policies.UCBV, {}),
    "UCB-V (1/3, 1)": (None, pb.policies.UCBV, {"c": 1 / 3, "zeta": 1.0}),
    "KL-UCB": ("kl-ucb", pb.policies.KLUCB, {}),
    "Thompson": ("thompson", pb.policies.ThompsonSampling, {}),
}
FOUR = ("UCB1", "UCB-V", "KL-UCB", "Thompson")
OURS = ("lcb-variance", "thompson-variance")

# Section 6.1: the paper's number of runs of the estimators, and tiles.
N_PAIRS = 10**6
FIRST = (0.001, 0.005, 0.01, 0.03, 0.05, 0.1, 0.2)
GAPS = (0.001, 0.003, 0.005, 0.01, 0.03, 0.05, 0.1)
HIGHLIGHTED = (0.05, 0.05)
# (V1, gap): mean and half-width of the 95 % interval of the regret at n = 10^5, by policy of
# PAPER, from an independent implementation
N_REFERENCE = 100_000
REFERENCE = {
    (0.001, 0.005): ((193.6, 0.4), (75.2, 1.0), (39.3, 1.0), (154.6, 0.7), (112, 10)),
    (0.05, 0.05): ((269, 5), (110, 2.5), (59.2, 2.1), (114.6, 3.3), (42.6, 5.3)),
    (0.2, 0.05): ((265, 7), (160, 5), (106, 5), (129, 5), (48.1, 5.6)),
}

# Appendix E: pairs of variances, which the paper does not print.
PAIRS = (0.001, 0.006), (0.01, 0.02), (0.01, 0.05), (0.03, 0.07)

# Section 6.2: strikes and the cap B of the rewards 1 - X^2 / B^2, which the paper does not give.
CAPS = {0.06: 50.0, 0.07: 35.0, 0.08: 25.0}
# n times the mean squared error at n = 10^5, by strike, from an independent implementation
CAPLET_REFERENCE = {
    "uniform": (252.1, 29.80, 2.604),
    "UCB1, raw": (133, 16.7, 2.40),
    "UCB-V, raw": (111, 12.4, 2.10),
    "KL-UCB, raw": (63.4, 9.3, 1.64),
    "Thompson, raw": (28.4, 6.23, 1.405),
    "population": (3.9, 3.9, 1.01),
}

# Section 6.3: sizes of the training sets, and annealing steps of the three arms.
N_ROWS, N_ANNEALS = (5, 10, 50), (400, 2000, 8000)
TABLE = Path(__file__).parents[3] / "tests" / "montecarlo" / "data" / "ais_tiny.csv"
# log evidence of the first rows of TABLE, by quadrature
LOG_Z = {5: -3.54127125156440, 10: -6.82154703257868, 50: -33.85061785016038}


def make(name, n_arms, **options):
    """Return an allocator with this policy."""
    if name not in PAPER:
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


def values_of(name, environment, n_runs, seed, metric, **options):
    """Return a metric of each run."""
    named = functools.partial(metric)
    named.__name__ = "value"
    result = pb.simulate(lambda e: make(name, e.n_arms, **options), environment, n_runs, rng=seed,
                         metrics=[named], progress=False)
    return result.metrics["value"]


def measure(name, environment, n_runs, seed, metric, **options):
    """Return the mean of a metric over runs, and half of its 95 % interval."""
    values = values_of(name, environment, n_runs, seed, metric, **options)
    half = 1.96 * values.std(ddof=1) / np.sqrt(n_runs) if n_runs > 1 else np.nan
    return values.mean(), half


def regret(name, environment, n, n_runs, seed):
    """Return the mean regret on values in [0, 1], and half of its 95 % interval."""
    metric = functools.partial(excess, environment.variances)
    return measure(name, environment, n_runs, seed, metric, value_range=(0.0, 1.0), budget=n)
