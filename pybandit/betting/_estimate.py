"""What the schedule of a budget asks of the rewards: are arms told apart, and was it enough."""

import math

import numpy as np

# A variance of few items is drawn towards that of all, with the weight of so many items.
PRIOR_ITEMS = 4.0
POWER, SCALE = 1.5, 6.5


def reliability(values):
    """Of means of arms, the share of their variance that is not noise; (items, arms)."""
    n_items, n_arms = values.shape
    means = values.mean(axis=0)
    spread = means.var(ddof=1)
    if spread <= 0.0:
        return 0.0
    rest = values - means - values.mean(axis=1, keepdims=True) + values.mean()
    noise = (rest**2).sum() / ((n_arms - 1) * (n_items - 1)) / n_items
    return max(0.0, 1.0 - noise / spread)


def error_odds(blocks, arm, rivals, n_arms, n_items):
    """Odds that a rival's total is above the arm's, from what both were read on."""
    n_read, sums, squares = np.zeros(n_arms, dtype=np.int64), np.zeros(n_arms), np.zeros(n_arms)
    for arms, values in blocks:
        place = int(np.searchsorted(arms, arm))
        if place == arms.size or arms[place] != arm:
            break  # accepted: read no more
        differences = values[:, [place]] - values
        n_read[arms] += len(values)
        sums[arms] += differences.sum(axis=0)
        squares[arms] += (differences**2).sum(axis=0)
    n_rivals, rivals = rivals.size, rivals[n_read[rivals] < n_items]
    if not rivals.size:
        return 0.0
    n, mean = n_read[rivals], sums[rivals] / n_read[rivals]
    variance = np.maximum(squares[rivals] / n - mean**2, 0.0)
    pooled = (variance * n).sum() / n.sum()
    variance = (variance * n + PRIOR_ITEMS * pooled) / (n + PRIOR_ITEMS)
    error = np.sqrt(variance * (1.0 / n - 1.0 / n_items))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(error > 0.0, mean / error, np.where(mean == 0.0, 0.0, np.inf * mean))
    mean_power = sum(_odds(float(each)) ** POWER for each in z) / n_rivals
    return SCALE * mean_power ** (1.0 / POWER)


def _odds(z):
    """Phi(-z) / Phi(z), kept below what its power overflows at."""
    tail = 0.5 * math.erfc(z / math.sqrt(2.0))
    return tail / max(1.0 - tail, 1e-9)
