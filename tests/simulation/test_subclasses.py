"""Subclasses of compiled policies: their methods are used in every kind of run."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pybandit as pb

BANDIT = pb.environments.GaussianBandit([0.0, 5.0, 1.0])


class Careful(pb.policies.Uniform):
    """A policy whose answer depends on the variances."""

    def recommend(self):
        return np.array([np.argmax(self.means - 2 * np.sqrt(self.variances / self.pulls))])


class CarefulInPython(Careful):
    def ask(self):
        return super().ask()


def test_python_recommend_can_read_variances():
    for make in (Careful, CarefulInPython):
        for given in (make(3, budget=60), lambda e, make=make: make(3, budget=60)):
            result = pb.simulate(given, BANDIT, 200, rng=1, checkpoints=[60])
            assert result.error_probability == 0.0 and not result.checkpoint_errors.any()


@pytest.mark.parametrize("environment", [
    BANDIT, pb.environments.BernoulliBandit([0.2, 0.5, 0.4]),
    pb.environments.CostlyBandit(pb.environments.BinomialBandit([0.2, 0.5, 0.4], trials=9), 2.0)])
def test_metrics_can_read_variances(environment):
    """Rewards are drawn one by one in both cases, so that results are equal bit for bit."""
    def spread(policy, environment):
        return policy.variances.sum()

    def total(policy, environment):
        return policy.variances[1]

    compiled, python = (pb.simulate(lambda e, make=make: make(3, budget=60), environment, 50, rng=1,
                                    metrics=[spread, total]) for make in (pb.policies.Uniform,
                                                                          Careful))
    assert compiled.metrics["spread"].tolist() == python.metrics["spread"].tolist()
    mean = compiled.metrics["total"].mean()
    assert abs(mean / environment.variances[1] - 1.0) < 0.3


class Shy(pb.policies.Uniform):
    """Recommends the arm of a given rank, and keeps the rewards it received."""

    def __init__(self, n_arms, budget, rank=0):
        super().__init__(n_arms, budget=budget)
        self.rank, self.asked = rank, []

    def recommend(self):
        self.asked.append(self.n_pulls)
        return np.argsort(-self.means)[self.rank:self.rank + 1]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy,
                                    lambda p: pickle.loads(pickle.dumps(p))])
def test_attributes_are_copied(copied):
    """Attributes must be copied, not reset to the defaults of __init__."""
    shy = copied(Shy(3, budget=300, rank=1))
    assert shy.rank == 1 and vars(shy) == {"rank": 1, "asked": []}


def test_policy_object_keeps_its_attributes():
    given = Shy(3, budget=300, rank=1)
    for options in (dict(), dict(n_threads=2), dict(executor=ThreadPoolExecutor(2))):
        result = pb.simulate(given, BANDIT, 20, rng=1, **options)
        assert result.error_probability == 1.0 and result.mean_regret == pytest.approx(4.0)
        assert given.asked == []  # runs use copies
    pair = pb.compare({"shy": given, "first": Shy(3, budget=300)}, BANDIT, 20, rng=1)
    assert [one.error_probability for one in pair.results.values()] == [1.0, 0.0]


def test_attributes_that_cannot_be_copied_raise():
    given = Shy(3, budget=300)
    given.lock = threading.Lock()
    with pytest.raises(TypeError, match="policy must be a function of an environment"):
        pb.simulate(given, BANDIT, 2)


# -- rewards that depend on the number of earlier ones ---------------------------------------


class InTurn(pb.policies.Uniform):
    """Pulls each arm once per batch, in Python."""

    def ask(self):
        return np.arange(self.n_arms)

    @property
    def done(self):
        return self.n_pulls >= self.budget

    def tell(self, arms, rewards, missing="raise"):
        self.told = [*getattr(self, "told", []), *np.asarray(rewards)[np.asarray(arms) == 0]]
        self.pulled = getattr(self, "pulled", 0) + len(arms)

    n_pulls = property(lambda self: getattr(self, "pulled", 0))

    def recommend(self):
        return np.array([1])


@pytest.mark.parametrize("common", [False, True])
def test_python_gets_the_rewards_of_a_table_in_order(common):
    """The table must continue between pulls, not restart."""
    table = pb.environments.TableBandit([[0.1, 0.2, 0.3], [0.5, 0.6, 0.7]])
    table.pull([0, 1, 1])
    for environment in (table, pb.environments.CostlyBandit(table, [1.0, 2.0])):
        made = []

        def make(environment, made=made):
            made.append(InTurn(2, budget=8))
            return made[-1]

        pb.compare({"one": make}, environment, 3, common_rewards=common)
        assert [policy.told for policy in made] == [[0.1, 0.2, 0.3, 0.1]] * 3
    assert table.pull([0]).tolist() == [0.2]  # continues from the first pull


def test_python_and_compiled_code_draw_the_same():
    """If a policy does not use costs, they are not drawn between rewards, in either kind of run."""
    def first(policy, environment):
        return policy.means[0]

    costly = pb.environments.CostlyBandit(BANDIT, 1.0, cost_shape=2.0)
    one, other = (pb.simulate(lambda e, make=make: make(3, budget=3), costly, 9, rng=1,
                              metrics=[first])
                  for make in (pb.policies.Uniform, CarefulInPython))
    assert one.metrics["first"].tolist() == other.metrics["first"].tolist()


# -- subclasses of environments with costs ----------------------------------------------------


class Dear(pb.environments.GaussianBandit):
    @property
    def costs(self):
        return np.array([1.0, 9.0])


class DearTable(pb.environments.TableBandit):
    costs = Dear.costs


class DearCostly(pb.environments.CostlyBandit):
    costs = Dear.costs


class Timed(DearCostly):
    def pull_with_costs(self, arms, rng=None):
        raise AssertionError("costs were not requested")


class InTurnBackwards(InTurn):
    def ask(self):
        return np.arange(self.n_arms)[::-1]


class InTurnAtCosts(InTurn):
    costs = "told"

    def tell(self, arms, rewards, costs=None, missing="raise"):
        assert (costs == np.array([1.0, 9.0])[arms]).all()
        super().tell(arms, rewards)


TABLE = pb.environments.TableBandit([[1.0, 0.0, 0.0, 0.0], [0.5, 0.5]])


@pytest.mark.parametrize("environment", [
    DearTable([[1.0, 0.0, 0.0, 0.0], [0.5, 0.5]]), DearCostly(TABLE, 1.0), Timed(TABLE, 1.0),
    pb.environments.CostlyBandit(DearTable([[1.0, 0.0, 0.0, 0.0], [0.5, 0.5]]), [1.0, 9.0])])
def test_rewards_are_counted_over_the_run_with_costs(environment):
    """Rewards must be counted over the run, not restarted in every call."""
    kinds = [InTurn, InTurnAtCosts][:1 if isinstance(environment, Timed) else 2]
    for kind in kinds:
        made = []

        def make(environment, kind=kind, made=made):
            made.append(kind(2, budget=10))
            return made[-1]

        pb.simulate(make, environment, 2)
        assert [policy.told for policy in made] == [[1.0, 0.0, 0.0, 0.0, 1.0]] * 2
    plain = pb.simulate(pb.policies.UCB1(2), TABLE, 3, max_pulls=200)
    result = pb.simulate(pb.policies.UCB1(2), environment, 3, max_pulls=200)
    assert result.error_probability == 0.0
    assert result.arm_pulls.tolist() == plain.arm_pulls.tolist()


def test_costs_of_a_subclass_do_not_change_rewards():
    """Policies without costs get the same rewards, also common ones, as in compiled code."""
    for kind in (pb.policies.Uniform, InTurn):
        one, other = (pb.compare({"it": lambda e, kind=kind: kind(2, budget=40)}, make([0.0, 0.1]),
                                 9, rng=1) for make in (pb.environments.GaussianBandit, Dear))
        assert one["it"].errors.tolist() == other["it"].errors.tolist()
    made = []

    def keep(kind):
        made.append(kind(2, budget=8))
        return made[-1]

    pb.compare({"ab": lambda e: keep(InTurn), "ba": lambda e: keep(InTurnBackwards)},
               Dear([0.0, 1.0]), 1, rng=1)
    assert made[0].told == made[1].told


def test_subclass_with_costs_cannot_have_means_at():
    """Compiled code draws the rewards of such a subclass, so its means cannot vary."""
    class Varying(Dear):
        def means_at(self, t):
            return np.array([1.0, 0.0])

    with pytest.raises(ValueError, match="environment must have its own pull if it has m"):
        pb.simulate(pb.policies.UCB1(2), Varying([0.0, 1.0]), 2, max_pulls=20)


def test_costs_depend_on_options_of_a_policy():
    """Compiled code may run one policy of a class but not another; caches must not mix them up."""
    makers = iter([None, "told"] * 4)
    paid = []

    def make(environment):
        how = next(makers)
        policy = pb.montecarlo.EstimatorAllocator(2, **({} if how is None else {"costs": how}))
        paid.append(policy)
        return policy

    pb.simulate(make, Dear([0.0, 0.0]), 8, rng=1, max_pulls=50, answer=[0], n_threads=1)
    totals = [policy.total_cost for policy in paid]
    assert totals[::2] == [50.0] * 4 and min(totals[1::2]) > 60.0
