"""Streams of the runs, for the engine."""

from libc.stdint cimport int64_t

from pybandit.simulation._csrc cimport pb_stream, pb_stream_seeds


cdef class Streams:
    cdef pb_stream_seeds seeds
    cdef readonly object entropy, spawn_key, pool_size
    cdef readonly int64_t first, n_runs
    # True if the C code gives the same streams as the installed NumPy
    cdef readonly bint is_known

    cdef bint _agrees(self)
    cdef object _private(self, pb_stream *stream)
    cdef void _begin(self, int64_t i, pb_stream *stream) noexcept nogil
    cdef void _begin_arm(self, int64_t i, int64_t arm, pb_stream *stream) noexcept nogil
