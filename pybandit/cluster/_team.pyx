"""Threads that divide jobs of C code, without the GIL.

A fit of k-medoids has thousands of jobs of less than a millisecond, for which threads would take
longer to start than to run. Helpers wait for jobs instead. They execute no Python code between
their start and their end, so that nothing can fail in them.
"""

from pybandit._shared.worker import Worker

from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.pythread cimport (
    NOWAIT_LOCK, WAIT_LOCK, PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock,
    PyThread_release_lock,
)
from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport PB_OK, pb_status


cdef extern from *:
    """
    #ifdef _MSC_VER
    #include <intrin.h>
    #define take_next(number) _InterlockedExchangeAdd64((volatile long long *)(number), 1)
    #define take_none(number, end) _InterlockedExchange64((volatile long long *)(number), end)
    #else
    #define take_next(number) __atomic_fetch_add(number, 1, __ATOMIC_RELAXED)
    #define take_none(number, end) __atomic_store_n(number, end, __ATOMIC_RELAXED)
    #endif
    """
    long long take_next(long long *number) noexcept nogil
    void take_none(long long *number, long long end) noexcept nogil


cdef class Team:
    """The calling thread and n_threads - 1 helpers.

    Parameters
    ----------
    n_threads : int
    """

    def __cinit__(self, int n_threads):
        cdef int i
        self.n_threads, self.workers = n_threads, []
        self.failed = <pb_status *>PyMem_Calloc(n_threads, sizeof(pb_status))
        self.failed_part = <int64_t *>PyMem_Calloc(n_threads, sizeof(int64_t))
        self.go = <PyThread_type_lock *>PyMem_Calloc(n_threads, sizeof(PyThread_type_lock))
        self.done = <PyThread_type_lock *>PyMem_Calloc(n_threads, sizeof(PyThread_type_lock))
        if self.failed == NULL or self.failed_part == NULL or self.go == NULL or self.done == NULL:
            raise MemoryError(f"cannot allocate a team of {n_threads} threads")
        for i in range(1, n_threads):
            self.go[i], self.done[i] = PyThread_allocate_lock(), PyThread_allocate_lock()
            if self.go[i] == NULL or self.done[i] == NULL:
                raise MemoryError("cannot allocate a lock for a thread")
            PyThread_acquire_lock(self.go[i], NOWAIT_LOCK)
            PyThread_acquire_lock(self.done[i], NOWAIT_LOCK)

    def __dealloc__(self):
        cdef int i
        for i in range(self.n_threads):
            if self.go != NULL and self.go[i] != NULL:
                PyThread_free_lock(self.go[i])
            if self.done != NULL and self.done[i] != NULL:
                PyThread_free_lock(self.done[i])
        PyMem_Free(self.go)
        PyMem_Free(self.done)
        PyMem_Free(self.failed)
        PyMem_Free(self.failed_part)

    def during(self, call):
        """Return ``call(self)``, during which the helpers wait for jobs; they end afterwards."""
        cdef int i
        try:
            self.workers = [Worker(Helper(self, i)) for i in range(1, self.n_threads)]
            for worker in self.workers:
                worker.start()
                self.n_started += 1
            return call(self)
        finally:
            self._close()

    cdef int _close(self) except -1:
        cdef int i
        self.is_over = True
        for i in range(self.n_started):
            PyThread_release_lock(self.go[i + 1])
        try:
            self._wait()
        finally:
            self._wait()  # returns at once unless Ctrl-C interrupted the first wait
            self.workers = []
        return 0

    cdef int _wait(self) except -1:
        cdef int i
        for i in range(self.n_started):
            self.workers[i].wait()
        return 0

    cdef int run(self, part_function function, void *job, int64_t n_parts) except -2:
        cdef int i, lowest = -1, n_helpers = min(self.n_started, <int>min(n_parts - 1, 1 << 20))
        self.function, self.job, self.n_parts, self.following = function, job, n_parts, 0
        for i in range(self.n_threads):
            self.failed[i] = PB_OK
        for i in range(n_helpers):
            PyThread_release_lock(self.go[i + 1])
        try:
            self._take_and_hear()
        finally:
            with nogil:
                take_none(&self.following, n_parts)
                for i in range(n_helpers):
                    PyThread_acquire_lock(self.done[i + 1], WAIT_LOCK)
        for i in range(self.n_threads):
            if self.failed[i] != PB_OK and (lowest < 0 or self.failed_part[i]
                                            < self.failed_part[lowest]):
                lowest = i
        return lowest

    def _take_and_hear(self):
        cdef int64_t part
        while self.failed[0] == PB_OK:
            part = take_next(&self.following)
            if part >= self.n_parts:
                return
            with nogil:
                self._do(part, 0)
            PyErr_CheckSignals()

    cdef void _do(self, int64_t part, int thread) noexcept nogil:
        cdef pb_status status = self.function(self.job, part, thread)
        if status != PB_OK:
            self.failed[thread], self.failed_part[thread] = status, part
            take_none(&self.following, self.n_parts)

    cdef void _take(self, int thread) noexcept nogil:
        """Do parts until all are taken, or one has failed."""
        cdef int64_t part
        while self.failed[thread] == PB_OK:
            part = take_next(&self.following)
            if part >= self.n_parts:
                return
            self._do(part, thread)


cdef class Helper:
    """The task of a thread: jobs of a team until it is over."""

    cdef Team team
    cdef int thread

    def __cinit__(self, Team team, int thread):
        self.team, self.thread = team, thread

    def __call__(self):
        cdef Team team = self.team
        with nogil:
            while True:
                PyThread_acquire_lock(team.go[self.thread], WAIT_LOCK)
                if team.is_over:
                    break
                team._take(self.thread)
                PyThread_release_lock(team.done[self.thread])
