"""Tasks of calls: in asyncio, its own, which take a third of the time of the tasks of anyio."""

import asyncio
import contextlib
import sys

AGAIN = 0.05  # seconds between two cancellations of a task that goes on


def task_group(anyio):
    """Return a group of tasks for the calls of a race, for the current event loop."""
    return _OfAnyio(anyio) if token_of_trio() is not None else _OfAsyncio()


def token_of_trio():
    """Return trio's token of the current loop; None in a loop of asyncio."""
    trio = sys.modules.get("trio")
    if trio is not None:
        with contextlib.suppress(RuntimeError):  # not in a task of trio
            return trio.lowlevel.current_trio_token()
    return None


class _OfAnyio:
    """A task group of anyio that is cancelled at its end and raises single exceptions."""

    def __init__(self, anyio):
        self._group = anyio.create_task_group()

    async def __aenter__(self):
        await self._group.__aenter__()
        self.start_soon = self._group.start_soon
        return self

    @property
    def is_cancelled(self):
        return self._group.cancel_scope.cancel_called

    async def __aexit__(self, kind, error, trace):
        self._group.cancel_scope.cancel()
        try:
            return await self._group.__aexit__(kind, error, trace)
        except BaseExceptionGroup as errors:
            error = errors.exceptions[0]
        raise error  # outside the handler, so that its own cause is kept


class _OfAsyncio:
    """The same with tasks of asyncio.

    As in anyio, a task that goes on when it is cancelled is cancelled again.
    """

    def __init__(self):
        self.is_cancelled = self._is_stopped = False
        self._tasks, self._error = set(), None
        self._host, self._start = asyncio.current_task(), asyncio.get_running_loop().create_task

    async def __aenter__(self):
        return self

    def start_soon(self, function, *args):
        task = self._start(function(*args))
        self._tasks.add(task)
        task.add_done_callback(self._end)

    def _end(self, task):
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        self._error = self._error or error
        if not (self.is_cancelled or self._is_stopped) and (task.cancelled() or error is not None):
            self._is_stopped = True
            self._host.cancel()

    async def __aexit__(self, kind, error, trace):
        self.is_cancelled, interrupt = True, None
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            try:
                await asyncio.wait(self._tasks, timeout=AGAIN)
            except asyncio.CancelledError as cancelled:
                interrupt = cancelled
        is_ours = self._is_stopped and self._host.uncancel() == 0
        if self._error is not None:
            raise self._error
        if interrupt is not None:
            raise interrupt
        return is_ours and kind is asyncio.CancelledError
