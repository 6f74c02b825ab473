"""Threads of plain functions: one per unfinished call, used again."""

import _thread
import concurrent.futures
import contextvars
import gc
import os
import subprocess
import sys
import threading
import time

import pytest

import pybandit as pb
from pybandit._shared.call_threads import Threads

from evaluation.grouped import grouped
from evaluation.judges import GIVEN, SCORES, K, N

NAME = contextvars.ContextVar("name", default="none")


@pytest.fixture
def pool():
    before, made = _thread._count(), Threads(None)
    yield made
    made.shutdown(wait=False, cancel_futures=True)
    assert has_at_most(before)


def answer_of(call, seconds=10.0):
    """Return the result of a call once it has ended."""
    end = time.monotonic() + seconds
    while not call.done() and time.monotonic() < end:
        time.sleep(0.0005)
    assert call.done()
    return call.result()


def has_at_most(n, seconds=5.0):
    """Return True if at most n threads are left within some seconds."""
    end = time.monotonic() + seconds
    while _thread._count() > n and time.monotonic() < end:
        time.sleep(0.002)
    return _thread._count() <= n


def test_thread_is_used_again_after_its_call(pool):
    idents = {answer_of(pool.submit(threading.get_ident)) for _ in range(20)}
    assert len(idents) == 1


def test_every_unfinished_call_has_a_thread(pool):
    """Calls that wait for each other all run."""
    barrier = threading.Barrier(12)
    calls = [pool.submit(barrier.wait, 10) for _ in range(12)]
    assert sorted(answer_of(call) for call in calls) == list(range(12))
    release = threading.Event()
    stuck = [pool.submit(release.wait, 30) for _ in range(5)]
    assert [answer_of(pool.submit(abs, -i)) for i in range(30)] == list(range(30))
    release.set()
    assert all(answer_of(call) for call in stuck)


def test_calls_for_idle_threads_do_not_wait_for_each_other(pool):
    for _ in range(50):
        barrier = threading.Barrier(12)
        calls = [pool.submit(barrier.wait, 10) for _ in range(12)]
        assert sorted(answer_of(call) for call in calls) == list(range(12))


def test_cancelled_calls_do_not_run_and_the_others_do(pool):
    ended, n_cancelled = [], 0
    for _ in range(50):
        ran, calls = [], [pool.submit(time.sleep, 0.001) for _ in range(4)]
        for call in calls:
            answer_of(call)
        calls = [pool.submit(ran.append, i) for i in range(4)]
        for call in calls:
            call.add_done_callback(ended.append)
        kept = [i for i, call in enumerate(calls) if i == 0 or not call.cancel()]
        for i in kept:
            answer_of(calls[i])
        assert sorted(ran) == kept
        assert kept == [i for i, call in enumerate(calls) if not call.cancelled()]
        assert all(call.done() and not call.running() for call in calls)
        n_cancelled += 4 - len(kept)
    assert n_cancelled > 0 and len(ended) == len(set(ended)) == 200


def test_shutdown_cancels_queued_calls():
    before, n_cancelled = _thread._count(), 0
    for _ in range(50):
        pool, ran, ended = Threads(None), [], []
        barrier = threading.Barrier(4)
        for call in [pool.submit(barrier.wait, 10) for _ in range(4)]:
            answer_of(call)
        calls = [pool.submit(ran.append, i) for i in range(4)]
        for call in calls:
            call.add_done_callback(ended.append)
        pool.shutdown()
        kept = [i for i, call in enumerate(calls) if not call.cancelled()]
        for i in kept:
            answer_of(calls[i])
        for i in set(range(4)).difference(kept):
            with pytest.raises(concurrent.futures.CancelledError):
                calls[i].result()
        assert sorted(ran) == kept and has_at_most(before)
        assert len(ended) == len(set(ended)) == 4
        n_cancelled += 4 - len(kept)
    assert n_cancelled > 0


def test_calls_run_in_copies_of_the_caller_context(pool):
    def rename():
        before = NAME.get()
        NAME.set("changed")
        return before

    token = NAME.set("caller")
    assert [answer_of(pool.submit(rename)) for _ in range(3)] == ["caller"] * 3
    NAME.reset(token)
    assert answer_of(pool.submit(rename)) == "none"


def test_threads_end_after_shutdown():
    before = _thread._count()
    pool, release, barrier = Threads(None), threading.Event(), threading.Barrier(4)

    def wait():
        barrier.wait(10)
        return release.wait(30)

    calls = [pool.submit(wait) for _ in range(3)]
    barrier.wait(10)  # all calls run
    pool.shutdown()
    assert _thread._count() == before + 3 and not any(call.done() for call in calls)
    release.set()
    assert has_at_most(before) and all(answer_of(call) for call in calls)


def test_errors_and_callbacks_reach_the_caller(pool):
    seen, release = [], threading.Event()
    call = pool.submit(release.wait, 30)
    call.add_done_callback(lambda ended: 1 / 0)  # stays in the thread
    call.add_done_callback(seen.append)
    assert call.running() and not call.cancel() and not call.cancelled() and not seen
    release.set()
    assert answer_of(call) is True
    call.add_done_callback(seen.append)  # at once, as the call has ended
    end = time.monotonic() + 5
    while len(seen) < 2 and time.monotonic() < end:
        time.sleep(0.001)
    assert seen == [call, call]
    failed = pool.submit(int, "x")
    with pytest.raises(ValueError, match="invalid literal"):
        answer_of(failed)
    assert isinstance(failed.exception(), ValueError)


@pytest.mark.parametrize("error", [StopIteration, SystemExit, KeyboardInterrupt])
def test_any_exception_leaves_the_thread_usable(pool, error):
    def fails():
        raise error

    with pytest.raises(error):
        answer_of(pool.submit(fails))
    assert answer_of(pool.submit(abs, -3)) == 3


def test_thread_that_cannot_start_loses_no_call(pool, monkeypatch):
    def refused(*arguments):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(_thread, "start_new_thread", refused)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            pool.submit(abs, -1)
    assert answer_of(pool.submit(abs, -2)) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_fork_starts_threads_of_its_own(pool):
    assert answer_of(pool.submit(abs, -1)) == 1
    child = os.fork()
    if child == 0:
        os._exit(answer_of(pool.submit(abs, -7)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_race_uses_at_most_concurrency_threads():
    idents = set()

    def score(model, item):
        idents.add(threading.get_ident())
        time.sleep(0.0005)
        return float(SCORES[item, model])

    before = threading.active_count()
    found = pb.best_of(score, K, **grouped(N, concurrency=6, **GIVEN))
    assert 1 < len(idents) <= 6 < found.n_pulls
    assert threading.active_count() == before


def test_idle_threads_end_if_their_pool_is_gone():
    before = _thread._count()
    pool = Threads(None)
    calls = [pool.submit(time.sleep, 0.01) for _ in range(3)]
    for call in calls:
        answer_of(call)
    del pool, call, calls
    gc.collect()
    assert has_at_most(before)


def test_process_waits_for_answers_but_not_for_abandoned_calls():
    code = """
import time
from pybandit._shared.call_threads import Threads, give_up
pool = Threads(None)
call = pool.submit(lambda: (time.sleep(0.3), print("stored", flush=True)))
give_up(pool.submit(time.sleep, 60))
Threads(0.2).submit(time.sleep, 60)
"""
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50,
                          env=os.environ | {"PYTHONPATH": ":".join(sys.path)}, check=True)
    assert done.stdout == "stored\n" and time.monotonic() - started < 40
