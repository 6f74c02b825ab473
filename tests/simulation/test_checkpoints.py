"""Checkpoints, stopping times and the pulls of each run."""

import numpy as np
import pytest

import pybandit as pb
from pybandit.simulation._native import answer_of_engine, answers_natively
from pybandit.simulation._plan import check_maker
from pybandit.simulation._runs import Pattern

from policies.every_class import EVERY, played
from simulation.arms import GAUSSIAN, Drifting, InTurn, assert_same, make_in_turn
from studies.cases import POLICIES

MARKS = [0, 3, 8, 9, 50, 99, 100, 240]
PROCESSES = {"bayes gap", "bayes gap weights", "gp ucb", "bayes ucb", "ei", "pi",
             "gaussian thompson"}
CURVES = ("errors", "regrets", "cumulative_regrets")
MAKERS = {
    "one by one": lambda e: pb.policies.UCB1(e.n_arms),
    "stages": lambda e: pb.policies.SequentialHalving(e.n_arms, budget=200),
    "batches of two": lambda e: pb.policies.LUCB(e.n_arms, delta=0.1),
    "its own stream": lambda e: pb.policies.TopTwo(e.n_arms),
    "python": make_in_turn,
}


@pytest.mark.parametrize("name", MAKERS)
def test_checkpoint_equals_a_run_that_ended_there(name):
    """Compare bit for bit, at each max_pulls that holds the first batch."""
    make = MAKERS[name]
    whole = pb.simulate(make, GAUSSIAN, 12, rng=2, max_pulls=240, checkpoints=MARKS)
    assert whole.checkpoints.tolist() == MARKS
    for column, mark in enumerate(MARKS):
        if mark < (25 if name != "stages" else 66):
            continue
        ended = pb.simulate(make, GAUSSIAN, 12, rng=2, max_pulls=mark)
        for curve in CURVES:
            there = getattr(whole, f"checkpoint_{curve}")[:, column]
            assert there.tolist() == getattr(ended, curve).tolist(), (mark, curve)


def test_checkpoint_before_the_first_batch_has_no_data():
    result = pb.simulate(MAKERS["one by one"], GAUSSIAN, 3, rng=1, max_pulls=9,
                         checkpoints=[0, 7, 9])
    assert result.checkpoint_leaders[:, :2].tolist() == [[0, 0]] * 3  # the lowest index
    assert not result.checkpoint_cumulative_regrets[:, :2].any()
    assert result.checkpoint_cumulative_regrets[:, 2].tolist() == (
        result.cumulative_regrets.tolist())


def test_checkpoints_do_not_change_other_results():
    plain = pb.simulate(MAKERS["one by one"], GAUSSIAN, 20, rng=1, max_pulls=100).to_dict()
    marked = pb.simulate(MAKERS["one by one"], GAUSSIAN, 20, rng=1, max_pulls=100,
                         checkpoints=[20, 60]).to_dict()
    assert {name: marked[name] for name in plain} == plain


@pytest.mark.parametrize("python", [False, True])
def test_leaders_and_errors_match_a_table(python):
    """The table is fixed: arm 1 leads after a round, then arm 2, which is the best."""
    table = pb.environments.TableBandit([[0.0, 0.0, 0.0], [5.0, 0.0, 0.0], [1.0, 6.0, 6.0]])
    make = (lambda e: InRounds(3)) if python else (lambda e: pb.policies.RoundRobin(
        3, 1, batch_size=3, max_batches=3))
    result = pb.simulate(make, table, 2, rng=1, checkpoints=[2, 3, 5, 6, 9])
    assert result.checkpoint_leaders.tolist() == [[0, 1, 1, 2, 2]] * 2
    assert result.checkpoint_errors.tolist() == [[True, True, True, False, False]] * 2
    gap = table.means[2] - table.means[:2]
    assert result.checkpoint_regrets[0] == pytest.approx([gap[0], gap[1], gap[1], 0.0, 0.0])
    assert result.checkpoint_cumulative_regrets[0] == pytest.approx(
        [0.0, gap.sum(), gap.sum(), 2 * gap.sum(), 3 * gap.sum()])


class InRounds(InTurn):
    """Pulls all arms in each batch."""

    def __init__(self, n_arms):
        super().__init__(n_arms, 3)

    def ask(self):
        return np.arange(self.n_arms)


def test_python_answer_is_requested_only_at_checkpoints():
    asked = []

    class Own(pb.policies.UCB1):
        def recommend(self):
            asked.append(self.n_pulls)
            return super().recommend()

    result = pb.simulate(lambda e: Own(8), GAUSSIAN, 1, rng=4, max_pulls=300, checkpoints=[10, 200])
    assert asked == [10, 200, 300]
    assert_same(result, pb.simulate(pb.policies.UCB1(8), GAUSSIAN, 1, rng=4, max_pulls=300,
                                    checkpoints=[10, 200]))


def test_curve_intervals_equal_those_of_the_end():
    result = pb.simulate(MAKERS["one by one"], GAUSSIAN, 50, rng=1, max_pulls=90,
                         checkpoints=[30, 90])
    mean, low, high = result.curve()
    assert (mean[1], low[1], high[1]) == (result.error_probability, *result.error_interval)
    mean, low, high = result.curve("cumulative_regret")
    half = 1.959963984540054 * result.cumulative_regrets.std(ddof=1) / np.sqrt(50)
    assert mean[1] == result.mean_cumulative_regret
    assert (high - mean)[1] == pytest.approx(half) == (mean - low)[1]


@pytest.mark.parametrize("checkpoints, error, words", [
    ([3, 3], ValueError, "checkpoints must increase; got 3 after 3"),
    ([-1], ValueError, "checkpoints must be at least 0; got -1"),
    ([2.5], TypeError, "checkpoints must be an integer; got 2.5"),
    ([], ValueError, r"checkpoints must have at least 1 entry \(increasing numbers of pulls\); "
                     "got 0"),
    ([5, 101], ValueError, "checkpoints must be at most max_pulls, 100; got 101"),
    (7, TypeError, "checkpoints must be increasing numbers of pulls; got 7"),
    (np.ma.array([1, 2], mask=[0, 1]), ValueError, "checkpoints must not be masked"),
])
def test_invalid_checkpoints_raise(checkpoints, error, words):
    with pytest.raises(error, match=words):
        pb.simulate(MAKERS["one by one"], GAUSSIAN, 1, max_pulls=100, checkpoints=checkpoints)
    with pytest.raises(ValueError, match="checkpoints must be given to simulate for a curve"):
        pb.simulate(MAKERS["stages"], GAUSSIAN, 1).curve()


# -- stopping times -----------------------------------------------------------------------


class Lasts(InTurn):
    """Runs for a number of batches that depends on the run."""

    lengths = iter(())

    def __init__(self, n_arms):
        super().__init__(n_arms, next(self.lengths))

    def ask(self):
        return np.array([0])


@pytest.mark.parametrize("q", [0.0, 0.05, 0.5, 0.51, 0.6, 0.75, 1.0, [0.1, 0.9]])
def test_quantiles_treat_unfinished_runs_as_infinite(q):
    """Seven runs need 1 to 7 pulls; if max_pulls is 5, two need more by an unknown number."""
    Lasts.lengths = iter([4, 1, 7, 3, 6, 2, 5] * 2)
    free, cut = (pb.simulate(lambda e: Lasts(8), GAUSSIAN, 7, max_pulls=most) for most in (None, 5))
    expected = np.quantile(np.arange(1.0, 8), q, method="inverted_cdf")
    assert np.array_equal(free.quantiles(q), expected)
    assert np.array_equal(free.quantiles(q, "batches"), expected)
    assert cut.stopped.sum() == 5 and cut.pulls.max() == 5
    assert np.array_equal(cut.quantiles(q), np.where(expected > 5, np.inf, expected))


def test_quantiles_describe_a_stopping_rule():
    result = pb.simulate(lambda e: pb.policies.TopTwo(8, stopping=pb.stopping.GLR(delta=0.1,
                                                                                  noise_std=0.1)),
                         pb.environments.GaussianBandit(np.linspace(0, 1, 8), 0.1), 40, rng=1)
    assert result.stopped.all()
    assert result.quantiles(0.5) == np.quantile(result.pulls, 0.5, method="inverted_cdf")
    for q, error, words in ((1.5, ValueError, r"q must be in \[0, 1\]; got 1.5"),
                            ("a", TypeError, "q must hold real numbers")):
        with pytest.raises(error, match=words):
            result.quantiles(q)
    with pytest.raises(ValueError, match="of must be one of 'pulls', 'batches'; got 'errors'"):
        result.quantiles(of="errors")


@pytest.mark.parametrize("name", MAKERS)
def test_arm_pulls_by_run_add_up(name):
    result = pb.simulate(MAKERS[name], GAUSSIAN, 9, rng=1, max_pulls=99, arm_pulls_by_run=True)
    assert result.arm_pulls_by_run.shape == (9, 8) and result.arm_pulls_by_run.dtype == np.int64
    assert result.arm_pulls_by_run.sum(axis=1).tolist() == result.pulls.tolist()
    assert (result.arm_pulls_by_run.mean(axis=0) == result.arm_pulls).all()
    gaps = 1.0 - GAUSSIAN.means
    assert result.cumulative_regrets == pytest.approx(result.arm_pulls_by_run @ gaps)
    assert pb.simulate(MAKERS[name], GAUSSIAN, 2, max_pulls=99).arm_pulls_by_run is None


# -- a policy instead of a factory --------------------------------------------------------


def arms_for(policy):
    means = np.linspace(0.3, 0.7, policy.n_arms)
    return pb.environments.UniformBandit(means, 0.02**0.5)


@pytest.mark.parametrize("name", POLICIES)
def test_renewed_policy_equals_a_fresh_one(name):
    """Compare bit for bit after runs of every length; the given object is not changed."""
    make, given = POLICIES[name], POLICIES[name]()
    before = str(given.get_state())
    options = dict(rng=5, n_threads=1, max_pulls=700, checkpoints=[10, 60, 100],
                   arm_pulls_by_run=True, answer=[given.n_arms - 1])
    alike, fresh = (pb.simulate(maker, arms_for(given), 8, **options)
                    for maker in (given, lambda e: make()))
    assert_same(alike, fresh)
    assert str(given.get_state()) == before
    assert_same(pb.simulate(given, arms_for(given), 8, **options | dict(n_threads=3)), fresh)


@pytest.mark.parametrize("name", POLICIES)
def test_policies_are_renewed_if_possible(name):
    """Gaussian processes are made again; other policies are reset to their fresh state."""
    pattern = Pattern(check_maker("policy", POLICIES[name]()))
    one = pattern.fresh()
    before = str(one.get_state())
    played(one, 5)
    two = pattern.fresh()
    assert str(two.get_state()) == before
    assert (two is one) == (name not in PROCESSES)


NATIVE = sorted(name for name in set(EVERY) - {"refits", "refits thompson"}
                if answers_natively(type(EVERY[name]())))


# policies that answer in Python for some distributions, or once arms are accepted or rejected
PARTLY = {"batch racing", "batch sar", "thompson gaussian"}


def test_most_policies_answer_without_python():
    assert {"uniform", "round robin", "batch halving", "halving", "shvar", "successive rejects",
            "continuous rejects", "gap", "ucbe", "ucb1", "ebtc", "top two", "track",
            "lucb"} <= set(NATIVE)
    # ugap recommends the arm that it found, which need not have the largest mean
    assert "ugap" not in NATIVE


@pytest.mark.parametrize("name", NATIVE)
def test_compiled_answer_equals_recommend(name):
    """Compare at the start, in the middle of a run, and after lost rewards."""
    for n_batches, lost in ((0, 0.0), (1, 0.9), (3, 0.5), (9, 0.0)):
        one = played(EVERY[name](), n_batches, lost)
        found = answer_of_engine(one)
        left_to_python = name in PARTLY or not one.pulls.all()
        assert found == one.recommend().tolist() or found is None and left_to_python


def test_invalid_policy_objects_raise():
    used = pb.policies.UCB1(8)
    used.tell(used.ask(), np.zeros(8))
    told = InTurn(8, 3)
    told.tell(told.ask(), np.zeros(9))
    for make, words in ((used, "got one with 8 pulls"), (told, "got one with 9 pulls")):
        with pytest.raises(ValueError, match=f"policy must be a fresh policy; {words}"):
            pb.simulate(make, GAUSSIAN, 2)
    with pytest.raises(ValueError, match="must have the 8 arms of the environment; got one with 3"):
        pb.simulate(pb.policies.UCB1(3), GAUSSIAN, 2, max_pulls=9)


class Remembers(pb.policies.UCB1):
    """A compiled policy that counts its rewards in Python."""

    told = 0

    def tell(self, arms, rewards, missing="raise"):
        self.told += 1
        super().tell(arms, rewards, missing)


class Needs(pb.policies.UCB1):
    def __init__(self, n_arms, more):
        super().__init__(n_arms)


def test_attributes_of_subclasses_are_fresh_in_every_run():
    def told(policy, environment):
        return policy.told

    for make in (Remembers(8), lambda e: Remembers(8)):
        result = pb.simulate(make, GAUSSIAN, 4, rng=1, max_pulls=20, metrics=[told])
        assert result.metrics["told"].tolist() == [13.0] * 4
    with pytest.raises(TypeError, match="policy must be a function of an environment if"):
        pb.simulate(Needs(8, 1), GAUSSIAN, 2, max_pulls=20)


def test_policy_object_works_with_drawn_environments():
    def draw(rng):
        return pb.environments.GaussianBandit(rng.random(8))

    options = dict(rng=1, max_pulls=60)
    for policy in (pb.policies.UCB1(8), pb.policies.TopTwo(8),
                   pb.policies.SequentialHalving(8, budget=50)):
        assert_same(pb.simulate(policy, draw, 9, **options),
                    pb.simulate(lambda e: type(policy)(**policy._options()), draw, 9,  # noqa: B023
                                **options))


# -- means that vary ----------------------------------------------------------------------


def test_pulls_are_scored_by_the_means_at_their_time():
    arms = Drifting([1.0, 0.0, 0.5], [0.0, 2.0, 0.5], 8)
    result = pb.simulate(lambda e: InRounds(3), arms, 3, rng=1, checkpoints=[3, 6])
    lost = [max(m := arms.means_at(t)) - m[t % 3] for t in range(9)]
    for column, n in enumerate([3, 6]):
        assert result.checkpoint_cumulative_regrets[:, column] == pytest.approx([sum(lost[:n])] * 3)
    assert result.cumulative_regrets == pytest.approx([sum(lost)] * 3)
    # the first arm has the best rewards until pull 6; the second has the best mean from pull 3 on
    assert result.checkpoint_leaders[0].tolist() == [0, 0]
    assert result.checkpoint_errors[0].tolist() == [True, True] and not result.errors.any()
    assert result.checkpoint_regrets[0, 0] == pytest.approx(arms.means_at(3)[1]
                                                            - arms.means_at(3)[0])
    threads = pb.simulate(lambda e: InRounds(3), arms, 3, rng=1, checkpoints=[3, 6], n_threads=3)
    assert_same(threads, result)


class Said(Drifting):
    """An environment with invalid means_at."""

    said = None

    def means_at(self, t):
        return super().means_at(t) if self.said is None else self.said


@pytest.mark.parametrize("said, words", [
    ([0.0, np.nan, 1.0], r"means_at\(0\) of Said must be finite; got nan"),
    ([0.0, 1.0], r"means_at\(0\) of Said must have shape \(3,\); got shape \(2,\)"),
    ("a", r"means_at\(0\) of Said must hold real numbers")])
def test_invalid_means_at_raises(said, words):
    arms = Said([0.0] * 3, [1.0] * 3, 9)
    arms.said = said
    with pytest.raises((ValueError, TypeError), match=words):
        pb.simulate(lambda e: InRounds(3), arms, 1)


def test_varying_means_need_a_python_pull():
    class Claims(pb.environments.GaussianBandit):
        def means_at(self, t):
            return np.zeros(3)

    with pytest.raises(ValueError, match="environment must have its own pull if it has"):
        pb.simulate(lambda e: InRounds(3), Claims([0.0, 1.0, 2.0]), 1)

    class Creeps(pb.environments.GaussianBandit):
        looks = 0

        @property
        def means(self):
            self.looks += 1
            return np.array([0.0, 1.0, self.looks])

    with pytest.raises(ValueError, match="environment must have constant means"):
        pb.simulate(pb.policies.Uniform(3, budget=9), Creeps([0.0, 1.0, 2.0]), 1)

    class Moves(Drifting):
        stationary = False
        means_at = None

    with pytest.raises(ValueError, match="environment must be stationary or have means_at"):
        pb.simulate(lambda e: InRounds(3), Moves([0.0] * 3, [1.0] * 3, 9), 1)
