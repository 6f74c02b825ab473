"""A saved state is either refused with a reason, or restores a policy that keeps its promises."""

import copy

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pybandit as pb
from mutation_counts import share_of

from policies.every_class import EVERY, FAST, played, refitting, tell
from policies.mutations import (
    MUTATIONS,
    assert_keeps_its_promises,
    entries_of,
    in_array,
    mutated,
)
from policies.protocol import frozen


def assert_refused_or_harmless(name, stop, mutations, other):
    policy = played(EVERY[name](), stop, lost=0.1 * (stop % 3))
    state = policy.get_state()
    if other is not None:  # use entries from another time of the same run
        progress = played(EVERY[name](), other).get_state()["progress"]
        state["progress"] = {**state["progress"], **dict(list(progress.items())[:stop % 4])}
    for entry, kind, value, at in mutations:
        places = list(entries_of(state))
        if places:
            mutated(*places[entry % len(places)], kind, value, at)
    try:
        restored = type(policy).from_state(state)
    except ValueError as error:
        assert len(str(error)) > 10
        return
    assert_keeps_its_promises(restored)


CASES = dict(stop=st.integers(0, 25), mutations=MUTATIONS,
             other=st.none() | st.integers(0, 25))


@settings(max_examples=700, deadline=None, derandomize=True,
          suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from(FAST), **CASES)
def test_mutated_states_are_refused_or_harmless(name, stop, mutations, other):
    assert_refused_or_harmless(name, stop, mutations, other)


@pytest.mark.slow
@pytest.mark.parametrize("names", [FAST[part::4] for part in range(4)], ids=range(4))
@settings(max_examples=share_of(0.1785), deadline=None, derandomize=True,
          suppress_health_check=list(HealthCheck))
@given(which=st.integers(0, len(FAST)), **CASES)
def test_many_mutated_states_are_refused_or_harmless(names, which, stop, mutations, other):
    assert_refused_or_harmless(names[which % len(names)], stop, mutations, other)


@pytest.mark.slow
@settings(max_examples=share_of(0.01), deadline=None, derandomize=True,
          suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from(sorted(set(EVERY) - set(FAST))), **CASES)
def test_many_mutated_states_of_slow_policies_are_refused_or_harmless(name, stop, mutations, other):
    assert_refused_or_harmless(name, stop, mutations, other)


@pytest.mark.parametrize("name", EVERY)
def test_every_state_of_a_run_is_restored(name):
    """Saving the restored policy gives the same state, also with late and lost rewards."""
    policy = EVERY[name]()
    for stop in range(1, 60):
        played(policy, stop, lost=0.2, seed=stop)
        lost = policy.n_pulls - policy.pulls.sum()
        if stop % 4 == 0 and 0 < lost < 5 and not isinstance(policy,
                                                             pb.montecarlo.EstimatorAllocator):
            policy.add_late([0], [0.5])
        state = policy.get_state()
        assert frozen(type(policy).from_state(state).get_state()) == frozen(state)


LARGEST = np.finfo(float).max


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("stop", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_huge_numbers_are_checked_without_warnings(name, stop):
    """A state is refused with a reason or accepted; no check may overflow, which would warn."""
    policy = played(EVERY[name](), stop)
    cls, state = type(policy), policy.get_state()
    numbers = [(part, entry, part[entry]) for part, entry in entries_of(state)
               if isinstance(part[entry], (int, float)) or
               isinstance(part[entry], np.ndarray) and part[entry].size]
    assert numbers
    for part, entry, old in numbers:
        for number in (LARGEST, -LARGEST, 1e300, 5e-324, 2**63 - 1, -2**63):
            part[entry] = in_array(old, number, 0) if isinstance(old, np.ndarray) else number
            try:
                assert type(cls.from_state(state)) is cls
            except ValueError as error:
                assert len(str(error)) > 10
        part[entry] = old


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize("size", [1e150, -1e150, 1.1e150, -np.finfo(float).max])
def test_rewards_with_overflowing_squares_are_refused(name, size):
    """Otherwise restoring the state after such rewards would fail."""
    policy = EVERY[name]()
    for _ in range(6):
        if policy.done:
            break
        arms, before = policy.ask(), frozen(policy.get_state())
        try:
            tell(policy, arms, np.resize([size, -size], arms.size))
        except ValueError as error:
            assert "rewards must be" in str(error) or "estimates must" in str(error), error
            assert frozen(policy.get_state()) == before
            return
        type(policy).from_state(policy.get_state()).ask()
    assert abs(size) == 1e150


@pytest.mark.parametrize("entry, value", [("chosen", -1), ("chosen", -2), ("chosen", 7)])
def test_nonexistent_chosen_arm_is_refused(entry, value):
    state = played(EVERY["bayes gap"](), 3).get_state()
    state["progress"][entry] = value
    with pytest.raises(ValueError, match="state must hold .*chosen"):
        pb.policies.BayesGap.from_state(state)


@pytest.mark.parametrize("name", ["thompson", "top two", "gaussian thompson", "allocator"])
def test_repeating_stream_is_refused(name):
    """A stream of zeros repeats one number forever; `ask` once drew until another one came."""
    policy = played(EVERY[name](), 3)
    state = policy.get_state()
    state["progress"]["stream"] = np.zeros(6, dtype=np.uint64)
    with pytest.raises(ValueError, match="stream with an odd increment"):
        type(policy).from_state(state)


@pytest.mark.parametrize("entry, change, words", [
    ("reject_below", 2.0, "in reject_below"), ("accept_above", -1.0, "in reject_below"),
    ("lower", 1.0, "no lower bound above"), ("n_open", 1, "k, and arms on the ring")])
def test_inconsistent_thresholds_are_refused(entry, change, words):
    """Otherwise the policy would accept more arms than there are places."""
    state = played(EVERY["batch racing"](), 20).get_state()
    state["progress"][entry] = state["progress"][entry] + change
    with pytest.raises(ValueError, match=words):
        pb.policies.BatchRacing.from_state(state)


@pytest.mark.parametrize("cls", [pb.policies.LUCB, pb.policies.KLLUCB, pb.policies.UGapEc])
@pytest.mark.parametrize("k", [0, 3])
def test_finding_all_arms_or_none_is_done_at_once(cls, k):
    """In this case, UGapEc once read beyond its memory."""
    state = cls(3, k, delta=0.1).get_state()
    assert cls.from_state(state).done
    state["progress"]["stopped"] = False
    with pytest.raises(ValueError, match="stopped if k is 0 or n_arms"):
        cls.from_state(state)


@pytest.mark.parametrize("make, name",
                         [(lambda: pb.policies.BatchSAR(7, 2, batch_size=5, max_batches=12,
                                                        max_repeats=2), "sar_done"),
                          (lambda: pb.policies.BatchRacing(7, 2), "race_done")])
def test_done_state_without_an_answer_is_refused(make, name):
    """Otherwise a policy restored as done would recommend no arm."""
    state = played(make(), 3).get_state()
    state["progress"][name] = True
    with pytest.raises(ValueError, match="then k accepted arms"):
        make().from_state(state)


@pytest.mark.parametrize("dtype", ["float16", "float32", "longdouble"])
@pytest.mark.parametrize("make",
                         [lambda: refitting(pb.policies.GPUCB), EVERY["shvar"], EVERY["lucb"]])
def test_numbers_of_other_dtypes_are_accepted_or_refused(make, dtype):
    """Comparing with limits beyond the range of a dtype would warn, and must be avoided."""
    whole, n_changed = played(make(), 8).get_state(), 0
    for part in (None, "progress"):
        for name, value in (whole if part is None else whole[part]).items():
            if np.asarray(value).dtype == np.float64:
                state = copy.deepcopy(whole)
                within = state if part is None else state[part]
                within[name] = np.asarray(value).astype(dtype)
                n_changed += 1
                try:
                    back = type(make()).from_state(state).get_state()
                except ValueError as error:  # after rounding, sums may not match the other entries
                    assert "state must hold" in str(error)
                    continue
                kept = back[name] if part is None else back[part][name]
                assert np.asarray(kept).dtype == np.float64
    assert n_changed > 1


@pytest.mark.parametrize("theta", [[np.nan], np.zeros(2), 0.0, "text", None, [1j]])
def test_invalid_theta_is_refused(theta):
    state = played(refitting(pb.policies.GPUCB), 8).get_state()
    state["progress"]["theta"] = theta
    with pytest.raises(ValueError, match="state must hold .*theta"):
        pb.policies.GPUCB.from_state(state)


def test_doubt_without_a_rule_is_refused():
    state = played(EVERY["lucb"](), 8).get_state()
    state["progress"]["doubt"] = 1
    with pytest.raises(ValueError, match=r"doubt in \[-1, -1\]"):
        pb.policies.LUCB.from_state(state)


@pytest.mark.parametrize("n_pulls", [-1, 0, 1, 2, 3, 8, 9, 2**62])
def test_uncounted_pulls_are_refused(n_pulls):
    """With such states GPUCB once wrote beyond its memory, or, with negative pulls, never ended."""
    state = played(refitting(pb.policies.GPUCB), 4).get_state()
    state["n_pulls"] = n_pulls
    with pytest.raises(ValueError, match="state must hold"):
        pb.policies.GPUCB.from_state(state)


@pytest.mark.parametrize("state, words", [
    (None, "state must be a dict"), ([], "state must be a dict"), ({}, "hold options, progress"),
    ({"type": "UCB1", "options": 3, "progress": {}}, "hold options, a dict"),
    ({"type": "UCB1", "options": {"n_arms": 3}, "progress": {}}, "hold pulls of shape"),
    ({"type": "UCB1", "options": {"n_arms": 3, "arms": 3}, "pulls": [0] * 3, "progress": {}},
     "options of a UCB1: .*arms"),
    ({"type": "UCB1", "options": {"n_arms": 3}, "pulls": [0] * 3, "progress": None},
     "state must hold")])
def test_non_states_are_refused(state, words):
    with pytest.raises(ValueError, match=words):
        pb.policies.UCB1.from_state(state)
