"""Where plain functions are called: threads of our own, or an executor that was given.

The time of a call is counted from its begin, and so are calls a minute. Our threads begin at
once. An executor is given no more calls than it has workers then; one whose call does not end
in time is missing until it does.
"""

import asyncio
import atexit
import contextlib
import math
import threading
import time
from concurrent.futures import BrokenExecutor, CancelledError, Future, ThreadPoolExecutor

from pybandit._shared.checks import shown

LOOK = 0.002  # seconds between two looks at whether a call has begun


class NotBegun(Exception):
    """A call that nobody made, which is no failure of it: the cause is what went wrong."""


class Threads:
    """A thread for each call: one that never ends keeps no other from being begun.

    The process does not wait for those that were given up; for others, whose answer is still
    kept, it does, until they would be.
    """

    def __init__(self, timeout):
        self.timeout = math.inf if timeout is None else timeout

    def submit(self, function, *args):
        future = Future()
        future.set_running_or_notify_cancel()
        thread = threading.Thread(target=_run, args=(future, function, args), daemon=True)
        _out[future] = thread, time.monotonic() + self.timeout
        try:
            thread.start()
        except BaseException:
            _out.pop(future)
            raise
        return future

    def shutdown(self, **options):
        """Nothing is left to end."""


_out = {}  # threads by future, and until when they are waited for


def _run(future, function, args):
    try:
        answer = function(*args)
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(answer)
    _out.pop(future, None)


@atexit.register
def _wait():
    for thread, deadline in list(_out.values()):
        left = deadline - time.monotonic()
        thread.join(None if math.isinf(left) else max(left, 0.0))


def give_up(future):
    """Nobody waits for its answer any more, at the end of the process neither."""
    _out.pop(future, None)


def workers_of(executor):
    """How many calls it is at, at once."""
    if not has_workers(executor):
        raise ValueError("timeout must be left out beside an executor that does not say how many "
                         "workers it has: calls that wait for one would fail; got "
                         f"{shown(executor)}")
    return executor._max_workers


def has_workers(executor):
    """Whether it says how many."""
    n = getattr(executor, "_max_workers", None)
    return isinstance(n, int) and n >= 1


async def answer_of(future):
    """What it gives, awaited. asyncio's own way waits for ever, in Python 3.11, where that is
    StopIteration; of a coroutine it is a RuntimeError.
    """
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    future.add_done_callback(lambda _: _soon(loop, ended.set))
    await ended.wait()
    try:
        return future.result()
    except CancelledError as error:
        raise asyncio.CancelledError from error


def _soon(loop, function):
    with contextlib.suppress(RuntimeError):  # the race is over, and the loop closed
        loop.call_soon_threadsafe(function)


class Slots:
    """The workers of one executor, for calls whose time is counted."""

    def __init__(self, anyio, n, timeout):
        self.anyio, self.n, self.n_stuck = anyio, n, 0
        self.timeout = math.inf if timeout is None else timeout
        self._free = anyio.Semaphore(n)

    async def take(self):
        """Wait for a worker: as long as one of them may come back."""
        while True:
            stuck = self.n_stuck == self.n
            with self.anyio.move_on_after(self.timeout if stuck else LOOK + self.timeout):
                await self._free.acquire()
                return
            if stuck and self.n_stuck == self.n:
                raise NotBegun from RuntimeError(
                    f"no worker is left: all {self.n} of executor are at calls that did not end "
                    f"in timeout = {self.timeout:g} seconds, nor in as many more")

    def give(self, future):
        """A worker is free when its call has ended."""
        if future is None or future.done():
            self._free.release()
            return
        self.n_stuck += 1
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda _: _soon(loop, self._unstuck))

    def _unstuck(self):
        self.n_stuck -= 1
        self._free.release()


class Workers:
    """Begins calls, and makes what they are made by again where it broke."""

    def __init__(self, anyio, options):
        self.anyio, self.options = anyio, options
        self.own = options.executor is None or callable(options.executor)
        self._pool = self._slots = None
        self._opening = anyio.Lock()

    @contextlib.asynccontextmanager
    async def call(self, turn, function, *args):
        """A future of a call, begun when `turn` is over and, if counted, a worker is free."""
        pool, slots = await self._opened(function)
        if slots is not None:
            await slots.take()
        future = None
        try:
            await turn()  # with a worker: turns that were waited for are not kept for later
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

    async def begin(self, future):
        """Wait until it has begun, where its time is counted: others may use the workers too."""
        while self._slots is not None and not (future.running() or future.done()):
            await self.anyio.sleep(LOOK)

    def _submit(self, pool, function, *args):
        try:
            return pool.submit(function, *args)
        except BrokenExecutor:
            raise
        except Exception as error:
            raise NotBegun from error

    async def _opened(self, function):
        async with self._opening:
            if self._pool is None:
                self._pool, self._slots = self._made(), None
                self._check_sent(function)
                if self._is_counted():
                    self._slots = await self._counted(self._pool)
            return self._pool, self._slots

    def _check_sent(self, function):
        """What processes cannot be sent is no call that failed, however often it is tried."""
        if isinstance(self._pool, (Threads, ThreadPoolExecutor)):
            return
        from concurrent.futures.process import ProcessPoolExecutor  # for who has an executor
        from multiprocessing.reduction import ForkingPickler

        if isinstance(self._pool, ProcessPoolExecutor):
            try:
                ForkingPickler.dumps(function)
            except Exception as error:
                self.close()
                raise NotBegun from error

    def _is_counted(self):
        """Whether calls must begin when they are handed over: their time, or their number."""
        if isinstance(self._pool, Threads):
            return False
        return self.options.timeout is not None or (
            self.options.calls_per_minute is not None and has_workers(self._pool))

    def _made(self):
        given = self.options.executor
        if given is None:
            return Threads(self.options.timeout)
        if not self.own:
            return given
        try:
            return given()
        except Exception as error:
            raise NotBegun from error

    async def _counted(self, pool):
        """Its workers, which have started: that takes a process seconds."""
        try:
            n = workers_of(pool)
        except ValueError as error:
            self.close()
            raise NotBegun from error
        if not isinstance(pool, ThreadPoolExecutor):
            try:
                for future in [self._submit(pool, _nothing) for _ in range(n)]:
                    await answer_of(future)
            except BrokenExecutor:
                self._broke(pool)
                raise
        return Slots(self.anyio, n, self.options.timeout)

    def _broke(self, pool):
        """Ours is made again."""
        if self.own and pool is self._pool:
            self.close()

    def close(self):
        """Wait for nobody: what was not begun will not be."""
        if self.own and self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = self._slots = None


def _nothing():
    """A call that shows that a worker has started."""
