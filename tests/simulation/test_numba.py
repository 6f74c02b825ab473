"""Policies and environments compiled by numba: the pulls of Python code, and clear errors."""

import pickle
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import pybandit as pb
from costly import examples

from policies.mutations import MUTATIONS, entries_of, mutated

pytest.importorskip("numba")
import numba  # noqa: E402
from numba.core.errors import NumbaError  # noqa: E402

import pybandit.numba  # noqa: E402

from simulation.numba_rules import (  # noqa: E402
    Mixture,
    exp3_in_python,
    exp3_of,
    greedy,
    greedy_in_python,
    mixture,
    mixture_of,
    upper,
    upper_in_python,
)

MEANS = [0.9, 0.5, 0.4, 0.1]
ARMS = pb.environments.GaussianBandit(MEANS, 0.5)
OPTIONS = dict(rng=3, max_pulls=150, arm_pulls_by_run=True, checkpoints=[0, 20, 150])
NEW = {"upper": lambda: upper(4), "greedy": lambda: greedy(4, epsilon=0.2),
       "exp3": lambda: exp3_of(4)}
PYTHON = {"upper": upper_in_python, "greedy": greedy_in_python, "exp3": exp3_in_python}
# fields of a result that are compared
COLUMNS = ("errors", "regrets", "pulls", "arm_pulls_by_run", "checkpoint_leaders",
           "checkpoint_errors")


def assert_same(one, other, columns=COLUMNS):
    for name in columns:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@pytest.mark.some(3)
# lambdas, so that importing this module compiles nothing
@pytest.mark.some(1)
@pytest.mark.parametrize("make", [lambda: ARMS, lambda: mixture_of(MEANS)], ids=["native", "numba"])
@pytest.mark.parametrize("name", NEW)
def test_python_rule_makes_the_same_pulls(name, make):
    environment = make()
    compiled = pb.simulate(NEW[name](), environment, 30, **OPTIONS)
    python = pb.simulate(PYTHON[name], environment, 30, **OPTIONS)
    assert_same(compiled, python)
    assert len(np.unique(compiled.arm_pulls_by_run, axis=0)) > 20


@pytest.mark.parametrize("make", [pb.policies.UCB1, upper], ids=["native", "numba"])
def test_python_environment_gives_the_same_rewards(make):
    assert_same(pb.simulate(make(4), mixture_of(MEANS), 30, **OPTIONS),
                pb.simulate(make(4), Mixture(MEANS), 30, **OPTIONS))


def test_numba_ucb1_makes_the_pulls_of_ucb1():
    for constant in (2.0, 0.3):
        assert_same(pb.simulate(upper(4, constant=constant), ARMS, 200, **OPTIONS),
                    pb.simulate(pb.policies.UCB1(4, exploration=constant), ARMS, 200, **OPTIONS))


@pytest.mark.some(2)
@pytest.mark.parametrize("name", NEW)
def test_result_depends_only_on_the_seed(name):
    one, many = (pb.simulate(NEW[name](), mixture_of(MEANS), 90, n_threads=n, **OPTIONS)
                 for n in (1, 2))
    assert_same(one, many)
    factory = pb.simulate(lambda e: NEW[name](), mixture_of(MEANS), 90, **OPTIONS)
    drawn = pb.simulate(NEW[name](), lambda rng: mixture_of(MEANS), 90, **OPTIONS)
    assert_same(one, factory)
    assert_same(one, drawn)
    other = pb.simulate(NEW[name](), mixture_of(MEANS), 90, **OPTIONS | {"rng": 4})
    assert not np.array_equal(one.arm_pulls_by_run, other.arm_pulls_by_run)


@pytest.mark.parametrize("common", [False, True])
def test_compare_accepts_numba_policies(common):
    both = pb.compare({"native": pb.policies.UCB1(4), "numba": upper(4), "exp3": exp3_of(4)},
                      mixture_of(MEANS), 40, rng=1, max_pulls=150, common_rewards=common)
    assert_same(both["native"], both["numba"], ("errors", "regrets", "pulls"))
    alone = pb.simulate(exp3_of(4), mixture_of(MEANS), 40, rng=1, max_pulls=150)
    assert common or np.array_equal(both["exp3"].regrets, alone.regrets)
    assert "exp3(n_arms=4, weights=float64[4]:" in both.options["policies"]


@pytest.mark.slow
def test_processes_and_threads_agree():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        for policy in (exp3_of(4), upper(4)):
            apart = pb.simulate(policy, mixture_of(MEANS), 20, executor=executor, **OPTIONS)
            assert_same(apart, pb.simulate(policy, mixture_of(MEANS), 20, **OPTIONS))
        with pytest.raises(TypeError, match="must be picklable"):
            pb.simulate(pybandit.numba.policy(lambda t: 0)(4), ARMS, 4, executor=executor, rng=1,
                        max_pulls=5)


def test_ask_and_tell_work():
    rng, policy = np.random.default_rng(1), exp3_of(4, budget=60, rng=1)
    while not policy.done:
        if policy.n_pulls == 30:
            policy = pickle.loads(pickle.dumps(policy))
            state = policy.get_state()
            other = type(policy).from_state(state)
        arms = policy.ask()
        assert np.array_equal(arms, policy.ask()) and arms.shape == (1,)
        with pytest.raises(ValueError, match="arms must be those of ask"):
            policy.tell(arms + 1, [0.0])
        rewards = ARMS.pull(arms, rng)
        if policy.n_pulls >= 30:
            assert np.array_equal(arms, other.ask())
            other.tell(arms, rewards)
        policy.tell(arms, rewards)
    weights = policy.get_state()["progress"]["arrays"]["weights"]
    assert np.array_equal(other.get_state()["progress"]["arrays"]["weights"], weights)
    assert policy.n_pulls == 60 and policy.recommend() == [weights.argmax()]
    assert not policy.is_endless and upper(4).is_endless


def test_lost_and_late_rewards_are_handled():
    policy = exp3_of(3, rng=2)
    policy.tell(policy.ask(), [np.nan], missing="drop")
    assert (policy.get_state()["progress"]["arrays"]["weights"] == 1.0).all()
    policy.add_late([1], [2.0])
    assert policy.get_state()["progress"]["arrays"]["weights"].argmax() == 1
    assert policy.pulls.tolist() == [0, 1, 0] and policy.n_pulls == 1


def test_every_run_starts_with_the_given_options():
    weights = np.array([1.0, 2.0])

    def count(arm, weights):
        weights[arm] += 1.0

    @pybandit.numba.policy(tell=count)
    def counts(t):
        return t % 2

    policy = counts(2, weights=weights)
    weights[:] = 7.0

    def total(policy, environment):
        return policy.get_state()["progress"]["arrays"]["weights"].sum()

    result = pb.simulate(policy, pb.environments.GaussianBandit([0.0, 1.0]), 5, rng=1, max_pulls=10,
                         metrics=[total])
    assert result.metrics["total"].tolist() == [13.0] * 5


WEIGHTS = np.array([1.0, 2.0])
RECORD = np.dtype([("wins", np.int64), ("share", np.float64)])


def test_options_may_have_any_type():
    def learn(arm, reward, table, record):
        table[arm, 0] += reward
        record[arm].wins += reward > 0

    @pybandit.numba.policy(tell=learn)
    def rule(t, n_arms, table, record, flag, offset=1):
        return (t + offset + flag + record[0].wins) % n_arms

    policy = rule(3, table=np.zeros((3, 2), np.float32), record=np.zeros(3, RECORD), flag=True)
    for reward in (0.5, -1.0):
        policy.tell(policy.ask(), [reward])
    arrays = policy.get_state()["progress"]["arrays"]
    assert arrays["record"]["wins"].tolist() == [0, 0, 1] and arrays["table"][0, 0] == -1.0
    assert type(policy).from_state(policy.get_state()).ask() == policy.ask()
    policy = rule(3, table=[[0.0]] * 3, record=np.zeros(3, RECORD), flag=False, offset=0)
    assert policy.ask() == [0]


def returns(value, **functions):
    return pybandit.numba.policy(lambda t, bad: bad if t == 2 else 0, **functions)(3, bad=value)


def raises(t, w):
    if t > 2:
        raise ValueError("my words")
    return 0


@pytest.mark.some(3)
@pytest.mark.parametrize("policy, words", [
    (lambda: returns(3), r"ask of <lambda> must return an arm in \[0, 3\); got 3 after 2 pulls"),
    (lambda: returns(-1), r"ask of <lambda> must .*got -1 after 2 pulls"),
    (lambda: pybandit.numba.policy(raises)(3, w=np.zeros(1)),
     "ask of raises raised an exception after 3 pulls"),
    (lambda: pybandit.numba.policy(lambda t, w: int(w[t]))(3, w=np.zeros(4)),
     "ask of <lambda> raised an exception after 4 pulls"),
    (lambda: pybandit.numba.policy(lambda: 0, tell=lambda t, arm, w: raises_at(t, w))(
        3, w=np.zeros(2)), "tell of <lambda> raised an exception at reward .* of arm 0 after 2"),
    (lambda: pybandit.numba.policy(lambda: 0, done=lambda t, w: w[t] > 0)(3, w=np.zeros(2)),
     "done of <lambda> raised an exception after 2 pulls"),
    (lambda: pybandit.numba.policy(lambda: 0, recommend=lambda t: 5)(3),
     r"recommend of <lambda> must return an arm in \[0, 3\); got 5"),
])
def test_invalid_return_values_raise(policy, words):
    bandit = pb.environments.GaussianBandit([0.0, 1.0, 2.0])
    with pytest.raises((ValueError, RuntimeError), match=words):
        pb.simulate(policy(), bandit, 20, rng=1, max_pulls=9, n_threads=2)
    alone = policy()
    with pytest.raises((ValueError, RuntimeError), match=words) as found:
        for _ in range(9):
            alone.tell(alone.ask(), [0.5])
        alone.recommend()
    assert ("raised" in words) == (found.value.__cause__ is not None)
    if not words.startswith("recommend"):
        with pytest.raises(RuntimeError, match="cannot be used: it was invalidated by"):
            alone.ask()


def test_arrays_can_be_defaults_of_options():
    def learn(arm, reward, w=np.array(WEIGHTS), b=None):  # noqa: B008
        w[arm] += reward

    @pybandit.numba.policy(tell=learn)
    def rule(t, n_arms, w=WEIGHTS):
        return np.argmax(w)

    @pybandit.numba.environment
    def draw(arm, w=WEIGHTS):
        return w[arm]

    for _ in range(2):  # each policy has its own copy
        policy = rule(2, b=1)
        policy.tell(policy.ask(), [-9.0])
        assert policy.ask().tolist() == [0]
    assert draw([1.0, 2.0], 0.0).pull([0, 1, 1]).tolist() == [1.0, 2.0, 2.0]


@numba.njit
def raises_at(t, w):
    if t >= w.size:
        raise IndexError("behind the end")


@pytest.mark.parametrize("make, words", [
    (lambda: upper(4, constent=1.0),
     r"options of upper must be among \['constant'\]; got 'constent'"),
    (lambda: greedy(4), "epsilon must be given to greedy"),
    (lambda: greedy(4, epsilon="a"), "arrays or numbers; got str as option epsilon"),
    (lambda: greedy(4, epsilon=np.zeros((4, 4)).T[::2]), "C-contiguous"),
    (lambda: upper(4, rng=1), "rng must be None for upper, whose functions do not use one"),
    (lambda: upper(0), "n_arms must be"),
    (lambda: pybandit.numba.policy(lambda t: 0.5)(2), "ask of <lambda> must return an arm, "
                                                      "an integer, on every path; numba finds f"),
    (lambda: pybandit.numba.policy(lambda: 0, done=lambda t: 1)(2), "True or False on every path"),
    (lambda: pybandit.numba.policy(lambda reward: 0),
     "ask of <lambda> may only take .*, not the reserved name reward"),
    (lambda: pybandit.numba.policy(lambda *a: 0), r"must take only named parameters; got \*a"),
    (lambda: pybandit.numba.policy(lambda: 0, done=3), "done must be a function; got 3"),
    (lambda: pybandit.numba.policy(lambda a=1: 0, done=lambda a=2: True),
     "a must have the same default; got 1 and 2"),
    (lambda: pybandit.numba.policy(lambda a=WEIGHTS: 0, done=lambda a=-WEIGHTS: True),
     "a must have the same default; got"),
    (lambda: pybandit.numba.FunctionPolicy(3), "must be created by pybandit.numba.policy"),
    (lambda: pybandit.numba.FunctionEnvironment([1.0], 1.0),
     "made from a function by pybandit.numba.environment"),
    (lambda: mixture([0.5], 1.0), "apart must be given to mixture"),
    (lambda: mixture([np.nan], 1.0, apart=np.ones(1)), "means must be finite"),
    (lambda: pybandit.numba.environment(lambda arm: None)([0.5], 1.0),
     "draw of <lambda> must return a reward, a number, on every path; numba finds none"),
])
def test_invalid_definitions_raise(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()


def fills(pulls):
    pulls[0] = 3
    return 0


def forgets(w):
    w[0] = 0.0
    return 0


@pytest.mark.parametrize("make", [
    lambda: pybandit.numba.policy(fills)(2),
    lambda: pybandit.numba.policy(lambda: 0, recommend=forgets)(2, w=np.zeros(2)),
    lambda: pybandit.numba.environment(forgets)([0.0], 1.0, w=np.zeros(2))])
def test_functions_cannot_write_shared_arrays(make):
    with pytest.raises(NumbaError, match="readonly array"):
        make()


@pybandit.numba.environment
def odd(arm, seen, rng, means, value):
    return value if arm == 1 and seen == 5 else means[arm] + rng.random()


@pybandit.numba.environment
def fails(arm, means):
    return means[arm + 1]


@pytest.mark.parametrize("policy", [
    lambda: pb.policies.SequentialHalving(2, budget=40),
    lambda: pb.policies.UCBV(2, value_range=(0.0, 9.0)),
    lambda: pb.policies.UCB1(2),
    lambda: upper(2), lambda: exp3_of(2)], ids=["halving", "ucb-v", "ucb1", "upper", "exp3"])
@pytest.mark.parametrize("make, words", [
    (lambda: odd([0.0, 1.0], 1.0, value=np.nan), "rewards of odd must be finite; got nan of arm 1"),
    (lambda: odd([0.0, 1.0], 1.0, value=-np.inf),
     "rewards of odd must be finite; got -inf of arm 1"),
    (lambda: fails([0.0, 1.0], 1.0),
     "rewards of fails must be finite; got nan of arm 1 .* raises gives")])
@pytest.mark.parametrize("common", [True, False])
def test_invalid_rewards_raise(policy, make, words, common):
    with pytest.raises(ValueError, match=words):
        pb.compare({"one": policy()}, make(), 8, rng=1, max_pulls=40, common_rewards=common)


def test_pull_raises_for_invalid_rewards():
    assert fails([0.0, 1.0], 1.0).pull([0, 0]).tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="rewards of fails must be finite; got nan of arm 1"):
        fails([0.0, 1.0], 1.0).pull([0, 1])
    with pytest.raises(ValueError, match="rewards of fails .*got nan of arm 1"):
        pb.simulate(upper_in_python, fails([0.0, 1.0], 1.0), 2, rng=1, max_pulls=9)


def test_environment_can_be_pickled():
    again = pickle.loads(pickle.dumps(mixture_of(MEANS, 0.25)))
    assert type(again) is mixture and again.variances.tolist() == [0.0625] * 4
    arms = [0, 1, 2, 3] * 20
    assert np.array_equal(again.pull(arms, 5), mixture_of(MEANS, 0.25).pull(arms, 5))


@pybandit.numba.policy
def slow(rng):
    total = 0.0
    for _ in range(10_000_000):
        total += rng.random()
    return int(total < 0.0)


def test_functions_run_without_the_gil_in_one_thread():
    policy = slow(2)
    runs = threading.Thread(target=pb.simulate, args=(
        lambda e: policy, pb.environments.GaussianBandit([0.0, 1.0]), 1),
        kwargs=dict(rng=1, max_pulls=10, n_threads=1))
    runs.start()
    refused = 0
    while runs.is_alive() and not refused:
        try:
            repr(policy.pulls)
        except RuntimeError as error:
            assert "in use by another thread" in str(error)
            refused += 1
    runs.join()
    assert refused and policy.n_pulls == 10


def test_functions_are_compiled_once():
    for one, arguments in ((upper(4), (3,)), (mixture_of(MEANS), ([0.5], 1.0))):
        with pytest.raises((RuntimeError, TypeError)):
            one.__init__(*arguments)
        assert one.n_arms == 4


@examples(25, of=300, derandomize=True,
          suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from(sorted(NEW)), stop=st.integers(0, 12), mutations=MUTATIONS)
def test_mutated_states_are_rejected_or_usable(name, stop, mutations):
    policy = NEW[name]()
    for j in range(stop):
        policy.tell(policy.ask(), [0.1 * (j % 7)])
    state = policy.get_state()
    for entry, kind, value, at in mutations:
        places = list(entries_of(state))
        mutated(*places[entry % len(places)], kind, value, at)
    try:
        again = type(policy).from_state(state)
    except (ValueError, NumbaError) as error:
        assert len(str(error)) > 10
        return
    for _ in range(20):
        arms = again.ask()
        assert again.done or 0 <= arms[0] < again.n_arms
        if not again.done:
            again.tell(arms, [0.5])
