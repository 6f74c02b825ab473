"""Declaration of the schedule of successive rejects. Private."""

from libc.stdint cimport int64_t

from pybandit.betting._csrc cimport pb_rejects


cdef class Rejects:
    cdef pb_rejects rules
    cdef double[::1] _weights

    cpdef int64_t keep(self, int64_t n_alive, int64_t places, int64_t n_read,
                       int64_t cells) noexcept
    cpdef int64_t block(self, int64_t n_alive, int64_t places, int64_t n_read,
                        int64_t cells) noexcept
