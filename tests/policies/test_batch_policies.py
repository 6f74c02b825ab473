"""All policies that pull in batches: cases, the protocol, invalid input."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pybandit as pb

from policies import protocol
from policies.batch_runs import (
    ReferencePolicy,
    accepted_of,
    assert_matches_reference,
    case_id,
    grid_bandit,
    least_batches,
    play,
    policy_of,
    random_problem,
    reference_of,
)
from policies.reference import tables


@pytest.mark.parametrize("case", tables.batch_cases("BatchRacing", "BatchSAR", "BatchSAR'",
                                                    "Halving"),
                         ids=lambda case: f"{case['algorithm']}-{case_id(case)}")
def test_policies_match_cases(case):
    expect, policy = case["expect"], policy_of(case)
    reference = reference_of(policy)
    policy, log, events = play(policy, pb.environments.TableBandit(case["rewards"]))
    assert sorted(policy.recommend()) == expect["out"]
    assert policy.n_batches == expect["batches"] == len(log)
    assert policy.pulls.tolist() == expect["T"] and policy.n_pulls == sum(expect["T"])
    if "log" in expect:
        assert log == expect["log"]
    else:
        assert log[:8] == expect["first_batches"]
    play(ReferencePolicy(reference), pb.environments.TableBandit(case["rewards"]))
    if "removed" in expect:
        assert reference.removed == expect["removed"]
        # the last stage of BatchSAR' ignores its m
        stages = len(expect["removed"]) if policy.improved else len(expect["ms"])
        assert reference.ms[:stages] == expect["ms"][:stages]
        seen = [(batch, arm) for batch, gone, _ in events[:-1] for arm in sorted(gone)]
        expected = [(batch, arm) for arm, _, batch in expect["removed"]]
        assert seen == sorted(expected)[:len(seen)]
        assert set(policy.accepted) >= {arm for arm, good, _ in expect["removed"] if good}
    if "events" in expect:
        assert reference.events == expect["events"]
        assert events == [(e["batch"], {*e["accept"], *e["reject"]}, set(e["accept"]))
                          for e in expect["events"]]
    if "stages" in expect:
        assert reference.stages == expect["stages"]
        assert policy.survivors.tolist() == expect["stages"][-1]


@pytest.mark.parametrize("kind", ["sar", "halving", "racing", "round robin"])
def test_policies_with_lost_pulls_match_reference(kind):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, k, b, r = random_problem(rng, 15)
        lost = protocol.losing(rng, rng.choice([0.1, 0.5, 0.9, 1.0]))
        B = least_batches(n, k, b, r) + int(rng.integers(4))
        options = dict(batch_size=b, max_batches=B, max_repeats=r)
        if kind == "racing":
            policy = pb.policies.BatchRacing(n, k, delta=0.5, batch_size=b, max_repeats=r,
                                             noise_std=0.05)
        else:
            make_policy = {"sar": pb.policies.BatchSAR, "halving": pb.policies.BatchHalving,
                           "round robin": pb.policies.RoundRobin}[kind]
            policy = make_policy(n, k, **options, **(dict(rng=1) if kind == "halving" else {}))
        policy.silent_after = None  # the reference does not set arms aside
        assert_matches_reference(policy, grid_bandit(rng, n), 100, lost)


# -- the protocol -------------------------------------------------------------------------

N = 12
MAKERS = {
    "round robin": lambda: pb.policies.RoundRobin(N, 3, batch_size=7, max_batches=15,
                                                  max_repeats=2),
    "halving": lambda: pb.policies.BatchHalving(N, 3, batch_size=7, max_batches=15, max_repeats=2,
                                                rng=3),
    "sar": lambda: pb.policies.BatchSAR(N, 3, batch_size=7, max_batches=15, max_repeats=2),
    "sar m": lambda: pb.policies.BatchSAR(N, 3, batch_size=7, max_batches=25, max_repeats=2,
                                          improved=False, tie="index"),
    "racing": lambda: pb.policies.BatchRacing(N, 3, delta=0.5, batch_size=7, max_repeats=2,
                                              noise_std=0.05),
}
makers = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


def bandit_of(seed=5):
    rng = np.random.default_rng(seed)
    return pb.environments.TableBandit(np.linspace(0, 1, N)[:, None] + rng.random((N, 11)) / 8)


@makers
def test_asking_and_order_of_telling_change_nothing(make):
    # sums are exact in any order
    protocol.assert_asking_changes_nothing(make, grid_bandit(np.random.default_rng(0), N, 16))


@makers
def test_statistics_are_right_after_each_batch(make):
    def check(policy):
        chosen = policy.recommend()
        assert len(set(chosen)) == 3 and accepted_of(policy) <= set(chosen)
        known = policy.means[chosen]
        assert np.all(np.diff(known[~np.isnan(known)]) <= 0)

    start = make()
    assert start.survivors.tolist() == list(range(N)) and start.recommend().tolist() == [0, 1, 2]
    assert not accepted_of(start)
    policy = protocol.assert_known_on_the_way(make, bandit_of(), check)
    assert policy.recommend().tolist() == [11, 10, 9] and policy.n_batches > 3
    if hasattr(policy, "accepted"):
        assert policy.accepted.tolist() == [9, 10, 11] and policy.survivors.size == 0


@makers
@pytest.mark.parametrize("missing", ["raise", "drop"])
def test_bad_batch_changes_nothing(make, missing):
    protocol.assert_bad_batches_change_nothing(make, bandit_of(), missing)


@makers
def test_lost_pulls_are_spent(make):
    rng = np.random.default_rng(2)
    policy = protocol.assert_lost_pulls_count(make, bandit_of(), rng, 4, 200)
    assert policy.done and set(policy.silent) <= {4}
    assert len(set(policy.recommend())) == 3 and 4 not in policy.recommend()
    assert isinstance(policy, pb.policies.BatchRacing) or policy.n_batches <= policy.max_batches


@makers
def test_run_without_rewards_ends(make):
    policy = protocol.lose_all(make(), 100)
    assert policy.done != isinstance(policy, pb.policies.BatchRacing)
    assert policy.recommend().tolist() == [0, 1, 2]


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(MAKERS)), st.integers(0, 999), st.integers(0, 60))
def test_copies_continue_bit_for_bit(name, seed, stop):
    rng = np.random.default_rng(seed)
    table = rng.random((N, 11)) / 3 + np.linspace(0, 1, N)[:, None]
    protocol.assert_copies_continue(MAKERS[name], table, rng, stop)


@makers
def test_copy_is_independent(make):
    protocol.assert_a_copy_is_on_its_own(make, bandit_of(), 4)


@makers
def test_invalid_states_are_refused(make):
    policy, _ = protocol.play(make(), bandit_of(), 3)
    protocol.assert_states_of_others_refused(policy, [other() for other in MAKERS.values()])
    protocol.assert_bad_rings_refused(make())
    if isinstance(policy, pb.policies.BatchHalving):
        protocol.assert_entries_refused(policy, [dict(stage=-1), dict(stage=9)], "hold stage in")
    if isinstance(policy, pb.policies.BatchSAR):
        for name in "n_left", "n_open":
            protocol.assert_entries_refused(policy, [{name: -1}, {name: N + 1}], f"hold {name} in")


# -- edge cases and invalid input ------------------------------------------------------------


@pytest.mark.parametrize("n, k", [(1, 0), (1, 1), (5, 0), (5, 5)])
def test_trivial_problems_are_solved(n, k):
    for policy in (pb.policies.BatchSAR(n, k, batch_size=3, max_batches=1),
                   pb.policies.BatchRacing(n, k),
                   pb.policies.BatchHalving(n, k, batch_size=3, max_batches=1),
                   pb.policies.RoundRobin(n, k, batch_size=3, max_batches=1)):
        if not isinstance(policy, pb.policies.RoundRobin):
            assert policy.done and policy.ask().size == 0
        assert policy.recommend().tolist() == list(range(k))
        assert policy.recommend().dtype == np.int64
        play(policy, pb.environments.TableBandit(np.arange(n)[:, None]))
        assert policy.done and len(policy.recommend()) == k
        copied = pickle.loads(pickle.dumps(policy))
        assert copied.done and np.array_equal(copied.recommend(), policy.recommend())


CLASSES = {
    pb.policies.RoundRobin: dict(n_arms=5, k=2, batch_size=3, max_batches=50),
    pb.policies.BatchHalving: dict(n_arms=5, k=2, batch_size=3, max_batches=50),
    pb.policies.BatchSAR: dict(n_arms=5, k=2, batch_size=3, max_batches=50),
    pb.policies.BatchScreening: dict(n_arms=5, k=2, batch_size=3, max_batches=50),
    pb.policies.BatchRacing: dict(n_arms=5, k=2, delta=0.1, batch_size=3),
}
REFUSED = [
    (dict(n_arms=0), ValueError, ["n_arms", "1", "0"]),
    (dict(n_arms=2.5), TypeError, ["n_arms", "2.5"]),
    (dict(n_arms="5"), TypeError, ["n_arms", "'5'"]),
    (dict(k=-1), ValueError, ["k", "0", "-1"]),
    (dict(k=6), ValueError, ["k", "n_arms = 5", "6"]),
    (dict(k=1.5), TypeError, ["k", "1.5"]),
    (dict(k=None), TypeError, ["k", "None"]),
    (dict(batch_size=0), ValueError, ["batch_size", "1", "0"]),
    (dict(batch_size=True), TypeError, ["batch_size", "True"]),
    (dict(max_repeats=0), ValueError, ["max_repeats", "1", "0"]),
    (dict(max_repeats=np.nan), TypeError, ["max_repeats", "nan"]),
    (dict(max_batches=0), ValueError, ["max_batches", "1", "0"]),
    (dict(max_batches=-4), ValueError, ["max_batches", "1", "-4"]),
    (dict(max_batches=2.5), TypeError, ["max_batches", "2.5"]),
    (dict(tie="accept"), ValueError, ["tie", "'reject', 'index'", "'accept'"]),
    (dict(k=2**70), ValueError, ["k", "n_arms = 5", str(2**70)]),
    (dict(batch_size=2**63), ValueError, ["batch_size", str(2**63 - 1), str(2**63)]),
    (dict(max_repeats=2**70), ValueError, ["max_repeats", str(2**63 - 1), str(2**70)]),
    (dict(max_batches=2**70), ValueError, ["max_batches", "at most", str(2**70)]),
    (dict(max_batches=2**60), ValueError, ["batch_size times max_batches", str(2**60)]),
    (dict(rng="seed"), TypeError, ["rng", "'seed'"]),
    (dict(delta=0), ValueError, ["delta", "(0, 1)", "0.0"]),
    (dict(delta=1), ValueError, ["delta", "1.0"]),
    (dict(delta=np.nan), ValueError, ["delta", "nan"]),
    (dict(delta="0.1"), TypeError, ["delta"]),
    (dict(noise_std=0), ValueError, ["noise_std", "above 0", "0.0"]),
    (dict(noise_std=np.inf), ValueError, ["noise_std", "inf"]),
    (dict(noise_std=-1), ValueError, ["noise_std", "-1.0"]),
]
ONLY = {"max_batches": (pb.policies.RoundRobin, pb.policies.BatchHalving, pb.policies.BatchSAR,
                        pb.policies.BatchScreening),
        "tie": (pb.policies.BatchSAR,), "rng": (pb.policies.BatchHalving,),
        "delta": (pb.policies.BatchRacing,),
        "noise_std": (pb.policies.BatchRacing,)}


def refused():
    for options, error, words in REFUSED:
        (name, value), = options.items()
        classes = (pb.policies.BatchSAR,) if value == 2**60 else ONLY.get(name, CLASSES)
        for cls in classes:
            yield pytest.param(cls, options, error, words, id=f"{cls.__name__}-{name}={value}")


@pytest.mark.parametrize("cls, options, error, words", list(refused()))
def test_bad_arguments_are_refused(cls, options, error, words):
    with pytest.raises(error) as caught:
        cls(**{**CLASSES[cls], **options})
    for word in words:
        assert word in str(caught.value)
    cls(**CLASSES[cls])


MANY_ARMS = [lambda: pb.policies.RoundRobin(40, 4, batch_size=8, max_batches=30),
             lambda: pb.policies.BatchSAR(40, 4, batch_size=8, max_batches=60),
             lambda: pb.policies.BatchHalving(40, 4, batch_size=8, max_batches=60),
             lambda: pb.policies.BatchRacing(40, 4, batch_size=8)]


@pytest.mark.parametrize("make", MANY_ARMS)
def test_arms_without_a_result_are_recommended_last(make):
    policy = make()
    rng = np.random.default_rng(1)
    for _ in range(12):
        before = policy.recommend()
        assert before.size == 4 and len(set(before.tolist())) == 4
        # all rewards are below 0, the mean that an arm without rewards might be given
        measured = policy.pulls[before] > 0
        assert measured.sum() == min(4, np.count_nonzero(policy.pulls))
        assert np.all(np.diff(measured.astype(int)) <= 0)
        assert np.all(np.diff(policy.means[before[measured]]) <= 0)
        arms = policy.ask()
        policy.tell(arms, -5.0 - rng.random(arms.size))


@pytest.mark.parametrize("make", MANY_ARMS)
def test_arms_that_lost_all_results_are_recommended_last(make):
    policy, kept = make(), {3, 11, 17, 30, 31, 39}
    while not policy.done and policy.n_batches < 60:
        arms = policy.ask()
        policy.tell(arms, np.where(np.isin(arms, list(kept)), -9.0 - arms, np.nan), "drop")
    assert set(np.flatnonzero(policy.pulls).tolist()) == kept
    assert set(policy.recommend().tolist()) <= kept
    policy = make()
    while not policy.done and policy.n_batches < 60:
        arms = policy.ask()
        policy.tell(arms, np.where(arms == 17, -9.0, np.nan), "drop")
    assert policy.recommend()[0] == 17 and policy.recommend().size == 4
