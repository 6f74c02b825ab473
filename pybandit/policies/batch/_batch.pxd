"""Private to pybandit: base classes of the batch policies."""

from libc.stdint cimport int64_t

from pybandit.policies.protocol._ring cimport _RingPolicy


# A policy that pulls the remaining arms in turn, in batches.
cdef class _BatchPolicy(_RingPolicy):
    cdef readonly int64_t batch_size, max_repeats
    cdef dict arrays   # memory that is part of the saved state
    cdef list scratch

    cdef void *_allocate(self, str name, shape, dtype)
    cdef void *_scratch(self, int64_t size)


# A policy that accepts arms early; its C struct has one flag per arm, set if it is accepted.
cdef class _AcceptingPolicy(_BatchPolicy):
    cdef unsigned char *flags
    cdef int64_t[::1] named   # scratch
    cdef unsigned char *_accepted(self)
