"""Plain versions of bets on two arms, computed from all their rewards."""

import math

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

TWIN_OF = ("wagers",)  # C sources that it checks

STAKES = 2.0 ** np.arange(-12, 8)


def logarithm(rewards, mean):
    """Return the log wealth of bets that rewards exceed `mean`; stakes start with equal wealth."""
    factors = (1 + np.outer(STAKES, rewards)) / (1 + STAKES * mean)[:, None]
    return logsumexp(np.log(factors).sum(axis=1)) - math.log(STAKES.size)


def least(a, b, epsilon=0.0):
    """Return the least log wealth over all means of a, where the mean of b is higher by epsilon."""
    a, b = np.asarray(a), np.asarray(b)

    def total(mean):
        return logarithm(a, mean) + logarithm(1 - b, 1 - mean - epsilon)

    # unimodal: a sum of convex functions
    found = minimize_scalar(total, bounds=(0, 1 - epsilon), method="bounded",
                            options={"xatol": 1e-12})
    return min(found.fun, total(0.0), total(1 - epsilon))


def margins(rewards, delta, epsilon=0.0):
    """Return the margins of the best arm against each other arm, given one reward list per arm."""
    means = [np.mean(part) if len(part) else -math.inf for part in rewards]
    best = int(np.argmax(means))
    level = math.log(max(len(rewards) - 1, 1) / delta)
    return np.array([math.nan if arm == best else
                     least(rewards[best], part, epsilon) - level if len(part) else -math.inf
                     for arm, part in enumerate(rewards)])
