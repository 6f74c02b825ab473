"""How values of several estimators combine."""

import math

import numpy as np


def pooled(pulls, means, variances):
    """The mean of all values and its standard error."""
    n = pulls.sum()
    if not n:
        return math.nan, math.nan
    estimate = np.nansum(pulls * means) / n
    if (pulls == 1).any():
        return float(estimate), math.nan
    return float(estimate), math.sqrt(np.nansum(pulls * variances)) / n


def inverse_variance(pulls, means, variances, least_values):
    """The mean weighted with 1 / variance, and its standard error.

    Estimators with fewer than `least_values` have no weight; a variance of 0 counts as
    the least positive one.
    """
    counted = pulls >= least_values
    if not counted.any() or not np.nanmax(variances[counted]) > 0.0:
        return pooled(pulls, means, variances)
    pulls, means, variances = pulls[counted], means[counted], variances[counted]
    weights = pulls / np.where(variances > 0.0, variances, variances[variances > 0.0].min())
    return float(weights @ means / weights.sum()), math.sqrt(1.0 / weights.sum())
