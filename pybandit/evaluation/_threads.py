"""Threads in which calls of plain functions run.

A call never waits for another one: there are always as many threads as calls, and calls that never
end keep theirs. Threads whose calls have ended take the next ones, because starting a thread takes
longer than most of what a call does.
"""

import atexit
import contextvars
import functools
import math
import os
import queue
import time
import weakref
from concurrent.futures import Future

from pybandit._shared.threads import forget_thread
from pybandit._shared.worker import Worker

LOOK = 0.002  # seconds between two checks at the end of the process
IDLE = 0.5  # seconds after which an idle thread looks whether its pool still exists


class Threads:
    """An executor with one thread per unfinished call.

    At its end the process does not wait for abandoned calls. It waits for the others, whose
    answers are still stored, until their timeout.
    """

    def __init__(self, timeout):
        self.timeout = math.inf if timeout is None else timeout
        self.closed = False
        self.reset()
        _pools.add(self)

    def reset(self):
        """Start without threads, as in a fork, which has no copy of them."""
        self._queue, self._workers, self._unfinished = queue.SimpleQueue(), [], set()

    def submit(self, function, *args):
        call = Call(self, functools.partial(function, *args))
        _out[call] = time.monotonic() + self.timeout
        self._unfinished.add(call)
        try:
            self._start_threads()
        except BaseException:
            self.forget(call)
            raise
        self._queue.put(call)
        return call

    def _start_threads(self):
        """Start threads until there is one per unfinished call."""
        while len(self._workers) < len(self._unfinished):
            own = []
            worker = Worker(functools.partial(_work, weakref.ref(self), self._queue, own))
            own.append(worker)
            worker.start()
            self._workers.append(worker)

    def replace_dead(self):
        """Replace threads that ended because memory ran out, and hand out their calls again."""
        alive = [worker for worker in self._workers if not worker.over]
        if len(alive) == len(self._workers):
            return
        self._workers = alive
        self._start_threads()
        for call in [call for call in list(self._unfinished) if call.worker is None]:
            self._queue.put(call)  # it runs once, even if it is still in the queue

    def finish(self, call):
        """Note that a call has ended, so that its thread is free."""
        self._unfinished.discard(call)

    def forget(self, call):
        """Note that a call will never run."""
        self.finish(call)
        _out.pop(call, None)

    def shutdown(self, **options):
        """Cancel calls that have not started, and end the threads once theirs have ended.

        If memory runs out here, idle threads end later.
        """
        self.closed = True
        while not self._queue.empty():
            try:
                call = self._queue.get_nowait()
            except queue.Empty:
                break
            call.cancel()
            self.forget(call)
        for _ in self._workers:
            self._queue.put(None)


def _work(pool, calls, own):
    """Run calls in a thread; `own` holds the `Worker`."""
    _serve(pool, calls, own)
    forget_thread()  # not in a handler: without memory, a thread should end at once


def _serve(pool, calls, own):
    """Run calls until the pool is shut down or gone."""
    while True:
        try:
            call = calls.get(timeout=IDLE)
        except queue.Empty:
            held = pool()
            if held is None or held.closed:
                return
            del held
            continue
        if call is None:
            return
        call.run(own[0])
        del call  # an idle thread keeps no answer, and no pool


class Call(Future):
    """A call in a thread, in a copy of the caller's context."""

    def __init__(self, pool, function):
        super().__init__()
        self.pool, self.worker = pool, None
        self._to_run = [(function, contextvars.copy_context())]  # empty once a thread has it

    def run(self, worker):
        """Run the call in the thread of `worker`, unless it was cancelled or has run."""
        try:
            function, context = self._to_run.pop()
        except IndexError:
            return
        self.worker = worker
        if self.set_running_or_notify_cancel():
            self._call(function, context)
        self.pool.forget(self)  # last: the process waits until the answer is stored

    def _call(self, function, context):
        # a short function: without memory, Python 3.11 repeats a handler far from its start forever
        try:
            answer = context.run(function)
        except BaseException as error:
            self.pool.finish(self)
            self.set_exception(error)
        else:
            self.pool.finish(self)
            self.set_result(answer)

    def settle(self):
        """Set an exception if the thread has ended without an answer: it ran out of memory."""
        if self.done():
            return
        if self.worker is None:
            self.pool.replace_dead()
        elif self.worker.over:
            self.pool.forget(self)
            self.set_exception(self.worker.error or MemoryError("memory ran out in a thread"))


_out = {}  # by unfinished call: the time until which the end of the process waits for it
_pools = weakref.WeakSet()


def _after_fork():
    _out.clear()
    for pool in list(_pools):
        pool.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def _wait():
    for call, deadline in list(_out.items()):
        while call in _out and time.monotonic() < deadline and not (
                call.worker is not None and call.worker.over):
            time.sleep(LOOK)


def give_up(future):
    """Abandon a call: the end of the process does not wait for it."""
    _out.pop(future, None)
