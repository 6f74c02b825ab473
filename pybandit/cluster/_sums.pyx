"""Sums of the distances of candidates to all points."""

import numpy as np

from pybandit.cluster._parts import in_parts
from pybandit.cluster._sparse import dense_columns, is_sparse

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport PB_OK, pb_status
from pybandit.cluster._csrc cimport (
    PB_COSINE, PB_HAMMING, PB_MANHATTAN, PB_PRECOMPUTED, PB_SQEUCLIDEAN, PB_TILE, pb_distance_from,
    pb_separable_column, pb_separable_squares, pb_separable_two_values, pb_tile, pb_tile_add,
    pb_tile_fill, pb_tile_memory, pb_tile_read,
)
from pybandit.cluster._distances cimport Distances

cdef enum:
    PART = 512          # candidates per tile that is filled: the tile costs a tenth of them


cdef const double *doubles_or_null(const double[::1] values) noexcept:
    return &values[0] if values is not None and values.shape[0] else NULL


def full_sums(Distances distances, const double[::1] weights, candidates, int64_t n_threads=1):
    """Return the weighted sum of the distances of each candidate to all points.

    `candidates` is an increasing int64 array; `weights` is None if all are 1. Distances are
    computed in the type of the rows and added in double precision, in the order of the points.
    """
    cdef const int64_t[::1] chosen = candidates
    sums = np.zeros(chosen.shape[0])
    cdef double[::1] into = sums
    order = np.arange(distances.points.n)
    cdef const int64_t[::1] references = order

    def run(int64_t first, int64_t count):
        _add_all(distances, weights, references, chosen[first:first + count],
                 into[first:first + count])

    if distances.is_function():
        run(0, chosen.shape[0])
    else:
        in_parts(run, chosen.shape[0], PART, n_threads)
    return sums


cdef _add_all(Distances distances, const double[::1] weights, const int64_t[::1] references,
              const int64_t[::1] chosen, double[::1] sums):
    cdef pb_tile tile
    cdef pb_status status = PB_OK
    cdef int64_t n = chosen.shape[0], size = min(distances.block_size(), n)
    cdef int64_t start, done = 0, count = 0
    cdef double[:, ::1] out = np.empty((size, PB_TILE))
    cdef double[::1] memory = np.empty(pb_tile_memory(&distances.points, size))
    cdef const double *w = doubles_or_null(weights)
    tile.memory = &memory[0]
    for start in range(0, references.shape[0], PB_TILE):
        tile.n = min(<int64_t>PB_TILE, references.shape[0] - start)
        tile.references = &references[start]
        with nogil:
            pb_tile_fill(&tile, &distances.points)
            done = 0
            while done < n:
                count = min(size, n - done)
                status = pb_tile_read(&tile, &distances.points, &chosen[done], count, &out[0, 0])
                if status != PB_OK:
                    break
                pb_tile_add(&tile, w, &out[0, 0], count, &sums[done])
                done += count
        if status != PB_OK:
            distances.raise_failure(status, &chosen[done], count, &tile, &out[0, 0])
        if start % (64 * PB_TILE) == 0:
            PyErr_CheckSignals()


def exact_sums(Distances distances, const double[::1] weights, candidates, int64_t n_threads=1):
    """Return the same sums as `full_sums`, with all distances in double precision.

    Distances of a function or a matrix are what they are, and are checked.
    """
    cdef const int64_t[::1] chosen = candidates
    if distances.is_function() or distances.points.metric == PB_PRECOMPUTED:
        return full_sums(distances, weights, candidates, n_threads)
    sums = np.empty(chosen.shape[0])
    cdef double[::1] into = sums

    def run(int64_t first, int64_t count):
        _add_exactly(distances, weights, chosen[first:first + count], into[first:first + count])

    in_parts(run, chosen.shape[0], 4, n_threads)
    return sums


cdef _add_exactly(Distances distances, const double[::1] weights, const int64_t[::1] chosen,
                  double[::1] sums):
    cdef double[::1] out = np.empty(distances.points.n)
    cdef const double *w = doubles_or_null(weights)
    cdef int64_t i
    for i in range(chosen.shape[0]):
        with nogil:
            sums[i] = pb_distance_from(&distances.points, w, chosen[i], &out[0])
        PyErr_CheckSignals()


def distances_from(Distances distances, int64_t point):
    """Return the distance of each point to `point`, float64; symmetric distances if a matrix."""
    cdef double[::1] out
    if distances.is_function():
        return distances.block(np.arange(distances.points.n), np.array([point]))[:, 0]
    result = np.empty(distances.points.n)
    out = result
    with nogil:
        pb_distance_from(&distances.points, NULL, point, &out[0])
    return result


def separable_totals(Distances distances, const double[::1] weights):
    """Return the exact sums of all rows, for metrics whose sums separate by column.

    Rows in CSR become dense for some columns at once.
    """
    if is_sparse(distances.rows):
        totals, metric = 0.0, distances.points.metric
        for block in dense_columns(distances.rows):
            share = block.shape[1] / distances.points.n_columns if metric == PB_HAMMING else 1.0
            totals += share * separable_totals(Distances(block, metric), weights)
        return totals
    cdef int64_t n = distances.points.n, n_columns = distances.points.n_columns, column
    cdef const double *w = doubles_or_null(weights)
    totals = np.zeros(n)
    cdef double[::1] into = totals
    cdef double[::1] memory = np.empty(3 * n_columns)
    cdef unsigned char[::1] is_done = np.zeros(n_columns, dtype=np.uint8)
    cdef const int64_t[::1] order
    if distances.points.metric == PB_SQEUCLIDEAN or distances.points.metric == PB_COSINE:
        with nogil:
            pb_separable_squares(&distances.points, w, &memory[0], &into[0])
        return totals
    if distances.points.metric == PB_HAMMING:
        with nogil:
            pb_separable_two_values(&distances.points, w, &memory[0], &is_done[0], &into[0])
    elif distances.points.metric != PB_MANHATTAN:
        raise ValueError("sums of this metric do not separate by column")
    for column in range(n_columns):
        if is_done[column]:
            continue
        # a copy, because another thread may write to the rows
        order = np.argsort(np.array(distances.rows[:, column]), kind="stable")
        with nogil:
            pb_separable_column(&distances.points, w, column, &order[0], &into[0])
        PyErr_CheckSignals()
    return totals
