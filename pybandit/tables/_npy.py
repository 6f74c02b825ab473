"""Read NumPy arrays in files, with pread instead of a memory map.

If another process truncates a mapped file, SIGBUS ends this process; with pread it is an
UnreadableFileError.
"""

import math
import mmap
import os
import weakref

import numpy as np

from pybandit._shared.checks import check_numeric
from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.files import open_regular, opened_regular, read_all_at, reason_of

# Cells of a line that lie more than this number of bytes (a page) apart are read separately.
APART = 1 << 12
# Maximum unused bytes per row that are read to join consecutive rows into one call.
BESIDE = 1 << 14
DROP = getattr(mmap, "MADV_DONTNEED", None)  # Windows has none
MOST_HEADER = 10_000  # bytes; numpy's limit
# Bytes of a file that may be mapped before its pages are released. A smaller file is mapped whole:
# mapping its pages again would take longer than reading its cells.
MOST_MAPPED = 1 << 27
# The kernel maps this number of bytes around each accessed cell if they are in its cache.
WINDOW = 1 << 16


class NpyFile:
    """A table in a .npy file, of which only requested cells are read.

    Threads may share it, and children of a fork.
    """

    def __init__(self, path):
        self.path = os.fspath(path)
        try:
            self._handle = open_regular(self.path)
            weakref.finalize(self, os.close, self._handle)
            self.shape, self._is_transposed, self.dtype, self._offset = _header_of(self.path)
            size = os.fstat(self._handle).st_size
        except (OSError, ValueError) as error:
            raise UnreadableFileError(f"{self.path} cannot be read: {reason_of(error)}") from None
        except Exception as error:  # a header that is not a Python literal may raise any error
            raise UnreadableFileError(f"{self.path} cannot be read: its header must be that of an "
                                      f"array of NumPy; reading it raised "
                                      f"{type(error).__name__}") from None
        self.ndim = len(self.shape)
        if self.ndim != 2:
            raise UnreadableFileError(f"{self.path} must hold a table of two dimensions; got shape "
                                      f"{self.shape}")
        self.size = math.prod(self.shape)
        if self.dtype.kind not in "biuf":
            raise UnreadableFileError(f"{self.path} must hold real numbers; got dtype {self.dtype}")
        if size < self._offset + self.size * self.dtype.itemsize:
            raise UnreadableFileError(f"{self.path} must have {self.size * self.dtype.itemsize:,} "
                                      f"bytes of numbers, of shape {self.shape}; it has "
                                      f"{size - self._offset:,}")

    def __reduce__(self):
        return NpyFile, (self.path,)

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, key):
        """Return the cells of a slice of rows and an array of columns."""
        rows, columns = key
        start, stop, _ = rows.indices(self.shape[0])
        if self._is_transposed:
            return self._runs(columns, start, stop).T
        first, last = _span(columns)
        if (self.shape[1] - (last + 1 - first)) * self.dtype.itemsize <= BESIDE:
            first, last = 0, self.shape[1] - 1  # whole rows are one read
        return self._runs(np.arange(start, stop), first, last + 1)[:, columns - first]

    def __array__(self, dtype=None, copy=None):
        cells = self._runs(np.arange(self.shape[self._is_transposed]), 0,
                          self.shape[not self._is_transposed])
        return (cells.T if self._is_transposed else cells).astype(dtype or self.dtype, copy=False)

    def cells(self, rows, columns):
        """Return the array (len(rows), len(columns)) of these rows and columns."""
        lines, within = (columns, rows) if self._is_transposed else (rows, columns)
        cells = np.empty((lines.size, within.size), dtype=self.dtype)
        if not cells.size:
            return cells.T if self._is_transposed else cells
        # read in the order of the file, because the system reads ahead
        down, across = (np.argsort(one, kind="stable") for one in (lines, within))
        apart = np.diff(within[across]) * self.dtype.itemsize > APART
        for part in np.split(across, np.flatnonzero(apart) + 1):
            first, last = within[part[0]], within[part[-1]]
            cells[np.ix_(down, part)] = self._runs(lines[down], first, last + 1)[
                :, within[part] - first]
        return cells.T if self._is_transposed else cells

    def _runs(self, lines, first, last):
        """Read cells first:last of lines of the file; consecutive whole lines take one call."""
        cells = np.empty((lines.size, int(last - first)), dtype=self.dtype)
        if not cells.size:
            return cells
        width, item = self.shape[not self._is_transposed], self.dtype.itemsize
        joined = np.diff(lines) == 1 if cells.shape[1] == width else np.zeros(lines.size - 1, bool)
        starts = np.append(0, np.flatnonzero(~joined) + 1)
        offsets = self._offset + (lines[starts].astype(np.int64) * width + first) * item
        bounds = np.append(starts, lines.size) * (cells.shape[1] * item)
        try:
            end = read_all_at(self._handle, memoryview(cells.reshape(-1).view(np.uint8)),
                              offsets.tolist(), bounds.tolist())
        except OSError as error:
            raise UnreadableFileError(f"{self.path} cannot be read: {reason_of(error)}") from None
        if end is not None:
            raise UnreadableFileError(f"{self.path} was truncated while it was open: it ends at "
                                      f"byte {end:,}; its shape {self.shape} needs more")
        return cells


def _span(columns):
    return (int(columns.min()), int(columns.max())) if columns.size else (0, -1)


def _header_of(path):
    """Return the shape, True for Fortran order, the dtype, and the offset of the numbers."""
    with opened_regular(path) as file:
        version = np.lib.format.read_magic(file)
        readers = {(1, 0): np.lib.format.read_array_header_1_0,
                   (2, 0): np.lib.format.read_array_header_2_0}
        if version not in readers:  # 3.0 is for field names that are not Latin
            raise ValueError(f"its format must be 1.0 or 2.0; got {version[0]}.{version[1]}")
        # numpy reads the header whole before it compares its length with a limit
        begin, n_bytes = file.tell(), 2 * version[0]
        length = int.from_bytes(file.read(n_bytes), "little")
        if length > MOST_HEADER:
            raise ValueError(f"its header must have at most {MOST_HEADER:,} bytes; got {length:,}")
        file.seek(begin)
        shape, is_transposed, dtype = readers[version](file)
        if any(n < 0 for n in shape) or math.prod(shape) * max(1, dtype.itemsize) >= 1 << 62:
            raise ValueError("its shape must have no negative size and take less than 2**62 bytes; "
                             f"got {shape}")
        return shape, is_transposed, dtype, file.tell()


def cells_of(array, rows, columns):
    """Return float64 (len(rows), len(columns)) of a 2-dimensional array or a `NpyFile`."""
    if isinstance(array, NpyFile):
        return check_numeric("table", array.cells(rows, columns))
    most = rows_mapped(array)
    if most is None:
        return check_numeric("table", array[rows[:, None], columns], copy=False)
    cells = np.empty((rows.size, columns.size))
    for start in range(0, rows.size, most):
        part = array[rows[start:start + most, None], columns]
        cells[start:start + most] = check_numeric("table", part, copy=False)
        give_back(array)
    return cells


def rows_mapped(array):
    """Return after how many rows to call `give_back`; None if the array need not give back."""
    mapping = _mapping_of(array)
    if mapping is None or len(mapping) <= MOST_MAPPED:
        return None
    n_columns, apart = array.shape[1], abs(array.strides[1])
    windows = min(n_columns, (n_columns - 1) * apart // WINDOW + 2)
    return max(1, MOST_MAPPED // (WINDOW * windows))


def give_back(array):
    """Release the pages of a read-only map; the kernel still caches them while it has room."""
    mapping = _mapping_of(array)
    if mapping is not None:
        mapping.madvise(DROP)


def _mapping_of(array):
    """Return the file map of an array if it is read-only; others could lose unsaved writes."""
    mode = None
    while isinstance(array, np.ndarray):
        mode = getattr(array, "mode", mode)
        array = array.base
    is_map = DROP is not None and isinstance(array, mmap.mmap)
    return array if is_map and mode == "r" else None
