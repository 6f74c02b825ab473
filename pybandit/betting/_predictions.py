"""Predictions of rewards from known facts about all items: control variates for the bets."""

from typing import NamedTuple

import numpy as np

from pybandit._shared.checks import check_numeric, refuse_masks
from pybandit._shared.labels import in_order

MOST_COMPONENTS = 16
# Ridge penalties, in items; the mean squares of all components add up to 1.
PENALTIES = np.array([2.0, 8.0, 32.0])
# Predictions are weighted by the covariance that they explained, minus this many standard errors.
DOUBT = 1.0
# Largest allowed prediction, as a share of the range: large ones limit the size of the bets.
MOST = 0.25


def check_known(name, known, n_items):
    """Return a checked copy of the facts about each item, shape (n_items, J)."""
    in_order(name, known, range(n_items), what="the index of the items")
    table = check_numeric(name, refuse_masks(name, known))
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or table.shape[0] != n_items or not table.shape[1]:
        raise ValueError(f"{name} must have one row for each of {n_items} items; got shape "
                         f"{table.shape}")
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(f"{name} must be finite; got {table[row, column]} for item {row} in "
                         f"column {column}")
    return table


def components(table):
    """Return the largest principal components of the standardised columns.

    The squares of an item's components have a mean of 1 in total.
    """
    centred = table - table.mean(axis=0)
    scale = np.sqrt((centred**2).mean(axis=0))
    # a constant column has no information, even if rounding makes it vary
    scale[scale <= 1e-12 * np.abs(table).max(axis=0, initial=0.0)] = np.inf
    with np.errstate(over="ignore"):
        left, sizes, _ = np.linalg.svd(np.nan_to_num(centred / scale), full_matrices=False)
    scores = (left * sizes)[:, :MOST_COMPONENTS]
    total = np.sqrt((scores**2).sum() / len(scores))
    return np.ascontiguousarray(scores / total if total > 0.0 else scores)


class Learned(NamedTuple):
    """Sums over the items read; only differences between arms of `cross` are used."""

    blocks: int
    items: int
    first: np.ndarray   # (q,) sums of components
    gram: np.ndarray    # (q, q) sums of products of components
    cross: np.ndarray   # (q, arms) sums of components times (reward - item mean)
    means: np.ndarray   # (arms,) sums of (reward - item mean)
    agreed: np.ndarray  # (penalties,) sums of predictions times rewards
    square: np.ndarray  # (penalties,) sums of squared predictions
    noise: np.ndarray   # (penalties,) sums of squares of the terms of `agreed`


class Predictor:
    """Predicts the rewards of a block before it is read, by ridge regressions on components.

    The penalty, and a factor that shrinks the predictions, depend on how well earlier
    predictions, made in the same way before their blocks, agreed with the rewards. Until they
    agree, every prediction is 0.
    """

    def __init__(self, known, n_arms, reward_range):
        self._z, self._range = components(known), reward_range
        q, none = self._z.shape[1], np.zeros(PENALTIES.size)
        self._learned = Learned(0, 0, np.zeros(q), np.zeros((q, q)), np.zeros((q, n_arms)),
                                np.zeros(n_arms), none, none, none)

    def _coefficients(self, learned, arms):
        """Return coefficients (penalties, q, arms) in units of the range, up to a common term."""
        n = max(1, learned.items)
        gram = learned.gram - np.outer(learned.first, learned.first) / n
        cross = learned.cross[:, arms] - np.outer(learned.first, learned.means[arms]) / n
        cross = cross - cross.mean(axis=1, keepdims=True)
        return np.linalg.solve(gram + PENALTIES[:, None, None] * np.eye(len(gram)), cross)

    def _after(self, learned, items, arms, values):
        """Return the sums with a block added."""
        z, n = self._z[items], max(1, learned.items)
        rewards = (values - values.mean(axis=1, keepdims=True)) / self._range
        rest = rewards - learned.means[arms] / n
        rest -= rest.mean(axis=1, keepdims=True)
        predicted = (z - learned.first / n) @ self._coefficients(learned, arms)
        agreed = (predicted * rest).sum(axis=2)
        cross, means = learned.cross.copy(), learned.means.copy()
        cross[:, arms] += z.T @ rewards
        means[arms] += rewards.sum(axis=0)
        return Learned(learned.blocks + 1, learned.items + len(items),
                       learned.first + z.sum(axis=0), learned.gram + z.T @ z, cross, means,
                       learned.agreed + agreed.sum(axis=1),
                       learned.square + (predicted**2).sum(axis=(1, 2)),
                       learned.noise + (agreed**2).sum(axis=1))

    def catch_up(self, blocks, order):
        """Add the blocks reported since; each block completely or not at all."""
        for arms, values in blocks[self._learned.blocks:]:
            at = self._learned.items
            self._learned = self._after(self._learned, order[at:at + len(values)], arms, values)

    def predict(self, left, n_rows, arms):
        """Return predictions of n_rows items, and total, highest and lowest of all items left."""
        learned = self._learned
        sure = np.maximum(0.0, learned.agreed - DOUBT * np.sqrt(learned.noise))
        with np.errstate(divide="ignore", invalid="ignore"):
            trust = np.where(sure > 0.0, np.minimum(1.0, sure / learned.square), 0.0)
        best = int((sure * trust).argmax())
        if not trust[best]:
            nothing = np.zeros(arms.size)
            return np.zeros((n_rows, arms.size)), nothing, nothing, nothing
        z = self._z[left]
        predicted = (z - z.mean(axis=0)) @ (trust[best] * self._coefficients(learned, arms)[best])
        predicted = np.clip(predicted, -MOST, MOST, out=predicted) * self._range
        return (np.ascontiguousarray(predicted[:n_rows]), predicted.sum(axis=0),
                predicted.max(axis=0), predicted.min(axis=0))
