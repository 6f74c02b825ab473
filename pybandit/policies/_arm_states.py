"""What a saved policy holds: the schema of each class that pulls one arm at a time."""

import numpy as np

from pybandit._shared.checks import MOST_PULLS
from pybandit._shared.schema import Schema, finite, flag, integer, number, stream
from pybandit.policies._kernel_matrix import WIDEST
from pybandit.policies._ring_states import COUNTED, NATIVE


def an_arm_is_chosen(s):
    """no chosen arm before the first pulls, and no more pulls than the limit"""
    return s.n_pulls <= s.limit and (s.n_pulls > 0 or s.chosen < 0)


INDEX = Schema([integer("asked", 0, "n_pulls", shape=("n_arms",)),
                integer("chosen", -1, "last_arm")],
               base=NATIVE, invariants=[an_arm_is_chosen])


def rewards_are_in_range(s):
    """sums of rewards in their range"""
    slack = 1e-6 * (1.0 + np.abs(s.sums))
    return s.highest == np.inf or bool(
        ((s.sums >= -slack) & (s.sums <= s.highest * s.pulls + slack)).all())


UPPER = Schema([flag("is_scaled"), finite("scales", low=5e-324, shape=("n_arms",))],
               base=INDEX, invariants=[rewards_are_in_range])


UGAP = Schema([number("least_bound"), integer("found", -1, "last_arm")], base=INDEX)


def first_pulls_are_asked(s):
    """counts of first pulls that the budget pays, and none once it has begun"""
    if s.n_pulls > s.most:
        return False
    if s.begun:
        return bool((s.aside | (s.pulls >= s.needed)).all())
    if s.aside.all():
        return True
    return s.n_pulls == s.most < MOST_PULLS or 0 < s.counts.sum() <= s.most - s.n_pulls


def leaders_led(s):
    """no more pulls in own than in led, and no more of these than n_pulls"""
    return bool((s.own <= s.led).all()) and s.led.sum(dtype=float) <= s.n_pulls


def a_rule_stops(s):
    """stopped only where there is a rule, after the first pulls, with no doubt left"""
    return not s.stopped or s.has_rule and s.doubt < 0 and (s.begun or s.k in (0, s.n_arms))


STAKES = 2.0 ** np.arange(-12, 8)     # those of wagers.h


def bets_gained(s):
    """gains that rewards in [0, 1] with these sums can have"""
    if not s.n_gains:
        return True
    gains = s.gains.reshape(s.n_arms, 2, -1)
    sums = np.stack([s.sums, s.pulls - s.sums], axis=1)[:, :, None]
    means = np.clip(sums / np.maximum(s.pulls, 1)[:, None, None], 0.0, 1.0)
    slack = 1e-6 * (1.0 + s.pulls)[:, None, None]
    # the logarithm is concave: least where rewards are 0 or 1, most where all are alike
    most = s.pulls[:, None, None] * np.log1p(STAKES * means)
    return bool(((gains >= sums * np.log1p(STAKES) - slack) & (gains <= most + slack)).all())


SEQUENTIAL = Schema(
    [flag("begun"), flag("stopped"), integer("doubt", -1, "last_doubt"),
     integer("leader", 0, "last_arm"), integer("chosen", 0, "last_arm", shape=("n_chosen",)),
     integer("counts", 0, "needed", shape=("n_arms",)), finite("centres", shape=("n_arms",)),
     finite("gains", 0.0, shape=("n_gains",)), number("step", 5e-324, nan=False),
     number("last"), integer("n_equal", 0, "n_pulls")],
    base=NATIVE, invariants=[first_pulls_are_asked, a_rule_stops, bets_gained])
EBTC_STATE = Schema(
    [integer("led", 0, "n_pulls", shape=("n_arms",)),
     integer("own", 0, "n_pulls", shape=("n_arms",)), number("squares", shape=("n_arms",))],
    base=SEQUENTIAL, invariants=[leaders_led])
TRACKING = Schema([finite("owed", 0.0, "n_pulls", shape=("n_arms",))], base=SEQUENTIAL)
TOP_TWO = Schema([flag("rng_given"), stream()], base=SEQUENTIAL)


def fates_leave_places(s):
    """places for undecided arms, which are the first chosen; none decided before it has begun"""
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
    """stopped where all arms are looked for, or none"""
    return s.stopped or s.k not in (0, s.n_arms)


BOUNDS = Schema([], base=SEQUENTIAL, invariants=[all_or_none_are_sure])
UGAP_SURE = Schema([flag("is_top", shape=("n_arms",))], base=BOUNDS,
                   invariants=[k_are_on_top])


def all_names_stop(s):
    """stopped if all arms have a name or are silent, and only then; no name before the first
    pulls"""
    named = (s.names != 0).all() or bool(s.aside.any()) and ((s.names != 0) | s.aside).all()
    return (s.stopped <= named and (s.stopped or bool(s.aside.any()) or not named)
            and (s.begun or not s.names.any()))


GOOD_ARMS = Schema([integer("names", -1, 1, shape=("n_arms",))], base=SEQUENTIAL,
                   invariants=[all_names_stop])


def arms_count_pulls(s):
    """arms that count their pulls"""
    gained, lost = s.arms.T[:2]
    counts = lost if s.law == "gaussian" else gained + lost
    return bool(((lost >= 0.0) & (np.abs(counts - s.pulls) <= 1e-6 * (1 + s.pulls))
                 & ((gained >= 0.0) | (s.law == "gaussian"))).all())


def threshold_was_placed(s):
    """a finite threshold and three numbers of at least 0"""
    return bool(np.isfinite(s.threshold[0]) and (s.threshold[1:] >= 0.0).all())


THOMPSON = Schema(
    [finite("arms", shape=("n_arms", 4)), finite("chances", shape=("n_chances",)),
     number("threshold", shape=(4,), nan=False), integer("age", 0, MOST_PULLS),
     integer("chosen", -1, "last_arm"), integer("n_tries", 0, "n_batches"),
     flag("lacking", shape=("n_arms",)), flag("rng_given"), stream()],
    base=COUNTED, invariants=[arms_count_pulls, threshold_was_placed])


def shares_fill_a_batch(s):
    """shares that add up to a batch where one is drawn, else none"""
    return s.shares.sum(dtype=float) == (s.batch_size if s.chosen >= 0 else 0)


THOMPSON_BATCHES = Schema([integer("shares", 0, "batch_size", shape=("n_arms",))],
                          base=THOMPSON, invariants=[shares_fill_a_batch])


def an_arm_is_chosen_to_the_end(s):
    """a chosen arm until the budget is spent"""
    return s.n_pulls <= s.budget and (s.chosen >= 0) == (s.n_pulls < s.budget)


def variances_are_diagonal(s):
    """posterior_variances on the diagonal of spread, where it is the arms' covariance"""
    diagonal = np.cumsum(np.arange(1, s.n_arms + 1)) - 1
    return s.in_weights or np.array_equal(s.spread[diagonal], s.posterior_variances)


def rewards_are_told(s):
    """as many told rewards as pulls"""
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
