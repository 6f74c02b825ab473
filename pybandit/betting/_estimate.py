"""What the schedule of a budget asks of the rewards: are arms told apart, and was it enough.

The second is answered by a model that is wrong in details: a reward is an item's effect, an
arm's and normal noise of one variance; of arms' effects it is believed that they are normal,
as spread as the first reads say. Arms are read on the same items, so that only differences
of arms that were read together tell something: an arm that has left is compared with the
rest as well as it was when it left, however much the rest is read afterwards.
"""

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

# Arms' effects are spread at least by this share of the variance of the first means, and of
# what is noise in these: differences that may be all noise are not taken for none.
LEAST_SHARE = 0.02
N_NODES = 61  # of the integral over the effect of one arm


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


def error_probability(blocks, pulls, answers, rivals, n_items):
    """About how probable it is that a rival's mean is above that of one of the answers.

    `blocks` are pairs of arms, increasing, and their rewards (items, arms); every next one
    has no others than the one before. `pulls` are items read of each arm.
    """
    rivals = rivals[pulls[rivals] < n_items]
    if not rivals.size or not answers.size:
        return 0.0
    sums, noise, spread = _summed(blocks, pulls, n_items)
    if noise is None or noise + spread == 0.0:
        return 1.0 - answers.size / (answers.size + rivals.size)
    effects = _Effects(pulls, sums, noise, spread, n_items)
    right = 1.0
    for arm in answers:
        right *= effects.first(int(arm), rivals)
    return 1.0 - right


def _summed(blocks, pulls, n_items):
    """Of each arm the sum of what it is above the others; variances of noise and of effects."""
    sums, squares, freedom = np.zeros(pulls.size), 0.0, 0
    first, n_first = np.zeros(pulls.size), 0
    for arms, values in blocks:
        above = values - values.mean(axis=1, keepdims=True)
        total = above.sum(axis=0)
        sums[arms] += total
        squares += float((above**2).sum() - (total**2).sum() / len(values))
        freedom += (len(values) - 1) * (arms.size - 1)
        if arms.size == pulls.size:
            first += total
            n_first += len(values)
    if not freedom:
        return sums, None, 0.0
    noise = max(0.0, squares / freedom)
    seen, of_noise = (first / n_first).var(ddof=1), noise / n_first
    # means of equal arms over so many items differ by what is noise in these
    least = max(noise / n_items, LEAST_SHARE * seen, 1e-6 * of_noise)
    return sums, noise, max(seen - of_noise, least)


class _Effects:
    """What is believed of the arms' effects, less their mean: normal, of these moments.

    The precision is diagonal less what items tell of their own effects, which is the same
    for all arms that left together: one system of as many equations as there are depths.
    """

    def __init__(self, pulls, sums, noise, spread, n_items):
        noise = max(noise, 1e-12 * spread)
        depths, self._place = np.unique(pulls, return_inverse=True)
        sizes = np.bincount(self._place)
        left = np.cumsum(sizes[::-1])[::-1]
        shared = np.cumsum(np.diff(depths, prepend=0) / left) / noise
        places = np.arange(depths.size)
        # less the arms' mean, of which nothing is known and which is held at 0
        self._shared = shared[np.minimum.outer(places, places)] - 100.0 / (pulls.size * spread)
        self._diagonal = depths / noise + 1.0 / spread
        self._solved = np.linalg.inv(np.diag(self._diagonal) - sizes[:, None] * self._shared)
        self._told = np.sqrt(1.0 - pulls / n_items)  # of an error, what the other items leave
        self._means = self._solve(sums / noise)
        own = (1.0 + np.einsum("ij,ji->i", self._shared, self._solved)) / self._diagonal
        self._variances = own[self._place] * self._told**2

    def _solve(self, right):
        by_place = np.bincount(self._place, weights=right, minlength=self._diagonal.size)
        rest = self._shared @ (self._solved @ by_place)
        return (right + rest[self._place]) / self._diagonal[self._place]

    def first(self, arm, rivals):
        """About how probable it is that the arm is above all rivals.

        Given the arm's own effect they are taken for independent.
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
