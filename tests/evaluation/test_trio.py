"""best_of_async under trio: async and plain functions, executors, failures, cancellation."""

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

import pybandit as pb
from pybandit.evaluation import _calls

from evaluation.grouped import grouped
from evaluation.judges import GIVEN, SCORES, Judge, K, N, in_blocks

trio = pytest.importorskip("trio")
EXPECTED = pb.best_of(in_blocks(), K, N, **GIVEN)


def choose(score, **options):
    async def run():
        return await pb.best_of_async(score, K, **grouped(N, **{**GIVEN, **options}))

    return trio.run(run)


async def awaited(model, item):
    await trio.sleep(0.0005)
    return SCORES[item, model]


@pytest.mark.parametrize("score", [awaited, Judge().call], ids=["async", "plain"])
def test_async_and_plain_functions_give_same_answer(score):
    found = choose(score, concurrency=8)
    assert found.best_arms.tolist() == EXPECTED.best_arms.tolist()
    assert found.n_pulls == EXPECTED.n_pulls


@pytest.mark.parametrize("options", [{}, {"timeout": 30.0}], ids=repr)
def test_executors_give_same_answer(options):
    with ThreadPoolExecutor(3) as pool:
        found = choose(Judge().call, executor=pool, **options)
    assert found.n_pulls == EXPECTED.n_pulls


def test_failures_are_retried(monkeypatch):
    monkeypatch.setattr(_calls, "FIRST_WAIT", 0.001)
    failed = set()

    def fails(i, model, item):  # the first call for every fifth score, in any order of the calls
        if (model + item) % 5 == 4 and (model, item) not in failed:
            failed.add((model, item))
            return OSError("no")
        return None

    judge = Judge(fails=fails)
    assert choose(judge.call, retry=OSError).n_pulls == EXPECTED.n_pulls


def test_unanswered_call_fails_at_timeout():
    released = threading.Event()

    def judge(model, item):
        released.wait(20)
        return 0.5

    try:
        with pytest.raises(TimeoutError):
            choose(judge, timeout=0.1)
    finally:
        released.set()


def test_cancelled_task_ends():
    async def run():
        with trio.move_on_after(0.2) as scope:
            await pb.best_of_async(lambda model, item: time.sleep(0.05) or 0.5, K, **grouped(N,
                                   **{**GIVEN, "concurrency": 2}))
        return scope.cancelled_caught

    assert trio.run(run)


def test_cancelled_future_is_a_lost_call(monkeypatch):
    monkeypatch.setattr(_calls, "FIRST_WAIT", 0.001)

    class Cancels:
        def submit(self, function, *args):
            future = Future()
            future.cancel()
            return future

    with pytest.raises(_calls.LostCall, match="cancelled by other code than best_of"):
        choose(Judge().call, executor=Cancels())
