"""Read the rows of a table in order, in Arrow batches, for a shuffle."""

import os

import numpy as np

from pybandit._shared.checks import shown
from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.optional import require
from pybandit.tables._cache import read_block
from pybandit.tables._open import PARQUET, suffix_of
from pybandit.tables._parquet import ParquetTable, is_number, models_of, numbers_of, opened_parquet
from pybandit.tables.blocks import Blocks

# Number of rows from which the bytes per row are estimated.
TRIED = 1000


def open_rows(table):
    """Return the `Rows` of a file, an array or blocks."""
    if isinstance(table, (str, os.PathLike)) and suffix_of(table) in PARQUET:
        return ParquetRows(os.fspath(table))
    blocks = table if isinstance(table, Blocks) else Blocks.open(table)
    # True if the blocks are as they were opened, not rebuilt from parts
    opened = isinstance(blocks.read, ParquetTable) and (
        np.array_equal(blocks.sizes, blocks.read.sizes)
        and blocks.n_columns == len(blocks.read.columns))
    return (OpenedRows if opened else BlockedRows)(blocks)


class Rows:
    """Base class; subclasses have `schema`, `n_rows`, `row_bytes` and `batches`.

    `first` is the first column of numbers; `models` are the columns that `Blocks` will read.
    """

    is_chosen = False  # True if the caller named the columns

    def numbers(self, block):
        """Return the first column of numbers of an Arrow table."""
        return numbers_of(block.column(self.first))


class ParquetRows(Rows):
    """Rows with all columns of a file, of any type."""

    def __init__(self, path):
        # with a buffer: a row group may be the whole file
        self.path, self._file = path, opened_parquet(path, buffer_size=1 << 16, pre_buffer=False)
        self.schema, self.n_rows = self._file.schema_arrow, self._file.metadata.num_rows
        numbers = [field.name for field in self.schema if is_number(field.type)]
        if len(set(self.schema.names)) < len(self.schema.names):
            raise UnreadableFileError(f"{path} must have columns of different names; got "
                                      f"{shown(self.schema.names)}")
        if not self.n_rows or not numbers:
            raise UnreadableFileError(f"{path} must have rows and a column of numbers; got "
                                      f"{self.n_rows} rows of {shown(self.schema.names)}")
        self.first = numbers[0]
        self.models = [name for name in models_of(self.schema, path) if name in numbers]
        if not self.models:
            raise UnreadableFileError(f"{path} must have columns of numbers that are not labels; "
                                      f"got {shown(self.schema.names)}")
        tried = next(self.batches(TRIED), None)
        if tried is None:
            raise UnreadableFileError(f"{path} must have {self.n_rows:,} rows; it has none")
        self.row_bytes = tried.nbytes / tried.num_rows

    def batches(self, n_rows):
        batches, n_read = self._file.iter_batches(n_rows), 0
        while True:
            try:
                batch = next(batches, None)
            except (OSError, require("pyarrow", "tables").ArrowException) as error:
                raise UnreadableFileError(f"{self.path} cannot be read: {error!s:.500}") from None
            if batch is None:
                break
            n_read += batch.num_rows
            yield batch
        if n_read != self.n_rows:
            raise UnreadableFileError(f"{self.path} must have {self.n_rows:,} rows, as its "
                                      f"metadata says; it has {n_read:,}")


class BlockedRows(Rows):
    """Rows of blocks, converted to the dtype of the first block."""

    def __init__(self, blocks):
        arrow = require("pyarrow", "tables")
        self._blocks, self.n_rows = blocks, blocks.n_rows
        names = range(blocks.n_columns) if blocks.names is None else blocks.names
        names = list(map(str, names))
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"names must differ as text to be written; got {twice!r} twice")
        self.schema = arrow.schema([(name, kind) for name, kind
                                    in zip(names, self._kinds(), strict=True)])
        self.first, self.models = self.schema.names[0], self.schema.names
        self.row_bytes = sum(kind.bit_width for kind in self.schema.types) / 8

    def _kinds(self):
        """Return the Arrow type of each column."""
        name, array = self._read(0)
        held = array.dtype
        if held.kind not in "biuf" or held.itemsize > 8:
            raise TypeError(f"table must hold real numbers of at most 64 bits; got dtype {held} "
                            f"of {name}")
        self._dtype = held.newbyteorder("=")  # Arrow has native byte order only
        return [require("pyarrow", "tables").from_numpy_dtype(self._dtype)] * len(array.T)

    def _read(self, block):
        return read_block(self._blocks.read, block, int(self._blocks.sizes[block]),
                          np.arange(self._blocks.n_columns))

    def batches(self, n_rows):
        arrow = require("pyarrow", "tables")
        for block in range(self._blocks.sizes.size):
            name, array = self._read(block)
            # an unsafe cast could drop a fraction, or make a large number infinite
            if not np.can_cast(array.dtype, self._dtype, "safe"):
                raise TypeError(f"{name} must return numbers that fit {self._dtype}, the dtype of "
                                f"block 0; got dtype {array.dtype}: return float64 for all blocks")
            for start in range(0, len(array), n_rows):
                part = np.ascontiguousarray(array[start:start + n_rows].T, dtype=self._dtype)
                yield arrow.record_batch([arrow.array(column) for column in part],
                                         schema=self.schema)


class OpenedRows(BlockedRows):
    """Rows of opened blocks, with the column types of the file."""

    is_chosen = True

    def _kinds(self):
        return self._blocks.read.kinds()

    def batches(self, n_rows):
        table = require("pyarrow", "tables").Table
        for block in range(self._blocks.sizes.size):
            read = table.from_arrays(self._blocks.read.columns_of(block), schema=self.schema)
            yield from read.to_batches(n_rows)
