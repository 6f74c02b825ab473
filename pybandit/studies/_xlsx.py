"""Workbooks, .xlsx: rows of cells out of one, and a table into one.

Reading is bounded, and linear in the size of the file. A sheet has at most MOST_ROWS rows, as in
Excel, and MOST_CELLS cells. A workbook has at most MOST_SHEETS sheets, and each part of its archive
MOST_TAGS tags. `checked_archive` limits the size of the expanded archive.
"""

import datetime
import io
import itertools
import re
import zipfile
from contextlib import ExitStack, contextmanager

from pybandit._shared.cells import BadFile
from pybandit._shared.files import checked_archive, opened_regular
from pybandit._shared.optional import require
from pybandit.studies._sheet import MOST_TITLE, listed, short

EXTRA = "xlsx"
MADE = datetime.datetime(2000, 1, 1)  # equal tables, equal bytes
MOST_ROWS, MOST_CELLS, MOST_SHEETS, MOST_TAGS = 1 << 20, 1 << 22, 1000, 1 << 22
# Encodings in which a tag begins with the byte "<" and a declaration of a type is legible.
ENCODINGS = b"utf-8", b"us-ascii", b"iso-8859-1"
ENCODING = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']*)")


@contextmanager
def rows_of_workbook(path, headers, dialect):
    """Rows of a sheet, (row, cells) each, cells as text: as `rows_of` gives those of a CSV file.

    Raises
    ------
    BadFile
        Where it is no workbook, the sheet is not said or not there, or a formula has no value.
    """
    require("openpyxl", EXTRA)
    # opened here: openpyxl does not close a file that is not a workbook
    with opened_regular(path) as file, ExitStack() as opened:
        _check_parts(file)
        # the values that a spreadsheet computed last, and what it computed them from
        values, formulas = (_loaded(file, data_only) for data_only in (True, False))
        opened.callback(values.close)
        opened.callback(formulas.close)
        name = _sheet_of(values, dialect.sheet)
        rows = zip(_rows(values[name]), _rows(formulas[name]), strict=True)
        yield _from_header(_texts(rows, dialect), headers)


def _check_parts(file):
    """Refuse what openpyxl would take unbounded time or memory for, and XML that is a program."""
    try:
        with checked_archive(file, "workbook") as archive:
            for part in archive.infolist():
                with archive.open(part) as content:
                    _check_part(part.filename, content)
    except BadFile as error:
        raise BadFile(f"line 1, column 1: {error}") from None
    except Exception as error:  # damaged archives: any
        raise _no_workbook(error) from None


def _check_part(name, content):
    n_tags, end = 0, b""
    while chunk := content.read(1 << 20):
        if not end and not _is_legible(chunk):
            raise BadFile(f"part {short(name)} of the workbook must be UTF-8 text")
        n_tags += chunk.count(b"<")
        if n_tags > MOST_TAGS:
            raise BadFile(f"part {short(name)} of the workbook must have at most {MOST_TAGS:,} "
                          "tags, as some 200,000 rows of four cells have; save it as CSV")
        if b"<!DOCTYPE" in end + chunk:
            raise BadFile(f"part {short(name)} of the workbook must not declare a type")
        end = chunk[-16:]


def _is_legible(head):
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")):
        return False
    found = ENCODING.search(head)
    return found is None or found[1].lower() in ENCODINGS


def _loaded(file, data_only):
    from openpyxl.reader.excel import ExcelReader

    class Reader(ExcelReader):
        def read_worksheets(self):
            if len(self.parser.sheets) > MOST_SHEETS:
                raise BadFile(f"line 1, column 1: a workbook must have at most {MOST_SHEETS:,} "
                              f"sheets; got {len(self.parser.sheets):,}")
            super().read_worksheets()

    try:
        reader = Reader(file, read_only=True, data_only=data_only)
        reader.read()
    except Exception as error:  # of damaged archives, XML and numbers: any
        if isinstance(error.__cause__, BadFile):
            raise error.__cause__ from None
        raise _no_workbook(error) from None
    return reader.wb


def _rows(sheet, **bounds):
    """Its rows, which are parsed as they are read; those that are missing are empty.

    The size that the sheet states is not used: openpyxl would pad rows to it, and it may lie.
    """
    n_cells = 0
    try:
        sheet.reset_dimensions()
        for number, cells in enumerate(sheet.iter_rows(**bounds), 1):
            n_cells += len(cells)
            if number > MOST_ROWS or n_cells > MOST_CELLS:
                raise BadFile(f"line {number}, column 1: a sheet must have at most {MOST_ROWS:,} "
                              f"rows and {MOST_CELLS:,} cells")
            yield cells
    except BadFile:
        raise
    except Exception as error:
        raise _no_workbook(error) from None


def _no_workbook(error):
    return BadFile(f"line 1, column 1: it is no workbook: {error!r:.300}")


def _sheet_of(book, wanted):
    """The name of the sheet to read."""
    names = [sheet.title for sheet in book.worksheets if sheet.sheet_state == "visible"]
    if wanted is not None:
        if wanted not in book.sheetnames:
            raise BadFile(f"line 1, column 1: there is no sheet {short(wanted)}; the sheets are "
                          f"{listed(book.sheetnames)}")
        return wanted
    filled = [name for name in names if any(
        cell.value is not None for row in _rows(book[name], max_row=MOST_TITLE) for cell in row)]
    if len(filled) != 1:
        raise BadFile("line 1, column 1: the file is empty" if not filled else
                      f"line 1, column 1: there are {len(filled)} sheets; --sheet says which: "
                      f"{listed(filled)}")
    return filled[0]


def _texts(rows, dialect):
    for number, (cells, sources) in enumerate(rows, 1):
        texts = [_text_of(cell.value, source.value, number, column, dialect)
                 for column, (cell, source) in enumerate(zip(cells, sources, strict=True), 1)]
        while texts and not texts[-1]:
            texts.pop()
        if texts:
            yield number, texts


def _text_of(value, source, row, column, dialect):
    """A cell as somebody would have typed it."""
    if value is None:
        if isinstance(source, str) and source.startswith("="):
            raise BadFile(f"line {row}, column {column}: the formula {short(source)} has no value; "
                          "open the file in a spreadsheet and save it")
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and not value.is_integer():
        return repr(value).replace(".", dialect.decimal)
    if isinstance(value, (int, float)):
        return str(int(value))
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
        raise BadFile(f"line {row}, column {column}: {value} is a date or a time; spreadsheets "
                      "make dates of names such as SEPT1: write it as text")
    return str(value).strip()


def _from_header(rows, headers):
    """Rows from a header on, where one is among the first; all as wide as the first."""
    first = list(itertools.islice(rows, MOST_TITLE))
    if not first:
        raise BadFile("line 1, column 1: the file is empty")
    begins = next((at for is_header in headers for at, (_, cells) in enumerate(first)
                   if is_header(cells)), 0)
    width = len(first[begins][1])
    for number, cells in itertools.chain(first[begins:], rows):
        # what is empty at the end of a row is not there
        yield number, cells + [""] * (width - len(cells))


def workbook_of(rows, title="plate"):
    """A table as a workbook: bytes, the same for the same table."""
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
    """A cell that holds what it is given, and no formula."""
    if value == "":
        return None
    if not (isinstance(value, str) and value.startswith("=")):
        return value
    cell = require("openpyxl", EXTRA).cell.WriteOnlyCell(sheet, value)
    cell.data_type = "s"
    return cell


def _undated(file):
    """The same archive, without the times at which its parts were written."""
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
    """openpyxl says when a file was saved, whatever it was told."""
    return re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>2000-01-01T00:00:00Z", content)
