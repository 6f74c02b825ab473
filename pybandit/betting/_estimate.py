"""Estimates from the rewards of a race with a budget: how reliable they are, and the error.

The error is estimated by a model that is only roughly true. A reward is the effect of
the item, the effect of the arm and normal noise, whose variance is the arm's own; the effects of
arms are normal, as spread as the first reads say. Arms are read on the same items, so only
differences between arms that were read together are informative. An arm that has left is compared
with the others on the items that it was read on, however many of the others are read later.
"""

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

# Reliabilities below and above which the strength of the schedule is 0 and 1.
LOW, HIGH = 0.3, 0.8
# The spread of arms' effects is at least this share of the variance of the first means: differences
# that may be all noise are not taken for none.
LEAST_SHARE = 0.02
# Items that the variance of all arms counts for, beside those of an arm.
PRIOR_ITEMS = 5.0
# Rounds in which the variances of arms and the weighted means of items are found from each other.
N_ROUNDS = 3
N_NODES = 61  # of the integral over the effect of one arm


def reliability(values):
    """The share of the variance of arms' means that is not noise; values are (items, arms)."""
    n_items, n_arms = values.shape
    means = values.mean(axis=0)
    spread = means.var(ddof=1)
    if spread <= 0.0:
        return 0.0
    rest = values - means - values.mean(axis=1, keepdims=True) + values.mean()
    noise = (rest**2).sum() / ((n_arms - 1) * (n_items - 1)) / n_items
    return max(0.0, 1.0 - noise / spread)


def strength_of(values):
    """The strength of the schedule, in [0, 1], given all rewards before the first arm leaves."""
    if len(values) < 2:
        return 0.0
    return min(max((reliability(values) - LOW) / (HIGH - LOW), 0.0), 1.0)


def error_probability(blocks, pulls, answers, rivals, n_items):
    """The approximate probability that a rival's mean is above the mean of one of the answers.

    `blocks` are pairs of arms, increasing, and their rewards (items, arms); the arms of a block
    are among those of the block before. `pulls` are the items read of each arm.
    """
    rivals = rivals[pulls[rivals] < n_items]
    if not rivals.size or not answers.size:
        return 0.0
    groups = by_arms(blocks)
    noise, spread = _variances(groups, pulls.size, n_items)
    if noise is None or noise + spread == 0.0:
        return 1.0 - answers.size / (answers.size + rivals.size)
    effects = _Effects(groups, pulls, max(noise, 1e-12 * spread), spread, n_items)
    right = 1.0
    for arm in answers:
        right *= effects.first(int(arm), rivals)
    return 1.0 - right


def by_arms(blocks):
    """Pairs of arms and the list of all blocks of rewards that were read of these arms."""
    groups = []
    for arms, values in blocks:
        if not groups or groups[-1][0].size != arms.size:
            groups.append((arms, []))
        groups[-1][1].append(values)
    return groups


def _length(parts):
    return sum(len(values) for values in parts)


def _sums(parts, weights):
    """Sums, and sums of squares, of what each arm is above the weighted means of items."""
    sums = squares = 0.0
    for values in parts:
        above = values - (values @ weights)[:, None]
        sums = sums + above.sum(axis=0)
        squares = squares + np.einsum("ij,ij->j", above, above)
    return sums, squares


def _variances(groups, n_arms, n_items):
    """The variance of noise, or None if it is unknown, and the variance of arms' effects."""
    squares, freedom = 0.0, 0
    for arms, parts in groups:
        n = _length(parts)
        total, own = _sums(parts, np.full(arms.size, 1.0 / arms.size))
        squares += float((own - total**2 / n).sum())
        freedom += (n - 1) * (arms.size - 1)
        if arms.size == n_arms:
            first, n_first = total / n, n
    if not freedom:
        return None, 0.0
    noise = max(0.0, squares / freedom)
    seen, of_noise = first.var(ddof=1), noise / n_first
    # means of equal arms over so many items differ by what is noise in these
    least = max(noise / n_items, LEAST_SHARE * seen, 1e-6 * of_noise)
    return noise, max(seen - of_noise, least)


def _precisions(groups, n_arms, noise):
    """One over the variance of each arm's noise: its own residuals and the variance of all."""
    precisions = np.full(n_arms, 1.0 / noise)
    for _ in range(N_ROUNDS):
        own, count = np.zeros((2, n_arms))
        for arms, parts in groups:
            n, weights = _length(parts), precisions[arms] / precisions[arms].sum()
            total, squares = _sums(parts, weights)
            own[arms] += np.maximum(squares - total**2 / n, 0.0)
            count[arms] += (n - 1) * (1.0 - weights)
        precisions = (PRIOR_ITEMS + count) / (PRIOR_ITEMS * noise + own)
    return precisions


class _Effects:
    """The posterior of the arms' effects, less their mean: normal.

    Its precision matrix is ``D - U W U'``: D is diagonal, and U has a column for each group, which
    holds the precisions of the group's arms, and a column of ones, by which the mean of all effects
    is held near 0. Woodbury's identity leaves a system of as many equations as there are groups.
    """

    def __init__(self, groups, pulls, noise, spread, n_items):
        n_arms, n_groups = pulls.size, len(groups)
        self._q = q = _precisions(groups, n_arms, noise)
        self._place = np.full(n_arms, -1)  # the last group that holds the arm
        right, inverse_weights = np.zeros(n_arms), np.empty(n_groups + 1)
        for t, (arms, parts) in enumerate(groups):
            total = q[arms].sum()
            right[arms] += q[arms] * _sums(parts, q[arms] / total)[0]
            inverse_weights[t] = total / _length(parts)
            self._place[arms] = t
        inverse_weights[n_groups] = -0.01 * n_arms * spread
        self._diagonal = d = pulls * q + 1.0 / spread
        later = np.maximum.outer(np.arange(n_groups), np.arange(n_groups))
        matrix = np.diag(inverse_weights)
        matrix[:-1, :-1] -= self._by_group(q * q / d)[later]
        matrix[-1, :-1] = matrix[:-1, -1] = -self._by_group(q / d)
        matrix[-1, -1] -= (1.0 / d).sum()
        self._inverse = np.linalg.inv(matrix)
        self._told = np.sqrt(1.0 - pulls / n_items)  # of an error, what the other items leave
        self._means = self._solve(right)
        self._variances = self._own_variances() * self._told**2

    def _by_group(self, values):
        """The sum of the values of each group's arms."""
        sums = np.bincount(self._place, weights=values, minlength=self._place.max() + 1)
        return np.cumsum(sums[::-1])[::-1]

    def _solve(self, right):
        """The covariance matrix times a vector."""
        x = right / self._diagonal
        y = self._inverse @ np.append(self._by_group(self._q * x), x.sum())
        return x + (self._q * np.cumsum(y[:-1])[self._place] + y[-1]) / self._diagonal

    def _own_variances(self):
        """The diagonal of the covariance matrix."""
        both = np.cumsum(np.cumsum(self._inverse[:-1, :-1], axis=0), axis=1).diagonal()
        one = np.cumsum(self._inverse[-1, :-1])
        shared = (self._q**2 * both[self._place] + 2.0 * self._q * one[self._place]
                  + self._inverse[-1, -1])
        return (1.0 + shared / self._diagonal) / self._diagonal

    def first(self, arm, rivals):
        """The approximate probability that the arm is above all rivals.

        Given the arm's own effect the rivals are taken for independent.
        """
        from scipy.special import log_ndtr

        unit = np.zeros(self._place.size)
        unit[arm] = 1.0
        shared = self._solve(unit)[rivals] * self._told[rivals] * self._told[arm]
        own = self._variances[arm]
        slope = shared / own if own > 0.0 else np.zeros(rivals.size)
        scale = np.sqrt(np.maximum(self._variances[rivals] - slope * shared,
                                   1e-12 * self._variances[rivals]))
        nodes, weights = hermegauss(N_NODES)
        ahead = self._means[arm] - self._means[rivals]
        z = (ahead + np.sqrt(own) * nodes[:, None] * (1.0 - slope)) / scale
        return float(weights @ np.exp(log_ndtr(z).sum(axis=1)) / weights.sum())
