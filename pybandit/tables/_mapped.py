"""Cells of an array that is mapped from a file, and no more of it in memory than those."""

import mmap

import numpy as np

from pybandit._shared.checks import check_numeric
from pybandit.tables._npy import NpyFile

# Rows that are read between two times that pages are given back. The kernel maps 64 KiB around
# each cell that is touched, where they are in its cache.
ROWS = 1024


def cells_of(array, rows, columns):
    """Float64 (len(rows), len(columns)) of an array of two dimensions, or of a `NpyFile`."""
    if isinstance(array, NpyFile):
        return check_numeric("table", array.cells(rows, columns))
    if _mapping_of(array) is None:
        return check_numeric("table", array[rows[:, None], columns], copy=False)
    made = np.empty((rows.size, columns.size))
    for start in range(0, rows.size, ROWS):
        part = array[rows[start:start + ROWS, None], columns]
        made[start:start + ROWS] = check_numeric("table", part, copy=False)
        give_back(array)
    return made


def give_back(array):
    """Of a map that is only read, the pages; the kernel keeps them while it has room."""
    mapping = _mapping_of(array)
    if mapping is not None:
        mapping.madvise(mmap.MADV_DONTNEED)


def _mapping_of(array):
    """The map of a file behind an array, if it is only read: what was written would be lost."""
    mode = None
    while isinstance(array, np.ndarray):
        mode = getattr(array, "mode", mode)
        array = array.base
    dropped = hasattr(mmap, "MADV_DONTNEED") and isinstance(array, mmap.mmap)
    return array if dropped and mode == "r" else None
