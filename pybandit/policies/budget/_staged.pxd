"""Private to pybandit: the base class of the policies that pull in stages."""

cimport numpy as cnp
from libc.stdint cimport int64_t

from pybandit.policies.protocol._ring cimport _RingPolicy


cdef class _StagedPolicy(_RingPolicy):
    cdef readonly int64_t budget
    cdef int64_t stage, n_stages
    cdef int64_t left             # pulls left in the stage
    cdef int64_t[::1] stage_pulls
    cdef double[::1] stage_sums, scratch_means
    cdef unsigned char[::1] kept
    cdef cnp.ndarray ranked

    cdef void _begin_stage(self) noexcept nogil
    cdef int64_t _n_kept(self) noexcept nogil
    cdef void _keep_best(self, int64_t n_kept) noexcept nogil
    cdef void _reject_worst(self) noexcept nogil
    cdef void _end_stage(self) noexcept nogil
