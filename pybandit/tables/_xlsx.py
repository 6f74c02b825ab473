"""Read rows of cells from a workbook (.xlsx), and write a table; limits are in `_workbook`."""

import datetime
import io
import itertools
import re
import zipfile
from contextlib import contextmanager

from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.files import opened_regular
from pybandit._shared.optional import require
from pybandit.tables._text import MOST_TITLE, Fault, listed, row_of, short
from pybandit.tables._workbook import Formula, opened_workbook

EXTRA = "xlsx"
MADE = datetime.datetime(2000, 1, 1)  # a fixed date, so that equal tables give equal bytes


@contextmanager
def rows_of_workbook(path, headers, dialect, above=None):
    """Yield an iterator over the rows of a sheet: (row, cells as text), like `rows_of` for CSV.

    A date, or a formula without a value, is a `Fault`: it is refused if the cell is used.

    Raises
    ------
    UnreadableFileError
        If it is not a workbook, a limit is exceeded, or the sheet is missing or ambiguous.
    """
    require("openpyxl", EXTRA)
    with opened_regular(path) as file:
        book = opened_workbook(file)
        name = _sheet_of(book, dialect.sheet)
        yield _from_header(_texts(book.rows(name), dialect), headers, above)


def _sheet_of(book, wanted):
    """Return the name of the sheet to read."""
    if wanted is not None:
        if wanted not in book.sheets:
            raise UnreadableFileError(f"line 1, column 1: there is no sheet {short(wanted)}; the "
                                      f"sheets are {listed(list(book.sheets))}")
        return wanted
    names = [name for name, sheet in book.sheets.items() if sheet.is_visible]
    if len(names) == 1:
        return names[0]
    filled = [name for name in names
              if any(value is not None for _, cells in book.rows(name, MOST_TITLE)
                     for value in cells if not isinstance(value, Formula))]
    if len(filled) != 1:
        raise UnreadableFileError("line 1, column 1: the file is empty" if not filled else
                                  f"line 1, column 1: there are {len(filled)} sheets; --sheet "
                                  f"names one: {listed(filled)}")
    return filled[0]


def _texts(rows, dialect):
    for number, cells in rows:
        texts = [_text_of(value, number, column, dialect)
                 for column, value in enumerate(cells, 1)]
        while texts and not texts[-1]:
            texts.pop()
        if texts:
            yield number, row_of(texts)


def _text_of(value, row, column, dialect):
    """Return the text of a cell as it would be typed."""
    if value is None:
        return ""
    if isinstance(value, Formula):
        return Fault(value, f"line {row}, column {column}: the formula {short(value)} has no "
                            "value; open the file in a spreadsheet and save it")
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and not value.is_integer():
        return repr(value).replace(".", dialect.decimal)
    if isinstance(value, (int, float)):
        return str(int(value))
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
        return Fault(value, f"line {row}, column {column}: {value} is a date or a time; "
                            "spreadsheets make dates of names such as SEPT1: write it as text")
    return str(value).strip()


def _from_header(rows, headers, above):
    """Yield rows from a header on, if there is one; pad each to the widest row before it."""
    first = list(itertools.islice(rows, MOST_TITLE))
    if not first:
        raise UnreadableFileError("line 1, column 1: the file is empty")
    begins = next((at for is_header in headers for at, (_, cells) in enumerate(first)
                   if is_header(list(cells))), 0)
    if above is not None:
        above.extend(" ".join(cells) for _, cells in first[:begins])
    width = 0
    for number, cells in itertools.chain(first[begins:], rows):
        width = max(width, len(cells))
        # workbooks omit empty cells at the end of a row
        yield number, row_of(cells + [""] * (width - len(cells)))


def workbook_of(rows, title="plate"):
    """Return a table as the bytes of a workbook; equal tables give equal bytes."""
    openpyxl = require("openpyxl", EXTRA)
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet(title)
    for row in rows:
        sheet.append([_cell_of(sheet, cell) for cell in row])
    book.properties.creator = "pybandit"
    book.properties.created = book.properties.modified = MADE
    drawn = io.BytesIO()
    book.save(drawn)
    return _undated(drawn)


def _cell_of(sheet, value):
    """Return a cell with this value; text that starts with = is not a formula."""
    if value == "":
        return None
    if not (isinstance(value, str) and value.startswith("=")):
        return value
    cell = require("openpyxl", EXTRA).cell.WriteOnlyCell(sheet, value)
    cell.data_type = "s"
    return cell


def _undated(file):
    """Return the archive without the times at which its parts were written."""
    out = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "docProps/core.xml":
                content = _without_times(content)
            new.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), content,
                         zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _without_times(content):
    """Replace the time of saving, which openpyxl always writes."""
    return re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>2000-01-01T00:00:00Z", content)
