"""Arms, sizes and policies of the experiments of Hoffman, Shahriari & de Freitas 2014, Sec. 6.

Equations, sections and figures are those of arXiv:1303.6746. Every policy is created with
the paper's own rules: BayesGap recommends the arm of Eq. 8. It multiplies T, not the
printed T - K, into beta^2 wherever T <= K, because T - K is negative there.
"""

import sys
from pathlib import Path

import numpy as np

import pybandit as pb
from pybandit._shared.optional import require

sys.path.append(str(Path(__file__).parents[1]))
from figures import Figure  # noqa: E402, F401

# Name in the paper -> name in pybandit.policies.
CORRELATED = {"BayesGap": "BayesGap", "Thompson": "GaussianThompson", "BayesUCB": "BayesUCB",
              "GPUCB": "GPUCB", "EI": "ExpectedImprovement", "PI": "ProbabilityOfImprovement"}

# Section 6.1: sensors of I-880, readings kept for the runs, the budget; the prior and the noise.
N_SENSORS, N_READINGS, T_SENSORS, ETA, NOISE_SHARE = 357, 840, 400, 20.0, 0.05
SENSOR_FORMAT = "CSV with a header, one column per sensor and one row per time"

# Section 6.2: pulls of Figures 3 and 4, runs.
T_MODELS, T_ALLOCATIONS, N_RUNS = 10, 40, 100


def n_beta(n_arms, budget):
    """Return the number of pulls in beta^2: the paper's T - K where it is positive."""
    return "T-K" if budget > n_arms else "T"


def correlated(name, budget, *, recommendation="bound", epsilon=0.0, **prior):
    """Return a policy of the paper; `prior` is its kernel, noise_std and prior_std."""
    n_arms, options = len(prior["kernel"]), {}
    if name == "BayesGap":
        options = dict(n_beta=n_beta(n_arms, budget), recommendation=recommendation,
                       epsilon=epsilon)
    elif name == "GPUCB":
        options = dict(delta=0.1)
    return getattr(pb.policies, CORRELATED[name])(n_arms, budget=budget, **prior, **options)


def readings(path=None):
    """Return readings of shape (times, sensors); without a path, the pixels of digits."""
    if path:
        return np.genfromtxt(path, delimiter=",", skip_header=1)
    pixels = require("sklearn.datasets", "sklearn").load_digits().data
    return pixels[:, pixels.std(axis=0) > 0]


class Sensors:
    """Sensors with a history, whose covariance is the prior, and later readings, the true means.

    Two thirds of the times are the history. The mean of all its readings is subtracted,
    because the prior has mean zero; the paper does not say what it subtracts.
    """

    def __init__(self, table, lowest=False):
        table = -table if lowest else table
        n_known = table.shape[0] * 2 // 3
        self.later = table[n_known:] - table[:n_known].mean()
        covariance = np.cov(table[:n_known], rowvar=False)
        self.n_arms = table.shape[1]
        self.noise_std = np.sqrt(NOISE_SHARE * np.diag(covariance).mean())
        self.prior = dict(kernel=covariance, noise_std=self.noise_std, prior_std=ETA)

    def environments(self):
        """Return a function that yields each later reading once, as the means of a run."""
        rows = iter(self.later)
        return lambda rng: pb.environments.GaussianBandit(next(rows), self.noise_std)

    def policy(self, name, budget, **options):
        """Return a function from environment to policy, or None if T < K and it needs T >= K."""
        if name in CORRELATED:
            return lambda environment: correlated(name, budget, **self.prior, **options)
        if budget < self.n_arms:
            return None
        if name == "UCBE":  # knows the gaps; the paper does not say which complexity it had
            return lambda environment: pb.policies.UCBE(
                self.n_arms, budget=budget, complexity=complexity(environment.means))
        if name == "UGap":
            return lambda environment: pb.policies.UGapEb(self.n_arms, budget=budget,
                                                          noise_std=self.noise_std)
        return lambda environment: pb.policies.Uniform(self.n_arms, budget=budget)


def complexity(means):
    """Return H1, the sum of 1 / gap^2; the best arm's gap, and 0, become the least gap above 0."""
    gaps = means.max() - means
    return float((1.0 / np.where(gaps > 0, gaps, gaps[gaps > 0].min())**2).sum())
