"""Tables in Parquet files: each row group is a block.

A shuffled file has a mark in its metadata: the entropy of the order, the number of rows, and
checksums of the first column in the first and the last block. Programs that sort or cut a table
may keep the metadata, but then the checksums differ.
"""

import json
import threading
import zlib

import numpy as np

from pybandit._shared.checks import as_list, shown
from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.files import check_regular, parsed_json, reason_of
from pybandit._shared.optional import require
from pybandit.tables._columns import (
    REMEDY,
    extremes_of,
    is_aggregate,
    is_label,
    is_model,
    left_out,
    numbers_rows,
    warn_of_odd,
)

MOST_MARK = 1 << 10  # bytes of a mark
MARK = b"pybandit_shuffle"
MOST_PANDAS = 1 << 22  # bytes of the metadata of pandas: some 20,000 columns


def opened_parquet(path, **options):
    """Return a ParquetFile; raise UnreadableFileError if it cannot be opened."""
    parquet = require("pyarrow.parquet", "tables")
    try:
        check_regular(path)
        return parquet.ParquetFile(path, **options)
    except (OSError, ValueError) as error:  # ArrowInvalid of pyarrow is a ValueError
        raise UnreadableFileError(f"{path} cannot be read: {reason_of(error)[:500]}") from None


class ParquetTable:
    """Reader of row groups of a file; `columns` are names, by default all except labels.

    One thread at a time reads: a file of pyarrow has a single position.
    """

    def __init__(self, path, columns=None):
        self.path = path
        self._open()
        fields = {field.name: field for field in self._schema}
        if len(fields) < len(self._schema.names):
            raise UnreadableFileError(f"{path} must have columns of different names; got "
                                      f"{shown(self._schema.names)}")
        is_chosen = columns is not None
        if not is_chosen:
            columns = models_of(self._schema, path)
        self.columns = as_list("columns", columns, "names of columns")
        for name in self.columns:
            if name not in fields:
                raise ValueError(f"columns must be columns of {path}; got {shown(name)}")
            if not is_number(fields[name].type):
                raise TypeError(f"{path} must hold real numbers; column {name!r} holds "
                                f"{fields[name].type}: name the other columns in "
                                "Blocks.open(path, columns=)")
        # metadata of columns are not read: if they are damaged, pyarrow ends the process
        metadata = self._file.metadata
        sizes = np.array([metadata.row_group(group).num_rows
                          for group in range(metadata.num_row_groups)], dtype=np.int64)
        self._groups = np.flatnonzero(sizes).tolist()
        self.sizes = sizes[self._groups]
        if not self.sizes.size:
            raise UnreadableFileError(f"{path} must have rows; it has none")
        if (sizes < 0).any() or self.sizes.sum(dtype=np.float64) != metadata.num_rows:
            raise UnreadableFileError(f"{path} must have as many rows as its row groups together; "
                                      f"got {metadata.num_rows:,}")
        self._is_chosen = is_chosen

    def check_columns(self, shuffled):
        """Refuse columns that number the rows; warn of columns unlike the others."""
        if shuffled and self.sizes[0] > 2:
            first = self(0, np.arange(len(self.columns)))
            among = "" if len(self.sizes) == 1 else f" of the first {len(first):,}"
            warn_of_odd(self.columns, *extremes_of(first), among)
        for name in self.numberings():
            raise UnreadableFileError(f"{self.path}: column {name!r} numbers the rows: {REMEDY}")

    def numberings(self):
        """Return the names of columns that only number the rows, in any order."""
        if list(self.columns) == [str(at) for at in range(len(self.columns))]:
            return []  # written from an array, whose columns have no names
        first, found = self(0, np.arange(len(self.columns))), []
        for at in np.flatnonzero((first == np.floor(first)).all(axis=0)).tolist():
            blocks = (self(block, np.array([at]))[:, 0] for block in range(len(self.sizes)))
            if numbers_rows(blocks, int(self.sizes.sum())):
                found.append(self.columns[at])
        return found

    def _open(self):
        self._file = opened_parquet(self.path)
        self._schema, self._lock = self._file.schema_arrow, threading.Lock()

    def __reduce__(self):
        return ParquetTable, (self.path, self.columns)

    by_column = True  # the cost of a read is proportional to the number of columns

    def __call__(self, block, columns):
        names = [self.columns[column] for column in columns]
        return np.column_stack([numbers_of(column).to_numpy()
                                for column in self._read(block, names)])

    def _read(self, block, names):
        """Return columns of a block, by name: if asked for `a`, pyarrow returns `a.b` too."""
        try:
            with self._lock:
                table = self._file.read_row_group(self._groups[block], columns=names)
            return [table.column(name) for name in names]
        except (OSError, require("pyarrow", "tables").ArrowException) as error:
            raise UnreadableFileError(f"{self.path} cannot be read: row group "
                                      f"{self._groups[block]}: {error!s:.500}") from None

    def kinds(self):
        """Return the Arrow type of each column."""
        return [self._schema.field(name).type for name in self.columns]

    def columns_of(self, block):
        """Return all columns of a block as Arrow arrays."""
        return self._read(block, list(self.columns))

    def blocks(self, shuffled):
        """Return the arguments of `Blocks`, by name."""
        marked = not shuffled and self._is_shuffled()
        if not self._is_chosen:
            self.check_columns(marked)
        return dict(read=self, sizes=self.sizes, n_columns=len(self.columns), names=self.columns,
                    shuffled=shuffled or marked)

    def _is_shuffled(self):
        """Return True for a shuffled file; raise UnreadableFileError if its rows changed since."""
        mark = read_mark(self._file.metadata.metadata)
        if mark is None:
            return False
        first = next(field.name for field in self._schema if is_number(field.type))
        checksums = [checksum(numbers_of(*self._read(block, [first])))
                     for block in (0, self.sizes.size - 1)]
        if not holds(mark, self._file.metadata.num_rows, checksums):
            raise UnreadableFileError(f"{self.path} was shuffled, but rows have been sorted, "
                                      "removed or added since, so their order may depend on the "
                                      "scores: shuffle it again, or pass shuffled=True if chance "
                                      "alone chose the order of its rows")
        return True


def is_number(kind):
    """Return True if an Arrow type is one of real numbers."""
    types = require("pyarrow", "tables").types
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)


def _is_text(kind):
    types = require("pyarrow", "tables").types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return types.is_string(kind) or types.is_large_string(kind)


def numbers_of(column):
    """Return a column that converts to NumPy numbers: 0 and 1 for bools, NaN for lost scores."""
    arrow = require("pyarrow", "tables")
    return column.cast(arrow.uint8()) if arrow.types.is_boolean(column.type) else column


def models_of(schema, path):
    """Return the columns of scores.

    These are all columns but labels, an index of pandas, a first column of text, and aggregates.
    """
    names, index = [field.name for field in schema], pandas_index(schema, path)
    if _is_text(schema.field(0).type):
        index.append(names[0])
    for name in index:
        if is_model(name):
            raise UnreadableFileError(f"{path}: column {name!r} has names of models: each row may "
                                      "be a model, or a score; columns= names the columns of "
                                      "scores")
    left = [name for at, name in enumerate(names) if name not in index and not is_label(name, at)]
    aggregates = [name for name in left if is_aggregate(name)]
    if len(aggregates) < len(left):
        left_out("columns", aggregates)
        left = [name for name in left if name not in aggregates]
    if not left:
        raise UnreadableFileError(f"{path} must have columns of numbers; got {shown(names)}")
    return left


def pandas_index(schema, path):
    """Return the names of the columns that are an index of pandas."""
    try:
        metadata = parsed_json((schema.metadata or {}).get(b"pandas", b"{}"), MOST_PANDAS)
    except ValueError as error:
        raise UnreadableFileError(f"{path} cannot be read: its metadata of pandas: "
                                  f"{error}") from None
    kept = metadata.get("index_columns") if isinstance(metadata, dict) else None
    names = [name for name in kept if isinstance(name, str)] if isinstance(kept, list) else []
    return [name for name in names if name in schema.names]


def read_whole(path, most_cells):
    """Return an Arrow table and the names of its index, or None if it is shuffled or large."""
    file = opened_parquet(path)
    metadata, schema = file.metadata, file.schema_arrow
    rows = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    if (read_mark(metadata.metadata) is not None
            or sum(rows) * max(1, len(schema.names)) > most_cells):
        return None
    if len(set(schema.names)) < len(schema.names):
        raise UnreadableFileError(f"{path} must have columns of different names; got "
                                  f"{shown(schema.names)}")
    if not rows or min(rows) < 0 or sum(rows) != metadata.num_rows or not sum(rows):
        raise UnreadableFileError(f"{path} must have rows, as many as its row groups together; got "
                                  f"{metadata.num_rows:,}")
    arrow = require("pyarrow", "tables")
    try:
        table = arrow.concat_tables([file.read_row_group(group) for group in range(len(rows))])
    except (OSError, arrow.ArrowException) as error:
        raise UnreadableFileError(f"{path} cannot be read: {error!s:.500}") from None
    if table.num_rows != metadata.num_rows:
        raise UnreadableFileError(f"{path} must have {metadata.num_rows:,} rows, as its metadata "
                                  f"says; it has {table.num_rows:,}")
    return table, pandas_index(schema, path)


def checksum(column):
    """Return the CRC-32 of the numbers of an Arrow column, as little-endian bytes."""
    values = np.asarray(column.to_numpy())
    return zlib.crc32(np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"))))


def make_mark(entropy, n_rows, first, last):
    """Return the mark as bytes for the metadata of a file."""
    return json.dumps({"version": 1, "entropy": entropy, "rows": n_rows, "first": first,
                       "last": last}).encode()


def read_mark(metadata):
    """Return the mark of a file as a dict, empty if it is invalid; None if there is none."""
    text = (metadata or {}).get(MARK)
    if text is None:
        return None
    try:
        mark = parsed_json(text, MOST_MARK)
        return mark if isinstance(mark, dict) else {}
    except ValueError:
        return {}


def holds(mark, n_rows, checksums):
    """Return True if a mark matches the rows and the checksums of the first and last block."""
    return [mark.get(name) for name in ("version", "rows", "first", "last")] == [
        1, n_rows, *checksums]
