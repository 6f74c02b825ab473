"""Saved states of the policies for correlated arms."""

import numpy as np

from pybandit._shared.schema import Schema, finite, flag, integer, number, stream
from pybandit.policies.protocol._deviations import WIDEST
from pybandit.policies.protocol._states import NATIVE


def an_arm_is_chosen_to_the_end(s):
    """a chosen arm until the budget is spent, and none after that"""
    return s.n_pulls <= s.budget and (s.chosen >= 0) == (s.n_pulls < s.budget)


def variances_are_diagonal(s):
    """posterior_variances on the diagonal of spread, unless spread is that of the weights"""
    diagonal = np.cumsum(np.arange(1, s.n_arms + 1)) - 1
    return s.in_weights or np.array_equal(s.spread[diagonal], s.posterior_variances)


def rewards_are_told(s):
    """n_told equal to the sum of pulls"""
    return s.n_told == s.pulls.sum(dtype=float)


POSITIVE = 5e-324
GAUSSIAN = Schema(
    [finite("posterior_means", shape=("n_arms",)),
     finite("posterior_variances", 0.0, "most_variance", shape=("n_arms",)),
     finite("spread", "least_spread", "most_spread", shape=("n_spread",)),
     finite("weights", shape=("n_weights",)),
     finite("noise", low=POSITIVE, shape=(2,)), integer("chosen", -1, "last_arm")],
    base=NATIVE, invariants=[an_arm_is_chosen_to_the_end, variances_are_diagonal])
FITTED = [number("theta", shape=("n_theta",), nan=False), integer("n_told", 0, "n_pulls"),
          finite("fitted", 1 / WIDEST, WIDEST, shape=(2,)),
          integer("told_arms", 0, "last_arm", shape=("budget",)),
          finite("told_rewards", shape=("budget",))]
FIT = Schema(FITTED, base=NATIVE)
REFITTED = Schema(FITTED, base=GAUSSIAN, invariants=[rewards_are_told])


BAYES_GAPS = [Schema([integer("found", 0, "last_arm"), number("least_bound", nan=False)], base=base)
              for base in (GAUSSIAN, REFITTED)]


THOMPSONS = [Schema([flag("rng_given"), stream()], base=base)
             for base in (GAUSSIAN, REFITTED)]
