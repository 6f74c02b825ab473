"""compare: common random numbers, and merging of comparisons, bit for bit."""

import numpy as np
import pytest

import pybandit as pb

from simulation.arms import (
    FOUR,
    GAUSSIAN,
    MEANS,
    OPTIONS,
    Coins,
    InTurn,
    Says,
    assert_equal,
    assert_same,
    draw_coins,
    make_in_turn,
)
from simulation.reference import streams


class Keeps(pb.policies.UCB1):
    """A compiled policy with a Python `tell` that keeps its rewards by arm."""

    def __init__(self, n_arms, kept):
        super().__init__(n_arms)
        self.kept = kept

    def tell(self, arms, rewards, missing="raise"):
        for arm, reward in zip(arms, rewards, strict=True):
            self.kept.setdefault(int(arm), []).append(reward)
        super().tell(arms, rewards, missing)


class Backwards(InTurn):
    """Pulls all arms in each batch, from the last arm to the first."""

    def __init__(self, n_arms, kept):
        super().__init__(n_arms, 20)
        self.kept = kept

    def ask(self):
        return np.arange(self.n_arms)[::-1]

    def tell(self, arms, rewards, missing="raise"):
        for arm, reward in zip(arms, rewards, strict=True):
            self.kept.setdefault(int(arm), []).append(reward)
        super().tell(arms, rewards, missing)


def test_jth_reward_of_an_arm_is_common():
    """The rewards are those of NumPy's generators, for any policy and order of pulls."""
    adaptive, regular = [], []

    def keeping(kind, kept):
        def make(environment):
            kept.append({})
            return kind(8, kept[-1])
        return make

    pb.compare({"adaptive": keeping(Keeps, adaptive), "regular": keeping(Backwards, regular)},
               GAUSSIAN, 3, rng=6, max_pulls=160)
    for i in range(3):
        table = streams.common_rewards(6, i, MEANS, 160)
        for kept in (adaptive[i], regular[i]):
            assert sum(map(len, kept.values())) == 160
            for arm, rewards in kept.items():
                assert rewards == table[arm, :len(rewards)].tolist()
    assert len({len(rewards) for rewards in adaptive[0].values()}) > 1


@pytest.mark.parametrize("name", ["halving", "ucb1"])
def test_compiled_runs_equal_runs_on_a_table(name):
    """Compare each run with a run on a table of its common rewards."""
    found = pb.compare(FOUR, GAUSSIAN, 6, rng=3, **OPTIONS)[name]
    for i in range(6):
        table = Replayed(streams.common_rewards(3, i, MEANS, 120))
        alone = pb.simulate(FOUR[name], table, 1, **OPTIONS)
        for array in ("errors", "regrets", "checkpoint_leaders", "arm_pulls_by_run"):
            assert getattr(found, array)[i].tolist() == getattr(alone, array)[0].tolist()


class Replayed(pb.environments.TableBandit):
    """Rewards of a table, with the means of the distribution that they came from."""

    @property
    def means(self):
        return MEANS.copy()


def test_compare_without_common_rewards_equals_simulate():
    both = pb.compare(FOUR, GAUSSIAN, 7, rng=4, common_rewards=False, **OPTIONS)
    for name, make in FOUR.items():
        assert_same(both[name], pb.simulate(make, GAUSSIAN, 7, rng=4, **OPTIONS))


def test_python_and_compiled_policies_agree_on_common_rewards():
    class Slow(pb.policies.LUCB):
        def ask(self):
            return super().ask()

    pair = pb.compare({"c": pb.policies.LUCB(8, delta=0.1, k=2),
                       "python": lambda e: Slow(8, delta=0.1, k=2)},
                      GAUSSIAN, 5, rng=8, max_pulls=300, checkpoints=[50, 300])
    assert_same(pair["c"], pair["python"])


def test_costs_are_common_too():
    bandit = pb.environments.CostlyBandit(GAUSSIAN, np.arange(1.0, 9.0), cost_shape=3.0)
    told = []

    class Keeping(pb.montecarlo.EstimatorAllocator):
        def tell(self, arms, rewards, costs):
            told[-1] += zip(np.asarray(arms).tolist(), rewards, costs, strict=True)
            super().tell(arms, rewards, costs)

    def make(environment):
        told.append([])
        return Keeping(8, policy="uniform", costs="told", pilot=2, budget=100.0 * len(told))

    pb.compare({"few": make, "more": make}, bandit, 1, rng=1)
    few, more = told
    assert 16 <= len(few) < len(more)
    for arm in range(8):
        one, two = ([entry for entry in run if entry[0] == arm] for run in (few, more))
        assert one == two[:len(one)] and len(set(one)) == len(one)


def test_common_rewards_correlate_regrets():
    """Uniform against twice as many pulls: the regrets of a run are correlated."""
    policies = {"few": pb.policies.Uniform(8, budget=80),
                "more": pb.policies.Uniform(8, budget=160)}
    spread = {}
    for common in (True, False):
        pair = pb.compare(policies, lambda rng: pb.environments.GaussianBandit(MEANS), 600, rng=1,
                          common_rewards=common)
        spread[common] = np.corrcoef(pair["few"].regrets, pair["more"].regrets)[0, 1]
    assert spread[True] > 0.35


def test_all_policies_get_the_same_drawn_environment():
    seen = {}

    def keeping(name):
        def make(environment):
            seen.setdefault(name, []).append(environment.means.tolist())
            return make_in_turn(environment)
        return make

    pb.compare({name: keeping(name) for name in "ab"}, draw_coins, 5, rng=2)
    assert seen["a"] == seen["b"] and len({tuple(means) for means in seen["a"]}) == 5


@pytest.mark.parametrize("environment", [GAUSSIAN, Coins(MEANS), draw_coins],
                         ids=["compiled", "python", "drawn"])
def test_result_does_not_depend_on_threads(environment):
    one, two = (pb.compare(FOUR, environment, 9, rng=1, n_threads=n, **OPTIONS) for n in (1, 3))
    assert_equal(one, two)


# -- merging ------------------------------------------------------------------------------


def test_merged_comparisons_equal_one_longer_run():
    seeds = np.random.SeedSequence(5)
    parts = [pb.compare(FOUR, GAUSSIAN, n, rng=seeds, **OPTIONS) for n in (4, 7, 2)]
    merged = parts[0] + parts[1] + parts[2]
    assert_equal(merged, pb.compare(FOUR, GAUSSIAN, 13, rng=5, **OPTIONS))
    assert merged.n_runs == 13 and len(merged.streams) == 1


def test_comparisons_with_other_seeds_are_merged_in_order():
    one, two = (pb.compare(FOUR, GAUSSIAN, 4, rng=seed, max_pulls=99) for seed in (1, 2))
    merged = one + two
    assert [stream["words"][0] for stream in merged.streams] == [1, 2]
    for name in FOUR:
        assert merged[name].regrets.tolist() == [*one[name].regrets, *two[name].regrets]
        assert merged[name].arm_pulls == pytest.approx(
            (one[name].arm_pulls + two[name].arm_pulls) / 2)
    three = merged + pb.compare(FOUR, GAUSSIAN, 4, rng=3, max_pulls=99)
    with pytest.raises(ValueError, match="streams must differ .* run 0 of the same seed"):
        three + two


def test_merging_the_same_runs_raises():
    pair = {"a": pb.policies.UCB1(8), "b": pb.policies.EBTC(8)}
    seeds = np.random.SeedSequence(9)
    first = pb.compare(pair, GAUSSIAN, 5, rng=seeds, max_pulls=20)
    pb.compare(pair, GAUSSIAN, 5, rng=seeds, max_pulls=20) + first
    for rng in (9, np.random.SeedSequence([9, 0])):
        with pytest.raises(ValueError, match="both have run 0 of the same seed; use another rng"):
            first + pb.compare(pair, GAUSSIAN, 2, rng=rng, max_pulls=20)
    again = np.random.SeedSequence(9, n_children_spawned=4)
    with pytest.raises(ValueError, match="both have run 4 of the same seed"):
        first + pb.compare(pair, GAUSSIAN, 2, rng=again, max_pulls=20)


BASE = dict(policies={"a": pb.policies.UCB1(8)}, environment=GAUSSIAN, n_runs=2, max_pulls=30)


@pytest.mark.parametrize("name, other", [
    ("policies", dict(policies={"b": pb.policies.UCB1(8)})),
    ("policies", dict(policies={"a": pb.policies.UCB1(8, exploration=3.0)})),
    ("policies", dict(policies={"a": pb.policies.EBTC(8)})),
    ("policies", dict(policies={"a": pb.policies.UCB1(8), "b": pb.policies.EBTC(8)})),
    ("policies", dict(policies={"a": lambda e: Says(8, [0])})),
    ("environment", dict(environment=pb.environments.GaussianBandit(MEANS + 0.1))),
    ("environment", dict(environment=pb.environments.GaussianBandit(MEANS, 2.0**0.5))),
    ("environment", dict(environment=Coins(MEANS), policies={"a": pb.policies.UCB1(8)})),
    ("environment", dict(environment=lambda rng: GAUSSIAN, policies={"a": pb.policies.UCB1(8)})),
    ("max_pulls", dict(max_pulls=31)), ("checkpoints", dict(checkpoints=[9, 30])),
    ("answer", dict(answer=pb.simulation.Above(0.5))),
    ("answer", dict(answer=pb.simulation.Best(epsilon=0.1))),
    ("arm_pulls_by_run", dict(arm_pulls_by_run=True)),
    ("common_rewards", dict(common_rewards=False)),
])
def test_merging_other_options_raises(name, other):
    one = pb.compare(**BASE, rng=1)
    two = pb.compare(**BASE | other, rng=2)
    expected = f"^({name}|policies) must be equal in comparisons that are merged; got"
    with pytest.raises(ValueError, match=expected):
        one + two
    with pytest.raises(TypeError, match="unsupported operand"):
        one + 3


@pytest.mark.parametrize("policies, error, words", [
    ({}, TypeError, "policies must be a non-empty mapping of names"),
    ([pb.policies.UCB1(8)], TypeError, "policies must be a non-empty mapping of names"),
    ({"": pb.policies.UCB1(8)}, TypeError, "policies must have non-empty strings as names; got ''"),
    ({1: pb.policies.UCB1(8)}, TypeError, "policies must have non-empty strings as names; got 1"),
    ({"a": 3}, TypeError, r"policies\['a'\] must be a policy or a function of an environment"),
])
def test_invalid_policies_raise(policies, error, words):
    with pytest.raises(error, match=words):
        pb.compare(policies, GAUSSIAN, 2, max_pulls=9)


def test_exceptions_name_the_policy():
    with pytest.raises(ValueError, match="max_pulls must be given") as raised:
        pb.compare({"good": pb.policies.SequentialHalving(8, budget=80),
                    "bad": pb.policies.UCB1(8)},
                   GAUSSIAN, 2)
    assert raised.value.__notes__ == ["in policies['bad']"]
    with pytest.raises(ValueError, match="name must be one of 'a'; got 'b'"):
        pb.compare(**BASE)["b"]


def test_options_do_not_name_private_modules():
    words = pb.compare({"one": pb.policies.UCB1(8)}, GAUSSIAN, 2, rng=1, max_pulls=8).options
    assert words["environment"].startswith("pybandit.GaussianBandit of 8 arms")


def test_options_with_equal_reprs_differ():
    """Options with equal reprs differ: scikit-learn kernels round, and long reprs are cut."""
    pytest.importorskip("sklearn")
    features = np.arange(16.0).reshape(8, 2)

    def one(scale, length):
        kernel = pb.kernels.rbf([1.0, scale])
        for _ in range(length):
            kernel = pb.kernels.rbf(1.0) + kernel
        policy = pb.policies.GPUCB(len(features), budget=4, kernel=kernel, features=features,
                                   refit_every=6, noise_std=0.5)
        return pb.compare({"a": policy}, GAUSSIAN, 1, rng=np.random.SeedSequence(1), max_pulls=4)

    for length in (0, 20):
        same, other = one(1.0, length), one(1.0 + 1e-9, length)
        assert same.options == one(1.0, length).options
        with pytest.raises(ValueError, match="policies must be equal in comparisons"):
            same + other
