"""Which evaluations ahead of the block will be needed: how long will each arm be in the race?

Bets against an arm that is d behind another, with differences of mean square q, grow by
about g = d^2 / 2 q an item in the logarithm, with a variance of 2 g. So it is known about how
probable it is that they have won within so many items. A guess by which nothing but the order
of work goes: bets are played on items in the order that was drawn, whoever was evaluated first.
"""

from typing import NamedTuple

import numpy as np

# What of that growth bets reach, and the chance below which nothing is evaluated ahead: chosen
# by measurement.
REACHED, LEAST = 0.8, 0.7
# Differences believed before the first item: of mean 0, and of this mean square.
BELIEF, SQUARE = 4, 0.25


class Spread(NamedTuple):
    """Of each arm, the sum of squares of its rewards less their item's mean, so many blocks."""

    blocks: int
    squares: np.ndarray

    def after(self, blocks):
        """The same with the blocks since."""
        squares = self.squares.copy()
        for arms, values in blocks[self.blocks:]:
            squares[arms] += ((values - values.mean(axis=1, keepdims=True))**2).sum(axis=0)
        return Spread(len(blocks), squares)


def between(means, waiting, told, spread, k, scale):
    """Arms against their rivals, for `chances`: the k-th by mean, of the first k the next one.

    `waiting` are rewards of later items (items, arms), `spread` sums of squares; in units of
    the range the result has what is known of differences, their squares, those of later items,
    and who waits for whom.
    """
    ranks = np.argsort(-means, kind="stable")
    rivals, sign = np.full(means.size, ranks[k - 1]), np.full(means.size, -1.0)
    rivals[ranks[:k]], sign[ranks[:k]] = ranks[k], 1.0
    return (told * sign * (means - means[rivals]) / scale, (spread + spread[rivals]) / scale**2,
            sign * (waiting - waiting[:, rivals]) / scale,
            ((ranks[k - 1], ranks[k:]), (ranks[k], ranks[:k])))


def chances(places, told, limit, missing, known, squares, early, waits=()):
    """How probable it is that each arm is in the race at each place; (places, arms).

    Parameters
    ----------
    places : ndarray of int64
        Of items, the first ones that are not in the block.
    told : int
        Items told.
    limit : float or float64 (arms,)
        The logarithm of what bets have to win in all.
    missing : float64 (arms,)
        What is missing of that after these items, NaN where it is not known.
    known, squares : float64 (arms,)
        Sums of how far each arm was ahead of its rival on them, or behind, and of squares.
    early : float64 (items, arms)
        The same of later items, NaN where it is not known.
    waits : tuple of (arm, arms)
        Arms that are needed as long as one of others is.
    """
    from scipy.special import ndtr  # not where pybandit is imported

    found = ~np.isnan(early)
    n_known = told + found.sum(axis=0)
    early = np.where(found, early, 0.0)
    gap = np.maximum(0.0, (known + early.sum(axis=0)) / (n_known + BELIEF))
    square = (squares + (early**2).sum(axis=0) + BELIEF * SQUARE) / (n_known + BELIEF)
    growth = REACHED * gap**2 / (2.0 * square)
    missing = np.where(np.isnan(missing), limit - growth * told, missing)
    more = np.maximum(places[:, None] + 1, n_known) - told
    doubt = 1.0 + more / (n_known + BELIEF)  # the gap itself is known from so many items
    made = ndtr((missing - growth * more) / np.sqrt(2.0 * growth * more * doubt + 1e-9))
    for arm, others in waits:
        made[:, arm] = np.maximum(made[:, arm], made[:, others].max(axis=1))
    return made


def first_needed(made, new, n):
    """Row and column of the n new cells of the largest chances; of equal ones the first rows."""
    rows, columns = np.nonzero(new & (made >= LEAST))
    order = np.lexsort((columns, rows, -np.round(made[rows, columns], 2)))[:n]
    return rows[order], columns[order]


def is_enough(made, rows, columns, n):
    """Whether no later row could be among the n that were chosen: chances fall from row to row."""
    last = made[-1].max()
    if rows.size < n:
        return last < LEAST
    return np.round(last, 2) <= np.round(made[rows[-1], columns[-1]], 2)
