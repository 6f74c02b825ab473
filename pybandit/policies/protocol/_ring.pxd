"""Private to pybandit: policies that pull a shrinking set of arms in turn."""

from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_round_robin
from pybandit.policies.protocol.base cimport NativePolicy


cdef class _RingPolicy(NativePolicy):
    cdef pb_round_robin *ring    # own_ring, or the one in a C struct of the subclass
    cdef pb_round_robin own_ring
    cdef int64_t[::1] ring_arms
