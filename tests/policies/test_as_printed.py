"""Algorithms as printed in the papers, where that fails: the corrections made and their reasons."""

import math
from fractions import Fraction

import numpy as np

from policies.reference import batch, halving


class Floors(batch.BatchSAR):
    """Jun et al. 2016, Algorithm 3, with floors in place of the ceilings missing in print."""

    def begin(self):
        self.n_tilde, self.r_tilde = max(self.b // self.r, 2), min(self.r, self.b // 2)
        self.step()

    def stage_pulls(self):
        n_left, tail = len(self.alive), range(self.n_tilde + 1, self.n + 1)
        spare = (self.b * self.B - sum(self.b // i for i in tail)
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


class RealThreshold(halving.SHAdaVar):
    """Lalitha et al. 2023, Algorithm 4, with 4 log(1 / delta) + 1 = 12.98 pulls rounded down."""

    def bound(self, arm):
        n = self.count(arm)
        if n < math.floor(4 * self.level + 1):
            return math.inf
        variance = np.var(self.in_stage(arm), ddof=1)
        return variance / (1 - 2 * math.sqrt(self.level / (n - 1)))


def pulls_of_the_first_stage(kind):
    policy, rng = kind(4, 400), np.random.default_rng(1)
    for _ in range(200):
        policy.step(lambda arm: rng.normal())
    return sorted(policy.pulls)


def test_printed_rule_never_pulls_an_arm_one_pull_short():
    """After 12 pulls of each of four equal arms, one arm gets all the rest of 200 pulls."""
    assert pulls_of_the_first_stage(RealThreshold) == [12, 12, 12, 164]
    assert min(pulls_of_the_first_stage(halving.SHAdaVar)) >= 13
