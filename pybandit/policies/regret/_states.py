"""Saved states of upper confidence bounds and Thompson sampling."""

import numpy as np

from pybandit._shared.checks import MOST_PULLS
from pybandit._shared.schema import Schema, finite, flag, integer, number, stream
from pybandit.policies.protocol._states import COUNTED, INDEX


def rewards_are_in_range(s):
    """sums that rewards in their range can have"""
    slack = 1e-6 * (1.0 + np.abs(s.sums))
    return s.highest == np.inf or bool(
        ((s.sums >= -slack) & (s.sums <= s.highest * s.pulls + slack)).all())


UPPER = Schema([flag("is_scaled"), finite("scales", low=5e-324, shape=("n_arms",))],
               base=INDEX, invariants=[rewards_are_in_range])


def arms_count_pulls(s):
    """arms whose successes and failures, or counts, match their pulls"""
    gained, lost = s.arms.T[:2]
    counts = lost if s.law == "gaussian" else gained + lost
    return bool(((lost >= 0.0) & (np.abs(counts - s.pulls) <= 1e-6 * (1 + s.pulls))
                 & ((gained >= 0.0) | (s.law == "gaussian"))).all())


def threshold_was_placed(s):
    """a finite threshold followed by three numbers of at least 0"""
    return bool(np.isfinite(s.threshold[0]) and (s.threshold[1:] >= 0.0).all())


THOMPSON = Schema(
    [finite("arms", shape=("n_arms", 4)), finite("chances", shape=("n_chances",)),
     number("threshold", shape=(4,), nan=False), integer("age", 0, MOST_PULLS),
     integer("chosen", -1, "last_arm"), integer("n_tries", 0, "n_batches"),
     flag("lacking", shape=("n_arms",)), flag("rng_given"), stream()],
    base=COUNTED, invariants=[arms_count_pulls, threshold_was_placed])


def shares_fill_a_batch(s):
    """shares that add up to batch_size if a batch is drawn, else to 0"""
    return s.shares.sum(dtype=float) == (s.batch_size if s.chosen >= 0 else 0)


THOMPSON_BATCHES = Schema([integer("shares", 0, "batch_size", shape=("n_arms",))],
                          base=THOMPSON, invariants=[shares_fill_a_batch])
