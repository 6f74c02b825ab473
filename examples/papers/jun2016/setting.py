"""Arms, sizes and policies of the experiments of Jun, Jamieson, Nowak & Zhu 2016, Sec. 5."""

import sys
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

import pybandit as pb

sys.path.append(str(Path(__file__).parents[1]))
from figures import Figure, bracket, level  # noqa: E402, F401

# Section 5.1: 100 Bernoulli arms, the ten best wanted.
N, K, DELTA = 100, 10, 0.1
MEANS = {"Linear": (99 - np.arange(N)) / 99, "Sparse": np.repeat([0.5, 0.3], [K, N - K])}

# Section 5.2: genes in the wells of plates, normal rewards of variance .1.
N_GENES, N_WELLS, NOISE_STD = 12_979, 384, np.sqrt(0.1)
POLICIES = {
    "RoundRobin": pb.policies.RoundRobin,
    "BatchHalving": pb.policies.BatchHalving,
    "BatchSAR m'": pb.policies.BatchSAR,
    "BatchSAR m": lambda *arms, **sizes: pb.policies.BatchSAR(*arms, **sizes, improved=False),
}

# Section 5.3: users, those followed in a day, looks at one user in a day; the intervals of
# the data, the tweets in them, and the sum of the 100 largest means.
N_USERS, N_FOLLOWED, N_LOOKS = 522_062, 60_000, 24
N_INTERVALS, N_TWEETS, BEST_GAIN = 31 * 24 * 12, 707_776, 0.963


def gene_means(n=N_GENES):
    """Return stand-in means of n genes, best first: few genes stand out."""
    return -0.15 * np.log(-np.log1p(-(np.arange(n) + 0.5) / n))


def power_law(slope, n=N_USERS):
    """Return the means of n users, best first; the 100 best sum to BEST_GAIN."""
    rank = np.arange(1, n + 1.0) ** -slope
    return np.maximum(1.0, N_INTERVALS * BEST_GAIN / rank[:100].sum() * rank) / N_INTERVALS


def user_means():
    """Return the power law whose users tweet N_TWEETS times in all intervals."""
    return power_law(brentq(lambda slope: N_INTERVALS * power_law(slope).sum() - N_TWEETS,
                            0.2, 1.5))
