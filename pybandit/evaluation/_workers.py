"""Where plain functions are called: threads of our own, or an executor that was given.

The time of a call is counted from its begin, and so are calls a minute. Our threads begin at
once. An executor is given no more calls than it has workers then; one whose call does not end
in time is missing until it does.
"""

import asyncio
import atexit
import contextlib
import functools
import math
import os
import sys
import time
from concurrent.futures import BrokenExecutor, CancelledError, Future, ThreadPoolExecutor

from pybandit._shared.checks import shown
from pybandit._shared.threads import with_context, worker_of

LOOK = 0.002  # seconds between two looks at whether a call has begun
SETTLE = 0.5  # seconds between two looks at whether a thread has ended without an answer


class LostCall(Exception):
    """A call that was cancelled, not by `best_of`."""


class NotBegun(Exception):
    """A call that nobody made, which is no failure of it: the cause is what went wrong."""


class Threads:
    """A thread for each call: one that never ends does not keep another from starting.

    The process does not wait for calls that were given up. It waits for the others, whose answer
    is still kept, until their time is over.
    """

    def __init__(self, timeout):
        self.timeout = math.inf if timeout is None else timeout

    def submit(self, function, *args):
        future = Call(functools.partial(function, *args))
        _out[future] = time.monotonic() + self.timeout
        try:
            future.worker.start()
        except BaseException:
            _out.pop(future)
            raise
        return future

    def shutdown(self, **options):
        """Nothing is left to end."""


class Call(Future):
    """A call in a thread of its own, in a copy of the caller's context."""

    def __init__(self, function):
        super().__init__()
        self.set_running_or_notify_cancel()
        self.worker = worker_of(functools.partial(self._run, function))

    def _run(self, function):
        try:
            answer = function()
        except BaseException as error:
            self.set_exception(error)
        else:
            self.set_result(answer)
        _out.pop(self, None)

    def settle(self):
        """Fail if the thread has ended without an answer: memory ran out in it."""
        if self.worker.over and not self.done():
            _out.pop(self, None)
            self.set_exception(self.worker.error or MemoryError("memory ran out in a thread"))


_out = {}  # calls, and until when the end of the process waits for them
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_out.clear)  # a fork has no copy of their threads


@atexit.register
def _wait():
    for call, deadline in list(_out.items()):
        call.worker.wait(deadline - time.monotonic())


def give_up(future):
    """Wait no longer for an answer, nor at the end of the process."""
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


async def answer_of(anyio, future):
    """Return what a future of a thread or an executor gives.

    asyncio's own way, in Python 3.11, waits indefinitely if that is StopIteration.
    """
    ended = anyio.Event()
    future.add_done_callback(soon(ended.set))
    while not future.done():
        # a callback may fail for want of memory, and a thread end without an answer
        with anyio.move_on_after(SETTLE):
            await ended.wait()
        if isinstance(future, Call):
            future.settle()
    try:
        return future.result()
    except CancelledError as error:
        raise LostCall("a call was cancelled, not by best_of") from error


def soon(function):
    """Return a callback, for any thread, that calls `function` in the loop of this one."""
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_task():
        call, is_over = trio.lowlevel.current_trio_token().run_sync_soon, trio.RunFinishedError
    else:
        call, is_over = asyncio.get_running_loop().call_soon_threadsafe, RuntimeError

    def callback(_):
        with contextlib.suppress(is_over):  # the race is over, and the loop closed
            call(function)

    return callback


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
        future.add_done_callback(soon(self._unstuck))

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
            return pool.submit(with_context(pool, function), *args)
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
                    await answer_of(self.anyio, future)
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
