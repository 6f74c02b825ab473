"""Saved states with changed parts, and what a policy restored from one must satisfy."""

import numpy as np
from hypothesis import strategies as st

from policies.every_class import tell
from studies.cases import measured

MOST = 60  # maximum number of batches of a policy that never ends
VALUES = [-1, 0, 1, 2, 3, 7, -2**63, 2**31, 2**53, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64, 0.5,
          -0.5, 1e-300, 1e308, np.nan, np.inf, -np.inf, None, "x", True, [], [1, 2], {}, b"x"]


def in_array(array, value, at):
    """Return a copy with one entry replaced, of a dtype that can hold it."""
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
    """Change one entry of a dict in place."""
    old = part[name]
    if kind == 0:
        part[name] = VALUES[value % len(VALUES)]
    elif kind == 1:
        del part[name]
    elif isinstance(old, np.ndarray) and old.size and old.dtype != object:
        changes = [
            lambda: in_array(old, VALUES[value % len(VALUES)], at), lambda: old[1:],
            lambda: np.roll(old, 1 + at), lambda: old[::-1], lambda: -old.astype(np.int64),
            lambda: np.zeros_like(old), lambda: old.astype(float) + 1, lambda: old.tolist(),
        ]
        with np.errstate(invalid="ignore"):
            part[name] = changes[(kind + at) % 8]()
    elif isinstance(old, (int, float)):
        part[name] = old + [-1, 1, 2, -2, 5, 100][at % 6]


def entries_of(part):
    """Yield (dict, name) for all entries of a state and of all dicts in it, also of policies."""
    for name, value in part.items():
        yield part, name
        if isinstance(value, (tuple, list)) and value:
            value = value[-1]  # the options in a pair (name of a policy, options)
        if isinstance(value, dict):
            yield from entries_of(value)


def may_overflow(state):
    """Return True if the state holds numbers whose squares overflow."""
    arrays = [np.asarray(part[name]) for part, name in entries_of(state)]
    return any(np.abs(np.where(np.isfinite(one), one, 0.0)).max(initial=0.0) > 1e150
               for one in arrays if one.dtype.kind == "f")


def is_at_the_end(state):
    """Return True if further pulls cannot be counted or the covariances are not valid."""
    progress, options = state["progress"], state["options"]
    covariance = np.zeros((0, 0))
    if "rows" in progress and progress["weights"].size == 1 and options["kernel"] is not None:
        spread, n = progress["spread"], state["pulls"].size
        covariance = options["prior_std"] ** 2 * options["kernel"]
        if spread.size:
            covariance[np.tril_indices(n)] = spread
        covariance = covariance - progress["rows"].T @ progress["rows"]
    numbers = [part[name] for part, name in entries_of(state) if isinstance(part[name], int)]
    return max(numbers) > 2**52 or np.linalg.eigvalsh(covariance).min(initial=0.0) < -1e-6


def assert_keeps_its_promises(policy):
    """Check that the policy ends, keeps to its budget, and asks for existing arms.

    Its saved state must be accepted again, unless sums or counts overflow during the run, or
    forged covariances are not valid.
    """
    budget = getattr(policy, "budget", getattr(policy, "max_pulls", None))
    if getattr(policy, "costs", None) == "told":
        budget = None  # the last batch may cost more than the rest of the budget
    most = getattr(policy, "max_batches", None)
    state = policy.get_state()
    n_batches, vast = 0, may_overflow(state) or is_at_the_end(state)
    while not policy.done and n_batches < MOST + 1000 * (budget is not None or most is not None):
        if getattr(policy, "batch_size", 0) > 100_000:
            return
        arms = policy.ask()
        if arms.size > 100_000:
            return
        assert arms.size and arms.min() >= 0 and arms.max() < policy.n_arms
        tell(policy, arms, measured(n_batches, arms))
        n_batches += 1
        assert budget is None or policy.n_pulls <= budget
        assert most is None or policy.n_batches <= most
    assert policy.done or n_batches >= MOST
    best = policy.recommend()
    assert ((best >= 0) & (best < policy.n_arms)).all() and len(set(best.tolist())) == best.size
    if not vast:
        type(policy).from_state(policy.get_state())


# for each mutation: which entry, the kind of change, a value, a position
MUTATIONS = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 9), st.integers(0, 40),
                               st.integers(0, 20)), min_size=1, max_size=3)
