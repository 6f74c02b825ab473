"""Uniform, SuccessiveRejects, SequentialHalving, SHVar, SHAdaVar: protocol and arguments."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pybandit as pb

from policies import protocol
from policies.protocol import frozen, play

# -- the protocol --------------------------------------------------------------------------

N = 12
MAKERS = {
    "uniform": lambda: pb.policies.Uniform(N, budget=100),
    "rejects": lambda: pb.policies.SuccessiveRejects(N, budget=150),
    "halving": lambda: pb.policies.SequentialHalving(N, budget=203, spend_all=True),
    "halving reuse": lambda: pb.policies.SequentialHalving(N, budget=203, reuse=True),
    "shvar": lambda: pb.policies.SHVar(N, budget=203, noise_std=np.sqrt(np.arange(1, N + 1))),
    "shvar reuse": lambda: pb.policies.SHVar(N, budget=203,
                                             noise_std=np.sqrt(np.arange(1, N + 1) ** 3),
                                             reuse=True),
    "shadavar": lambda: pb.policies.SHAdaVar(N, budget=303, delta=0.7),
    "shadavar reuse": lambda: pb.policies.SHAdaVar(N, budget=250, delta=0.3, reuse=True,
                                                   spend_all=True),
}
makers = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


def table_of(seed=5):
    """Return rewards with sums exact in any order; arms 11, 10, 9 are best, later ones noisier."""
    rng = np.random.default_rng(seed)
    noise = rng.integers(-2**20, 2**20, (N, 11)) * 2.0**-20
    return np.arange(N)[:, None] / 4 + noise * (1 + np.arange(N)[:, None]) / 64


def bandit_of(seed=5):
    return pb.environments.TableBandit(table_of(seed))


@makers
def test_asking_and_order_of_telling_change_nothing(make):
    protocol.assert_asking_changes_nothing(make, bandit_of())


@makers
def test_statistics_are_right_after_each_batch(make):
    def check(policy):
        among = policy.survivors
        assert policy.recommend().tolist() == [among[np.argmax(policy.means[among])]]

    assert make().survivors.tolist() == list(range(N)) and make().recommend().tolist() == [0]
    policy = protocol.assert_known_on_the_way(make, bandit_of(), check)
    assert policy.recommend().tolist() == [11]


@makers
@pytest.mark.parametrize("seed", range(5))
def test_simulate_equals_ask_and_tell(make, seed):
    """Native runs and runs pull by pull have the same sums and the same state."""
    created, by_hand = protocol.assert_simulated_as_by_hand(make, table_of(seed))
    for policy in created:
        native, hand = policy.get_state(), by_hand.get_state()
        if not isinstance(policy, pb.policies.SHAdaVar):  # which uses every reward
            assert np.isnan(native.pop("deviations")).all() and hand.pop("deviations").any()
        else:
            assert frozen(policy.variances) == frozen(by_hand.variances)
        assert frozen(native) == frozen(hand)


@makers
@pytest.mark.parametrize("missing", ["raise", "drop"])
def test_bad_batch_changes_nothing(make, missing):
    protocol.assert_bad_batches_change_nothing(make, bandit_of(), missing)


@makers
@pytest.mark.parametrize("seed", range(8))
def test_lost_pulls_are_spent(make, seed):
    """An arm without rewards is eliminated first."""
    full = play(make(), bandit_of())[0].n_pulls
    policy = protocol.assert_lost_pulls_count(make, bandit_of(), np.random.default_rng(seed), 4)
    assert policy.n_pulls == full
    assert len(policy.recommend()) == 1 and policy.recommend()[0] != 4
    policy = protocol.lose_all(make())
    assert policy.n_pulls == full and policy.recommend().tolist() == [0]


@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(MAKERS)), st.integers(0, 999), st.integers(0, 200))
def test_copies_continue_bit_for_bit(name, seed, stop):
    rng = np.random.default_rng(seed)
    table = rng.random((N, 11)) / 3 + np.linspace(0, 1, N)[:, None]
    protocol.assert_copies_continue(MAKERS[name], table, rng, stop)


@makers
def test_copy_is_independent(make):
    protocol.assert_a_copy_is_on_its_own(make, bandit_of(), 2)


@makers
def test_invalid_states_are_refused(make):
    policy, _ = play(make(), bandit_of(), 1)
    protocol.assert_states_of_others_refused(policy, [other() for other in MAKERS.values()])
    protocol.assert_bad_rings_refused(make())
    for name in "stage", "left":
        protocol.assert_entries_refused(policy, [{name: -1}, {name: 10**6}], f"hold {name} in")


def test_invalid_heaps_are_refused():
    policy, _ = play(MAKERS["shadavar"](), bandit_of(), 3)
    assert policy.get_state()["progress"]["by_heap"]
    protocol.assert_bad_heaps_refused(policy)
    protocol.assert_entries_refused(policy, [dict(pending=-1)], "hold pending in")


# -- invalid input ---------------------------------------------------------------------------

CLASSES = {
    pb.policies.Uniform: dict(n_arms=5, budget=50),
    pb.policies.SuccessiveRejects: dict(n_arms=5, budget=50),
    pb.policies.SequentialHalving: dict(n_arms=5, budget=50),
    pb.policies.SHVar: dict(n_arms=5, budget=50, noise_std=[1, 2, 3, 4, 5]),
    pb.policies.SHAdaVar: dict(n_arms=5, budget=50),
}
REFUSED = [
    (None, dict(n_arms=0), ValueError, "n_arms.*1.*0"),
    (None, dict(n_arms=2.5), TypeError, "n_arms.*2.5"),
    (None, dict(n_arms="5"), TypeError, "n_arms.*'5'"),
    (None, dict(budget=-1), ValueError, "budget.*0.*-1"),
    (None, dict(budget=50.5), TypeError, "budget.*50.5"),
    (None, dict(budget=None), TypeError, "budget.*None"),
    (None, dict(budget=True), TypeError, "budget.*True"),
    (None, dict(budget=np.nan), TypeError, "budget.*nan"),
    (None, dict(budget=2**53 + 1), ValueError, f"budget must be at most {2**53}; got {2**53 + 1}"),
    (None, dict(budget=2**70), ValueError, f"budget must be at most {2**53}"),
    (None, dict(budget=1), pb.errors.InfeasibleBudgetError, "at least"),
    (pb.policies.SHVar, dict(noise_std=[1, 2, 3, 4]), ValueError, r"noise_std.*\(5,\).*\(4,\)"),
    (pb.policies.SHVar, dict(noise_std=1.0), ValueError, r"noise_std.*\(5,\).*\(\)"),
    (pb.policies.SHVar, dict(noise_std=np.ones((5, 1))), ValueError, r"noise_std.*\(5, 1\)"),
    (pb.policies.SHVar, dict(noise_std=[1, 2, 0, 4, 5]), ValueError, "noise_std.*in .*1e-150.*0.0"),
    (pb.policies.SHVar, dict(noise_std=[1, 2, -1, 4, 5]), ValueError, "noise_std.*-1.0 at index 2"),
    (pb.policies.SHVar, dict(noise_std=[1, np.nan, 1, 4, 5]), ValueError, "noise_std.*nan"),
    (pb.policies.SHVar, dict(noise_std=[1, np.inf, 1, 4, 5]), ValueError, "noise_std.*inf"),
    (pb.policies.SHVar, dict(noise_std=["1"] * 5), TypeError, "noise_std"),
    (pb.policies.SHAdaVar, dict(delta=0), ValueError, "delta.*0.0"),
    (pb.policies.SHAdaVar, dict(delta=1), ValueError, "delta.*1.0"),
    (pb.policies.SHAdaVar, dict(delta=np.nan), ValueError, "delta.*nan"),
    (pb.policies.SHAdaVar, dict(delta="0.1"), TypeError, "delta"),
    (pb.policies.SHAdaVar, dict(delta=[0.1, 0.2]), (TypeError, ValueError), "delta|scalar|array"),
]


@pytest.mark.parametrize("only, options, error, words", REFUSED,
                         ids=lambda value: str(value) if isinstance(value, dict) else "")
def test_bad_arguments_are_refused(only, options, error, words):
    for cls in [only] if only else CLASSES:
        with pytest.raises(error, match=words):
            cls(**{**CLASSES[cls], **options})
        cls(**CLASSES[cls])


def test_options_are_attributes():
    policy = pb.policies.SHAdaVar(5, budget=50, delta=0.1, reuse=True, spend_all=True)
    assert (policy.n_arms, policy.k, policy.budget) == (5, 1, 50)
    assert (policy.delta, policy.reuse, policy.spend_all) == (0.1, True, True)
    for name in "budget", "delta", "reuse", "spend_all":
        with pytest.raises(AttributeError):
            setattr(policy, name, 1)
