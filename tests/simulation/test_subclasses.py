"""Subclasses of compiled policies: what they say counts, whoever runs them."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pybandit as pb

BANDIT = pb.environments.GaussianBandit([0.0, 5.0, 1.0])


class Careful(pb.Uniform):
    """Its answer depends on the variances."""

    def recommend(self):
        return np.array([np.argmax(self.means - 2 * np.sqrt(self.variances / self.pulls))])


class CarefulInPython(Careful):
    def ask(self):
        return super().ask()


def test_a_recommend_of_its_own_knows_the_variances():
    for make in (Careful, CarefulInPython):
        for given in (make(3, 60), lambda e, make=make: make(3, 60)):
            result = pb.simulate(given, BANDIT, 200, rng=1, checkpoints=[60])
            assert result.error_probability == 0.0 and not result.checkpoint_errors.any()


@pytest.mark.parametrize("environment", [
    BANDIT, pb.environments.BernoulliBandit([0.2, 0.5, 0.4]),
    pb.environments.CostlyBandit(pb.environments.BinomialBandit(9, [0.2, 0.5, 0.4]), 2.0)])
def test_a_metric_sees_the_variances_of_the_rewards(environment):
    """With rewards one by one in either case: the same bits."""
    def spread(policy, environment):
        return policy.variances.sum()

    def total(policy, environment):
        return policy.variances[1]

    compiled, python = (pb.simulate(lambda e, make=make: make(3, 60), environment, 50, rng=1,
                                    metrics=[spread, total]) for make in (pb.Uniform, Careful))
    assert compiled.metrics["spread"].tolist() == python.metrics["spread"].tolist()
    mean = compiled.metrics["total"].mean()
    assert abs(mean / environment.variances[1] - 1.0) < 0.3
