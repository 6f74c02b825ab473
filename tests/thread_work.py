"""Work of eight threads that share one object of each public class."""

import tempfile
import threading
import time
from functools import partial

import numpy as np

import pybandit as pb
from interrupted_calls import (
    BANDITS,
    CAPLET,
    EVIDENCE,
    EXACT,
    GLR,
    HAS_NUMBA,
    POINTS,
    ROWS,
    SEEN,
    TAYLOR,
    WAGERS,
    bound,
)
from pybandit.lab import Layout, Plates, Screen
from pybandit.studies import Study
from pybandit.webtests import Metric, Metrics, WebTest

from betting.races import MAKERS, REWARDS, frozen, play, told_costs
from policies.every_class import EVERY
from policies.test_threads import assert_whole
from racing.test_threads import OBJECTS, assert_right_or_refused, same
from studies.test_threads import work as study_work


class Simple(pb.Policy):
    """A policy in Python that requests both arms indefinitely."""

    done = False

    def ask(self):
        return np.arange(2)

    def recommend(self):
        return self._best(np.arange(2), 1)


class Coins(pb.environments.Environment):
    def __init__(self):
        super().__init__([0.2, 0.8], [0.16, 0.16])

    def pull(self, arms, rng=None):
        return (np.random.default_rng(rng).random(len(arms)) < self.means[arms]).astype(float)


def policies(make):
    def soak(seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert_whole(make(), min(2.0, seconds))

    return soak


def budget():
    return pb.BudgetRace(4, 300, budget=1000, delta=1e-9, value_range=(0, 1), rng=1)


def race(make):
    """Run races: every block is reported once, and the final state equals that of one thread."""
    alone = frozen(play(make(), REWARDS).get_state())
    shared = {"race": make()}

    def work(i):
        one = shared["race"]
        try:
            arms, items = one.ask()
            one.tell(arms, items, REWARDS[items, arms], told_costs(one, arms, items))
        except ValueError as error:
            assert "reported before" in str(error) or "is done and asks for nothing" in str(error)
        if i % 2:
            one.recommend(), one.means, one.survivors, one.rewards(0), repr(one)
            state = one.get_state()
            assert frozen(type(one).from_state(state).get_state()) == frozen(state)
        if one.done:
            assert frozen(one.get_state()) == alone
            shared["race"] = make()

    return lambda seconds: assert_right_or_refused(work, seconds)


def running_verdict(seconds):
    """Add items in any order; each must count once."""
    one, told = pb.evaluation.RunningVerdict(), []

    def work(i):
        one.tell([1.0, 0.0], [0.0, 0.0])
        told.append(i)
        if len(told) % 100 == 0:
            assert one.result().n <= 2 * len(told) + 2 * 8

    assert_right_or_refused(work, seconds)
    assert one.n == one.result().n == 2 * len(told)


def guardrail(seconds):
    """Report batches of counts, each once."""
    one, told = pb.webtests.Guardrail(3, margin=0.1, delta=1e-9), []

    def work(i):
        one.tell_counts([9, 9, 9], [i % 10, 3, 4])
        told.append(i)
        assert len(one.harmed) + len(one.safe) <= 2

    assert_right_or_refused(work, seconds)
    assert one.n_batches == len(told)


def sequence(method):
    """Return work that adds pieces in any order; each value must count once."""
    one = pb.betting.ConfidenceSequence(population_size=10**9, method=method)
    values, reported = np.full(100, 0.25), []

    def work(i):
        one.tell(values)
        reported.append(i)
        assert one.lower <= 0.25 <= one.upper and one.mean == 0.25
        if len(reported) % 50 == 0:
            state = one.get_state()
            again = pb.betting.ConfidenceSequence.from_state(state)
            assert frozen(again.get_state()) == frozen(state)

    def soak(seconds):
        assert_right_or_refused(work, seconds)
        assert one.n == 100 * len(reported)

    return soak


def counts(seconds):
    """Report batches of counts, each once."""
    one, reported = pb.CountRace(3, delta=1e-9), []

    def work(i):
        one.tell_counts([9, 9, 9], [i % 10, 3, 4])
        reported.append(i % 10)
        assert one.capital.shape == (3,) and one.split(10).sum() == 10
        if len(reported) % 50 == 0:
            state = one.get_state()
            assert frozen(pb.CountRace.from_state(state).get_state()) == frozen(state)

    assert_right_or_refused(work, seconds)
    assert one.n_batches == len(reported) and one.get_state()["sums"][:, 0].sum() == sum(reported)


def right(call):
    """Call an object without state: the result equals that of one thread."""
    alone = frozen(np.asarray(call()))
    return lambda seconds: assert_right_or_refused(
        lambda i: _assert_equal(frozen(np.asarray(call())), alone), seconds)


def _assert_equal(found, expected):
    assert found == expected


def table(seconds):
    bandit, taken = pb.environments.TableBandit([np.arange(50_000.0)] * 3), []

    def work(i):
        rewards = bandit.pull(np.zeros(100, dtype=int))
        taken.append(rewards[0])
        assert np.array_equal(np.diff(rewards) % 50_000, np.ones(99))

    assert_right_or_refused(work, seconds)
    assert bandit.pull([0])[0] == 100 * len(taken) % 50_000


def study(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        one = Study.create(":memory:",
                           pb.policies.RoundRobin(6, 1, batch_size=6, max_batches=1000))
        run_all([partial(study_work, one, part) for part in range(8)])
        one.verify()
        one.close()


def screen(seconds):
    """Do the work of a study on a screen."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        policy = pb.policies.RoundRobin(6, 1, batch_size=6, max_batches=1000)
        with Screen.create(":memory:", policy, plates=Plates(Layout(2, 3))) as one:
            run_all([partial(study_work, one, part) for part in range(8)])
            one.verify()


def web_test(seconds):
    """Report counts of days from eight threads, each day from two of them."""
    def work(one, part, errors):
        try:
            for day in range(20):
                reported = one.tell_counts({"old": (50, part % 4 + 1), "new": (50, day)},
                                       key=f"{part % 4}, {day}")
                assert reported.n_new + reported.n_known == 2
                assert one.split(10).sum() == 10 and one.status().n_pulls >= 100
        except Exception as error:
            errors.append(error)

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with WebTest.create(":memory:", pb.CountRace(2), arms=["old", "new"]) as one:
            run_all([partial(work, one, part) for part in range(8)])
            assert one.verify().n_batches == 80 and one.policy.n_pulls == 8000


def metrics(seconds):
    """Report two metrics of days from eight threads, each day from two of them."""
    def work(one, part, errors):
        try:
            for day in range(10):
                sales = {"old": (50, part % 4 + 1), "new": (50, day)}
                told = one.tell_counts({"sales": sales, "errors": sales}, key=f"{part % 4}, {day}",
                                       repeated=True)
                assert told.n_new + told.n_known == 4 and not one.results()["errors"].winner
        except Exception as error:
            errors.append(error)

    end, kinds = time.monotonic() + seconds, {"sales": Metric(), "errors": Metric(margin=0.5)}
    while time.monotonic() < end:
        with Metrics.create(":memory:", kinds, ["old", "new"]) as one:
            run_all([partial(work, one, part) for part in range(8)])
            assert [test.policy.n_batches for test in one.tests.values()] == [40, 40]


def run_all(works):
    """Run each function in a thread with a list of errors, which must stay empty."""
    errors = []
    threads = [threading.Thread(target=work, args=(errors,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


def blocks(seconds):
    """Read blocks repeatedly from a cache that is too small for them."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/scores.npy", np.random.default_rng(1).random((2000, 3)))
        pb.tables.shuffle(f"{folder}/scores.npy", f"{folder}/scores.parquet", rng=1)
        one = pb.tables.Blocks.open(f"{folder}/scores.parquet")
        right(lambda: one.values(np.arange(0, 2000, 7), [0, 2]))(seconds)


def search(seconds):
    from sklearn.linear_model import Ridge

    from pybandit.model_selection import BanditSearchCV

    one = BanditSearchCV(Ridge(), {"alpha": [0.1, 1.0, 10.0, 100.0]}, cv=3, random_state=1)
    targets = POINTS[:60, 0] * 2.0
    expected = one.fit(POINTS[:60], targets).best_params_

    def work(i):
        assert one.fit(POINTS[:60], targets).best_params_ == expected
        assert one.predict(POINTS[:3]).shape == (3,)

    assert_right_or_refused(work, seconds)


def clusters(seconds):
    from pybandit.cluster import KMedoids

    one = KMedoids(3, random_state=1, n_jobs=2)
    expected = one.fit(POINTS[:60]).medoid_indices_.tolist()

    def work(i):
        assert one.fit(POINTS[:60]).medoid_indices_.tolist() == expected
        assert one.predict(POINTS[:3]).shape == (3,)

    assert_right_or_refused(work, seconds)


def racing(name):
    return lambda seconds: assert_right_or_refused(OBJECTS[name](), seconds)


def changes(seconds):
    assert_right_or_refused(same(lambda: [
        TAYLOR.changes(np.full((2, 2), 0.1))(ROWS, [0]).tolist(),
        TAYLOR.total_change(np.full((2, 2), 0.1))()]), seconds)


# functions that do the work, by the class of the shared object
SOAKS = {
    **{f"{type(make()).__name__}: {name}": policies(make) for name, make in EVERY.items()},
    "Policy": policies(lambda: Simple(2)),
    **{f"{type(make()).__name__}: {name}": race(partial(make, block_size=20, delta=1e-9))
       for name, make in MAKERS.items() if name in ("best", "top", "sides", "told")},
    "BudgetRace": race(budget), "CountRace": counts, "Guardrail": guardrail,
    "RunningVerdict": running_verdict,
    **{f"ConfidenceSequence: {method}": sequence(method)
       for method in ("betting", "empirical-bernstein", "asymptotic")},
    **{name: right(lambda bandit=bandit: bandit.pull_with_costs([0, 1, 2] * 50, rng=1))
       for name, bandit in BANDITS.items()},
    "Environment": right(lambda: Coins().pull_with_costs([0, 1] * 50, rng=1)[0]),
    "TableBandit": table,
    "CIRCaplet": right(lambda: CAPLET.pull([0] * 30, rng=1)),
    "LogisticEvidence": right(lambda: EVIDENCE.pull([0, 1], rng=1)),
    "RacingSampler: matrix": racing("sampler of a matrix"),
    "RacingSampler: function": racing("sampler of a function"),
    "RacingSampler: betting": racing("sampler by betting"),
    "RacingSampler: one generator": racing("samplers of one generator"),
    "AcceptanceTest: array": racing("acceptance of an array"),
    "AcceptanceTest: function": racing("acceptance of a function"),
    "race": racing("race of a function"), "lil_ucb": racing("lil_ucb"),
    "PopulationMoments": racing("moments"), "GLMControl": racing("controls"),
    "TaylorControl": changes, "RacingGibbs": racing("gibbs"),
    "RacingMetropolis": racing("metropolis"), "PairwiseTable": racing("gibbs of pairs"),
    "ExactMinibatch": right(lambda: EXACT.step(EXACT.mode, n_steps=200, rng=1).value),
    "RacingMetropolis: SGLD": racing("metropolis by SGLD"),
    "GLR": right(lambda: GLR.margins(pulls=[9, 8, 7], means=[0.1, 0.2, 0.3])),
    "Betting": right(lambda: WAGERS.margins(SEEN)),
    "Study": study, "Screen": screen, "WebTest": web_test, "Metrics": metrics,
    "BanditSearchCV": search, "Blocks": blocks, "KMedoids": clusters,
}
if HAS_NUMBA:
    from simulation.numba_rules import upper

    SOAKS |= {"FunctionPolicy": policies(lambda: upper(4)), "Factor": right(bound)}
