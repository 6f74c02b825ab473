"""Find the truncated normal distribution with a given mean and variance."""

import numpy as np

# standard deviations from the mean beyond which a log-concave density is negligible
FAR = 45.0
# quadrature: pieces of an interval, and Gauss-Legendre nodes in each
PIECES, NODES = 20, 15


def _on(low, high):
    """Return nodes and weights of a quadrature from `low` to `high`."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half = (high - low) / PIECES / 2
    centres = low + half * (1 + 2 * np.arange(PIECES))
    return np.add.outer(centres, half * nodes).ravel(), np.tile(half * weights, PIECES)


def largest_variance(mean, low, high):
    """Return the variance of the exponential (or uniform) distribution on [low, high] with this
    mean, which is the supremum for truncated normal distributions."""
    from scipy.optimize import brentq

    unit = min(mean - low, high - mean)
    x, weights = _on(0.0, min((high - low) / unit, FAR))

    def moments(rate):
        density = weights * np.exp(-rate * x)
        first, second = density @ x / density.sum(), density @ x**2 / density.sum()
        return first, second - first**2

    if moments(0.0)[0] <= 1.0:
        return (high - low) ** 2 / 12
    return unit**2 * moments(brentq(lambda rate: moments(rate)[0] - 1.0, 0.0, 2.0, xtol=1e-14))[1]


def natural_parameters(mean, variance, low, high):
    """Return (slope, curve): the density is exp(slope z - curve z^2), z = (x - mean) / deviation.

    In an exponential family the log of the normalising constant is convex with the moments as
    gradient, so Newton's method is used, with steps halved until the objective decreases.
    """
    deviation = np.sqrt(variance)
    z, weights = _on(max((low - mean) / deviation, -FAR), min((high - mean) / deviation, FAR))
    features, wanted = np.stack([z, -z**2]), np.array([0.0, -1.0])

    def evaluate(theta):
        exponent = theta @ features
        density = weights * np.exp(exponent - exponent.max())
        total = density.sum()
        return exponent.max() + np.log(total) - theta @ wanted, density / total

    theta = np.array([0.0, 0.5])
    value, density = evaluate(theta)
    for _ in range(200):
        moments = features @ density
        spread = features - moments[:, None]
        step = np.linalg.solve((density * spread) @ spread.T, wanted - moments)
        if abs(step @ (wanted - moments)) < 1e-26:
            break
        size = 1.0
        while size > 1e-12:
            ahead, ahead_density = evaluate(theta + size * step)
            if ahead <= value + 1e-15 * abs(value):
                break
            size /= 2
        theta, value, density = theta + size * step, ahead, ahead_density
    return theta
