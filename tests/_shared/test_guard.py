"""The guard of objects that calls mutate: it refuses instead of waiting, also after a fork."""

import os
import threading

import pytest

from pybandit._shared.guard import Guard


class Thing:
    pass


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


def test_child_of_a_fork_does_not_inherit_guards_of_threads():
    guard, held, over = Guard(Thing), threading.Event(), threading.Event()

    def hold():
        with guard:
            held.set()
            over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if not child:
        status = 1
        try:
            with guard:
                status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert "another thread" in refusal(guard)
    over.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0


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
