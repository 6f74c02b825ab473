"""Reference implementation of the error estimate: one matrix for all arms, and a plain integral.

A reward is the sum of an effect of the item, an effect of the arm, and noise with a variance per
arm. The effects of arms are normal, with mean 0 over all arms. See pybandit/betting/_estimate.py.
"""

import numpy as np
from scipy.stats import norm

LEAST_SHARE = 0.02


def grouped(blocks):
    """Merge successive blocks that have the same arms."""
    groups = []
    for arms, values in blocks:
        if groups and groups[-1][0].size == arms.size:
            groups[-1][1].extend(values)
        else:
            groups.append((arms, list(values)))
    return [(arms, np.array(values)) for arms, values in groups]


def variances(groups, n_arms, n_items):
    """Return two variances: of the noise, by residuals in each group, and of the arms' effects."""
    squares = freedom = 0.0
    for _, values in groups:
        rest = values - values.mean(axis=0) - values.mean(axis=1)[:, None] + values.mean()
        squares += (rest**2).sum()
        freedom += (values.shape[0] - 1) * (values.shape[1] - 1)
    if not freedom:
        return None, None
    noise, first = squares / freedom, groups[0][1]
    seen = first.mean(axis=0).var(ddof=1)
    return noise, max(seen - noise / len(first), noise / n_items, LEAST_SHARE * seen,
                      1e-6 * noise / len(first))


def precisions(groups, n_arms, noise):
    """Return 1 / noise variance per arm; the pooled variance is added with weight 5 items."""
    q = np.full(n_arms, 1 / noise)
    for _ in range(3):
        own, count = np.zeros(n_arms), np.zeros(n_arms)
        for arms, values in groups:
            share = q[arms] / q[arms].sum()
            rest = values - (values @ share)[:, None]
            own[arms] += ((rest - rest.mean(axis=0)) ** 2).sum(axis=0)
            count[arms] += (len(values) - 1) * (1 - share)
        q = (5 + count) / (5 * noise + own)
    return q


def error_probability(blocks, pulls, answers, rivals, n_items):
    """Return the approximate probability that a rival has a larger mean than one of the answers."""
    rivals = [arm for arm in rivals if pulls[arm] < n_items]
    if not rivals:
        return 0.0
    n_arms, groups = len(pulls), grouped(blocks)
    noise, spread = variances(groups, n_arms, n_items)
    if noise is None:
        return 1 - len(answers) / (len(answers) + len(rivals))
    q = precisions(groups, n_arms, noise)
    precision, told = np.eye(n_arms) / spread + 100 / (n_arms * spread), np.zeros(n_arms)
    for arms, values in groups:
        p = q[arms]
        for row in values:
            precision[np.ix_(arms, arms)] += np.diag(p) - np.outer(p, p) / p.sum()
            told[arms] += p * (row - row @ p / p.sum())
    left = np.sqrt(1 - pulls / n_items)
    means = np.linalg.solve(precision, told)
    covariance = np.linalg.inv(precision) * np.outer(left, left)
    right = 1.0
    for arm in answers:
        right *= first(arm, rivals, means, covariance)
    return 1 - right


def first(arm, rivals, means, covariance):
    """Return the probability that the arm is above rivals that are independent given its effect."""
    own = covariance[arm, arm]
    grid = np.linspace(-8, 8, 4001) * np.sqrt(own)
    chance = norm.pdf(grid, scale=np.sqrt(own)) * (grid[1] - grid[0])
    for rival in rivals:
        slope = covariance[arm, rival] / own
        scale = np.sqrt(covariance[rival, rival] - slope * covariance[arm, rival])
        chance = chance * norm.cdf((means[arm] + grid - means[rival] - slope * grid) / scale)
    return chance.sum()
