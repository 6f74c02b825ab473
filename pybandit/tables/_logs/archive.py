"""Read the header and the summaries of an Inspect log, which is a ZIP file."""

import struct
import zipfile
import zlib

from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.files import checked_archive
from pybandit._shared.optional import require
from pybandit.tables._json_lines import parsed

WHAT = "log of Inspect"
HEADER, SAMPLES = "header.json", "summaries.json"
ZSTANDARD = 93  # compression method of a part; zipfile supports it from Python 3.14
MOST_PART, MOST_DIRECTORY = 1 << 25, 1 << 22  # bytes; 40,000 samples are 3.4 MB of directory
LOCAL = struct.Struct("<4s22x2H")


def unpacked(file):
    """Return the header of a log with its summaries as ``samples``.

    Raises
    ------
    UnreadableFileError
        If it is not a log of Inspect, is damaged, or expands beyond the limits.
    MissingPackageError
        If pyarrow is not installed and parts are packed by Zstandard.
    """
    with checked_archive(file, WHAT, most=MOST_PART, parts=(HEADER, SAMPLES),
                         most_directory=MOST_DIRECTORY) as archive:
        for name in (HEADER, SAMPLES):
            if name not in archive.namelist():
                raise UnreadableFileError(f"must be a {WHAT} that has ended, with {name}; it has "
                                          "no such part")
        header, samples = (_value(archive, file, name) for name in (HEADER, SAMPLES))
    if not isinstance(header, dict):
        raise UnreadableFileError(f"{HEADER} must be an object of JSON")
    return header | {"samples": samples}


def _value(archive, file, name):
    part = archive.getinfo(name)
    try:
        body = (_of_zstandard(file, part) if part.compress_type == ZSTANDARD
                else archive.read(part))
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError,
            OSError, struct.error) as error:
        raise UnreadableFileError(f"{name} of the {WHAT} cannot be read: {error!s:.300}") from None
    try:
        return parsed(body.decode("utf-8", "surrogateescape"), 1)
    except UnreadableFileError as error:
        raise UnreadableFileError(f"{name}: {error}") from None


def _of_zstandard(file, part):
    """Return the bytes of a part; refuse more than the directory states."""
    if part.flag_bits & 1:
        raise zipfile.BadZipFile("it is encrypted")
    file.seek(part.header_offset)
    signature, name, extra = LOCAL.unpack(file.read(LOCAL.size))
    if signature != b"PK\3\4":
        raise zipfile.BadZipFile("there is no part at the place in the directory")
    file.seek(name + extra, 1)
    packed = file.read(min(part.compress_size, MOST_PART))
    arrow = require("pyarrow", "tables")
    try:
        stream = arrow.CompressedInputStream(arrow.BufferReader(packed), "zstd")
        body = stream.read(part.file_size + 1)
    except (arrow.ArrowException, OSError) as error:
        raise zipfile.BadZipFile(f"{error!s:.200}") from None
    if len(body) != part.file_size or zlib.crc32(body) != part.CRC:
        raise zipfile.BadZipFile("its bytes do not match the directory")
    return body
