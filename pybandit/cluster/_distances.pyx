"""Distances for the kernels: rows, a matrix, or a function of indices."""

import numpy as np

from pybandit._shared.checks import check_indices, numbers_returned
from pybandit.cluster._sparse import check_starts, is_sparse
from pybandit.racing._callbacks import Callback

cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uintptr_t
from libc.string cimport memcpy

from pybandit._shared._csrc cimport PB_CALLBACK, PB_OK, pb_status
from pybandit.cluster._csrc cimport (
    PB_PRECOMPUTED, PB_TILE, pb_metric, pb_tile, pb_tile_fill, pb_tile_find_bad, pb_tile_memory,
    pb_tile_read,
)
from pybandit.racing._csrc cimport pb_factor_function

cnp.import_array()

cdef enum:
    ROWS_IN_BLOCK = 16        # 8 KiB of distances
    POINTS_IN_BLOCK = 1024    # of a function


cdef class Distances:
    """Distances between n points.

    Parameters
    ----------
    rows : ndarray of float32 or float64, shape (n, n_columns), C-contiguous; csr_array; or None
        As `as_rows`, `unit_rows` and `as_matrix` return them.
    metric : int
        The pb_metric of rows.
    function : callable or Callback
        ``function(candidates, references)`` returns distances of this shape; a compiled one has
        the signature of ``pybandit/racing/factors.h``, with references as its factors.
    n : int
        Number of points of a function.
    """

    def __cinit__(self, rows, int metric=PB_PRECOMPUTED, function=None, int64_t n=0):
        cdef const float[:, ::1] floats
        cdef const double[:, ::1] doubles
        self.points.metric = <pb_metric>metric
        self.rows, self.function = rows, function
        if rows is None:
            self.points.n = self.points.n_columns = n
            if isinstance(function, Callback):
                self.points.function = <pb_factor_function><uintptr_t>function.function
                self.points.user_data = <void *><uintptr_t>function.user_data
            else:
                self.points.function = _call_python
                self.points.user_data = <void *>self
            return
        self.points.n, self.points.n_columns = rows.shape
        if is_sparse(rows):
            self._set_sparse(rows)
        elif rows.dtype == np.float32:
            floats = rows
            self.points.floats = &floats[0, 0]
        else:
            doubles = rows
            self.points.doubles = &doubles[0, 0]

    def _set_sparse(self, rows):
        cdef const float[::1] floats
        cdef const double[::1] doubles
        cdef const int64_t[::1] starts = np.array(rows.indptr, dtype=np.int64)
        cdef const int32_t[::1] columns = np.ascontiguousarray(rows.indices, dtype=np.int32)
        values = np.ascontiguousarray(rows.data)
        if not values.size:  # pointers need an entry
            values, columns = np.zeros(1, rows.dtype), np.zeros(1, np.int32)
        check_starts(np.asarray(starts), min(values.size, columns.shape[0]))
        self.points.starts, self.points.columns = &starts[0], &columns[0]
        self.held = starts, columns, values
        if rows.dtype == np.float32:
            floats = values
            self.points.floats = &floats[0]
        else:
            doubles = values
            self.points.doubles = &doubles[0]

    cdef bint is_function(self) noexcept nogil:
        return self.points.floats == NULL and self.points.doubles == NULL

    cdef bint holds_rows(self) noexcept nogil:
        return not self.is_function() and self.points.starts == NULL

    cdef bint is_metric(self) noexcept nogil:
        return not self.is_function() and self.points.metric != PB_PRECOMPUTED

    cdef int64_t block_size(self) noexcept nogil:
        return POINTS_IN_BLOCK if self.is_function() else ROWS_IN_BLOCK

    cdef raise_failure(self, pb_status status, const int64_t *candidates, int64_t n_candidates,
                       const pb_tile *tile, const double *out):
        cdef int64_t at
        if status == PB_CALLBACK:
            error, self.error = self.error, None
            if error is None:
                raise RuntimeError("the compiled distance function returned a status other than "
                                   "0 (a function of pybandit.numba does so if it raises)")
            raise error
        at = pb_tile_find_bad(out, n_candidates)
        pair = (candidates[at // PB_TILE], tile.references[at % PB_TILE])
        explained = self.function.explained if isinstance(self.function, Callback) else ""
        raise ValueError(f"distances must be finite and at least 0; got {out[at]!r} from point "
                         f"{pair[0]} to point {pair[1]}{explained if out[at] != out[at] else ''}")

    @property
    def n(self):
        """Number of points."""
        return self.points.n

    def block(self, candidates, references):
        """Return the distances of each candidate to each reference, as the kernels compute them.

        Both are arrays of indices; the result is float64, of shape (candidates, references).
        """
        cdef pb_tile tile
        cdef pb_status status
        cdef int64_t first, count, n_here, done = 0
        cdef const int64_t[::1] i = check_indices("candidates", candidates, self.points.n)
        cdef const int64_t[::1] j = check_indices("references", references, self.points.n)
        cdef int64_t n = i.shape[0], size = self.block_size()
        result = np.empty((n, j.shape[0]))
        cdef double[:, ::1] out = np.empty((size, PB_TILE))
        cdef double[::1] memory = np.empty(pb_tile_memory(&self.points, size))
        tile.memory = &memory[0]
        for first in range(0, j.shape[0], PB_TILE):
            n_here = tile.n = min(<int64_t>PB_TILE, j.shape[0] - first)
            tile.references = &j[first]
            pb_tile_fill(&tile, &self.points)
            for done in range(0, n, size):
                count = min(size, n - done)
                with nogil:
                    status = pb_tile_read(&tile, &self.points, &i[done], count, &out[0, 0])
                if status != PB_OK:
                    self.raise_failure(status, &i[done], count, &tile, &out[0, 0])
                result[done:done + count, first:first + n_here] = out[:count, :n_here]
                PyErr_CheckSignals()
        return result


cdef int _call_python(const int64_t *references, int64_t n_references, const int64_t *candidates,
                      int64_t n_candidates, double *out, void *user_data) noexcept with gil:
    cdef Distances distances = <Distances>user_data
    try:
        # copies, because the function may keep its arguments
        i, j = _as_array(candidates, n_candidates), _as_array(references, n_references)
        values = numbers_returned("the distance function", distances.function(i, j),
                                  (n_candidates, n_references),
                                  "the distance function must return shape (len(i), len(j))")
        values = np.ascontiguousarray(values.T)
        memcpy(out, cnp.PyArray_DATA(values), n_candidates * n_references * sizeof(double))
        return 0
    except BaseException as error:
        distances.error = error
        return 1


cdef _as_array(const int64_t *values, cnp.npy_intp n):
    array = cnp.PyArray_SimpleNew(1, &n, cnp.NPY_INT64)
    memcpy(cnp.PyArray_DATA(array), values, n * sizeof(int64_t))
    return array
