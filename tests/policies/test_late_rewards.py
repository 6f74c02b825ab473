"""Rewards of pulls that were reported as lost but came later, for every policy."""

import numpy as np
import pytest

import pybandit as pb

from policies.protocol import COPIES, assert_statistics, frozen
from studies.cases import POLICIES, N, measured

MOST = 60  # maximum number of batches of a policy that never ends


def run(make, copied, seed=0, lost=0.3):
    """Play with losses, most of which come late; return the policy and rewards by arm."""
    rng, policy, waiting = np.random.default_rng(seed), make(), []
    read = [[] for _ in range(policy.n_arms)]
    while not policy.done and policy.n_batches < MOST:
        arms, rewards = policy.ask(), measured(policy.n_batches, policy.ask(), seed)
        gone = rng.random(arms.size) < lost
        policy.tell(arms, np.where(gone, np.nan, rewards), missing="drop")
        waiting += zip(arms[gone].tolist(), rewards[gone].tolist(), strict=True)
        come = list(zip(arms[~gone].tolist(), rewards[~gone].tolist(), strict=True))
        if waiting and rng.random() < 0.5:
            # late rewards may come before or after the next `ask`
            asked = policy.ask() if rng.random() < 0.5 else None
            before = policy.n_pulls, policy.n_batches, policy.done
            n = int(rng.integers(1, len(waiting) + 1))
            policy.add_late(*(np.array(part) for part in zip(*waiting[:n], strict=True)))
            come, waiting = come + waiting[:n], waiting[n:]
            assert (policy.n_pulls, policy.n_batches, policy.done) == before
            assert asked is None or np.array_equal(policy.ask(), asked)
            policy = copied(policy)
            assert asked is None or np.array_equal(policy.ask(), asked)
        for arm, reward in come:
            read[arm].append(reward)
    return policy, read, len(waiting)


@pytest.mark.some(8)
@pytest.mark.parametrize("name", POLICIES)
def test_late_rewards_change_only_the_statistics(name):
    for seed in range(4):
        policy, read, n_lost = run(POLICIES[name], COPIES["itself"], seed)
        assert_statistics(policy, read)
        assert policy.n_pulls == policy.pulls.sum() + n_lost
        budget = getattr(policy, "budget", getattr(policy, "max_pulls", None))
        assert budget is None or policy.n_pulls <= budget
        assert set(policy.recommend()) <= set(range(policy.n_arms))
        for copied in (COPIES["state"], COPIES["pickle"]):
            same = run(POLICIES[name], copied, seed)[0]
            assert frozen(same.get_state()) == frozen(policy.get_state())
            assert np.array_equal(same.recommend(), policy.recommend())


@pytest.mark.parametrize("name", POLICIES)
def test_late_rewards_are_accepted_when_all_were_lost(name):
    """Late rewards arrive before any other reward; once all have arrived, one more is refused."""
    policy, lost = POLICIES[name](), []
    for _ in range(3):
        if not policy.done:
            arms = policy.ask()
            policy.tell(arms, np.full(arms.size, np.nan), missing="drop")
            lost += arms.tolist()
    asked = policy.ask()
    policy.add_late(lost, measured(0, lost))
    assert np.array_equal(policy.ask(), asked)
    assert np.array_equal(COPIES["state"](policy).ask(), asked)
    assert policy.pulls.sum() == policy.n_pulls == len(lost)
    while not policy.done and policy.n_batches < MOST:
        arms = policy.ask()
        policy.tell(arms, measured(policy.n_batches, arms))
    none_is_good_yet = isinstance(policy, pb.policies.GoodArms)
    assert policy.recommend().size >= 1 or none_is_good_yet
    with pytest.raises(ValueError, match="at most 0 entries, one per lost pull; got 1"):
        policy.add_late([0], [0.5])


@pytest.mark.parametrize("make", [
    lambda: pb.policies.RoundRobin(4, 1, batch_size=8, max_batches=12),
    lambda: pb.policies.BatchRacing(4, 1, delta=0.1, batch_size=8, noise_std=0.05),
    lambda: pb.policies.ContinuousRejects(4, budget=60),
    lambda: pb.policies.UCBE(4, budget=60, complexity=9.0),
    lambda: pb.policies.EBTC(4, max_pulls=60),
    lambda: pb.policies.BayesGap(4, budget=30, kernel=np.eye(4), noise_std=0.1),
    lambda: pb.policies.ThompsonSampling(4, rng=1, law="gaussian", noise_std=0.1)])
def test_later_decisions_use_late_rewards(make):
    """The best arm never answers in time, but still wins."""
    policy, means = make(), np.array([0.2, 0.3, 0.4, 0.9])
    while not policy.done and policy.n_batches < 200:
        arms = policy.ask()
        late = arms[arms == 3]
        policy.tell(arms, np.where(arms == 3, np.nan, means[arms]), missing="drop")
        policy.add_late(late, means[late])
    assert policy.recommend().tolist() == [3] and policy.pulls.sum() == policy.n_pulls


def test_bad_late_rewards_change_nothing():
    policy = pb.policies.KLUCB(3)
    policy.tell(policy.ask(), [np.nan, np.nan, 0.5], missing="drop")
    before = frozen(policy.get_state())
    for arms, rewards, error, words in [
            ([0, 1, 2], [0.1, 0.2, 0.3], ValueError, "at most 2 entries, one per lost pull; got 3"),
            ([3], [0.1], ValueError, r"\[0, 3\); got 3 at index 0"),
            ([0, -1], [0.1, 0.1], ValueError, r"\[0, 3\); got -1 at index 1"),
            ([0.5], [0.1], TypeError, "arms.*float64"), (0, 0.1, ValueError, r"arms.*\(\)"),
            ([0], [0.1, 0.2], ValueError, r"rewards.*\(1,\); got \(2,\)"),
            ([0], [np.nan], ValueError, "rewards.*nan"), ([0], [1.5], ValueError, "rewards.*1.5"),
            ([0], ["x"], TypeError, "rewards")]:
        with pytest.raises(error, match=words):
            policy.add_late(arms, rewards)
        assert frozen(policy.get_state()) == before
    policy.add_late([], [])
    assert frozen(policy.get_state()) == before


def test_policy_that_overrides_tell_must_define_add_late():
    class Mine(pb.policies.Uniform):
        def tell(self, arms, rewards, missing="raise"):
            super().tell(arms, rewards, missing)

    policy = Mine(N, budget=10)
    policy.tell(policy.ask(), np.full(10, np.nan), missing="drop")
    with pytest.raises(NotImplementedError, match="Mine must define add_late"):
        policy.add_late([0], [0.5])
