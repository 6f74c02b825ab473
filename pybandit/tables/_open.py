"""Open a file or an array as the arguments of `Blocks`."""

import os
from pathlib import Path

import numpy as np

from pybandit._shared.checks import as_list, check_indices, refuse_masks, shown
from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.files import check_exists
from pybandit._shared.optional import require
from pybandit.tables._cells import MOST_CELLS
from pybandit.tables._npy import NpyFile, give_back
from pybandit.tables._zarr import ZarrFolder

# Default number of cells of a block: 4 MB of float32, some milliseconds.
CELLS = 1 << 20
MOST_BLOCKS = 1 << 24  # blocks of a table
PARQUET, NUMPY, ZARR = (".parquet", ".pq"), (".npy",), (".zarr",)
FILES = (*PARQUET, *NUMPY, *ZARR)


def is_lazy(table):
    """Return True for an array in chunks that is not in memory, as of Zarr, Dask or HDF5."""
    return not isinstance(table, np.ndarray) and all(
        hasattr(table, name) for name in ("chunks", "shape", "dtype", "__getitem__"))


def suffix_of(path):
    return Path(os.fspath(path)).suffix.lower()


def check_there(path):
    """Raise an error unless the file exists and the package that reads it is installed."""
    if suffix_of(path) in PARQUET:
        require("pyarrow.parquet", "tables")
    check_exists(path)


def open_table(table, columns, shuffled):
    """Return the arguments of `Blocks`, by name."""
    if isinstance(table, (str, os.PathLike)):
        if suffix_of(table) in FILES:
            check_there(table)
        if suffix_of(table) in PARQUET:
            from pybandit.tables._parquet import ParquetTable

            read = ParquetTable(os.fspath(table), columns)
            _check_block(read.path, read.sizes, len(read.columns))
            return read.blocks(shuffled)
        array = open_array(table)
        arguments = _blocks_of(array, columns, shuffled)
        _check_block(array.path, arguments["sizes"], arguments["n_columns"])
        return arguments
    return _blocks_of(table, columns, shuffled)


def _check_block(path, sizes, n_columns):
    """Refuse blocks of a file with more cells than a table that is read whole may have."""
    if int(sizes.max()) * n_columns > MOST_CELLS:
        raise UnreadableFileError(f"{path} must have blocks (row groups, chunks) of at most "
                                  f"{MOST_CELLS:,} cells; got {int(sizes.max()):,} rows of "
                                  f"{n_columns:,} columns: write it with smaller blocks, or name "
                                  "fewer columns")


def open_array(path):
    """Return the array of a file; only its metadata are read."""
    suffix = suffix_of(path)
    if suffix not in FILES:
        raise ValueError(f"table must be a file whose name ends in {', '.join(FILES)}; got "
                         f"{os.fspath(path)!r}")
    return NpyFile(path) if suffix in NUMPY else ZarrFolder(path)


def _blocks_of(array, columns, shuffled):
    shape = getattr(array, "shape", None)
    dtype = getattr(array, "dtype", None)
    if shape is None or dtype is None or not hasattr(array, "__getitem__"):
        raise TypeError(f"table must be the name of a file, or an array; got {shown(array)}")
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"table must have two dimensions, at least 1 row and 1 column; got shape "
                         f"{tuple(shape)}")
    if np.dtype(dtype).kind not in "biuf":
        raise TypeError(f"table must hold real numbers; got dtype {dtype}")
    sizes = np.array(_row_counts(array), dtype=np.float64)
    sizes = sizes[sizes != 0]
    if not sizes.sum() == shape[0]:  # NaN if Dask does not know a length
        raise ValueError("table must have chunks of known lengths; got "
                         f"{shown(getattr(array, 'chunks', None))}")
    refuse_masks("table", array)
    chosen = None
    if columns is not None:
        chosen = check_indices("columns", as_list("columns", columns, "column numbers"), shape[1])
    read = ArrayTable(array, sizes.astype(np.int64), chosen)
    names = None if chosen is None else chosen.tolist()
    return dict(read=read, sizes=read.sizes, names=names, shuffled=shuffled,
                n_columns=shape[1] if chosen is None else chosen.size)


def _row_counts(array):
    """Return the number of rows of each block."""
    n_rows, n_columns = array.shape
    chunks = getattr(array, "chunks", None)
    if chunks and isinstance(chunks[0], tuple):  # Dask has one size per chunk
        return chunks[0]
    unit = int(chunks[0]) if chunks else 1
    size = unit * max(1, CELLS // (unit * n_columns))
    whole, rest = divmod(n_rows, size)
    if whole > MOST_BLOCKS:
        name = array.path if isinstance(array, (NpyFile, ZarrFolder)) else "table"
        raise UnreadableFileError(f"{name} must have at most {MOST_BLOCKS:,} blocks; got {whole:,} "
                                  f"of {size:,} rows")
    return [size] * whole + [rest] * (rest > 0)


class ArrayTable:
    """Reader of blocks of an array by slices; `columns` selects some."""

    def __init__(self, array, sizes, columns):
        self.array, self.sizes, self.columns = array, sizes, columns
        self._starts = np.cumsum(sizes) - sizes

    def __call__(self, block, columns):
        start = int(self._starts[block])
        rows = slice(start, start + int(self.sizes[block]))
        if self.columns is not None:
            columns = self.columns[columns]
        order = np.argsort(columns, kind="stable")
        # `oindex` of Zarr; HDF5 accepts only increasing columns
        array = getattr(self.array, "oindex", self.array)
        try:
            part = np.asarray(array[rows, columns[order]])
        except UnreadableFileError as error:
            raise UnreadableFileError(f"{error} (block {block})") from None
        except (ImportError, MemoryError):
            raise
        except Exception as error:  # the library behind the array may raise anything
            raise UnreadableFileError(
                f"block {block}, rows {rows.start:,} to {rows.stop - 1:,}, of "
                f"{type(self.array).__name__} cannot be read: {error!r:.300}") from error
        give_back(self.array)
        return part if np.array_equal(order, np.arange(order.size)) else part[:, np.argsort(order)]
