"""Threads that divide jobs of C code, without the GIL."""

from cpython.pythread cimport PyThread_type_lock
from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_status

# Does part `part` of a job in thread `thread`.
ctypedef pb_status (*part_function)(void *job, int64_t part, int thread) noexcept nogil


cdef class Team:
    cdef readonly int n_threads
    cdef list workers
    cdef PyThread_type_lock *go      # released to start each helper
    cdef PyThread_type_lock *done    # released when it has finished
    cdef part_function function
    cdef void *job
    cdef int64_t n_parts
    cdef long long following         # atomic: the next part
    cdef bint is_over
    cdef int n_started
    cdef pb_status *failed           # of each thread
    cdef int64_t *failed_part

    # Run all parts of a job. Returns -1, or the number of a thread if parts failed: of the thread
    # that ran the lowest of them. Ctrl-C takes effect between two parts.
    cdef int run(self, part_function function, void *job, int64_t n_parts) except -2
    cdef void _do(self, int64_t part, int thread) noexcept nogil
    cdef void _take(self, int thread) noexcept nogil
    cdef int _close(self) except -1
    cdef int _wait(self) except -1
