"""Private to pybandit: independent posteriors of means, of which only the largest is needed."""

from libc.stdint cimport int64_t
from numpy.random cimport bitgen_t

from pybandit.policies._csrc cimport pb_thompson


cdef class Posterior:
    cdef pb_thompson kernel
    cdef double[:, ::1] arms
    cdef double[::1] chances

    # Add rewards since the last call: n and total are those of an arm so far.
    cdef void count(self, int64_t arm, double n, double total) noexcept nogil
    # Update an arm after its flag in `aside` has changed.
    cdef void look(self, int64_t arm) noexcept nogil
    cdef void set_aside_flags(self, const unsigned char *aside) noexcept
    # Return the arm of the largest mean drawn from its posterior.
    cdef int64_t choose(self, bitgen_t *bitgen) noexcept nogil
