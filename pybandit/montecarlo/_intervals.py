"""Intervals that trust sample variances: how far they may, and how wide they are.

Both are asymptotic. What they are corrected for, and where they say nothing, was chosen by
measuring what they missed: docs/montecarlo.md has the table.
"""

import math
from typing import NamedTuple

import numpy as np

from pybandit._shared.checks import check_choice
from pybandit.montecarlo._weights import MOST_WEIGHT

# The clock at which an interval for all times is tightest, as in `confidence_sequence`.
BEST_CLOCK = 1000.0
# A variance says something from so many values on, the commonest one counted once; from more
# where weights look at the values that they weigh.
LEAST_DIFFERENT, LEAST_DIFFERENT_AHEAD = 10, 50
# Of the weight: an estimator with no more than this may be known as little as it likes.
SMALL_SHARE = 0.01
# The sum of weighted errors is not near normal where its skewness is larger.
MOST_SKEWNESS = 0.15
# Standard deviations whose cubes, of which skewness is made, are numbers.
LEAST_DEVIATION, MOST_DEVIATION = 1e-100, 1e100
NOTHING = (-math.inf, math.inf)
METHODS = ("betting", "asymptotic", "normal")


class Moments(NamedTuple):
    """Moments of each estimator's values; arrays of shape (n_arms,).

    `thirds` are third central moments; `different` counts the values, the commonest one
    once.
    """

    pulls: np.ndarray
    variances: np.ndarray
    thirds: np.ndarray
    different: np.ndarray


def method_of(method, anytime, weights, can_bet):
    """The method that is asked for; by default the one that holds most."""
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
        raise ValueError("value_range must be given for method='betting'; make the allocator with "
                         "the range of its values")
    if method == "asymptotic" and weights == "inverse-variance":
        raise ValueError("anytime must be False with weights='inverse-variance', which look at "
                         "later values; use 'predictable', or value_range and method='betting'")
    return method


def one_look(combined, moments, delta, looks_ahead):
    """The normal interval, for one time, with Student's quantile and for skewness.

    Where weights look ahead, twice their bias ``-sum p_k (1 - p_k) m3_k / (N_k V_k)``
    is added on its side, p_k the share of the weight.
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
    """The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas.

    Time-uniform central limit theory and asymptotic confidence sequences, Theorem 2.2 and
    its extension to martingales: S_t = sum w_s (X_s - mu) stays within
    ``sqrt((V_t + 1 / r) (2 log(1 / delta) + log(V_t r + 1)))`` at all times, V_t the sum of
    the conditional variances ``w_s^2 V``, for any fixed r > 0. The clock is therefore V_t, not
    the number of values: a value of a bad estimator hardly moves it. Its unit, which is 1 / r
    times a constant, is what one value of the best estimator adds. That is estimated too, and
    converges, as no policy here leaves an estimator for good: for V_t, as for the unit, the
    limit is what the theorem asks. Weights are `scale` over a variance; 0: all alike.
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
    """Half-width of an interval for all times, in standard errors."""
    log_term = -2.0 * math.log(delta)
    scaled = clock * (log_term + math.log1p(log_term)) / BEST_CLOCK
    return math.sqrt(2.0 * (scaled + 1.0) / scaled * (0.5 * math.log1p(scaled) - math.log(delta)))


def _weighty(combined):
    total = combined.weights.sum()
    return combined.weights > SMALL_SHARE * total if total > 0.0 else combined.weights > 0.0


def _are_known(combined, moments, counted, least):
    """Whether the variances can be trusted, and the sum of errors be near normal."""
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
                         f"{MOST_DEVIATION:g} for this interval: give them in other units; got "
                         f"{deviations[bad][0]:.3g}")


def _skewness(combined, moments, counted):
    """Of the sum of weighted errors."""
    unit = math.sqrt(moments.variances[counted].max())
    cubes = float(combined.cubes[counted] @ (moments.thirds[counted] / unit**3))
    return cubes / float(combined.squares[counted] @ (moments.variances[counted] / unit**2)) ** 1.5


def _degrees(combined, moments, counted):
    """Of freedom, by Satterthwaite."""
    parts = combined.squares[counted] * moments.variances[counted]
    parts /= parts.max()
    return parts.sum() ** 2 / np.sum(parts**2 / (moments.pulls[counted] - 1))


def _about(combined, moments, counted, width, bias):
    """The estimate -+ so many standard errors; wider on the side that skewness hides.

    By Edgeworth's expansion of Student's ratio, skewness g of the sum asks for
    ``g (1 + 2 width^2) / 6`` standard errors more above where g > 0, below where g < 0.
    """
    more = _skewness(combined, moments, counted) * (1.0 + 2.0 * width**2) / 6.0
    more = more * combined.error - bias
    radius = width * combined.error
    return (float(combined.estimate - radius + min(more, 0.0)),
            float(combined.estimate + radius + max(more, 0.0)))
