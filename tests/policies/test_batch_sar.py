"""BatchSAR: reference runs, budgets, ties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pybandit as pb
from costly import examples, part

from policies.batch_runs import (
    PROBLEMS,
    ReferencePolicy,
    assert_matches_reference,
    grid_bandit,
    least_batches,
    play,
    random_problem,
    reference_of,
    sar,
)
from policies.reference import batch as plain


@pytest.mark.examples
@pytest.mark.parametrize("tie", ["reject", "index"])
@pytest.mark.parametrize("improved", [True, False])
def test_sar_matches_reference(improved, tie):
    for seed in range(part(50, of=150)):
        rng = np.random.default_rng([seed, improved, tie == "index"])
        problem = random_problem(rng)
        most = least_batches(*problem)
        assert most == plain.BatchSAR(*problem, most).least()
        B = most + int(rng.choice([0, 0, 1, rng.integers(20)]))
        policy = sar(*problem, B, improved=improved, tie=tie)
        assert_matches_reference(policy, grid_bandit(rng, problem[0]))


@pytest.mark.parametrize("n, b, r, B, m", [(5, 1, 1, 118, 12), (5, 2, 2, 220, 48),
                                           (5, 4, 3, 31, 12)])
def test_integer_quotients_are_not_rounded_up(n, b, r, B, m):
    """Floating point puts these m_1 above the integer that they equal."""
    for improved in (True, False):
        policy = pb.policies.BatchSAR(n, 2, batch_size=b, max_batches=B, max_repeats=r,
                                      improved=improved)
        assert reference_of(policy).stage_pulls() == m
        bandit = grid_bandit(np.random.default_rng(1), n, 16)
        while policy.survivors.size == n:
            arms = policy.ask()
            policy.tell(arms, bandit.pull(arms))
        assert policy.n_batches == -(-n * m // b)
        bandit.reset()
        policy = pb.policies.BatchSAR(n, 2, batch_size=b, max_batches=B, max_repeats=r,
                                      improved=improved)
        assert_matches_reference(policy, bandit)


@examples(250, of=2000, derandomize=True)
@given(PROBLEMS, st.integers(0, 6), st.booleans(), st.booleans(), st.integers(0, 2**32))
def test_sar_never_exceeds_its_batches(problem, spare, improved, by_index, seed):
    n, k, b, r = problem
    B = (least_batches(*problem) if 0 < k < n else 1) + spare
    policy = pb.policies.BatchSAR(n, k, batch_size=b, max_batches=B, max_repeats=r,
                                  improved=improved, tie="index" if by_index else "reject")
    bandit = grid_bandit(np.random.default_rng(seed), n)
    early = k in (0, n)
    while not policy.done:
        arms = policy.ask()
        assert arms.size == policy.batch_size == min(b, n * r)
        assert np.bincount(arms).max() <= r
        policy.tell(arms, bandit.pull(arms))
        assert policy.n_batches <= B
    # the policy ended before the last stage if fewer than n_tilde arms were left
    ends = plain.BatchSAR(n, k, b, r, B).n_tilde if not early else 0
    if not improved and not early:
        assert policy.n_batches <= B - 2
    elif not early and policy.n_batches < B:
        assert ends_early(policy, bandit, ends)
    assert len(set(policy.recommend())) == k


@pytest.mark.some(2)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 13, 21, 34, 47, 60])
def test_sar_spends_its_budget_in_many_problems(n):
    """Batches are full; at most B are used, and sometimes all. With m_s, at least two are left."""

    def make(environment):
        rng = np.random.default_rng(environment.means.view(np.uint64))
        problem = n, int(rng.integers(1, n)), int(rng.integers(1, 3 * n)), int(rng.integers(1, 10))
        spare, improved = rng.choice([0, 0, 1, 2, 10, 100]), rng.random() < 0.5
        B = least_batches(*problem) + int(spare)
        return sar(*problem, B, improved=improved)

    def unused(policy, environment):
        return policy.max_batches - policy.n_batches - 2 * (not policy.improved)

    def lacking(policy, environment):
        return policy.n_batches * policy.batch_size - policy.n_pulls

    result = pb.simulate(make, lambda rng: pb.environments.BernoulliBandit(rng.random(n)), 2000,
                         rng=n, metrics=[unused, lacking])
    assert result.metrics["unused"].min() == 0 and not result.metrics["lacking"].any()


def ends_early(policy, bandit, n_tilde):
    """Return True if the reference ran out of places or arms before its last stage."""
    reference = reference_of(policy)
    bandit.reset()
    play(ReferencePolicy(reference), bandit)
    return len(reference.removed) < policy.n_arms - n_tilde or (
        policy.k - sum(good for _, good, _ in reference.removed) in (0, len(reference.alive)))


@pytest.mark.parametrize(
    "n, k, b, r, least",
    [(522_062, 100, 60_000, 12, 22), (12_979, 100, 384, 384, 75), (100, 10, 1, 1, 202),
     (12_979, 100, 384, 1, 69)],
)
def test_smallest_budgets_match_known_values(n, k, b, r, least):
    assert least_batches(n, k, b, r) == least
    assert not pb.policies.BatchSAR(n, k, batch_size=b, max_batches=least, max_repeats=r).done
    words = rf"max_batches must be at least {least} .*got {least - 1}: use more batches"
    with pytest.raises(pb.errors.InfeasibleBudgetError, match=words):
        pb.policies.BatchSAR(n, k, batch_size=b, max_batches=least - 1, max_repeats=r)


def test_smallest_budget_suffices_and_one_less_is_refused():
    rng = np.random.default_rng(7)
    for _ in range(200):
        n, k, b, r = random_problem(rng)
        least = least_batches(n, k, b, r)
        bandit = grid_bandit(rng, n)
        for improved in (True, False):
            with pytest.raises(pb.errors.InfeasibleBudgetError, match=f"at least {least} "):
                pb.policies.BatchSAR(n, k, batch_size=b, max_batches=least - 1 or 1, max_repeats=r,
                                     improved=improved)
            policy, log, _ = play(pb.policies.BatchSAR(n, k, batch_size=b, max_batches=least,
                                                       max_repeats=r, improved=improved), bandit)
            assert policy.done and len(log) <= least


def test_tie_option_decides_equal_gaps():
    """For equal arms, "reject" drops the last one, and "index" accepts the first."""
    bandit = pb.environments.TableBandit(np.full((6, 1), 0.5))
    for tie, removed in ("reject", 5), ("index", 0):
        policy = pb.policies.BatchSAR(6, 2, batch_size=3, max_batches=30, tie=tie)
        while policy.survivors.size == 6:
            arms = policy.ask()
            policy.tell(arms, bandit.pull(arms))
        assert removed not in policy.survivors
        policy, *_ = play(policy, bandit)
        assert policy.recommend().tolist() == [0, 1]
