"""No call hangs if memory runs out, or a thread cannot be started."""

import _thread
import importlib.util
import os
import pathlib
import subprocess
import sys
import threading
import time

import pytest

import low_memory
from pybandit._shared.threads import in_threads
from pybandit._shared.worker import Stop, Worker

PROGRAM = pathlib.Path(low_memory.__file__)
linux = pytest.mark.skipif(sys.platform != "linux" or hasattr(sys, "_is_gil_enabled"),
                           reason="needs RLIMIT_AS and /proc; not tried on Python 3.13 or later")


def run(name):
    done = subprocess.run([sys.executable, PROGRAM, name], text=True, capture_output=True,
                          timeout=240, env=os.environ | {"PYTHONPATH": ":".join(sys.path),
                                                         "OPENBLAS_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    return low_memory.json.loads(done.stdout)


@linux
@pytest.mark.skipif("san" in os.environ.get("LD_PRELOAD", ""), reason="they reserve terabytes")
@pytest.mark.parametrize("name", low_memory.CALLS)
def test_calls_end_when_the_address_space_is_limited(name):
    found = run(name)
    assert sum(found["errors"].values()) >= 3 and set(found["errors"]) <= {
        "MemoryError", "RuntimeError"}
    assert found["longest"] < 10


@linux
@pytest.mark.skipif(importlib.util.find_spec("_testcapi") is None, reason="no _testcapi")
@pytest.mark.parametrize("name", low_memory.ALLOCATING)
def test_threads_end_when_any_allocation_fails(name):
    assert set(run(name)["errors"]) == {"MemoryError"}


def refused(*arguments):
    raise RuntimeError("can't start new thread")


@pytest.mark.parametrize("n_started", [0, 1, 2])
def test_threads_that_started_end_if_another_cannot(monkeypatch, n_started):
    start, stop, left = _thread.start_new_thread, Stop(), []

    def some(*arguments):
        if len(left) == n_started:
            refused()
        left.append(arguments)
        return start(*arguments)

    monkeypatch.setattr(_thread, "start_new_thread", some)
    before = threading.active_count()
    with pytest.raises(RuntimeError, match="can't start new thread"):
        in_threads(lambda i: None, 10**9, 3, stop)
    assert stop.is_set() and len(left) == n_started and threading.active_count() == before


@pytest.mark.parametrize("name", low_memory.CALLS)
def test_calls_raise_if_no_thread_can_be_started(monkeypatch, name):
    with monkeypatch.context() as patched:
        patched.setattr(_thread, "start_new_thread", refused)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            low_memory.CALLS[name]()
    assert low_memory.CALLS[name]() == low_memory.CALLS[name]()


@pytest.mark.parametrize("error", [RuntimeError, MemoryError])
def test_a_worker_that_could_not_start_has_no_thread(monkeypatch, error):
    """If memory runs out after the start, the task runs, or never does."""
    done = []

    def late(function, arguments):
        start(function, arguments)
        raise error("after the start")

    start = _thread.start_new_thread
    for patch in (late, refused):
        worker = Worker(lambda: done.append(1))
        with monkeypatch.context() as patched:
            patched.setattr(_thread, "start_new_thread", patch)
            with pytest.raises((RuntimeError, MemoryError)):
                worker.start()
        n = len(done)
        assert worker.wait(30.0)
        time.sleep(0.05)
        assert len(done) == (n if not worker.over else 1)
        with pytest.raises(RuntimeError, match="can be started only once"):
            worker.start()


def test_threads_that_read_their_name_are_not_listed_afterwards():
    names = []
    in_threads(lambda i: names.append(threading.current_thread().name), 3, 3, Stop())
    assert len(names) == 3
    assert not [thread for thread in threading.enumerate()
                if isinstance(thread, threading._DummyThread)]
