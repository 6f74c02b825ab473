"""The saved state of a policy with a stopping rule."""

import numpy as np

from pybandit._shared.checks import MOST_PULLS
from pybandit._shared.schema import Schema, finite, flag, integer, number
from pybandit.policies.protocol._states import NATIVE


def first_pulls_are_asked(s):
    """counts of first pulls within the budget, and no arm without its first pulls once begun"""
    if s.n_pulls > s.most:
        return False
    if s.begun:
        return bool((s.aside | (s.pulls >= s.needed)).all())
    if s.aside.all():
        return True
    return s.n_pulls == s.most < MOST_PULLS or 0 < s.counts.sum() <= s.most - s.n_pulls


def a_rule_stops(s):
    """a true stopped only with a stopping rule, after the first pulls and without a doubtful arm"""
    return not s.stopped or s.has_rule and s.doubt < 0 and (s.begun or s.k in (0, s.n_arms))


STAKES = 2.0 ** np.arange(-12, 8)     # as in wagers.h


def bets_gained(s):
    """gains that are possible for rewards in [0, 1] with these sums"""
    if not s.n_gains:
        return True
    gains = s.gains.reshape(s.n_arms, 2, -1)
    sums = np.stack([s.sums, s.pulls - s.sums], axis=1)[:, :, None]
    means = np.clip(sums / np.maximum(s.pulls, 1)[:, None, None], 0.0, 1.0)
    slack = 1e-6 * (1.0 + s.pulls)[:, None, None]
    # log(1 + s x) is concave in x: gains are least for rewards of 0 or 1, largest for equal ones
    most = s.pulls[:, None, None] * np.log1p(STAKES * means)
    return bool(((gains >= sums * np.log1p(STAKES) - slack) & (gains <= most + slack)).all())


SEQUENTIAL = Schema(
    [flag("begun"), flag("stopped"), integer("doubt", -1, "last_doubt"),
     integer("leader", 0, "last_arm"), integer("chosen", 0, "last_arm", shape=("n_chosen",)),
     integer("counts", 0, "needed", shape=("n_arms",)), finite("centres", shape=("n_arms",)),
     finite("gains", 0.0, shape=("n_gains",)), number("step", 5e-324, nan=False),
     number("last"), integer("n_equal", 0, "n_pulls")],
    base=NATIVE, invariants=[first_pulls_are_asked, a_rule_stops, bets_gained])
