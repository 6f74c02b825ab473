"""Bets on the mean of several estimators, one value and one bet at a time."""

import numpy as np

TWIN_OF = ("stakes",)  # kernels of csrc


def capital(values, weights, estimators, batches, ranges, bets, m, side):
    """Return the largest total wealth after a batch; `ranges` has shape (n_arms, 2)."""
    mine, most = np.ones(len(bets)), float(len(bets))
    for j, (value, weight, k) in enumerate(zip(values, weights, estimators, strict=True)):
        low, high = ranges[k]
        room, gain = (high - m, m - value) if side else (m - low, value - m)
        room = max(room, 2.0**-40 * (high - low))
        mine = mine * (1.0 + np.minimum(np.asarray(bets) * weight, 0.9 / room) * gain)
        if j + 1 == len(values) or batches[j + 1] != batches[j]:
            most = max(most, mine.sum())
    return most


def weights_of(values, estimators, batches, ranges):
    """Return (N + 1) / ((b - a)^2 / 4 + S) of each value's estimator before its batch."""
    values, estimators, batches = map(np.asarray, (values, estimators, batches))
    weights = []
    for k, batch in zip(estimators, batches, strict=True):
        before = values[(estimators == k) & (batches < batch)]
        spread = np.sum((before - before.mean()) ** 2) if before.size else 0.0
        weights.append((before.size + 1) / ((ranges[k][1] - ranges[k][0]) ** 2 / 4 + spread))
    return np.array(weights)
