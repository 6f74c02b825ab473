"""Other threads can use neither an allocator at work nor the policy that it was given."""

import threading

import numpy as np
import pytest

import pybandit as pb

from policies.test_threads import Waits


def test_given_policy_is_locked_with_its_allocator():
    policy = pb.policies.ThompsonSampling(3, rng=5)
    allocator = pb.montecarlo.EstimatorAllocator(3, policy=policy, value_range=1.0, budget=100)
    rewards = Waits(1)
    teller = threading.Thread(target=allocator.tell, args=(allocator.ask(), rewards))
    teller.start()
    try:
        assert rewards.asked.wait(60)
        for call in (lambda: policy.means, lambda: policy.n_pulls, policy.ask, policy.get_state,
                     lambda: policy.tell([0], [1.0]), lambda: policy.seed(1),
                     lambda: allocator.total_cost, lambda: allocator.seed(1)):
            with pytest.raises(RuntimeError, match="EstimatorAllocator is in use by another"):
                call()
    finally:
        rewards.come.set()
        teller.join()
    assert policy.n_pulls == allocator.n_pulls == allocator.total_cost == 1


def test_policy_in_use_raises():
    policy, rewards = pb.policies.ThompsonSampling(3, rng=5), Waits(1)
    teller = threading.Thread(target=policy.tell, args=(policy.ask(), rewards))
    teller.start()
    try:
        assert rewards.asked.wait(60)
        with pytest.raises(RuntimeError, match="ThompsonSampling is in use by another thread"):
            pb.montecarlo.EstimatorAllocator(3, policy=policy, value_range=1.0)
    finally:
        rewards.come.set()
        teller.join()


def test_policy_is_free_after_a_failed_allocator():
    policy = pb.policies.ThompsonSampling(3, rng=5)
    with pytest.raises(ValueError, match="weights"):
        pb.montecarlo.EstimatorAllocator(3, policy=policy, value_range=1.0, weights="none")
    policy.tell(policy.ask(), [1.0])
    assert policy.n_pulls == 1


def test_seed_works_through_the_shared_guard():
    def asked(seed):
        allocator = pb.montecarlo.EstimatorAllocator(5, policy=pb.policies.ThompsonSampling(5),
                                                     value_range=1.0)
        allocator.seed(np.random.default_rng(seed))
        found = []
        for _ in range(50):
            found += allocator.ask().tolist()
            allocator.tell(found[-1:], [0.5])
        return found

    found = [asked(seed) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]


def test_policy_can_be_reused_after_a_failed_allocator():
    policy = pb.policies.UCB1(3)
    with pytest.raises(ValueError, match="weights"):
        pb.montecarlo.EstimatorAllocator(3, policy=policy, weights="none")
    pb.montecarlo.EstimatorAllocator(3, policy=policy)


class SeedsSlowly(pb.policies.ThompsonSampling):
    """A policy that waits in `seed`."""

    def __init__(self, n_arms):
        super().__init__(n_arms)
        self.begun, self.go_on = threading.Event(), threading.Event()

    def seed(self, rng):
        self.begun.set()
        assert self.go_on.wait(60)
        super().seed(rng)


@pytest.mark.parametrize("made", [False, True])
def test_policy_is_locked_while_it_is_seeded(made):
    policy, allocators = SeedsSlowly(3), []
    if made:
        policy.go_on.set()
        allocators.append(pb.montecarlo.EstimatorAllocator(3, policy=policy, value_range=1.0))
        policy.begun.clear()
        policy.go_on.clear()

    def work():
        if made:
            allocators[0].seed(np.random.default_rng(1))
        else:
            allocators.append(pb.montecarlo.EstimatorAllocator(3, policy=policy, value_range=1.0))

    worker = threading.Thread(target=work)
    worker.start()
    try:
        assert policy.begun.wait(60)
        for call in (lambda: policy.means, policy.ask, lambda: policy.tell([0], [1.0])):
            with pytest.raises(RuntimeError, match="in use by another thread"):
                call()
    finally:
        policy.go_on.set()
        worker.join()
    allocators[0].tell(allocators[0].ask(), [1.0])
    assert policy.n_pulls == 1
