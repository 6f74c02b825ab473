"""Read untrusted files: open them without waiting, and read bounded amounts."""

import errno
import json
import os
import stat
import struct
import threading
import zipfile

from pybandit._shared.errors import UnreadableFileError

KINDS = {stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device",
         stat.S_IFBLK: "a device", stat.S_IFDIR: "a folder"}
# Largest JSON text that is parsed, in bytes: nested lists take 20 times as much memory.
MOST_JSON = 1 << 22
# An archive may expand to RATIO times its size, but at least to LEAST_EXPANDED and at most to
# MOST_EXPANDED bytes. XML compresses 10 to 15 times.
LEAST_EXPANDED, RATIO, MOST_EXPANDED = 1 << 24, 64, 1 << 28
MOST_DIRECTORY = 1 << 20  # maximum bytes of an archive's directory: about 10,000 parts
_seeking = threading.Lock()  # held on systems without pread (Windows)
DIRECTORY_END = struct.Struct("<4s4H2LH")


def check_regular(path):
    """Raise OSError, without opening it, if `path` is not a regular file.

    Opening a FIFO waits for a writer, and opening a device may do anything.
    """
    _check_mode(path, os.stat(path).st_mode)


def _check_mode(path, mode):
    if not stat.S_ISREG(mode):
        kind = KINDS.get(stat.S_IFMT(mode), "something else")
        raise OSError(errno.EINVAL, f"it must be a regular file; got {kind}", os.fspath(path))


def open_regular(path):
    """Return a descriptor of a regular file for reading; OSError if it is something else."""
    check_regular(path)
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
                     | getattr(os, "O_NONBLOCK", 0))
    try:
        _check_mode(path, os.fstat(handle).st_mode)  # the path may name another file by now
    except BaseException:
        os.close(handle)
        raise
    return handle


def opened_regular(path):
    """Return a regular file, opened as ``open(path, "rb")`` does."""
    return os.fdopen(open_regular(path), "rb")


def read_regular(path, most):
    """Return the bytes of a regular file; UnreadableFileError if there are more than `most`."""
    with opened_regular(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise UnreadableFileError(f"{os.fspath(path)} must have at most {most:,} bytes; it has "
                                  "more")
    return content


def read_at(handle, room, offset):
    """Read a descriptor at `offset` into a memoryview; return the bytes read, fewer at the end.

    Threads may share the descriptor.
    """
    n = 0
    while n < len(room):  # a signal may end a call early, and Linux reads at most 2 GiB in one
        more = _read_some(handle, room[n:], offset + n)
        if not more:
            break
        n += more
    return n


def read_all_at(handle, room, offsets, bounds):
    """Read ``room[bounds[i]:bounds[i + 1]]`` at ``offsets[i]`` for each i.

    Returns None, or the offset at which the file ended.
    """
    read = getattr(os, "preadv", None)
    start = bounds[0]
    for offset, end in zip(offsets, bounds[1:], strict=True):
        part = room[start:end]
        if read is None or read(handle, (part,), offset) != end - start:
            n = read_at(handle, part, offset)
            if n < end - start:
                return offset + n
        start = end
    return None


def _read_some(handle, room, offset):
    if hasattr(os, "preadv"):
        return os.preadv(handle, [room], offset)
    with _seeking:
        os.lseek(handle, offset, os.SEEK_SET)
        part = os.read(handle, min(len(room), 1 << 24))
    room[:len(part)] = part
    return len(part)


def replace(draft, path):
    """Rename a finished file to `path`, which it replaces."""
    try:
        os.replace(draft, path)
    except PermissionError as error:
        raise PermissionError(
            error.errno, f"the file cannot be replaced ({reason_of(error)}); on Windows, close it "
            "first: other programs, and objects such as Blocks, may have it open",
            os.fspath(path)) from error


def reason_of(error):
    """Return the words of an OSError without its number and path, or those of another error."""
    return getattr(error, "strerror", None) or str(error) or repr(error)


def parsed_json(text, most=MOST_JSON):
    """Return the value of JSON text, str or bytes; ValueError if it is long or nested deeply."""
    if len(text) > most:
        raise ValueError(f"JSON must have at most {most:,} bytes; got {len(text):,}")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("JSON must not be nested deeply") from None


def checked_archive(file, what, least=LEAST_EXPANDED, most=MOST_EXPANDED, parts=None,
                    most_directory=MOST_DIRECTORY):
    """Return a ZipFile whose parts are few and expand to a bounded size.

    The directory may lie: zipfile stops reading a part at the size given there, so that size
    bounds the bytes read.

    Parameters
    ----------
    file : seekable binary file
    what : str
        The kind of file, for messages.
    least, most : int
        Limits of the expanded size in bytes: `least` is always allowed, more than `most` never.
    parts : tuple of str, optional
        Names of the parts that are read; by default all. Other parts may have any size.
    most_directory : int
        Maximum size of the directory in bytes.

    Raises
    ------
    UnreadableFileError
        If it is not an archive, or if a limit is exceeded.
    """
    size = file.seek(0, os.SEEK_END)
    _check_directory(file, size, what, most_directory)
    file.seek(0)
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error) as error:
        raise UnreadableFileError(f"it must be a {what}; got {error!r}") from None
    listed = archive.infolist()
    expanded = sum(part.file_size for part in listed if parts is None or part.filename in parts)
    most = min(most, max(least, RATIO * size))
    if expanded > most:
        raise UnreadableFileError(f"a {what} of {size:,} bytes must expand to at most {most:,}; "
                                  f"this one expands to {expanded:,}")
    if len({part.filename for part in listed}) < len(listed):
        raise UnreadableFileError(f"the parts of a {what} must have different names")
    return archive


def _check_directory(file, size, what, most):
    """Refuse a large directory, which zipfile would read into memory; find it as zipfile does."""
    file.seek(max(0, size - (1 << 16) - DIRECTORY_END.size))
    tail = file.read()
    at = len(tail) - DIRECTORY_END.size
    if at < 0 or tail[at:at + 4] != b"PK\5\6" or tail[-2:] != b"\0\0":
        at = tail.rfind(b"PK\5\6")
    if at < 0 or at + DIRECTORY_END.size > len(tail):
        raise UnreadableFileError(f"it must be a {what}; it is not an archive")
    length = DIRECTORY_END.unpack_from(tail, at)[5]
    if length > most or tail[max(0, at - 20):at].startswith(b"PK\6\7"):
        raise UnreadableFileError(f"the directory of a {what} must have at most {most:,} bytes")


class Lines:
    """Lines of a text file, within limits; iterate over it.

    A row of CSV may span lines: its reader calls `begin_row` after each row.

    Parameters
    ----------
    readline : callable
        ``readline(limit)`` of a file.
    longest, most_lines, most_bytes : int
        Maximum characters or bytes of a row, and maximum lines and bytes of the file.
    place, remedy : str
        Start of error messages, a format string that takes the line number, and their end.
    """

    def __init__(self, readline, longest, most_lines, most_bytes, place, remedy=""):
        self._readline, self._longest, self._most_lines = readline, longest, most_lines
        self._most_bytes, self._place, self._left = most_bytes, place, longest
        self.number, self._n_bytes, self._remedy = 0, 0, remedy

    def begin_row(self):
        """Start a row: reset the number of characters that it may still have."""
        self._left = self._longest

    def __iter__(self):
        return self

    def __next__(self):
        line = self._readline(self._left)
        if not line:
            raise StopIteration
        self.number += 1
        self._left -= len(line)
        self._n_bytes += len(line)
        if self._left <= 0:
            self._refuse(f"the row must be at most {self._longest:,} bytes long")
        if self.number > self._most_lines:
            self._refuse(f"the file must have at most {self._most_lines:,} lines")
        if self._n_bytes > self._most_bytes:
            self._refuse(f"the file must have at most {self._most_bytes:,} bytes")
        return line

    def _refuse(self, words):
        raise UnreadableFileError(self._place.format(max(1, self.number)) + words + self._remedy)


def check_exists(path):
    """Raise FileNotFoundError, with the path, unless there is a file or a folder."""
    try:
        os.stat(path)
    except FileNotFoundError as error:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT),
                                os.fsdecode(path)) from error
    except OSError:  # such as a loop of links; opening the file reports it
        pass
