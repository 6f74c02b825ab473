"""Saved states of the policies that pull in batches."""

import numpy as np

from pybandit._shared.schema import Schema, flag, integer, number
from pybandit.policies.protocol._states import RING

ACCEPTING = Schema([flag("accepted", shape=("n_arms",))], base=RING)


def batches_are_left(s):
    """at most max_batches batches, with at most batch_size pulls each"""
    return s.n_batches <= s.max_batches and s.n_pulls <= s.n_batches * s.batch_size


ROUND_ROBIN = Schema([], base=RING, invariants=[batches_are_left])


def batches_fit_stages(s):
    """stage_batches that add up to max_batches, and n_batches that match stage and stage_left"""
    dealt = s.stage_batches
    if not s.n_stages:
        return s.n_batches == 0
    if dealt.sum(dtype=float) != s.max_batches or (dealt < 1).any():
        return False
    if s.stage == s.n_stages:
        return s.n_batches == s.max_batches
    return (1 <= s.stage_left <= dealt[s.stage]
            and s.n_batches == dealt[:s.stage + 1].sum() - s.stage_left)


def halvings_leave_ring(s):
    """as many arms on the ring as the halvings leave, and at most batch_size pulls per batch"""
    return s.ring_n_arms == s.kept[s.stage] and s.n_pulls <= s.n_batches * s.batch_size


BATCH_HALVING = Schema(
    [integer("stage_batches", 0, "max_batches", shape=("n_deals",)),
     integer("stage", 0, "n_stages"), integer("stage_left", 0, "max_batches"), flag("rng_given")],
    base=RING, invariants=[batches_fit_stages, halvings_leave_ring])


def wells_are_a_batch(s):
    """batch_size wells in counts, and at most batch_size pulls per batch"""
    return (s.n_batches <= s.max_batches and s.n_pulls <= s.n_batches * s.batch_size
            and (s.k in (0, s.n_arms) or s.counts.sum(dtype=float) == s.batch_size))


BATCH_SCREENING = Schema([integer("counts", 0, "max_repeats", shape=("n_arms",))], base=RING,
                         invariants=[wells_are_a_batch])


def places_are_open(s):
    """accepted arms and n_open places that add up to k, and arms on the ring, until race_done;
    then k accepted arms, or fewer if arms are silent"""
    if s.race_done:
        return s.accepted.sum() <= s.k and (s.accepted.sum() == s.k or bool(s.aside.any()))
    on_ring = np.isin(np.arange(s.n_arms), s.ring[:s.ring_n_arms])
    return (s.ring_n_arms + s.aside.sum() > 0 and not (s.aside & (on_ring | s.accepted)).any()
            and s.accepted.sum() + s.n_open == s.k
            and not s.accepted[s.ring[:s.ring_n_arms]].any())


def bounds_hold_means(s):
    """no lower bound above the upper bound of the same arm"""
    return bool((s.lower <= s.upper).all())


def thresholds_are_ranks(s):
    """the n_open-th largest lower bound on the ring in reject_below, and the (n_open + 1)-th
    largest upper bound in accept_above, until race_done"""
    if s.race_done:
        return True
    ring = s.ring[:s.ring_n_arms]
    left = np.union1d(ring, np.flatnonzero(s.aside)) if s.aside.any() else ring
    if s.n_open > left.size:
        return False
    return (s.reject_below == (nth_largest(s.lower[ring], s.n_open) if s.n_open else np.inf)
            and s.accept_above == nth_largest(s.upper[left], s.n_open + 1))


def nth_largest(values, n):
    """Return the n-th largest value, n >= 1; -infinity if there are fewer."""
    return np.partition(values, -n)[-n] if n <= values.size else -np.inf


def batches_are_counted(s):
    """race_batches equal to n_batches"""
    return s.race_batches == s.n_batches


BATCH_RACING = Schema(
    [number("lower", shape=("n_arms",), nan=False), number("upper", shape=("n_arms",), nan=False),
     integer("n_open", 0, "k"), number("reject_below", nan=False),
     number("accept_above", nan=False), flag("moved"), flag("race_done"),
     integer("race_batches", 0, "n_batches")],
    base=ACCEPTING,
    invariants=[places_are_open, bounds_hold_means, thresholds_are_ranks, batches_are_counted])


def arms_are_left(s):
    """n_left arms on the ring, more than n_open, and k accepted arms and n_open places in total,
    until sar_done; then k accepted arms"""
    if s.sar_done:
        return s.accepted.sum() == s.k
    return (s.n_left == s.ring_n_arms and 0 < s.n_open < s.n_left
            and s.accepted.sum() + s.n_open == s.k)


def pulls_are_removed(s):
    """removed_pulls and pulls of the arms on the ring that add up to n_pulls, until sar_done"""
    left = s.ring_rounds * s.ring_n_arms + s.ring_cursor
    return s.sar_done or s.removed_pulls + left == s.n_pulls


def sar_batches_are_counted(s):
    """sar_batches equal to n_batches and at most max_batches"""
    return s.sar_batches == s.n_batches <= s.max_batches


BATCH_SAR = Schema(
    [integer("n_left", 0, "n_arms"), integer("n_open", 0, "n_left"),
     integer("removed_pulls", 0, "n_pulls"), integer("sar_batches", 0, "n_batches"),
     flag("sar_done")],
    base=ACCEPTING, invariants=[arms_are_left, pulls_are_removed, sar_batches_are_counted])
