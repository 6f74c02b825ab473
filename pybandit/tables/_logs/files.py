"""Find log files in folders, open them within limits, and parse their first value."""

import itertools
import os
from pathlib import Path

from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.files import Lines, opened_regular, reason_of
from pybandit.tables._json_lines import parsed
from pybandit.tables._logs.archive import unpacked
from pybandit.tables._text import PACKED, decoded, short, utf8

ENDS = (".json", ".jsonl", ".ndjson", ".eval")
MOST_FILES, MOST_NAMES = 10_000, 200_000  # log files, and names in folders
# Maximum bytes of a file that is one JSON value, and marks (,:[{) in it: a value takes up to 100
# bytes of memory per mark.
MOST_WHOLE, MOST_MARKS = 1 << 25, 3_000_000
LONGEST, MOST_LINES, MOST_BYTES = 1 << 22, 1 << 17, 1 << 29  # limits of JSON lines
MOST_BLANK = 1000  # blank lines before the first value


def end_of(path):
    """Return the suffix of a file name in lower case, without .gz or .zst."""
    return Path(unpacked_name(path)).suffix.casefold()


def unpacked_name(path):
    """Return a file name without .gz or .zst."""
    path = Path(path)
    return path.stem if path.suffix.casefold() in PACKED else path.name


def files_of(paths):
    """Return the paths of files; folders are replaced by the log files in them, in order.

    Raises
    ------
    UnreadableFileError
        If a folder has no log files, or too many.
    """
    found = []
    for path in paths:
        path = os.fsdecode(path)
        if not os.path.isdir(path):
            found.append(path)
            continue
        inside = list(_inside(path))
        if not inside:
            raise UnreadableFileError(f"{path}: must have log files of evaluation tools, whose "
                                      f"names end in {', '.join(ENDS)}; it has none")
        found += inside
    if len(found) > MOST_FILES:
        raise UnreadableFileError(f"{named(list(map(os.fsdecode, paths)))}: must have at most "
                                  f"{MOST_FILES:,} log files; got {len(found):,}")
    return found


def named(paths):
    """Return the first few paths, for messages."""
    return ", ".join(paths[:3]) + (f" and {len(paths) - 3:,} more" if len(paths) > 3 else "")


def _inside(folder):
    n_names = 0
    for place, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        n_names += len(folders) + len(names)
        if n_names > MOST_NAMES:
            raise UnreadableFileError(f"{folder}: must have at most {MOST_NAMES:,} files; it has "
                                      "more")
        if {"run_spec.json", "per_instance_stats.json"} <= set(names):
            names = ["per_instance_stats.json"]  # a run of HELM: other files have no scores
        for name in sorted(names):
            if not name.startswith(".") and end_of(name) in ENDS:
                yield os.path.join(place, name)


def _refuse(error):
    raise UnreadableFileError(f"{error.filename}: cannot be read: {reason_of(error)}")


class Log:
    """A log file.

    Attributes
    ----------
    path : str
    head : object
        Its first JSON value: the first line, or the whole content.
    is_lines : bool
        True for JSON lines.
    is_archive : bool
        True if it was unpacked from a ZIP file.
    is_object : bool
        True if it is one object in several lines, and therefore not a table.
    """

    def __init__(self, path, head, is_lines=False, is_archive=False, is_object=False):
        self.path, self.head, self.is_lines, self.is_archive = path, head, is_lines, is_archive
        self.is_object = is_object

    @property
    def folder(self):
        return os.path.dirname(os.path.abspath(self.path))

    def lines(self):
        """Yield (number, object) of each line."""
        if not self.is_lines:
            yield 1, self.head
            return
        with opened_regular(self.path) as file:
            taken = Lines(utf8(file).readline, LONGEST, MOST_LINES, MOST_BYTES, "line {}: ")
            for text in decoded(taken):
                taken.begin_row()
                if not text.strip():
                    continue
                value = _parsed(text, taken.number)
                if not isinstance(value, dict):
                    raise UnreadableFileError(f"line {taken.number}: must be an object of JSON; "
                                              f"got {short(value)}")
                yield taken.number, value


def log_of(path):
    """Return the `Log` of a file.

    Raises
    ------
    UnreadableFileError
        If it is not JSON within the limits, or an archive that is not a log of Inspect.
    OSError
        If it cannot be opened.
    MissingPackageError
        If pyarrow is not installed and the file is packed by Zstandard.
    """
    with opened_regular(path) as file:
        if file.peek(4).startswith(b"PK\3\4"):
            return Log(path, unpacked(file), is_archive=True)
        file = utf8(file)
        lines = itertools.islice(iter(lambda: file.readline(LONGEST), b""), MOST_BLANK)
        first = next((line for line in lines if line.strip()), b"")
        first = first.removeprefix(b"\xef\xbb\xbf")
        if first.endswith(b"\n") and first.lstrip().startswith(b"{"):
            try:
                head = _parsed(first.decode("utf-8", "surrogateescape"), 1)
            except UnreadableFileError:
                head = None  # an object of several lines
            if isinstance(head, dict) and file.read(LONGEST).strip():
                return Log(path, head, is_lines=True)
            if head is not None:
                return Log(path, head)
        content = first + file.read(MOST_WHOLE + 1 - len(first))
    if len(content) > MOST_WHOLE:
        raise UnreadableFileError(f"must have at most {MOST_WHOLE:,} bytes of JSON; it has more")
    head = _parsed(content.decode("utf-8", "surrogateescape"), 1)
    return Log(path, head, is_object=isinstance(head, dict))


def _parsed(text, line):
    marks = sum(map(text.count, ",:[{"))
    if marks > MOST_MARKS:
        raise UnreadableFileError(f"line {line}: JSON must have at most {MOST_MARKS:,} values; it "
                                  f"may have {marks:,}")
    return parsed(text, line)
