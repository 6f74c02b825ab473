"""VBR, EBTC and ContinuousRejects: cases, reference runs, the protocol."""

import json
from pathlib import Path

import numpy as np
import pytest

import pybandit as pb
from costly import part

from policies import protocol
from policies.one_at_a_time import BY_THEMSELVES, TABLE, N
from policies.reference import top_two as plain

CASES = json.loads((Path(__file__).parent / "data" / "vbr_cases.json").read_text())["cases"]


def play(policy, bandit):
    """Run a policy; return the arms in order, and the eliminated arms in order."""
    order, rejected = [], []
    while not policy.done:
        arms = policy.ask()
        before = set(getattr(policy, "survivors", np.array([])).tolist())
        policy.tell(arms, bandit.pull(arms))
        order += arms.tolist()
        left = before - set(getattr(policy, "survivors", np.array([])).tolist())
        # the order of arms eliminated at once is unknown: sort them
        rejected.append(sorted(left))
    return policy, order, [arm for arms in rejected for arm in arms]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["params"]))
def test_vbr_matches_cases(case):
    K, n, expect = case["params"]["K"], case["params"]["n"], case["expect"]
    policy, order, rejected = play(pb.policies.VBR(K, budget=n),
                                   pb.environments.TableBandit(case["rewards"]))
    assert order == expect["pulls"] and rejected == expect["rejected"]
    assert policy.pulls.tolist() == expect["counts"]
    assert policy.recommend().tolist() == [expect["out"]]
    reference = plain.VBR(K, n)
    assert reference.run(drawing(case["rewards"])) == expect["out"]
    assert reference.order == expect["pulls"] and reference.rejected == expect["rejected"]


# -- reference runs -------------------------------------------------------------------


def drawing(table, lost=lambda reward: reward):
    seen = [0] * len(table)

    def draw(arm):
        row = table[arm]
        seen[arm] += 1
        return lost(row[(seen[arm] - 1) % len(row)])

    return draw


def random_table(rng, n_arms):
    """Return rewards on a grid, so that means tie, or rewards without ties."""
    steps = int(rng.choice([0, 1, 2, 4, 16]))
    if not steps:
        return rng.random((n_arms, 61)).tolist()
    return (rng.integers(0, steps + 1, (n_arms, 7)) / steps).tolist()


def variances_of(rng, n_arms, kind):
    return rng.uniform(0.1, 2.0, n_arms).round(2) if kind == "known" else None


def make_pair(kind, rng):
    K = int(rng.integers(1, 15))
    spare = int(rng.integers(1, 40)) * int(rng.integers(1, 8))
    if kind == "vbr":
        return pb.policies.VBR(K, budget=K + spare), plain.VBR(K, K + spare)
    if kind in ("C", "A"):
        T = K + spare - 1
        return pb.policies.ContinuousRejects(K, budget=T,
                                             criterion=kind), plain.ContinuousRejects(K, T, kind)
    T = 2 * K + spare
    epsilon, aware = float(rng.choice([0, 0.01, 0.1, 1])), kind == "aware"
    variances = variances_of(rng, K, kind)
    noise = "estimated" if aware else None if variances is None else np.sqrt(variances)
    return (pb.policies.EBTC(K, max_pulls=T, epsilon=epsilon, noise_std=noise),
            plain.EBTC(K, T, epsilon, variances, aware))


KINDS = ["vbr", "plain", "known", "aware", "C", "A"]


@pytest.mark.examples
@pytest.mark.parametrize("kind", KINDS)
def test_policies_match_reference(kind):
    for seed in range(part(60, of=200)):
        rng = np.random.default_rng([seed, KINDS.index(kind)])
        policy, reference = make_pair(kind, rng)
        table = random_table(rng, policy.n_arms)
        policy, order, rejected = play(policy, pb.environments.TableBandit(table))
        out = reference.run(drawing(table))
        assert order == reference.order, (seed, kind)
        assert policy.pulls.tolist() == reference.pulls
        if policy.n_pulls or policy.n_arms == 1:
            assert policy.recommend().tolist() == [out], (seed, kind)
        if hasattr(policy, "survivors"):
            assert policy.survivors.tolist() == reference.alive
            assert sorted(rejected) == sorted(reference.rejected)


@pytest.mark.parametrize("kind", ["plain", "aware", "C", "A"])
def test_policies_with_lost_pulls_match_reference(kind):
    for seed in range(60):
        rng = np.random.default_rng([seed, KINDS.index(kind), 1])
        policy, reference = make_pair(kind, rng)
        table = np.array(random_table(rng, policy.n_arms))
        table[rng.random(table.shape) < 0.3] = np.nan
        table[:, -1] = 0.5
        seen = [0] * policy.n_arms
        log = []

        def pull(arm, seen=seen, table=table):
            seen[arm] += 1
            return table[arm, (seen[arm] - 1) % table.shape[1]]

        while not policy.done:
            arms = policy.ask()
            policy.tell(arms, [pull(arm) for arm in arms], missing="drop")
            log += arms.tolist()
        if any(not row for row in policy.pulls.tolist()):
            continue  # the reference has no mean for an arm without rewards
        reference.run(drawing(table.tolist()))
        assert log == reference.order and policy.pulls.tolist() == reference.pulls


def test_vbr_rejects_arms_without_rewards_first():
    """An arm that lost all pulls is eliminated first; one with a single reward is pulled first."""
    policy = pb.policies.VBR(3, budget=24)
    policy.tell(policy.ask(), np.where(policy.ask() == 2, np.nan, 0.5), missing="drop")
    assert policy.survivors.tolist() == [0, 1]
    policy = pb.policies.VBR(3, budget=24)
    arms = policy.ask()
    rewards = np.where(arms == 0, 0.0, np.arange(arms.size) % 2)
    rewards[np.flatnonzero(arms == 2)[1:]] = np.nan
    rewards[np.flatnonzero(arms == 2)[0]] = 1.0
    policy.tell(arms, rewards, missing="drop")
    assert policy.survivors.tolist() == [1, 2] and policy.ask().tolist() == [2]


def test_equal_rewards_break_ties_by_index():
    """EB-TC breaks ties by the lowest index; the others reject the highest."""
    ones = pb.environments.TableBandit([[0.5]] * 4)
    for policy in (pb.policies.VBR(4, budget=40), pb.policies.EBTC(4, max_pulls=40),
                   pb.policies.ContinuousRejects(4, budget=40),
                   pb.policies.EBTC(4, max_pulls=40, noise_std="estimated", epsilon=0)):
        assert play(policy, ones)[0].recommend().tolist() == [0]
        ones.reset()


# -- the protocol -----------------------------------------------------------------------

@pytest.mark.parametrize("make", BY_THEMSELVES.values(), ids=BY_THEMSELVES)
def test_invalid_states_are_refused(make):
    """States that would make C code read beyond its memory are refused."""
    policy, _ = protocol.play(make(), pb.environments.TableBandit(TABLE), 4)
    others = [other() for other in BY_THEMSELVES.values()]
    protocol.assert_states_of_others_refused(policy, others)
    if isinstance(policy, pb.policies.EBTC):
        for name, convert in ("leader", int), ("chosen", lambda arm: np.array([arm])):
            changes = [{name: convert(N)}, {name: convert(-1)}]
            protocol.assert_entries_refused(policy, changes, rf"hold {name} in \[0, 5\]")
        protocol.assert_entries_refused(make(), [dict(counts=np.full(N, 3)),
                                                 dict(counts=np.full(N, -1))], "hold counts in")
        return
    protocol.assert_bad_rings_refused(make())
    if isinstance(policy, pb.policies.VBR):
        protocol.assert_bad_heaps_refused(policy)
    else:
        changes = [dict(pending=N + 1), dict(pending=0)]
        protocol.assert_entries_refused(policy, changes, "hold pending in")


def test_budgets_are_kept():
    rng = np.random.default_rng(3)
    for _ in range(200):
        K, spare = int(rng.integers(2, 30)), int(rng.integers(1, 60))
        table = pb.environments.TableBandit(random_table(rng, K))
        for aware in (False, True):
            policy = play(pb.policies.EBTC(K, noise_std="estimated" if aware else None,
                                           max_pulls=2 * K + spare), table)[0]
            assert policy.n_pulls == 2 * K + spare == policy.pulls.sum()
        for policy in (pb.policies.VBR(K, budget=K + spare),
                       pb.policies.ContinuousRejects(K, budget=K + spare)):
            policy = play(policy, table)[0]
            assert policy.n_pulls == policy.pulls.sum() <= K + spare
            if isinstance(policy, pb.policies.VBR):
                assert policy.survivors.size == 1
            else:
                assert policy.survivors.size == 1 or policy.n_pulls == K + spare
        same = pb.policies.SuccessiveRejects(K, budget=K + spare)
        table.reset()
        assert play(same, table)[0].n_pulls == play(pb.policies.VBR(K, budget=K + spare),
                                                    table)[0].n_pulls


def test_ebtc_without_budget_makes_the_same_pulls():
    """EBTC without a budget never ends, and makes the same pulls as with one."""
    short, bandit = pb.policies.EBTC(N, max_pulls=300), pb.environments.TableBandit(TABLE)
    order = play(short, bandit)[1]
    policy, seen = pb.policies.EBTC(N), []
    bandit.reset()
    assert policy.max_pulls is None and policy.recommend().tolist() == [0]
    while policy.n_pulls < 300:
        arms = policy.ask()
        policy.tell(arms, bandit.pull(arms))
        seen += arms.tolist()
        assert not policy.done
    assert seen == order and short.pulls.tolist() == policy.pulls.tolist()


def test_leader_gets_half_of_the_pulls():
    best = pb.environments.TableBandit([[0.2], [0.9], [0.3], [0.1]])
    pulls = play(pb.policies.EBTC(4, max_pulls=404), best)[0].pulls
    assert pulls[1] == 1 + 201  # its first pull, then 400 / 2 + 1 because of rounding


def test_one_arm_is_recommended():
    assert pb.policies.VBR(1, budget=0).done and pb.policies.ContinuousRejects(1, budget=0).done
    policy = pb.policies.EBTC(1, max_pulls=7)
    assert play(policy, pb.environments.TableBandit([[0.5]]))[0].n_pulls == 7


@pytest.mark.parametrize("make, error, message", [
    (lambda: pb.policies.VBR(4, budget=4), pb.errors.InfeasibleBudgetError,
     "budget must be at least 5 for 4 arms.*got 4"),
    (lambda: pb.policies.VBR(0, budget=4), ValueError, "n_arms must be at least 1; got 0"),
    (lambda: pb.policies.VBR(4, budget=9.5), TypeError, "budget must be an integer; got 9.5"),
    (lambda: pb.policies.EBTC(4, max_pulls=3), pb.errors.InfeasibleBudgetError,
     "at least 4 for 4 arms.*got 3"),
    (lambda: pb.policies.EBTC(4, max_pulls=7, noise_std="estimated"),
     pb.errors.InfeasibleBudgetError,
     "at least 8 for 4 arms.*got 7"),
    (lambda: pb.policies.EBTC(4, epsilon=-0.1), ValueError,
     "epsilon must be finite and at least 0; got"),
    (lambda: pb.policies.EBTC(4, epsilon=np.nan), ValueError, "epsilon must be finite"),
    (lambda: pb.policies.EBTC(4, epsilon="x"), TypeError, "epsilon must hold real numbers"),
    (lambda: pb.policies.EBTC(4, noise_std=[1.0, 2.0]), ValueError,
     r"shape \(4,\), one value per arm; got shape \(2,\)"),
    (lambda: pb.policies.EBTC(2, noise_std=[1.0, 0.0]), ValueError,
     r"noise_std must be in \[1e-150, 1e\+150\]; got 0.0"),
    (lambda: pb.policies.EBTC(2, noise_std="known"), ValueError,
     "noise_std must be an array, 'estimated' or None; got 'known'"),
    (lambda: pb.policies.ContinuousRejects(4, budget=3), pb.errors.InfeasibleBudgetError,
     "at least 4 for 4 arms.*got 3"),
    (lambda: pb.policies.EBTC(4, max_pulls=2**70), ValueError,
     f"max_pulls must be at most {2**53}; got {2**70}"),
    (lambda: pb.policies.EBTC(4, max_pulls=2**53 + 1), ValueError,
     f"max_pulls must be at most {2**53}; got"),
    (lambda: pb.policies.ContinuousRejects(4, budget=2**70), ValueError,
     f"budget must be at most {2**53}; got"),
    (lambda: pb.policies.ContinuousRejects(2**70, budget=9), ValueError,
     f"n_arms must be at most {2**40}"),
    (lambda: pb.policies.ContinuousRejects(4, budget=9, criterion="B"), ValueError,
     "criterion must be one of 'C', 'A'"),
])
def test_bad_input_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
