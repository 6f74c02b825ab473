"""simulate: results, for policies in Python and compiled ones, in any number of threads."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pybandit as pb
from pybandit.environments import (
    BernoulliBandit,
    Environment,
    GaussianBandit,
    TableBandit,
)

BANDIT = BernoulliBandit(np.linspace(0.1, 0.9, 12))


def halving(environment):
    return pb.policies.BatchHalving(environment.n_arms, 3, batch_size=7, max_batches=11)


def sar(environment):
    return pb.policies.BatchSAR(environment.n_arms, 3, batch_size=5, max_batches=20)


class InTurn(pb.Policy):
    """Round robin in plain Python."""

    def __init__(self, n_arms, k, size, n_batches):
        super().__init__(n_arms, k)
        self.size, self.left = size, n_batches
        self.counts, self.totals = np.zeros(n_arms), np.zeros(n_arms)

    @property
    def done(self):
        return self.left == 0

    def ask(self):
        return (int(self.counts.sum()) + np.arange(self.size)) % self.n_arms

    def tell(self, arms, rewards, missing="raise"):
        np.add.at(self.counts, arms, 1)
        np.add.at(self.totals, arms, rewards)
        self.left -= 1

    def recommend(self):
        return np.argsort(-self.totals / self.counts, kind="stable")[:self.k]


class Coins(Environment):
    """Bernoulli rewards in plain Python."""

    def __init__(self, means):
        means = np.asarray(means)
        super().__init__(means, np.sqrt(means * (1 - means)))

    def pull(self, arms, rng=None):
        return (rng.random(np.size(arms)) < self.means[arms]) * 1.0


def assert_same(one, other):
    assert json.dumps(one.to_dict()) == json.dumps(other.to_dict())


@pytest.mark.parametrize("factory", [halving, sar])
@pytest.mark.parametrize("environment",
                         [BANDIT, lambda rng: GaussianBandit(rng.random(12), 0.1**0.5)],
                         ids=["fixed", "drawn"])
def test_result_does_not_depend_on_threads(factory, environment):
    one = pb.simulate(factory, environment, 40, rng=4, n_threads=1)
    assert_same(pb.simulate(factory, environment, 40, rng=4, n_threads=4), one)
    assert_same(pb.simulate(factory, environment, 40, rng=4), one)
    other = pb.simulate(factory, environment, 40, rng=5)
    assert not np.array_equal(other.arm_pulls, one.arm_pulls)


@pytest.mark.parametrize("python", [False, True])
def test_threads_can_share_a_table(python):
    """A table that Python policies pull counts pulls itself; threads must not share the counts."""
    table = TableBandit(np.random.default_rng(1).random((5, 97)))
    def make(environment):
        if python:
            return InTurn(5, 2, 3, 60)
        return pb.policies.RoundRobin(5, 2, batch_size=3, max_batches=60)

    results = [pb.simulate(make, table, 60, rng=1, n_threads=n)
               for n in (1, 4)]
    assert_same(*results)
    assert len(set(results[1].regrets.tolist())) == 1


def test_rewards_for_python_policies_are_drawn_without_the_gil():
    """The rewards of a batch are drawn without the GIL."""
    evidence = pb.environments.LogisticEvidence(np.ones((200, 5)), labels=np.ones(200),
                                                n_anneals=[20, 20], log_evidence=0.0)
    ticks, counts, ended = [], [], threading.Event()

    class Counts(pb.policies.Uniform):
        def ask(self):
            counts.append(len(ticks))
            return np.zeros(300, dtype=np.int64)

        def tell(self, arms, rewards, missing="raise"):
            counts.append(len(ticks))
            ended.set()

        done = property(lambda self: ended.is_set())

        def recommend(self):
            return [0]

    def tick():
        while not ended.wait(0.005):
            ticks.append(1)

    ticking = threading.Thread(target=tick)
    ticking.start()
    try:
        pb.simulate(lambda e: Counts(2, budget=2000), evidence, 1, rng=1)
    finally:
        ended.set()
        ticking.join()
    assert counts[1] - counts[0] >= 3  # the simulation takes a tenth of a second or more


def test_run_i_uses_stream_i():
    ten, twenty = (pb.simulate(halving, BANDIT, n, rng=8, n_threads=2) for n in (10, 20))
    assert twenty.regrets[:10].tolist() == ten.regrets.tolist()
    assert len(set(twenty.regrets.tolist())) > 1


def test_equal_seeds_give_equal_results():
    assert_same(pb.simulate(sar, BANDIT, 10, rng=np.random.SeedSequence(3)),
                pb.simulate(sar, BANDIT, 10, rng=3))
    one, other = (pb.simulate(sar, BANDIT, 10, rng=np.random.default_rng(3)) for _ in range(2))
    assert_same(one, other)


def test_policy_draws_from_the_stream_of_its_run():
    """BatchHalving without rng draws from the run's stream; with rng from its own."""
    def dealt(rng):
        seen = []

        def first_stage(policy, environment):
            seen.append(tuple(policy.stage_batches.tolist()))
            return 0.0

        pb.simulate(lambda e: pb.policies.BatchHalving(12, 1, batch_size=6, max_batches=10,
                                                       rng=rng), BANDIT, 20, rng=2,
                    n_threads=1, metrics=[first_stage])
        return seen

    assert dealt(None) == dealt(None)
    assert len(set(dealt(None))) > 1
    assert len(set(dealt(0))) == 1


def test_environment_function_is_called_for_every_run():
    drawn, made = [], []

    def draw(rng):
        drawn.append(GaussianBandit(rng.random(4)))
        return drawn[-1]

    def make(environment):
        made.append(environment)
        return pb.policies.RoundRobin(4, 1, batch_size=4, max_batches=2)

    pb.simulate(make, draw, 5, rng=1, n_threads=1)
    assert len(drawn) == 5 and made == drawn
    assert len({environment.means[0] for environment in drawn}) == 5


def test_factory_is_called_once_per_run():
    calls = []

    def make(environment):
        calls.append(environment)
        return sar(environment)

    pb.simulate(make, BANDIT, 6, n_threads=2)
    assert calls == [BANDIT] * 6


def test_python_policy_equals_compiled_policy_on_a_table():
    table = TableBandit(np.random.default_rng(3).random((6, 11)))
    native = pb.simulate(lambda e: pb.policies.RoundRobin(6, 2, batch_size=4, max_batches=9), table,
                         2, rng=1)
    assert_same(pb.simulate(lambda e: InTurn(6, 2, 4, 9), table, 2, rng=1), native)
    assert native.pulls.tolist() == [36, 36] and native.batches.tolist() == [9, 9]
    assert native.arm_pulls.tolist() == [6.0] * 6


def test_tell_of_a_subclass_is_called():
    class Loud(pb.policies.BatchSAR):
        told = 0

        def tell(self, arms, rewards, missing="raise"):
            Loud.told += 1
            super().tell(arms, rewards, missing)

    table = TableBandit(np.random.default_rng(3).random((12, 40)))
    result = pb.simulate(lambda e: Loud(e.n_arms, 3, batch_size=5, max_batches=20), table, 1)
    assert Loud.told == 20
    assert_same(result, pb.simulate(sar, table, 1))


@pytest.mark.parametrize("make, environment", [
    (lambda e: InTurn(12, 3, 12, 4), BANDIT),
    (lambda e: pb.policies.RoundRobin(12, 3, batch_size=12, max_batches=4), Coins(BANDIT.means)),
    (lambda e: InTurn(12, 3, 12, 4), Coins(BANDIT.means)),
], ids=["policy", "environment", "both"])
def test_python_policies_and_environments_keep_the_distribution(make, environment):
    n = 1500
    native = pb.simulate(lambda e: pb.policies.RoundRobin(12, 3, batch_size=12, max_batches=4),
                         BANDIT, n, rng=1)
    python = pb.simulate(make, environment, n, rng=2)
    spread = np.sqrt((native.regrets.var() + python.regrets.var()) / n)
    assert abs(native.mean_regret - python.mean_regret) < 5 * spread
    assert abs(native.error_probability - python.error_probability) < 5 * np.sqrt(0.5 / n)
    assert 0.5 < native.error_probability < 0.99


def on_table(rewards, k, **options):
    """Simulate one run that receives every reward of the table once."""
    n_arms, n = np.shape(rewards)
    return pb.simulate(lambda e: pb.policies.RoundRobin(n_arms, k, batch_size=n_arms,
                                                        max_batches=n),
                       TableBandit(rewards), 1, **options)


class Always(InTurn):
    """Always recommends the same arms."""

    def __init__(self, n_arms, arms):
        super().__init__(n_arms, len(arms), n_arms, 1)
        self.arms = np.array(arms, dtype=np.int64)

    def recommend(self):
        return self.arms


@pytest.mark.parametrize("arms, error, regret", [
    ([1], False, 0.0), ([0], True, 1.0), ([3], True, 2.0),
    ([1, 2], False, 0.0), ([1, 4], False, 0.0), ([2, 4], True, 0.5), ([1, 0], True, 0.0),
    ([], False, 0.0),
])
def test_error_and_regret_match_definitions(arms, error, regret):
    """Arm 0 is slightly worse than arms 2 and 4, which are equal; [2, 4] lacks the best arm, 1."""
    table = TableBandit([[2.0 - 1e-9], [3.0], [2.0], [1.0], [2.0]])
    result = pb.simulate(lambda e: Always(5, arms), table, 1)
    assert result.errors.tolist() == [error] and result.errors.dtype == bool
    assert result.regrets == pytest.approx([regret], abs=1e-8)


def test_policy_that_sees_everything_is_right():
    result = on_table(np.random.default_rng(2).random((8, 5)), 3)
    assert not result.errors.any() and result.mean_regret == pytest.approx(0.0, abs=1e-15)
    assert result.mean_pulls == 40 and result.mean_batches == 5


def test_user_defined_metrics_are_computed():
    def pulls_of_the_last(policy, environment):
        return policy.pulls[-1]

    def wide(policy, environment):
        return np.ptp(environment.means)

    result = pb.simulate(sar, BANDIT, 4, rng=1, metrics=["error", pulls_of_the_last, wide])
    assert set(result.metrics) == {"pulls_of_the_last", "wide"}
    assert result.metrics["wide"] == pytest.approx(np.full(4, 0.8))
    assert result.metrics["pulls_of_the_last"].mean() == result.arm_pulls[-1]


def test_metrics_with_standard_names_raise():
    def regret(policy, environment):
        return -1.0

    with pytest.raises(ValueError, match="metrics must be functions with distinct names.*'regret'"):
        pb.simulate(sar, BANDIT, 2, metrics=[regret])
    with pytest.raises(ValueError, match="metrics.*<lambda>"):
        pb.simulate(sar, BANDIT, 2, metrics=[lambda p, e: 0.0, lambda p, e: 1.0])


def test_metrics_can_be_a_mapping():
    """Functions in a mapping are called under their names."""
    result = pb.simulate(sar, BANDIT, 4, rng=1, metrics={
        "last": lambda policy, environment: policy.pulls[-1], "one": lambda p, e: 1.0})
    assert set(result.metrics) == {"last", "one"} and result.metrics["one"].tolist() == [1.0] * 4
    assert result.metrics["last"].mean() == result.arm_pulls[-1]
    for bad in ({"error": lambda p, e: 0.0}, {"mine": 3}, {3: lambda p, e: 0.0}):
        with pytest.raises(ValueError, match="metrics must map names other than .* to functions"):
            pb.simulate(sar, BANDIT, 2, metrics=bad)


def test_variances_are_nan_after_sums():
    """Variances are not kept unless a metric may read them."""
    made, seen = [], []

    def make(environment):
        made.append(sar(environment))
        return made[-1]

    def keep(policy, environment):
        seen.append(policy.variances)
        return 0.0

    pb.simulate(make, BANDIT, 1)
    assert np.isnan(made[0].variances).all()
    pb.simulate(make, BANDIT, 1, metrics=[keep])
    assert np.isfinite(seen).any()


class Failure(Exception):
    pass


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("where", ["factory", "metric", "environment"])
def test_exceptions_are_propagated_and_end_the_runs(n_threads, where):
    calls = dict(factory=0, metric=0, environment=0)

    def step(what):
        calls[what] += 1
        if what == where and calls[what] == 5:
            raise Failure(what)

    def make(environment):
        step("factory")
        return sar(environment)

    def metric(policy, environment):
        step("metric")
        return 0.0

    def draw(rng):
        step("environment")
        return BANDIT

    with pytest.raises(Failure, match=where):
        pb.simulate(make, draw, 20_000, n_threads=n_threads, metrics=[metric])
    assert calls["factory"] < 15_000


def test_progress_shows_a_bar(capsys):
    pytest.importorskip("tqdm")
    pb.simulate(sar, BANDIT, 5, n_threads=2, progress=True)
    assert "simulate: 100%" in capsys.readouterr().err
    pb.simulate(sar, BANDIT, 5, progress=False)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("options, error, words", [
    (dict(n_runs=0), ValueError, "n_runs must be at least 1; got 0"),
    (dict(n_runs=2.5), TypeError, "n_runs must be an integer; got 2.5"),
    (dict(n_threads=0), ValueError, "n_threads must be at least 1; got 0"),
    (dict(metrics=["errors"]), ValueError, "metrics must be .* got 'errors'"),
    (dict(progress="yes"), ValueError, "progress must be one of .* got 'yes'"),
    (dict(rng=-1), ValueError, "rng|negative"),
])
def test_invalid_arguments_raise(options, error, words):
    with pytest.raises(error, match=words):
        pb.simulate(sar, BANDIT, **{"n_runs": 2, **options})


def test_environments_of_different_sizes_raise():
    def draw(rng):
        return pb.environments.BernoulliBandit(rng.random(rng.integers(2, 9)))

    with pytest.raises(ValueError, match="environment must have the same number of arms in every"):
        pb.simulate(lambda e: pb.policies.RoundRobin(e.n_arms, 1, batch_size=2, max_batches=3),
                    draw, 50, rng=1)


# -- horizons and cumulative regret -----------------------------------------------------


class InTurnForEver(InTurn):
    is_endless = True

    def __init__(self, n_arms):
        super().__init__(n_arms, 1, 5, -1)

    def recommend(self):
        return np.array([0])


@pytest.mark.parametrize("make, batch", [
    (lambda e: pb.policies.RoundRobin(12, 1, batch_size=5, max_batches=100), 5),
    (lambda e: InTurnForEver(12), 5),
    (lambda e: pb.policies.EBTC(12), 12), (lambda e: pb.policies.UCB1(12), 12),
], ids=["native", "python", "EBTC", "UCB1"])
def test_run_ends_before_the_batch_beyond_max_pulls(make, batch):
    for horizon in (batch, 2 * batch - 1, 23, 99):
        result = pb.simulate(make, BANDIT, 3, rng=1, max_pulls=horizon)
        pulls = horizon - horizon % 5 if batch == 5 else horizon
        assert result.pulls.tolist() == [pulls] * 3
    with pytest.raises(pb.errors.InfeasibleBudgetError,
                       match=f"max_pulls must be at least {batch}, the size"):
        pb.simulate(make, BANDIT, 1, max_pulls=batch - 1)


def test_max_pulls_beyond_the_end_has_no_effect():
    assert_same(pb.simulate(sar, BANDIT, 5, rng=1, max_pulls=10**9),
                pb.simulate(sar, BANDIT, 5, rng=1))


def test_huge_first_batch_is_not_allocated():
    """The first batch of 10^13 pulls must not be allocated as an array."""
    for make in (pb.policies.SequentialHalving, pb.policies.Uniform):
        result = pb.simulate(lambda e, make=make: make(2, budget=10**13),
                             GaussianBandit([0.0, 1.0]), 3, rng=1, max_pulls=10**13)
        assert result.pulls.tolist() == [10**13] * 3
        with pytest.raises(pb.errors.InfeasibleBudgetError,
                           match="max_pulls must be at least 10000000000000"):
            pb.simulate(lambda e, make=make: make(2, budget=10**13), GaussianBandit([0.0, 1.0]), 3,
                        max_pulls=10**12)


def test_endless_policy_needs_max_pulls():
    for make in (lambda e: pb.policies.EBTC(12), lambda e: pb.policies.KLUCB(12),
                 lambda e: InTurnForEver(12)):
        with pytest.raises(ValueError, match="max_pulls must be given because the policy"):
            pb.simulate(make, BANDIT, 1)
    for horizon, error in ((0, ValueError), (2.5, TypeError)):
        with pytest.raises(error, match="max_pulls must be"):
            pb.simulate(sar, BANDIT, 1, max_pulls=horizon)


@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor(1)])
def test_overflowing_pulls_raise(executor):
    """Totals that overflow must raise instead of becoming negative."""
    bandit = GaussianBandit([0.0, 1.0])
    most = pb.simulate(pb.policies.Uniform(2, budget=2**53), bandit, 2047, rng=1, executor=executor)
    assert most.arm_pulls.tolist() == [2.0**52] * 2
    words = f"pulls of arm 0 in all runs together must be at most {2**63 - 1}; got more"
    with pytest.raises(OverflowError, match=words):
        pb.simulate(pb.policies.Uniform(2, budget=2**53), bandit, 2048, rng=1, executor=executor)


def test_overflowing_merged_pulls_raise():
    one, other = (pb.compare({"all": pb.policies.Uniform(2, budget=2**53)},
                             GaussianBandit([0.0, 1.0]), 1100, rng=seed, common_rewards=False)
                  for seed in (1, 2))
    with pytest.raises(OverflowError, match="pulls of arm 0 in all runs together"):
        one + other


def test_cumulative_regret_counts_all_pulls():
    table = TableBandit([[0.5], [2.0], [1.75]])
    for make in (lambda e: pb.policies.RoundRobin(3, 2, batch_size=3, max_batches=4),
                 lambda e: InTurn(3, 2, 3, 4)):
        result = pb.simulate(make, table, 2, rng=1)
        assert result.cumulative_regrets.tolist() == [4 * 1.75] * 2
        assert result.mean_cumulative_regret == 7.0
        back = result.to_dict()
        assert back["cumulative_regrets"] == [7.0, 7.0] and back["mean_cumulative_regret"] == 7.0


class Plain:
    """A policy in Python without a base class: its attributes are its state."""

    def __init__(self, n_arms):
        self.n_arms, self.k, self.n_pulls, self.told = n_arms, 1, 0, []

    @property
    def done(self):
        return self.n_pulls >= 6

    def ask(self):
        return np.arange(self.n_arms)

    def tell(self, arms, rewards):
        self.n_pulls += len(arms)
        self.told.append(rewards)

    def recommend(self):
        return [int(np.argmax(np.sum(self.told, axis=0)))]


def test_python_policy_is_copied_for_every_run():
    given, bandit = Plain(3), GaussianBandit([0.0, 0.5, 1.0])
    made = []

    def told(policy, environment):
        made.append(policy)
        return len(policy.told)

    result = pb.simulate(given, bandit, 50, rng=1, metrics=[told])
    assert result.metrics["told"].tolist() == [2.0] * 50 and not given.told
    assert len(set(map(id, made))) == 50
    assert_same(result, pb.simulate(lambda e: Plain(3), bandit, 50, rng=1, metrics=[told]))
    assert_same(pb.compare({"it": given}, bandit, 20, rng=1, budgets=[3, 6])["it"],
                pb.compare({"it": lambda e, b: Plain(3)}, bandit, 20, rng=1, budgets=[3, 6])["it"])
    given.tell(given.ask(), np.zeros(3))
    with pytest.raises(ValueError, match="policy must be a fresh policy; got one with 3 pulls"):
        pb.simulate(given, bandit, 2)
