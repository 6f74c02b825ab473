"""Bets on counts: what each arm has lost after a batch. Nothing here is changed in place."""

from typing import NamedTuple

import numpy as np

# In units of a reward's range, on the difference of two arms. The best bet is the difference
# over twice the variance: .055 for 4.5 and 5 %, .3 for twice the conversion. Six lose at most
# ln 6, whatever the difference; ten, or one set by what was read, take as many days.
BETS = 0.02 * 2.0 ** np.arange(6)
# of the capital, that a visit may lose
RISK = 0.9


class Batch(NamedTuple):
    """Trials and sums of each arm, int64 and float64; sums as if rewards were in [0, 1]."""

    trials: np.ndarray
    sums: np.ndarray


class Bets(NamedTuple):
    """Where the bets are: of each arm that there is, by its number.

    `logs` has the logarithm of what each bet against an arm has won, shape (n_arms, bets);
    `trials` and `sums` what was counted. `alive` arms are neither dropped nor `retired`.
    """

    logs: np.ndarray
    trials: np.ndarray
    sums: np.ndarray
    alive: np.ndarray
    retired: np.ndarray


def no_bets(n_arms, retired):
    """What a race begins with."""
    return Bets(np.zeros((n_arms, BETS.size)), np.zeros(n_arms, dtype=np.int64),
                np.zeros(n_arms), ~retired, retired)


def with_arm(bets):
    """The same, and one arm more."""
    return Bets(np.vstack([bets.logs, np.zeros(BETS.size)]), np.append(bets.trials, 0),
                np.append(bets.sums, 0.0), np.append(bets.alive, True),
                np.append(bets.retired, False))


def after(bets, batch, threshold):
    """The bets after a batch, and the arms that are left then."""
    logs = bets.logs.copy()
    arms, rivals = _pairs(bets, batch)
    logs[arms] += _won(bets, batch, arms, rivals)
    alive, capital = bets.alive.copy(), capital_of(logs)
    beaten = alive & (capital >= threshold)
    if np.array_equal(beaten, alive):
        # arms that beat each other by turns: one must stay
        beaten[np.argmin(np.where(alive, capital, np.inf))] = False
    return Bets(logs, bets.trials + batch.trials, bets.sums + batch.sums, alive & ~beaten,
                bets.retired)


def capital_of(logs):
    """What all bets against each arm have together, of 1."""
    with np.errstate(over="ignore"):
        return np.exp(logs).mean(axis=1)


def _pairs(bets, batch):
    """The arms that are bet against, and of each the rival: who leads by the batches before."""
    arms = np.flatnonzero(bets.alive & (batch.trials > 0))
    if arms.size < 2 or not bets.trials[arms].any():
        return arms[:0], arms[:0]
    # ties, and arms of which nothing is known, to the lowest number
    means = np.where(bets.trials[arms] > 0,
                     bets.sums[arms] / np.maximum(bets.trials[arms], 1), -1.0)
    order = np.argsort(-means, kind="stable")
    leader, second = arms[order[0]], arms[order[1]]
    return arms, np.where(arms == leader, second, leader)


def _won(bets, batch, arms, rivals):
    """What each bet wins in a batch: shape (arms, bets), logarithms."""
    known = ~bets.retired
    level = bets.sums[known].sum() / max(1, bets.trials[known].sum())
    n, m = batch.trials[arms], batch.trials[rivals]
    # weights that add up to nothing over the visits of both, 1 and -1 where there are as many
    for_rival, for_arm = 2.0 * n / (n + m), -2.0 * m / (n + m)
    worst = np.maximum(for_rival * level, -for_arm * (1.0 - level))
    bet = np.minimum(BETS, (RISK / np.maximum(worst, RISK))[:, None])
    won = 0.0
    for weight, who in ((for_rival, rivals), (for_arm, arms)):
        stake = bet * weight[:, None]
        ones, zeros = batch.sums[who], batch.trials[who] - batch.sums[who]
        won = won + (ones[:, None] * np.log1p(stake * (1.0 - level))
                     + zeros[:, None] * np.log1p(-stake * level))
    return won
