"""Time per call of functions that `best_of` calls once per item, compared with bare calls.

Run with ``make bench``. All models are equal, so every score is requested: a call's time holds its
share of the race. The functions take no time themselves. The aims are 40 us per call of a plain
function and 50 us per call of an async one.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

import pybandit as pb

from native import size

N_ITEMS, N_MODELS = size(1000, 30), size(10, 4)
CONCURRENCY = 64


def plain(model, item):
    return (item * 7919 % 101) / 101


async def at_once(model, item):
    return plain(model, item)


async def after_others(model, item):
    """Let the other tasks run, as an answer of the network does."""
    await asyncio.sleep(0)
    return plain(model, item)


def ours(judge):
    calls = pb.evaluation.Calls(concurrency=CONCURRENCY)
    result = pb.best_of(judge, N_MODELS, N_ITEMS, value_range=(0, 1), calls=calls, rng=1,
                        progress=False)
    assert result.n_pulls == N_MODELS * N_ITEMS


def bare_pool():
    with ThreadPoolExecutor(CONCURRENCY) as pool:
        futures = [pool.submit(plain, model, item)
                   for item in range(N_ITEMS) for model in range(N_MODELS)]
        return [future.result() for future in futures]


def bare_tasks(judge):
    async def run():
        free = asyncio.Semaphore(CONCURRENCY)

        async def one(model, item):
            async with free:
                return await judge(model, item)

        return await asyncio.gather(*[one(model, item) for item in range(N_ITEMS)
                                      for model in range(N_MODELS)])

    return asyncio.run(run())


@pytest.mark.parametrize("role", ["bare pool", "best_of"])
def test_plain_function(timed, role):
    """Time per call of a plain function in threads."""
    run = bare_pool if role == "bare pool" else lambda: ours(plain)
    timed(f"a call of a plain function, concurrency {CONCURRENCY}", role, run,
          per=N_ITEMS * N_MODELS, rounds=5)


@pytest.mark.parametrize("judge", [at_once, after_others])
@pytest.mark.parametrize("role", ["bare asyncio", "best_of"])
def test_async_function(timed, judge, role):
    """Time per call of an async function."""
    run = bare_tasks if role == "bare asyncio" else ours
    timed(f"a call of an async function that answers {judge.__name__.replace('_', ' ')}", role,
          lambda: run(judge), per=N_ITEMS * N_MODELS, rounds=5)
