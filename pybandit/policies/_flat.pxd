"""Arrays whose memory may be read as it is."""

cimport numpy as cnp
from libc.stdint cimport int64_t


cdef inline int64_t length_of(array, int kind) noexcept:
    """Of a plain flat array of this type, aligned and contiguous; -1: of anything else."""
    if not cnp.PyArray_CheckExact(array):
        return -1
    if cnp.PyArray_TYPE(<cnp.ndarray>array) != kind or (
            cnp.PyArray_NDIM(<cnp.ndarray>array) != 1
            or not cnp.PyArray_ISCARRAY_RO(<cnp.ndarray>array)):
        return -1
    return cnp.PyArray_SIZE(<cnp.ndarray>array)
