"""Reference implementation of races between arms over items with weights.

Each next item is drawn with probability proportional to its weight. Sums are weighted, and the
weight left replaces the number of items left. `race` bets on the leader, and `claims` is the wealth
of every pair. All bets are products of constant bets.
"""

import itertools
from fractions import Fraction

import numpy as np

from betting.reference.betting import bets

TWIN_OF = ("betting", "top_k")  # kernels of csrc


def left_before(weights):
    """Return the weight left before each item; weights, in reading order, are scaled to mean 1."""
    weights = np.asarray(weights, dtype=float) * len(weights) / np.sum(weights)
    return np.append(np.cumsum(weights[::-1])[::-1], 0.0)


def bet(log_capital, stakes, x, expected, tilt):
    """Return the log wealth after a difference x in [-1, 1] with mean at most `expected`."""
    m = (expected + 1) / 2
    if m < -1e-9:
        return np.full_like(log_capital, np.inf)
    if m >= 1:
        return log_capital
    m = max(m, 1e-9)
    return log_capital + np.log1p(np.minimum(stakes * tilt, 0.9 / m) * ((x + 1) / 2 - m))


def race(rewards, weights, delta, n_bets=16):
    """Return the survivors and the number of items read, in order; rewards are in [0, 1]."""
    n_items, n_arms = rewards.shape
    left, stakes = left_before(weights), bets("product", n_bets)
    capital = np.full((n_arms, n_bets), -np.log(n_bets))
    sums, alive = np.zeros(n_arms), list(range(n_arms))
    for t in range(n_items):
        if len(alive) == 1:
            return alive, t
        first = max(alive, key=lambda arm: (sums[arm], -arm))
        second = max((arm for arm in alive if arm != first), key=lambda arm: (sums[arm], -arm))
        for arm in alive:
            rival = second if arm == first else first
            capital[arm] = bet(capital[arm], stakes, rewards[t, rival] - rewards[t, arm],
                               (sums[arm] - sums[rival]) / left[t], n_items / left[t])
        kept = [arm for arm in alive if np.logaddexp.reduce(capital[arm]) < -np.log(delta)]
        sums += (left[t] - left[t + 1]) * rewards[t]
        alive = kept or [first]
    return alive, n_items


def claims(rewards, weights, n_bets=16):
    """Return the log wealth against "b is at least a", for every pair (a, b), after each item."""
    n_items, n_arms = rewards.shape
    left, stakes = left_before(weights), bets("product", n_bets)
    capital = np.full((n_arms, n_arms, n_bets), -np.log(n_bets))
    sums, found = np.zeros(n_arms), np.zeros((n_items, n_arms, n_arms))
    for t in range(n_items):
        for a, b in itertools.permutations(range(n_arms), 2):
            capital[a, b] = bet(capital[a, b], stakes, rewards[t, a] - rewards[t, b],
                                (sums[b] - sums[a]) / left[t], n_items / left[t])
        sums += (left[t] - left[t + 1]) * rewards[t]
        found[t] = np.logaddexp.reduce(capital, axis=2)
    return found


def orders(weights):
    """Yield every order of the items and its probability; weights are integers."""
    for order in itertools.permutations(range(len(weights))):
        chance, rest = Fraction(1), sum(weights)
        for item in order:
            chance *= Fraction(weights[item], rest)
            rest -= weights[item]
        yield order, chance
