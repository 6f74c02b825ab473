"""The guard of objects that calls mutate: it refuses instead of waiting, also after a fork."""

import contextlib
import os
import threading

import pytest

from pybandit._shared.guard import Guard


class Thing:
    pass


forks = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


def test_guard_is_free_after_each_use():
    guard = Guard(Thing)
    for _ in range(3):
        with guard:
            pass
    with pytest.raises(KeyError), guard:
        raise KeyError
    with guard:
        pass


def test_same_thread_cannot_change_the_object_from_inside():
    guard = Guard(Thing)
    with guard:
        with pytest.raises(RuntimeError, match="this Thing is in use: a function"):
            guard.__enter__()
        seen = []
        other = threading.Thread(target=lambda: seen.append(refusal(guard)))
        other.start()
        other.join()
    assert "by another thread" in seen[0]
    with guard:
        pass


def refusal(guard):
    with pytest.raises(RuntimeError) as raised, guard:
        pass
    return str(raised.value)


def in_child(work):
    """Return True if `work` returns a true value in a forked child process."""
    child = os.fork()
    if not child:
        status = 1
        try:
            status = 0 if work() else 1
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@contextlib.contextmanager
def held_by_a_thread(guard):
    """Let another thread hold the guard."""
    held, over = threading.Event(), threading.Event()

    def hold():
        with guard:
            held.set()
            over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    try:
        yield
    finally:
        over.set()
        thread.join()


def takes(guard):
    with guard:
        return True


@forks
def test_child_of_a_fork_does_not_inherit_guards_of_threads():
    guard = Guard(Thing)
    with held_by_a_thread(guard):
        assert in_child(lambda: takes(guard))
        assert in_child(lambda: in_child(lambda: takes(guard)))
        assert "another thread" in refusal(guard)


@forks
def test_child_of_a_fork_keeps_the_guards_of_its_own_thread():
    guard = Guard(Thing)

    def is_kept():
        seen = []
        other = threading.Thread(target=lambda: seen.append(refusal(guard)))
        other.start()
        other.join()
        return "a function" in refusal(guard) and "another thread" in seen[0]

    with guard:
        assert in_child(is_kept)
        assert in_child(lambda: in_child(is_kept))


@forks
def test_only_one_thread_of_a_child_takes_an_abandoned_guard():
    guard = Guard(Thing)

    def is_taken_once():
        ready, tried, taken = threading.Barrier(4), threading.Barrier(4), []

        def work():
            ready.wait()
            try:
                with guard:
                    taken.append(0)
                    tried.wait()
            except RuntimeError:
                tried.wait()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return len(taken) == 1

    with held_by_a_thread(guard):
        assert all(in_child(is_taken_once) for _ in range(20))


def test_only_one_of_many_threads_holds_the_guard():
    guard, inside, most, refused = Guard(Thing), [], [], []

    def work():
        for _ in range(2000):
            try:
                with guard:
                    inside.append(0)
                    most.append(len(inside))
                    inside.pop()
            except RuntimeError:
                refused.append(0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1 and len(most) + len(refused) == 8000
