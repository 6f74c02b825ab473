"""Memory for jobs of k-medoids, and the jobs."""

from libc.stdint cimport int32_t, int64_t

from pybandit._shared._csrc cimport pb_status
from pybandit.cluster._csrc cimport (
    pb_kmedoids, pb_swap_decision, pb_swap_limits, pb_swap_trial, pb_tile,
)


cdef struct Space:
    # distances of rows to a tile
    pb_tile tile
    int64_t *rows
    double *out
    int64_t n_rows                # of the call that failed
    # estimates of candidates
    pb_swap_trial *trials
    pb_swap_decision *decisions
    pb_swap_limits limits
    int64_t *by_row
    int64_t *group


cdef class Workspace:
    cdef Space space
    cdef unsigned char[::1] records
    cdef double[::1] memory, columns, known, out
    cdef int32_t[::1] touched
    cdef int64_t[::1] by_row, group, rows


cdef struct Job:
    pb_kmedoids *km
    Space **spaces                # by thread
    # nearest medoids of points in random order
    const int64_t *order
    double *d1
    double *d2
    int32_t *nearest
    int32_t *second
    # estimates of the candidates from position `first` on
    int64_t first, n_candidates, task
    double *gains
    int32_t *decided
    int64_t *counts
    # verification of rows, and the update of points after a swap
    const int64_t *rows
    int64_t n_rows, cluster
    const double *apart
    double *sums


cdef enum:
    PART = 64                # tiles per part of a job: 4,096 points

cdef pb_status find_nearest(void *job, int64_t part, int thread) noexcept nogil
cdef pb_status fill(void *job, int64_t part, int thread) noexcept nogil
cdef pb_status estimate(void *job, int64_t part, int thread) noexcept nogil
cdef pb_status measure(void *job, int64_t part, int thread) noexcept nogil
cdef pb_status measure_many(void *job, int64_t part, int thread) noexcept nogil
cdef pb_status update(void *job, int64_t part, int thread) noexcept nogil
