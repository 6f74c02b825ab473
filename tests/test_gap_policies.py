"""GapE, GapEV, UCBE, UGapEb: the cases, the twins, the protocol."""

import pickle

import numpy as np
import pytest

import pybandit as pb

from reference import gap as twin
from reference import tables

NAMES = ["GapE", "A-GapE", "GapEV", "A-GapEV", "UCBE", "UGapEb", "A-UGapEb"]


def case_policy(case):
    p = case["params"]
    if case["algorithm"] == "UCB-E":
        return pb.UCBE(p["K"], p["T"], p["H"])
    if case["algorithm"].startswith("UGapEb"):
        return pb.UGapEb(p["K"], p["T"], p["H"], epsilon=p["eps"], sigma=p["sigma"])
    cls = pb.GapE if case["algorithm"] == "GapE" else pb.GapEV
    if p["H"] is None:
        return cls(p["K"], p["n"], p["b"], complexity_scale=p["H_scale"])
    return cls(p["K"], p["n"], (-0.25, p["b"] - 0.25), p["H"] * p["H_scale"])


def policy_of(name, n_arms, budget, complexity=5.0, b=1.0, scale=1.0, epsilon=0.0, sigma=0.25):
    if name.startswith("A-"):
        complexity = None
    if name == "UCBE":
        return pb.UCBE(n_arms, budget, complexity)
    if name.endswith("UGapEb"):
        return pb.UGapEb(n_arms, budget, complexity, epsilon=epsilon, sigma=sigma)
    cls = pb.GapEV if name.endswith("GapEV") else pb.GapE
    return cls(n_arms, budget, b, complexity, complexity_scale=scale)


def twin_of(policy):
    cls = getattr(twin, type(policy).__name__)
    problem = policy.n_arms, policy.budget
    if cls is twin.UCBE:
        return cls(*problem, policy.complexity)
    if cls is twin.UGapEb:
        return cls(*problem, policy.complexity, policy.epsilon, policy.sigma)
    return cls(*problem, policy.value_range, policy.complexity, policy.complexity_scale)


def random_policy(name, rng, largest=9):
    n_arms = int(rng.integers(1, largest + 1))
    budget = (1 + name.endswith("GapEV")) * n_arms + int(rng.choice([0, 1, rng.integers(60)]))
    return policy_of(name, n_arms, budget, float(rng.choice([0.01, 1.0, 100.0])),
                     float(rng.choice([0.5, 1.0, 3.0])), float(rng.choice([0.02, 1.0])),
                     float(rng.choice([0.0, 0.125])), float(rng.choice([0.05, 0.25])))


def grid_bandit(rng, n_arms):
    """Rewards on a grid of few steps, so that means and indices tie; some arms are twins."""
    steps = int(rng.choice([1, 2, 4, 16]))
    table = rng.integers(0, steps + 1, (n_arms, 8)) / steps
    return pb.environments.TableBandit(table[rng.integers(n_arms, size=n_arms)]
                                       if rng.random() < 0.4 else table)


def lose(rng, share, dead=()):
    """Loses this share of the rewards, and all of some arms."""
    def lost(arms, rewards):
        return np.where((rng.random(arms.size) < share) | np.isin(arms, dead), np.nan, rewards)
    return lost


def play(policy, bandit, lost=lambda arms, rewards: rewards, copied=lambda policy: policy):
    """Run it to its end; the policy and every pull."""
    pulls = []
    while not policy.done:
        policy = copied(policy)
        arms = policy.ask()
        pulls += arms.tolist()
        policy.tell(arms, lost(arms, bandit.pull(arms)), missing="drop")
    return policy, pulls


def assert_equals_the_twin(policy, bandit, lost=lambda arms, rewards: rewards):
    reference = twin_of(policy)
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
def test_cases(case):
    policy, pulls = play(case_policy(case), pb.environments.TableBandit(case["rewards"]))
    assert pulls == case["expect"]["pulls"]
    assert policy.recommend().tolist() == [case["expect"]["out"]]
    assert_equals_the_twin(case_policy(case), pb.environments.TableBandit(case["rewards"]))


@pytest.mark.parametrize("name", NAMES)
def test_the_twin(name):
    for seed in range(200):
        rng = np.random.default_rng([seed, NAMES.index(name)])
        policy = random_policy(name, rng)
        bandit = grid_bandit(rng, policy.n_arms)
        assert_equals_the_twin(policy, bandit)


@pytest.mark.parametrize("name", NAMES)
def test_the_twin_where_pulls_are_lost(name):
    for seed in range(60):
        rng = np.random.default_rng([seed, NAMES.index(name), 1])
        policy = random_policy(name, rng)
        dead = rng.choice(policy.n_arms, int(rng.integers(policy.n_arms + 1)), replace=False)
        lost = lose(rng, float(rng.choice([0.1, 0.6])), dead if rng.random() < 0.5 else ())
        assert_equals_the_twin(policy, grid_bandit(rng, policy.n_arms), lost)


@pytest.mark.parametrize("name", NAMES)
def test_a_dead_arm_takes_no_more_than_its_part(name):
    bandit = pb.environments.TableBandit([[0.5], [0.25, 1.0], [0.75, 0.0], [0.5, 0.25]])
    policy, pulls = play(policy_of(name, 4, 40), bandit, lost=lose(np.random.default_rng(), 0, [0]))
    assert pulls.count(0) == 10 and policy.pulls[0] == 0
    assert policy.pulls.sum() == 30 and policy.recommend() != 0


# -- the protocol -----------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_ask_changes_nothing_and_tell_is_all_or_nothing(name):
    bandit = grid_bandit(np.random.default_rng(1), 4)
    policy = policy_of(name, 4, 30)
    while not policy.done:
        arms, before = policy.ask(), pickle.dumps(policy)
        assert arms.dtype == np.int64 and policy.ask().tolist() == arms.tolist()
        for told, rewards, missing in ((arms, np.full(arms.size, np.nan), "raise"),
                                       (arms, np.full(arms.size, np.inf), "drop"),
                                       ((arms + 1) % 3, np.ones(arms.size), "raise"),
                                       (arms[1:], np.ones(arms.size - 1), "raise"),
                                       (arms, np.ones(arms.size + 1), "raise")):
            with pytest.raises((ValueError, TypeError)):
                policy.tell(told, rewards, missing)
        assert pickle.dumps(policy) == before
        policy.tell(arms, bandit.pull(arms))
    assert policy.n_pulls == 30 and policy.ask().size == 0
    with pytest.raises(ValueError, match="the policy is done"):
        policy.tell([0], [1.0])


@pytest.mark.parametrize("copied", [lambda one: pickle.loads(pickle.dumps(one)),
                                    lambda one: type(one).from_state(one.get_state())],
                         ids=["pickle", "state"])
@pytest.mark.parametrize("name", NAMES)
def test_a_copy_continues_bit_for_bit(name, copied):
    for seed in range(10):
        rng = np.random.default_rng([seed, NAMES.index(name), 2])
        policy = random_policy(name, rng)
        table = rng.normal(size=(policy.n_arms, 50))
        ends = []
        for one in (lambda policy: policy, copied):
            bandit, lost = pb.environments.TableBandit(table), lose(np.random.default_rng(7), 0.1)
            start = type(policy).from_state(policy.get_state())
            ends.append(play(start, bandit, lost, one))
        assert ends[0][1] == ends[1][1]
        assert pickle.dumps(ends[0][0]) == pickle.dumps(ends[1][0])
        assert ends[0][0].recommend() == ends[1][0].recommend()


def test_a_state_is_of_its_class_and_shape():
    state = pb.GapE(3, 9, 1.0).get_state()
    with pytest.raises(ValueError, match="must be that of a UCBE"):
        pb.UCBE.from_state(state)
    state["progress"]["asked"] = np.zeros(4, dtype=np.int64)
    with pytest.raises(ValueError, match="asked of shape"):
        pb.GapE.from_state(state)


@pytest.mark.parametrize("name", NAMES)
def test_the_first_pulls_are_one_batch(name):
    least = 1 + name.endswith("GapEV")
    policy = policy_of(name, 3, 3 * least)
    assert policy.recommend().tolist() == [0]
    assert policy.ask().tolist() == [0, 1, 2] * least
    policy.tell(policy.ask(), [0.25, 0.5, 0.5] * least)
    assert policy.done and policy.recommend().tolist() == [1]
    with pytest.raises(pb.InfeasibleBudget, match=f"budget must be at least {3 * least} for 3"):
        policy_of(name, 3, 3 * least - 1)


@pytest.mark.parametrize("name", NAMES)
def test_one_arm_is_one_batch(name):
    policy = policy_of(name, 1, 7)
    assert policy.ask().tolist() == [0] * 7
    policy.tell(policy.ask(), np.arange(7.0))
    assert policy.done and policy.recommend().tolist() == [0] and policy.n_batches == 1


@pytest.mark.parametrize("name", NAMES)
def test_simulate_is_ask_and_tell(name):
    table = np.random.default_rng(5).normal(size=(9, 31)).cumsum(axis=1) % 1.0
    policy, pulls = play(policy_of(name, 9, 200, 40.0), pb.environments.TableBandit(table))

    def found(policy, environment):
        return policy.recommend()[0]

    result = pb.simulate(lambda environment: policy_of(name, 9, 200, 40.0),
                         pb.environments.TableBandit(table), 3, rng=1, metrics=[found])
    assert len(pulls) == result.mean_pulls == 200
    assert result.arm_pulls.tolist() == policy.pulls.tolist()
    assert (result.metrics["found"] == policy.recommend()).all()


def test_a_range_is_a_length():
    assert pb.GapE(3, 9, (-1, 2.5)).value_range == pb.GapEV(3, 9, 3.5).value_range == 3.5


def test_indices_far_from_zero():
    """A common shift of all rewards changes no pull."""
    table = np.random.default_rng(3).integers(0, 9, (6, 20)) / 8
    for name in NAMES:
        runs = [play(policy_of(name, 6, 100), pb.environments.TableBandit(table + shift))[1]
                for shift in (0.0, 1024.0)]
        assert runs[0] == runs[1], name


def test_errors_are_rarer_than_in_turn():
    means = np.array([0.5, 0.45, 0.4, 0.3] + [0.1] * 12)
    H = ((0.5 - means[1:])**-2.0).sum() + 0.05**-2.0

    def error(policy):
        bandit = pb.environments.BernoulliBandit(means)
        return pb.simulate(lambda environment: policy(), bandit, 500, rng=1).error_probability

    uniform = error(lambda: pb.Uniform(16, 1600))
    assert error(lambda: pb.GapE(16, 1600, 1.0, H, complexity_scale=1 / 9)) < uniform - 0.05
    assert error(lambda: pb.UCBE(16, 1600, H / 9)) < uniform - 0.05
    assert error(lambda: pb.UGapEb(16, 1600, 4 * H / 9)) < uniform - 0.05


# -- bad input --------------------------------------------------------------------------


@pytest.mark.parametrize("make, message", [
    (lambda: pb.GapE(0, 9, 1.0), "n_arms must be at least 1; got 0"),
    (lambda: pb.GapE(3, -1, 1.0), "budget must be at least 0; got -1"),
    (lambda: pb.GapE(3, 9.5, 1.0), "budget must be an integer; got 9.5"),
    (lambda: pb.GapE(3, 9, 0.0), "value_range must be finite and above 0; got 0.0"),
    (lambda: pb.GapE(3, 9, np.inf), "value_range must be finite and above 0; got inf"),
    (lambda: pb.GapEV(3, 9, (1.0, 1.0)), r"value_range must be a length or \(low, high\)"),
    (lambda: pb.GapEV(3, 9, (1.0, 2.0, 3.0)), "value_range must be a length"),
    (lambda: pb.GapEV(3, 9, (1.0, np.nan)), "value_range must be finite; got nan at index 1"),
    (lambda: pb.GapE(3, 9, "1"), "value_range must hold real numbers"),
    (lambda: pb.GapE(3, 9, 1.0, 0.0), "complexity must be finite and above 0; got 0.0"),
    (lambda: pb.GapE(3, 9, 1.0, [1.0, 2.0]), r"complexity must be a number; got shape \(2,\)"),
    (lambda: pb.GapEV(3, 9, 1.0, complexity_scale=-1), "complexity_scale must be finite and above"),
    (lambda: pb.UCBE(3, 9, None), "complexity must hold real numbers; got NoneType"),
    (lambda: pb.UCBE(3, 9, np.nan), "complexity must be finite and above 0; got nan"),
    (lambda: pb.UGapEb(3, 9), "sigma must be given where complexity is None; got None"),
    (lambda: pb.UGapEb(3, 9, sigma=0.0), "sigma must be finite and above 0; got 0.0"),
    (lambda: pb.UGapEb(3, 9, 1.0, epsilon=-0.5), "epsilon must be finite and at least 0; got -0.5"),
])
def test_bad_input(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
