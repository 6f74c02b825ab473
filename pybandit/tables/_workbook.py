"""Sheets of a workbook, .xlsx, read once and within limits.

`checked_archive` limits the bytes of the expanded archive. A workbook has at most MOST_SHEETS
sheets, each in a separate part. All parts together have at most MOST_ELEMENTS XML elements. Parts
other than sheets and strings, such as styles, have at most MOST_OTHER elements together, which
are counted at each read. A sheet has
at most MOST_ROWS rows and MOST_COLUMNS columns, as in Excel, and all rows that are read have at
most MOST_CELLS cells together, including empty ones. A number takes two elements, a cell and a
value, so a sheet may have some 400,000 numbers. Nested elements cost no more time or memory than
others.
"""

import re
import zipfile
from typing import NamedTuple

from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.files import checked_archive
from pybandit.tables._text import short

MOST_ROWS, MOST_COLUMNS, MOST_CELLS, MOST_SHEETS = 1 << 20, 1 << 14, 1 << 20, 1000
MOST_ELEMENTS, MOST_OTHER = 850_000, 1 << 16
# Encodings in which a tag begins with the byte "<" and <!DOCTYPE is legible.
ENCODINGS = b"utf-8", b"us-ascii", b"iso-8859-1"
ENCODING = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']*)")
ELEMENT = re.compile(rb"<[^/!?]")


class Formula(str):
    """A formula without a stored value."""


class Sheet(NamedTuple):
    """A sheet of cells."""

    part: str  # name in the archive
    is_visible: bool


class Archive(zipfile.ZipFile):
    """An archive that limits the elements of all parts that are read as a whole."""

    n_other = 0

    def read(self, name, pwd=None):
        content = super().read(name, pwd)
        self.n_other += _n_elements(content)
        if self.n_other > MOST_OTHER:
            raise UnreadableFileError("the parts of a workbook other than sheets and strings must "
                                      f"have at most {MOST_OTHER:,} elements; {short(name)} has "
                                      "more; save it as CSV")
        return content


def opened_workbook(file):
    """Return the `Workbook` of a binary file.

    Raises UnreadableFileError if it is damaged or exceeds a limit.
    """
    try:
        _check_parts(file)
        return Workbook(file)
    except Exception as error:  # damaged archives, XML or numbers raise anything
        raise _refusal(error) from None


class Workbook:
    """Sheets and strings of a workbook.

    Attributes
    ----------
    sheets : dict of str to Sheet
        The sheets of cells by name.
    """

    def __init__(self, file):
        from openpyxl.reader.excel import ExcelReader
        from openpyxl.styles.stylesheet import apply_stylesheet

        reader = ExcelReader(file, read_only=True, data_only=True, keep_links=False)
        self._archive = reader.archive = Archive(file)
        reader.read_manifest()
        reader.read_workbook()
        apply_stylesheet(self._archive, reader.wb)
        self._book, self._n_cells = reader.wb, 0
        self.sheets = self._sheets_of(reader.parser)
        self._strings = self._strings_of(reader.package)

    def _sheets_of(self, parser):
        found, parts = {}, set(self._archive.namelist())
        sheets = list(parser.find_sheets())
        if len(sheets) > MOST_SHEETS:
            raise UnreadableFileError(f"a workbook must have at most {MOST_SHEETS:,} sheets; got "
                                      f"{len(sheets):,}")
        for sheet, rel in sheets:
            if rel.target not in parts or "chartsheet" in rel.Type:
                continue
            if sheet.name in found or any(one.part == rel.target for one in found.values()):
                raise UnreadableFileError("sheets of a workbook must have different names and "
                                          f"parts; got {short(sheet.name)} of {short(rel.target)} "
                                          "twice")
            found[sheet.name] = Sheet(rel.target, sheet.state == "visible")
        return found

    def _strings_of(self, package):
        from openpyxl.xml.constants import SHARED_STRINGS, SHEET_MAIN_NS
        from openpyxl.xml.functions import iterparse

        strings, part = [], package.find(SHARED_STRINGS)
        if part is not None:
            with self._archive.open(part.PartName[1:]) as source:
                for _, element in iterparse(source):
                    if element.tag == f"{{{SHEET_MAIN_NS}}}si":
                        # an escaped underscore, as openpyxl reads it
                        strings.append(_text_of(element).replace("x005F_", ""))
                        element.clear()
        return strings

    def rows(self, name, most=MOST_ROWS):
        """Yield (row, values) of the first `most` rows of a sheet, as they are parsed.

        Rows without cells are left out. A value is None if a cell is empty.
        """
        last = 0
        try:
            with self._archive.open(self.sheets[name].part) as source:
                for number, cells in self._parser(source).parse():
                    if most < MOST_ROWS and number > most:
                        break
                    if not cells and number <= MOST_ROWS:
                        if number > last:
                            last = number
                        continue
                    width = max((cell["column"] for cell in cells), default=0)
                    self._n_cells += width
                    if number > MOST_ROWS or self._n_cells > MOST_CELLS:
                        raise UnreadableFileError(f"line {min(number, MOST_ROWS + 1)}, column 1: a "
                                                  f"sheet must have at most {MOST_ROWS:,} rows and "
                                                  f"{MOST_CELLS:,} cells")
                    if number > last:  # as in openpyxl, rows out of order are left out
                        last, values = number, [None] * width
                        for cell in cells:
                            values[cell["column"] - 1] = cell["value"]
                        yield number, values
        except Exception as error:
            raise _refusal(error) from None

    def _parser(self, source):
        from openpyxl.worksheet._reader import FORMULA_TAG, INLINE_STRING, WorkSheetParser

        class Parser(WorkSheetParser):
            def parse_row(self, element):
                if len(element) or element.attrib:
                    return super().parse_row(element)
                self.row_counter += 1  # a fast path, because a file may have many empty rows
                return self.row_counter, ()

            def parse_cell(self, element):
                # openpyxl would make an object of each run of an inline string
                string = element.find(INLINE_STRING) if element.get("t") == "inlineStr" else None
                if string is not None:
                    element.remove(string)
                cell = super().parse_cell(element)
                if cell["column"] > MOST_COLUMNS:
                    raise UnreadableFileError(f"line {cell['row']}, column {MOST_COLUMNS + 1}: a "
                                              f"sheet must have at most {MOST_COLUMNS:,} columns")
                if string is not None:
                    cell["value"] = _text_of(string)
                elif cell["value"] is None:
                    formula = element.find(FORMULA_TAG)
                    if formula is not None:
                        cell["value"] = Formula("=" + (formula.text or ""))
                return cell

        book = self._book
        return Parser(source, self._strings, data_only=True, epoch=book.epoch,
                      date_formats=book._date_formats, timedelta_formats=book._timedelta_formats)


def _text_of(element):
    """Return the text of a string, which may be in runs, without its pronunciation."""
    prefix = element.tag.rpartition("}")[0] + "}"
    parts = [element, *element.findall(prefix + "r")]
    return "".join(part.findtext(prefix + "t") or "" for part in parts)


def _n_elements(content):
    return len(ELEMENT.findall(content))


def _check_parts(file):
    """Refuse parts with too many elements, and XML with a document type."""
    n_elements = 0
    with checked_archive(file, "workbook") as archive:
        for part in archive.infolist():
            with archive.open(part) as content:
                n_elements = _checked(part.filename, content, n_elements)


def _checked(name, content, n_elements):
    """Check a part; return `n_elements`, the number of elements so far, plus those of the part."""
    end = b""
    while chunk := content.read(1 << 20):
        if not end and not _is_legible(chunk):
            raise UnreadableFileError(f"part {short(name)} of the workbook must be UTF-8 text")
        n_elements += _n_elements(chunk)
        if n_elements > MOST_ELEMENTS:
            raise UnreadableFileError("the parts of a workbook must have at most "
                                      f"{MOST_ELEMENTS:,} elements, enough for some 400,000 cells; "
                                      f"part {short(name)} has more; save it as CSV")
        if b"<!DOCTYPE" in end + chunk:
            raise UnreadableFileError(f"part {short(name)} of the workbook must not declare a "
                                      "document type")
        end = chunk[-16:]
    return n_elements


def _is_legible(head):
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")):
        return False
    found = ENCODING.search(head)
    return found is None or found[1].lower() in ENCODINGS


def _refusal(error):
    """Return the UnreadableFileError of an error, with a place."""
    if not isinstance(error, UnreadableFileError):
        return UnreadableFileError(f"line 1, column 1: it is not a workbook: {error!r:.300}")
    if str(error).startswith("line "):
        return error
    return UnreadableFileError(f"line 1, column 1: {error}")
