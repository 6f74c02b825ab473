# cython: auto_pickle=False
"""Threads in which calls of plain functions run.

A call never waits for another one: there are always as many threads as calls, and calls that never
end keep theirs. Threads whose calls have ended take the next ones, because starting a thread takes
longer than most of what a call does.

Calls for threads that exist wait in a queue, and one thread is woken at a time: when it takes a
call, it wakes the next one if more calls wait. A thread whose call ends before that takes the next
call itself: a short call takes less time than the switch to another thread.

Apart from the function and the callbacks, a thread runs compiled code that allocates nothing: if
memory runs out, Python 3.11 aborts in the ``with`` blocks of `queue` and `concurrent.futures`.
"""

import atexit
import contextvars
import math
import os
import time
from concurrent.futures import CancelledError

cimport cython
from cpython.pythread cimport (
    NOWAIT_LOCK,
    WAIT_LOCK,
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_release_lock,
    PyThread_type_lock,
)

from pybandit._shared.threads import forget_thread
from pybandit._shared.worker import Worker

LOOK = 0.002  # seconds between two checks at the end of the process


@cython.final
cdef class Threads:
    """An executor with one thread per unfinished call.

    At its end the process does not wait for abandoned calls. It waits for the others, whose
    answers are still stored, until their timeout.
    """

    cdef readonly double timeout
    cdef _Thread first_idle
    cdef Call first, last              # of the queue
    cdef long long n_queued            # at most n_free
    cdef long long n_free              # threads without a call: idle, woken, or between two calls
    cdef bint is_waking, closed
    cdef long long n_forks             # of the process, when the idle threads were started

    def __init__(self, timeout):
        self.timeout = math.inf if timeout is None else timeout
        self.n_forks = _n_forks

    def submit(self, function, *args):
        """Start ``function(*args)`` in a thread, in a copy of the caller's context."""
        cdef Call call = Call(self, function, args)
        cdef _Thread thread
        _out[call] = time.monotonic() + self.timeout
        if self.enqueue(call):
            return call
        try:
            thread = _Thread(call)
            call.worker = Worker(thread)
            call.worker.start()
        except BaseException:
            give_up(call)
            raise
        return call

    cdef bint enqueue(self, Call call) noexcept:
        """Queue a call; return False if it needs a new thread."""
        with cython.critical_section(self):    # without a GIL
            if self.n_forks != _n_forks:       # a fork has no copy of the threads
                self.n_forks, self.n_free, self.n_queued = _n_forks, 0, 0
                self.first_idle = self.first = self.last = None
                self.is_waking = False
            if self.closed or self.n_queued >= self.n_free:
                return False
            if self.n_queued == 0:
                self.first = call
            else:
                self.last.next = call
            self.last = call
            self.n_queued += 1
            call.is_queued = True
            self.wake()
        return True

    cdef void wake(self) noexcept:
        """Wake an idle thread if calls wait and none is woken; a thread between calls looks."""
        cdef _Thread thread = self.first_idle
        if self.n_queued == 0 or self.is_waking or thread is None:
            return
        self.is_waking = True
        self.first_idle, thread.next = thread.next, None
        thread.pool = self
        PyThread_release_lock(thread.wanted)

    cdef void free(self) noexcept:
        """Note that the call of a thread has ended."""
        with cython.critical_section(self):
            self.n_free += 1

    cdef Call take(self, _Thread thread, bint is_woken):
        """Return the next call for a thread. If there is none, it becomes idle or ends."""
        cdef Call call = None
        with cython.critical_section(self):
            if is_woken:
                self.is_waking = False
            if self.n_forks == _n_forks:
                call = self.pop()
            if call is not None:
                self.n_free -= 1
                self.wake()
            elif self.closed or self.n_forks != _n_forks:
                PyThread_release_lock(thread.wanted)
            else:
                thread.next, self.first_idle = self.first_idle, thread
        return call

    cdef Call pop(self):
        """Return the first call of the queue that is not cancelled; None if there is none."""
        cdef Call call
        while self.n_queued > 0:
            call = self.first
            self.first, call.next = call.next, None
            self.n_queued -= 1
            if self.n_queued == 0:
                self.last = None
            if call.is_queued:
                call.is_queued = False
                return call
        return None

    def shutdown(self, **options):
        """Cancel queued calls; end the idle threads now, and the others after their calls."""
        cdef _Thread thread
        cdef Call call
        with cython.critical_section(self):
            self.closed = True
            call = self.pop()
        while call is not None:
            call.drop()
            with cython.critical_section(self):
                call = self.pop()
        with cython.critical_section(self):
            while self.first_idle is not None:
                thread = self.first_idle
                self.first_idle, thread.next = thread.next, None
                PyThread_release_lock(thread.wanted)

    def __del__(self):
        if self.n_forks == _n_forks:
            self.shutdown()


@cython.final
cdef class _Thread:
    """Runs one call after the other."""

    cdef PyThread_type_lock wanted     # held, except when there is something to do
    cdef Threads pool                  # that has woken it; None: the thread ends
    cdef Call call                     # the first one
    cdef _Thread next                  # of the idle threads of a pool

    def __cinit__(self, Call call):
        self.call = call
        self.wanted = PyThread_allocate_lock()
        if self.wanted == NULL:
            raise MemoryError("cannot allocate a lock for a thread")
        PyThread_acquire_lock(self.wanted, NOWAIT_LOCK)

    def __dealloc__(self):
        if self.wanted != NULL:
            PyThread_free_lock(self.wanted)

    def __call__(self):
        """Run calls until the pool is shut down or gone."""
        cdef Call call = self.call
        cdef Threads pool = call.pool
        cdef object worker = call.worker
        self.call = None
        while pool is not None:
            while call is not None:
                call.worker = worker
                call.run(pool)
                call = pool.take(self, False)
            pool = None                # an idle thread keeps no answer, and no pool
            with nogil:
                PyThread_acquire_lock(self.wanted, WAIT_LOCK)
            pool, self.pool = self.pool, None
            if pool is not None:
                call = pool.take(self, True)
        forget_thread()


@cython.final
cdef class Call:
    """A call in a thread, with the methods of a `concurrent.futures.Future`."""

    cdef Threads pool
    cdef Call next                     # of the queue
    cdef object function, args, context
    cdef object worker                 # None until a thread has taken the call
    cdef object answer, error
    cdef list callbacks
    cdef Py_ssize_t n_called           # callbacks that were run, or are running
    cdef bint is_queued, is_cancelled, is_over

    def __init__(self, pool, function, args):
        self.pool, self.function, self.args = pool, function, args
        self.context, self.callbacks = contextvars.copy_context(), []
        # the error of a thread that cannot even create an exception
        self.error = MemoryError("memory ran out in a thread")

    cdef void run(self, Threads pool) noexcept:
        try:
            self.answer = self.context.run(self.function, *self.args)
            self.error = None
        except BaseException as error:
            self.error = error
        self.function = self.args = self.context = self.pool = None
        # before the callbacks, which may start the next call
        pool.free()
        self.end()

    cdef void end(self) noexcept:
        self.is_over = True
        self.call_back()
        try:
            _out.pop(self, None)       # last: the process waits until the answer is stored
        except BaseException:
            pass                       # without memory; see _wait

    cdef void call_back(self) noexcept:
        """Run the callbacks, each one once; without memory they may fail."""
        cdef object function = self.next_callback()
        while function is not None:
            try:
                function(self)
            except BaseException:
                pass
            function = self.next_callback()

    cdef object next_callback(self):
        """Return the next callback; None after the last one.

        Nothing is allocated. ``list.pop`` may allocate memory to move the entries: while there is
        none, it would fail each time, and the loop would not end.
        """
        cdef object function = None
        with cython.critical_section(self):
            if self.n_called < len(self.callbacks):
                function = self.callbacks[self.n_called]
                self.callbacks[self.n_called] = None
                self.n_called += 1
        return function

    def settle(self):
        """Set an exception if the thread has ended without an answer: it ran out of memory."""
        if not self.is_over and self.worker is not None and self.worker.over:
            self.end()

    def add_done_callback(self, function):
        """Call ``function(self)`` in the thread once the call has ended, or now if it has."""
        self.callbacks.append(function)
        if self.is_over:
            self.call_back()

    def cancel(self):
        """Cancel a call that no thread has taken; return False if one has."""
        cdef Threads pool = self.pool
        cdef bint was_queued = False
        if pool is not None:
            with cython.critical_section(pool):
                was_queued, self.is_queued = self.is_queued, False  # the queue passes over it
        if was_queued:
            self.drop()
        return self.is_cancelled

    cdef void drop(self) noexcept:
        """End a call that no thread takes any more."""
        self.is_cancelled = True
        self.function = self.args = self.context = self.pool = None
        self.end()

    def cancelled(self):
        return self.is_cancelled

    def running(self):
        return not (self.is_over or self.is_queued)

    def done(self):
        return self.is_over

    def exception(self):
        """Return the exception of a call that has ended, or None."""
        if self.is_cancelled:
            raise CancelledError
        return self.error

    def result(self):
        """Return the answer of a call that has ended, or raise its exception."""
        if self.is_cancelled:
            raise CancelledError
        if self.error is not None:
            raise self.error
        return self.answer


cdef dict _out = {}  # by unfinished call: the time until which the end of the process waits for it
cdef long long _n_forks = 0


def _after_fork():
    global _n_forks
    _n_forks += 1
    _out.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def _wait():
    cdef Call call
    for call, deadline in list(_out.items()):
        while call in _out and time.monotonic() < deadline and not (
                call.is_over or (call.worker is not None and call.worker.over)):
            time.sleep(LOOK)


def give_up(future):
    """Abandon a call: the end of the process does not wait for it."""
    _out.pop(future, None)
