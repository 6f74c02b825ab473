"""Rows of files and of tables that are read block by block."""

import os

import numpy as np

from pybandit.tables import Blocks

AT_ONCE = 1 << 21  # numbers converted at once
SUFFIXES = (".parquet", ".pq", ".npy", ".zarr")


def is_table(X):
    """Return True for Blocks, a path object, and text that ends like the name of a table."""
    if isinstance(X, str):
        return X.lower().endswith(SUFFIXES)
    return isinstance(X, (os.PathLike, Blocks))


def rows_of_table(X):
    """Return the rows of a file or of Blocks: float32 if it holds all numbers exactly, or float64.

    In addition to the result, memory holds one block of the table.
    """
    blocks = X if isinstance(X, Blocks) else Blocks.open(os.fspath(X))
    columns = np.arange(blocks.n_columns)
    rows = np.empty((blocks.n_rows, blocks.n_columns), np.float32)
    size = max(1, AT_ONCE // blocks.n_columns)
    for first in range(0, blocks.n_rows, size):
        last = min(first + size, blocks.n_rows)
        values = blocks.values(np.arange(first, last), columns)
        with np.errstate(over="ignore", invalid="ignore"):
            rows[first:last] = values
        is_exact = rows[first:last] == values
        if not (is_exact | np.isnan(values)).all():
            rows = rows.astype(np.float64)
            rows[first:last] = values
    return rows
