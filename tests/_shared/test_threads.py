"""Threads that end, whatever comes between."""

import signal
import threading
import time

import numpy as np
import pytest

from pybandit._shared.threads import in_threads


def test_every_thread_works_once():
    came, lock = [], threading.Lock()

    def work():
        with lock:
            came.append(threading.get_ident())

    in_threads(work, 5, threading.Event())
    assert len(came) == 5 and threading.get_ident() not in came


def test_what_one_raises_stops_the_others():
    stop, first = threading.Event(), threading.Semaphore(1)

    def work():
        if first.acquire(blocking=False):
            raise OSError("lost")
        assert stop.wait(30)

    with pytest.raises(OSError, match="lost"):
        in_threads(work, 4, stop)
    assert stop.is_set()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
@pytest.mark.parametrize("moments", [50, pytest.param(2000, marks=pytest.mark.slow)])
def test_ctrl_c_leaves_no_thread_behind(moments):
    """At any moment: what waits for a lock that the interrupt left shut waits for ever."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    rng, stopped = np.random.default_rng(4), 0
    try:
        for moment in rng.uniform(1e-5, 2e-3, moments):
            stop, working = threading.Event(), []

            def work(stop=stop, working=working):
                working.append(None)
                stop.wait(2e-3)
                working.pop()

            try:
                signal.setitimer(signal.ITIMER_REAL, moment)
                in_threads(work, 3, stop)
                time.sleep(5e-3)
            except KeyboardInterrupt:
                stopped += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            assert not working
    finally:
        signal.signal(signal.SIGALRM, before)
    assert stopped > 0.9 * moments
