"""What a shuffled file says of itself, and whether that is still so.

The mark is in the file's metadata: the entropy of the order, the number of rows, and checksums
of the first column in the first and the last block. Programs that sort or cut a table may keep
metadata; the checksums are then of other rows.
"""

import json
import zlib

import numpy as np

from pybandit._shared.files import parsed_json

MOST = 1 << 10  # bytes
KEY = b"pybandit_shuffle"


def checksum(column):
    """Of the numbers of an Arrow column, as they lie in memory."""
    values = np.asarray(column.to_numpy())
    return zlib.crc32(np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"))))


def make_mark(entropy, n_rows, first, last):
    """The bytes that a file keeps."""
    return json.dumps({"version": 1, "entropy": entropy, "rows": n_rows, "first": first,
                       "last": last}).encode()


def read_mark(metadata):
    """What the file says, a dict; None where it says nothing."""
    text = (metadata or {}).get(KEY)
    if text is None:
        return None
    try:
        mark = parsed_json(text, MOST)
        return mark if isinstance(mark, dict) else {}
    except ValueError:
        return {}


def holds(mark, n_rows, checksums):
    """Whether a mark is of these rows; `checksums` of the first and the last block."""
    return [mark.get(name) for name in ("version", "rows", "first", "last")] == [
        1, n_rows, *checksums]
