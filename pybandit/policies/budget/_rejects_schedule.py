"""The schedule of SuccessiveRejects."""

import functools
import math

import numpy as np


@functools.lru_cache(maxsize=128)
def rejects_schedule(n_arms, budget):
    """Return n_1 ... n_{K-1} of SuccessiveRejects, in exact arithmetic where rounding matters."""
    harmonic = math.fsum([0.5, *(1.0 / i for i in range(2, n_arms + 1))])
    quotients = (budget - n_arms) / (harmonic * np.arange(n_arms, 1, -1))
    schedule = np.ceil(quotients).astype(np.int64)
    near = np.abs(quotients - np.rint(quotients)) <= 1e-14 * np.maximum(quotients, 1.0)
    if near.any():
        exact = _logbar(n_arms)
        for k in np.flatnonzero(near):
            divisor = exact.numerator * (n_arms - int(k))
            schedule[k] = -((n_arms - budget) * exact.denominator // divisor)
    schedule.flags.writeable = False
    return schedule


@functools.lru_cache(maxsize=8)
def _logbar(n_arms):
    """Return 1/2 + 1/2 + 1/3 + ... + 1/K as a fraction."""
    from fractions import Fraction  # imports decimal, and is rarely needed

    def total(first, after):
        if after - first == 1:
            return Fraction(1, first)
        middle = (first + after) // 2
        return total(first, middle) + total(middle, after)

    return Fraction(1, 2) + (total(2, n_arms + 1) if n_arms > 1 else 0)
