"""Call plain functions in threads, or in an executor of the caller.

Timeouts and calls per minute count from the start of a call. Threads start at once. An executor
gets at most as many timed calls at once as it has workers; a worker whose call exceeds the
timeout is not used until that call ends.
"""

import asyncio
import contextlib
import math
import sys
from concurrent.futures import BrokenExecutor, CancelledError, ThreadPoolExecutor

from pybandit._shared.call_threads import Call, Threads
from pybandit._shared.checks import shown
from pybandit._shared.threads import with_context
from pybandit.evaluation._tasks import token_of_trio

LOOK = 0.002  # seconds between two checks whether a call has started
SETTLE = 0.5  # seconds between two checks whether a thread has ended without an answer


class LostCall(Exception):
    """Raised for a call that was cancelled, but not by `best_of`."""


class NotStarted(Exception):
    """Raised if a call could not be started; it does not count as failed. See the cause."""


def workers_of(executor):
    """Return the number of workers of an executor."""
    if not has_workers(executor):
        raise ValueError("timeout must be left out with an executor that does not give its number "
                         "of workers: calls that wait for a worker would time out; got "
                         f"{shown(executor)}")
    return executor._max_workers


def has_workers(executor):
    """Return True if an executor gives its number of workers."""
    n = getattr(executor, "_max_workers", None)
    return isinstance(n, int) and n >= 1


async def answer_of(anyio, future):
    """Return the result of a future of a thread or an executor.

    `asyncio.wrap_future` is not used: in Python 3.11 it waits indefinitely if the call raised
    StopIteration.
    """
    ended = anyio.Event()
    future.add_done_callback(soon(ended.set))
    while not future.done():
        # without memory, a callback may fail or a thread end without an answer
        with anyio.move_on_after(SETTLE):
            await ended.wait()
        if isinstance(future, Call):
            future.settle()
    try:
        return future.result()
    except CancelledError as error:
        raise LostCall("a call was cancelled by other code than best_of") from error


def soon(function):
    """Return a callback for any thread that calls `function` in the current event loop."""
    token = token_of_trio()
    if token is not None:
        call, is_over = token.run_sync_soon, sys.modules["trio"].RunFinishedError
    else:
        call, is_over = asyncio.get_running_loop().call_soon_threadsafe, RuntimeError

    def callback(_):
        with contextlib.suppress(is_over):  # the loop was closed after the race
            call(function)

    return callback


class Slots:
    """Free workers of one executor, for calls with a timeout or a rate limit."""

    def __init__(self, anyio, n, timeout):
        self.anyio, self.n, self.n_stuck = anyio, n, 0
        self.timeout = math.inf if timeout is None else timeout
        self._free = anyio.Semaphore(n)

    async def take(self):
        """Wait for a free worker; raise NotStarted if all are stuck in calls past the timeout."""
        while True:
            stuck = self.n_stuck == self.n
            with self.anyio.move_on_after(self.timeout if stuck else LOOK + self.timeout):
                await self._free.acquire()
                return
            if stuck and self.n_stuck == self.n:
                raise NotStarted from RuntimeError(
                    f"no worker is left: all {self.n} workers of executor are busy with calls that "
                    f"exceeded timeout = {self.timeout:g} seconds and did not end within another "
                    f"{self.timeout:g} seconds")

    def give(self, future):
        """Free a worker now, or when its call ends."""
        if future is None or future.done():
            self._free.release()
            return
        self.n_stuck += 1
        future.add_done_callback(soon(self._unstuck))

    def _unstuck(self):
        self.n_stuck -= 1
        self._free.release()


class Workers:
    """Starts calls, and makes a new executor if one of its own broke."""

    def __init__(self, anyio, options):
        self.anyio, self.options = anyio, options
        self.own = options.executor is None or callable(options.executor)
        self._pool = self._slots = None
        self._opening = anyio.Lock()

    @contextlib.asynccontextmanager
    async def call(self, turn, function, *args):
        """Start a call after `turn`, with a free worker if they are counted; yield its future."""
        pool, slots = await self._opened(function)
        if slots is not None:
            await slots.take()
        future = None
        try:
            await turn()  # after a worker is free: turns must not accumulate while calls wait
            future = self._submit(pool, function, *args)
            yield future
        except BrokenExecutor:
            self._broke(pool)
            raise
        finally:
            if future is not None:
                future.cancel()
            if slots is not None:
                slots.give(future)

    async def wait_started(self, future):
        """Wait until a timed call has started: other code may use the same workers."""
        while self._slots is not None and not (future.running() or future.done()):
            await self.anyio.sleep(LOOK)

    def start(self, function, *args):
        """Start a call in a thread of our own and return its future, without waiting."""
        if self._pool is None:
            self._pool = self._made()
        return self._submit(self._pool, function, *args)

    def _submit(self, pool, function, *args):
        try:
            return pool.submit(with_context(pool, function), *args)
        except BrokenExecutor:
            raise
        except Exception as error:
            raise NotStarted from error

    async def _opened(self, function):
        async with self._opening:
            if self._pool is None:
                self._pool, self._slots = self._made(), None
                self._check_sent(function)
                if self._is_counted():
                    self._slots = await self._counted(self._pool)
            return self._pool, self._slots

    def _check_sent(self, function):
        """Raise NotStarted if the function cannot be sent to processes: retries are useless."""
        if isinstance(self._pool, (Threads, ThreadPoolExecutor)):
            return
        # slow imports, needed only with an executor
        from concurrent.futures.process import ProcessPoolExecutor
        from multiprocessing.reduction import ForkingPickler

        if isinstance(self._pool, ProcessPoolExecutor):
            try:
                ForkingPickler.dumps(function)
            except Exception as error:
                self.close()
                raise NotStarted from error

    def _is_counted(self):
        """Return True if calls must start when submitted, for a timeout or a rate limit."""
        if isinstance(self._pool, Threads):
            return False
        return self.options.timeout is not None or (
            self.options.per_minute is not None and has_workers(self._pool))

    def _made(self):
        given = self.options.executor
        if given is None:
            return Threads(self.options.timeout)
        if not self.own:
            return given
        try:
            return given()
        except Exception as error:
            raise NotStarted from error

    async def _counted(self, pool):
        """Return slots for the workers, once all have started: a process may take seconds."""
        try:
            n = workers_of(pool)
        except ValueError as error:
            self.close()
            raise NotStarted from error
        if not isinstance(pool, ThreadPoolExecutor):
            try:
                for future in [self._submit(pool, _nothing) for _ in range(n)]:
                    await answer_of(self.anyio, future)
            except BrokenExecutor:
                self._broke(pool)
                raise
        return Slots(self.anyio, n, self.options.timeout)

    def _broke(self, pool):
        """Drop a broken executor of our own; the next call makes another."""
        if self.own and pool is self._pool:
            self.close()

    def close(self):
        """Cancel calls that have not started, without waiting for the others."""
        if self.own and self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = self._slots = None


def _nothing():
    """Do nothing; a result shows that a worker has started."""
