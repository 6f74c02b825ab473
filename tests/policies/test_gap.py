"""GapE, GapEV, UCBE, UGapEb: cases, reference runs, the protocol."""

import numpy as np
import pytest

import pybandit as pb

from policies import protocol
from policies.protocol import losing
from policies.reference import gap as plain
from policies.reference import tables

NAMES = ["GapE", "A-GapE", "GapEV", "A-GapEV", "UCBE", "UGapEb", "A-UGapEb"]


def case_policy(case):
    p = case["params"]
    if case["algorithm"] == "UCB-E":
        return pb.policies.UCBE(p["K"], budget=p["T"], complexity=p["H"])
    if case["algorithm"].startswith("UGapEb"):
        return pb.policies.UGapEb(p["K"], budget=p["T"], complexity=p["H"], epsilon=p["eps"],
                                  noise_std=p["sigma"])
    cls = pb.policies.GapE if case["algorithm"] == "GapE" else pb.policies.GapEV
    if p["H"] is None:
        return cls(p["K"], budget=p["n"], value_range=p["b"], complexity_scale=p["H_scale"])
    return cls(p["K"], budget=p["n"], value_range=(-0.25, p["b"] - 0.25),
               complexity=p["H"] * p["H_scale"])


def policy_of(name, n_arms, budget, complexity=5.0, b=1.0, scale=1.0, epsilon=0.0, noise_std=0.25):
    if name.startswith("A-"):
        complexity = None
    if name == "UCBE":
        return pb.policies.UCBE(n_arms, budget=budget, complexity=complexity)
    if name.endswith("UGapEb"):
        return pb.policies.UGapEb(n_arms, budget=budget, complexity=complexity, epsilon=epsilon,
                                  noise_std=noise_std)
    cls = pb.policies.GapEV if name.endswith("GapEV") else pb.policies.GapE
    return cls(n_arms, budget=budget, value_range=b, complexity=complexity, complexity_scale=scale)


def reference_of(policy):
    cls = getattr(plain, type(policy).__name__)
    problem = policy.n_arms, policy.budget
    if cls is plain.UCBE:
        return cls(*problem, policy.complexity)
    if cls is plain.UGapEb:
        return cls(*problem, policy.complexity, policy.epsilon, policy.noise_std)
    return cls(*problem, policy.value_range, policy.complexity, policy.complexity_scale)


def random_policy(name, rng, largest=9):
    n_arms = int(rng.integers(1, largest + 1))
    budget = (1 + name.endswith("GapEV")) * n_arms + int(rng.choice([0, 1, rng.integers(60)]))
    return policy_of(name, n_arms, budget, float(rng.choice([0.01, 1.0, 100.0])),
                     float(rng.choice([0.5, 1.0, 3.0])), float(rng.choice([0.02, 1.0])),
                     float(rng.choice([0.0, 0.125])), float(rng.choice([0.05, 0.25])))


def grid_bandit(rng, n_arms):
    """Return rewards on a grid of few steps, so that means and indices tie; some arms are equal."""
    steps = int(rng.choice([1, 2, 4, 16]))
    table = rng.integers(0, steps + 1, (n_arms, 8)) / steps
    return pb.environments.TableBandit(table[rng.integers(n_arms, size=n_arms)]
                                       if rng.random() < 0.4 else table)


def play(policy, bandit, lost=lambda arms, rewards: rewards):
    """Run a policy to its end; return it and every pull."""
    policy, log = protocol.play(policy, bandit, lost=lost)
    return policy, [arm for arms in log for arm in arms]


def assert_matches_reference(policy, bandit, lost=lambda arms, rewards: rewards):
    policy.silent_after = None  # the reference does not set arms aside
    reference = reference_of(policy)
    while not policy.done:
        arms = policy.ask()
        assert arms.tolist() == reference.ask(), reference.asked
        rewards = lost(arms, bandit.pull(arms))
        policy.tell(arms, rewards, missing="drop")
        reference.tell(arms.tolist(), rewards.tolist())
        assert policy.pulls.tolist() == [len(seen) for seen in reference.rewards]
    assert reference.done and policy.n_pulls == policy.budget
    assert policy.recommend().tolist() == [reference.recommend()]


@pytest.mark.parametrize("case", tables.gap_cases(),
                         ids=lambda case: f"{case['algorithm']}-{case['params']['K']}")
def test_policies_match_cases(case):
    policy, pulls = play(case_policy(case), pb.environments.TableBandit(case["rewards"]))
    assert pulls == case["expect"]["pulls"]
    assert policy.recommend().tolist() == [case["expect"]["out"]]
    assert_matches_reference(case_policy(case), pb.environments.TableBandit(case["rewards"]))


@pytest.mark.parametrize("name", NAMES)
def test_policies_match_reference(name):
    for seed in range(200):
        rng = np.random.default_rng([seed, NAMES.index(name)])
        policy = random_policy(name, rng)
        bandit = grid_bandit(rng, policy.n_arms)
        assert_matches_reference(policy, bandit)


@pytest.mark.parametrize("exponent", [-490, -365, 250, 300, 345, 480])
@pytest.mark.parametrize("name", NAMES)
def test_pulls_do_not_depend_on_the_unit(name, exponent):
    """Squared widths must stay finite for rewards of up to 1e150."""
    table = np.random.default_rng(1).normal(0.5, 0.25, (5, 60)) + np.arange(5)[:, None] / 8
    runs = []
    for scale in 1.0, 2.0**exponent:
        complexity = 5.0 / scale**2 if name in ("UCBE", "UGapEb") else 5.0
        policy = policy_of(name, 5, 120, complexity, b=scale, epsilon=scale / 8,
                           noise_std=scale / 4)
        runs.append(play(policy, pb.environments.TableBandit(table * scale))[1])
    assert runs[1] == runs[0] and len(set(runs[0])) == 5


@pytest.mark.parametrize("name", NAMES)
def test_policies_with_lost_pulls_match_reference(name):
    for seed in range(60):
        rng = np.random.default_rng([seed, NAMES.index(name), 1])
        policy = random_policy(name, rng)
        dead = rng.choice(policy.n_arms, int(rng.integers(policy.n_arms + 1)), replace=False)
        lost = losing(rng, float(rng.choice([0.1, 0.6])), dead if rng.random() < 0.5 else ())
        assert_matches_reference(policy, grid_bandit(rng, policy.n_arms), lost)


@pytest.mark.parametrize("name", NAMES)
def test_dead_arm_takes_at_most_its_share(name):
    bandit = pb.environments.TableBandit([[0.5], [0.25, 1.0], [0.75, 0.0], [0.5, 0.25]])
    lost = losing(np.random.default_rng(), 0, [0])
    policy, pulls = play(policy_of(name, 4, 40), bandit, lost)
    assert 10 <= pulls.count(0) <= 12 and policy.pulls[0] == 0  # ten, then retries only
    assert policy.pulls.sum() == 40 - pulls.count(0) and policy.recommend() != 0


# -- the protocol -----------------------------------------------------------------------


def table_of(n_arms=6, seed=1):
    """Return rewards whose sums are exact in any order."""
    return np.random.default_rng(seed).integers(0, 2**20, (n_arms, 31)) / 2**20


@pytest.mark.parametrize("name", NAMES)
def test_asking_and_order_of_telling_change_nothing(name):
    bandit = pb.environments.TableBandit(table_of())
    protocol.assert_asking_changes_nothing(lambda: policy_of(name, 6, 60), bandit)


@pytest.mark.parametrize("name", NAMES)
def test_statistics_are_right_after_each_batch(name):
    bandit = pb.environments.TableBandit(table_of())
    policy = protocol.assert_known_on_the_way(lambda: policy_of(name, 6, 60), bandit)
    assert policy.n_pulls == 60


@pytest.mark.parametrize("missing", ["raise", "drop"])
@pytest.mark.parametrize("name", NAMES)
def test_bad_batch_changes_nothing(name, missing):
    bandit = pb.environments.TableBandit(table_of())
    protocol.assert_bad_batches_change_nothing(lambda: policy_of(name, 6, 30), bandit, missing, 30)


@pytest.mark.parametrize("name", NAMES)
def test_lost_pulls_are_spent(name):
    bandit, rng = pb.environments.TableBandit(table_of()), np.random.default_rng(2)
    policy = protocol.assert_lost_pulls_count(lambda: policy_of(name, 6, 60), bandit, rng, 4)
    assert policy.n_pulls == 60 and policy.recommend().tolist() != [4]
    assert protocol.lose_all(policy_of(name, 6, 60)).n_pulls == 60


@pytest.mark.parametrize("name", NAMES)
def test_copies_continue_bit_for_bit(name):
    for seed in range(10):
        rng = np.random.default_rng([seed, NAMES.index(name), 2])
        start = random_policy(name, rng)
        table = rng.normal(size=(start.n_arms, 50))
        make = protocol.COPIES["state"]
        protocol.assert_copies_continue(lambda: make(start), table, rng, share=0.1)  # noqa: B023


@pytest.mark.parametrize("name", NAMES)
def test_copy_is_independent(name):
    bandit = pb.environments.TableBandit(table_of())
    protocol.assert_a_copy_is_on_its_own(lambda: policy_of(name, 6, 60), bandit)


@pytest.mark.parametrize("name", NAMES)
def test_invalid_states_are_refused(name):
    policy, _ = protocol.play(policy_of(name, 6, 60), pb.environments.TableBandit(table_of()), 3)
    others = [policy_of(other, 6, 60) for other in NAMES]
    protocol.assert_states_of_others_refused(policy, others)


@pytest.mark.parametrize("name", NAMES)
def test_the_first_pulls_are_one_batch(name):
    least = 1 + name.endswith("GapEV")
    policy = policy_of(name, 3, 3 * least)
    assert policy.recommend().tolist() == [0]
    assert policy.ask().tolist() == [0, 1, 2] * least
    policy.tell(policy.ask(), [0.25, 0.5, 0.5] * least)
    assert policy.done and policy.recommend().tolist() == [1]
    with pytest.raises(pb.errors.InfeasibleBudgetError,
                       match=f"budget must be at least {3 * least} for 3"):
        policy_of(name, 3, 3 * least - 1)


@pytest.mark.parametrize("name", NAMES)
def test_one_arm_is_one_batch(name):
    policy = policy_of(name, 1, 7)
    assert policy.ask().tolist() == [0] * 7
    policy.tell(policy.ask(), np.arange(7.0))
    assert policy.done and policy.recommend().tolist() == [0] and policy.n_batches == 1


@pytest.mark.parametrize("name", NAMES)
def test_simulate_equals_ask_and_tell(name):
    table = np.random.default_rng(5).normal(size=(9, 31)).cumsum(axis=1) % 1.0
    protocol.assert_simulated_as_by_hand(lambda: policy_of(name, 9, 200, 40.0), table)


def test_value_range_may_be_a_length():
    assert pb.policies.GapE(3, budget=9, value_range=(-1, 2.5)).value_range == 3.5
    assert pb.policies.GapEV(3, budget=9, value_range=3.5).value_range == 3.5


def test_shifted_rewards_do_not_change_pulls():
    """A common shift of all rewards does not change any pull."""
    table = np.random.default_rng(3).integers(0, 9, (6, 20)) / 8
    for name in NAMES:
        runs = [play(policy_of(name, 6, 100), pb.environments.TableBandit(table + shift))[1]
                for shift in (0.0, 1024.0)]
        assert runs[0] == runs[1], name


def test_errors_are_rarer_than_with_uniform():
    means = np.array([0.5, 0.45, 0.4, 0.3] + [0.1] * 12)
    H = ((0.5 - means[1:])**-2.0).sum() + 0.05**-2.0

    def error(policy):
        bandit = pb.environments.BernoulliBandit(means)
        return pb.simulate(lambda environment: policy(), bandit, 500, rng=1).error_probability

    uniform = error(lambda: pb.policies.Uniform(16, budget=1600))
    assert error(lambda: pb.policies.GapE(16, budget=1600, value_range=1.0, complexity=H,
                                          complexity_scale=1 / 9)) < uniform - 0.05
    assert error(lambda: pb.policies.UCBE(16, budget=1600, complexity=H / 9)) < uniform - 0.05
    assert error(lambda: pb.policies.UGapEb(16, budget=1600, complexity=4 * H / 9)) < uniform - 0.05


# -- bad input --------------------------------------------------------------------------


@pytest.mark.parametrize("make, message", [
    (lambda: pb.policies.GapE(0, budget=9, value_range=1.0), "n_arms must be at least 1; got 0"),
    (lambda: pb.policies.GapE(3, budget=-1, value_range=1.0), "budget must be at least 0; got -1"),
    (lambda: pb.policies.GapE(3, budget=9.5, value_range=1.0),
     "budget must be an integer; got 9.5"),
    (lambda: pb.policies.GapE(3, budget=9, value_range=0.0),
     "value_range must be finite and above 0; got 0.0"),
    (lambda: pb.policies.GapE(3, budget=9, value_range=np.inf),
     "value_range must be finite and above 0; got inf"),
    (lambda: pb.policies.GapEV(3, budget=9, value_range=(1.0, 1.0)),
     r"value_range must be a length, or \(low, high\)"),
    (lambda: pb.policies.GapEV(3, budget=9, value_range=(1.0, 2.0, 3.0)),
     "value_range must be a length"),
    (lambda: pb.policies.GapEV(3, budget=9, value_range=(1.0, np.nan)),
     "value_range must be finite; got nan at index 1"),
    (lambda: pb.policies.GapE(3, budget=9, value_range="1"), "value_range must hold real numbers"),
    (lambda: pb.policies.GapE(3, budget=9, value_range=1.0, complexity=0.0),
     "complexity must be finite and above 0; got 0.0"),
    (lambda: pb.policies.GapE(3, budget=9, value_range=1.0, complexity=[1.0, 2.0]),
     r"complexity must be a number; got shape \(2,\)"),
    (lambda: pb.policies.GapEV(3, budget=9, value_range=1.0, complexity_scale=-1),
     "complexity_scale must be finite and above"),
    (lambda: pb.policies.UCBE(3, budget=9, complexity=None),
     "complexity must hold real numbers; got NoneType"),
    (lambda: pb.policies.UCBE(3, budget=9, complexity=np.nan),
     "complexity must be finite and above 0; got nan"),
    (lambda: pb.policies.UGapEb(3, budget=9),
     "noise_std must be given if complexity is None; got None"),
    (lambda: pb.policies.UGapEb(3, budget=9, noise_std=0.0),
     "noise_std must be finite and above 0; got 0.0"),
    (lambda: pb.policies.UGapEb(3, budget=9, complexity=1.0, epsilon=-0.5),
     "epsilon must be finite and at least 0; got -0.5"),
])
def test_bad_input_is_refused(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
