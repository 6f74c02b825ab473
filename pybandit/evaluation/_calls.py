"""Calls of a score function, one item per call: rate limit, timeout and retries."""

import asyncio
import inspect
import math
from concurrent.futures import BrokenExecutor
from typing import Any, NamedTuple

import numpy as np

from pybandit._shared.call_threads import give_up
from pybandit._shared.checks import check_numeric, shown
from pybandit._shared.optional import require
from pybandit.evaluation._keys import Keys
from pybandit.evaluation._workers import LostCall, NotStarted, Workers, answer_of, workers_of
from pybandit.evaluation.options import CONCURRENCY, one_by_one

# Maximum number of times that a call is made: for exceptions in `retry`, and for calls whose
# worker died. If one worker of a process pool dies, all calls of the pool are lost.
ATTEMPTS, LOST = 5, 10
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds


class CallOptions(NamedTuple):
    """Checked options for calls of one item; `failed` has a score and, if told, a cost."""

    concurrency: int
    executor: Any
    retry: tuple
    timeout: float | None
    per_minute: float | None
    failed: tuple | None


class FailedForGood(Exception):
    """A call that counts as failed, if `failed` is given: its last exception is the cause."""


class NoAnswer(ValueError):
    """Raised for a call that returned None or NaN instead of a number."""


def is_async(score):
    """Return True if calls of `score` must be awaited."""
    return inspect.iscoroutinefunction(score) or inspect.iscoroutinefunction(
        getattr(score, "__call__", None))  # noqa: B004


def call_options(score, calls, parts):
    """Return the checked options for calls of one item; None if scores are read in blocks."""
    if not callable(score) or not (is_async(score) or calls.concurrency is not None
                                   or calls.executor is not None):
        for name, value in one_by_one(calls).items():
            if not callable(score):
                raise ValueError(f"{name} of Calls must be left out unless scores are a function; "
                                 f"got {shown(value)}")
            raise ValueError(f"Calls must have concurrency or executor for {name}, unless scores "
                             f"are an async function; got {name}={shown(value)}")
        return None
    if is_async(score) and calls.executor is not None:
        raise ValueError("executor must be left out with an async function, which is awaited; "
                         f"got {shown(calls.executor)}")
    if calls.timeout is not None and calls.executor is not None and not callable(calls.executor):
        workers_of(calls.executor)
    concurrency = CONCURRENCY if calls.concurrency is None else calls.concurrency
    return CallOptions(concurrency, calls.executor, calls.retry, calls.timeout, calls.per_minute,
                       _failed(calls.failed, parts))


def _failed(failed, parts):
    """Return `failed` as numbers, one per part: a score, perhaps a cost; None if not given."""
    return None if failed is None else numbers_of("failed", failed, parts)


def numbers_of(name, given, parts):
    """Return the value that a call returned as floats, one per part: a score, perhaps a cost."""
    if len(parts) == 1:
        if type(given) is float:  # the usual case
            return (given,)
        number = check_numeric(name, given)
        if number.ndim:
            raise ValueError(f"{name} must be one number; got shape {number.shape}")
        return (float(number),)
    if not isinstance(given, tuple) or len(given) != len(parts):
        raise TypeError(f"{name} must be a tuple ({', '.join(parts)}) with costs='told'; got "
                        f"{type(given).__name__}")
    return tuple(numbers_of(name, part, parts[:1])[0] for part in given)


def is_missing(number):
    """Return True for None and for a scalar that is NaN."""
    if isinstance(number, float):
        return number != number
    if number is None:
        return True
    if isinstance(number, (str, bytes)) or np.ndim(number):
        return False
    try:
        return math.isnan(number)
    except (TypeError, ValueError, OverflowError):  # not a number: its error is raised later
        return False


class Calls:
    """Makes calls within the rate limit and the timeout, and repeats those that fail."""

    def __init__(self, score, options, parts, keys=None):
        self.anyio, self.tenacity = require("anyio", "async"), require("tenacity", "async")
        self.score, self.options, self.parts = score, options, parts
        self._keys = Keys() if keys is None else keys
        # by cell: calls in threads or an executor, awaited by tasks; calls without a task
        self.futures, self.direct = {}, {}
        self.started = set()  # cells whose calls have started
        self._awaited, self._next_turn = is_async(score), 0.0
        self._workers = Workers(self.anyio, options)
        self.group = None  # of the tasks that await the calls

    async def result(self, model, item, first=None):
        """Return the numbers of a cell; raise `FailedForGood` or the exception of the call.

        `first` is the future of the first try if that has already run.
        """
        try:
            given = await self._tried(model, item, first)
        except NotStarted as error:
            not_started = error.__cause__
        except Exception as error:
            if self._may_be_given_up(error) and not is_lost(error):
                raise FailedForGood from error
            raise
        else:
            return self.numbers(model, item, given)
        raise not_started

    async def _tried(self, model, item, first):
        """Return the answer of the first try, or of the next ones if that fails."""
        try:
            if first is None:
                given = await self._once(model, item)
            else:
                given = await self._answer((model, item), first)
            self._check_answered(model, item, given)
            return given
        except Exception as error:
            failure = error
        # outside the handler, so that the context of exceptions is kept
        async for attempt in self._attempts():
            with attempt:
                if failure is not None:  # to the rules for tries, the first one fails again
                    error, failure = failure, None
                    raise error
                given = await self._once(model, item)
                self._check_answered(model, item, given)
        return given

    def numbers(self, model, item, given):
        """Return the value that a call returned, as floats."""
        return numbers_of(self.name(model, item), given, self.parts)

    def name(self, model, item):
        return f"score({self._keys.model(model)!r}, {item})"

    def _is_passing(self, error):
        """Return True if a worker died and can be replaced; a pool of the caller cannot be."""
        return is_lost(error) and (self._workers.own or not isinstance(error, BrokenExecutor))

    def _check_answered(self, model, item, given):
        """Raise NoAnswer if a score, or its cost, is None or NaN."""
        if type(given) is float and given == given:
            return  # the usual case
        parts = given if isinstance(given, tuple) and len(self.parts) > 1 else (given,)
        if any(map(is_missing, parts)):
            raise NoAnswer(f"{self.name(model, item)} must return a number"
                           f"{' and its cost' * (len(self.parts) > 1)}; got {shown(given)}: pass "
                           "retry= to repeat such calls, failed= to give them a score")

    def _may_be_given_up(self, error):
        if isinstance(error, NoAnswer):
            return bool(self.options.retry) or self.options.failed is not None
        return isinstance(error, self.options.retry) or (
            isinstance(error, TimeoutError) and self.options.timeout is not None)

    def _attempts(self):
        """Return the tries of one call.

        The pauses between them are drawn from intervals that double in length.
        """
        tenacity, lost = self.tenacity, 0

        def again(state):
            nonlocal lost
            error = state.outcome.exception()
            if is_lost(error):
                lost += 1
                return self._is_passing(error) and lost < LOST
            named = isinstance(error, (*self.options.retry, NoAnswer) if self.options.retry else ())
            return (named and not isinstance(error, NotStarted)
                    and state.attempt_number - lost < ATTEMPTS)

        return tenacity.AsyncRetrying(
            retry=again, reraise=True, sleep=self.anyio.sleep,
            wait=tenacity.wait_random_exponential(multiplier=FIRST_WAIT, max=LONGEST_WAIT))

    async def _once(self, model, item):
        if not self._awaited:
            return await self._in_worker(model, item)
        if self.options.per_minute is not None:
            await self._wait_turn()
        self.started.add((model, item))
        return await self._in_time(self.score(self._keys.model(model), item))

    async def _in_time(self, awaitable):
        """Await an answer, within the timeout if there is one."""
        if self.options.timeout is None:
            return await self._not_cancelled(awaitable)
        with self.anyio.fail_after(self.options.timeout):
            return await self._not_cancelled(awaitable)

    async def _not_cancelled(self, awaitable):
        """Await an answer; raise LostCall if other code cancelled it."""
        try:
            return await awaitable
        except asyncio.CancelledError as error:
            # by the end of the race, or by a scope that the timeout or the caller has made
            if self.group.is_cancelled or self.anyio.current_effective_deadline() == -math.inf:
                raise
            raise LostCall("a call was cancelled by other code than best_of") from error
        except StopAsyncIteration as error:  # it would end the loop over the tries
            raise RuntimeError("score raised StopAsyncIteration") from error

    async def _wait_turn(self):
        """Wait until the limit of calls per minute allows one more."""
        if self.options.per_minute is None:
            return
        now = self.anyio.current_time()
        turn = max(now, self._next_turn)
        self._next_turn = turn + 60.0 / self.options.per_minute
        await self.anyio.sleep(turn - now)

    async def _in_worker(self, *cell):
        try:
            given = self._keys.model(cell[0]), *cell[1:]
            async with self._workers.call(self._wait_turn, self.score, *given) as future:
                try:
                    return await self._answer(cell, future)
                finally:
                    if not future.cancel():  # if it can be cancelled, it has not started
                        self.started.add(cell)
        except BrokenExecutor as error:
            if not (self._workers.own or getattr(error, "__notes__", None)):  # shared by all calls
                error.add_note("a worker died, which broke the pool: pass as executor a function "
                               "that makes the pool, so that it can be replaced")
            raise

    async def _answer(self, cell, future):
        self.futures[cell] = future
        await self._workers.wait_started(future)
        try:
            given = await self._in_time(self._returned(future))
        except TimeoutError:
            give_up(future)
            future.add_done_callback(close_unawaited)
            del self.futures[cell]
            raise
        del self.futures[cell]
        return given

    async def _returned(self, future):
        given = await answer_of(self.anyio, future)
        # a function may return a coroutine
        return await given if inspect.isawaitable(given) else given

    # -- calls without a task ----------------------------------------------------

    @property
    def need_no_task(self):
        """True if calls only run in threads of our own: nothing limits their start or time."""
        own = self.options
        return not self._awaited and (own.executor, own.timeout, own.per_minute) == (None,) * 3

    def start(self, cell, ended):
        """Start a call in a thread, which calls ``ended(future)`` at its end."""
        future = self._workers.start(self.score, self._keys.model(cell[0]), *cell[1:])
        self.direct[cell] = future
        self.started.add(cell)
        future.add_done_callback(ended)

    def quick(self, future):
        """Return the numbers of a call that ended with floats; None for any other end."""
        if future.cancelled() or future.exception() is not None:
            return None
        given = future.result()
        parts = given if len(self.parts) > 1 else (given,)
        if type(parts) is tuple and len(parts) == len(self.parts) and all(
                isinstance(part, float) and part == part for part in parts):
            return tuple(map(float, parts))
        return None

    def settled(self):
        """Return cells and futures of calls without a task that have ended.

        They are reported by callbacks, too, which fail without memory.
        """
        for future in self.direct.values():
            future.settle()
        return [(cell, future) for cell, future in self.direct.items() if future.done()]

    def close(self):
        """Cancel calls that have not started, without waiting for the others."""
        self._workers.close()
        self.started -= {cell for cell, future in self.direct.items() if future.cancelled()}


def close_unawaited(future):
    """Close a coroutine that the call returned and that will never be awaited."""
    if not future.cancelled() and future.exception() is None and (
            inspect.iscoroutine(future.result())):
        future.result().close()


def is_lost(error):
    """Return True if the worker died; exceptions of other packages are recognised by name."""
    return isinstance(error, (BrokenExecutor, LostCall)) or type(error).__name__ in (
        "KilledWorker", "TerminatedWorkerError")


def finite(numbers, limits):
    """Return True if a race accepts these numbers; others are not stored."""
    low, high = limits
    return (all(map(math.isfinite, numbers)) and low <= numbers[0] <= high
            and all(cost >= 0 for cost in numbers[1:]))


def check_failed(failed, race):
    """Refuse a score of failed calls that the race would not accept."""
    limits = race.value_range if isinstance(race.value_range, tuple) else (-np.inf, np.inf)
    if not finite(failed, limits):
        raise ValueError(f"failed must be a score in value_range = {race.value_range}, and a cost "
                         f"of at least 0 if costs='told'; got {failed}")
