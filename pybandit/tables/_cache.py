"""Cache of the blocks that were read last."""

import os
import threading
from collections import OrderedDict

import numpy as np

from pybandit._shared.checks import check_numeric, refuse_masks, returned

# Maximum bytes of the cached blocks; the block in use is kept whatever its size.
MOST_KEPT = 1 << 26
# Maximum cells per read if columns can be read separately: a large block is then not copied whole.
MOST_READ = 1 << 22


def read_block(read, block, n_rows, columns):
    """Call `read`; return its name for messages, and its array after checks of shape and masks."""
    name, shape = f"read({block}, columns) of Blocks", (n_rows, columns.size)
    given = refuse_masks(name, read(block, columns.copy()))
    return name, returned(name, given, shape, f"{name} must return shape (rows, columns)")


def parts_of(read, block, n_rows, columns):
    """Yield (columns, float64 values of shape (n_rows, columns.size)) for parts of the columns."""
    size = max(1, MOST_READ // n_rows if getattr(read, "by_column", False) else columns.size)
    for start in range(0, columns.size, size):
        part = columns[start:start + size]
        yield part, check_numeric(*read_block(read, block, n_rows, part), copy=False)


class Cache:
    """Reader of rows and columns of a table in blocks, of which the last few are cached.

    One thread at a time reads; others wait. After a fork, the child starts with an empty cache.
    """

    def __init__(self, read, sizes, n_columns):
        self.read, self.sizes, self.n_columns = read, sizes, n_columns
        self._ends = np.cumsum(sizes)
        self._begin()

    def _begin(self):
        self._process, self._lock = os.getpid(), threading.RLock()
        self._kept = OrderedDict()  # by block: values (columns, rows), and which columns were read

    def __reduce__(self):
        return Cache, (self.read, self.sizes, self.n_columns)

    def values(self, rows, columns):
        """Return float64 (len(rows), len(columns)) of valid rows and valid increasing columns."""
        if self._process != os.getpid():
            self._begin()
        cells = np.empty((rows.size, columns.size))
        owners = np.searchsorted(self._ends, rows, side="right")
        # successive rows are mostly in the same block: the ends of such runs
        ends = np.append(np.flatnonzero(np.diff(owners)) + 1, rows.size)
        first = 0
        with self._lock:
            for end in ends[ends > 0].tolist():
                block = int(owners[first])
                within = rows[first:end] - (self._ends[block] - self.sizes[block])
                values = self._block(block, columns)
                if within[-1] - within[0] == end - first - 1 and (np.diff(within) == 1).all():
                    values = values[:, within[0]:within[-1] + 1]
                    within = slice(None)
                cells[first:end] = (values if columns.size == self.n_columns
                                   else values[columns])[:, within].T
                first = end
        return cells

    def _block(self, block, columns):
        """Return the values of a block, in which at least these columns were read."""
        kept = self._kept.get(block)
        if kept is None:
            kept = (np.empty((self.n_columns, int(self.sizes[block]))),
                    np.zeros(self.n_columns, dtype=bool))
        values, there = kept
        missing = columns[~there[columns]]
        if missing.size:
            for part, read in parts_of(self.read, block, int(self.sizes[block]), missing):
                values[part] = read.T
            there[missing] = True
        self._kept[block] = kept
        self._kept.move_to_end(block)
        self._make_room()
        return values

    def _make_room(self):
        """Drop the blocks that were used longest ago."""
        # columns that were not read count too: their memory may be allocated already
        sizes = [values.nbytes for values, _ in self._kept.values()]
        left = sum(sizes)
        for size in sizes[:-1]:
            if left <= MOST_KEPT:
                return
            self._kept.popitem(last=False)
            left -= size
