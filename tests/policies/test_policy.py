"""Policies of one's own, in Python."""

import numpy as np
import pytest

import pybandit as pb

from policies.protocol import play


class Uniform(pb.Policy):
    """One batch of four pulls of each arm."""

    done = property(lambda self: self.n_batches > 0)

    def ask(self):
        return np.repeat(np.arange(self.n_arms), 4)

    def recommend(self):
        return np.argsort(-np.nan_to_num(self.means), kind="stable")[:self.k]


def test_a_policy_of_ones_own():
    bandit = pb.environments.GaussianBandit([0.0, 2.0, 1.0], 1e-6)
    policy = Uniform(3, 2)
    assert not policy.done and (policy.n_arms, policy.k) == (3, 2)
    policy.tell(policy.ask(), bandit.pull(policy.ask(), 1))
    assert policy.done and policy.recommend().tolist() == [1, 2]
    result = pb.simulate(lambda environment: Uniform(3, 2), bandit, 5, rng=1)
    assert not result.errors.any() and result.pulls.tolist() == [12] * 5


def test_what_a_policy_must_define():
    class Nothing(pb.Policy):
        pass

    policy = Nothing(3)
    for act in (lambda: policy.done, policy.ask, policy.recommend,
                lambda: policy.tell([0], [0.5])):
        with pytest.raises(NotImplementedError, match="Nothing must define"):
            act()
    for bad, word in ((0, 1), "n_arms"), ((3, 4), "k"), ((3, -1), "k"):
        with pytest.raises(ValueError, match=word):
            Nothing(*bad)


def test_a_subclass_of_a_policy():
    class Counted(pb.BatchSAR):
        asked = 0

        def ask(self):
            self.asked += 1
            return super().ask()

    table = np.linspace(0, 1, 12)[:, None] + np.random.default_rng(5).random((12, 11)) / 8
    policy, log = play(Counted(12, 3, 7, 15, 2), pb.environments.TableBandit(table))
    straight, same = play(pb.BatchSAR(12, 3, 7, 15, 2), pb.environments.TableBandit(table))
    assert log == same and policy.asked >= len(log)
    assert np.array_equal(policy.recommend(), straight.recommend())
