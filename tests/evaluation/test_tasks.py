"""Tasks of calls in asyncio: exceptions and cancellations end all of them."""

import asyncio
import contextvars
import time

import pytest

import pybandit as pb
from pybandit.evaluation import _calls
from pybandit.evaluation._drive import RaceDriver

from evaluation.grouped import grouped
from evaluation.judges import GIVEN, SCORES, K, N

NAME = contextvars.ContextVar("name", default="none")


class Odd(BaseException):
    """Not an Exception."""


def race(judge, **options):
    return pb.best_of_async(judge, K, **grouped(N, concurrency=4, **options, **GIVEN))


def others(*tasks):
    return asyncio.all_tasks() - {asyncio.current_task(), *tasks}


def test_base_exception_of_judge_is_raised_and_no_task_is_left():
    async def judge(model, item):
        await asyncio.sleep(0 if len(seen) < 10 else 100)
        seen.append(item)
        if len(seen) == 10:
            raise Odd
        return float(SCORES[item, model])

    async def run():
        with pytest.raises(Odd):
            await asyncio.wait_for(race(judge), 20)
        assert not others() and asyncio.current_task().cancelling() == 0

    seen = []
    asyncio.run(run())
    assert len(seen) < 14


def test_call_cancelled_between_tries_stops_race(monkeypatch):
    monkeypatch.setattr(_calls, "FIRST_WAIT", 50.0)

    async def judge(model, item):
        asked.append(item)
        if len(asked) > 5:
            raise OSError("no answer")
        return float(SCORES[item, model])

    async def run():
        running = asyncio.create_task(race(judge, retry=OSError))
        while len(asked) < 9:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.01)
        others(running).pop().cancel()
        with pytest.raises(RuntimeError, match="stopped before its end") as caught:
            await asyncio.wait_for(running, 20)
        assert len(caught.value.store) == 5 and not others()

    asked = []
    asyncio.run(run())


@pytest.mark.parametrize("end", ["cancelled", "timeout"])
def test_judge_that_ignores_cancellation_is_cancelled_again(end):
    async def judge(model, item):
        for _ in range(3):
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                ignored.append(item)
        await asyncio.sleep(100)

    async def run():
        running = asyncio.create_task(race(judge))
        await asyncio.sleep(0.05)
        if end == "cancelled":
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
        else:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(running, 0.05)
        assert not others()

    ignored = []
    asyncio.run(run())
    assert len(ignored) == 12


def test_each_call_has_a_context_of_its_own():
    async def judge(model, item):
        before.add(NAME.get())
        NAME.set(f"{model}, {item}")
        await asyncio.sleep(0)
        assert NAME.get() == f"{model}, {item}"
        return float(SCORES[item, model])

    async def run():
        NAME.set("caller")
        return await race(judge)

    before = set()
    assert asyncio.run(run()).n_pulls > 20
    assert before == {"caller"}


def test_answers_whose_tasks_have_not_started_are_kept(monkeypatch):
    """Answers other than floats are read by tasks, which may be cancelled before they start."""
    def stopped(self, answers):
        raise KeyError("stopped")

    def judge(model, item):
        asked.append((model, item))
        return item % 2  # not a float

    monkeypatch.setattr(RaceDriver, "_take", stopped)
    asked, paid = [], {}
    with pytest.raises(KeyError, match="stopped"):
        asyncio.run(race(judge, store=paid))
    end = time.monotonic() + 10
    while len(paid) < len(asked) and time.monotonic() < end:
        time.sleep(0.002)
    assert paid == {(model, item): item % 2 for model, item in asked}
