"""Bets on the rewards of two arms, all of them at hand, as one would write them."""

import math

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

TWIN_OF = ("wagers",)  # kernels of csrc

STAKES = 2.0 ** np.arange(-12, 8)


def logarithm(rewards, mean):
    """Of the wealth of bets that rewards are above a mean, spread evenly over the stakes."""
    factors = (1 + np.outer(STAKES, rewards)) / (1 + STAKES * mean)[:, None]
    return logsumexp(np.log(factors).sum(axis=1)) - math.log(STAKES.size)


def least(a, b, epsilon=0.0):
    """Over all places where the means of a and b may meet, b's epsilon above a's."""
    a, b = np.asarray(a), np.asarray(b)

    def total(mean):
        return logarithm(a, mean) + logarithm(1 - b, 1 - mean - epsilon)

    # unimodal: a sum of convex functions
    found = minimize_scalar(total, bounds=(0, 1 - epsilon), method="bounded",
                            options={"xatol": 1e-12})
    return min(found.fun, total(0.0), total(1 - epsilon))


def margins(rewards, delta, epsilon=0.0):
    """Of the arm of the largest mean against each other; a list of rewards an arm."""
    means = [np.mean(part) if len(part) else -math.inf for part in rewards]
    best = int(np.argmax(means))
    level = math.log(max(len(rewards) - 1, 1) / delta)
    return np.array([math.nan if arm == best else
                     least(rewards[best], part, epsilon) - level if len(part) else -math.inf
                     for arm, part in enumerate(rewards)])
