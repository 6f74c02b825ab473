"""Limits of the cells of an array, in one pass over memory."""

import numpy as np

from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport (
    PB_FLOAT32, PB_FLOAT64, PB_INT8, PB_UINT8, pb_cell_type, pb_cells_range,
)

# Types of cells that the kernels read in place, by the dtypes of NumPy without byte order.
CELL_TYPES = {"f8": PB_FLOAT64, "f4": PB_FLOAT32, "b1": PB_UINT8, "u1": PB_UINT8, "i1": PB_INT8}


def cell_type(array):
    """Return the `pb_cell_type` of an aligned array of native byte order, or None."""
    native = array.dtype.isnative and array.flags.aligned
    return CELL_TYPES.get(array.dtype.str[1:]) if native else None


def cell_range(array):
    """Return the smallest and the largest of the real numbers of an array; None if one is NaN.

    Arrays whose cells the kernels cannot read in place are copied.
    """
    cdef const unsigned char[::1] cells
    cdef pb_cell_type kind
    cdef double low, high
    cdef int64_t n = array.size
    cdef int is_known
    if cell_type(array) is None or not array.flags.c_contiguous:
        array = np.ascontiguousarray(array, dtype=np.float64)
    cells, kind = array.reshape(-1).view(np.uint8), cell_type(array)
    with nogil:
        is_known = pb_cells_range(&cells[0], kind, n, &low, &high)
    return (low, high) if is_known else None
