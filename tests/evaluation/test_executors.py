"""best_of on threads, processes and Dask: same result, also if workers are killed."""

import functools
import os
import signal
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import pybandit as pb
from pybandit.errors import MissingPackageError
from pybandit.evaluation import _calls

from evaluation.judges import GIVEN, SCORES, K, N, cost, in_blocks
from evaluation.test_calls import best, state
from simulation.arms import assert_same

SPAWN = get_context("spawn")


def score(model, item):
    return float(SCORES[item, model])


def priced(model, item):
    return score(model, item), cost(model, item)


def dies_once(folder, model, item):
    """Kill the process at the first call of two cells."""
    if item in (7, 30) and model == 3:
        mark = os.path.join(folder, f"{model} {item}")
        if not os.path.exists(mark):
            with open(mark, "x"):
                pass
            os.kill(os.getpid(), signal.SIGKILL)
    return score(model, item)


def dies(model, item):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(scope="module")
def cluster():
    """A client of a local Dask cluster of two processes."""
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=2, processes=True,
                                  dashboard_address=None) as local:
        with distributed.Client(local) as client:
            yield client


def pools():
    return {"threads": lambda: ThreadPoolExecutor(8),
            "fork": lambda: ProcessPoolExecutor(2, get_context("fork")),
            "spawn": lambda: ProcessPoolExecutor(2, SPAWN)}


@pytest.mark.some(2)
@pytest.mark.parametrize("options", [{}, {"costs": "told"}, {"budget": 150}, {"k": 2}], ids=repr)
@pytest.mark.parametrize("name", pools())
def test_executors_give_serial_answer(name, options):
    told = "costs" in options
    expected = best(in_blocks(told), **options)
    with pools()[name]() as pool:
        found = best(priced if told else score, executor=pool, concurrency=8, **options)
    assert state(found) == state(expected) and found.cost == expected.cost


@pytest.mark.some(1)
@pytest.mark.parametrize("options", [{}, {"costs": "told"}], ids=repr)
@pytest.mark.filterwarnings("ignore")  # warnings of Dask
def test_dask_gives_serial_answer(cluster, options):
    told = "costs" in options
    found = best(priced if told else score, executor=cluster.get_executor(), concurrency=8,
                 **options)
    assert state(found) == state(best(in_blocks(told), **options))


@pytest.mark.some(1)
@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_killed_process_loses_calls_but_not_the_race(context, tmp_path):
    """A killed process breaks its pool; the function that makes pools is then called again."""
    pools = []

    def make():
        pools.append(ProcessPoolExecutor(2, get_context(context)))
        return pools[-1]

    found = best(functools.partial(dies_once, str(tmp_path)), executor=make, concurrency=4)
    assert state(found) == state(best(in_blocks()))
    # two processes that die at once break the same pool
    assert 2 <= len(pools) <= 1 + len(os.listdir(tmp_path))


def test_broken_pool_of_caller_stops_race(tmp_path):
    paid = {}
    with ProcessPoolExecutor(2, SPAWN) as pool, pytest.raises(BrokenExecutor) as caught:
        best(functools.partial(dies_once, str(tmp_path)), executor=pool, concurrency=4, store=paid,
             failed=0.0)  # calls that cannot be made are not failed calls
    assert "a function that makes the pool" in "".join(caught.value.__notes__)
    assert all(value == SCORES[item, model] for (model, item), value in paid.items())


def test_call_that_kills_every_worker_stops_race(monkeypatch):
    monkeypatch.setattr(_calls, "LOST", 3)
    monkeypatch.setattr(_calls, "FIRST_WAIT", 0.001)
    with pytest.raises(BrokenExecutor):
        best(dies, executor=lambda: ProcessPoolExecutor(1, get_context("fork")), concurrency=1)
    with pytest.raises(BrokenExecutor):  # with `failed`, too, the race stops
        best(dies, executor=lambda: ProcessPoolExecutor(1, get_context("fork")), concurrency=1,
             failed=0.5, retry=Exception)


@pytest.mark.filterwarnings("ignore")  # warnings of Dask about dead workers
def test_killed_dask_worker_is_replaced(cluster, tmp_path):
    found = best(functools.partial(dies_once, str(tmp_path)), executor=cluster.get_executor(),
                 concurrency=4)
    assert state(found) == state(best(in_blocks())) and os.listdir(tmp_path)


@pytest.mark.filterwarnings("ignore")  # warnings of Dask
def test_simulate_runs_on_dask(cluster):
    bandit = pb.environments.BernoulliBandit([0.4, 0.5, 0.7])
    options = dict(n_runs=40, rng=3)
    alone = pb.simulate(make_policy, bandit, **options)
    assert_same(pb.simulate(make_policy, bandit, executor=cluster.get_executor(), **options), alone)


def make_policy(environment):
    return pb.policies.Uniform(3, budget=30)


@pytest.mark.some(1)
@pytest.mark.parametrize("backend", [
    "threading", "loky", pytest.param("dask", marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore")  # warnings of Dask, and of idle pools
def test_search_runs_on_joblib_backends(backend, request):
    """Other backends, such as Ray, register with joblib in the same way."""
    joblib = pytest.importorskip("joblib")
    pytest.importorskip("sklearn")
    from sklearn.linear_model import Ridge

    from pybandit.model_selection import BanditSearchCV

    if backend == "dask":
        request.getfixturevalue("cluster")
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)), rng.normal(size=60)

    def search():
        estimator = BanditSearchCV(Ridge(), {"alpha": [0.01, 0.1, 1.0, 10.0]}, budget=0.8,
                                   random_state=0, n_jobs=2, cv=3)
        return estimator.fit(x, y)

    alone = search()
    with joblib.parallel_config(backend, n_jobs=2):
        found = search()
    assert found.best_params_ == alone.best_params_
    assert np.array_equal(found.cv_results_["mean_test_score"],
                          alone.cv_results_["mean_test_score"], equal_nan=True)


def test_missing_extra_is_reported(monkeypatch):
    def missing(module, extra):
        raise MissingPackageError(f"pip install 'pybandit-core[{extra}]'")

    monkeypatch.setattr(_calls, "require", missing)
    with pytest.raises(MissingPackageError, match="async"):
        best(score, concurrency=4)
    assert pb.best_of(SCORES, **GIVEN).n_items == N and K == 5
