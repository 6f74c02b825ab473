"""A text file as rows of cells, read within bounds; what is wrong is named by row and column."""

import csv
import itertools
import math

from pybandit._shared.cells import DELIMITERS, LOST, BadFile

# no row that a plate reader writes is near these
LONGEST_LINE = 1_000_000
UTF16 = (b"\xff\xfe", b"\xfe\xff")


def rows_of(file):
    """Rows of a CSV file in UTF-8, one at a time.

    Parameters
    ----------
    file : binary file

    Yields
    ------
    line : int
        The line that the row ends on, from 1.
    cells : list of str
        Without blanks at their ends. Lines with nothing on them are left out.

    Raises
    ------
    BadFile
        Where the file is not UTF-8 or not CSV.
    """
    lines = _lines(file)
    blank, first = 0, next(lines, "")
    while first and not first.strip():
        blank, first = blank + 1, next(lines, "")
    if not first:
        raise BadFile("line 1, column 1: the file is empty")
    delimiter = max(DELIMITERS, key=first.count)
    reader = csv.reader(itertools.chain([first], lines), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if cells:
                yield blank + reader.line_num, _checked(cells, blank + reader.line_num)
    except csv.Error as error:
        raise BadFile(f"line {blank + reader.line_num}, column 1: not CSV: {error}") from None


def _lines(file):
    """Lines of text; bytes that are no text pass as surrogates, for `_checked` to name."""
    for number in itertools.count(1):
        line = file.readline(LONGEST_LINE)
        if not line:
            return
        if number == 1:
            if line.startswith(UTF16):
                raise BadFile("line 1, column 1: the file is UTF-16; save it as CSV UTF-8")
            line = line.removeprefix(b"\xef\xbb\xbf")
        if len(line) >= LONGEST_LINE:
            raise BadFile(f"line {number}, column 1: the line is longer than {LONGEST_LINE:,} "
                          "bytes")
        yield line.decode("utf-8", "surrogateescape")


def _checked(cells, line):
    for column, cell in enumerate(cells, 1):
        if cell.isascii() and "\0" not in cell:
            continue
        if "\0" in cell or any("\udc80" <= character <= "\udcff" for character in cell):
            raise BadFile(f"line {line}, column {column}: not UTF-8 text; save the file as CSV "
                          "UTF-8")
    return [cell.strip() for cell in cells]


def number(cell, place):
    """A finite float, NaN where there is no value; `place()` names the cell."""
    try:
        value = math.nan if "_" in cell else float(cell)
    except ValueError:
        value = math.nan
    if math.isfinite(value) or cell.casefold() in LOST:
        return value
    hint = ": decimals take a point" if cell.count(",") == 1 else ""
    raise BadFile(f"{place()}: {short(cell)} is not a finite number{hint}; a cell without a value "
                  "is empty or NA")


def short(text):
    """A cell in quotes, not too long."""
    text = repr(text)
    return text if len(text) <= 60 else text[:57] + "..."
