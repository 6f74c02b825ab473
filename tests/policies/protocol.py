"""Assertions that hold for every policy, one per promise of the protocol; all families use them."""

import copy
import pickle
import re

import numpy as np
import pytest

import pybandit as pb

COPIES = {
    "itself": lambda policy: policy,
    "state": lambda policy: type(policy).from_state(policy.get_state()),
    "pickle": lambda policy: pickle.loads(pickle.dumps(policy)),
    "deepcopy": copy.deepcopy,
}


def frozen(value):
    """Return a state, or any part of one, in a form that can be compared bit for bit."""
    if isinstance(value, dict):
        return {name: frozen(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return repr(value)


def play(policy, bandit, most_batches=100_000, copied=COPIES["itself"], lost=lambda a, r: r):
    """Run a policy; return it and the arms of each batch."""
    log = []
    while not policy.done and policy.n_batches < most_batches:
        policy = copied(policy)
        arms = policy.ask()
        log.append(arms.tolist())
        policy.tell(arms, lost(arms, bandit.pull(arms)), missing="drop")
    return policy, log


def assert_asking_changes_nothing(make, bandit, most_batches=400):
    """Check that neither `ask` nor the order within a tell matters, if sums are always exact."""
    rng, policy, other = np.random.default_rng(0), make(), make()
    while not policy.done and policy.n_batches < most_batches:
        before = frozen(policy.get_state())
        arms = policy.ask()
        for again in policy.ask(), policy.ask():
            assert again.dtype == np.int64 and np.array_equal(again, arms)
            again[:] = -1
        assert frozen(policy.get_state()) == before
        rewards = bandit.pull(arms)
        mixed = rng.permutation(arms.size)
        rewards.flags.writeable = False
        policy.tell(arms, rewards)
        other.tell(arms[mixed].astype(np.int16), rewards[mixed].tolist())
        assert other.pulls.tolist() == policy.pulls.tolist()
        assert frozen(other.means) == frozen(policy.means)
        assert np.allclose(other.variances, policy.variances, atol=1e-12, equal_nan=True)
        assert np.array_equal(other.ask(), policy.ask())
        if hasattr(policy, "survivors"):
            assert np.array_equal(other.survivors, policy.survivors)
    assert policy.n_batches > 0
    assert np.array_equal(other.recommend(), policy.recommend())


def assert_statistics(policy, read):
    """Check pulls, means and variances against lists of rewards, one per arm."""
    assert policy.pulls.tolist() == [len(seen) for seen in read]
    for arm, seen in enumerate(read):
        mean = np.mean(seen) if seen else np.nan
        variance = np.var(seen, ddof=1) if len(seen) > 1 else np.nan
        assert policy.means[arm] == pytest.approx(mean, rel=1e-12, nan_ok=True)
        assert policy.variances[arm] == pytest.approx(variance, rel=1e-9, nan_ok=True)


def assert_known_on_the_way(make, bandit, check=lambda policy: None):
    """Check statistics after each batch and the policy once it is done; return the policy."""
    policy = make()
    read = [[] for _ in range(policy.n_arms)]
    assert not policy.done and policy.n_pulls == policy.n_batches == 0
    assert policy.pulls.dtype == np.int64
    assert_statistics(policy, read)
    while not policy.done:
        arms = policy.ask()
        assert f"{policy.n_pulls} pulls" in repr(policy)
        if hasattr(policy, "survivors"):
            assert policy.survivors.dtype == np.int64 and set(arms) <= set(policy.survivors)
        rewards = bandit.pull(arms)
        policy.tell(arms, rewards)
        for arm, reward in zip(arms, rewards, strict=True):
            read[arm].append(reward)
        assert policy.n_pulls == policy.pulls.sum() > 0
        assert_statistics(policy, read)
        assert policy.recommend().dtype == np.int64
        check(policy)
    assert "done" in repr(policy)
    assert policy.ask().shape == (0,) and policy.ask().dtype == np.int64
    best, before = policy.recommend().tolist(), frozen(policy.get_state())
    for values in policy.pulls, policy.means, policy.variances, getattr(policy, "survivors", []):
        values[:] = [-1] * len(values)
    for arms, rewards in ([0], [0.5]), (policy.ask(), []):
        with pytest.raises(pb.errors.ProtocolError, match="the policy is done"):
            policy.tell(arms, rewards)
    assert frozen(policy.get_state()) == before and policy.recommend().tolist() == best
    return policy


def replaced(values, at, value):
    values = np.array(values, dtype=float if isinstance(value, float) else None)
    values[at] = value
    return values


def bad_batches(a, r, n_arms):
    """Yield invalid reports in place of (arms a, rewards r): arms, rewards, error, message."""
    shape = re.escape(str(a.shape))
    yield a, replaced(r, -1, np.nan), ValueError, f"rewards.*nan at index {a.size - 1}, arm {a[-1]}"
    yield a, replaced(r, 0, np.inf), ValueError, "rewards.*inf at index 0, arm"
    yield a, replaced(r, -1, -np.inf), ValueError, "rewards.*-inf"
    yield a, r[1:], ValueError, rf"rewards.*shape of arms, {shape}; got \({a.size - 1},\)"
    yield a, np.append(r, 0.5), ValueError, "rewards.*shape of arms"
    yield a, r[:, None], ValueError, rf"rewards.*\({a.size}, 1\)"
    yield a, 0.5, ValueError, r"rewards.*\(\)"
    yield a, ["x"] * a.size, TypeError, "rewards"
    yield a, [str(x) for x in r], TypeError, "rewards"
    yield a, [None] * a.size, TypeError, "rewards"
    yield a, r + 0j, TypeError, "rewards"
    yield a[1:], r[1:], ValueError, rf"arms.*shape of ask\(\), {shape}; got \({a.size - 1},\)"
    yield a[:0], r[:0], ValueError, r"arms.*\(0,\)"
    yield np.append(a, a[0]), np.append(r, 0.5), ValueError, rf"arms.*\({a.size + 1},\)"
    yield a[:, None], r, ValueError, rf"arms.*\({a.size}, 1\)"
    yield replaced(a, 0, n_arms), r, ValueError, f"arm {n_arms} 1 times instead of 0"
    yield replaced(a, 0, -1), r, ValueError, "arm -1 1 times instead of 0"
    if (a != a[0]).any():
        yield replaced(a, 0, a[a != a[0]][0]), r, ValueError, "arms.*each the same number of times"
    yield a + 0.0, r, TypeError, "arms.*float64"
    yield a > 0, r, TypeError, "arms.*bool"
    yield [str(x) for x in a], r, TypeError, "arms"


def assert_bad_batches_change_nothing(make, bandit, missing, n_batches=5):
    policy, undisturbed = make(), make()
    while not policy.done and policy.n_batches < n_batches:
        arms = policy.ask()
        rewards, before = bandit.pull(arms), frozen(policy.get_state())
        for bad_arms, bad_rewards, error, words in bad_batches(arms, rewards, policy.n_arms):
            if missing == "drop" and "nan" in words:
                continue
            with pytest.raises(error, match=words):
                policy.tell(bad_arms, bad_rewards, missing=missing)
            assert frozen(policy.get_state()) == before, words
        with pytest.raises(ValueError, match="missing.*'raise', 'drop'.*'skip'"):
            policy.tell(arms, rewards, missing="skip")
        policy.tell(arms, rewards, missing=missing)
        undisturbed.tell(arms, rewards)
        assert frozen(policy.get_state()) == frozen(undisturbed.get_state())
    assert policy.n_batches > 0


def assert_lost_pulls_count(make, bandit, rng, dead, most_batches=100_000):
    """Check that lost pulls are spent but not in the statistics; return the policy."""
    policy = make()
    seen = np.zeros(policy.n_arms, dtype=int)
    while not policy.done and policy.n_batches < most_batches:
        arms = policy.ask()
        before = policy.n_pulls, policy.means, policy.variances
        gone = (rng.random(arms.size) < 0.3) | (arms == dead)
        policy.tell(arms, np.where(gone, np.nan, bandit.pull(arms)), missing="drop")
        seen += np.bincount(arms[~gone], minlength=policy.n_arms)
        assert policy.n_pulls == before[0] + arms.size and policy.pulls.tolist() == seen.tolist()
        untouched = ~np.isin(np.arange(policy.n_arms), arms[~gone])
        for old, new in zip(before[1:], (policy.means, policy.variances), strict=True):
            assert np.array_equal(old[untouched], new[untouched], equal_nan=True)
        if hasattr(policy, "survivors"):
            assert set(policy.ask()) <= set(policy.survivors)
    assert np.isnan(policy.means[dead]) and policy.pulls[dead] == 0
    return policy


def lose_all(policy, most_batches=100_000):
    """Run a policy without any reward."""
    while not policy.done and policy.n_batches < most_batches:
        arms = policy.ask()
        policy.tell(arms, np.full(arms.size, np.nan), missing="drop")
    assert policy.n_pulls > 0 and not policy.pulls.any()
    return policy


def losing(rng, share, dead=()):
    """Return a function that loses this share of the rewards, and all rewards of arms in `dead`."""
    return lambda arms, rewards: np.where(
        (rng.random(arms.size) < share) | np.isin(arms, dead), np.nan, rewards)


def assert_copies_continue(make, table, rng, stop=100_000, share=0.0):
    """Check that copies made at random times and at the end continue bit for bit."""
    kinds = list(COPIES.values())

    def run(copied):
        lost = losing(np.random.default_rng(7), share)
        return play(make(), pb.environments.TableBandit(table), stop, copied, lost)

    straight, log = run(COPIES["itself"])
    copied, same = run(lambda policy: kinds[rng.integers(len(kinds))](policy))
    assert same == log
    for one in (copied, *(make_copy(straight) for make_copy in kinds)):
        assert type(one) is type(straight)
        assert frozen(one.get_state()) == frozen(straight.get_state())
        assert frozen([one.means, one.variances]) == frozen([straight.means, straight.variances])
        assert np.array_equal(one.recommend(), straight.recommend())
        assert np.array_equal(one.ask(), straight.ask()) and one.done == straight.done


def assert_a_copy_is_on_its_own(make, bandit, n_batches=3):
    policy, _ = play(make(), bandit, n_batches)
    state = policy.get_state()
    before = frozen(state)
    play(type(policy).from_state(state), bandit, 1000)
    assert frozen(state) == before == frozen(policy.get_state())
    for part in (state, state["progress"], state["options"]):
        for value in part.values():
            if isinstance(value, np.ndarray):
                value[...] = 0
    assert frozen(policy.get_state()) == before


def assert_entries_refused(policy, changes, words):
    """Check that each change of the saved progress is refused with a message matching `words`."""
    type(policy).from_state(policy.get_state())
    for change in changes:
        state = policy.get_state()
        state["progress"].update(change)
        with pytest.raises(ValueError, match=words):
            type(policy).from_state(state)


def assert_states_of_others_refused(policy, others):
    """Check that states of other classes and shapes are refused."""
    cls, n = type(policy), policy.n_arms
    for other in others:
        state = other.get_state()
        if state["type"] != cls.__name__:
            with pytest.raises(ValueError, match=f"that of a {cls.__name__}; .* {state['type']}"):
                cls.from_state(state)
    for name in "pulls", "sums", "deviations":
        with pytest.raises(ValueError, match=rf"{name} of shape \({n},\); got \({n + 1},\)"):
            cls.from_state({**policy.get_state(), name: np.zeros(n + 1)})
    for name in policy.get_state()["progress"]:
        assert_entries_refused(policy, [{name: np.zeros((2, 2))}],
                               rf"hold {name} of shape .*; got \(2, 2\)")
    state = policy.get_state()
    state["options"]["n_arms"] = n - 1
    with pytest.raises(ValueError, match="shape"):
        cls.from_state(state)


def assert_bad_rings_refused(policy):
    n = policy.n_arms
    assert_entries_refused(policy, [
        dict(ring_n_arms=n + 1), dict(ring_n_arms=-1), dict(ring_n_arms=0, ring_cursor=0),
        dict(ring_cursor=n), dict(ring_cursor=-1), dict(ring=np.arange(n) + 1),
        dict(ring=np.zeros(n, int)), dict(ring=np.arange(n) - 1), dict(ring=np.full(n, np.nan)),
        dict(ring=np.arange(n)[::-1])], "state must hold .*ring")


def assert_bad_heaps_refused(policy):
    n = policy.n_arms
    assert_entries_refused(policy, [
        dict(heap_n=n + 1), dict(heap_n=-1), dict(heap_n=0), dict(heap_arms=np.arange(n) + n),
        dict(heap_arms=np.zeros(n, int)), dict(heap_arms=-1 - np.arange(n)),
        dict(keys=np.full(n, np.nan))], "state must hold heap_")


def assert_simulated_as_by_hand(make, table, n_runs=2):
    """Check that native runs equal runs by ask and tell; return the policies of both."""
    created = []

    def factory(environment):
        created.append(make())
        return created[-1]

    # the answer is irrelevant here; it is given because some policies recommend any number of arms
    result = pb.simulate(factory, pb.environments.TableBandit(table), n_runs, rng=1, n_threads=1,
                         answer=[0])
    by_hand, _ = play(make(), pb.environments.TableBandit(table))
    for policy in created:
        assert policy.done and np.array_equal(policy.recommend(), by_hand.recommend())
        assert policy.pulls.tolist() == by_hand.pulls.tolist()
        assert frozen(policy.means) == frozen(by_hand.means)
    assert result.pulls.tolist() == [by_hand.n_pulls] * n_runs
    assert result.batches.tolist() == [by_hand.n_batches] * n_runs
    return created, by_hand
