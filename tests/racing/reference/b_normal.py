"""Reference implementation of the boundary constant: Boole's rule on a dense uniform grid.

It shares no method with the kernel. The kernel uses Gauss-Legendre nodes, the secant method and,
for two-sided races, half of the interval by symmetry. This file advances the density of z on
thousands of equally spaced points and finds the root with Brent's method.
"""

import numpy as np
from scipy import optimize, special

TWIN_OF = ("b_normal",)  # kernels of csrc

DEEPEST = -8.5  # P(z < DEEPEST) = 1e-17


def doubling_fractions(first_fraction):
    """Return the fractions read at the partial looks: pi_1, 2 pi_1, ... below 1."""
    fractions = []
    while first_fraction < 1:
        fractions.append(first_fraction)
        first_fraction *= 2
    return np.array(fractions)


def boole_weights(n_panels, step):
    """Return the weights of the composite rule on 4 * n_panels + 1 points, error O(step**6)."""
    weights = np.zeros(4 * n_panels + 1)
    for offset, weight in enumerate([7, 32, 12, 32, 7]):
        weights[offset : offset + 4 * n_panels - 3 : 4] += weight
    return weights * (2 / 45) * step


def crossing_probability(boundary, fractions, convention="one-sided", points_per_sd=50):
    """Return E(B), the probability that a race without a gap errs at a partial look."""
    fractions = np.asarray(fractions, dtype=float)
    if convention == "union":
        return len(fractions) * special.ndtr(-boundary)
    if convention == "two-sided":
        return 0.5 * first_crossing(boundary, -boundary, fractions, points_per_sd)
    return first_crossing(boundary, None, fractions, points_per_sd)


def first_crossing(upper, lower, fractions, points_per_sd):
    """Return P(z_t leaves (lower, upper) at some look): the sum of the mass lost at each look."""
    odds = fractions / (1 - fractions)
    rhos = np.sqrt(odds[:-1] / odds[1:])
    bottom = DEEPEST if lower is None else lower
    narrowest = np.sqrt(1 - np.max(rhos, initial=0) ** 2)
    n_panels = int(np.ceil((upper - bottom) / narrowest * points_per_sd / 4))
    z, step = np.linspace(bottom, upper, 4 * n_panels + 1, retstep=True)
    mass = boole_weights(n_panels, step) * gaussian(z)
    lost = special.ndtr(-upper) + (0 if lower is None else special.ndtr(lower))
    for rho in rhos:
        sd = np.sqrt(1 - rho**2)
        leaving = special.ndtr((rho * z - upper) / sd)
        if lower is not None:
            leaving += special.ndtr((lower - rho * z) / sd)
        lost += mass @ leaving
        kernel = gaussian((z[None, :] - rho * z[:, None]) / sd) / sd
        mass = (mass @ kernel) * boole_weights(n_panels, step)
    return lost


def gaussian(x):
    return np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi)


def boundary(delta, fractions, convention="one-sided", points_per_sd=50):
    """Return the B with E(B) = delta."""
    fractions = np.asarray(fractions, dtype=float)
    low, high = -special.ndtri(delta), -special.ndtri(delta / len(fractions))
    if len(fractions) == 1 or convention == "union":
        return high

    def excess(b):
        return np.log(crossing_probability(b, fractions, convention, points_per_sd) / delta)

    return optimize.brentq(excess, max(low, 1e-9) - 1e-9, high + 1e-9, xtol=1e-12)
