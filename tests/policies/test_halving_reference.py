"""Uniform, SuccessiveRejects, SequentialHalving, SHVar, SHAdaVar: cases and reference runs."""

import math

import numpy as np
import pytest

import pybandit as pb
from costly import part
from pybandit.policies.protocol._deviations import variances_of

from policies.halving_runs import grid_table, random_variances, stages_of
from policies.reference import halving as plain
from policies.reference import tables

OPTIONS = [dict(reuse=reuse, spend_all=spend) for reuse in (False, True)
           for spend in (False, True)]


def reference_of(policy):
    problem = policy.n_arms, policy.budget
    if not hasattr(policy, "reuse"):
        return getattr(plain, type(policy).__name__)(*problem)
    options = dict(reuse=policy.reuse, spend_all=policy.spend_all)
    if isinstance(policy, pb.policies.SHVar):
        known = variances_of(policy.noise_std).tolist()
        return plain.SHVar(*problem, known, **options)
    if isinstance(policy, pb.policies.SHAdaVar):
        return plain.SHAdaVar(*problem, policy.delta, **options)
    return plain.SequentialHalving(*problem, **options)


def follow(policy, table):
    """Run a policy next to its reference; return the reference and the number of single pulls."""
    bandit, reference, singles = pb.environments.TableBandit(table), reference_of(policy), 0

    def reward_of(arm):
        return float(table[arm][reference.pulls[arm] % len(table[arm])])

    while not policy.done:
        assert not reference.done and policy.survivors.tolist() == reference.alive
        arms = policy.ask().tolist()
        before = len(reference.order)
        for arm in arms:
            if isinstance(policy, pb.policies.SHAdaVar):
                assert reference.could_be_next(arm)
                reference.step(reward_of, arm)
            else:
                reference.step(reward_of)
        expected = reference.order[before:]
        assert arms == (sorted(expected) if isinstance(policy, pb.policies.SHVar) else expected)
        policy.tell(arms, bandit.pull(arms))
        assert policy.pulls.tolist() == reference.pulls
        singles += len(arms) == 1
    assert reference.done and policy.survivors.tolist() == reference.alive
    assert policy.n_pulls == len(reference.order)
    assert policy.recommend().tolist() == [reference.recommend()]
    return reference, singles


# -- the cases ------------------------------------------------------------------------


def policy_of(case):
    p, name = case["params"], case["algorithm"]
    if name == "SHVar":
        return pb.policies.SHVar(p["K"], budget=p["n"], noise_std=np.sqrt(p["sigma2"]))
    if name == "SHAdaVar":
        return pb.policies.SHAdaVar(p["K"], budget=p["n"], delta=p["delta"])
    return {"SH": pb.policies.SequentialHalving, "Unif": pb.policies.Uniform}[name](
        p["K"], budget=p["n"])


def case_id(case):
    return f"{case['algorithm']}-K{case['params']['K']}-n{case['params']['n']}"


@pytest.mark.parametrize("case", tables.halving_cases(), ids=case_id)
def test_policies_match_cases(case):
    expect, policy = case["expect"], policy_of(case)
    bandit, order, stages = pb.environments.TableBandit(case["rewards"]), [], []
    while not policy.done:
        if policy.survivors.tolist() not in stages:
            stages.append(policy.survivors.tolist())
        arms, at = policy.ask(), len(order)
        order += arms.tolist()
        if isinstance(policy, pb.policies.SHVar):
            assert arms.tolist() == sorted(expect["pulls"][at:len(order)])
        policy.tell(arms, bandit.pull(arms))
    if not isinstance(policy, pb.policies.SHVar):
        assert order == expect["pulls"]
    assert len(order) == len(expect["pulls"])
    assert policy.recommend().tolist() == [expect["out"]]
    assert policy.pulls.tolist() == expect["counts"]
    if "stages" in expect:
        assert [*stages, policy.survivors.tolist()] == expect["stages"]
    reference, _ = follow(policy_of(case), case["rewards"])
    assert reference.order == expect["pulls"] or isinstance(policy, pb.policies.SHAdaVar)


# -- reference runs ---------------------------------------------------------------------


def random_budget(rng, least, spread=60):
    return least + int(rng.choice([0, 0, 1, 2, rng.integers(spread), rng.integers(6 * spread)]))


@pytest.mark.examples
def test_uniform_matches_reference():
    for seed in range(part(60, of=200)):
        rng = np.random.default_rng(seed)
        K = int(rng.integers(1, 41))
        policy = pb.policies.Uniform(K, budget=random_budget(rng, K))
        follow(policy, grid_table(rng, K))
        assert policy.n_pulls == policy.budget and np.ptp(policy.pulls) <= 1
        assert policy.n_batches == 1


@pytest.mark.examples
def test_successive_rejects_matches_reference():
    for seed in range(part(80, of=300)):
        rng = np.random.default_rng(seed)
        K = int(rng.integers(1, 41))
        policy = pb.policies.SuccessiveRejects(K, budget=random_budget(rng, K + 1))
        follow(policy, grid_table(rng, K))
        assert policy.n_pulls <= policy.budget and policy.survivors.size == 1


@pytest.mark.examples
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_sequential_halving_matches_reference(options):
    for seed in range(part(40, of=120)):
        rng = np.random.default_rng(seed)
        K = int(rng.integers(1, 41))
        policy = pb.policies.SequentialHalving(K, budget=random_budget(rng, K * stages_of(K)),
                                               **options)
        follow(policy, grid_table(rng, K))
        assert policy.n_batches == stages_of(K)


@pytest.mark.examples
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_shvar_matches_reference(options):
    for seed in range(part(60, of=200)):
        rng = np.random.default_rng(seed)
        K = int(rng.integers(1, 41))
        known = random_variances(rng, K)
        policy = pb.policies.SHVar(K, budget=random_budget(rng, K * stages_of(K)),
                                   noise_std=np.sqrt(known), **options)
        follow(policy, grid_table(rng, K))
        assert policy.n_batches == stages_of(K)


def test_shvar_with_most_arms_ahead_matches_reference():
    """With reuse, most survivors may start a stage with more pulls than they need in it."""
    alone = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        K = int(rng.integers(9, 41))
        known = 10 ** rng.uniform(-1, 1, K)
        known[rng.integers(K, size=2)] = 10 ** rng.uniform(2, 6, 2)
        for spare in 0, 7, 300:
            budget, table = K * stages_of(K) + spare, grid_table(rng, K, 1)
            options = dict(budget=budget, noise_std=np.sqrt(known), reuse=True)
            follow(pb.policies.SHVar(K, **options), table)
            alone += leaves_most_alone(pb.policies.SHVar(K, **options), table)
    assert alone > 100


def leaves_most_alone(policy, table):
    """Return True if a stage pulls fewer than half of the survivors."""
    bandit, found = pb.environments.TableBandit(table), False
    while not policy.done:
        arms = policy.ask()
        found |= 2 * np.unique(arms).size < policy.survivors.size
        policy.tell(arms, bandit.pull(arms))
    return found


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_shadavar_matches_reference(options):
    """The heap chooses the same arms as a scan of all arms."""
    chosen = 0
    for seed in range(130):
        rng = np.random.default_rng(seed)
        K = int(rng.integers(1, 41 if seed % 4 == 0 else 9))
        delta = float(rng.choice([0.05, 0.3, 0.5, 0.9, 0.999]))
        budget = random_budget(rng, K * stages_of(K))
        policy = pb.policies.SHAdaVar(K, budget=budget, delta=delta, **options)
        chosen += follow(policy, grid_table(rng, K))[1]
    assert chosen > 2500


def test_shadavar_without_ties_matches_reference():
    chosen = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        K = int(rng.integers(2, 12))
        table = np.round(rng.normal(0, 10 ** rng.uniform(-2, 2, K)[:, None], (K, 40)), 3)
        policy = pb.policies.SHAdaVar(K, budget=40 * K + 200, delta=0.5, reuse=seed % 2 == 0)
        reference, singles = follow(policy, table)
        chosen += singles
    assert chosen > 10_000


def test_shadavar_handles_nearly_infinite_bounds():
    """If 4 log(1 / delta) is nearly an integer, rounding makes no bound negative or NaN."""
    table = np.random.default_rng(1).random((4, 31))
    table[1] = 0.5
    for quarter in range(1, 60):
        for delta in (math.exp(-quarter / 4), np.nextafter(math.exp(-quarter / 4), 0),
                      np.nextafter(math.exp(-quarter / 4), 1)):
            policy = pb.policies.SHAdaVar(4, budget=2 * 4 * (quarter + 12), delta=delta)
            bandit, first = pb.environments.TableBandit(table), True
            while policy.survivors.size == 4:
                arms = policy.ask()
                if first:
                    assert arms.size in (4 * (quarter + 1), 4 * (quarter + 2))
                    first = False
                policy.tell(arms, bandit.pull(arms))
                keys = policy.get_state()["progress"]["keys"]
                assert np.isfinite(keys).all() and (keys >= 0).all()
