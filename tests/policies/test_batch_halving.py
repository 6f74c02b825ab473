"""RoundRobin and BatchHalving: ring, reference runs, budgets, stages with one batch more."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pybandit as pb
from costly import examples

from policies.batch_runs import (
    PROBLEMS,
    assert_matches_reference,
    case_id,
    grid_bandit,
    random_problem,
)
from policies.reference import batch as plain
from policies.reference import tables


@pytest.mark.parametrize("case", tables.batch_cases("RoundRobin"), ids=case_id)
def test_round_robin_matches_cases(case):
    p, expect = case["params"], case["expect"]
    sequence = plain.round_robin(p["active"], p["counts"], p["b"], p["r"])
    assert sequence == expect["pull_sequence"]
    assert [sequence.count(arm) for arm in p["active"]] == expect["a"]
    if len(set(p["counts"])) == 1:  # a state that a run can reach
        assert ring(p["active"], 0, p["counts"][0], p["b"], p["r"]).ask().tolist() == sequence


def ring(active, cursor, rounds, b, r):
    """Return a RoundRobin with these arms left, the first `cursor` of them one pull ahead."""
    policy = pb.policies.RoundRobin(max(active) + 1, 1, batch_size=b, max_batches=9, max_repeats=r)
    state = policy.get_state()
    state["progress"]["ring"][:len(active)] = active
    state["progress"].update(ring_n_arms=len(active), ring_cursor=cursor, ring_rounds=rounds)
    return pb.policies.RoundRobin.from_state(state)


def test_ring_makes_the_pulls_of_the_paper():
    """Pulls are the same, and in the printed order unless a batch goes around the ring."""
    rng = np.random.default_rng(1)
    for _ in range(400):
        n = int(rng.integers(1, 12))
        active = sorted(rng.choice(30, n, replace=False).tolist())
        cursor, rounds = int(rng.integers(n)), int(rng.integers(5))
        b, r = (int(x) for x in rng.integers(1, 20, 2))
        counts = {arm: rounds + (i < cursor) for i, arm in enumerate(active)}
        policy = ring(active, cursor, rounds, b, r)
        expected = plain.round_robin(active, counts, min(b, policy.batch_size), r)
        assert sorted(policy.ask().tolist()) == sorted(expected), (active, cursor, b, r)
        if b <= n:
            assert policy.ask().tolist() == expected


def test_batch_halving_matches_reference():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n, k, b, r = random_problem(rng)
        stages = int(np.ceil(np.log2(n / k)))
        policy = pb.policies.BatchHalving(n, k, batch_size=b, max_batches=stages
                                          + int(rng.integers(9)), max_repeats=r, rng=seed)
        assert policy.stage_batches.size == stages
        assert policy.stage_batches.sum() == policy.max_batches
        assert np.ptp(policy.stage_batches) <= 1
        assert_matches_reference(policy, grid_bandit(rng, n))
        assert policy.n_batches == policy.max_batches


def test_round_robin_matches_reference():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n, k, b, r = random_problem(rng)
        policy = pb.policies.RoundRobin(n, k, batch_size=b, max_batches=int(rng.integers(1, 9)),
                                        max_repeats=r)
        assert_matches_reference(policy, grid_bandit(rng, n))
        assert np.ptp(policy.pulls) <= 1


@examples(200, of=600, derandomize=True)
@given(PROBLEMS, st.integers(1, 30), st.integers(0, 2**32))
def test_round_robin_and_halving_use_all_batches(problem, B, seed):
    n, k, b, r = problem
    policies = [pb.policies.RoundRobin(n, k, batch_size=b, max_batches=B, max_repeats=r)]
    if k and n <= k << B:
        policies.append(pb.policies.BatchHalving(n, k, batch_size=b, max_batches=B, max_repeats=r,
                                                 rng=seed))
    bandit = grid_bandit(np.random.default_rng(seed), n)
    for policy in policies:
        trivial = isinstance(policy, pb.policies.BatchHalving) and k == n
        while not policy.done:
            arms = policy.ask()
            assert arms.size == min(b, n * r) and np.bincount(arms).max() <= r
            policy.tell(arms, bandit.pull(arms))
        assert policy.n_batches == (0 if trivial else B)
        assert len(set(policy.recommend())) == k


def test_halving_refuses_too_few_batches():
    for n, k, stages in (8, 1, 3), (9, 1, 4), (7, 2, 2), (6, 5, 1), (5, 5, 0), (5, 0, 0):
        for B in range(1, 5):
            if B < stages:
                with pytest.raises(pb.errors.InfeasibleBudgetError,
                                   match=f"at least {stages},.* got {B}$"):
                    pb.policies.BatchHalving(n, k, batch_size=2, max_batches=B)
            else:
                assert pb.policies.BatchHalving(n, k, batch_size=2, max_batches=B,
                                                rng=0).stage_batches.size == stages


def test_halving_with_rng_keeps_its_stages():
    """`simulate` chooses longer stages again for copies only if it does for the original."""
    dealt = {tuple(pb.policies.BatchHalving(64, 1, batch_size=8, max_batches=9,
                                            rng=seed).stage_batches)
             for seed in range(200)}
    assert len(dealt) == 20  # 3 of 6 stages have one batch more
    bandit = pb.environments.BernoulliBandit(np.linspace(0, 1, 64))

    def deals(policy):
        created = []

        def factory(environment):
            created.append(copy.deepcopy(policy))
            return created[-1]

        pb.simulate(factory, bandit, 20, rng=1, n_threads=1)
        return {tuple(one.stage_batches) for one in created}

    given = pb.policies.BatchHalving(64, 1, batch_size=8, max_batches=9, rng=5)
    assert deals(given) == {tuple(given.stage_batches)}
    assert len(deals(pb.policies.BatchHalving(64, 1, batch_size=8, max_batches=9))) > 5


def test_huge_batch_size_is_accepted():
    policy = pb.policies.RoundRobin(10, 1, batch_size=2**62, max_batches=1)
    assert policy.batch_size == 2**62
    assert pb.policies.RoundRobin(10, 1, batch_size=2**62, max_batches=1,
                                  max_repeats=3).ask().size == 30
