"""The protocol of policies that choose before every pull, and of those that race like them."""

import numpy as np
import pytest

import pybandit as pb

from policies import protocol
from policies.one_at_a_time import BY_THEMSELVES, MAKERS, TABLE, N

makers = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@makers
def test_asking_and_order_of_telling_change_nothing(make):
    protocol.assert_asking_changes_nothing(make, pb.environments.TableBandit(TABLE))


@makers
def test_statistics_are_right_after_each_batch(make):
    protocol.assert_known_on_the_way(make, pb.environments.TableBandit(TABLE))


@makers
@pytest.mark.parametrize("missing", ["raise", "drop"])
def test_bad_batch_changes_nothing(make, missing):
    bandit = pb.environments.TableBandit(TABLE)
    protocol.assert_bad_batches_change_nothing(make, bandit, missing, 15)


@makers
def test_lost_pulls_are_spent(make):
    bandit, rng = pb.environments.TableBandit(TABLE), np.random.default_rng(2)
    policy = protocol.assert_lost_pulls_count(make, bandit, rng, 4)
    assert policy.n_pulls <= 90 and policy.recommend().tolist()[:1] != [4]
    policy = protocol.lose_all(make())
    # without rewards, a policy that recommends any number of arms recommends none
    assert policy.n_pulls <= 90 and policy.recommend().tolist()[:1] in ([0], [])


@makers
@pytest.mark.parametrize("seed", range(4))
def test_copies_continue_bit_for_bit(make, seed):
    rng = np.random.default_rng(seed)
    protocol.assert_copies_continue(make, TABLE, rng, [20, 100][seed % 2], 0.2 * (seed > 1))


@makers
def test_copy_is_independent(make):
    protocol.assert_a_copy_is_on_its_own(make, pb.environments.TableBandit(TABLE))


@pytest.mark.parametrize("name", sorted(set(MAKERS) - set(BY_THEMSELVES)))
def test_invalid_states_are_refused(name):
    policy, _ = protocol.play(MAKERS[name](), pb.environments.TableBandit(TABLE), 4)
    protocol.assert_states_of_others_refused(policy, [other() for other in MAKERS.values()])
    changes = [{"leader": N}, {"doubt": -2}, {"doubt": 0, "begun": False}]
    protocol.assert_entries_refused(policy, changes, r"state must hold")


@makers
def test_simulate_equals_ask_and_tell(make):
    protocol.assert_simulated_as_by_hand(make, TABLE)
