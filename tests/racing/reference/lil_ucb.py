"""Reference implementation of the adapted lil'UCB: Chen & Ghahramani 2016, Sec. 3.2."""

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import NamedTuple

import numpy as np

TWIN_OF = ("lil_ucb", "heap")  # kernels of csrc


class Constants(NamedTuple):
    delta: float
    epsilon: float
    beta: float
    lam: float


class Outcome(NamedTuple):
    best: int
    n_pulls: int
    exact: bool


def constants(guarantee, delta, n_states):
    if guarantee == "proven":
        return Constants(delta, 0.01, 1.0, ((2 + 1) / 1) ** 2)
    return Constants(delta / 5, 0.0, 0.5, 1 + 10 / n_states)


def bonus(c, radius, pulls):
    """Return the bonus after `pulls` pulls; 0 if the logarithm is negative."""
    level = math.log(math.log((1 + c.epsilon) * pulls + 2) / c.delta)
    variance = 2 * radius**2 * (1 + c.epsilon) * max(level, 0.0) / pulls
    return (1 + c.beta) * (1 + math.sqrt(c.epsilon)) * math.sqrt(variance)


def lil_ucb(next_reward, n_factors, log_prior, c, radius):
    """Run to the end. ``next_reward(state)`` returns the reward of an unread factor."""
    alive = [i for i in range(len(log_prior)) if log_prior[i] > -math.inf]
    if len(alive) == 1:
        return Outcome(alive[0], 0, True)
    pulls, sums = Counter(), Counter()

    def pull(state):
        sums[state] += next_reward(state)
        pulls[state] += 1

    def upper(state):
        mean = sums[state] / pulls[state] + log_prior[state] / n_factors
        known = pulls[state] == n_factors
        return mean + (0.0 if known else bonus(c, radius, pulls[state]))

    for state in alive:
        pull(state)
    while True:
        total = pulls.total()
        for state in alive:
            if pulls[state] >= 1 + c.lam * (total - pulls[state]):
                return Outcome(state, total, False)
        best = max(alive, key=upper)
        if pulls[best] == n_factors:
            return Outcome(best, total, True)
        pull(best)


def enumerate_law(ones, n_factors, log_prior, c, radius):
    """Return the probability of every Outcome; state i has ``ones[i]`` rewards 1, others 0."""
    orders = [
        [np.isin(np.arange(n_factors), chosen) for chosen in
         itertools.combinations(range(n_factors), n)]
        for n in ones
    ]
    total = math.prod(len(each) for each in orders)
    law = Counter()
    for order in itertools.product(*orders):
        streams = [iter(one.astype(float).tolist()) for one in order]
        outcome = lil_ucb(lambda i, s=streams: next(s[i]), n_factors, log_prior, c, radius)
        law[outcome] += Fraction(1, total)
    return law
