"""Saved states of the policies with a budget of pulls."""

import numpy as np

from pybandit._shared.schema import Schema, finite, flag, integer, number
from pybandit.policies.protocol._states import INDEX, RING


def stages_began_before(s):
    """stage_pulls that are at most the pulls of each arm"""
    return bool((s.stage_pulls <= s.pulls).all())


STAGED = Schema(
    [integer("stage", 0, "n_stages"), integer("left", 0, "budget"),
     integer("stage_pulls", 0, "n_pulls", shape=("n_arms",)),
     finite("stage_sums", shape=("n_arms",))],
    base=RING, invariants=[stages_began_before])


def all_or_nothing(s):
    """all arms on the ring, and all of the budget either left or pulled"""
    return (s.ring_n_arms == s.n_arms and s.ring_cursor == 0 and s.left == s.budget
            and s.n_pulls == s.stage * s.budget)


UNIFORM = Schema([], base=STAGED, invariants=[all_or_nothing])


def halvings_fit_pulls(s):
    """as many arms on the ring as the halvings leave, and n_pulls that match the finished stages
    and `left`, the pulls left in this stage"""
    done = s.stage == s.n_stages
    return s.ring_n_arms == s.kept[s.stage] and (
        s.n_pulls == s.spent[-1] if done else
        s.left > 0 and s.n_pulls == s.spent[s.stage + 1] - s.left >= s.spent[s.stage])


def stages_are_whole(s):
    """`left` equal to the pulls of the whole stage"""
    return s.stage == s.n_stages or s.left == s.spent[s.stage + 1] - s.spent[s.stage]


HALVING = Schema([], base=STAGED, invariants=[halvings_fit_pulls])
SEQUENTIAL_HALVING = Schema([], base=HALVING, invariants=[stages_are_whole])


def counts_fill_stage(s):
    """counts of the arms on the ring that add up to `left`"""
    return s.stage == s.n_stages or s.counts[:s.ring_n_arms].sum(dtype=float) == s.left


SHVAR = Schema([integer("counts", 0, "budget", shape=("n_arms",))], base=SEQUENTIAL_HALVING,
               invariants=[counts_fill_stage])


HEAP = [integer("heap_n", 0, "n_arms"), integer("heap_arms", 0, "last_arm", shape=("n_arms",)),
        number("keys", shape=("n_arms",))]


def holds_ring(s):
    """Return True if a heap holds exactly the arms on the ring, with keys that are not NaN."""
    return (np.array_equal(np.sort(s.heap_arms[:s.heap_n]), s.ring[:s.ring_n_arms])
            and not np.isnan(s.keys[:s.heap_n]).any())


def batch_is_pending(s):
    """at least 1 and at most `left` pending pulls; exactly 1 with a heap"""
    return s.stage == s.n_stages or (
        s.pending == 1 <= s.left if s.by_heap else 1 <= s.pending <= s.left)


def heap_is_of_ring(s):
    """heap_arms with each arm on the ring once, and keys without NaN"""
    return s.stage == s.n_stages or not s.by_heap or holds_ring(s)


def rewards_were_seen(s):
    """at most as many rewards in seen as pulls of each arm"""
    return bool((s.seen <= s.pulls).all())


SHADAVAR = Schema(
    [flag("by_heap"), integer("pending", 0, "budget"),
     integer("seen", 0, "n_pulls", shape=("n_arms",)), finite("centres", shape=("n_arms",)),
     finite("spreads", shape=("n_arms",)), *HEAP],
    base=HALVING, invariants=[batch_is_pending, heap_is_of_ring, rewards_were_seen])


def phases_fit_pulls(s):
    """one arm fewer on the ring per phase, and n_pulls that match the finished phases and `left`"""
    if s.ring_n_arms != s.n_arms - s.stage:
        return False
    if s.stage == s.n_stages:
        return s.n_pulls == s.spent[-1]
    return (s.pulls_an_arm == s.schedule[s.stage] and s.left > 0
            and s.n_pulls == s.spent[s.stage + 1] - s.left >= s.spent[s.stage])


def phases_are_whole(s):
    """`left` equal to the pulls of the whole phase"""
    return s.stage == s.n_stages or s.left == s.spent[s.stage + 1] - s.spent[s.stage]


PHASES = Schema([integer("pulls_an_arm", 0, "budget")], base=STAGED,
                invariants=[phases_fit_pulls])
SUCCESSIVE = Schema([], base=PHASES, invariants=[phases_are_whole])


def first_phase_is_whole(s):
    """`left` equal to the pulls of the first phase, while it lasts"""
    return s.stage > 0 or s.stage == s.n_stages or s.left == s.spent[1]


def later_heap_is_of_ring(s):
    """heap_arms with each arm on the ring once, and keys without NaN"""
    return not 0 < s.stage < s.n_stages or holds_ring(s)


VBR_STATE = Schema(HEAP, base=PHASES, invariants=[first_phase_is_whole, later_heap_is_of_ring])


def all_arms_come_first(s):
    """pending equal to n_arms before the first pull and to 1 after it"""
    return (s.pending == 1 if s.n_pulls
            else s.pending == s.n_arms == s.ring_n_arms and s.ring_cursor == 0)


def budget_is_kept(s):
    """n_pulls that are at most the budget"""
    return s.n_pulls <= s.budget


def pulls_are_rejected(s):
    """n_rejected_pulls and pulls of the arms on the ring that add up to n_pulls"""
    return s.n_rejected_pulls + s.ring_rounds * s.ring_n_arms + s.ring_cursor == s.n_pulls


CONTINUOUS = Schema(
    [integer("pending", 1, "n_arms"), integer("n_rejected_pulls", 0, "n_pulls"),
     integer("most_rejected", 0, "n_pulls"), finite("centres", shape=("n_arms",))],
    base=RING, invariants=[all_arms_come_first, budget_is_kept, pulls_are_rejected])


UGAP = Schema([number("least_bound"), integer("found", -1, "last_arm")], base=INDEX)
