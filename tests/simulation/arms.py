"""Policies and environments shared by the tests of simulations."""

import json

import numpy as np

import pybandit as pb

MEANS = np.linspace(0.0, 1.0, 8)[::-1].copy()
GAUSSIAN = pb.environments.GaussianBandit(MEANS)


def assert_same(one, other):
    """Assert that two results are equal bit for bit."""
    assert json.dumps(one.to_dict()) == json.dumps(other.to_dict())


class InTurn(pb.Policy):
    """Pulls all arms in turn, in plain Python, from a random first arm on."""

    def __init__(self, n_arms, n_batches, k=1):
        super().__init__(n_arms, k)
        self.left, self.first = n_batches, 0

    @property
    def done(self):
        return self.left == 0

    def seed(self, rng):
        self.first = int(rng.integers(self.n_arms))

    def ask(self):
        return (self.first + np.arange(self.n_arms + 1)) % self.n_arms

    def tell(self, arms, rewards, missing="raise"):
        super().tell(arms, rewards, missing)
        self.left -= 1

    def recommend(self):
        return self._best(np.arange(self.n_arms), self.k)


class Says(InTurn):
    """Always recommends the same arms."""

    def __init__(self, n_arms, arms, k=1, n_batches=1):
        super().__init__(n_arms, n_batches, k)
        self.arms = arms

    def recommend(self):
        return self.arms


def make_in_turn(environment):
    return InTurn(environment.n_arms, 5)


FOUR = {"halving": pb.policies.SequentialHalving(8, budget=120),
        "ucb1": lambda e: pb.policies.UCB1(e.n_arms),
        "top two": pb.policies.TopTwo(8), "in turn": make_in_turn}
OPTIONS = dict(max_pulls=120, checkpoints=[45, 90, 120], arm_pulls_by_run=True)


def assert_equal(one, other):
    """Assert that two comparisons are equal bit for bit."""
    assert one.names == other.names and one.options == other.options
    assert one.streams == other.streams
    for name in one:
        assert_same(one[name], other[name])


class Coins(pb.environments.Environment):
    """Bernoulli rewards in plain Python."""

    def __init__(self, means):
        means = np.asarray(means)
        super().__init__(means, np.sqrt(means * (1 - means)))

    def pull(self, arms, rng=None):
        return (rng.random(np.size(arms)) < self.means[arms]) * 1.0


def draw_coins(rng):
    return Coins(rng.random(8))


class Drifting(Coins):
    """Coins whose means go from `first` to `last` within `n_pulls` pulls, and stay there."""

    def __init__(self, first, last, n_pulls):
        super().__init__(first)
        self.ends, self.n_pulls = (np.asarray(first), np.asarray(last)), n_pulls
        self.t = 0

    def means_at(self, t):
        share = min(t / self.n_pulls, 1.0)
        return (1 - share) * self.ends[0] + share * self.ends[1]

    def reset(self):
        self.t = 0

    def pull(self, arms, rng=None):
        self.t += np.size(arms)
        return np.array([self.means_at(self.t - np.size(arms) + j)[arm]
                         for j, arm in enumerate(arms)])
