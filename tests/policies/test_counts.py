"""Policies that receive counts, and batches of Thompson sampling."""

import numpy as np
import pytest
from scipy.stats import beta

import pybandit as pb

from policies.protocol import frozen


def test_counts_equal_single_rewards():
    """Posteriors, means and variances equal those of single rewards, however counts are split."""
    rng, counted = np.random.default_rng(1), pb.policies.ThompsonSampling(3, rng=1)
    rewards = [np.empty(0)] * 3
    for _ in range(5):
        trials = rng.integers(0, 9, 3)
        sums = rng.binomial(trials, [0.2, 0.5, 0.9])
        counted.tell_counts(trials, sums)
        rewards = [np.append(old, np.repeat([1.0, 0.0], [s, n - s]))
                   for old, n, s in zip(rewards, trials, sums, strict=True)]
    assert counted.n_batches == 5 and counted.n_pulls == sum(map(len, rewards))
    assert counted.pulls.tolist() == list(map(len, rewards))
    assert np.allclose(counted.means, [one.mean() for one in rewards])
    assert np.allclose(counted.variances, [one.var(ddof=1) for one in rewards])
    assert counted.posteriors.tolist() == [[1 + one.sum(), 1 + (1 - one).sum()] for one in rewards]


def test_gaussian_counts_update_the_posterior():
    policy = pb.policies.ThompsonSampling(3, rng=1, law="gaussian", noise_std=2.0, batch_size=10)
    assert policy.shares.tolist() == [1, 1, 1]
    policy.tell_counts([4, 0, 9], [-8.0, 0.0, 27.0])
    assert policy.posteriors[[0, 2]].tolist() == [[-2.0, 1.0], [3.0, 2 / 3]]
    assert policy.shares.tolist() == [0, 1, 0]  # the arm without a reward
    policy.tell_counts([0, 4, 0], [0.0, 4.0, 0.0])
    assert policy.shares.sum() == 10 and policy.recommend().tolist() == [2]


@pytest.mark.parametrize("size", [1, 7, 400])
def test_batches_are_independent_choices(size):
    """Shares match the probabilities that an arm is best, for two arms by integral."""
    counts = np.array([[3, 5], [4, 4]])
    first = beta(*(counts[0] + 1))
    theta = np.linspace(0, 1, 20_001)
    chance = np.trapezoid(first.pdf(theta) * beta(*(counts[1] + 1)).cdf(theta), theta)
    found = []
    for seed in range(4000 // size):
        policy = pb.policies.ThompsonSampling(2, rng=seed, batch_size=size)
        policy.tell_counts(counts.sum(axis=1), counts[:, 0])
        assert policy.ask().size == size and policy.shares.sum() == size
        assert np.array_equal(np.bincount(policy.ask(), minlength=2), policy.shares)
        found.append(policy.shares[0])
    n = size * len(found)
    assert abs(sum(found) / n - chance) < 4 * np.sqrt(chance * (1 - chance) / n)
    if size == 7:
        assert np.isclose(np.var(found), 7 * chance * (1 - chance), rtol=0.25)


def test_batch_can_be_reported_and_saved():
    policy, rng = pb.policies.ThompsonSampling(4, rng=3, batch_size=50), np.random.default_rng(1)
    for _ in range(6):
        arms = policy.ask()
        again = pb.policies.ThompsonSampling.from_state(policy.get_state())
        assert np.array_equal(again.ask(), arms) and again.batch_size == 50
        rewards = (rng.random(arms.size) < 0.2 * arms) * 1.0
        mixed = rng.permutation(arms.size)
        for one in (policy, again):
            one.tell(arms[mixed], rewards[mixed])
        assert frozen(again.get_state()) == frozen(policy.get_state())
    assert policy.n_pulls == 300 and policy.shares.argmax() == 3


def test_simulated_batches_learn():
    bandit = pb.environments.BernoulliBandit([0.2, 0.5])
    one, many = (pb.simulate(pb.policies.ThompsonSampling(2, batch_size=size), bandit, 200,
                             max_pulls=1000, rng=1) for size in (1, 100))
    assert one.error_probability < 0.05 and many.error_probability < 0.05
    assert one.cumulative_regrets.mean() < many.cumulative_regrets.mean() < 60


@pytest.mark.parametrize("options", [{}, {"batch_size": 5}, {"law": "gaussian"}])
def test_batches_without_trials_are_batches(options):
    """States with such batches were once refused, and so were the study files that held them."""
    policy = pb.policies.ThompsonSampling(2, rng=1, **options)
    for trials in ([0, 0], [1, 0], [0, 0]):
        policy.tell_counts(trials, [0.0, 0.0])
        assert frozen(type(policy).from_state(policy.get_state()).get_state()) == frozen(
            policy.get_state())
    assert policy.n_batches == 3 and policy.n_pulls == 1
    state = policy.get_state()
    state["n_batches"] = state["progress"]["n_tries"] = 0
    with pytest.raises(ValueError, match="n_pulls of 0 if n_batches is 0"):
        pb.policies.ThompsonSampling.from_state(state)


def test_bad_counts_are_refused():
    policy = pb.policies.ThompsonSampling(2, rng=1, batch_size=5)
    policy.tell_counts([3, 3], [1, 2])
    policy.ask()
    before = frozen(policy.get_state())
    for trials, sums, words in [([3], [1], "shape"), ([3, 3], [1], "sums must have shape"),
                                ([3, -1], [1, 0], "trials"), ([3, 1.5], [1, 0], "1.5"),
                                ([3, 3], [4, 0], "4.0 for 3 trials of arm 0"),
                                ([3, 3], [0, -1], "arm 1"), ([3, 3], [0, np.inf], "finite"),
                                ([2.0**53, 3], [0, 1], "in all")]:
        with pytest.raises(ValueError, match=words):
            policy.tell_counts(trials, sums)
        assert frozen(policy.get_state()) == before
    with pytest.raises(ValueError, match="1.0 for 0 trials of arm 1"):
        pb.policies.ThompsonSampling(2, rng=1, law="gaussian").tell_counts([3, 0], [1, 1])
    with pytest.raises(ValueError, match="batch_size"):
        pb.policies.ThompsonSampling(2, batch_size=0)
    with pytest.raises(ValueError, match="one estimator at a time; got batch_size=5"):
        pb.montecarlo.EstimatorAllocator(2, policy=pb.policies.ThompsonSampling(2, batch_size=5),
                                         value_range=1.0)
    state = policy.get_state()
    state["progress"]["shares"] = np.array([1, 1])
    with pytest.raises(ValueError, match="shares"):
        pb.policies.ThompsonSampling.from_state(state)
