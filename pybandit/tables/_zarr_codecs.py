"""Decode bytes by a fixed list of codecs, with a limit on the size of the result.

The length stated in the bytes is compared with the limit before memory is allocated.
"""

import bz2
import lzma
import struct
import zlib

import numpy as np

from pybandit._shared.optional import require

ZSTD_MAGIC, ZSTD_BLOCK = 0xFD2FB528, 1 << 17
MOST_LZMA = 1 << 27  # bytes of memory of the decoder


def decoded(meta, data):
    """Return the decoded bytes of a chunk; raise ValueError if their number is wrong.

    Parameters
    ----------
    meta : Meta
    data : bytes
    """
    n_bytes = meta.chunks[0] * meta.chunks[1] * meta.dtype.itemsize
    for name, size in zip(reversed(meta.codecs), reversed(meta.item_sizes), strict=True):
        if name == "shuffle":
            data = _unshuffled(data, size)
        else:
            data = DECODERS[name](data, encoded_bound(n_bytes))
    if len(data) != n_bytes:
        raise ValueError(f"it must have {n_bytes:,} bytes after decoding; it has {len(data):,}")
    return data


def encoded_bound(n_bytes):
    """Return the maximum size of `n_bytes` incompressible bytes after encoding."""
    return n_bytes + n_bytes // 8 + 4096


def _refuse_long(n_bytes, most):
    if n_bytes > most:
        raise ValueError(f"it must have at most {most:,} bytes after decoding; it has {n_bytes:,} "
                         "or more")


def _unshuffled(data, size):
    if len(data) % size:
        raise ValueError(f"its number of bytes must be a multiple of the item size, {size}; it has "
                         f"{len(data):,} bytes")
    return np.frombuffer(data, np.uint8).reshape(size, -1).T.tobytes()


def _streamed(decoder, data, most):
    try:
        result = decoder.decompress(data, most + 1)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(str(error)) from None
    _refuse_long(len(result), most)
    if not decoder.eof or decoder.unused_data:
        raise ValueError("its compressed bytes must be one complete stream; it is cut off, or "
                         "bytes follow its end")
    return result


def _blosc(data, most):
    if len(data) < 16:
        raise ValueError("it is shorter than the header of blosc")
    _, _, _, item, n_bytes, block, n_encoded = struct.unpack_from("<4B3I", data)
    _refuse_long(n_bytes, most)
    if n_encoded != len(data) or not item or block > max(n_bytes, 1):
        raise ValueError(f"it must have {n_encoded:,} bytes, as its header states; it has "
                         f"{len(data):,}")
    return _by_numcodecs("blosc", data)


def _lz4(data, most):
    if len(data) < 5:
        raise ValueError("it is shorter than the header of lz4")
    _refuse_long(int.from_bytes(data[:4], "little"), most)
    return _by_numcodecs("lz4", data)


def _zstd(data, most):
    _refuse_long(_zstd_bound(data), most + ZSTD_BLOCK)
    result = _by_numcodecs("zstd", data)
    _refuse_long(len(result), most)
    return result


def _zstd_bound(data):
    """Return an upper bound on the decoded length; the data must be one Zstandard frame."""
    try:
        magic, about = struct.unpack_from("<IB", data)
        at = 5 + (not about & 32) + (0, 1, 2, 4)[about & 3]
        width = (about >> 5 & 1, 2, 4, 8)[about >> 6]
        stated = int.from_bytes(data[at:at + width], "little") + 256 * (width == 2)
        at, bound, is_last = at + width, 0, False
        while not is_last:
            head = int.from_bytes(data[at:at + 3], "little")
            is_last, kind, size = head & 1, head >> 1 & 3, head >> 3
            if at + 3 > len(data) or kind == 3:
                raise ValueError("its blocks must be complete blocks of Zstandard")
            bound += ZSTD_BLOCK if kind == 2 else size
            at += 3 + (1 if kind == 1 else size)
    except struct.error:
        raise ValueError("it is shorter than the header of Zstandard") from None
    if magic != ZSTD_MAGIC or at + 4 * (about >> 2 & 1) != len(data):
        raise ValueError("it must be one complete frame of Zstandard, with no bytes after its end")
    return stated if width else bound


def _by_numcodecs(name, data):
    codec = require(f"numcodecs.{name}", "tables")
    try:
        return bytes(codec.decompress(data))
    except Exception as error:  # numcodecs raises RuntimeError and others
        raise ValueError(str(error) or repr(error)) from None


def _crc32c(data, most):
    _refuse_long(len(data), most + 4)
    body, kept = data[:-4], int.from_bytes(data[-4:], "little")
    if len(data) < 4 or require("google_crc32c", "tables").value(bytes(body)) != kept:
        raise ValueError("its checksum is not that of its bytes")
    return body


DECODERS = {
    "blosc": _blosc, "lz4": _lz4, "zstd": _zstd, "crc32c": _crc32c,
    "gzip": lambda data, most: _streamed(zlib.decompressobj(31), data, most),
    "zlib": lambda data, most: _streamed(zlib.decompressobj(), data, most),
    "bz2": lambda data, most: _streamed(bz2.BZ2Decompressor(), data, most),
    "lzma": lambda data, most: _streamed(lzma.LZMADecompressor(memlimit=MOST_LZMA), data, most),
}
