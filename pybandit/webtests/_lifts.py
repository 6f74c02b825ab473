"""Intervals of the lift of each arm over the control that hold at every look.

The lift of an arm is its mean over the control's, minus 1. A hypothesis "the lift is at most l in
every batch" says that the control's rewards, multiplied by 1 + l, are at least as good as the
arm's. The bets of `CountRace` are made against it, with the control's rewards multiplied, so days
may differ as they do there. The interval holds all lifts that were never rejected. It contains the
true lift at every look, with probability at least 1 - delta, if the lift is the same in all
batches; and so for all arms together.
"""

import math
from typing import NamedTuple

import numpy as np

from pybandit.betting._count_bets import GRID, LEAST_VARIANCE, RISK, least_growth, log_wealth

N_LIFTS, WIDTH = 81, 8.0  # hypotheses per arm, spread over this many standard errors each way


class Lift(NamedTuple):
    """Lift of an arm over the control after each batch; shapes (batches,).

    `low` and `high` are infinite where the interval is wider than the lifts that were tried.
    """

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray


def lift_of(control, arm, delta, n_arms):
    """Return the `Lift` of an arm over the control; None if there is none to estimate.

    Parameters
    ----------
    control, arm : tuple of ndarray, shape (batches,)
        Trials, sums and sums of squares; rewards in [0, 1].
    delta : float
        For all arms together.
    n_arms : int
        Number of arms, the control included.
    """
    lifts = _tried(control, arm)
    if lifts is None:
        return None
    threshold = math.log(2 * (n_arms - 1) / delta)
    below = rejected(control, arm, lifts) >= threshold  # the lift is larger
    above = rejected(control, arm, lifts, False) >= threshold
    n = below.shape[0]
    # the next lift outwards that is rejected bounds all lifts between two that were tried
    kept = ~(np.maximum.accumulate(below, axis=0) | np.maximum.accumulate(above, axis=0))
    ends = np.full((2, n), [[-np.inf], [np.inf]])
    for batch, row in enumerate(kept):
        inside = np.flatnonzero(row)
        if inside.size and inside[0]:
            ends[0, batch] = lifts[inside[0] - 1]
        if inside.size and inside[-1] < lifts.size - 1:
            ends[1, batch] = lifts[inside[-1] + 1]
    with np.errstate(all="ignore"):
        sums, trials = (np.cumsum([control[at], arm[at]], axis=1) for at in (1, 0))
        means = sums / trials
        return Lift(means[1] / means[0] - 1.0, *ends)


def _tried(control, arm):
    """Return lifts around the observed one, evenly spaced in log(1 + lift); None without sums."""
    logs, variance = [], 0.0
    for trials, sums, squares in (control, arm):
        n, s, q = trials.sum(), sums.sum(), squares.sum()
        if not s > 0:
            return None
        logs.append(math.log(s / n))
        variance += max(q / s / s - 1.0 / n, 1.0 / n / n)
    reach = WIDTH * math.sqrt(variance)
    return np.expm1(np.linspace(logs[1] - logs[0] - reach, logs[1] - logs[0] + reach, N_LIFTS))


def rejected(control, arm, lifts, is_larger=True):
    """Return the log wealth of bets against "the lift is at most l", shape (batches, lifts).

    Without `is_larger`, against "the lift is at least l".
    """
    lifts = np.asarray(lifts, dtype=float)
    factor = 1.0 + lifts
    most = np.maximum(1.0, factor)
    scaled = [(one, one**2) for one in (factor / most, 1.0 / most)]  # of sums and squares
    logs, totals, scale = np.zeros((lifts.size, GRID.size)), np.zeros((3, lifts.size)), None
    wealth = np.zeros((control[0].size, lifts.size))
    for batch, (n, s, q) in enumerate(zip(*(np.transpose([one, two])
                                            for one, two in zip(control, arm, strict=True)),
                                          strict=True)):
        both = [np.stack([s[at] * scaled[at][0], q[at] * scaled[at][1]]) for at in (0, 1)]
        if n.all() and totals[0].any():
            if scale is None:
                scale = _scale(totals, n.mean())
            accused = 0 if is_larger else 1
            logs += _won(n, both, accused, totals, scale)
        totals += [np.full(lifts.size, float(n.sum())), *(both[0] + both[1])]
        wealth[batch] = log_wealth(logs)
    return wealth


def _scale(totals, n):
    """Return the unit of the bets for each lift, as `CountRace` finds it."""
    trials, sums, squares = totals
    variance = (squares + 0.25) / (trials + 1.0) - ((sums + 0.5) / (trials + 1.0)) ** 2
    return 1.0 / np.sqrt(np.maximum(variance, LEAST_VARIANCE) * n)


def _won(n, both, accused, totals, scale):
    """Return the growth of each bet's log wealth in a batch, shape (lifts, bets)."""
    rival = 1 - accused
    level = totals[1] / totals[0]
    for_rival, for_arm = 2.0 * n[accused] / n.sum(), 2.0 * n[rival] / n.sum()
    worst = np.maximum(for_rival * level, for_arm * (1.0 - level))
    bet = np.minimum(scale[:, None] * GRID, (RISK / np.maximum(worst, RISK))[:, None])
    s, q = both[rival]
    up = least_growth(np.full(s.shape, n[rival]), s, q, bet * for_rival, level[:, None])
    s, q = both[accused]
    many = np.full(s.shape, n[accused])
    down = least_growth(many, many - s, many - 2.0 * s + q, bet * for_arm, 1.0 - level[:, None])
    return up + down
