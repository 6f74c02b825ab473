"""Invalid pairs of policies and environments, and invalid return values."""

import copy
import pickle

import numpy as np
import pytest

import pybandit as pb
from pybandit.environments import (
    BernoulliBandit,
    BinomialBandit,
    CostlyBandit,
    EmpiricalBandit,
    Environment,
    GaussianBandit,
    ScaledBernoulliBandit,
    TableBandit,
    TruncatedNormalBandit,
    UniformBandit,
)

TABLE = TableBandit([[0.1, 0.2]] * 5)


@pytest.mark.parametrize("make",
                         [lambda e: pb.policies.Uniform(50, budget=100),
                          lambda e: pb.policies.UCB1(3),
                          lambda e: pb.Policy(50)])
def test_policy_with_other_arms_raises(make):
    with pytest.raises(ValueError, match="policy must have the 5 arms of the environment; got one"):
        pb.simulate(make, TABLE, 3, max_pulls=100)


@pytest.mark.parametrize("n_threads", [1, 2, 8])
@pytest.mark.parametrize("batches", [0, 1])
def test_reused_policy_raises(n_threads, batches):
    """A policy that was used before or is returned again raises; in threads it must not crash."""
    policy = pb.policies.BatchHalving(2000, 3, batch_size=2000, max_batches=40)
    for _ in range(batches):
        policy.tell(policy.ask(), np.zeros(2000))
    with pytest.raises(ValueError, match="must return a (fresh|new) policy in every run"):
        pb.simulate(lambda e: policy, GaussianBandit(np.zeros(2000)), 20, n_threads=n_threads)


def test_other_objects_raise():
    for factory, environment, words in [
            (lambda e: 3, TABLE, "policy must return a policy"),
            (3, TABLE, "policy must be a policy or a function of an environment; got 3"),
            (lambda e: pb.policies.UCB1(3), 3, "environment must be an Environment"),
            (lambda e: pb.policies.UCB1(3), lambda rng: 3, "environment must have pull")]:
        with pytest.raises(TypeError, match=words):
            pb.simulate(factory, environment, 2, max_pulls=9)


def test_classes_raise_and_the_message_shows_the_call():
    for cls, call in ((pb.policies.SequentialHalving, r"SequentialHalving\(3, budget=...\)"),
                      (pb.policies.UCB1, r"UCB1\(3\)"),
                      (pb.policies.BatchSAR, r"BatchSAR\(3, batch_size=..., max_batches=...\)")):
        bandit = pb.environments.TableBandit([[0.0], [1.0], [2.0]])
        words = (f"must be an object or a function of an environment; got the class "
                 f"{cls.__name__}: call it, {call}$")
        with pytest.raises(TypeError, match="policy " + words):
            pb.simulate(cls, bandit, 10)
        with pytest.raises(TypeError, match=r"policies\['it'\] " + words):
            pb.compare({"it": cls}, bandit, 10)


class Mine(Environment):
    """An environment with any return value of `pull`."""

    def __init__(self, rewards):
        super().__init__([0.0, 1.0], 1.0)
        self.rewards = rewards

    def pull(self, arms, rng=None):
        return self.rewards(arms)


@pytest.mark.parametrize("rewards, words", [
    (lambda arms: np.zeros(arms.size + 1),
     r"must have shape \(2,\), one value per pull; got shape \(3,\)"),
    (lambda arms: 0.5, r"must have shape \(2,\), one value per pull; got shape \(\)"),
    (lambda arms: np.full(arms.size, np.nan), "must be finite; got nan"),
    (lambda arms: np.full(arms.size, np.inf), "must be finite; got inf"),
    (lambda arms: np.ma.array(np.zeros(2), mask=True), "must be finite; got nan"),
    (lambda arms: ["a"] * arms.size, "must hold real numbers"),
    (lambda arms: None, "must hold real numbers")])
def test_invalid_rewards_raise(rewards, words):
    with pytest.raises((ValueError, TypeError), match=f"pull of Mine returns {words}"):
        pb.simulate(lambda e: pb.policies.UCB1(2), Mine(rewards), 2, max_pulls=9)


@pytest.mark.parametrize("costs, words", [
    (np.array([3.0, 4.0, 5.0]), r"must have shape \(2,\); got shape \(3,\)"),
    (np.array([3.0]), r"must have shape \(2,\); got shape \(1,\)"),
    (3.0, r"must have shape \(2,\); got shape \(\)"),
    (np.array([1.0, np.nan]), "must be finite and at least 0; got nan at index 1"),
    (np.array([1.0, -2.0]), "must be finite and at least 0; got -2.0 at index 1"),
    (["a", "b"], "must hold real numbers")])
@pytest.mark.parametrize("base", [Mine, TableBandit])
def test_invalid_costs_raise(base, costs, words):
    """Costs of the wrong length must raise a ValueError."""
    Dear = type("Dear", (base,), {"costs": costs})
    environment = Dear(np.zeros_like) if base is Mine else Dear([[0.0], [1.0]])
    for pull in (
            lambda: environment.pull_with_costs(np.array([0, 0])),
            lambda: pb.simulate(lambda e: pb.montecarlo.EstimatorAllocator(2, costs="told"),
                                environment, 2, max_pulls=50)):
        with pytest.raises((ValueError, TypeError), match=f"costs of Dear {words}"):
            pull()


@pytest.mark.parametrize("arms", [[0, 5], [-1], [0.5], [], None, [[0]]])
def test_invalid_arms_raise(arms):
    class Asks(pb.Policy):
        done = False
        ask = lambda self: arms  # noqa: E731

    with pytest.raises(ValueError, match="ask of Asks must return"):
        pb.simulate(lambda e: Asks(5), TABLE, 2)


class Drifts(Mine):
    """An environment whose means change with every pull."""

    drift = 0.0

    @property
    def means(self):
        return np.array([self.drift, 1.0])

    def pull(self, arms, rng=None):
        self.drift += 0.01
        return np.zeros(arms.size)


def test_changing_means_raise():
    with pytest.raises(ValueError, match="constant means in a run"):
        pb.simulate(lambda e: pb.policies.UCB1(2), lambda rng: Drifts(None), 2, max_pulls=9)
    said = Mine(lambda arms: np.zeros(arms.size))
    said.stationary = False
    with pytest.raises(ValueError, match="environment must be stationary"):
        pb.simulate(lambda e: pb.policies.UCB1(2), said, 2, max_pulls=9)


def test_interval_of_zero_errors_starts_at_zero():
    result = pb.simulate(lambda e: pb.policies.Uniform(2, budget=40), GaussianBandit([0.0, 9.0]),
                         200, rng=1)
    assert result.error_interval[0] == 0.0 and "error 0 (0 to 0.01885)" in repr(result)


KINDS = {
    "gaussian": lambda: GaussianBandit([0.0, 1.0], np.sqrt([1.0, 2.0])),
    "uniform": lambda: UniformBandit([0.0, 1.0], 2.0**0.5),
    "binomial": lambda: BinomialBandit([0.2, 0.9], trials=7),
    "bernoulli": lambda: BernoulliBandit([0.2, 0.9]),
    "scaled": lambda: ScaledBernoulliBandit([0.0, 1.0], 2.0, [0.3, 0.4]),
    "samples": lambda: EmpiricalBandit([[1.0, 2.0, 2.0], [3.0]]),
    "counts": lambda: EmpiricalBandit(values=[1.0, 2.0], counts=[[1, 3], [0, 2]]),
    "table": lambda: TableBandit([[1.0, 2.0, 3.0], [4.0]]),
    "truncated": lambda: TruncatedNormalBandit([0.5, 0.2], 0.1, low=0.0, high=2.0),
    "costly": lambda: CostlyBandit(GaussianBandit([0.0, 1.0]), [1.0, 2.0], cost_shape=3.0),
    "caplet": lambda: pb.environments.CIRCaplet(0.07, n_steps=5),
    "evidence": lambda: pb.environments.LogisticEvidence(
        [[0.5, 1.0], [1.0, -1.0]], labels=[0, 1], n_anneals=[2, 3]),
}


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
@pytest.mark.parametrize("kind", KINDS)
def test_environments_can_be_copied(kind, copied):
    environment = KINDS[kind]()
    environment.pull([0, 1, 0], 1)  # the copy of a table continues from here
    other = copied(environment)
    assert type(other) is type(environment)
    for name in "means", "noise_std", "variances", "costs":
        assert np.array_equal(getattr(other, name), getattr(environment, name), equal_nan=True)
    arms = np.arange(20) % 2
    for first, second in zip(environment.pull_with_costs(arms, 3), other.pull_with_costs(arms, 3),
                             strict=True):
        assert first.tolist() == second.tolist()


class Named(GaussianBandit):
    """A subclass with its own __init__ and attributes."""

    def __init__(self, name):
        super().__init__([0.0, 1.0])
        self.name = name


def test_subclasses_are_pickled_with_attributes():
    other = pickle.loads(pickle.dumps(Named("drug")))
    assert type(other) is Named and other.name == "drug" and other.means.tolist() == [0.0, 1.0]
