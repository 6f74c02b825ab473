"""best_of with concurrent calls: equal to the serial race; retries, failures, interrupts."""

import asyncio
import collections
import pathlib
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pybandit as pb
from pybandit.evaluation import _calls, _drive

from betting.races import assert_says, frozen
from evaluation.grouped import grouped
from evaluation.judges import GIVEN, SCORES, Judge, K, N, cost, in_blocks, models_for

OPTIONS = [{}, {"k": 2}, {"budget": 150}, {"costs": "told"}, {"costs": "told", "max_cost": 200.0},
           {"epsilon": 0.05, "max_pulls": 300}, {"prior_scores": SCORES[:, :2]},
           {"weights": np.arange(N) % 5 + 1.0}, {"block_size": 1}]
CAPPED = "budget", "max_cost", "max_pulls"


@pytest.fixture(autouse=True)
def _quickly(monkeypatch):
    monkeypatch.setattr(_calls, "FIRST_WAIT", 0.001)


def state(result):
    return frozen({name: part for name, part in result._race.get_state().items()
                   if name != "ahead"})


def best(score, **options):
    return pb.best_of(score, models_for(options), **grouped(N, **{**GIVEN, **options}))


@pytest.mark.some(3)
@pytest.mark.parametrize("options", OPTIONS, ids=repr)
@pytest.mark.parametrize("kind", ["awaited", "call"])
def test_concurrent_result_equals_serial_race(kind, options):
    told = options.get("costs") == "told"
    expected = best(in_blocks(told), **options)
    for concurrency in (1, 7, 64):
        judge = Judge(told=told, seconds=0.0005, seed=concurrency)
        found = best(getattr(judge, kind), concurrency=concurrency, **options)
        assert state(found) == state(expected) and found.items.tolist() == expected.items.tolist()
        assert (found.best_arms.tolist(), found.cost) == (expected.best_arms.tolist(),
                                                          expected.cost)
        assert judge.most_out <= concurrency and len(set(judge.asked)) == len(judge.asked)
        n_started = found.n_pulls + found.n_wasted  # at most: threads may not start the last
        assert n_started - concurrency * (kind == "call") <= len(judge.asked) <= n_started
        if any(name in options for name in CAPPED):
            assert found.n_wasted == 0


def test_best_of_async_works_in_running_loop():
    judge = Judge()

    async def choose():
        with pytest.raises(RuntimeError, match=r"await pb.best_of_async\(...\)"):
            best(judge.awaited)
        return await pb.best_of_async(judge.awaited, K, N, **GIVEN)

    assert state(asyncio.run(choose())) == state(best(in_blocks()))


def test_callable_object_with_async_call_is_awaited():
    class Awaited(Judge):
        async def __call__(self, model, item):
            return await self.awaited(model, item)

    assert state(best(Awaited())) == state(best(in_blocks()))


# -- failures ---------------------------------------------------------------------


def every(n, error):
    return lambda i, model, item: error("no answer") if i % n == n - 1 else None


@pytest.mark.parametrize("kind", ["awaited", "call"])
def test_temporary_failures_are_retried(kind):
    fifth = every(5, ConnectionError)
    judge = Judge(lambda n, *cell: fifth(n, *cell) if judge.asked.count(cell) < 5 else None)
    found = best(getattr(judge, kind), concurrency=16, retry=(ConnectionError, OSError))
    assert state(found) == state(best(in_blocks()))
    assert len(judge.asked) > len(set(judge.asked))


@pytest.mark.filterwarnings("ignore:.*calls that failed")
def test_after_five_tries_race_stops_or_failed_counts():
    def fails(n, model, item):
        return ConnectionError("never") if item == bad_item else None

    bad_item = int(best(in_blocks()).items[9])
    judge, paid = Judge(fails), {}
    with pytest.raises(ConnectionError, match="never") as caught:
        best(judge.awaited, concurrency=4, retry=ConnectionError, store=paid)
    assert max(judge.asked.count((model, bad_item)) for model in range(K)) == 5
    assert caught.value.store is paid and len(paid) > 20
    again = Judge(fails)
    found = best(again.awaited, concurrency=4, retry=ConnectionError, failed=0.0, store=paid)
    table = SCORES.copy()
    table[bad_item] = 0.0
    assert state(found) == state(pb.best_of(table, **GIVEN))
    assert paid[0, bad_item] == 0.0
    assert not {cell for cell in again.asked if cell[1] != bad_item} & (
        {cell for cell in judge.asked if cell[1] != bad_item and cell in paid} - set(again.asked))


@pytest.mark.filterwarnings("ignore:.*calls that failed")
@pytest.mark.parametrize("is_awaited", [False, True])
def test_checks_of_threads_leave_later_tries_alone(monkeypatch, is_awaited):
    """Calls that wait for a try, or for an awaitable that they returned, are reported once."""
    monkeypatch.setattr(_drive, "SETTLE", 0.0005)
    monkeypatch.setattr(_calls, "FIRST_WAIT", 0.01)
    judge = Judge(lambda n, model, item: OSError("no answer") if item % 4 == 0 else None)
    call = judge.awaited if is_awaited else judge.call
    found = best(lambda model, item: call(model, item), concurrency=8, retry=OSError, failed=0.0)
    table = SCORES.copy()
    table[::4] = 0.0
    assert state(found) == state(pb.best_of(table, **GIVEN))
    tries = collections.Counter(judge.asked)
    assert {n for cell, n in tries.items() if cell[1] % 4} == {1}
    assert max(tries.values()) == 5 and found.n_failed_by_arm.sum() > 5


def test_exception_not_in_retry_stops_race():
    judge = Judge(lambda n, model, item: KeyError("bug") if n == 30 else None)
    with pytest.raises(KeyError, match="bug") as caught:
        best(judge.awaited, concurrency=8, retry=ConnectionError, failed=0.0)
    known = caught.value.store
    assert all(known[cell] == SCORES[cell[::-1]] for cell in known)
    assert 30 - 8 <= len(known) <= len(judge.asked)


def test_unanswered_call_times_out():
    judge = Judge(seconds=0.0001)
    judge.times[::40] = 1000.0
    began = time.monotonic()
    found = best(judge.awaited, concurrency=16, timeout=0.2, retry=TimeoutError)
    assert time.monotonic() - began < 60 and state(found) == state(best(in_blocks()))
    never = Judge()
    never.times[:] = 1000.0
    with pytest.raises(TimeoutError):
        best(never.awaited, concurrency=16, timeout=0.01)


@pytest.mark.filterwarnings("ignore:.*calls that failed")
def test_failed_with_told_costs_is_a_tuple():
    always = Judge(lambda n, model, item: ConnectionError() if item % 3 == 0 else None, told=True)
    found = best(always.awaited, costs="told", failed=(0.0, 2.5), retry=ConnectionError)
    table, prices = SCORES.copy(), cost(np.arange(K), np.arange(N)[:, None])
    table[::3], prices[::3] = 0.0, 2.5
    expected = best(lambda model, items: (table[items, model], prices[items, model]),
                    costs="told")
    assert state(found) == state(expected) and found.cost == expected.cost


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1.5, "x", None, [0.5], (0.5, 1.0)])
def test_bad_answer_is_refused_and_others_are_stored(bad):
    bad_item = int(best(in_blocks()).items[12])

    async def judge(model, item):
        return bad if item == bad_item else float(SCORES[item, model])

    with pytest.raises((ValueError, TypeError), match="score") as caught:
        best(judge, concurrency=8)
    assert len(caught.value.store) > 20
    assert all(item != bad_item for _, item in caught.value.store)


def test_per_minute_limits_calls_and_retries():
    """Calls are evenly spaced, and retries count as calls."""
    times = []

    async def judge(model, item):
        times.append(time.monotonic())
        if len(times) % 9 == 0:
            raise ConnectionError
        return float(SCORES[item, model])

    best(judge, per_minute=60_000, retry=ConnectionError, max_pulls=100)
    assert len(times) > 105 and times[-1] - times[0] >= (len(times) - 1) * 0.001 - 0.0011


# -- interrupts at any moment -------------------------------------------------------------


def test_cancelled_task_keeps_paid_scores():
    judge, paid = Judge(seconds=0.004), {}

    async def choose():
        task = asyncio.create_task(pb.best_of_async(judge.awaited, K, N, store=paid, **GIVEN))
        while len(judge.asked) < 100:  # the race needs about 150 calls
            await asyncio.sleep(0.001)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(choose())
    assert paid and len(paid) >= len(judge.asked) - 64
    again, known = Judge(), set(paid)
    assert state(best(again.awaited, store=paid)) == state(best(in_blocks()))
    assert not set(again.asked) & known


INTERRUPTED = """
import os, signal, sys
from concurrent.futures import ThreadPoolExecutor
import pybandit as pb
from evaluation.judges import GIVEN, Judge, K, N

def fails(n, model, item):
    if n == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGINT)

kind, judge, paid = sys.argv[1], Judge(fails, seconds=0.004), {}
with ThreadPoolExecutor(16) as pool:
    try:
        pb.best_of(getattr(judge, kind), K, N, store=paid, **GIVEN,
                   calls=pb.Calls(concurrency=16, executor=pool if kind == "call" else None))
        raise SystemExit("it ended before")
    except KeyboardInterrupt as error:
        assert error.store is paid
    again = Judge(seconds=0.0)
print(len(paid), len(judge.asked), len(set(paid) & set(judge.asked)))
known = set(paid)
pb.best_of(again.awaited, K, N, store=paid, **GIVEN)
assert not set(again.asked) & known
"""


@pytest.mark.some(2)
@pytest.mark.parametrize("kind", ["awaited", "call"])
@pytest.mark.parametrize("n", [40, 150])
def test_ctrl_c_keeps_paid_scores(kind, n):
    """Answers of threads that come after Ctrl-C are stored, too."""
    ran = subprocess.run([sys.executable, "-c", INTERRUPTED, kind, str(n)], text=True,
                         capture_output=True, timeout=60, cwd=pathlib.Path(__file__).parents[1])
    assert ran.returncode == 0, ran.stderr
    n_paid, n_asked, n_both = map(int, ran.stdout.split())
    assert n_paid == n_both >= (n_asked if kind == "call" else n_asked - 16) and n_paid > 0


# -- invalid options --------------------------------------------------------------


@pytest.mark.parametrize("options, error, words", [
    (dict(concurrency=0), ValueError, ["concurrency", "0"]),
    (dict(concurrency=2.5), TypeError, ["concurrency", "2.5"]),
    (dict(executor=3), TypeError, ["executor", "submit", "3"]),
    (dict(concurrency=2, retry="TimeoutError"), TypeError, ["retry", "TimeoutError"]),
    (dict(concurrency=2, retry=[OSError]), TypeError, ["retry"]),
    (dict(concurrency=2, retry=KeyboardInterrupt), TypeError, ["retry"]),
    (dict(concurrency=2, timeout=0), ValueError, ["timeout"]),
    (dict(concurrency=2, per_minute=-1), ValueError, ["per_minute"]),
    (dict(concurrency=2, failed=1.5), ValueError, ["failed", "1.5"]),
    (dict(concurrency=2, failed=(0.5, 0.5)), ValueError, ["failed"]),
    (dict(timeout=3.0), ValueError, ["must have concurrency or executor for timeout"]),
    (dict(failed=0.0), ValueError, ["must have concurrency or executor for failed"])])
def test_inapplicable_call_options_are_refused(options, error, words):
    with pytest.raises(error) as caught:
        best(in_blocks(), **options)
    assert_says(caught.value, *words)


def test_executor_with_async_function_is_refused():
    with pytest.raises(ValueError, match="executor must be left out with an async function"):
        best(Judge().awaited, executor=ThreadPoolExecutor(1))
    with pytest.raises(ValueError, match="concurrency of Calls must be left out unless"):
        pb.best_of(SCORES, calls=pb.Calls(concurrency=3), **GIVEN)


def test_slow_call_limits_reading_ahead():
    concurrency, n_started, most = 4, 0, 0

    async def score(model, item):
        nonlocal n_started, most
        n_started += 1
        if n_started == 1:
            for _ in range(2_000):  # hundreds of other calls could start in this time
                await asyncio.sleep(0)
            most = n_started
        return SCORES[item, model]

    best(score, concurrency=concurrency)
    block = 4 * K
    assert block + 4 * concurrency <= most <= block + 6 * concurrency
