"""Read rows of cells of a text file within limits; errors have line and column.

A file has at most MOST_LINES lines and MOST_BYTES bytes, a row LONGEST_LINE bytes. Reading is
linear in the size of the file.
"""

import csv
import itertools
import math
import re
import shlex
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from pybandit._shared.cells import DELIMITERS, LOST, unguarded
from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.files import Lines, opened_regular
from pybandit.tables._markers import is_marker, limit_of
from pybandit.tables._text import (
    MOST_TITLE,
    Fault,
    Row,
    csv_rows,
    decoded,
    delimiter_of,
    listed,
    row_of,
    separator_of,
    short,
    utf8,
)

__all__ = ["MOST_TITLE", "PLAIN", "Dialect", "is_workbook", "listed", "number", "opened", "rows_of",
           "rows_under", "short"]

# far above any row that a plate reader writes
LONGEST_LINE, MOST_LINES, MOST_BYTES = 1_000_000, 1 << 20, 1 << 28
WORKBOOKS = (".xlsx", ".xlsm")


@dataclass(frozen=True)
class Dialect:
    """Notation of a file: numbers, columns, and markers of lost wells.

    Attributes
    ----------
    decimal, thousands : str
        Decimal point, and separator of thousands.
    columns : dict of str to str
        Names of the columns plate, well, arm and value in the file, if they differ.
    sheet : str or None
        The sheet of a workbook to read.
    measurement : str or None
        Name of the measurement to read if a plate has several.
    markers : frozenset of str
        Cells that stand for a lost well, in the form of `_markers`.
    limits : bool
        True if a limit such as >4.000 is read as 4.0.
    instrument : str or None
        Name of an instrument's format, or "auto"; None for tables and grids.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> from pybandit.lab import Dialect
    >>> Dialect(decimal=",", thousands=".").plain("1.043,25")
    '1043.25'
    """

    decimal: str = "."
    thousands: str = ""
    columns: dict[str, str] = field(default_factory=dict)
    sheet: str | None = None
    measurement: str | None = None
    markers: frozenset[str] = frozenset()
    limits: bool = False
    instrument: str | None = None

    def checked(self) -> Self:
        """Return the dialect; raise ValueError if a character is unknown, or both are the same."""
        if self.decimal not in (".", ","):
            raise ValueError(f"decimal (--decimal) must be . or ,; got {self.decimal!r}")
        if self.thousands not in ("", ",", ".", "'", "’", " ", "_"):
            raise ValueError("thousands (--thousands) must be one of , . ' _ or a blank; got "
                             f"{self.thousands!r}")
        if self.decimal == self.thousands:
            raise ValueError("decimal and thousands (--decimal, --thousands) must differ; got "
                             f"{self.decimal!r} twice")
        return self

    def column(self, name: str) -> str:
        """Return the name of a column in the file, in lower case."""
        return self.columns.get(name, name).casefold()

    def plain(self, cell: str) -> str:
        """Return a number in the notation of Python; other text stays invalid."""
        if self.thousands:
            blank = "[ \u00a0\u202f]" if self.thousands == " " else re.escape(self.thousands)
            groups = rf"[+-]?\d{{1,3}}(?:{blank}\d{{3}})+(?:{re.escape(self.decimal)}\d*)?"
            if re.fullmatch(groups, cell):
                cell = re.sub(blank, "", cell)
        if self.decimal == ".":
            return cell
        return "?" if "." in cell else cell.replace(self.decimal, ".")


PLAIN = Dialect()


def rows_of(file, headers=(), dialect=PLAIN, above=None):
    """Yield the rows of a CSV file.

    Parameters
    ----------
    file : binary file
    headers : sequence of callable
        Each returns True for the cells of a header; the most certain one comes first. Lines
        before the header are a title. Without a header, the first line that is not blank is the
        first row.
    dialect : Dialect
    above : list, optional
        Receives the text of the lines before the first row.

    Yields
    ------
    line : int
        The line that the row ends on, from 1.
    cells : list of str
        The cells, stripped of blanks. Blank lines are left out.

    Raises
    ------
    UnreadableFileError
        If the file is not text or not CSV; if a cell that is used is not text.
    """
    taken = Lines(utf8(file).readline, LONGEST_LINE, MOST_LINES, MOST_BYTES, "line {}, column 1: ")
    lines = decoded(taken)
    first = _head(lines, taken)
    if not any(line.strip() for line in first):
        rest = next((line for line in lines if line.strip()), None)
        if rest is None:
            raise UnreadableFileError("line 1, column 1: the file is empty")
        raise UnreadableFileError(f"line 1, column 1: the first {len(first)} lines are blank")
    before, delimiter = _beginning(first, headers, dialect)
    if above is not None:
        above.extend(line.replace(delimiter, " ") for line in first[:before])
    rows = csv_rows(itertools.chain(first[before:], lines), taken, delimiter, before, marks=True)
    for line, cells in rows:
        if type(cells) is Row:
            yield line, row_of([cell if isinstance(cell, Fault) else unguarded(cell)
                                for cell in cells])
        else:  # a call per cell would cost as much as all the rest
            yield line, [unguarded(cell) if cell[:1] == "'" else cell for cell in cells]


def _beginning(lines, headers, dialect):
    """Return the number of lines before the first row, and the delimiter."""
    named = separator_of(lines[0])
    if named is not None:
        lines = ["\n", *lines[1:]]
    for is_header in headers:
        for at, line in enumerate(lines):
            for delimiter in DELIMITERS if named is None else named:
                if is_header(_cells_of(line, delimiter)):
                    return at, delimiter
    at = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    delimiters = [one for one in DELIMITERS if one != dialect.decimal]
    return at, named or delimiter_of(lines[at:at + 1], delimiters)


def _cells_of(line, delimiter):
    """Return the cells of a single line; none if it is not a row."""
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return []


def _head(lines, taken):
    """Return the lines in which to look for a header: at most MOST_TITLE, or LONGEST_LINE bytes."""
    first, n_bytes = [], 0
    for line in itertools.islice(lines, MOST_TITLE):
        taken.begin_row()
        first.append(line)
        n_bytes += len(line)
        if n_bytes > LONGEST_LINE:
            break
    return first


def rows_under(rows, first, what="header"):
    """Yield the rows that are not blank; refuse those of another width than `first`."""
    for line, cells in rows:
        if not any(cells):
            continue
        if len(cells) != len(first):
            raise UnreadableFileError(f"line {line}, column {min(len(cells), len(first)) + 1}: the "
                                      "row has "
                          f"{len(cells)} cells, the {what} {len(first)}")
        yield line, cells


def number(cell, place, dialect=PLAIN):
    """Return a finite float, NaN if there is no value; `place()` names the cell.

    Markers and limits are read according to the dialect.
    """
    if isinstance(cell, Fault):
        raise UnreadableFileError(cell.why)
    plain = cell if dialect is PLAIN else dialect.plain(cell)
    try:
        value = math.nan if "_" in plain else float(plain)
    except ValueError:
        value = math.nan
    if math.isfinite(value) or cell.casefold() in LOST:
        return value
    limit = limit_of(cell, dialect) if dialect.limits else None
    if limit is not None and math.isfinite(limit):
        return limit
    if is_marker(cell, dialect.markers):
        return math.nan
    raise UnreadableFileError(f"{place()}: {short(cell)} is not a finite "
                              f"number{_hint(cell, dialect)}; a cell "
                  "without a value is empty or NA")


def _hint(cell, dialect):
    """Return the option that would accept this cell, in words."""
    if dialect.decimal == "." and not dialect.thousands and re.fullmatch(r"-?\d{1,3},\d{3}", cell):
        return "; --decimal , reads the comma as a decimal sign, --thousands , as a separator"
    others = [(".", ","), (".", "'"), (".", " "), (",", "."), (",", ""), (",", " ")]
    for decimal, thousands in others:
        other = Dialect(decimal, thousands)
        try:
            float(other.plain(cell))
        except ValueError:
            continue
        options = [f"--decimal {decimal}"] * (decimal != dialect.decimal)
        options += [f"--thousands {shlex.quote(thousands)}"] * (
            bool(thousands) and thousands != dialect.thousands
            and float(other.plain(cell)) != _or_nan(Dialect(decimal).plain(cell)))
        point = ": the decimal sign is a point" if decimal == "," and dialect.decimal == "." else ""
        return point + ("; " + " ".join(options) + " reads it" if options else "")
    return ""


def _or_nan(text):
    try:
        return float(text)
    except ValueError:
        return math.nan


def is_workbook(path):
    """Return True if a file of this name is a workbook."""
    return Path(path).suffix.casefold() in WORKBOOKS


@contextmanager
def opened(path, headers=(), dialect=PLAIN, above=None):
    """Yield an iterator over the rows of a file from its header on: (line, cells).

    Cells that cannot be read, such as dates, are refused when they are used. The list `above`
    receives the text of the lines before the header.

    Raises
    ------
    UnreadableFileError
        If the file cannot be read. The name of the file is added to such errors of the block.
    """
    try:
        if is_workbook(path):
            from pybandit.tables._xlsx import rows_of_workbook

            with rows_of_workbook(path, headers, dialect, above) as rows:
                yield rows
        else:
            with opened_regular(path) as file:
                yield rows_of(file, headers, dialect, above)
    except OSError as error:
        raise UnreadableFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnreadableFileError as error:
        raise UnreadableFileError(f"{path}: {error}") from None
