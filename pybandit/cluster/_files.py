"""Rows of files and of tables that are read block by block."""

import os
import tempfile

import numpy as np

from pybandit._shared.checks import shown
from pybandit.tables import Blocks

AT_ONCE = 1 << 21       # numbers converted at once
IN_MEMORY = 1 << 28     # bytes of rows; more are written to a temporary file, which is mapped
SUFFIXES = (".parquet", ".pq", ".npy", ".zarr")


def is_table(X):
    """Return True for Blocks, a path object, and text, which is the name of a file."""
    return isinstance(X, (str, os.PathLike, Blocks))


def rows_of_table(X):
    """Return the rows of a file or of Blocks, and the names of their columns, or None.

    Rows are float32 if that holds all numbers exactly, and otherwise float64. Memory holds one
    block of the table, and the rows if they take at most `IN_MEMORY` bytes.
    """
    blocks = X if isinstance(X, Blocks) else _opened(X)
    columns = np.arange(blocks.n_columns)
    rows = _empty((blocks.n_rows, blocks.n_columns), np.float32)
    size = max(1, AT_ONCE // blocks.n_columns)
    for first in range(0, blocks.n_rows, size):
        part = slice(first, min(first + size, blocks.n_rows))
        values = blocks.values(np.arange(part.start, part.stop), columns)
        with np.errstate(over="ignore", invalid="ignore"):
            rows[part] = values
        is_exact = rows[part] == values
        if not (is_exact | np.isnan(values)).all():
            rows = _widened(rows, first, size)
            rows[part] = values
    return rows, blocks.names


def _opened(path):
    if not os.fspath(path).lower().endswith(SUFFIXES):
        raise ValueError(f"X must be rows, a function of indices, or a file whose name ends in "
                         f"{', '.join(SUFFIXES)}; got {shown(os.fspath(path))}")
    return Blocks.open(os.fspath(path))


def _empty(shape, dtype):
    """Return an array in memory, or in a file that is removed with it.

    A file of a user is not mapped: a process that maps a file ends if another one truncates it.
    """
    if shape[0] * shape[1] * np.dtype(dtype).itemsize <= IN_MEMORY:
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile(prefix="pybandit-") as file:
        return np.memmap(file, dtype, "w+", shape=shape)


def _widened(rows, n, size):
    """Return float64 rows with the first n of `rows`."""
    wide = _empty(rows.shape, np.float64)
    for first in range(0, n, size):
        part = slice(first, min(first + size, n))
        wide[part] = rows[part]
    return wide
