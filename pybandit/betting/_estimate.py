"""Estimate the reliability of the rewards of a race with a budget, and its error probability.

The error probability is estimated with a model that is only approximately true. A reward is the
sum of an effect of the item, an effect of the arm, and normal noise with a variance of its own per
arm. The effects of arms are normal. Their variance is that of the arms' means over the items read
with all arms, less the part due to noise. Arms are read on the same items, so only differences
between arms that were read together are informative. An eliminated arm is compared with the others
on the items that it was read on, however many items follow.
"""

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

# Reliabilities below and above which the strength of the schedule is 0 and 1.
LOW, HIGH = 0.3, 0.8
# The variance of arms' effects is at least this share of the variance of the arms' means over the
# items read with all arms, even if all their differences may be noise.
LEAST_SHARE = 0.02
# Weight, in items, of the common variance in the estimate of an arm's own variance.
PRIOR_ITEMS = 5.0
# Iterations that alternate between the variances of arms and the weighted means of items.
N_ROUNDS = 3
N_NODES = 61  # nodes of the integral over the effect of one arm


def reliability(values):
    """Return the share of the variance of arms' means that is not noise; values: (items, arms)."""
    n_items, n_arms = values.shape
    means = values.mean(axis=0)
    spread = means.var(ddof=1)
    if spread <= 0.0:
        return 0.0
    rest = values - means - values.mean(axis=1, keepdims=True) + values.mean()
    noise = (rest**2).sum() / ((n_arms - 1) * (n_items - 1)) / n_items
    return max(0.0, 1.0 - noise / spread)


def strength_of(values):
    """Return the strength of the schedule, in [0, 1], from all rewards before the first drop."""
    if len(values) < 2:
        return 0.0
    return min(max((reliability(values) - LOW) / (HIGH - LOW), 0.0), 1.0)


def error_probability(blocks, pulls, answers, rivals, n_items):
    """Return the approximate probability that some rival has a larger mean than some answer.

    `blocks` are pairs of arms, increasing, and their rewards (items, arms); the arms of a block
    are among those of the block before. `pulls` is the number of items read per arm.
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
    """Return pairs of arms and the list of all blocks of rewards of these arms."""
    groups = []
    for arms, values in blocks:
        if not groups or groups[-1][0].size != arms.size:
            groups.append((arms, []))
        groups[-1][1].append(values)
    return groups


def _length(parts):
    return sum(len(values) for values in parts)


def _sums(parts, weights):
    """Return sums, and sums of squares, of reward minus weighted item mean, per arm."""
    sums = squares = 0.0
    for values in parts:
        above = values - (values @ weights)[:, None]
        sums = sums + above.sum(axis=0)
        squares = squares + np.einsum("ij,ij->j", above, above)
    return sums, squares


def _variances(groups, n_arms, n_items):
    """Return the variance of the noise, or None if unknown, and the variance of arms' effects."""
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
    # the true means of equal arms over n_items items still differ by noise
    least = max(noise / n_items, LEAST_SHARE * seen, 1e-6 * of_noise)
    return noise, max(seen - of_noise, least)


def _precisions(groups, n_arms, noise):
    """Return 1 / (noise variance) per arm, from its residuals and the common variance."""
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
    """The normal posterior distribution of the arms' effects minus their mean.

    Its precision matrix is ``D - U W U'``. D is diagonal. U has one column per group, with the
    precisions of the group's arms, and a column of ones, which keeps the mean of all effects near
    0. By Woodbury's identity this needs one equation per group and one for the mean.
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
        self._told = np.sqrt(1.0 - pulls / n_items)  # finite-population factor
        self._means = self._solve(right)
        self._variances = self._own_variances() * self._told**2

    def _by_group(self, values):
        """Return the sum of the values of each group's arms."""
        sums = np.bincount(self._place, weights=values, minlength=self._place.max() + 1)
        return np.cumsum(sums[::-1])[::-1]

    def _solve(self, right):
        """Return the covariance matrix times a vector."""
        x = right / self._diagonal
        y = self._inverse @ np.append(self._by_group(self._q * x), x.sum())
        return x + (self._q * np.cumsum(y[:-1])[self._place] + y[-1]) / self._diagonal

    def _own_variances(self):
        """Return the diagonal of the covariance matrix."""
        both = np.cumsum(np.cumsum(self._inverse[:-1, :-1], axis=0), axis=1).diagonal()
        one = np.cumsum(self._inverse[-1, :-1])
        shared = (self._q**2 * both[self._place] + 2.0 * self._q * one[self._place]
                  + self._inverse[-1, -1])
        return (1.0 + shared / self._diagonal) / self._diagonal

    def first(self, arm, rivals):
        """Return the approximate probability that the arm's mean is above those of all rivals.

        Given the arm's own effect, the rivals are treated as independent.
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
