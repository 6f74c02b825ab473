"""Threads whose end is always noticed, even if memory runs out in them.

The start of `threading.Thread` waits for a flag that a thread sets in Python. A MemoryError
before that, up to Python 3.14.0, leaves the starting thread waiting indefinitely, and so do
locks that Python code releases. Here no lock is held during code that can fail: the last action
of a thread is to release a lock written in C, which allocates nothing.
"""

import _thread

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.pythread cimport (
    NOWAIT_LOCK,
    PY_LOCK_ACQUIRED,
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_release_lock,
    PyThread_type_lock,
)
from libc.math cimport INFINITY


cdef extern from "pythread.h":
    int PyThread_acquire_lock_timed(PyThread_type_lock, long long microseconds,
                                    int interruptible) nogil


cdef extern from *:
    """
    #ifdef _MSC_VER
    #include <intrin.h>
    #define flag_is_raised(flag) (*(volatile int *)(flag))
    #define raise_flag(flag) (*(volatile int *)(flag) = 1)
    #define change_state(state, old, new) \\
        (_InterlockedCompareExchange((volatile long *)(state), new, old) == (old))
    #define state_of(state) _InterlockedOr((volatile long *)(state), 0)
    #else
    #define flag_is_raised(flag) __atomic_load_n(flag, __ATOMIC_RELAXED)
    #define raise_flag(flag) __atomic_store_n(flag, 1, __ATOMIC_RELAXED)
    #define change_state(state, old, new) __extension__ ({ long expected = old; \\
        __atomic_compare_exchange_n(state, &expected, new, 0, __ATOMIC_ACQ_REL, \\
                                    __ATOMIC_ACQUIRE); })
    #define state_of(state) __atomic_load_n(state, __ATOMIC_ACQUIRE)
    #endif
    """
    bint flag_is_raised(int *flag) noexcept nogil
    void raise_flag(int *flag) noexcept nogil
    bint change_state(long *state, long old, long new) noexcept nogil  # False if it is not `old`
    long state_of(long *state) noexcept nogil


# Microseconds between two checks for Ctrl-C: on Windows, signals do not interrupt the wait.
cdef enum:
    LOOK = 100_000

# States of a worker. It runs from its start, or from the first line of its thread, whichever is
# earlier; a REFUSED one was not started by the system.
cdef enum:
    NEW, RUNS, REFUSED, OVER


@cython.final
cdef class Stop:
    """A flag that any thread may set; running tasks should then return soon."""

    cdef bint raised(self) noexcept nogil:
        return flag_is_raised(&self.flag)

    def set(self):
        raise_flag(&self.flag)

    def is_set(self):
        return self.raised()


@cython.final
cdef class Counter:
    """Count from 0; each number goes to one thread.

    Without a GIL, `itertools.count` may give a number to two threads.
    """

    cdef Py_ssize_t n

    def next(self):
        """Return the next number."""
        cdef Py_ssize_t i
        with cython.critical_section(self):
            i = self.n
            self.n += 1
        return i


@cython.final
cdef class Worker:
    """One thread that calls ``task()`` once.

    Parameters
    ----------
    task : callable
    stop : Stop, optional
        Set if the task raises.
    """

    cdef object task, raised
    cdef Stop stop
    cdef PyThread_type_lock running      # held from the start to the end of the thread
    cdef bint asked                      # to start
    cdef long state                      # atomic

    def __cinit__(self, task, Stop stop=None):
        self.running = PyThread_allocate_lock()
        if self.running == NULL:
            raise MemoryError("cannot allocate a lock for a thread")
        self.task, self.stop = task, stop
        # the error of a thread that cannot even create an exception
        self.raised = MemoryError("memory ran out in a thread")

    def __dealloc__(self):
        if self.running != NULL:
            PyThread_free_lock(self.running)

    @property
    def over(self):
        """True once the thread has ended."""
        return state_of(&self.state) == OVER

    @property
    def error(self):
        """Exception with which the thread ended, or None."""
        return self.raised if self.over else None

    def start(self):
        """Start the thread. No signal is handled between the start and recording it.

        Raises
        ------
        RuntimeError, MemoryError
            If no thread can be started.
        """
        cdef bint is_known = False
        if self.asked:
            raise RuntimeError("a worker can be started only once")
        self.asked = True
        PyThread_acquire_lock(self.running, NOWAIT_LOCK)
        try:
            _thread.start_new_thread(self, ())
            is_known = True
        finally:
            # memory may run out after the start, when the thread's number is returned; a thread
            # that has not begun by now will end at once
            if is_known:
                change_state(&self.state, NEW, RUNS)
            elif change_state(&self.state, NEW, REFUSED):
                PyThread_release_lock(self.running)

    def __call__(self):
        """Run in the thread. Every path ends with the release of the lock."""
        if not change_state(&self.state, NEW, RUNS) and state_of(&self.state) != RUNS:
            return
        try:
            self.task()
            self.raised = None
        except BaseException as error:
            self.raised = error
        finally:
            if self.raised is not None and self.stop is not None:
                with cython.critical_section(self.stop):
                    if self.stop.error is None:
                        self.stop.error = self.raised
                raise_flag(&self.stop.flag)
            self.task = None
            change_state(&self.state, RUNS, OVER)
            PyThread_release_lock(self.running)

    cdef bint ends(self, bint hears) except -1:
        """Wait up to LOOK for the thread, checking for Ctrl-C; return True if it does not run."""
        cdef int status
        if state_of(&self.state) != RUNS:
            return True
        with nogil:
            status = PyThread_acquire_lock_timed(self.running, LOOK, hears)
        if status == PY_LOCK_ACQUIRED:
            PyThread_release_lock(self.running)
        elif hears:
            PyErr_CheckSignals()
        return state_of(&self.state) == OVER

    def wait(self, double seconds=INFINITY):
        """Wait for the thread, about `seconds` at most; return True if it has ended."""
        cdef double left = seconds
        while not self.ends(True):
            left -= LOOK / 1e6
            if left <= 0:
                return False
        return True


def run_together(list workers, Stop stop):
    """Start all workers, wait until all started ones have ended, and raise the first error.

    An exception, Ctrl-C or a failed start sets `stop`. After the first start the call allocates
    no memory whose lack could keep it from waiting. A second Ctrl-C ends the wait.
    """
    cdef Py_ssize_t i
    cdef Worker worker
    try:
        for i in range(len(workers)):
            (<Worker?>workers[i]).start()
        for i in range(len(workers)):
            while not (<Worker>workers[i]).ends(True):
                pass
    finally:
        # all workers are over unless the wait was interrupted
        for i in range(len(workers)):
            if state_of(&(<Worker>workers[i]).state) != OVER:
                raise_flag(&stop.flag)
        for i in range(len(workers)):
            while not (<Worker>workers[i]).ends(True):
                pass
    error, stop.error = stop.error, None
    for worker in workers:
        worker.raised = None  # its traceback refers to the workers
    if error is not None:
        raise error
