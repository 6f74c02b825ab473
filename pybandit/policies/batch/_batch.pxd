"""Private to pybandit: what the batch policies share."""

from libc.stdint cimport int64_t

from pybandit.policies.protocol._ring cimport _RingPolicy


# Batches around a ring of the arms that are left.
cdef class _BatchPolicy(_RingPolicy):
    cdef readonly int64_t batch_size, max_repeats
    cdef dict arrays   # the memory of the kernels
    cdef list scratch

    cdef void *_allocate(self, str name, shape, dtype)
    cdef void *_scratch(self, int64_t size)


# Its kernel keeps flags of the arms that it accepted.
cdef class _AcceptingPolicy(_BatchPolicy):
    cdef unsigned char *flags
    cdef int64_t[::1] named   # scratch
    cdef unsigned char *_accepted(self)
