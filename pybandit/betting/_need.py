"""Estimate which evaluations ahead of the block will be needed, from how long arms survive.

If an arm is d behind another and their differences have mean square q, the log wealth of the
bets against it grows by about g = d^2 / 2 q per item, with a variance of 2 g. This gives the
approximate probability that the bets have won within a number of items. The estimate only
affects the order of evaluations: items are bet on in the order drawn, in any case.
"""

from typing import NamedTuple

import numpy as np

# Share of the growth g that bets reach, and the probability below which nothing is evaluated
# ahead. Both were chosen by measurement.
REACHED, LEAST = 0.8, 0.7
# Prior: number of differences with mean 0, and their mean square.
BELIEF, SQUARE = 4, 0.25


class Spread(NamedTuple):
    """Sums of squares per arm, of reward minus item mean, over the first `blocks` blocks."""

    blocks: int
    squares: np.ndarray

    def after(self, blocks):
        """Return the sums with the later blocks added."""
        squares = self.squares.copy()
        for arms, values in blocks[self.blocks:]:
            squares[arms] += ((values - values.mean(axis=1, keepdims=True))**2).sum(axis=0)
        return Spread(len(blocks), squares)


def between(means, waiting, n_read, spread, k, scale):
    """Return the arguments `known`, `squares`, `early` and `waits` of `chances`.

    The rival of an arm is the k-th arm by mean; the rival of each of the first k arms is the next
    arm. `waiting` are rewards of later items (items, arms), `spread` sums of squares, `n_read` the
    number of items read, `scale` the range.
    """
    ranks = np.argsort(-means, kind="stable")
    rivals, sign = np.full(means.size, ranks[k - 1]), np.full(means.size, -1.0)
    rivals[ranks[:k]], sign[ranks[:k]] = ranks[k], 1.0
    return (n_read * sign * (means - means[rivals]) / scale, (spread + spread[rivals]) / scale**2,
            sign * (waiting - waiting[:, rivals]) / scale,
            ((ranks[k - 1], ranks[k:]), (ranks[k], ranks[:k])))


def chances(places, n_read, limit, missing, known, squares, early, waits=()):
    """Return the probability that each arm survives to each place; shape (places, arms).

    Parameters
    ----------
    places : ndarray of int64
        Places of items in the race's order, from the first one after the block on.
    n_read : int
        Number of items read.
    limit : float or float64 (arms,)
        Log wealth at which an arm is decided.
    missing : float64 (arms,)
        Part of `limit` that is still missing after the items read; NaN if unknown.
    known, squares : float64 (arms,)
        Sums of the differences to the rival on the items read, and of their squares. Differences
        are positive if they are in favour of deciding the arm.
    early : float64 (items, arms)
        Differences on later items; NaN if unknown.
    waits : tuple of (arm, arms)
        `arm` is needed as long as one of `arms` is needed.
    """
    from scipy.special import ndtr  # keeps the import of pybandit fast

    found = ~np.isnan(early)
    n_known = n_read + found.sum(axis=0)
    early = np.where(found, early, 0.0)
    gap = np.maximum(0.0, (known + early.sum(axis=0)) / (n_known + BELIEF))
    square = (squares + (early**2).sum(axis=0) + BELIEF * SQUARE) / (n_known + BELIEF)
    growth = REACHED * gap**2 / (2.0 * square)
    missing = np.where(np.isnan(missing), limit - growth * n_read, missing)
    more = np.maximum(places[:, None] + 1, n_known) - n_read
    doubt = 1.0 + more / (n_known + BELIEF)  # the gap is an estimate from n_known items
    likely = ndtr((missing - growth * more) / np.sqrt(2.0 * growth * more * doubt + 1e-9))
    for arm, others in waits:
        likely[:, arm] = np.maximum(likely[:, arm], likely[:, others].max(axis=1))
    return likely


def first_needed(likely, new, n):
    """Return row and column of the n most probable new cells; ties go to the first rows."""
    rows, columns = np.nonzero(new & (likely >= LEAST))
    order = np.lexsort((columns, rows, -np.round(likely[rows, columns], 2)))[:n]
    return rows[order], columns[order]


def is_enough(likely, rows, columns, n):
    """Return True if no later row could hold one of the n chosen cells: chances decrease by row."""
    last = likely[-1].max()
    if rows.size < n:
        return last < LEAST
    return np.round(last, 2) <= np.round(likely[rows[-1], columns[-1]], 2)
