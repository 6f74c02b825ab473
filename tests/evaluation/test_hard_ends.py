"""best_of with unusual exceptions, full disks, and files created by many processes."""

import asyncio
import os
import pickle
import sqlite3
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import pybandit as pb
from pybandit._shared import database as _database
from pybandit.errors import StudyError
from pybandit.evaluation import _calls, _store_file

from evaluation.grouped import grouped
from evaluation.judges import GIVEN, MODELS, SCORES, K, N, in_blocks
from evaluation.test_lost_calls import Uncounted, ran, slow
from evaluation.test_store import opened


@pytest.fixture(autouse=True)
def _quickly(monkeypatch):
    monkeypatch.setattr(_calls, "FIRST_WAIT", 0.001)


# -- exceptions that have a meaning for loops -------------------------------------


@pytest.mark.parametrize("error", [StopIteration, StopAsyncIteration])
@pytest.mark.parametrize("kind", ["threads", "executor", "awaited"])
def test_stop_iteration_in_score_is_raised_as_runtime_error(error, kind):
    """next() on an empty iterator raises StopIteration, which makes asyncio of Python 3.11 hang."""
    started = []

    def score(model, item):
        started.append(item)
        if len(started) == 20:
            raise error
        return float(SCORES[item, model])

    async def awaited(model, item):
        await asyncio.sleep(0)
        return score(model, item)

    async def in_time():
        with ThreadPoolExecutor(4) as pool:
            options = {"threads": {}, "executor": dict(executor=pool), "awaited": {}}[kind]
            await asyncio.wait_for(pb.best_of_async(
                awaited if kind == "awaited" else score, K, **grouped(N, concurrency=8, **options,
                                                                      **GIVEN)),
                20)

    with pytest.raises(RuntimeError, match=f"raised {error.__name__}") as caught:
        asyncio.run(in_time())
    assert isinstance(caught.value.__cause__, error) and len(caught.value.store) > 5


@pytest.mark.parametrize("kind", ["awaited", "threads", "failed for good", "no executor"])
def test_cause_of_exception_is_kept(kind):
    """`__cause__` and the context stay as the judge raised them."""
    def fails(*cell):
        try:
            try:
                raise KeyError("the key")
            except KeyError as error:
                raise OSError("the line") from error
        except OSError:
            raise ConnectionError("the call")  # noqa: B904

    async def awaited(model, item):
        await asyncio.sleep(0)
        fails()

    options = {"awaited": {}, "threads": dict(concurrency=2), "no executor": dict(executor=fails),
               "failed for good": dict(concurrency=2, retry=OSError)}[kind]
    with pytest.raises(ConnectionError, match="the call") as caught:
        pb.best_of(awaited if kind == "awaited" else fails, K, **grouped(N, **options, **GIVEN))
    assert repr(caught.value.__context__) == "OSError('the line')"
    assert not caught.value.__suppress_context__
    assert repr(caught.value.__context__.__cause__) == "KeyError('the key')"


@pytest.mark.parametrize("timeout", [None, 10.0])
def test_unpicklable_function_does_not_count_as_failed(timeout):
    """The function was never called, so neither `retry` nor `failed` applies."""
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError),
                       match="pickle|local object"):
        pb.best_of(lambda model, item: 0.5, K, N,
                   calls=pb.Calls(executor=lambda: ProcessPoolExecutor(2), failed=0.0,
                                  retry=Exception, timeout=timeout), **GIVEN)


# -- calls per minute ------------------------------------------------------------------------


@pytest.mark.parametrize("timeout", [None, 10.0])
def test_busy_workers_do_not_save_up_turns(timeout):
    """Calls do not come in a burst after all workers were busy."""
    times = []

    def score(model, item):
        times.append(time.monotonic())
        time.sleep(0.5 if len(times) <= 4 else 0.001)
        return float(SCORES[item, model])

    with ThreadPoolExecutor(4) as pool:
        pb.best_of(score, K, N, calls=pb.Calls(per_minute=1200, concurrency=64, executor=pool,
                                               timeout=timeout), max_pulls=30, **GIVEN)
    times = np.array(times)
    assert max(np.sum((times >= begin) & (times < begin + 0.45)) for begin in times) <= 12


def test_per_minute_works_with_uncounted_workers():
    found = pb.best_of(slow, K, N,
                       calls=pb.Calls(per_minute=60_000, concurrency=64, executor=Uncounted()),
                       max_pulls=30, **GIVEN)
    assert found.n_pulls == 30


# -- files ------------------------------------------------------------------------------


FULL = """
import asyncio, os, resource, signal, sys
import pybandit as pb
from evaluation.judges import GIVEN, MODELS, SCORES, N

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limits, store = resource.getrlimit(resource.RLIMIT_FSIZE), sys.argv[1]
first, asked = set(), []

async def score(model, item):
    asked.append((model, item))
    n = len(asked)
    await asyncio.sleep(0)
    if n == 60 and not first:
        size = os.path.getsize(store + "-wal")
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    return float(SCORES[item, int(model)])

try:
    pb.best_of(score, MODELS, N, store=store, calls=pb.Calls(concurrency=8), **GIVEN)
except OSError as error:
    left, caught = error.store, error  # the traceback keeps all objects of the call alive
resource.setrlimit(resource.RLIMIT_FSIZE, limits)
first.update(asked)
asked.clear()
pb.best_of(score, MODELS, N, store=store, calls=pb.Calls(concurrency=8), **GIVEN)
print(len(left), len(first & set(asked)), left.keys() == first & set(asked))
"""


def test_full_disk_hands_over_scores_and_frees_claims(tmp_path):
    """Scores that did not fit are in the exception, and no claims are left."""
    n_left, n_again, are_the_same = ran(FULL, str(tmp_path / "evals.db"))
    assert 0 < int(n_left) == int(n_again) < 60 and are_the_same == "True"


def test_many_processes_can_create_one_file(tmp_path):
    """All processes open it at once; SQLite does not wait if two of them start its log."""
    errors = []

    def opens(path, barrier):
        barrier.wait()
        try:
            opened(path, N).close()
        except Exception as error:
            errors.append(error)

    for n in range(30):
        barrier = threading.Barrier(8)
        threads = [threading.Thread(target=opens, args=(tmp_path / f"{n}.db", barrier))
                   for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not errors


class Refused:
    """A connection that finds its file busy a few times."""

    def __init__(self, db):
        self.db, self.n = db, 0

    def execute(self, statement, *values):
        if statement == "PRAGMA journal_mode = WAL" and self.n < 3:
            self.n += 1
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error
        return self.db.execute(statement, *values)

    def __getattr__(self, name):
        return getattr(self.db, name)


def test_busy_log_is_retried_and_reported(tmp_path, monkeypatch):
    """Simulates a file whose log another process is starting."""
    connect, connections = _database._connect, []

    def refused(address):
        connections.append(Refused(connect(address)))
        return connections[-1]

    monkeypatch.setattr(_database, "_connect", refused)
    (tmp_path / "x.db").touch()
    cells = opened(tmp_path / "x.db", N)
    assert connections[0].n == 3 and cells._row("PRAGMA journal_mode", ()) == ("wal",)
    cells.close()
    monkeypatch.setattr(_store_file, "PATIENCE", -1.0)
    (tmp_path / "y.db").touch()
    with pytest.raises(StudyError, match="is busy"):
        opened(tmp_path / "y.db", N)


@pytest.mark.parametrize("name", ["a b%20#?é&mode=ro.db", "x'y\"z;.db", "bad\udcff.db",
                                  b"bytes.db"])
def test_odd_file_names_are_kept(name, tmp_path):
    class Path:
        def __fspath__(self):
            return os.fsencode(tmp_path / name) if isinstance(name, str) else (
                os.fsencode(tmp_path) + b"/" + name)

    for store in (Path(), *([str(tmp_path / name)] if isinstance(name, str) else [])):
        pb.best_of(in_blocks(), MODELS, N, store=store, **GIVEN)
    assert os.listdir(tmp_path) == [os.fsdecode(name)]


def test_file_name_with_nul_is_refused(tmp_path):
    with pytest.raises(ValueError, match="store must be the path of a file"):
        pb.best_of(in_blocks(), MODELS, N, store=str(tmp_path / "x\0y.db"), **GIVEN)
    assert not os.listdir(tmp_path)


# -- arguments ----------------------------------------------------------------------------


def test_best_of_async_refuses_invalid_options():
    def score(model, item):
        return float(SCORES[item, model])

    found = asyncio.run(pb.best_of_async(score, K, N, calls=pb.Calls(concurrency=None), **GIVEN))
    assert found.best == pb.best_of(SCORES, **GIVEN).best
    for options, words in ((dict(GIVEN, chunks=3), "unexpected keyword argument 'chunks'"),
                           (dict(rng=1), "value_range must be given for a function")):
        with pytest.raises((TypeError, ValueError), match=words):
            asyncio.run(pb.best_of_async(score, K, **grouped(N, **options)))
    with pytest.raises(ValueError, match="concurrency must be at most"):
        asyncio.run(pb.best_of_async(score, K, N, calls=pb.Calls(concurrency=2**40), **GIVEN))


# -- mistakes -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["none.csv", "none.npy", "none.parquet", "none.eval",
                                  "none.jsonl"])
def test_missing_file_is_named(name, tmp_path):
    path = tmp_path / name
    with pytest.raises(FileNotFoundError) as caught:
        pb.best_of(path, value_range=(0, 1))
    assert caught.value.filename == str(path) and str(path) in str(caught.value)
    with pytest.raises(FileNotFoundError):
        pb.best_of([path, tmp_path / "other.json"], value_range=(0, 1))


def test_values_other_than_functions_and_tables_are_refused():
    with pytest.raises(TypeError, match="got the class Uncounted: call it, Uncounted"):
        pb.best_of(Uncounted, 3, 9, value_range=(0, 1))
    with pytest.raises(TypeError, match="judge must be a function of two models and items"):
        pb.best_of_pairs("judge", 3, 9)
    with pytest.raises(TypeError, match="scores must be a function of .model, item.: .*got 'judge"):
        asyncio.run(pb.best_of_async("judge", 3, 9, value_range=(0, 1)))
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match=r"got a LazyFrame: collect it, scores.collect\(\)"):
        pb.best_of(polars.DataFrame({"a": [0.5], "b": [0.1]}).lazy(), value_range=(0, 1))
