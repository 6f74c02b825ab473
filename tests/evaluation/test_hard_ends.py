"""best_of where exceptions are odd, disks full and files new to many at once."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

import pybandit as pb
from pybandit.evaluation import _calls

from evaluation.judges import GIVEN, SCORES, K, N


@pytest.fixture(autouse=True)
def _quickly(monkeypatch):
    monkeypatch.setattr(_calls, "FIRST_WAIT", 0.001)


# -- exceptions that loops take for their own -------------------------------------


@pytest.mark.parametrize("error", [StopIteration, StopAsyncIteration])
@pytest.mark.parametrize("kind", ["threads", "executor", "awaited"])
def test_the_end_of_an_iterator_is_no_answer(error, kind):
    """As of next() on an empty one: in Python 3.11 asyncio never woke up for it."""
    begun = []

    def score(model, item):
        begun.append(item)
        if len(begun) == 20:
            raise error
        return float(SCORES[item, model])

    async def awaited(model, item):
        await asyncio.sleep(0)
        return score(model, item)

    async def in_time():
        with ThreadPoolExecutor(4) as pool:
            options = {"threads": {}, "executor": dict(executor=pool), "awaited": {}}[kind]
            await asyncio.wait_for(pb.best_of_async(
                awaited if kind == "awaited" else score, K, N, concurrency=8, **options, **GIVEN),
                20)

    with pytest.raises(RuntimeError, match=f"raised {error.__name__}") as caught:
        asyncio.run(in_time())
    assert isinstance(caught.value.__cause__, error) and len(caught.value.paid) > 5


@pytest.mark.parametrize("kind", ["awaited", "threads", "failed for good", "no executor"])
def test_what_an_exception_was_raised_from_stays(kind):
    """Who reads that a judge failed wants to know of what."""
    def fails(*cell):
        try:
            try:
                raise KeyError("the key")
            except KeyError as error:
                raise OSError("the line") from error
        except OSError:
            raise ConnectionError("the call")  # noqa: B904

    async def awaited(model, item):
        await asyncio.sleep(0)
        fails()

    options = {"awaited": {}, "threads": dict(concurrency=2), "no executor": dict(executor=fails),
               "failed for good": dict(concurrency=2, retry=OSError)}[kind]
    with pytest.raises(ConnectionError, match="the call") as caught:
        pb.best_of(awaited if kind == "awaited" else fails, K, N, **options, **GIVEN)
    assert repr(caught.value.__context__) == "OSError('the line')"
    assert not caught.value.__suppress_context__
    assert repr(caught.value.__context__.__cause__) == "KeyError('the key')"
