"""Combine the values of several estimators."""

import math
from typing import NamedTuple

import numpy as np

MOST_WEIGHT = 1e90  # its cube does not overflow


class Combined(NamedTuple):
    """An estimate and the sums that determine its error.

    Attributes
    ----------
    estimate, error : float
        The standard error is NaN if a variance is unknown.
    weights, squares, cubes : ndarray of float64, shape (n_arms,)
        Sums over each estimator's values of their weight, its square and its cube.
    """

    estimate: float
    error: float
    weights: np.ndarray
    squares: np.ndarray
    cubes: np.ndarray


def pooled(pulls, means, variances):
    """Return the mean of all values."""
    counts, n = pulls.astype(float), pulls.sum()
    if not n:
        return Combined(math.nan, math.nan, counts, counts, counts)
    error = math.nan
    if not (pulls == 1).any():
        error = math.sqrt(np.nansum(pulls * variances)) / n
    return Combined(float(np.nansum(pulls * means) / n), error, counts, counts, counts)


def inverse_variance(pulls, means, variances, least_values):
    """Return the mean weighted with 1 / variance.

    Estimators with fewer than `least_values` have no weight, unless all have fewer. A variance
    of 0 is replaced by the smallest positive variance of the estimators with weight.
    """
    counted = pulls >= least_values
    if not counted.any():
        return pooled(pulls, means, variances)
    if not variances[counted].max() > 0.0:
        return pooled(np.where(counted, pulls, 0), means, variances)
    variances = np.where(counted, variances, np.inf)
    least = float(variances[variances > 0.0].min())
    # Scale so that cubes of weights do not overflow in any unit; powers of two do not round.
    scale = math.ldexp(1.0, math.frexp(least)[1])
    each = scale / np.where(variances > 0.0, variances, least)
    weights = pulls * each
    estimate = weights[counted] @ means[counted] / weights.sum()
    return Combined(float(estimate), math.sqrt(scale / weights.sum()), weights, weights * each,
                    weights * each**2)


def predictable(estimate, weights, squares, cubes, variances):
    """Return the mean with weights that depend on earlier values only, from running sums."""
    error = math.sqrt(np.nansum(squares * variances)) / weights.sum()
    return Combined(estimate, error, weights, squares, cubes)
