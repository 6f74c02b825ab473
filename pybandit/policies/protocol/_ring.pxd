"""Private to pybandit: policies whose arms are pulled in turn and only ever leave."""

from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_round_robin
from pybandit.policies.protocol.base cimport NativePolicy


cdef class _RingPolicy(NativePolicy):
    cdef pb_round_robin *ring    # its own, or one in the struct of a kernel
    cdef pb_round_robin own_ring
    cdef int64_t[::1] ring_arms
