"""Read Zarr arrays in folders without the package zarr, which runs code named by metadata.

Formats 2 and 3 with known codecs are read. Files that are not regular, or larger than a chunk can
be, are refused, and metadata cannot name a file outside the folder.
"""

import os
from pathlib import Path

import numpy as np

from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.files import (
    MOST_JSON,
    open_regular,
    read_at,
    read_regular,
    reason_of,
)
from pybandit.tables._zarr_codecs import DECODERS, decoded, encoded_bound
from pybandit.tables._zarr_meta import parsed_meta

METADATA = {"zarr.json": 3, ".zarray": 2}
MISSING = (1 << 64) - 1  # offset and length of a chunk that a shard does not have


class ZarrFolder:
    """A table in a Zarr folder, of which only the chunks of requested cells are read."""

    def __init__(self, path):
        self.path = os.fspath(path)
        self._meta = _meta_of(self.path)
        self.shape, self.chunks = self._meta.shape, self._meta.chunks
        self.dtype = self._meta.dtype.newbyteorder("=")
        self._fill = self._meta.fill.astype(self.dtype)

    def __reduce__(self):
        return ZarrFolder, (self.path,)

    def __getitem__(self, key):
        """Return the cells of a slice of rows and an array of columns."""
        rows, columns = key
        start, stop, _ = rows.indices(self.shape[0])
        cells = np.empty((stop - start, columns.size), dtype=self.dtype)
        height, width = self.chunks
        across = columns // width
        for row in range(start // height, -(-stop // height)):
            first, last = max(start, row * height), min(stop, (row + 1) * height)
            within = slice(first - row * height, last - row * height)
            for column in np.unique(across).tolist():
                chosen = np.flatnonzero(across == column)
                chunk = self._chunk(row, column)
                cells[first - start:last - start, chosen] = (
                    self._fill if chunk is None else
                    chunk[within][:, columns[chosen] - column * width])
        return cells

    def _chunk(self, row, column):
        """Return the array of a chunk, or None if it does not exist."""
        shard = self._meta.shard
        file = ((row, column) if shard is None else
                (row // shard.counts[0], column // shard.counts[1]))
        name = self._meta.prefix + self._meta.separator.join(map(str, file))
        path = os.path.join(self.path, name)
        try:
            data = (read_regular(path, encoded_bound(self._n_bytes())) if shard is None
                    else self._of_shard(path, row % shard.counts[0], column % shard.counts[1]))
            if data is None:
                return None
            values = np.frombuffer(decoded(self._meta, data), self._meta.dtype)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise UnreadableFileError(f"{self.path}: chunk {name} cannot be read: "
                                      f"{reason_of(error)}") from None
        return (values.reshape(self.chunks[::-1]).T if self._meta.is_transposed
                else values.reshape(self.chunks))

    def _n_bytes(self):
        return self.chunks[0] * self.chunks[1] * self._meta.dtype.itemsize

    def _of_shard(self, path, row, column):
        """Return the bytes of a chunk of a shard, or None if it does not exist."""
        shard = self._meta.shard
        handle = open_regular(path)
        try:
            size, n_chunks = os.fstat(handle).st_size, shard.counts[0] * shard.counts[1]
            length = 16 * n_chunks + 4 * shard.has_checksum
            index = _part(handle, 0 if shard.at_start else size - length, length, size)
            if shard.has_checksum:
                index = DECODERS["crc32c"](index, length)
            offset, n_bytes = np.frombuffer(index, "<u8").reshape(
                *shard.counts, 2)[row, column].tolist()
            if offset == n_bytes == MISSING:
                return None
            if n_bytes > encoded_bound(self._n_bytes()):
                raise ValueError(f"a chunk in it must have at most "
                                 f"{encoded_bound(self._n_bytes()):,} bytes; got {n_bytes:,}")
            return _part(handle, offset, n_bytes, size)
        finally:
            os.close(handle)


def _part(handle, offset, n_bytes, size):
    if offset < 0 or offset + n_bytes > size:
        raise ValueError(f"it must have at least {max(0, offset) + n_bytes:,} bytes; it has "
                         f"{size:,}")
    data = bytearray(n_bytes)
    if read_at(handle, memoryview(data), offset) < n_bytes:
        raise ValueError("it was truncated while it was read")
    return bytes(data)


def _meta_of(path):
    try:
        if not Path(path).is_dir():
            os.stat(path)
            raise OSError(f"it must be the folder of a Zarr array; got a file: {path}")
        for name, version in METADATA.items():
            try:
                text = read_regular(os.path.join(path, name), MOST_JSON)
            except FileNotFoundError:
                continue
            return parsed_meta(text, version)
        raise ValueError("it must have zarr.json or .zarray")
    except (OSError, ValueError) as error:
        raise UnreadableFileError(f"{path} cannot be read: {reason_of(error)}") from None
