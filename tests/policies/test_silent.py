"""Silent arms: set aside, reported, asked again rarely, while the other arms are decided."""

import copy
import math

import numpy as np
import pytest

import pybandit as pb
from pybandit.lab.report import write_report
from pybandit.stopping import GLR

from policies.every_class import EVERY
from policies.protocol import COPIES, frozen
from policies.reference.silence import Silence
from policies.silent_runs import (
    ADAPTIVE,
    ENDLESS,
    HORIZON,
    SITUATIONS,
    SURE,
    K,
    Losses,
    play,
    right,
)

# policies whose rules get stuck, so that they err even without lost pulls
ERRING = {"expected", "probable"}


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("name", ADAPTIVE)
def test_other_arms_are_decided_despite_silent_arms(name, situation):
    policy, asked = play(ADAPTIVE[name](), situation, 6 * HORIZON if name in SURE else HORIZON)
    silent = Losses(situation).silent
    if name in SURE:
        assert policy.done and policy.decided if hasattr(policy, "stopping") else policy.done
    if name not in ERRING:
        assert set(policy.recommend().tolist()) == right(policy, silent)
    assert set(policy.silent.tolist()) <= set(silent)
    for arm in policy.silent:
        # lost pulls: ten, one per doubling of the wait, twenty at the end; a batch may add several
        most = 11 + math.log2(max(policy.n_pulls / 10, 1)) + 20 * (name in SURE)
        assert asked[arm] - policy.pulls[arm] <= most + 18 * ("batches" in name or "two" in name)


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("name", ADAPTIVE)
def test_runs_with_silent_arms_continue_bit_for_bit(name, situation):
    kinds, rng = list(COPIES.values()), np.random.default_rng(1)
    straight, asked = play(ADAPTIVE[name](), situation, 300)
    copied, same = play(ADAPTIVE[name](), situation, 300,
                        lambda policy: kinds[rng.integers(len(kinds))](policy))
    assert same.tolist() == asked.tolist()
    assert frozen(copied.get_state()) == frozen(straight.get_state())


ONE_BY_ONE = sorted(set(ADAPTIVE) - {"racing two", "thompson batches"})


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_retries_match_reference(name, situation):
    """Silent arms are asked only when due, or if only silent arms are undecided."""
    reference, policy = Silence(K), ADAPTIVE[name]()
    needed = 2 if name in ("gapv", "top two unknown", "ebtc aware", "good unknown") else 1
    seen, n_last, was_retry = np.zeros(K, dtype=int), 0, False

    def look(policy, arms, rewards):
        nonlocal n_last, was_retry
        assert policy.silent.tolist() == reference.silent
        again = reference.asked_again()
        if set(arms) & set(reference.silent) and arms.tolist() != [again]:
            n_last += 1
            assert name in SURE and arms.tolist() == [reference.last_asked()]
        elif again is not None and not (was_retry and name in SURE):
            # between two retries, policies that end may ask another arm
            assert arms.tolist() == [again]
        was_retry = bool(set(arms) & set(reference.silent))
        np.add.at(seen, arms[~np.isnan(rewards)], 1)
        reference.tell(arms.tolist(), rewards.tolist(), seen, needed)

    policy, _ = play(policy, situation, 500, look=look)
    assert policy.silent.tolist() == reference.silent
    if policy.done and name in SURE and policy.silent.size:
        assert n_last and reference.last_asked() is None


@pytest.mark.parametrize("name", sorted(set(EVERY) - {one for one in EVERY if "alloc" in one}))
def test_every_policy_names_an_arm_that_never_answers(name):
    policy = EVERY[name]()
    rng, lost = np.random.default_rng(2), 0
    while not policy.done and policy.n_batches < 80:
        arms = policy.ask()
        rewards = np.where(arms == 1, np.nan, 0.4 + 0.1 * arms + 0.01 * rng.random(arms.size))
        policy.tell(arms, np.minimum(rewards, 1.0), missing="drop")
        lost += int((arms == 1).sum())
    assert policy.silent.tolist() == [1] * (lost >= 10)
    assert ("silent: 1" in repr(policy)) == (lost >= 10)
    assert 1 not in policy.recommend()[:policy.n_arms - 1]


def test_all_silent_arms_are_asked_in_turn():
    policy = pb.policies.LUCB(3, delta=0.1, noise_std=0.1)
    for _ in range(10):
        policy.tell(policy.ask(), np.full(3, np.nan), missing="drop")
    assert policy.silent.tolist() == [0, 1, 2]
    turns = []
    for _ in range(7):
        turns += policy.ask().tolist()
        policy.tell(policy.ask(), [np.nan], missing="drop")
    assert turns == [0, 1, 2, 0, 1, 2, 0] and not policy.done
    assert policy.recommend().tolist() == [0]
    policy.tell(policy.ask(), [0.5])
    assert policy.silent.tolist() == [0, 2]


def test_recommend_names_silent_arms_last():
    policy = pb.policies.UGapEc(4, delta=0.1, k=3, noise_std=0.01)
    while not policy.done:
        arms = policy.ask()
        policy.tell(arms, np.where(arms < 2, np.nan, 0.1 * arms), missing="drop")
    assert policy.recommend().tolist() == [3, 2, 0] and policy.silent.tolist() == [0, 1]


@pytest.mark.parametrize("make", [
    lambda: pb.policies.GoodArms(4, delta=0.1, threshold=0.5, noise_std=0.1),
    lambda: pb.policies.APT(4, max_pulls=400, threshold=0.5)])
def test_silent_arm_is_neither_good_nor_bad(make):
    policy, n_seen = make(), 0
    while not policy.done:
        arms = policy.ask()
        # the few rewards of arm 3 are those of a good arm
        rewards = np.where(arms == 3, 0.52, 0.3 * arms)
        if 3 in arms:
            n_seen += 1
            rewards[arms == 3] = 0.52 if n_seen <= 2 else np.nan
        policy.tell(arms, rewards, missing="drop")
    assert policy.recommend().tolist() == [2] and policy.silent.tolist() == [3]
    if isinstance(policy, pb.policies.GoodArms):
        assert policy.good.tolist() == [2] and policy.bad.tolist() == [0, 1] and policy.decided


@pytest.mark.parametrize("after", [1, 3, 25])
def test_silent_after_sets_the_number_of_losses(after):
    policy = pb.policies.UCB1(3)
    policy.silent_after = after
    assert policy.silent_after == after
    n_lost = 0
    while not policy.silent.size:
        arms = policy.ask()
        policy.tell(arms, np.where(arms == 1, np.nan, 0.5), missing="drop")
        n_lost += int((arms == 1).sum())
    assert n_lost == after
    assert copy.deepcopy(policy).silent_after == after


def test_silent_after_none_never_sets_aside():
    policy = pb.policies.UCB1(3)
    policy.silent_after = None
    for _ in range(200):
        arms = policy.ask()
        policy.tell(arms, np.where(arms == 1, np.nan, 0.5), missing="drop")
    assert policy.silent.size == 0 and policy.silent_after is None


@pytest.mark.parametrize("value, error", [(0, ValueError), (-1, ValueError), (2.5, TypeError),
                                          ("x", TypeError), (np.nan, TypeError)])
def test_bad_silent_after_is_refused(value, error):
    policy = pb.policies.UCB1(3)
    with pytest.raises(error, match="silent_after must be"):
        policy.silent_after = value
    assert policy.silent_after == 10


def test_late_reward_asks_a_silent_arm_again():
    policy = pb.policies.UCB1(3)
    while not policy.silent.size:
        arms = policy.ask()
        policy.tell(arms, np.where(arms == 1, np.nan, 0.5), missing="drop")
    asked = policy.ask()
    policy.add_late([1], [0.75])
    assert policy.ask().tolist() == asked.tolist() and policy.silent.tolist() == [1]
    policy.tell(asked, np.full(asked.size, 0.5))
    assert policy.ask().tolist() == [1]
    policy.tell([1], [0.75])
    assert policy.silent.size == 0 and policy.pulls[1] == 2


def test_counts_bring_a_silent_arm_back():
    policy = pb.policies.ThompsonSampling(3, rng=1)
    while not policy.silent.size:
        arms = policy.ask()
        policy.tell(arms, np.where(arms == 1, np.nan, 0.5), missing="drop")
    policy.tell_counts([0, 4, 0], [0.0, 4.0, 0.0])
    assert policy.silent.size == 0 and policy.pulls[1] == 4


def test_a_state_without_losses_is_refused():
    state = pb.policies.UCB1(3).get_state()
    del state["silence"]
    with pytest.raises(ValueError, match="state must hold silence; got none"):
        pb.policies.UCB1.from_state(state)


def test_losses_of_missing_raise_are_not_counted():
    policy = pb.policies.UCB1(2)
    with pytest.raises(ValueError, match="rewards must be finite"):
        policy.tell(policy.ask(), [np.nan, 0.5])
    assert policy.silent.size == 0 and policy.n_pulls == 0


@pytest.mark.parametrize("name", ["ucb1", "elimination", "racing two", "bayes gap"])
def test_states_with_forged_losses_are_refused_or_end(name):
    policy, _ = play(ADAPTIVE[name](), "never", 60)
    for change in (dict(n_counted=3), dict(lost=-1), dict(asked=2**40), dict(after=-1),
                   dict(aside=np.ones(K + 1, dtype=bool)), dict(due=np.nan)):
        state = policy.get_state()
        for key, value in change.items():
            old = state["silence"][key]
            state["silence"][key] = (np.full(K, value) if isinstance(old, np.ndarray)
                                     and np.ndim(value) == 0 else value)
        with pytest.raises(ValueError, match="state must hold"):
            type(policy).from_state(state)


# -- the guarantee --------------------------------------------------------------------------

RULES = {
    "elimination": lambda: pb.policies.SuccessiveElimination(4, stopping=GLR(delta=0.1,
                                                                             noise_std=0.5)),
    "top two": lambda: pb.policies.TopTwo(4, stopping=GLR(delta=0.1, noise_std=0.5),
                                          leader="empirical", rng=1),
    "good": lambda: pb.policies.GoodArms(4, delta=0.1, threshold=0.2, noise_std=0.5),
}


@pytest.mark.parametrize("name", RULES)
def test_errors_stay_below_delta_if_the_best_arm_comes_and_goes(name):
    """The best arm answers 8 pulls, then loses 12, regardless of rewards; arm 2 never answers."""
    means, n_runs, errors = np.array([0.0, 0.4, 0.15, 0.3]), 150, 0
    truth = {3, 1} if name == "good" else {1}
    for run in range(n_runs):
        rng, policy, n_asked = np.random.default_rng(run), RULES[name](), 0
        while not policy.done:
            arms = policy.ask()
            rewards = rng.normal(means[arms], 0.5)
            for j, arm in enumerate(arms):
                n_asked += arm == 1
                if arm == 2 or arm == 1 and n_asked % 20 >= 8:
                    rewards[j] = np.nan
            policy.tell(arms, rewards, missing="drop")
        assert policy.silent.tolist() == [2] and policy.decided
        errors += set(policy.recommend().tolist()) != truth
    assert errors <= 0.1 * n_runs


def test_report_and_status_name_silent_arms(tmp_path):
    assert set(ENDLESS) | set(SURE) == set(ADAPTIVE)
    study = pb.Study.create(str(tmp_path / "a.db"), pb.policies.UCB1(3), arms=["A1", "B2", "C3"])
    while not study.status().silent:
        batch = study.ask()
        study.tell(batch.id, [math.nan if name == "B2" else 0.5 for name in batch.names],
                   missing="drop")
    assert study.status().silent == ["B2"]
    write_report(study, tmp_path / "r.html")
    assert "Silent arms, without recent results: B2" in (tmp_path / "r.html").read_text()
