"""Workbooks, and text from spreadsheets of other countries."""

import datetime
import io
import sys
import zipfile

import numpy as np
import openpyxl
import pytest

from pybandit.errors import MissingPackageError, UnreadableFileError
from pybandit.lab._read import read_plates
from pybandit.lab.plates import Layout, Plates
from pybandit.tables._sheet import PLAIN, Dialect
from pybandit.tables._xlsx import workbook_of

SMALL = Plates(Layout(2, 3), (0, 5))
NAMES = ["tea", "milk", "gin", "rum"]
ROWS = [["plate", "well", "arm", "value"], [7, "A1", "control", 2], [7, "A2", "tea", 1],
        [7, "A3", "milk", 2.5], [7, "B1", "gin", -3], [7, "B2", "rum", 1e2],
        [7, "B3", "control", 4]]
VALUES = [2, 1, 2.5, -3, 100, 4]


def saved(tmp_path, rows, change=lambda book: None):
    book, path = openpyxl.Workbook(), tmp_path / "plate.xlsx"
    for row in rows:
        book.active.append(row)
    change(book)
    book.save(path)
    return path


def read(path, dialect=PLAIN, plate=None, batch=None):
    return read_plates(path, SMALL, lambda number: NAMES, batch, dialect, plate)


def text(tmp_path, content, dialect=PLAIN, plate=None, batch=None):
    path = tmp_path / "plate.csv"
    path.write_text(content)
    return read(path, dialect, plate, batch)


def test_workbook_is_read(tmp_path):
    assert read(saved(tmp_path, ROWS)).values.tolist() == VALUES
    title = [["Reader 3", None, datetime.date(2026, 1, 2)], [], *ROWS]
    found = read(saved(tmp_path, title))
    assert found.values.tolist() == VALUES and found.lines.tolist() == [4, 5, 6, 7, 8, 9]
    grid = [["plate", "7"], ["", 1, 2, 3], ["A", 2, 1, 2.5], ["B", -3, 100, 4]]
    assert read(saved(tmp_path, grid)).values.tolist() == VALUES
    # numbers of a workbook are read as numbers, whatever their format
    assert read(saved(tmp_path, ROWS), Dialect(",", ".")).values.tolist() == VALUES


def test_cells_of_spreadsheets_are_read(tmp_path):
    rows = [*ROWS[:2], [7, "A2", "tea", "#N/A"], [7, "A3", "milk", None], *ROWS[4:]]
    assert np.isnan(read(saved(tmp_path, rows)).values[1:3]).all()
    rows[3][3] = "=1+1"
    with pytest.raises(UnreadableFileError,
                       match="line 4, column 4: the formula '=1\\+1' has no value"):
        read(saved(tmp_path, rows))
    rows[3][3] = "#DIV/0!"
    with pytest.raises(UnreadableFileError,
                       match="line 4, column 'value': '#DIV/0!' is not a finite number"):
        read(saved(tmp_path, rows))
    rows[3][3], rows[3][2] = 1, datetime.datetime(2026, 9, 1)
    with pytest.raises(UnreadableFileError, match="line 4, column 3: .*names such as SEPT1"):
        read(saved(tmp_path, rows))


DAY, CLOCK = datetime.datetime(2026, 9, 1, 12, 30), datetime.time(12, 30)


@pytest.mark.parametrize("cell", [DAY, CLOCK, datetime.timedelta(hours=1), DAY.date(), "=1+1"])
def test_unused_cells_are_not_checked(tmp_path, cell):
    """A date in a title or an unused column must not refuse the workbook."""
    head, *wells = ROWS
    wide = [["read at", cell], [], [cell, *head, "time", cell],
            *([cell, *row, cell, "note"] for row in wells), ["end", None, None, None, None, cell]]
    assert read(saved(tmp_path, wide)).values.tolist() == VALUES
    grid = [[cell], ["plate", "7"], [cell, 1, 2, 3], ["A", 2, 1, 2.5], ["B", -3, 100, 4],
            ["done", cell]]
    assert read(saved(tmp_path, grid)).values.tolist() == VALUES
    for column in range(4):
        row = list(wells[1])
        row[column] = cell
        with pytest.raises(UnreadableFileError,
                           match=rf"line 3, column {column + 1}: .*(date|no value)"):
            read(saved(tmp_path, [head, wells[0], row, *wells[2:]]))
    grid[4][2] = cell
    with pytest.raises(UnreadableFileError, match="line 5, column 3: .*(date|no value)"):
        read(saved(tmp_path, grid))


def test_sheet_is_selected(tmp_path):
    def more(book):
        book.create_sheet("Notes").append(["hello"])

    with pytest.raises(UnreadableFileError,
                       match="there are 2 sheets; --sheet names one: 'Sheet', 'Notes'"):
        read(saved(tmp_path, ROWS, more))
    path = saved(tmp_path, ROWS, more)
    assert read(path, Dialect(sheet="Sheet")).values.tolist() == VALUES
    with pytest.raises(UnreadableFileError, match="there is no sheet 'Data'"):
        read(path, Dialect(sheet="Data"))
    empty = saved(tmp_path, ROWS, lambda book: book.create_sheet("Empty"))
    assert read(empty).values.tolist() == VALUES
    with pytest.raises(UnreadableFileError, match="the file is empty"):
        read(saved(tmp_path, []))


def test_invalid_workbooks_are_rejected(tmp_path, monkeypatch):
    path = tmp_path / "plate.xlsx"
    path.write_text("plate,well,arm,value\n")
    with pytest.raises(UnreadableFileError,
                       match="plate.xlsx: line 1, column 1: it must be a workbook"):
        read(path)
    with pytest.raises(UnreadableFileError, match="cannot be read"):
        read(tmp_path / "none.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingPackageError, match="pybandit-core\\[xlsx\\]"):
        read(path)


@pytest.mark.parametrize("change", [
    lambda body: b"", lambda body: body[:len(body) // 2], lambda body: body.replace(b"<c ", b"<"),
    lambda body: body.replace(b"<v>", b"<v>x"), lambda body: body.replace(b'r="', b'r="?')])
@pytest.mark.parametrize("part", ["xl/workbook.xml", "xl/worksheets/sheet1.xml",
                                  "[Content_Types].xml", "xl/styles.xml"])
def test_damaged_workbooks_are_rejected_or_read(tmp_path, part, change):
    """A workbook with any damaged part is rejected or read, and closed."""
    path = saved(tmp_path, ROWS)
    made = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(old.read(name)) if name == part else old.read(name))
    path.write_bytes(made.getvalue())
    try:
        assert read(path).values.size == len(VALUES)
    except UnreadableFileError as error:
        assert str(error).startswith(f"{path}: line ")
    whole = bytearray(made.getvalue())
    whole[len(whole) // 3] ^= 255
    path.write_bytes(whole)
    try:
        read(path)
    except UnreadableFileError as error:
        assert str(error).startswith(f"{path}: line ")


def test_written_workbooks_round_trip(tmp_path):
    """Equal tables give equal bytes, and are read back."""
    content = workbook_of(ROWS)
    assert content == workbook_of(ROWS) != workbook_of(ROWS[:-1])
    (tmp_path / "plate.xlsx").write_bytes(content)
    assert read(tmp_path / "plate.xlsx").values.tolist() == VALUES


LONG = "plate,well,arm,value\n7,A1,control,2\n7,A2,tea,1\n7,A3,milk,2.5\n7,B1,gin,-3\n"


@pytest.mark.parametrize("dialect, content, expected", [
    (Dialect(","), "plate;well;value\n7;A1;2,5\n7;A2;1\n", [2.5, 1]),
    (Dialect(",", "."), "plate;well;value\n7;A1;1.043,25\n7;A2;1.234.567\n", [1043.25, 1234567]),
    (Dialect(".", ","), 'plate,well,value\n7,A1,"1,043.25"\n7,A2,12.5\n', [1043.25, 12.5]),
    (Dialect(",", " "), "plate;well;value\n7;A1;1 043,25\n7;A2;1\u00a0000\n", [1043.25, 1000]),
    (Dialect(".", "'"), "plate,well,value\n7,A1,1'043.25\n7,A2,-1'000\n", [1043.25, -1000]),
    (Dialect(columns={"value": "Fluorescence", "well": "Pos"}),
     "plate,Pos,value,fluorescence\n7,A1,x,2\n7,A2,y,1\n", [2, 1]),
    (Dialect(), "Reader 3, run of today\nGain,100\n\nplate,well,value\n7,A1,2\n7,A2,1\n", [2, 1]),
    (Dialect(","), "Reader; 1,5 s\n\nplate;well;value\n7;A1;2,5\n7;A2;#N/A\n", [2.5, np.nan]),
    (Dialect(), "Gain: 100\nplate,7\n,1,2,3\nA,2,1,\nB,,,\n", [2, 1]),
])
def test_common_text_formats_are_read(tmp_path, dialect, content, expected):
    found = text(tmp_path, content, dialect.checked())
    assert np.array_equal(found.values[:2], expected, equal_nan=True)


@pytest.mark.parametrize("dialect, cell, message", [
    (Dialect(), '"1,5"', "the decimal sign is a point; --decimal , reads it"),
    (Dialect(), '"1,043.2"', "is not a finite number; --thousands , reads it"),
    (Dialect(), '"1,947"', "; --decimal , reads the comma as a decimal sign, "
                             "--thousands , as a separator"),
    (Dialect(), '"1.043,2"', "the decimal sign is a point; --decimal , --thousands . reads it"),
    (Dialect(","), "1.5", "'1.5' is not a finite number; --decimal . reads it"),
    (Dialect(",", "."), "1.04", "'1.04' is not a finite number; --decimal . reads it"),
    (Dialect(), "x", "'x' is not a finite number; a cell without"),
])
def test_ambiguous_numbers_are_rejected(tmp_path, dialect, cell, message):
    with pytest.raises(UnreadableFileError, match=message):
        text(tmp_path, f"well;value\nA1;{cell}\n" if dialect.decimal == ","
             else f"well,value\nA1,{cell}\n", dialect, batch=7)


def test_invalid_dialects_are_rejected():
    for dialect, message in ((Dialect(";"), r"decimal \(--decimal\) must be"),
                             (Dialect(",", ","), "must differ"),
                             (Dialect(".", "x"), r"thousands \(--thousands\) must be")):
        with pytest.raises(ValueError, match=message):
            dialect.checked()


def test_missing_columns_are_reported(tmp_path):
    """The column of arms is optional; without it the arms of the wells are not checked."""
    assert text(tmp_path, LONG).has_arms
    assert not text(tmp_path, LONG.replace("arm", "colour")).has_arms
    with pytest.raises(UnreadableFileError,
                       match="column 'Signal': the column is missing.*--value-column"):
        text(tmp_path, LONG, Dialect(columns={"value": "Signal"}))
    with pytest.raises(UnreadableFileError,
                       match="column 'Gene': the column is missing.*--arm-column"):
        text(tmp_path, LONG, Dialect(columns={"arm": "Gene"}))


def test_plate_option_overrides_file(tmp_path):
    """`plate` overrides the name in the file."""
    other = LONG.replace("7,", "Plate 1,")
    assert text(tmp_path, other, plate="7").values[:4].tolist() == [2, 1, 2.5, -3]
    assert text(tmp_path, "plate,Run 12\n2,1,2.5\n-3,100,4\n", plate="7").values.tolist() == VALUES
    with pytest.raises(UnreadableFileError, match="'Plate 1' is not the name of a plate"):
        text(tmp_path, other)
    with pytest.raises(UnreadableFileError, match="'8p2' is not a plate of batch 8"):
        text(tmp_path, other, plate="8p2")
