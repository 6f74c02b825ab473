"""Memory for jobs of k-medoids, and the jobs: parts of them run in threads, without the GIL."""

import numpy as np

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport PB_OK, pb_status
from pybandit.cluster._csrc cimport (
    PB_SWAP_LIMITS, PB_TILE, pb_kmedoids_fill, pb_kmedoids_nearest, pb_swap_begin,
    pb_swap_decision, pb_swap_measure, pb_swap_measure_many, pb_swap_trial, pb_swap_try_many,
    pb_swap_update, pb_tile_fill, pb_tile_memory,
)
from pybandit.cluster._distances cimport Distances


cdef class Workspace:
    """Memory of one thread: distances of k rows to a tile, estimates of n candidates at once."""

    def __cinit__(self, Distances distances, int64_t k, int64_t n):
        cdef int64_t i, most = max(k, n)
        self.records = np.zeros(n * sizeof(pb_swap_trial), dtype=np.uint8)
        self.space.trials = <pb_swap_trial *>&self.records[0]
        self.space.decisions = <pb_swap_decision *>PyMem_Calloc(n, sizeof(pb_swap_decision))
        if self.space.decisions == NULL:
            raise MemoryError(f"cannot allocate {n} decisions")
        self.memory, self.out = np.empty(4 * k * n), np.zeros(most * PB_TILE)
        self.touched = np.zeros(2 * k * n, dtype=np.int32)
        self.columns = np.empty(pb_tile_memory(&distances.points, most))
        self.space.tile.memory = &self.columns[0]
        self.known = np.empty(2 * PB_SWAP_LIMITS * k)
        self.space.limits.values, self.space.limits.version = &self.known[0], -1
        self.group = np.zeros(3 * n + k + 1, dtype=np.int64)
        self.rows, self.by_row = np.zeros(most, dtype=np.int64), np.arange(n)
        self.space.group, self.space.rows = &self.group[0], &self.rows[0]
        self.space.by_row, self.space.out = &self.by_row[0], &self.out[0]
        for i in range(n):
            self.space.trials[i].memory = &self.memory[4 * k * i]
            self.space.trials[i].touched = &self.touched[2 * k * i]

    def __dealloc__(self):
        PyMem_Free(self.space.decisions)


cdef int64_t end_of(int64_t part, int64_t n_tiles) noexcept nogil:
    return min((part + 1) * PART, n_tiles)


cdef pb_status find_nearest(void *job, int64_t part, int thread) noexcept nogil:
    """Find the two nearest medoids of points in random order."""
    cdef Job *j = <Job *>job
    cdef Space *space = j.spaces[thread]
    cdef int64_t t, i, count, n = j.km.n
    cdef double d1[PB_TILE]
    cdef double d2[PB_TILE]
    cdef int32_t nearest[PB_TILE]
    cdef int32_t second[PB_TILE]
    cdef pb_status status = PB_OK
    for t in range(part * PART, end_of(part, (n + PB_TILE - 1) // PB_TILE)):
        count = min(<int64_t>PB_TILE, n - t * PB_TILE)
        space.tile.n = count
        space.tile.references = j.order + t * PB_TILE
        pb_tile_fill(&space.tile, &j.km.distances)
        space.n_rows = j.km.k
        status = pb_kmedoids_nearest(j.km, &space.tile, space.rows, space.out, d1, d2, nearest,
                                     second)
        if status != PB_OK:
            return status
        for i in range(count):
            j.d1[t * PB_TILE + i] = d1[i]
            j.d2[t * PB_TILE + i] = d2[i]
            j.nearest[t * PB_TILE + i] = nearest[i]
            j.second[t * PB_TILE + i] = second[i]
    return status


cdef pb_status fill(void *job, int64_t part, int thread) noexcept nogil:
    """Fill tiles, first those of the strata."""
    cdef Job *j = <Job *>job
    cdef int64_t n_mixed = (j.km.n_mixed + PB_TILE - 1) // PB_TILE
    cdef int64_t n_parts = (j.km.n_tiles + PART - 1) // PART
    if part < n_parts:
        pb_kmedoids_fill(j.km, j.km.tiles, part * PART, end_of(part, j.km.n_tiles))
    else:
        pb_kmedoids_fill(j.km, j.km.mixed_tiles, (part - n_parts) * PART,
                         end_of(part - n_parts, n_mixed))
    return PB_OK


cdef pb_status estimate(void *job, int64_t part, int thread) noexcept nogil:
    """Estimate candidates together, while a tile is in the cache, or by one call of a function."""
    cdef Job *j = <Job *>job
    cdef Space *space = j.spaces[thread]
    cdef int64_t at, start = part * j.task, count = min(j.task, j.n_candidates - start)
    cdef pb_status status
    for at in range(count):
        space.decisions[at] = pb_swap_begin(j.km, &space.trials[at],
                                            (j.first + start + at) % j.km.n)
    space.n_rows = count
    status = pb_swap_try_many(j.km, space.trials, space.decisions, count, space.by_row,
                              &space.tile, space.group, space.rows, &space.limits, space.out)
    if status != PB_OK:
        return status
    for at in range(count):
        j.decided[start + at] = space.decisions[at]
        j.gains[start + at] = space.trials[at].gain
        j.counts[start + at] = space.trials[at].n_read
    return PB_OK


cdef pb_status measure(void *job, int64_t part, int thread) noexcept nogil:
    """Measure the distances from a row to a part of the points, for its exact gain."""
    cdef Job *j = <Job *>job
    cdef Space *space = j.spaces[thread]
    space.rows[0], space.n_rows = j.rows[0], 1
    return pb_swap_measure(j.km, j.rows[0], j.apart, part * PART, end_of(part, j.km.n_tiles),
                           &space.tile, space.out, j.sums + part * (j.km.k + 2))


cdef pb_status measure_many(void *job, int64_t part, int thread) noexcept nogil:
    """Measure a part of the exact gains of several rows, without a swap."""
    cdef Job *j = <Job *>job
    cdef Space *space = j.spaces[thread]
    cdef int64_t i
    space.n_rows = j.n_rows
    for i in range(j.n_rows):
        space.rows[i] = j.rows[i]
    return pb_swap_measure_many(j.km, j.rows, j.apart, j.n_rows, part * PART,
                                end_of(part, j.km.n_tiles), &space.tile, space.out,
                                j.sums + part * j.n_rows * (j.km.k + 2))


cdef pb_status update(void *job, int64_t part, int thread) noexcept nogil:
    """Update a part of the points after a swap."""
    cdef Job *j = <Job *>job
    cdef Space *space = j.spaces[thread]
    space.n_rows = j.km.k
    return pb_swap_update(j.km, j.cluster, part * PART, end_of(part, j.km.n_tiles), &space.tile,
                          space.rows, space.out)
