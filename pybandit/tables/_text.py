"""Text files as rows of cells: unpacked, decoded and split within limits.

- gzip and Zstandard are recognised by their first bytes and unpacked as they are read. A packed
  file may expand to `MOST_EXPANDED` bytes at most; see `pybandit._shared.files`.
- Text is UTF-8 or UTF-16, with or without a byte order mark.
- Lines end in LF, CR LF, or CR alone.
- A first line ``sep=;`` names the delimiter.
"""

import codecs
import csv
import io
import os
import re

from pybandit._shared.cells import DELIMITERS
from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.files import LEAST_EXPANDED, MOST_EXPANDED, RATIO
from pybandit._shared.optional import require

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
PACKED = (".gz", ".zst")  # suffixes of packed files
MOST_TITLE = 200  # first lines that are searched for a header
HEAD = 1 << 12  # first bytes, which determine the encoding and the line ends
SEPARATOR = re.compile(r'"?sep=(.)"?\s*')
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
# A number with a comma that may separate thousands or decimals.
MAYBE_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def utf8(file):
    """Return a binary file of UTF-8 text with LF between lines, over a seekable binary file.

    Raises
    ------
    UnreadableFileError
        During reads, if the content is damaged or expands beyond the limit.
    MissingPackageError
        If pyarrow is not installed and the file is packed by Zstandard.
    """
    head = _head_of(file)
    if head.startswith((GZIP, ZSTD)):
        file = io.BufferedReader(_Unpacked(file, head))
        head = file.peek(HEAD)[:HEAD]
    encoding = _encoding_of(head)
    if encoding is None and (b"\r" not in head or b"\n" in head):
        return file
    return io.BufferedReader(_Recoded(file, encoding or "utf-8"))


def _head_of(file):
    head = file.read(HEAD)
    file.seek(0)
    return head


def _encoding_of(head):
    """Return the name of UTF-16 if the text has its mark, or zeros between ASCII; else None."""
    if head[:2] in MARKS:
        return MARKS[head[:2]]
    even, odd = head[0:64:2], head[1:64:2]
    if len(odd) > 1 and not any(odd) and all(even[:len(odd)]):
        return "utf-16-le"
    if len(odd) > 1 and not any(even) and all(odd):
        return "utf-16-be"
    return None


class _Unpacked(io.RawIOBase):
    """The content of a packed file, up to a limit on its bytes."""

    def __init__(self, file, head):
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        self._name = "gzip" if head.startswith(GZIP) else "Zstandard"
        self._most, self._n_read = min(MOST_EXPANDED, max(LEAST_EXPANDED, RATIO * size)), 0
        if self._name == "gzip":
            import gzip

            self._file = gzip.GzipFile(fileobj=file)
        else:
            arrow = require("pyarrow", "tables")
            self._file = arrow.CompressedInputStream(arrow.PythonFile(file, "r"), "zstd")

    def readable(self):
        return True

    def readinto(self, room):
        try:
            part = self._file.read(len(room))
        except Exception as error:  # errors of zlib, EOF, checksums or Arrow
            raise UnreadableFileError(f"line 1, column 1: the {self._name} file is damaged: "
                                      f"{error!s:.300}") from None
        self._n_read += len(part)
        if self._n_read > self._most:
            raise UnreadableFileError(f"line 1, column 1: the {self._name} file must expand to at "
                                      f"most {self._most:,} bytes; it has more")
        room[:len(part)] = part
        return len(part)


class _Recoded(io.RawIOBase):
    """Text of another encoding, or with other ends of lines, as UTF-8 with LF."""

    def __init__(self, file, encoding):
        self._errors = "surrogateescape" if encoding == "utf-8" else "strict"
        decoder = codecs.getincrementaldecoder(encoding)(self._errors)
        self._decoder = io.IncrementalNewlineDecoder(decoder, translate=True)
        self._file, self._encoding, self._left, self._is_read = file, encoding, b"", False

    def readable(self):
        return True

    def readinto(self, room):
        while not self._left and not self._is_read:
            part = self._file.read(1 << 15)
            self._is_read = not part
            try:
                text = self._decoder.decode(part, final=self._is_read)
                self._left = text.encode("utf-8", self._errors)
            except UnicodeError as error:
                raise UnreadableFileError(
                    f"line 1, column 1: the file is not {self._encoding.upper()} text: "
                    f"{error.reason}") from None
        part, self._left = self._left[:len(room)], self._left[len(room):]
        room[:len(part)] = part
        return len(part)


def decoded(taken):
    """Yield the `Lines` of a UTF-8 file as text; bytes that are not text become surrogates."""
    for line in taken:
        if taken.number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        yield line.decode("utf-8", "surrogateescape")


def separator_of(line):
    """Return the delimiter that a line ``sep=;`` names, or None."""
    found = SEPARATOR.fullmatch(line)
    return found and found[1]


def delimiter_of(lines, allowed=DELIMITERS):
    """Return the delimiter of the first rows of a file.

    It is the most frequent one in the first line. A semicolon or a tab is preferred to a comma if
    every comma in the cells between them is a decimal comma.
    """
    delimiter = max(allowed, key=lines[0].count)
    others = ";\t" if delimiter == "," else ""
    for other in others:
        if other in allowed and all(other in line for line in lines) and all(
                "," not in cell or DECIMAL_COMMA.fullmatch(cell.strip().strip('"'))
                for line in lines for cell in line.split(other)):
            return other
    return delimiter


class Fault(str):
    """Text of a cell that is refused if it is used; `why` is the message."""

    def __new__(cls, text, why):
        fault = super().__new__(cls, text)
        fault.why = why
        return fault


class Row(list):
    """Cells of a row; raises UnreadableFileError if a `Fault` is accessed by index."""

    def __getitem__(self, at):
        cell = super().__getitem__(at)
        if isinstance(cell, Fault):
            raise UnreadableFileError(cell.why)
        return cell


def row_of(cells):
    """Return the cells as a `Row` if there are faults among them."""
    return Row(cells) if any(isinstance(cell, Fault) for cell in cells) else cells


def csv_rows(lines, taken, delimiter, before=0, marks=False):
    """Yield the rows of lines of text.

    Parameters
    ----------
    lines : iterator of str
    taken : Lines
        The limits; `begin_row` is called for each row.
    delimiter : str
    before : int
        Number of lines of the file before these.
    marks : bool
        If True, a cell that is not text becomes a `Fault`, which is refused only if it is used.

    Yields
    ------
    line : int
        The line that the row ends on, from 1.
    cells : list of str
        The cells, stripped of blanks. Blank lines are left out.

    Raises
    ------
    UnreadableFileError
        If a row is not CSV, or a cell is not text.
    """
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            taken.begin_row()
            if not cells:
                continue
            whole = "".join(cells)
            cells = [cell.strip() for cell in cells]
            if not whole.isascii() or "\0" in whole:
                cells = _checked(cells, before + reader.line_num, marks)
            yield before + reader.line_num, cells
    except csv.Error as error:
        raise UnreadableFileError(f"line {before + reader.line_num}, column 1: not CSV: "
                                  f"{error}") from None


def _checked(cells, line, marks):
    """Return the cells of a row; raise UnreadableFileError, or mark them, if some are not text."""
    found = list(cells)
    for at, cell in enumerate(cells):
        if "\0" in cell or any("\udc80" <= character <= "\udcff" for character in cell):
            why = f"line {line}, column {at + 1}: not UTF-8 text; save the file as CSV UTF-8"
            if not marks or "\0" in cell:
                raise UnreadableFileError(why)
            found[at] = Fault(cell, why)
    return row_of(found)


def listed(cells, most=20):
    """Return cells in quotes, the first `most` of them."""
    more = f", ... ({len(cells):,} in all)" if len(cells) > most else ""
    return ", ".join(map(short, cells[:most])) + more


def short(text):
    """Return a cell in quotes, cut to 60 characters."""
    text = repr(text)
    return text if len(text) <= 60 else text[:57] + "..."
