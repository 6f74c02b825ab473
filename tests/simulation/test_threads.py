"""Runs of every policy in eight threads equal those in one, bit for bit."""

import numpy as np
import pytest

import pybandit as pb

from policies.every_class import EVERY, FAST
from simulation.arms import assert_same
from studies.cases import N

COINS = pb.environments.BernoulliBandit(np.linspace(0.2, 0.8, N))
BANDITS = [COINS, pb.environments.CostlyBandit(COINS, 0.5 + 0.1 * np.arange(N), cost_shape=4.0)]


@pytest.mark.parametrize("name", FAST)
def test_eight_threads_equal_one(name):
    bandit = BANDITS[getattr(EVERY[name](), "costs", None) == "told"]
    one, eight = (pb.simulate(lambda e: EVERY[name](), bandit, 24, rng=5, max_pulls=90, n_threads=n,
                              arm_pulls_by_run=True, answer=[0]) for n in (1, 8))
    assert_same(one, eight)
