"""Threads that always end."""

import signal
import threading
import time

import numpy as np
import pytest

from pybandit._shared.threads import in_threads
from pybandit._shared.worker import Stop


def is_set_within(stop, seconds):
    end = time.monotonic() + seconds
    while not stop.is_set() and time.monotonic() < end:
        time.sleep(1e-4)
    return stop.is_set()


def test_every_task_runs_once_in_the_given_number_of_threads():
    began, done = threading.Barrier(5), []

    def run(i):
        if i < 5:
            began.wait(30)  # passes only if all five run at once
        done.append((i, threading.get_ident()))

    in_threads(run, 12, 5, Stop())
    assert sorted(i for i, _ in done) == list(range(12))
    threads = {thread for _, thread in done}
    assert len(threads) == 5 and threading.get_ident() not in threads


def test_no_task_runs_twice():
    done = []
    in_threads(done.append, 50_000, 8, Stop())
    assert sorted(done) == list(range(50_000))


def test_single_thread_is_the_calling_one():
    done = []
    in_threads(lambda i: done.append((i, threading.get_ident())), 3, 1, Stop())
    assert done == [(i, threading.get_ident()) for i in range(3)]


def test_exception_stops_the_other_tasks():
    stop, done = Stop(), []

    def run(i):
        done.append(i)
        if i == 0:
            raise OSError("lost")
        assert is_set_within(stop, 30)

    with pytest.raises(OSError, match="lost"):
        in_threads(run, 100, 4, stop)
    assert stop.is_set() and len(done) <= 4


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
@pytest.mark.parametrize("moments", [50, pytest.param(2000, marks=pytest.mark.slow)])
def test_ctrl_c_leaves_no_thread_running(moments):
    """Ctrl-C may come at any moment; a thread must not wait for a lock that is never released."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    rng, stopped = np.random.default_rng(4), 0
    try:
        for moment in rng.uniform(1e-5, 2e-3, moments):
            stop, working = Stop(), []

            def run(i, stop=stop, working=working):
                working.append(None)
                is_set_within(stop, 2e-3)
                working.pop()

            try:
                signal.setitimer(signal.ITIMER_REAL, moment)
                in_threads(run, 3, 3, stop)
                time.sleep(5e-3)
            except KeyboardInterrupt:
                stopped += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            assert not working
    finally:
        signal.signal(signal.SIGALRM, before)
    assert stopped > 0.9 * moments
