"""User-defined environments and policies with invalid attributes raise errors that name them."""

import numpy as np
import pytest

import pybandit as pb


class Odd:
    """An environment with three arms and any means."""

    n_arms = 3

    def __init__(self, means):
        self.means = np.asarray(means, dtype=float)

    def pull(self, arms, rng=None):
        return np.zeros(np.shape(arms))


class Odder(pb.environments.GaussianBandit):
    """A compiled environment with means from Python."""

    @property
    def means(self):
        return np.zeros(10)


@pytest.mark.parametrize("means", [np.zeros(1000), np.zeros(2),
                                   [0.0, np.inf, 1.0], np.zeros((3, 1))])
def test_invalid_means_raise(means):
    """Means of another length must not write outside the arrays."""
    with pytest.raises(ValueError, match="means of Odd must"):
        pb.simulate(lambda e: pb.policies.SequentialHalving(3, budget=30), Odd(means), 4, rng=1)


def test_python_means_of_a_compiled_class_are_checked():
    with pytest.raises(ValueError, match=r"means of Odder must have shape \(3,\)"):
        pb.simulate(pb.policies.SequentialHalving(3, budget=30), Odder([0.0, 0.5, 1.0]), 4, rng=1)


class Unknown(Odd):
    """An environment with some means NaN, which means unknown."""


@pytest.mark.parametrize("means", [[np.nan] * 3, [0.0, np.nan, 1.0], [0.0, 1.0, np.nan]])
@pytest.mark.parametrize("options", [dict(), dict(answer=pb.simulation.Above(0.5))])
def test_errors_are_unknown_if_means_are(means, options):
    """Unknown errors must be NaN, not 0 with an interval of 0 to .43."""
    for make in (lambda e: pb.policies.Uniform(3, budget=30), lambda e: OneRound(1)):
        result = pb.simulate(make, Unknown(means), 5, rng=1, checkpoints=[3, 30], **options)
        assert np.isnan([result.error_probability, *result.error_interval]).all()
        assert np.isnan(result.curve()).all() and np.isnan(result.mean_regret)
        assert "error nan" in repr(result) and not result.errors.any()
        known = pb.simulate(make, Unknown(means), 5, rng=1, answer=[2], checkpoints=[3])
        assert 0.0 <= known.error_probability <= 1.0 and np.isfinite(known.curve()).all()


def test_answers_of_another_size_are_wrong():
    """An answer that does not have k arms is wrong; if k is 0, the empty answer is right."""
    for k, error in ((2, 1.0), (0, 1.0)):
        result = pb.simulate(lambda e, k=k: OneRound(k), Unknown([np.nan] * 3), 5, rng=1)
        assert result.error_probability == error and result.error_interval[1] == 1.0
    nothing = pb.simulate(lambda e: pb.policies.RoundRobin(3, 0, batch_size=3, max_batches=1),
                          Unknown([np.nan] * 3), 5, rng=1)
    assert nothing.error_probability == 0.0 and nothing.mean_regret == 0.0


class OneRound:
    """A policy in Python with any k."""

    def __init__(self, k):
        self.k, self.n_pulls, self.done = k, 0, False

    def ask(self):
        return np.arange(3)

    def tell(self, arms, rewards):
        self.n_pulls, self.done = len(arms), True

    def recommend(self):
        return np.array([2])


@pytest.mark.parametrize("k", [4, -1, 10**9, 1.5, None, True])
def test_invalid_k_raises(k):
    arms = pb.environments.GaussianBandit([0.0, 0.5, 1.0])
    with pytest.raises(ValueError, match=r"k of OneRound must be an integer in \[0, 3\]"):
        pb.simulate(lambda e: OneRound(k), arms, 3, rng=1)
    assert pb.simulate(lambda e: OneRound(1), arms, 3, rng=1).error_probability == 0.0


@pytest.mark.parametrize("make", [
    lambda e: pb.policies.KLLUCB(3, delta=0.1),
    lambda e: pb.policies.TopTwo(3, stopping=pb.stopping.GLR(delta=0.1, law="bernoulli")),
    lambda e: pb.policies.TopTwo(3, stopping=pb.stopping.GLR(delta=0.1, law="poisson")),
    lambda e: pb.policies.SuccessiveElimination(3, stopping=pb.stopping.GLR(delta=0.1,
                                                                            law="bernoulli")),
    lambda e: pb.policies.GoodArms(3, delta=0.1, threshold=0.5, law="bernoulli")])
@pytest.mark.parametrize("means", [[3.0, 2.0, 1.0], [-1.0, -2.0, -3.0]])
def test_rewards_outside_the_divergence_raise(make, means):
    """Rewards outside the range of a divergence must raise, or no rule would stop."""
    with pytest.raises(ValueError, match="rewards must be in"):
        pb.simulate(make, pb.environments.GaussianBandit(means, 3.0), 2, rng=1, answer=[0])


class Costed(pb.Policy):
    """A policy whose attribute `costs` is an array."""

    done = False

    def __init__(self, costs):
        super().__init__(3)
        self.costs = costs

    def ask(self):
        return np.arange(3)

    def tell(self, arms, rewards):
        self.done = True

    def recommend(self):
        return np.array([2])


class Counting(OneRound):
    """A policy whose attribute `n_pulls` is an array of counts."""

    def __init__(self):
        super().__init__(1)
        self.n_pulls = np.zeros(3, dtype=int)

    def tell(self, arms, rewards):
        self.n_pulls[arms] += 1
        self.done = True


@pytest.mark.parametrize("make", [lambda e: Costed(np.array([1.0, 2.0, 3.0])),
                                  lambda e: Costed("none"), lambda e: Counting()])
def test_array_attributes_are_not_truth_values(make):
    """Arrays in these attributes must not be used as truth values."""
    arms = pb.environments.GaussianBandit([0.0, 0.5, 1.0])
    assert pb.simulate(make, arms, 3, rng=1, max_pulls=9).error_probability == 0.0


@pytest.mark.parametrize("returned", [None, "1.5", np.zeros(2)])
def test_invalid_metrics_raise(returned):
    def spread(policy, environment):
        return returned

    with pytest.raises((TypeError, ValueError), match="the value that spread returns must "):
        pb.simulate(pb.policies.SequentialHalving(3, budget=30),
                    pb.environments.GaussianBandit([0.0, 0.5, 1.0]), 2, rng=1, metrics=[spread])


def test_options_of_policy_objects_are_compared():
    def draw(rng):
        return pb.environments.GaussianBandit(rng.normal(size=8))

    seeds = np.random.SeedSequence(1)
    one = pb.compare({"a": pb.policies.SequentialHalving(8, budget=240)}, draw, 3, rng=seeds)
    other = pb.compare({"a": pb.policies.SequentialHalving(8, budget=2400)}, draw, 3, rng=seeds)
    with pytest.raises(ValueError, match="policies"):
        one + other
