"""What a budget's answer says of its error, with a matrix for all arms and a plain integral.

Rewards are the effect of the item, of the arm and noise of one variance; effects of arms are
normal, of mean 0 together. See pybandit/betting/_estimate.py.
"""

import numpy as np
from scipy.stats import norm

LEAST_SHARE = 0.02


def variances(blocks, n_arms, n_items):
    """Of noise, from residuals within each block, and of the arms' effects."""
    squares = freedom = 0.0
    for _, values in blocks:
        rest = values - values.mean(axis=0) - values.mean(axis=1)[:, None] + values.mean()
        squares += (rest**2).sum()
        freedom += (values.shape[0] - 1) * (values.shape[1] - 1)
    if not freedom:
        return None, None
    noise = squares / freedom
    first = np.concatenate([values for arms, values in blocks if arms.size == n_arms])
    seen = first.mean(axis=0).var(ddof=1)
    return noise, max(seen - noise / len(first), noise / n_items, LEAST_SHARE * seen,
                      1e-6 * noise / len(first))


def error_probability(blocks, pulls, answers, rivals, n_items):
    """About how probable it is that a rival's mean is above that of one of the answers."""
    rivals = [arm for arm in rivals if pulls[arm] < n_items]
    if not rivals:
        return 0.0
    n_arms = len(pulls)
    noise, spread = variances(blocks, n_arms, n_items)
    if noise is None:
        return 1 - len(answers) / (len(answers) + len(rivals))
    precision, told = np.eye(n_arms) / spread + 100 / (n_arms * spread), np.zeros(n_arms)
    for arms, values in blocks:
        for row in values:
            precision[np.ix_(arms, arms)] += (np.eye(arms.size) - 1 / arms.size) / noise
            told[arms] += (row - row.mean()) / noise
    left = np.sqrt(1 - pulls / n_items)
    means = np.linalg.solve(precision, told)
    covariance = np.linalg.inv(precision) * np.outer(left, left)
    right = 1.0
    for arm in answers:
        right *= first(arm, rivals, means, covariance)
    return 1 - right


def first(arm, rivals, means, covariance):
    """The chance that the arm is above rivals that are independent given its effect."""
    own = covariance[arm, arm]
    grid = np.linspace(-8, 8, 4001) * np.sqrt(own)
    chance = norm.pdf(grid, scale=np.sqrt(own)) * (grid[1] - grid[0])
    for rival in rivals:
        slope = covariance[arm, rival] / own
        scale = np.sqrt(covariance[rival, rival] - slope * covariance[arm, rival])
        chance = chance * norm.cdf((means[arm] + grid - means[rival] - slope * grid) / scale)
    return chance.sum()
