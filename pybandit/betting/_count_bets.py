"""Bets on counts: the wealth of the bets against each arm after each batch.

Nothing is changed in place.

Bets are in units of `scale`, 1 / sqrt(variance of a reward * trials of an arm). After D batches
of n trials per arm, bet b has a log wealth of about D n (b gap - b**2 variance), where gap is the
difference of the arms' means. The bet that reaches the threshold first in D batches is about 2.4
scale / sqrt(D), so the grid covers D = 4 to 4**21 batches at any traffic. Most weight is on D = 4,
16, 64 and 256.
"""

import math
from typing import NamedTuple

import numpy as np

# fraction of the wealth that one visit may lose
RISK = 0.9
STEPS = np.arange(-9, 21)
GRID = 1.2 * 2.0 ** -STEPS
# the variance is 0 if all rewards are 1/2; the bets are then capped by RISK
LEAST_VARIANCE = 1e-300


def _weights():
    """Return the fixed weights of the bets, which sum to 1."""
    weights = np.where((STEPS >= 0) & (STEPS <= 3), 0.85 / 4, 0.0)
    for away, share in ((-STEPS, 0.05), (STEPS - 3, 0.10)):
        side = away > 0
        tail = 1.0 / (away[side] * (away[side] + 1.0))
        weights[side] = share * tail / tail.sum()
    return weights


WEIGHTS = _weights()


class Batch(NamedTuple):
    """Trials (int64), sums and sums of squares (float64) of each arm; rewards in [0, 1].

    `squares` equals `sums` if squares were not reported: the least favourable case.
    """

    trials: np.ndarray
    sums: np.ndarray
    squares: np.ndarray


class Bets(NamedTuple):
    """State of the bets against each arm, indexed by arm.

    `logs` has the log wealth of each bet, shape (n_arms, bets); `trials`, `sums` and `squares`
    are totals. `alive` arms are neither dropped nor `retired`. `scale` is NaN before the first
    batch with bets.
    """

    logs: np.ndarray
    trials: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    alive: np.ndarray
    retired: np.ndarray
    scale: float


def no_bets(n_arms, retired):
    """Return the bets before the first batch."""
    return Bets(np.zeros((n_arms, GRID.size)), np.zeros(n_arms, dtype=np.int64),
                np.zeros(n_arms), np.zeros(n_arms), ~retired, retired, math.nan)


def with_arm(bets):
    """Return the bets with one more arm."""
    return Bets(np.vstack([bets.logs, np.zeros(GRID.size)]), np.append(bets.trials, 0),
                np.append(bets.sums, 0.0), np.append(bets.squares, 0.0),
                np.append(bets.alive, True), np.append(bets.retired, False), bets.scale)


def after(bets, batch, threshold):
    """Return the bets after a batch; arms whose wealth reaches `threshold` are dropped."""
    logs, scale = bets.logs.copy(), bets.scale
    arms, rivals = _pairs(bets, batch)
    if arms.size:
        if math.isnan(scale):
            scale = _scale(bets, batch.trials[arms])
        logs[arms] += _won(bets, batch, arms, rivals, scale)
    alive, wealth = bets.alive.copy(), log_wealth(logs)
    beaten = alive & (wealth >= math.log(threshold))
    if np.array_equal(beaten, alive):
        # bets may have beaten all arms in turn, but one must stay
        beaten[np.argmin(np.where(alive, wealth, np.inf))] = False
    return Bets(logs, bets.trials + batch.trials, bets.sums + batch.sums,
                bets.squares + batch.squares, alive & ~beaten, bets.retired, scale)


def log_wealth(logs):
    """Return the log of the total wealth of the bets against each arm, which started at 1."""
    top = logs.max(axis=1)
    # not a product of matrices: its rounding depends on the number of arms
    return top + np.log((np.exp(logs - top[:, None]) * WEIGHTS).sum(axis=1))


def _pairs(bets, batch):
    """Return the arms that are bet against, and their rivals: the leader; for it, the second."""
    arms = np.flatnonzero(bets.alive & (batch.trials > 0))
    if arms.size < 2 or not bets.trials[arms].any():
        return arms[:0], arms[:0]
    # ties go to the lowest number; arms without trials come last
    means = np.where(bets.trials[arms] > 0,
                     bets.sums[arms] / np.maximum(bets.trials[arms], 1), -1.0)
    order = np.argsort(-means, kind="stable")
    leader, second = arms[order[0]], arms[order[1]]
    return arms, np.where(arms == leader, second, leader)


def _scale(bets, trials):
    """Return the unit of the bets, which must not depend on the rewards of these `trials`.

    The variance is that of all earlier rewards, with one reward of 1/2 added.
    """
    known = ~bets.retired
    n, s, q = (float(one[known].sum()) for one in (bets.trials, bets.sums, bets.squares))
    variance = (q + 0.25) / (n + 1.0) - ((s + 0.5) / (n + 1.0)) ** 2
    return 1.0 / math.sqrt(max(variance, LEAST_VARIANCE) * trials.mean())


def _won(bets, batch, arms, rivals, scale):
    """Return the growth of each bet's log wealth in a batch, shape (arms, bets)."""
    known = ~bets.retired
    level = bets.sums[known].sum() / max(1, bets.trials[known].sum())
    n, m = batch.trials[arms], batch.trials[rivals]
    # weights that add up to 0 over the visits of both arms: 1 and -1 if their counts are equal
    for_rival, for_arm = 2.0 * n / (n + m), 2.0 * m / (n + m)
    worst = np.maximum(for_rival * level, for_arm * (1.0 - level))
    bet = np.minimum(scale * GRID, (RISK / np.maximum(worst, RISK))[:, None])
    trials, sums, squares = batch
    up = least_growth(trials[rivals], sums[rivals], squares[rivals],
                      bet * for_rival[:, None], level)
    # a bet on 1 - x for the arm itself
    down = least_growth(trials[arms], trials[arms] - sums[arms],
                        trials[arms] - 2.0 * sums[arms] + squares[arms],
                        bet * for_arm[:, None], 1.0 - level)
    return up + down


def least_growth(n, s, q, stake, level):
    """Return the least sum of log(1 + stake (x - level)) over n rewards with these sums.

    Parameters
    ----------
    n, s, q : ndarray, shape (arms,)
        Number of rewards x in [0, 1], their sum and the sum of their squares.
    stake : ndarray, shape (arms, bets)
        At least 0.
    level : float

    Returns
    -------
    ndarray, shape (arms, bets)

    Notes
    -----
    The minimum is attained by k rewards of q / s and n - k of 0, with k = s**2 / q. Let
    f(x) = log(1 + stake (x - level)), so that f''' > 0. The quadratic that agrees with f at 0,
    and with f and f' at q / s, is at most f on [0, 1]. Its sum depends on n, s and q only.
    """
    q = np.clip(q, s * s / np.maximum(n, 1), s)  # rounding may leave the range
    at = np.divide(q, s, out=np.ones(s.shape), where=s > 0)
    k = np.minimum(np.divide(s, at, out=np.zeros(s.shape), where=at > 0), n)
    return (k[:, None] * np.log1p(stake * (at[:, None] - level))
            + (n - k)[:, None] * np.log1p(-stake * level))


def played(n_first, batches, late, retired, threshold):
    """Return the bets after all batches; `late` has the number of batches before each late arm."""
    bets, late = no_bets(n_first, np.zeros(n_first, dtype=bool)), list(late)
    for number, batch in enumerate(batches):
        while late and late[0] == number:
            bets, late = with_arm(bets), late[1:]
        bets = after(_without(bets, retired), batch, threshold)
    for _ in late:
        bets = with_arm(bets)
    return _without(bets, retired)


def _without(bets, retired):
    """Return the bets with exactly these arms retired."""
    gone = np.isin(np.arange(bets.alive.size), list(retired))
    return bets._replace(alive=bets.alive & ~gone, retired=gone)
