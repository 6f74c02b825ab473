"""Sizes, seeds and levels of the experiments of Chen & Ghahramani 2016, Sec. 5."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from figures import Figure, bracket, near  # noqa: E402, F401

# Section 5.1: 100,000 rewards of each state; standard deviations "hard" to "easy".
N_FACTORS = 100_000
DISTRIBUTIONS = ("normal", "uniform", "lognormal")
SIGMAS = (1e-1, 1e-4, 1e-5)
DELTAS = (0.001, 0.01, 0.05, 0.1)
FIRST_LOOK = 50  # of Racing-Normal, in all experiments with real data too

# Section 4: delta of a test, p of Bardenet et al., and, which the paper does not print, gaps
# between the mean and the threshold in standard deviations, and log ratios.
TEST_DELTA, POWER = 0.05, 2
GAPS = (0.001, 0.003, 0.01, 0.03, 0.1)
RATIOS = ("normal", "lognormal")

# Section 5.2: orders of ARCH models; Section 5.3: delta and first look of the coreference.
ORDERS = (5, 10, 15, 20, 25, 30)
ARCH_DELTA = COREFERENCE_DELTA = 0.05
ARCH_BATCH = 400  # rows of a stochastic gradient, which the paper does not print
COREFERENCE_FIRST_LOOK = 3

# Table 1: first looks as shares of N.
SHARES = (5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2)
