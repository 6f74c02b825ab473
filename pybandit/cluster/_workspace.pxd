"""Memory for estimates of swaps of k-medoids."""

from libc.stdint cimport int32_t, int64_t

from pybandit.cluster._csrc cimport pb_swap_decision, pb_swap_limits, pb_swap_trial, pb_tile


cdef class Workspace:
    cdef pb_tile tile
    cdef double[::1] columns, out
    cdef int64_t[::1] rows


cdef class Together:
    cdef pb_swap_trial *trials
    cdef pb_swap_decision *decisions
    cdef pb_tile tile
    cdef unsigned char[::1] records
    cdef double[::1] memory, columns, known, out
    cdef int32_t[::1] touched
    cdef pb_swap_limits limits
    cdef int64_t[::1] by_row, group, rows, found
