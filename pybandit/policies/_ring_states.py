"""What a saved policy holds: the schema of each class that pulls arms on a ring, or in batches.

An invariant is what every run keeps, checked where it is needed: a state that passes makes a
policy that ends, spends no more than its budget, and asks only for arms that exist. So most of
them count pulls.
"""

import numpy as np

from pybandit._shared.checks import MOST_HELD, MOST_PULLS
from pybandit._shared.schema import Schema, finite, flag, integer, number


# Told for an arm that was asked, or late, or lost.
def pulls_were_told(s):
    """no more pulls than n_pulls"""
    return s.most_rewards != "n_pulls" or s.pulls.sum(dtype=float) <= s.n_pulls


def batches_hold_pulls(s):
    """n_batches of at least one pull each"""
    return (s.n_batches > 0) == (s.n_pulls > 0)


def unseen_arms_have_no_sums(s):
    """sums of 0 for arms without pulls"""
    return not s.sums[s.pulls == 0].any()


def pulls_were_in_batches(s):
    """no n_pulls without n_batches"""
    return s.n_batches > 0 or s.n_pulls == 0


def _told(most_batches, batches):
    """Of a policy that is told rewards, in so many batches."""
    return Schema(
        [integer("n_pulls", 0, MOST_PULLS), integer("n_batches", 0, most_batches),
         integer("pulls", 0, "most_rewards", shape=("n_arms",)),
         finite("sums", shape=("n_arms",)), number("deviations", shape=("n_arms",))],
        invariants=[pulls_were_told, batches, unseen_arms_have_no_sums])


NATIVE = _told("n_pulls", batches_hold_pulls)
# of who is told counts: a day may have none
COUNTED = _told(MOST_PULLS, pulls_were_in_batches)


def silent_arms_lost_pulls(s):
    """losses of all arms or none, and at most most_asked retries, if it sets arms aside"""
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
    """ring_n_arms increasing arms in ring, ring_cursor among them"""
    return bool((np.diff(s.ring[:s.ring_n_arms]) > 0).all()
                and s.ring_cursor < max(1, s.ring_n_arms))


RING = Schema(
    [integer("ring_n_arms", "least_ring", "n_arms"), integer("ring_cursor", 0, "last_arm"),
     integer("ring_rounds", 0, MOST_PULLS), integer("ring", 0, "last_arm", shape=("n_arms",))],
    base=NATIVE, invariants=[ring_is_increasing])


def stages_began_before(s):
    """no more stage_pulls than pulls"""
    return bool((s.stage_pulls <= s.pulls).all())


STAGED = Schema(
    [integer("stage", 0, "n_stages"), integer("left", 0, "budget"),
     integer("stage_pulls", 0, "n_pulls", shape=("n_arms",)),
     finite("stage_sums", shape=("n_arms",))],
    base=RING, invariants=[stages_began_before])


def all_or_nothing(s):
    """all arms on the ring, and the whole budget left, or pulled"""
    return (s.ring_n_arms == s.n_arms and s.ring_cursor == 0 and s.left == s.budget
            and s.n_pulls == s.stage * s.budget)


UNIFORM = Schema([], base=STAGED, invariants=[all_or_nothing])


def halvings_fit_pulls(s):
    """as many arms on the ring as stage halvings leave, and the pulls of these and of what is
    left of this one"""
    done = s.stage == s.n_stages
    return s.ring_n_arms == s.kept[s.stage] and (
        s.n_pulls == s.spent[-1] if done else
        s.left > 0 and s.n_pulls == s.spent[s.stage + 1] - s.left >= s.spent[s.stage])


def stages_are_whole(s):
    """all pulls of this stage in left"""
    return s.stage == s.n_stages or s.left == s.spent[s.stage + 1] - s.spent[s.stage]


HALVING = Schema([], base=STAGED, invariants=[halvings_fit_pulls])
SEQUENTIAL = Schema([], base=HALVING, invariants=[stages_are_whole])


def counts_fill_stage(s):
    """counts of the arms on the ring that add up to left"""
    return s.stage == s.n_stages or s.counts[:s.ring_n_arms].sum(dtype=float) == s.left


SHVAR = Schema([integer("counts", 0, "budget", shape=("n_arms",))], base=SEQUENTIAL,
               invariants=[counts_fill_stage])


HEAP = [integer("heap_n", 0, "n_arms"), integer("heap_arms", 0, "last_arm", shape=("n_arms",)),
        number("keys", shape=("n_arms",))]


def holds_ring(s):
    """Whether a heap is of the arms on the ring, with keys that are numbers."""
    return (np.array_equal(np.sort(s.heap_arms[:s.heap_n]), s.ring[:s.ring_n_arms])
            and not np.isnan(s.keys[:s.heap_n]).any())


def batch_is_pending(s):
    """a pull or more that are pending and left, by a heap one"""
    return s.stage == s.n_stages or (
        s.pending == 1 <= s.left if s.by_heap else 1 <= s.pending <= s.left)


def heap_is_of_ring(s):
    """heap_n different arms in heap_arms, those on the ring, and their keys in keys"""
    return s.stage == s.n_stages or not s.by_heap or holds_ring(s)


def rewards_were_seen(s):
    """no more rewards seen than pulls"""
    return bool((s.seen <= s.pulls).all())


SHADAVAR = Schema(
    [flag("by_heap"), integer("pending", 0, "budget"),
     integer("seen", 0, "n_pulls", shape=("n_arms",)), finite("centres", shape=("n_arms",)),
     finite("spreads", shape=("n_arms",)), *HEAP],
    base=HALVING, invariants=[batch_is_pending, heap_is_of_ring, rewards_were_seen])


def phases_fit_pulls(s):
    """one arm on the ring less a phase, and the pulls of all phases but what is left of this"""
    if s.ring_n_arms != s.n_arms - s.stage:
        return False
    if s.stage == s.n_stages:
        return s.n_pulls == s.spent[-1]
    return (s.pulls_an_arm == s.schedule[s.stage] and s.left > 0
            and s.n_pulls == s.spent[s.stage + 1] - s.left >= s.spent[s.stage])


def phases_are_whole(s):
    """all pulls of this phase in left"""
    return s.stage == s.n_stages or s.left == s.spent[s.stage + 1] - s.spent[s.stage]


PHASES = Schema([integer("pulls_an_arm", 0, "budget")], base=STAGED,
                invariants=[phases_fit_pulls])
SUCCESSIVE = Schema([], base=PHASES, invariants=[phases_are_whole])


def first_phase_is_whole(s):
    """all pulls of the first phase in left"""
    return s.stage > 0 or s.stage == s.n_stages or s.left == s.spent[1]


def later_heap_is_of_ring(s):
    """heap_n different arms in heap_arms, those on the ring, and their keys in keys"""
    return not 0 < s.stage < s.n_stages or holds_ring(s)


VBR_STATE = Schema(HEAP, base=PHASES, invariants=[first_phase_is_whole, later_heap_is_of_ring])


def all_arms_come_first(s):
    """all arms pending before the first pull, one after it"""
    return (s.pending == 1 if s.n_pulls
            else s.pending == s.n_arms == s.ring_n_arms and s.ring_cursor == 0)


def budget_is_kept(s):
    """no more n_pulls than the budget"""
    return s.n_pulls <= s.budget


def pulls_are_rejected(s):
    """n_rejected_pulls and those of the arms on the ring that make n_pulls"""
    return s.n_rejected_pulls + s.ring_rounds * s.ring_n_arms + s.ring_cursor == s.n_pulls


CONTINUOUS = Schema(
    [integer("pending", 1, "n_arms"), integer("n_rejected_pulls", 0, "n_pulls"),
     integer("most_rejected", 0, "n_pulls"), finite("centres", shape=("n_arms",))],
    base=RING, invariants=[all_arms_come_first, budget_is_kept, pulls_are_rejected])


ACCEPTING = Schema([flag("accepted", shape=("n_arms",))], base=RING)


def batches_are_left(s):
    """no more than max_batches, of no more than batch_size pulls"""
    return s.n_batches <= s.max_batches and s.n_pulls <= s.n_batches * s.batch_size


ROUND_ROBIN = Schema([], base=RING, invariants=[batches_are_left])


def batches_fit_stages(s):
    """batches of all stages that add up to max_batches, and n_batches of those that were"""
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
    """as many arms on the ring as the halvings leave, and a batch_size or less a batch"""
    return s.ring_n_arms == s.kept[s.stage] and s.n_pulls <= s.n_batches * s.batch_size


BATCH_HALVING = Schema(
    [integer("stage_batches", 0, "max_batches", shape=("n_deals",)),
     integer("stage", 0, "n_stages"), integer("stage_left", 0, "max_batches"), flag("rng_given")],
    base=RING, invariants=[batches_fit_stages, halvings_leave_ring])


def wells_are_a_batch(s):
    """batch_size wells in counts, and no more than batch_size a batch"""
    return (s.n_batches <= s.max_batches and s.n_pulls <= s.n_batches * s.batch_size
            and (s.k in (0, s.n_arms) or s.counts.sum(dtype=float) == s.batch_size))


BATCH_SCREENING = Schema([integer("counts", 0, "max_repeats", shape=("n_arms",))], base=RING,
                         invariants=[wells_are_a_batch])


def places_are_open(s):
    """accepted arms and n_open places that make k, and arms on the ring, until race_done; then
    k accepted arms, or fewer if arms are silent"""
    if s.race_done:
        return s.accepted.sum() <= s.k and (s.accepted.sum() == s.k or bool(s.aside.any()))
    on_ring = np.isin(np.arange(s.n_arms), s.ring[:s.ring_n_arms])
    return (s.ring_n_arms + s.aside.sum() > 0 and not (s.aside & (on_ring | s.accepted)).any()
            and s.accepted.sum() + s.n_open == s.k
            and not s.accepted[s.ring[:s.ring_n_arms]].any())


def bounds_hold_means(s):
    """no lower bound above its upper one"""
    return bool((s.lower <= s.upper).all())


def thresholds_are_ranks(s):
    """the n_open-th largest lower bound on the ring in reject_below, and the next upper one in
    accept_above, until race_done"""
    if s.race_done:
        return True
    ring = s.ring[:s.ring_n_arms]
    left = np.union1d(ring, np.flatnonzero(s.aside))
    if s.n_open > left.size:
        return False
    lower, upper = (np.sort(np.r_[bounds, np.full(s.k + 2, -np.inf)])[::-1]
                    for bounds in (s.lower[ring], s.upper[left]))
    return (s.reject_below == np.r_[np.inf, lower][s.n_open]
            and s.accept_above == upper[s.n_open])


def batches_are_counted(s):
    """race_batches = n_batches"""
    return s.race_batches == s.n_batches


BATCH_RACING = Schema(
    [number("lower", shape=("n_arms",), nan=False), number("upper", shape=("n_arms",), nan=False),
     integer("n_open", 0, "k"), number("reject_below", nan=False),
     number("accept_above", nan=False), flag("moved"), flag("race_done"),
     integer("race_batches", 0, "n_batches")],
    base=ACCEPTING,
    invariants=[places_are_open, bounds_hold_means, thresholds_are_ranks, batches_are_counted])


def arms_are_left(s):
    """n_left arms on the ring, more than n_open, which with those accepted make k, until
    sar_done; then k accepted arms"""
    if s.sar_done:
        return s.accepted.sum() == s.k
    return (s.n_left == s.ring_n_arms and 0 < s.n_open < s.n_left
            and s.accepted.sum() + s.n_open == s.k)


def pulls_are_removed(s):
    """removed_pulls and those of the arms on the ring that make n_pulls, until sar_done"""
    left = s.ring_rounds * s.ring_n_arms + s.ring_cursor
    return s.sar_done or s.removed_pulls + left == s.n_pulls


def sar_batches_are_counted(s):
    """sar_batches = n_batches, no more than max_batches"""
    return s.sar_batches == s.n_batches <= s.max_batches


BATCH_SAR = Schema(
    [integer("n_left", 0, "n_arms"), integer("n_open", 0, "n_left"),
     integer("removed_pulls", 0, "n_pulls"), integer("sar_batches", 0, "n_batches"),
     flag("sar_done")],
    base=ACCEPTING, invariants=[arms_are_left, pulls_are_removed, sar_batches_are_counted])
