"""One pass over a kernel matrix."""

import numpy as np

from pybandit.policies._csrc cimport pb_gaussian_kernel, pb_gaussian_kernel_check


def inspected(const double[:, ::1] kernel):
    """Return properties of a square matrix of at least one row.

    Returns
    -------
    largest, apart, row_sum : float
        Largest absolute value, largest difference of mirrored entries, and largest sum of absolute
        values in a row, which is NaN if an entry is not finite.
    row, column : int
        Where mirrored entries are `apart`, row > column.
    """
    cdef double[::1] sums = np.empty(kernel.shape[0])
    cdef pb_gaussian_kernel seen
    with nogil:
        seen = pb_gaussian_kernel_check(&kernel[0, 0], kernel.shape[0], &sums[0])
    return seen.largest, seen.apart, seen.row_sum, seen.row, seen.column
