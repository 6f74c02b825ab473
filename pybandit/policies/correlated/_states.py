"""Saved states of the policies for correlated arms."""

import numpy as np

from pybandit._shared.schema import Schema, finite, flag, integer, number, stream
from pybandit.policies.protocol._deviations import WIDEST
from pybandit.policies.protocol._states import NATIVE


def an_arm_is_chosen_to_the_end(s):
    """a chosen arm until the budget is spent, and none after that"""
    return s.n_pulls <= s.budget and (s.chosen >= 0) == (s.n_pulls < s.budget)


def spread_has_the_size_of_its_form(s):
    """spread of the weights, or of all arms, or empty, and fewer rows than are kept, none of \
weights"""
    if s.in_weights:
        return s.spread.size == s.n_weights**2 and not s.n_rows
    n_all = s.n_arms * (s.n_arms + 1) // 2
    return s.spread.size in (0, n_all) and s.n_rows < s.most_rows[s.spread.size > 0]


def variances_follow_from_rows(s):
    """posterior_variances that result from the diagonal of spread, or of the prior, and the rows"""
    if s.in_weights:
        return True
    variances = s.prior_variances
    if s.spread.size:
        variances = s.spread[np.cumsum(np.arange(1, s.n_arms + 1)) - 1]
    for row in s.rows:
        variances = np.maximum(variances - row * row, 0.0)
    return np.array_equal(variances, s.posterior_variances)


def rewards_are_told(s):
    """n_told equal to the sum of pulls"""
    return s.n_told == s.pulls.sum(dtype=float)


POSITIVE = 5e-324
GAUSSIAN = Schema(
    [finite("posterior_means", shape=("n_arms",)),
     finite("posterior_variances", 0.0, "most_variance", shape=("n_arms",)),
     finite("spread", "least_spread", "most_spread", shape=("n_spread",)),
     finite("rows", shape=("n_rows", "n_arms")),
     finite("weights", shape=("n_weights",)),
     finite("noise", low=POSITIVE, shape=(2,)), integer("chosen", -1, "last_arm")],
    base=NATIVE, invariants=[an_arm_is_chosen_to_the_end, spread_has_the_size_of_its_form,
                            variances_follow_from_rows])
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
