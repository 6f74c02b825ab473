"""Reference implementation of confidence sequences for the mean of values in [0, 1].

A size is N, or None for independent values. Lower bounds are for the mean of `x`; the upper bound
is 1 minus the lower bound of `1 - x`.
"""

import numpy as np

from betting.reference import scaled

TWIN_OF = ("confidence",)  # kernels of csrc

STEPS, FINEST, CAP = 256, 1e-9, 0.9


def bets(n_bets, method):
    """Return geometric bets up to 2, or up to 0.9 for the empirical Bernstein form."""
    return np.geomspace(0.004, 0.9 if method == "empirical-bernstein" else 2.0, n_bets)


def before(x, size):
    """Return, for each t = 1, 2, ..., N/(N-t+1) and the sum of the values before t."""
    t = np.arange(len(x))
    tilt = np.ones(len(x)) if size is None else size / (size - t)
    return tilt, np.concatenate([[0.0], np.cumsum(x)[:-1]])


def excluded(x, mean, size, alpha, mixture):
    """Return True if the wealth ever reached 2/alpha."""
    return bool((scaled.log_wealth(x, mean, mixture, alpha, size) >= np.log(2 / alpha)).any())


def betting(x, size, alpha, mixture):
    """Return running bounds; each candidate lies 1/256 of the width above the lower bound."""
    bounds, candidates = [0.0, 0.0], [0.0, 0.0]
    out = np.empty((len(x), 2))
    sides = (x, 1 - x)
    for t in range(1, len(x) + 1):
        if size is not None:
            bounds = [max(b, s[:t].sum() / size) for b, s in zip(bounds, sides, strict=True)]
        before_item = tuple(bounds)
        for i, side in enumerate(sides):
            bounds[i], candidates[i] = walk(
                side[:t], bounds[i], candidates[i], before_item[1 - i], size, alpha, mixture)
        out[t - 1] = reported(x[:t], bounds, size)
    return out[:, 0], out[:, 1]


def walk(x, bound, candidate, other, size, alpha, mixture):
    """Update one side after one more value; `other` is the other side's bound."""
    while candidate < np.inf:
        crossed = candidate > 0 and excluded(x, candidate, size, alpha, mixture)
        if crossed:
            bound = max(bound, candidate)
        width = 1 - bound - other
        step = max(width / STEPS, FINEST)
        if not crossed and bound < candidate <= bound + 2 * step:
            break
        candidate = bound + step if step < width else np.inf
    return bound, candidate


def reported(x, bounds, size):
    """Return lower and upper bound, moved to the range that the values so far leave possible."""
    low, high = bounds[0], 1 - bounds[1]
    if size is not None:
        least, most = x.sum() / size, 1 - (1 - x).sum() / size
        low, high = min(low, most), max(high, least)
        if len(x) == size:
            low = high = least
    return low, high


def tilted_lower(x, size, alpha, grid, method):
    """Return the running lower bound of the exponential forms after every value."""
    tilt, earlier = before(x, size)
    t = np.arange(len(x))
    centre = np.zeros(len(x)) if size is None else earlier / (size - t)
    stakes = np.multiply.outer(tilt, grid)
    if method == "hoeffding":
        costs = stakes**2 / 8
    else:
        stakes = np.minimum(stakes, CAP)
        guess = (0.5 + earlier) / (t + 1)
        costs = (-np.log1p(-stakes) - stakes) * ((x - guess) ** 2)[:, None]
    gain = np.cumsum(stakes * (x + centre)[:, None] - costs, axis=0)
    clock = np.cumsum(stakes * tilt[:, None], axis=0)
    bounds = [root(a, b, np.log(2 / alpha)) for a, b in zip(gain, clock, strict=True)]
    if size is not None:
        bounds = np.maximum(bounds, np.cumsum(x) / size)
    return np.maximum.accumulate(np.maximum(bounds, 0.0))


def root(gain, clock, level):
    """Return the mu with log mean exp(gain - mu clock) = level, by bisection."""
    low, high = -1e6, 1e6
    for _ in range(100):
        middle = (low + high) / 2
        if np.logaddexp.reduce(gain - middle * clock) - np.log(len(gain)) >= level:
            low = middle
        else:
            high = middle
    return low


def tilted(x, size, alpha, grid, method):
    sides = [tilted_lower(side, size, alpha, grid, method) for side in (x, 1 - x)]
    pairs = [reported(x[:t + 1], (sides[0][t], sides[1][t]), size) for t in range(len(x))]
    return np.array(pairs).T


def asymptotic(x, size, alpha, n_best):
    """Return mean +- std sqrt(2 (n' rho^2 + 1) / (n' rho)^2 log(sqrt(n' rho^2 + 1) / alpha)).

    Waudby-Smith et al. 2021, with n' = n / (1 - n/N).
    """
    log = -2 * np.log(alpha)
    rho2 = (log + np.log1p(log)) / n_best
    out = np.empty((len(x), 2))
    for n in range(1, len(x) + 1):
        mean = x[:n].mean()
        if n == size:
            radius = 0.0
        elif n == 1:
            radius = np.inf
        else:
            clock = n if size is None else n / (1 - n / size)
            radius = x[:n].std(ddof=1) * np.sqrt(
                2 * (clock * rho2 + 1) / (clock**2 * rho2)
                * np.log(np.sqrt(clock * rho2 + 1) / alpha))
        out[n - 1] = mean - radius, mean + radius
    return out[:, 0], out[:, 1]
