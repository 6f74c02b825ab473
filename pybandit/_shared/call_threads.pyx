# cython: auto_pickle=False
"""Threads in which calls of plain functions run.

A call never waits for another one: there are always as many threads as calls, and calls that never
end keep theirs. Threads whose calls have ended take the next ones, because starting a thread takes
longer than most of what a call does.

Apart from the function and the callbacks, a thread runs compiled code that allocates nothing: if
memory runs out, Python 3.11 aborts in the ``with`` blocks of `queue` and `concurrent.futures`.
"""

import atexit
import contextvars
import math
import os
import time

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
    cdef bint closed
    cdef long long n_forks             # of the process, when the idle threads were started

    def __init__(self, timeout):
        self.timeout = math.inf if timeout is None else timeout
        self.n_forks = _n_forks

    def submit(self, function, *args):
        """Start ``function(*args)`` in a thread, in a copy of the caller's context."""
        cdef Call call = Call(self, function, args)
        cdef _Thread thread
        if self.n_forks != _n_forks:   # a fork has no copy of the threads
            self.first_idle, self.n_forks = None, _n_forks
        _out[call] = time.monotonic() + self.timeout
        thread = self.pop_idle()
        if thread is not None:
            thread.take(call)
            return call
        try:
            thread = _Thread()
            worker = Worker(thread)
            call.worker = worker
            thread.take(call)
            worker.start()
        except BaseException:
            give_up(call)
            raise
        return call

    cdef void keep(self, _Thread thread) noexcept:
        """Note that the call of a thread has ended."""
        with cython.critical_section(self):    # without a GIL
            if not self.closed:
                thread.next, self.first_idle = self.first_idle, thread
                return
        thread.take(None)

    cdef _Thread pop_idle(self):
        """Return an idle thread, no longer in the list; None if there is none."""
        cdef _Thread thread
        with cython.critical_section(self):
            thread = self.first_idle
            if thread is not None:
                self.first_idle, thread.next = thread.next, None
        return thread

    def shutdown(self, **options):
        """End the idle threads now, and the others once their calls have ended."""
        cdef _Thread thread
        with cython.critical_section(self):
            self.closed = True
        thread = self.pop_idle()
        while thread is not None:
            thread.take(None)
            thread = self.pop_idle()

    def __del__(self):
        if self.n_forks == _n_forks:
            self.shutdown()


@cython.final
cdef class _Thread:
    """Runs one call after the other."""

    cdef PyThread_type_lock wanted     # held, except when there is a call to run
    cdef Call call                     # the next one; None: the thread ends
    cdef _Thread next                  # of the idle threads of a pool

    def __cinit__(self):
        self.wanted = PyThread_allocate_lock()
        if self.wanted == NULL:
            raise MemoryError("cannot allocate a lock for a thread")
        PyThread_acquire_lock(self.wanted, NOWAIT_LOCK)

    def __dealloc__(self):
        if self.wanted != NULL:
            PyThread_free_lock(self.wanted)

    cdef void take(self, Call call) noexcept:
        self.call = call
        PyThread_release_lock(self.wanted)

    def __call__(self):
        """Run calls until the pool is shut down or gone."""
        cdef Call call
        cdef object worker = None
        while True:
            with nogil:
                PyThread_acquire_lock(self.wanted, WAIT_LOCK)
            call, self.call = self.call, None
            if call is None:
                break
            if worker is None:
                worker = call.worker   # of the call that started the thread
            call.worker = worker
            call.run(self)
            call = None                # an idle thread keeps no answer, and no pool
        forget_thread()


@cython.final
cdef class Call:
    """A call in a thread, with the methods of a `concurrent.futures.Future` that runs."""

    cdef Threads pool
    cdef object function, args, context
    cdef object worker                 # None until the thread has taken the call
    cdef object answer, error
    cdef list callbacks
    cdef bint is_over

    def __init__(self, Threads pool, function, args):
        self.pool, self.function, self.args = pool, function, args
        self.context, self.callbacks = contextvars.copy_context(), []
        # the error of a thread that cannot even create an exception
        self.error = MemoryError("memory ran out in a thread")

    cdef void run(self, _Thread thread) noexcept:
        cdef Threads pool = self.pool
        try:
            self.answer = self.context.run(self.function, *self.args)
            self.error = None
        except BaseException as error:
            self.error = error
        self.function = self.args = self.context = self.pool = None
        # before the callbacks, which may start the next call
        pool.keep(thread)
        pool = None
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
        while self.callbacks:
            try:
                self.callbacks.pop()(self)
            except BaseException:
                pass

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
        """Return False: a call starts when it is submitted."""
        return False

    def cancelled(self):
        return False

    def running(self):
        return not self.is_over

    def done(self):
        return self.is_over

    def exception(self):
        """Return the exception of a call that has ended, or None."""
        return self.error

    def result(self):
        """Return the answer of a call that has ended, or raise its exception."""
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
