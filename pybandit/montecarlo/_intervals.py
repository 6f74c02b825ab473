"""Intervals based on sample variances: when they may be used, and how wide they are.

Both methods are asymptotic. Their corrections, and the conditions under which they return no
finite interval, were chosen by measuring error rates: docs/montecarlo.md has the table.
"""

import math
from typing import NamedTuple

import numpy as np

from pybandit._shared.checks import check_choice
from pybandit.montecarlo._weights import MOST_WEIGHT

# Clock at which an anytime interval is narrowest, as in `confidence_sequence`.
BEST_CLOCK = 1000.0
# Minimum number of values to trust a variance, where the most frequent value is counted once;
# larger if the weights depend on the values that they weigh.
LEAST_DIFFERENT, LEAST_DIFFERENT_AHEAD = 10, 50
# Estimators with at most this share of the weight are exempt from these conditions.
SMALL_SHARE = 0.01
# If the skewness of the sum of weighted errors is larger, the sum is not taken as normal.
MOST_SKEWNESS = 0.15
# Range of standard deviations whose cubes, used for skewness, neither underflow nor overflow.
LEAST_DEVIATION, MOST_DEVIATION = 1e-100, 1e100
NOTHING = (-math.inf, math.inf)
METHODS = ("betting", "asymptotic", "normal")


class Moments(NamedTuple):
    """Moments of each estimator's values; arrays of shape (n_arms,).

    `thirds` are third central moments. `different` counts the values, the most frequent one
    only once.
    """

    pulls: np.ndarray
    variances: np.ndarray
    thirds: np.ndarray
    different: np.ndarray


def method_of(method, anytime, weights, can_bet):
    """Return the method; the default is the strongest that is available."""
    if method is None:
        if anytime is not False and can_bet:
            method = "betting"
        elif anytime or (anytime is None and weights == "predictable"):
            method = "asymptotic"
        else:
            method = "normal"
    check_choice("method", method, METHODS)
    if anytime is not None and bool(anytime) == (method == "normal"):
        raise ValueError(f"anytime must be {method != 'normal'} with method={method!r}; got "
                         f"{anytime!r}")
    if method == "betting" and not can_bet:
        raise ValueError("value_range must be given for method='betting'; got None. Pass it "
                         "when the allocator is created")
    if method == "asymptotic" and weights == "inverse-variance":
        raise ValueError("anytime must be False with weights='inverse-variance', which depend on "
                         "later values; use 'predictable', or value_range and method='betting'")
    return method


def one_look(combined, moments, delta, looks_ahead):
    """Return the normal interval for one time, with Student's quantile, corrected for skewness.

    If weights depend on the values that they weigh (`looks_ahead`), twice their bias
    ``-sum p_k (1 - p_k) m3_k / (N_k V_k)`` is added on its side; for
    estimator k, p_k is the share of the weight, m3_k the third central moment, N_k the number of
    values and V_k their variance.
    """
    counted = _weighty(combined)
    least = LEAST_DIFFERENT_AHEAD if looks_ahead else LEAST_DIFFERENT
    if not _are_known(combined, moments, counted, least):
        return NOTHING
    from scipy.special import stdtrit

    width = -float(stdtrit(_degrees(combined, moments, counted), 0.5 * delta))
    bias = 0.0
    if looks_ahead:
        shares = combined.weights[counted] / combined.weights[counted].sum()
        bias = -2.0 * float(np.sum(shares * (1.0 - shares) * moments.thirds[counted] /
                                   (moments.pulls * moments.variances)[counted]))
    return _about(combined, moments, counted, width, bias)


def all_times(combined, moments, delta, scale):
    """Return an asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas.

    Time-uniform central limit theory and asymptotic confidence sequences, Theorem 2.2 and
    its extension to martingales: S_t = sum w_s (X_s - mu) stays within
    ``sqrt((V_t + 1 / r) (2 log(1 / delta) + log(V_t r + 1)))`` at all times, where V_t is the sum
    of the conditional variances ``w_s^2 V``, for any fixed r > 0. The clock is therefore V_t, not
    the number of values: a value of a bad estimator hardly moves it. Its unit, which is 1 / r
    times a constant, is the increment by one value of the best estimator. The unit is estimated
    too. It converges because no policy here stops running an estimator for good, and as for V_t
    the theorem only requires the limit. Weights are `scale` over a variance; if `scale` is 0, all
    are equal.
    """
    counted = _weighty(combined)
    if not _are_known(combined, moments, counted, LEAST_DIFFERENT):
        return NOTHING
    variances = moments.variances[counted]
    least = variances.min()
    weight = min(scale / float(least), MOST_WEIGHT) if scale else 1.0
    one_value = weight**2 * least
    clock = float(combined.squares[counted] @ variances) / one_value
    return _about(combined, moments, counted, sequence_width(clock, delta), 0.0)


def sequence_width(clock, delta):
    """Return the half-width of an anytime interval, in standard errors."""
    log_term = -2.0 * math.log(delta)
    scaled = clock * (log_term + math.log1p(log_term)) / BEST_CLOCK
    return math.sqrt(2.0 * (scaled + 1.0) / scaled * (0.5 * math.log1p(scaled) - math.log(delta)))


def _weighty(combined):
    total = combined.weights.sum()
    return combined.weights > SMALL_SHARE * total if total > 0.0 else combined.weights > 0.0


def _are_known(combined, moments, counted, least):
    """Return True if the variances can be trusted and the sum of errors is near normal."""
    if not counted.any() or not combined.error > 0.0:
        return False
    if not (moments.variances[counted] > 0.0).all():
        return False
    _check_units(np.sqrt(moments.variances[counted]))
    if (moments.different[counted] < least).any():
        return False
    return abs(_skewness(combined, moments, counted)) < MOST_SKEWNESS


def _check_units(deviations):
    bad = ~((deviations >= LEAST_DEVIATION) & (deviations <= MOST_DEVIATION))
    if bad.any():
        raise ValueError(f"values must have standard deviations between {LEAST_DEVIATION:g} and "
                         f"{MOST_DEVIATION:g} for this interval: change their units; got "
                         f"{deviations[bad][0]:.3g}")


def _skewness(combined, moments, counted):
    """Return the skewness of the sum of weighted errors."""
    unit = math.sqrt(moments.variances[counted].max())
    cubes = float(combined.cubes[counted] @ (moments.thirds[counted] / unit**3))
    return cubes / float(combined.squares[counted] @ (moments.variances[counted] / unit**2)) ** 1.5


def _degrees(combined, moments, counted):
    """Return the degrees of freedom, by Satterthwaite's approximation."""
    parts = combined.squares[counted] * moments.variances[counted]
    parts /= parts.max()
    return parts.sum() ** 2 / np.sum(parts**2 / (moments.pulls[counted] - 1))


def _about(combined, moments, counted, width, bias):
    """Return the estimate -+ `width` standard errors, widened on one side for skewness.

    By Edgeworth's expansion of Student's ratio, skewness g of the sum requires
    ``g (1 + 2 width^2) / 6`` standard errors more above if g > 0, below if g < 0.
    """
    more = _skewness(combined, moments, counted) * (1.0 + 2.0 * width**2) / 6.0
    more = more * combined.error - bias
    radius = width * combined.error
    return (float(combined.estimate - radius + min(more, 0.0)),
            float(combined.estimate + radius + max(more, 0.0)))
