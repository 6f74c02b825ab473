"""What scores of candidates on splits say of both: a Gaussian model of their sum.

score = level + candidate's effect + split's effect + noise. The candidates' effects have the
covariance scale^2 G_l, l a length scale; splits and noise have their shares of scale^2. l and
the shares are those of a small grid that make the scores likeliest, times a mild prior; the
scale is profiled out. O(m^3) for each of some 60 points of the grid, m pulls.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky

LENGTH_SCALES = (0.25, 0.5, 1.0, 2.0)
NOISE_SHARES = (0.003, 0.01, 0.03, 0.1, 0.3)
SPLIT_SHARES = (0.0, 0.03, 0.3)
# log prior of a step away from the middle length scale, in steps squared
LENGTH_PENALTY, NOISE_PENALTY = 0.3, 0.1
PRIOR_PULLS = 2.0  # the weight of scale = deviation of the scores
MOST_PULLS = 300  # by which the grid is judged
LARGEST = 1e100  # of the size of scores that are taken as they are
FLOOR = 3.0  # scores this many times as far below the best as the median count as there


@dataclass(frozen=True)
class ScoreModel:
    """Rewards for a policy, and the kernel and deviations they belong to.

    Attributes
    ----------
    kernel : ndarray, shape (n_arms, n_arms)
    noise_std, prior_std : float
        Of the rewards.
    level, unit : float
        reward = (score - level) / unit - effect of the split.
    floor : float
        Lower scores count as this one.
    split_effects : ndarray, shape (n_splits,)
    rewards : ndarray, shape (n_pulls,)
    """

    kernel: np.ndarray
    noise_std: float
    prior_std: float
    level: float
    unit: float
    floor: float
    split_effects: np.ndarray
    rewards: np.ndarray

    def reward(self, score, split):
        """What one more score is worth to the policy; split -1: a mean over all splits."""
        effect = self.split_effects[split] if split >= 0 else self.split_effects.mean()
        return (max(score, self.floor) - self.level) / self.unit - effect


def fit_scores(arms, splits, scores, n_splits, kernels):
    """The model of these pulls.

    Parameters
    ----------
    arms, splits : ndarray of int64, shape (n_pulls,)
    scores : ndarray of float64, shape (n_pulls,)
        Finite.
    n_splits : int
    kernels : list of ndarray, shape (n_arms, n_arms)
        One for each length scale to try; the middle one is the likeliest beforehand.
    """
    largest = np.abs(scores).max()
    # of what is larger or smaller the squares are none; of the rest not a bit is changed
    size = 1.0 if largest == 0 or 1 / LARGEST < largest < LARGEST else largest
    scores = scores / size
    floor = np.median(scores) - FLOOR * (scores.max() - np.median(scores))
    values = np.maximum(scores, floor)
    level, unit = values.mean(), values.std() or 1.0
    values = (values - level) / unit
    first = slice(MOST_PULLS)
    found = max(((_log_likelihood(arms[first], splits[first], values[first], kernel, *shares)
                  + _log_prior(i, len(kernels), shares[0]), -i, shares)
                 for i, kernel in enumerate(kernels)
                 for shares in itertools.product(NOISE_SHARES, SPLIT_SHARES)))
    kernel, (noise, split) = kernels[-found[1]], found[2]
    solved, square = _solve(arms, splits, values, kernel, noise, split)
    scale = np.sqrt((square + PRIOR_PULLS) / (values.size + PRIOR_PULLS))
    effects = split * np.bincount(splits, solved, minlength=n_splits)
    return ScoreModel(kernel, scale * np.sqrt(noise), scale, level * size, unit * size,
                      floor * size, effects, values - effects[splits])


def _log_prior(i, n_kernels, noise):
    return -(LENGTH_PENALTY * (i - (n_kernels - 1) / 2) ** 2
             + NOISE_PENALTY * np.log(noise / 0.03) ** 2)


def _log_likelihood(arms, splits, values, kernel, noise, split):
    factor = _factor(arms, splits, kernel, noise, split)
    square = values @ cho_solve((factor, True), values)
    return (-np.log(np.diag(factor)).sum()
            - (values.size + PRIOR_PULLS) / 2 * np.log(square + PRIOR_PULLS))


def _solve(arms, splits, values, kernel, noise, split):
    solved = cho_solve((_factor(arms, splits, kernel, noise, split), True), values)
    return solved, values @ solved


def _factor(arms, splits, kernel, noise, split):
    covariance = kernel[np.ix_(arms, arms)] + split * (splits[:, None] == splits)
    covariance[np.diag_indices(arms.size)] += noise
    return cholesky(covariance, lower=True)
