"""Policies and environments that numba compiles, and the same rules in Python."""

import inspect

import numpy as np

import pybandit as pb
import pybandit.numba


@pybandit.numba.policy
def upper(t, pulls, sums, constant=2.0):
    if t < pulls.size:
        return t
    best, largest = 0, -np.inf
    for arm in range(pulls.size):
        index = sums[arm] / pulls[arm] + np.sqrt(constant * np.log(t + 1) / pulls[arm])
        if index > largest:
            best, largest = arm, index
    return best


@pybandit.numba.policy
def greedy(t, pulls, sums, rng, epsilon):
    if t < pulls.size:
        return t
    if rng.random() < epsilon:
        return rng.integers(0, pulls.size)
    return np.argmax(sums / pulls)


def weigh(arm, reward, weights, shares, rate):
    weights[arm] *= np.exp(rate * reward / (shares[arm] * weights.size))
    weights /= weights.sum()


def heaviest(weights):
    return np.argmax(weights)


def enough(t, budget):
    return t >= budget


@pybandit.numba.policy(tell=weigh, recommend=heaviest, done=enough)
def exp3(rng, weights, shares, rate, budget):
    shares[:] = (1 - rate) * weights / weights.sum() + rate / weights.size
    left = rng.random()
    for arm in range(weights.size - 1):
        left -= shares[arm]
        if left < 0:
            return arm
    return weights.size - 1


def exp3_of(n_arms, budget=150, rng=None):
    return exp3(n_arms, weights=np.ones(n_arms), shares=np.ones(n_arms), rate=0.1, budget=budget,
                rng=rng)


@pybandit.numba.environment
def mixture(arm, rng, means, apart):
    """Draw one of two values, at distances from the mean that depend on `apart`."""
    return means[arm] + (apart[arm] if rng.random() < 0.5 else -apart[arm])


def mixture_of(means, apart=0.5):
    apart = np.full(len(means), apart)
    return mixture(means, apart, apart=apart)


class Mixture(pb.environments.Environment):
    """The numba environment `mixture` in Python."""

    def __init__(self, means, apart=0.5):
        super().__init__(means, apart)
        self.apart = apart

    def pull(self, arms, rng=None):
        return np.array([self.means[arm] + (self.apart if rng.random() < 0.5 else -self.apart)
                         for arm in arms])


class PythonRule(pb.Policy):
    """A policy that calls the functions of a numba policy in Python."""

    def __init__(self, n_arms, functions, options, budget=None):
        super().__init__(n_arms)
        self.functions = {role: one.py_func for role, one in functions.items()}
        self.options = {name: np.copy(value) if isinstance(value, np.ndarray) else value
                        for name, value in options.items()}
        self.budget, self.chosen, self.rng = budget, None, None
        self.sums = np.zeros(n_arms)

    done = property(lambda self: self.budget is not None and self.n_pulls >= self.budget)
    is_endless = property(lambda self: self.budget is None)

    def seed(self, rng):
        self.rng = rng

    def call(self, role, **words):
        words |= dict(t=self.n_pulls, pulls=self.pulls, sums=self.sums, rng=self.rng,
                      n_arms=self.n_arms, **self.options)
        function = self.functions[role]
        return function(*[words[name] for name in inspect.signature(function).parameters])

    def ask(self):
        if self.chosen is None:
            self.chosen = np.array([self.call("ask")], dtype=np.int64)
        return self.chosen

    def tell(self, arms, rewards, missing="raise"):
        super().tell(arms, rewards, missing)
        self.chosen = None
        self.sums[arms] += rewards
        if "tell" in self.functions:
            self.call("tell", arm=int(arms[0]), reward=float(rewards[0]))

    def recommend(self):
        if "recommend" in self.functions:
            return np.array([self.call("recommend")])
        return self._best(np.arange(self.n_arms), 1)


def exp3_in_python(environment):
    n = environment.n_arms
    return PythonRule(n, exp3.functions, dict(weights=np.ones(n), shares=np.ones(n), rate=0.1,
                                              budget=150), budget=150)


def greedy_in_python(environment):
    return PythonRule(environment.n_arms, greedy.functions, dict(epsilon=0.2))


def upper_in_python(environment):
    return PythonRule(environment.n_arms, upper.functions, dict(constant=2.0))
