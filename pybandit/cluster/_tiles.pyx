"""Tiles of points, and distances from rows to them."""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport PB_OK, pb_status
from pybandit.cluster._csrc cimport (
    PB_TILE, pb_tile, pb_tile_fill, pb_tile_memory, pb_tile_read,
)
from pybandit.cluster._distances cimport Distances


cdef pb_tile *make_tiles(Distances distances, dict arrays, str name, int64_t n_tiles,
                         bint is_held) except NULL:
    """Return tiles, kept in `arrays`, with memory for their rows if `is_held`."""
    cdef unsigned char[::1] tiles = np.empty(n_tiles * sizeof(pb_tile), dtype=np.uint8)
    cdef int64_t t, size = pb_tile_memory(&distances.points, 1) if is_held else 0
    cdef double[::1] memory = np.empty(max(n_tiles * size, 1))
    cdef pb_tile *first = <pb_tile *>&tiles[0]
    arrays[name], arrays[name + " memory"] = tiles, memory
    for t in range(n_tiles):
        first[t].memory = &memory[0] + t * size
    return first


cdef class Sample:
    """Rows of which distances from other rows are measured often.

    Parameters
    ----------
    distances : Distances
    rows : ndarray of int64, shape (n,), n >= 1
    """

    def __cinit__(self, Distances distances, const int64_t[::1] rows):
        cdef int64_t t, n = rows.shape[0]
        self.distances, self.references, self.arrays = distances, rows, {}
        self.tiles = make_tiles(distances, self.arrays, "tiles", padded(n) // PB_TILE,
                                not distances.is_function())
        for t in range(padded(n) // PB_TILE):
            self.tiles[t].n = min(<int64_t>PB_TILE, n - t * PB_TILE)
            self.tiles[t].references = &rows[t * PB_TILE]
            pb_tile_fill(&self.tiles[t], &distances.points)

    @property
    def rows(self):
        """Rows of the sample; int64, shape (n,)."""
        return np.asarray(self.references)

    def measure(self, candidates):
        """Return the distances from rows to those of the sample; float64, shape (m, n)."""
        cdef pb_status status
        cdef int64_t t, m = len(candidates), n = self.references.shape[0]
        cdef pb_tile scratch
        order = np.argsort(candidates, kind="stable")  # functions take increasing candidates
        cdef const int64_t[::1] rows = np.asarray(candidates, dtype=np.int64)[order]
        cdef double[:, ::1] out = np.empty((m, PB_TILE))
        cdef double[::1] memory = np.empty(PB_TILE * m if self.distances.is_function() else 1)
        result = np.empty((m, padded(n)))
        for t in range(padded(n) // PB_TILE):
            PyErr_CheckSignals()
            scratch = self.tiles[t]
            if self.distances.is_function():
                scratch.memory = &memory[0]
            with nogil:
                status = pb_tile_read(&scratch, &self.distances.points, &rows[0], m, &out[0, 0])
            if status != PB_OK:
                self.distances.raise_failure(status, &rows[0], m, &scratch, &out[0, 0])
            result[order, t * PB_TILE:(t + 1) * PB_TILE] = out
        self.n_distances += m * n
        return np.ascontiguousarray(result[:, :n])
