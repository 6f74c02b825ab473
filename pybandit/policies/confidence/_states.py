"""Saved states of the policies that stop at a confidence level."""

import numpy as np

from pybandit._shared.checks import MOST_PULLS
from pybandit._shared.schema import Schema, finite, flag, integer, number, stream
from pybandit.policies.stopping._states import SEQUENTIAL


def leaders_led(s):
    """no arm with more pulls in own than in led, and at most n_pulls pulls in led"""
    return bool((s.own <= s.led).all()) and s.led.sum(dtype=float) <= s.n_pulls


EBTC_STATE = Schema(
    [integer("led", 0, "n_pulls", shape=("n_arms",)),
     integer("own", 0, "n_pulls", shape=("n_arms",)), number("squares", shape=("n_arms",))],
    base=SEQUENTIAL, invariants=[leaders_led])
TRACKING = Schema([finite("owed", 0.0, "n_pulls", shape=("n_arms",))], base=SEQUENTIAL)


def posteriors_count_pulls(s):
    """arms in seen with counts from 0 to pulls"""
    gained, lost = s.seen.T[:2]
    counts = lost if s.is_gaussian else gained + lost
    return bool(((lost >= 0.0) & ((gained >= 0.0) | s.is_gaussian)
                 & (counts <= s.pulls + 1e-6 * (1 + s.pulls))).all())


def threshold_was_placed(s):
    """a finite threshold followed by three numbers of at least 0"""
    return bool(np.isfinite(s.threshold[0]) and (s.threshold[1:] >= 0.0).all())


TOP_TWO = Schema([flag("rng_given"), stream()], base=SEQUENTIAL)
TOP_TWO_DRAWN = Schema(
    [finite("seen", shape=("n_arms", 4)), finite("chances", shape=("n_chances",)),
     number("threshold", shape=(4,), nan=False), integer("age", 0, MOST_PULLS)],
    base=TOP_TWO, invariants=[posteriors_count_pulls, threshold_was_placed])


def fates_leave_places(s):
    """undecided arms first in chosen, fewer open places than them, none decided at the start"""
    undecided = np.flatnonzero(s.fates == 0)
    left = np.flatnonzero((s.fates == 0) & ~s.aside)
    places = s.k - np.count_nonzero(s.fates > 0)
    if not 0 <= places <= undecided.size:
        return False
    if not s.begun:
        return undecided.size == s.n_arms
    return np.array_equal(s.chosen[:left.size], left) and (
        s.stopped or left.size < undecided.size
        or s.fates[s.leader] == 0 and 0 < places < left.size)


ELIMINATION = Schema([integer("fates", -1, 1, shape=("n_arms",))], base=SEQUENTIAL,
                     invariants=[fates_leave_places])


def k_are_on_top(s):
    """k arms in is_top"""
    return s.is_top.sum() == s.k


def all_or_none_are_sure(s):
    """a true stopped if k is 0 or n_arms"""
    return s.stopped or s.k not in (0, s.n_arms)


BOUNDS = Schema([], base=SEQUENTIAL, invariants=[all_or_none_are_sure])
UGAP_SURE = Schema([flag("is_top", shape=("n_arms",))], base=BOUNDS,
                   invariants=[k_are_on_top])
