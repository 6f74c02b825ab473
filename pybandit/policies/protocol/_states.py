"""Base schemas of saved policies.

An invariant is a condition that holds in every run. It is checked if restoring depends on it: a
policy restored from a state that passes ends, spends no more than its budget, and asks only for
arms that exist. Most invariants therefore count pulls.
"""

import numpy as np

from pybandit._shared.checks import MOST_HELD, MOST_PULLS
from pybandit._shared.schema import Schema, finite, flag, integer, number


# Every reward belongs to a reported pull; lost pulls have none.
def pulls_were_told(s):
    """at most n_pulls pulls in total"""
    return s.most_rewards != "n_pulls" or s.pulls.sum(dtype=float) <= s.n_pulls


def batches_hold_pulls(s):
    """n_batches with at least one pull each"""
    return (s.n_batches > 0) == (s.n_pulls > 0)


def unseen_arms_have_no_sums(s):
    """sums of 0 for arms without pulls"""
    return not s.sums[s.pulls == 0].any()


def pulls_were_in_batches(s):
    """n_pulls of 0 if n_batches is 0"""
    return s.n_batches > 0 or s.n_pulls == 0


def _told(most_batches, batches):
    """Return the schema of a policy that receives rewards in up to `most_batches` batches."""
    return Schema(
        [integer("n_pulls", 0, MOST_PULLS), integer("n_batches", 0, most_batches),
         integer("pulls", 0, "most_rewards", shape=("n_arms",)),
         finite("sums", shape=("n_arms",)), number("deviations", shape=("n_arms",))],
        invariants=[pulls_were_told, batches, unseen_arms_have_no_sums])


NATIVE = _told("n_pulls", batches_hold_pulls)
# for policies that receive counts: a day may have none
COUNTED = _told(MOST_PULLS, pulls_were_in_batches)


def silent_arms_lost_pulls(s):
    """losses of all arms or none, and at most {most_asked} retries, 0 unless the policy adapts"""
    return (s.n_counted in (0, s.n_arms) and s.asked.sum(dtype=float) <= s.most_asked
            and (s.adapts or not s.asked.any()))


SILENCE = Schema(
    [integer("after", 0, MOST_HELD), integer("n_counted", 0, "n_arms"),
     integer("lost", 0, MOST_PULLS, shape=("n_counted",)),
     integer("due", 0, 2 * MOST_PULLS, shape=("n_counted",)),
     flag("aside", shape=("n_counted",)),
     flag("settled"), integer("asked", 0, "most_repeats", shape=("n_counted",))],
    invariants=[silent_arms_lost_pulls])


def ring_is_increasing(s):
    """ring_n_arms arms in increasing order first in ring, and ring_cursor among their positions"""
    return bool((np.diff(s.ring[:s.ring_n_arms]) > 0).all()
                and s.ring_cursor < max(1, s.ring_n_arms))


RING = Schema(
    [integer("ring_n_arms", "least_ring", "n_arms"), integer("ring_cursor", 0, "last_arm"),
     integer("ring_rounds", 0, MOST_PULLS), integer("ring", 0, "last_arm", shape=("n_arms",))],
    base=NATIVE, invariants=[ring_is_increasing])


def an_arm_is_chosen(s):
    """no chosen arm before the first pulls, and at most {limit} n_pulls"""
    return s.n_pulls <= s.limit and (s.n_pulls > 0 or s.chosen < 0)


INDEX = Schema([integer("asked", 0, "n_pulls", shape=("n_arms",)),
                integer("chosen", -1, "last_arm")],
               base=NATIVE, invariants=[an_arm_is_chosen])
