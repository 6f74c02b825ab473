"""Streams of runs equal NumPy's for any seed; scores of answers equal their definitions."""

import dataclasses
import functools
import itertools
import pickle

import numpy as np
import pytest

import pybandit as pb
from pybandit.simulation._plan import check_answer
from pybandit.simulation._streams import Streams, streams_of

from simulation.arms import GAUSSIAN, Says, assert_same
from simulation.reference import scores, streams

SEEDS = [0, 7, 2**32, 2**200 + 1, [1, 2], [2**40, 3], ["12345", "0x1f"], [1, 2, 3, 4, 5],
         np.array([1, 2, 3], dtype=np.uint32)]


@pytest.mark.parametrize("seed", SEEDS, ids=str)
@pytest.mark.parametrize("key", [(), (3,), (1, 2**33, 5)])
@pytest.mark.parametrize("pool_size", [4, 6, 11])
def test_c_streams_equal_numpy(seed, key, pool_size):
    parent = np.random.SeedSequence(seed, spawn_key=key, pool_size=pool_size)
    for first in (0, 5, 2**32 - 1):
        found = Streams(parent.entropy, parent.spawn_key, pool_size, first, 3)
        assert found.is_known


def test_reference_equals_numpy():
    for words, key in (([12345], [7]), ([1, 2, 3, 4, 5], [0, 9]), ([0], [2**32 - 1])):
        for size in (4, 9):
            theirs = np.random.PCG64(np.random.SeedSequence(words, spawn_key=key, pool_size=size))
            assert streams.raw_numbers(words, key, 5, size) == theirs.random_raw(5).tolist()


def test_runs_draw_from_the_children_of_the_seed():
    """Draws one reward per arm and run, from distributions that use random bits differently."""
    sums = []

    def keep(policy, environment):
        sums.append(policy.means * policy.pulls)
        return 0.0

    for law in (pb.environments.GaussianBandit([0.1, 0.2, 0.3]),
                pb.environments.BernoulliBandit([0.1, 0.5, 0.3]),
                pb.environments.BinomialBandit([0.1, 0.5, 0.3], trials=50),
                pb.environments.TruncatedNormalBandit([0.2, 0.5, 0.3], 0.1)):
        sums.clear()
        pb.simulate(pb.policies.RoundRobin(3, 1, batch_size=3, max_batches=4), law, 6, rng=9,
                    n_threads=1, metrics=[keep])
        for i, found in enumerate(sums):
            rng = streams.run_generator(9, i)
            expected = np.sum([law.pull([0, 1, 2], rng) for _ in range(4)], axis=0)
            np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_seed_sequence_is_advanced():
    seeds = np.random.SeedSequence(4)
    one, two = (pb.simulate(pb.policies.UCB1(8), GAUSSIAN, n, rng=seeds, max_pulls=40) for n in (7,
                                                                                                 5))
    assert seeds.n_children_spawned == 12
    whole = pb.simulate(pb.policies.UCB1(8), GAUSSIAN, 12, rng=4, max_pulls=40)
    assert [*one.cumulative_regrets, *two.cumulative_regrets] == whole.cumulative_regrets.tolist()


@pytest.mark.parametrize("make", [
    lambda e: pb.policies.SequentialHalving(8, budget=80),
    pb.policies.SequentialHalving(8, budget=80),
    lambda e: pb.policies.ThompsonSampling(8, law="gaussian")])
def test_result_is_the_same_with_numpy_generators(make, monkeypatch):
    """If the C streams do not match NumPy, every run uses a Generator."""
    result = pb.simulate(make, GAUSSIAN, 20, rng=3, max_pulls=90)
    monkeypatch.setattr("pybandit.simulation._streams.words_of", lambda entropy: [1] * 7)
    assert not streams_of(3, 1).is_known
    assert_same(pb.simulate(make, GAUSSIAN, 20, rng=3, max_pulls=90), result)


def test_streams_can_be_pickled_and_divided():
    whole = streams_of(np.random.SeedSequence([3, 2**50], spawn_key=(2,)), 10)
    part = pickle.loads(pickle.dumps(whole.part(4, 3)))
    assert (part.first, part.n_runs) == (4, 3)
    assert part.generator(1).random() == whole.generator(5).random()
    assert part.identity()["words"] == [3, 0, 2**18, 0, 2]


def test_equal_seeds_have_equal_streams():
    """NumPy pads the pool with zeros before it uses a spawn key."""
    same = [(5, ()), ([5], ()), ([5, 0], ()), (["5"], ()), ([5, 0, 0, 0], ())]
    found = [streams_of(np.random.SeedSequence(seed, spawn_key=key), 2) for seed, key in same]
    assert len({one.generator(0).random() for one in found}) == 1
    assert len({str(one.identity()) for one in found}) == 1
    other = streams_of(np.random.SeedSequence([5, 0, 0, 0, 7]), 2)
    assert other.identity() == streams_of(np.random.SeedSequence(5, spawn_key=(7,)), 2).identity()
    assert other.generator(0).random() == streams_of(
        np.random.SeedSequence(5, spawn_key=(7,)), 2).generator(0).random()


def test_divided_batches_give_the_same_bits():
    """Large batches of single rewards are drawn in parts of 2^22; the sums do not change."""
    made, n = [], 2**22 + 1000

    def make(environment):
        made.append(pb.policies.Uniform(2, budget=2 * n))
        return made[-1]

    law = pb.environments.UniformBandit([0.5, -3.0], np.sqrt([1 / 12, 3.0]))
    pb.simulate(make, law, 1, rng=9, n_threads=1)
    rng = streams.run_generator(9, 0)
    widths = np.sqrt(12.0 * law.variances)
    for arm, (low, width) in enumerate(zip(law.means - widths / 2.0, widths, strict=True)):
        total = np.add.accumulate(low + width * rng.random(n))[-1]
        assert made[0].means[arm] == total / n and made[0].pulls[arm] == n


# -- answers ------------------------------------------------------------------------------

LEVELS = np.array([0.5, 0.9, 0.7, 0.7, 0.1])
TABLE = pb.environments.TableBandit([[mean] for mean in LEVELS])
SETS = [list(arms) for n in range(6) for arms in itertools.permutations(range(5), n)][::7]
SETS += [[1, 1], [1, 2, 2], [0, 1, 2, 3, 4], []]


def judged(arms, k=1, **options):
    result = pb.simulate(lambda e: Says(5, arms, k), TABLE, 1, **options)
    return bool(result.errors[0]), result.regrets[0]


@pytest.mark.parametrize("k, epsilon", [(0, 0.0), (1, 0.0), (2, 0.0), (2, 0.2), (3, 0.05),
                                        (5, 0.0)])
def test_best_arms_are_scored_by_definition(k, epsilon):
    for arms in SETS:
        error, regret = judged(arms, k, answer=pb.simulation.Best(epsilon=epsilon))
        assert error == scores.best_error(LEVELS, arms, k, epsilon), arms
        if arms:
            assert regret == pytest.approx(scores.best_regret(LEVELS, arms, k), abs=1e-15)
        assert arms or np.isnan(regret) == (k > 0)


@pytest.mark.parametrize("threshold, epsilon", [(0.6, 0.0), (0.7, 0.0), (0.6, 0.1), (0.55, 0.1),
                                                (0.0, 0.0), (2.0, 0.0)])
def test_arms_above_a_threshold_are_scored_by_definition(threshold, epsilon):
    for arms in SETS:
        found = judged(arms, answer=pb.simulation.Above(threshold, epsilon=epsilon))
        assert found == scores.above(LEVELS, arms, threshold, epsilon), arms


@pytest.mark.parametrize("right", [[1, 3], [], [4, 0, 1]])
def test_sets_are_scored_by_definition(right):
    for arms in SETS:
        assert judged(arms, answer=right) == scores.set_of(right, arms)
        by_function = judged(arms, answer=lambda e: np.array(right, dtype=int))
        assert by_function == scores.set_of(right, arms)


def test_an_answer_may_depend_on_the_environment():
    """In every run arms are drawn; the right answer is the arms above the average of the means."""
    def right(environment):
        return np.flatnonzero(environment.means > environment.means.mean())

    class Knows(Says):
        def __init__(self, environment):
            super().__init__(4, right(environment))

    def draw(rng):
        return pb.environments.GaussianBandit(rng.random(4))

    assert not pb.simulate(lambda e: Knows(e), draw, 20, rng=1, answer=right).errors.any()
    assert pb.simulate(lambda e: Says(4, [0, 1]), draw, 20, rng=1, answer=right).errors.mean() > .5


def test_compiled_policy_is_scored_by_every_answer():
    bandit = pb.environments.GaussianBandit([0.0, 3.0, 9.0], 0.001)
    for answer, error in ((dict(), 0), (dict(answer=pb.simulation.Above(5.0)), 0),
                          (dict(answer=pb.simulation.Above(2.0)), 1), (dict(answer=[2]), 0),
                          (dict(answer=[1, 2]), 1)):
        result = pb.simulate(pb.policies.Uniform(3, budget=9), bandit, 3, rng=1, **answer)
        assert result.errors.tolist() == [error] * 3
    assert result.regrets.tolist() == [1.0] * 3


@pytest.mark.parametrize("options, error, words", [
    (dict(answer="worst"), ValueError, r'answer must be "best", Best\(...\), .*; got .worst'),
    (dict(answer=pb.simulation.Best), TypeError, "answer must be an object; got the class Best"),
    (dict(answer=[0, 0]), ValueError,
     r"answer must be arms of at least 0, each named once; got \[0, 0\]"),
    (dict(answer=[-1]), ValueError, "answer must be arms of at least 0"),
    (dict(answer=[9]), ValueError, r"answer must be arms in \[0, 5\)"),
    (dict(answer=[0.5]), TypeError, "answer must be integers, the arms"),
    (dict(answer=3), TypeError, "answer must be arms; got 3"),
    (dict(answer=lambda e: [7]), ValueError, r"answer must be arms in \[0, 5\)"),
])
def test_invalid_answers_raise(options, error, words):
    with pytest.raises(error, match=words):
        pb.simulate(lambda e: Says(5, [0]), TABLE, 1, **options)


def test_answers_are_checked_at_construction():
    with pytest.raises(ValueError, match="threshold must be finite; got nan"):
        pb.simulation.Above(np.nan)
    for make in pb.simulation.Best, functools.partial(pb.simulation.Above, 0.5):
        with pytest.raises(ValueError, match="epsilon must be finite and at least 0; got -1.0"):
            make(epsilon=-1.0)
        assert make(epsilon=0.5) == make(epsilon=0.5) != make()
        assert pickle.loads(pickle.dumps(make())) == make()
    with pytest.raises(dataclasses.FrozenInstanceError):
        pb.simulation.Best().epsilon = 1.0
    assert repr(pb.simulation.Above(0.5)) == "Above(threshold=0.5, epsilon=0.0)"


@pytest.mark.parametrize("arms, words", [
    ([5], r"arms in \[0, 5\); got 5"), ([-1], r"arms in \[0, 5\); got -1"),
    ([0.5], "a flat array of integers"), ([[0]], "a flat array of integers"), ("a", "a flat array"),
    ([0] * 6, "at most 5 arms; got 6")])
def test_invalid_recommendations_raise(arms, words):
    with pytest.raises(ValueError, match=f"recommend of Says must return {words}"):
        pb.simulate(lambda e: Says(5, arms), TABLE, 1)


def test_descriptions_of_answers_differ():
    answers = ["best", pb.simulation.Best(epsilon=0.1), pb.simulation.Above(0.5),
               pb.simulation.Above(0.25), [1, 2], [1, 3], judged]
    assert len({check_answer(one).describe() for one in answers}) == len(answers)
    assert check_answer([2, 1]).describe() == check_answer((1, 2)).describe()
    assert check_answer("best").describe() == check_answer(pb.simulation.Best()).describe()


@pytest.mark.parametrize("make, most", [
    (lambda e: pb.policies.APT(6, max_pulls=600, threshold=0.5, epsilon=0.1), 0.1),
    (lambda e: pb.policies.GoodArms(6, delta=0.1, threshold=0.5, noise_std=0.2), 0.1),
    (lambda e: pb.policies.Uniform(6, budget=600), 1.0)])
def test_policies_with_set_answers_need_above(make, most):
    """If these answers were scored as the k best arms, every run would be an error."""
    arms = pb.environments.GaussianBandit([0.1, 0.9, 0.3, 0.7, 0.8, 0.2], 0.2)
    result = pb.simulate(make, arms, 100, rng=1, answer=pb.simulation.Above(0.5))
    exact = pb.simulate(make, arms, 100, rng=1, answer=[1, 3, 4])
    assert result.errors.tolist() == exact.errors.tolist()
    assert result.error_probability <= most
    assert most < 1 or result.errors.all()
    if most < 1:
        for call in (lambda: pb.simulate(make, arms, 100, rng=1),
                     lambda: pb.compare({"one": make(arms)}, arms, 100, rng=1)):
            with pytest.raises(ValueError, match=r'answer must be Above\(0.5\) or a set of arms'):
                call()


def asked(policy):
    """Return a policy that has drawn an arm."""
    policy.ask()
    return policy


@pytest.mark.parametrize("seed", [0, 7, 2**70])
@pytest.mark.parametrize("make, horizon", [
    (lambda e=None: pb.policies.TopTwo(8, stopping=pb.stopping.GLR(delta=0.1, law="bernoulli")),
     60),
    (lambda e=None: pb.policies.TopTwo(8, stopping=pb.stopping.GLR(delta=0.1, law="bernoulli"),
                                       rng=3), 60),
    (lambda e=None: pb.policies.ThompsonSampling(8), 60),
    (lambda e=None: asked(pb.policies.ThompsonSampling(8)), 60),
    (lambda e=None: pb.policies.ThompsonSampling(8, rng=3), 60),
    (lambda e=None: pb.policies.ThompsonSampling(8, law="gaussian", noise_std=0.5), 60),
    (lambda e=None: pb.policies.BatchSAR(8, 3, batch_size=8, max_batches=9), None),
    (lambda e=None: pb.policies.BatchSAR(8, 3, batch_size=8, max_batches=9), 64),
    (lambda e=None: pb.policies.BatchHalving(8, 3, batch_size=8, max_batches=9), None),
])
def test_renewed_policies_draw_the_same_numbers(make, horizon, seed):
    """Compare seeding in C with the policy's `seed`, which uses NumPy."""
    arms = pb.environments.BernoulliBandit(np.linspace(0.8, 0.2, 8))
    renewed, new = (pb.simulate(one, arms, 90, rng=seed, n_threads=1, max_pulls=horizon,
                                arm_pulls_by_run=True, checkpoints=[20], progress=False)
                    for one in (make(), make))
    assert renewed.to_dict() == new.to_dict()
    assert len(set(map(tuple, renewed.arm_pulls_by_run.tolist()))) > 1


class Reseeded(pb.policies.ThompsonSampling):
    """Counts the calls of `seed`."""

    seeded = 0

    def seed(self, rng):
        Reseeded.seeded += 1
        super().seed(rng)


@pytest.mark.parametrize("law", ["bernoulli", "gaussian"])
def test_factories_and_policies_draw_from_the_same_streams(law):
    """Neither an early request nor a class with its own `seed` changes the runs."""

    def make(environment=None, cls=pb.policies.ThompsonSampling):
        return cls(3, law=law)

    def make_asked(environment):
        policy = make()
        if law == "bernoulli":
            policy.ask()
        return policy

    bandit, options = pb.environments.BernoulliBandit([0.1, 0.5, 0.3]), {"rng": 4, "max_pulls": 40}
    expected = pb.simulate(make(), bandit, 30, **options)
    for factory in (make, make_asked, lambda e: make(cls=Reseeded)):
        assert_same(pb.simulate(factory, bandit, 30, **options), expected)
    assert Reseeded.seeded >= 30
    varying = pb.simulate(make, lambda rng: bandit, 30, **options)
    assert_same(pb.simulate(lambda e: make(cls=Reseeded), lambda rng: bandit, 30, **options),
                varying)
