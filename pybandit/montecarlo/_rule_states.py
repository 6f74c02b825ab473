"""Schemas of the saved states of an allocator's rule: on variances, and of bandit policies."""

import numpy as np

from pybandit._shared.schema import Schema, anything, finite, integer, number

POSITIVE = 5e-324


def decisions_were_asked(s):
    """asked that add up to n_decisions"""
    return s.asked.sum(dtype=float) == s.n_decisions


RULE = Schema(
    [integer("chosen", -1, "last_arm"), integer("n_decisions", "decided", "decided"),
     integer("asked", 0, "n_decisions", shape=("n_arms",))],
    invariants=[decisions_were_asked])


def range_sets_scales(s):
    """centre and scales of the value_range, where they follow of it"""
    return s.waits or (s.centre == s.own_centre and np.array_equal(s.scales, s.own_scales))


def values_became_rewards(s):
    """an inner policy of n_decisions pulls, and each value in one of its rewards or held"""
    return (s.inner_n_pulls == s.decided
            and np.array_equal(s.inner_pulls * s.per_reward + s.n_held, s.pulls))


BANDIT = Schema(
    [anything("inner"), finite("centre"),
     number("scales", low=POSITIVE, shape=("n_arms",), nan=False),
     finite("held", shape=("n_arms", 2)),
     number("held_costs", low=0.0, shape=("n_arms",), nan=False),
     integer("n_held", 0, "most_held", shape=("n_arms",))],
    invariants=[range_sets_scales, values_became_rewards])


def check_inner(inner, options):
    """Refuse the state of a bandit policy that was made with other options than these."""
    if not isinstance(inner, dict) or not isinstance(inner.get("options"), dict):
        raise ValueError(f"state must hold inner, the state of a policy; got {repr(inner)[:60]}")
    saved = inner["options"]
    if set(saved) != set(options) or not all(
            np.array_equal(saved[name], options[name]) for name in options):
        raise ValueError(f"state must hold inner, the state of a policy of the options "
                         f"{options}; got {repr(saved)[:200]}")
