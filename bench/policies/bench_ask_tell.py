"""Asking for and reporting one pull from Python, by type of the report: UCB1 with ten arms.

Run with ``make bench``. The first of the group makes two calls that do nothing. The loop in Python
is what a careful user writes with lists; it makes the same pulls.
"""

import math

import numpy as np
import pytest

import pybandit as pb

N_ARMS, N_PULLS = 10, 5000
FORMS = {"array of float64": np.array([0.5]), "list": [0.5], "array of int64": np.array([1]),
         "array of bool": np.array([True]), "array of float32, checked in Python":
         np.array([0.5], dtype=np.float32)}


class Nothing:
    def ask(self):
        pass

    def tell(self, arms, rewards):
        pass


class Plain:
    """Run UCB1 with lists."""

    def __init__(self, n_arms):
        self.pulls, self.sums, self.n_pulls = [0] * n_arms, [0.0] * n_arms, 0

    def index(self, arm):
        n = self.pulls[arm]
        if not n:
            return math.inf
        return self.sums[arm] / n + math.sqrt(2 * math.log(self.n_pulls + 1) / n)

    def ask(self):
        return max(range(len(self.pulls)), key=self.index)

    def tell(self, arm, reward):
        self.pulls[arm] += 1
        self.sums[arm] += reward
        self.n_pulls += 1


def begun():
    policy = pb.policies.UCB1(N_ARMS)
    for _ in range(N_ARMS):
        arms = policy.ask()
        policy.tell(arms, np.full(arms.size, 0.5))
    return policy


@pytest.mark.parametrize("role", ["two calls", *FORMS, "loop in Python"])
def test_one_pull(timed, role):
    reward = FORMS.get(role, 0.5)
    policy = {"two calls": Nothing, "loop in Python": lambda: Plain(N_ARMS)}.get(role, begun)()

    def run():
        ask, tell = policy.ask, policy.tell
        for _ in range(N_PULLS):
            tell(ask(), reward)

    timed("ask for a pull of UCB1 and tell it, 10 arms", role, run, per=N_PULLS, rounds=9)


def test_the_loop_makes_the_same_pulls():
    """Check that UCB1 and the loop in Python make the same pulls."""
    rng, policy, plain = np.random.default_rng(1), pb.policies.UCB1(N_ARMS), Plain(N_ARMS)
    while policy.n_pulls < 500:
        arms = policy.ask()
        rewards = rng.random(arms.size)
        for arm, reward in zip(arms, rewards, strict=True):
            assert plain.ask() == arm
            plain.tell(arm, reward)
        policy.tell(arms, rewards)
