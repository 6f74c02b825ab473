"""Algorithms as printed in the papers, where that fails: the corrections made and their reasons."""

import math
from fractions import Fraction

import numpy as np

import pybandit as pb

from policies.reference import batch, halving


class Floors(batch.BatchSAR):
    """Jun et al. 2016, Algorithm 3, with floors in place of the ceilings missing in print."""

    def begin(self):
        self.n_tilde, self.r_tilde = max(self.b // self.r, 2), min(self.r, self.b // 2)
        self.step()

    def stage_pulls(self):
        n_left, tail = len(self.alive), range(self.n_tilde + 1, self.n + 1)
        spare = (self.b * self.B - sum(-(-self.b // i) for i in tail)
                 - (self.b + self.n_tilde * self.r_tilde + self.n))
        shares = Fraction(self.n_tilde, 2) + sum(Fraction(1, i) for i in tail)
        return math.ceil(spare / shares / (n_left if n_left > self.n_tilde else 2))


def batches_used(policy):
    rng = np.random.default_rng(1)
    while not policy.done:
        arms = policy.ask()
        policy.tell(arms, rng.normal(np.linspace(0.0, 1.0, policy.n)[arms]))
    return policy.n_batches


def test_floors_exceed_the_number_of_batches():
    problem = dict(improved=False)
    assert batches_used(batch.BatchSAR(10, 5, 19, 2, 58, **problem)) == 56
    assert batches_used(Floors(10, 5, 19, 2, 58, **problem)) == 59


class WideBatches(batch.BatchSAR):
    """Jun et al. 2016, Algorithm 3, with batches of more pulls than all arms allow."""

    def __init__(self, n, k, b, *more, **options):
        self.wanted = b
        super().__init__(n, k, b, *more, **options)

    def begin(self):
        self.b = self.wanted
        super().begin()


def test_batches_larger_than_all_arms_allow_exceed_their_number():
    problem = 4, 1, 10, 1, 20
    assert batches_used(batch.BatchSAR(*problem, improved=False)) == 17
    assert batches_used(WideBatches(*problem, improved=False)) == 46


class Quotients(batch.BatchSAR):
    """Jun et al. 2016, Algorithm 3, with m_s in floating point."""

    def stage_pulls(self):
        n_left, tail = len(self.alive), range(self.n_tilde + 1, self.n + 1)
        spare = (self.b * self.B - sum(-(-self.b // i) for i in tail)
                 - (self.b + self.n_tilde * self.r_tilde + self.n))
        shares = self.n_tilde / 2 + sum(1 / i for i in tail)
        return math.ceil(spare / shares / (n_left if n_left > self.n_tilde else 2))


def test_quotients_that_are_integers_are_one_too_many_in_floating_point():
    problem, ms = (5, 1, 4, 2, 31), []
    for kind in batch.BatchSAR, Quotients:
        policy = kind(*problem, improved=False)
        batches_used(policy)
        ms.append(policy.ms)
    assert ms == [[12, 15, 20, 30], [13, 16, 21, 31]]
    # one pull of each arm per batch: the library needs as many as the exact numbers
    ours, exact = (make(5, 1, 4, 2, 31) for make in (
        lambda n, k, b, r, B: pb.policies.BatchSAR(n, k, batch_size=b, max_batches=B,
                                                   max_repeats=r, improved=False, tie="reject"),
        lambda *given: batch.BatchSAR(*given, improved=False)))
    rng, arms = np.random.default_rng(1), np.linspace(0.0, 1.0, 5)
    while not ours.done:
        asked = ours.ask()
        rewards = rng.normal(arms[asked])
        ours.tell(asked, rewards)
        exact.tell(asked.tolist(), rewards.tolist())
    assert exact.done and ours.n_batches == exact.n_batches


def test_at_most_r_times_lets_an_arm_be_pulled_once_more():
    """Jun et al. 2016, Algorithm 1 has a_l <= r where it needs a_l < r."""
    def printed(active, counts, b, r):
        asked = dict.fromkeys(active, 0)
        for _ in range(min(b, len(active) * r)):
            free = [arm for arm in active if asked[arm] <= r]
            asked[min(free, key=lambda arm: (counts[arm] + asked[arm], arm))] += 1
        return asked

    problem = [0, 1], [5, 0], 4, 2
    assert printed(*problem) == {0: 1, 1: 3}
    assert batch.round_robin(*problem) == [1, 1, 0, 0]


class PrintedSHAdaVar(halving.SHAdaVar):
    """Lalitha et al. 2023, Algorithm 4: arms in turn while t <= |A| (4 log(1 / delta) + 1)."""

    def next_arm(self):
        if self.asked + 1 <= len(self.alive) * (4 * self.level + 1):
            return self.alive[self.asked % len(self.alive)]
        return max(self.alive, key=lambda arm: (self.bound(arm) / self.count(arm), -arm))

    def bound(self, arm):
        rewards = self.in_stage(arm)
        return np.var(rewards, ddof=1) / (1 - 2 * math.sqrt(self.level / (len(rewards) - 1)))


def pulls_of_the_first_stage(kind, seed, n_pulls=200):
    policy, rng = kind(4, 400), np.random.default_rng(seed)
    for _ in range(n_pulls):
        policy.step(lambda arm: rng.normal())
    return policy.pulls


def test_printed_rule_starves_an_arm_one_pull_short():
    """51 of 51.93 pulls in turn give 13, 13, 13 and 12: the last of four equal arms stays at 12."""
    assert pulls_of_the_first_stage(PrintedSHAdaVar, 1, 51) == [13, 13, 13, 12]
    pulls = np.array([pulls_of_the_first_stage(PrintedSHAdaVar, seed) for seed in range(1, 31)])
    assert (pulls[:, 3] == 12).all()
    assert np.abs(pulls[:, :3].mean(axis=0) - 188 / 3).max() < 8
    assert min(pulls_of_the_first_stage(halving.SHAdaVar, 1)) >= 13
