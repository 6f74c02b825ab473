"""Tiles of points for k-medoids."""

from libc.stdint cimport int64_t

from pybandit.cluster._csrc cimport PB_TILE, pb_tile
from pybandit.cluster._distances cimport Distances


# Return the number of parts of this size.
cdef inline int64_t parts_of(int64_t n, int64_t size) noexcept:
    return (n + size - 1) // size


# Return the number of lanes of the tiles for n points.
cdef inline int64_t padded(int64_t n) noexcept:
    return (n + PB_TILE - 1) // PB_TILE * PB_TILE


cdef pb_tile *make_tiles(Distances distances, dict arrays, str name, int64_t n_tiles,
                         bint is_held) except NULL


cdef class Sample:
    cdef Distances distances
    cdef dict arrays
    cdef pb_tile *tiles
    cdef const int64_t[::1] references
    cdef readonly int64_t n_distances
