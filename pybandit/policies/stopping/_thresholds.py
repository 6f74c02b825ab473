"""The constant part of a threshold."""

import functools
import math


@functools.lru_cache(maxsize=1024)
def family_level(x):
    """Return 2 T(x) of Kaufmann and Koolen 2021, theorem 7, for laws of one parameter."""
    from scipy.special import zeta

    y = 0.5 * (_inverse(1.0 + x) + math.log(2.0 * zeta(2.0)))
    u = _inverse(y) if y >= 1.0 else 1.0
    if u >= 1.0 / math.log(1.5):
        return 4.0 * math.exp(1.0 / u) * u
    return 6.0 * (y - math.log(math.log(1.5)))


@functools.lru_cache(maxsize=1024)
def independent_level(x):
    """Return y with ``(1 + y) exp(-y) = exp(-x)`` for x >= 0, for two independent arms."""
    return _inverse(1.0 + x) - 1.0


def _inverse(x):
    """Return u >= 1 with u - log u = x, for x >= 1."""
    from scipy.special import lambertw

    if x > 600.0:  # e^-x underflows; the equation is a contraction
        u = x
        for _ in range(50):
            u = x + math.log(u)
        return u
    return float(-lambertw(-math.exp(-x), -1).real)
