"""Gaussian model of the scores of candidates on splits.

score = level + candidate effect + split effect + noise. The candidate effects have the
covariance scale^2 G_l, where G_l is the kernel matrix with length scale l; split effects and noise
have variances that are shares of scale^2. l and the shares maximise the likelihood times a weak
prior over a small grid; the scale is profiled out. O(m^3) for each of the 60 points of the grid,
for m pulls.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky

LENGTH_SCALES = (0.25, 0.5, 1.0, 2.0)
NOISE_SHARES = (0.003, 0.01, 0.03, 0.1, 0.3)
SPLIT_SHARES = (0.0, 0.03, 0.3)
# log prior: penalty per squared step from the middle length scale, and per squared log noise
LENGTH_PENALTY, NOISE_PENALTY = 0.3, 0.1
PRIOR_PULLS = 2.0  # the prior scale, that of the scores, has the weight of this many pulls
MOST_PULLS = 300  # maximum number of pulls used to choose from the grid
LARGEST = 1e100  # scores are rescaled if their size exceeds this or is below its inverse
FLOOR = 3.0  # lower limit of scores: this many times (best - median) below the median


@dataclass(frozen=True)
class ScoreModel:
    """Rewards for a policy, with their kernel and standard deviations.

    Attributes
    ----------
    kernel : ndarray, shape (n_arms, n_arms)
    noise_std, prior_std : float
        Standard deviations of the rewards' noise and prior.
    level, unit : float
        reward = (score - level) / unit - effect of the split.
    floor : float
        Lower scores are replaced by this value.
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
        """Return the reward for another score; with split -1, the score is a mean over splits."""
        effect = self.split_effects[split] if split >= 0 else self.split_effects.mean()
        return (max(score, self.floor) - self.level) / self.unit - effect


def fit_scores(arms, splits, scores, n_splits, kernels):
    """Fit the model to these pulls.

    Parameters
    ----------
    arms, splits : ndarray of int64, shape (n_pulls,)
    scores : ndarray of float64, shape (n_pulls,)
        Finite.
    n_splits : int
    kernels : list of ndarray, shape (n_arms, n_arms)
        One per length scale to try; the middle one has the highest prior.
    """
    largest = np.abs(scores).max()
    # rescale only scores whose squares would overflow or underflow
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
