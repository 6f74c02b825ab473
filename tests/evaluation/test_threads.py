"""Threads of plain functions: one per unfinished call, used again, and replaced if they die."""

import contextvars
import os
import queue
import threading
import time

import pytest

import pybandit as pb
from pybandit.evaluation import _threads
from pybandit.evaluation._threads import Threads

from evaluation.grouped import grouped
from evaluation.judges import GIVEN, SCORES, K, N

NAME = contextvars.ContextVar("name", default="none")


@pytest.fixture
def pool():
    made = Threads(None)
    yield made
    made.shutdown(wait=False, cancel_futures=True)


def ended(workers, seconds=5.0):
    """Return True if all threads end within some seconds."""
    return all(worker.wait(seconds) for worker in workers)


def test_thread_is_used_again_after_its_call(pool):
    idents = {pool.submit(threading.get_ident).result(5) for _ in range(20)}
    assert len(idents) <= 2  # a result is there shortly before its thread is free


def test_every_unfinished_call_has_a_thread(pool):
    """Calls that wait for each other all run."""
    barrier = threading.Barrier(12)
    calls = [pool.submit(barrier.wait, 10) for _ in range(12)]
    assert sorted(call.result(10) for call in calls) == list(range(12))
    release = threading.Event()
    stuck = [pool.submit(release.wait, 30) for _ in range(5)]
    assert [pool.submit(abs, -i).result(5) for i in range(30)] == list(range(30))
    release.set()
    assert all(call.result(5) for call in stuck)


def test_calls_run_in_copies_of_the_caller_context(pool):
    def rename():
        before = NAME.get()
        NAME.set("changed")
        return before

    token = NAME.set("caller")
    assert [pool.submit(rename).result(5) for _ in range(3)] == ["caller"] * 3
    NAME.reset(token)
    assert pool.submit(rename).result(5) == "none"


def test_threads_end_after_shutdown():
    pool, release, barrier = Threads(None), threading.Event(), threading.Barrier(4)

    def wait():
        barrier.wait(10)
        return release.wait(30)

    calls = [pool.submit(wait) for _ in range(3)]
    workers = list(pool._workers)
    barrier.wait(10)  # all calls have started
    pool.shutdown()
    assert not ended(workers, 0.01)
    release.set()
    assert ended(workers) and all(call.result(5) for call in calls) and not pool._unfinished


def test_shutdown_cancels_calls_that_have_not_started(pool, monkeypatch):
    monkeypatch.setattr(Threads, "_start_threads", lambda self: None)
    call = pool.submit(int)
    pool.shutdown()
    assert call.cancelled() and call not in _threads._out


def test_dead_threads_are_replaced(pool):
    """A call that a thread has taken when its memory ran out is run by another thread, once."""
    class Dies(queue.SimpleQueue):
        def get(self, **options):
            item = super().get(**options)
            if deaths:
                deaths.pop()
                raise MemoryError
            return item

    deaths, runs = [True], []
    pool._queue = Dies()
    call = pool.submit(runs.append, 1)
    assert pool._workers[0].wait(5) and not call.done()
    for _ in range(3):
        call.settle()
    call.result(5)
    assert runs == [1] and pool.submit(abs, -2).result(5) == 2


def test_thread_that_dies_in_a_call_gives_memory_error(pool, monkeypatch):
    def fails(self, result):
        raise MemoryError("no room for the answer")

    with monkeypatch.context() as patched:
        patched.setattr(_threads.Call, "set_result", fails)
        call = pool.submit(abs, -1)
        assert pool._workers[0].wait(5)
    call.settle()
    with pytest.raises(MemoryError, match="no room for the answer"):
        call.result(0)
    following = pool.submit(abs, -3)
    following.settle()
    assert following.result(5) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_fork_starts_threads_of_its_own(pool):
    assert pool.submit(abs, -1).result(5) == 1
    child = os.fork()
    if child == 0:
        os._exit(pool.submit(abs, -7).result(5))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_race_uses_at_most_concurrency_threads():
    idents = set()

    def score(model, item):
        idents.add(threading.get_ident())
        time.sleep(0.0005)
        return float(SCORES[item, model])

    before = threading.active_count()
    found = pb.best_of(score, K, **grouped(N, concurrency=6, **GIVEN))
    assert 1 < len(idents) <= 7 < found.n_pulls  # 7: a result precedes the end of its call
    assert threading.active_count() == before


def test_idle_threads_end_if_their_pool_is_gone(monkeypatch):
    monkeypatch.setattr(_threads, "IDLE", 0.01)
    pool = Threads(None)
    pool.submit(abs, -1).result(5)
    workers = list(pool._workers)
    del pool
    assert ended(workers)
