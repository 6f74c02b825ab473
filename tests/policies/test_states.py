"""A state that is restored is refused with a reason, or is a policy that keeps its promises."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pybandit as pb

from policies.every_class import EVERY, FAST, played, refitting
from policies.protocol import frozen
from studies.cases import measured

MOST = 60  # batches of a policy that never ends
VALUES = [-1, 0, 1, 2, 3, 7, -2**63, 2**31, 2**53, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64, 0.5,
          -0.5, 1e-300, 1e308, np.nan, np.inf, -np.inf, None, "x", True, [], [1, 2], {}, b"x"]


def in_array(array, value, at):
    """A copy with one entry replaced, of a type that holds it."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            changed = np.array(array, dtype=float if isinstance(value, float) else array.dtype)
            changed.flat[at % changed.size] = value
            return changed
        except (OverflowError, ValueError):
            pass
    changed = array.astype(object)
    changed.flat[at % changed.size] = value
    return changed


def mutated(part, name, kind, value, at):
    """Changes one entry of a dict, and the dict itself."""
    old = part[name]
    if kind == 0:
        part[name] = VALUES[value % len(VALUES)]
    elif kind == 1:
        del part[name]
    elif isinstance(old, np.ndarray) and old.size:
        part[name] = [
            lambda: in_array(old, VALUES[value % len(VALUES)], at), lambda: old[1:],
            lambda: np.roll(old, 1 + at), lambda: old[::-1], lambda: -old.astype(np.int64),
            lambda: np.zeros_like(old), lambda: old.astype(float) + 1, lambda: old.tolist(),
        ][(kind + at) % 8]()
    elif isinstance(old, (int, float)):
        part[name] = old + [-1, 1, 2, -2, 5, 100][at % 6]


def entries_of(state):
    """Where an entry is, in an order of its own; rules of allocators check theirs themselves."""
    top = [(state, name) for name in state if name != "progress"]
    return top + [(state["progress"], name) for name in state["progress"] if name != "rule"] + [
        (state["options"], name) for name in state["options"] if name != "policy"]


def assert_keeps_its_promises(policy):
    """It ends, spends no more than its budget, and asks for its own arms."""
    budget = getattr(policy, "budget", None)
    most = getattr(policy, "max_batches", None)
    n_batches = 0
    while not policy.done and n_batches < MOST + 1000 * (budget is not None or most is not None):
        arms = policy.ask()
        if arms.size > 100_000:
            return
        assert arms.size and arms.min() >= 0 and arms.max() < policy.n_arms
        policy.tell(arms, measured(n_batches, arms))
        n_batches += 1
        assert budget is None or policy.n_pulls <= budget
        assert most is None or policy.n_batches <= most
    assert policy.done or n_batches >= MOST
    best = policy.recommend()
    assert ((best >= 0) & (best < policy.n_arms)).all() and len(set(best.tolist())) == best.size
    type(policy).from_state(policy.get_state())


def mutation_is_refused_or_harmless(name, stop, mutations, other):
    policy = played(EVERY[name](), stop, lost=0.1 * (stop % 3))
    state = policy.get_state()
    if other is not None:  # entries of another moment of the same run
        progress = played(EVERY[name](), other).get_state()["progress"]
        state["progress"] = {**state["progress"], **dict(list(progress.items())[:stop % 4])}
    for entry, kind, value, at in mutations:
        places = entries_of(state)
        mutated(*places[entry % len(places)], kind, value, at)
        if not all(isinstance(state.get(part), dict) for part in ("progress", "options")):
            break
    try:
        restored = type(policy).from_state(state)
    except ValueError as error:
        assert len(str(error)) > 10
        return
    assert_keeps_its_promises(restored)


MUTATIONS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9), st.integers(0, 40),
                               st.integers(0, 20)), min_size=1, max_size=3)
CASES = dict(stop=st.integers(0, 25), mutations=MUTATIONS,
             other=st.none() | st.integers(0, 25))


@settings(max_examples=700, deadline=None, derandomize=True,
          suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from(FAST), **CASES)
def test_mutated_states(name, stop, mutations, other):
    mutation_is_refused_or_harmless(name, stop, mutations, other)


@pytest.mark.slow
@settings(max_examples=100_000, deadline=None, derandomize=True,
          suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from(sorted(EVERY)), **CASES)
def test_a_hundred_thousand_mutated_states(name, stop, mutations, other):
    mutation_is_refused_or_harmless(name, stop, mutations, other)


@pytest.mark.parametrize("name", EVERY)
def test_every_state_of_a_run_is_taken(name):
    """And what it makes is the same, late rewards and lost ones included."""
    policy = EVERY[name]()
    for stop in range(1, 60):
        played(policy, stop, lost=0.2, seed=stop)
        lost = policy.n_pulls - policy.pulls.sum()
        if stop % 4 == 0 and 0 < lost < 5 and not isinstance(policy, pb.EstimatorAllocator):
            policy.add_late([0], [0.5])
        state = policy.get_state()
        assert frozen(type(policy).from_state(state).get_state()) == frozen(state)


@pytest.mark.parametrize("entry, value", [("chosen", -1), ("chosen", -2), ("chosen", 7)])
def test_a_chosen_arm_that_does_not_exist_is_refused(entry, value):
    state = played(EVERY["bayes gap"](), 3).get_state()
    state["progress"][entry] = value
    with pytest.raises(ValueError, match="state must hold .*chosen"):
        pb.BayesGap.from_state(state)


@pytest.mark.parametrize("n_pulls", [-1, 0, 1, 2, 3, 8, 9, 2**62])
def test_pulls_that_were_not_counted_are_refused(n_pulls):
    """GPUCB with refits wrote behind its memory, and one of negative pulls never ended."""
    state = played(refitting(pb.GPUCB), 4).get_state()
    state["n_pulls"] = n_pulls
    with pytest.raises(ValueError, match="state must hold"):
        pb.GPUCB.from_state(state)


@pytest.mark.parametrize("state, words", [
    (None, "state must be a dict"), ([], "state must be a dict"), ({}, "hold options, progress"),
    ({"type": "UCB1", "options": 3, "progress": {}}, "hold options, a dict"),
    ({"type": "UCB1", "options": {"n_arms": 3}, "progress": {}}, "hold pulls of shape"),
    ({"type": "UCB1", "options": {"n_arms": 3, "arms": 3}, "pulls": [0] * 3, "progress": {}},
     "options of a UCB1; got others: .*arms"),
    ({"type": "UCB1", "options": {"n_arms": 3}, "pulls": [0] * 3, "progress": None},
     "state must hold")])
def test_what_is_no_state(state, words):
    with pytest.raises(ValueError, match=words):
        pb.UCB1.from_state(state)
