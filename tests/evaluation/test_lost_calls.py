"""best_of with calls that hang, wait, are cancelled or lose their worker."""

import asyncio
import collections
import functools
import os
import pathlib
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

import pybandit as pb
from pybandit.evaluation import _calls
from pybandit.evaluation._drive import RaceDriver

from evaluation.judges import GIVEN, SCORES, Judge, K, N, in_blocks
from evaluation.test_calls import best, state


@pytest.fixture(autouse=True)
def _quickly(monkeypatch):
    monkeypatch.setattr(_calls, "FIRST_WAIT", 0.001)


@pytest.fixture
def end():
    """An event that ends hanging calls after the test."""
    event = threading.Event()
    yield event
    event.set()


# -- timeouts count from the start of a call -------------------------------------------


def slow(model, item):
    time.sleep(0.01)
    return float(SCORES[item, model])


@pytest.mark.some(1)
@pytest.mark.parametrize("make", [
    lambda: ThreadPoolExecutor(1), lambda: ProcessPoolExecutor(1, get_context("fork"))],
    ids=["threads", "fork"])
@pytest.mark.parametrize("is_own", [True, False])
def test_timeout_excludes_waiting_for_a_worker(make, is_own):
    """The last of 64 calls of 10 ms waits longer than `timeout` for the only worker."""
    with make() as pool:
        found = best(slow, executor=(lambda: pool) if is_own else pool, concurrency=64,
                     timeout=0.5, failed=0.0, max_pulls=150)
    assert state(found) == state(best(in_blocks(), max_pulls=150))


def test_timeout_excludes_work_of_others_in_executor():
    """Other work in the executor does not count towards the timeout either."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(time.sleep, 0.8)
        found = best(slow, executor=pool, concurrency=4, timeout=0.5, failed=0.0,
                     max_pulls=50)
    assert state(found) == state(best(in_blocks(), max_pulls=50))


class Uncounted:
    def __init__(self):
        self.pool = ThreadPoolExecutor(2)

    def submit(self, *args):
        return self.pool.submit(*args)

    def shutdown(self, **options):
        self.pool.shutdown(**options)


def test_timeout_with_uncountable_workers_is_refused():
    for executor in (Uncounted(), Uncounted):
        with pytest.raises(ValueError, match="timeout must be left out with an executor that"):
            best(slow, executor=executor, timeout=5.0, retry=Exception, failed=0.0)
        assert best(slow, executor=executor, max_pulls=20).n_pulls == 20


# -- calls that never end -----------------------------------------------------------


def hangs(end, items, started):
    def score(model, item):
        started.append((model, item))
        if item in items:
            end.wait(20)
        return float(SCORES[item, model])

    return score


@pytest.mark.filterwarnings("ignore:.*calls that failed")
def test_hanging_calls_do_not_block_others(end):
    bad_item, started = best(in_blocks()).items[:3].tolist(), []
    found = best(hangs(end, bad_item, started), concurrency=4, timeout=0.5, failed=0.0)
    table = SCORES.copy()
    table[bad_item] = 0.0
    assert state(found) == state(pb.best_of(table, **GIVEN))
    assert len(started) >= found.n_pulls


@pytest.mark.filterwarnings("ignore:.*calls that failed")
def test_race_stops_if_all_workers_hang(end):
    """Calls that could not be started do not count as failed."""
    order, started, paid = best(in_blocks()).items, [], {}
    with ThreadPoolExecutor(2) as pool:
        with pytest.raises(RuntimeError, match="no worker is left: all 2") as caught:
            best(hangs(end, order[3:].tolist(), started), executor=pool, concurrency=8,
                 timeout=0.5, retry=RuntimeError, failed=0.0, store=paid)
        end.set()
    assert set(paid) == set(started) and caught.value.store is paid
    assert sum(value == 0.0 for value in paid.values()) == 2


@pytest.mark.filterwarnings("ignore:.*calls that failed")
def test_worker_is_used_again_after_its_late_call(end):
    def score(model, item):
        if (model, item) == (0, bad_item):
            time.sleep(0.8)
        return float(SCORES[item, model])

    bad_item = int(best(in_blocks()).items[3])
    with ThreadPoolExecutor(1) as pool:
        found = best(score, executor=pool, concurrency=8, timeout=0.5, failed=0.0)
    table = SCORES.copy()
    table[bad_item, 0] = 0.0
    assert state(found) == state(pb.best_of(table, **GIVEN))


def ran(script, *args):
    done = subprocess.run([sys.executable, "-c", script, *args], text=True, capture_output=True,
                          timeout=60, cwd=pathlib.Path(__file__).parents[1])
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


HANGING = """
import time, warnings
import pybandit as pb
from evaluation.judges import GIVEN, SCORES, K, N

def score(model, item):
    if item == 5:
        time.sleep(600)
    return float(SCORES[item, model])

warnings.simplefilter("ignore")
print(pb.best_of(score, K, N, calls=pb.Calls(concurrency=8, timeout=0.1, failed=0.0),
                 **GIVEN).decided)
"""

LATE = """
import atexit, threading, time
paid, started = {}, []
atexit.register(lambda: print(len(paid), len(started)))  # runs after that of the package
import pybandit as pb
from evaluation.judges import GIVEN, SCORES, K, N

def score(model, item):
    started.append((model, item))
    if len(started) == 9:
        raise KeyError
    time.sleep(0.3)
    return float(SCORES[item, model])

try:
    pb.best_of(score, K, N, store=paid, calls=pb.Calls(concurrency=8, timeout=30), **GIVEN)
except KeyError:
    pass
"""


def test_process_ends_despite_hanging_calls():
    assert ran(HANGING) == ["True"]


def test_process_waits_for_answers_to_store():
    n_paid, n_started = map(int, ran(LATE))
    assert n_paid == n_started - 1 >= 8


# -- cancelled calls, and workers that die -----------------------------------


def test_cancelled_judge_call_is_repeated():
    seen = set()

    async def judge(model, item):
        await asyncio.sleep(0)
        if (model, item) not in seen and item % 3 == 0:
            seen.add((model, item))
            raise asyncio.CancelledError
        return float(SCORES[item, model])

    found = best(judge, concurrency=8)
    assert state(found) == state(best(in_blocks())) and len(seen) > 5


def test_always_cancelled_judge_stops_race():
    """The race stops after ten tries; the call does not count as failed."""
    asked = []

    async def judge(model, item):
        if item == bad_item:
            asked.append(model)
            raise asyncio.CancelledError
        return float(SCORES[item, model])

    bad_item = int(best(in_blocks()).items[9])
    with pytest.raises(_calls.LostCall, match="cancelled by other code than best_of") as caught:
        best(judge, concurrency=1, failed=0.0, retry=Exception, timeout=30)
    assert len(asked) == 10 and all(item != bad_item for _, item in caught.value.store)


class Cancels(ThreadPoolExecutor):
    n = 0

    def submit(self, *args):
        self.n += 1
        if self.n % 4:
            return super().submit(*args)
        future = Future()
        future.cancel()
        return future


@pytest.mark.parametrize("timeout", [None, 10.0])
def test_cancelled_future_is_a_lost_call(timeout):
    with Cancels(4) as pool:
        found = best(slow, executor=pool, concurrency=8, timeout=timeout)
    assert state(found) == state(best(in_blocks()))


def test_executor_shut_down_stops_race():
    def score(model, item):
        started.append(item)
        if len(started) == 20:
            pool.shutdown(wait=False, cancel_futures=True)
        return slow(model, item)

    started, pool = [], ThreadPoolExecutor(2)
    with pytest.raises(RuntimeError, match="shutdown") as caught:
        best(score, executor=pool, concurrency=8, retry=Exception, failed=0.0)
    assert all(value == SCORES[cell[::-1]] for cell, value in caught.value.store.items())


def test_cancelled_drive_raises(monkeypatch):
    async def leaves(self, group):
        await self.anyio.sleep(0)

    monkeypatch.setattr(RaceDriver, "_until_done", leaves)
    with pytest.raises(RuntimeError, match="stopped before its end"):
        best(Judge().awaited)


def dies(bad_item, model, item):
    if item == bad_item:
        os._exit(9)
    return slow(model, item)


def _same(pool):
    return pool


def test_dead_worker_does_not_count_as_failed():
    """This holds for any `retry` and any pool."""
    score = functools.partial(dies, int(best(in_blocks()).items[9]))
    for is_own in (True, False):
        pool = ProcessPoolExecutor(2, get_context("fork"))
        with pytest.raises(BrokenExecutor) as caught:
            best(score, executor=functools.partial(_same, pool) if is_own else pool,
                 concurrency=4, failed=0.0, retry=Exception, timeout=30)
        assert all(value == SCORES[cell[::-1]] for cell, value in caught.value.store.items())
        pool.shutdown()


# -- waste counts started calls ----------------------------------------------------------


def test_waste_counts_started_calls_only():
    judge = Judge(seconds=0.0)
    found = best(judge.awaited, per_minute=60_000, max_pulls=None)
    assert found.n_pulls + found.n_wasted == len(judge.asked)
    for timeout in (None, 10.0):
        judge = Judge()
        with ThreadPoolExecutor(2) as pool:
            found = best(judge.call, executor=pool, concurrency=64, timeout=timeout)
        assert found.n_pulls + found.n_wasted == len(judge.asked)


# -- functions that return awaitables ------------------------------------------------------


def test_function_returning_awaitable_is_awaited():
    judge = Judge()
    for executor in (None, ThreadPoolExecutor(2)):
        found = best(lambda model, item: judge.awaited(model, item), concurrency=8,
                     executor=executor, timeout=10)
        assert state(found) == state(best(in_blocks()))
    assert judge.most_out > 1
    assert state(asyncio.run(pb.best_of_async(lambda model, item: judge.awaited(model, item),
                                              K, N, **GIVEN))) == state(best(in_blocks()))
    with pytest.raises(TypeError, match="coroutine.*concurrency="):
        best(lambda model, item: judge.awaited(model, item))


# -- paid scores ----------------------------------------------------------------


class Refuses(collections.UserDict):
    """A mapping on a disk that is full at the fifth write, or from then on."""

    def __init__(self, last):
        super().__init__()
        self.last, self.n = last, 0

    def update(self, cells):
        self.n += 1
        if 5 <= self.n <= self.last:
            raise OSError("disk full")
        super().update(cells)


@pytest.mark.parametrize("last", [5, 10_000])
def test_unwritten_answers_are_written_later_or_handed_over(last):
    """Answers that a mapping did not take are written with later ones, or are in the exception."""
    answered, paid = [], Refuses(last)

    async def judge(model, item):
        await asyncio.sleep(0)
        answered.append((model, item))
        return float(SCORES[item, model])

    with pytest.raises(OSError, match="disk full") as caught:
        best(judge, concurrency=8, store=paid)
    assert len(answered) > 20 and caught.value.store.keys() == set(answered)
    assert (paid.keys() == set(answered)) == (last == 5)
    assert state(best(judge, store=dict(caught.value.store))) == state(best(in_blocks()))
    assert len(set(answered)) == len(answered)


def test_late_answers_go_only_to_caller_mapping():
    """Running threads write to the mapping of the caller, and not to a copy."""
    for paid in (None, {}):
        judge = Judge(lambda n, model, item: KeyError() if n == 20 else None, seconds=0.02)
        judge.times[20] = 0.02
        with ThreadPoolExecutor(16) as pool:
            with pytest.raises(KeyError) as caught:
                best(judge.call, executor=pool, concurrency=16, store=paid)
            n = len(caught.value.store)
        assert (len(caught.value.store) == len(judge.asked) - 1 > n) == (paid is not None)
        assert (caught.value.store is paid) == (paid is not None) and n > 0


# -- failures are reported -----------------------------------------------------------------


def fails_at(items, models=range(K)):
    return Judge(lambda n, model, item: ConnectionError() if item in items and model in models
                 else None).awaited


def test_failed_calls_are_counted_per_model():
    order, paid = best(in_blocks()).items.tolist(), {}
    options = dict(concurrency=1, failed=0.5, retry=ConnectionError, max_pulls=100)
    found = best(fails_at(order[:1], (1, 3)), **options, store=paid)  # 2 %: too few for a warning
    assert found.n_failed_by_arm.tolist() == [0, 1, 0, 1, 0] == found.to_dict()["n_failed_by_arm"]
    assert found.n_failed == 2
    assert " 2 scores are of calls that failed, 1 of them of model 1." in str(found)
    again = best(fails_at(()), **options, store=paid)  # a stored failure counts as any other score
    assert again.n_failed == 0 and "failed" not in str(again)
    assert best(in_blocks()).n_failed_by_arm.tolist() == [0] * K


@pytest.mark.parametrize("items, models", [(2, range(K)), (4, (2,))], ids=["all", "one model"])
def test_many_failures_cause_warning(items, models):
    order = best(in_blocks()).items.tolist()
    with pytest.warns(pb.errors.FailedCallsWarning, match="calls that failed") as warned:
        found = best(fails_at(order[:items], models), concurrency=1, failed=0.5,
                     retry=ConnectionError, max_pulls=90)
    assert found.n_failed == items * len(models)
    assert warned[0].filename.endswith("test_calls.py")  # the line that called best_of
