"""The parts of a stopping rule's threshold that do not grow: Kaufmann and Koolen 2021."""

import functools
import math


@functools.lru_cache(maxsize=1024)
def gaussian_level(x):
    """2 C(x), C(x) the least (g(l) + x) / l over l in (1/2, 1), their equation 14."""
    from scipy.optimize import minimize_scalar
    from scipy.special import zeta

    def value(ell):
        g = (2 * ell * (1 - math.log(4 * ell)) + math.log(zeta(2 * ell))
             - 0.5 * math.log1p(-ell))
        return (g + x) / ell

    return 2.0 * minimize_scalar(value, bounds=(0.5, 1.0), method="bounded",
                                 options={"xatol": 1e-10}).fun


@functools.lru_cache(maxsize=1024)
def family_level(x):
    """2 T(x), for laws of one parameter, their theorem 7."""
    from scipy.special import zeta

    y = 0.5 * (_inverse(1.0 + x) + math.log(2.0 * zeta(2.0)))
    u = _inverse(y) if y >= 1.0 else 1.0
    if u >= 1.0 / math.log(1.5):
        return 4.0 * math.exp(1.0 / u) * u
    return 6.0 * (y - math.log(math.log(1.5)))


def _inverse(x):
    """The u of at least 1 with u - log u = x, x at least 1."""
    from scipy.special import lambertw

    if x > 600.0:  # e^-x underflows; the equation is a contraction
        u = x
        for _ in range(50):
            u = x + math.log(u)
        return u
    return float(-lambertw(-math.exp(-x), -1).real)
