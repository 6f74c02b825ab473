"""How values of several estimators combine, and intervals about the result."""

import math

import numpy as np

# The values at which an interval for all times is tightest, as in `confidence_sequence`.
BEST_CLOCK = 1000.0


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


def normal_width(alpha):
    """Half-width of a normal interval, in standard errors."""
    from scipy.special import ndtri

    return -ndtri(0.5 * alpha)


def sequence_width(n, alpha):
    """Half-width after n values of an interval for all times, in standard errors.

    Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Time-uniform central limit theory and
    asymptotic confidence sequences, Theorem 2.2.
    """
    log_term = -2.0 * math.log(alpha)
    scaled = n * (log_term + math.log1p(log_term)) / BEST_CLOCK
    return math.sqrt(2.0 * (scaled + 1.0) / scaled * (0.5 * math.log1p(scaled) - math.log(alpha)))
