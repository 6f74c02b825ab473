"""Widths of intervals about a combined estimate."""

import math

# The values at which an interval for all times is tightest, as in `confidence_sequence`.
BEST_CLOCK = 1000.0


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
