"""Names that a spreadsheet would run as formulas: escaped on writing, restored on reading."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pybandit as pb
from pybandit import cli
from pybandit._shared.cells import guarded, unguarded
from pybandit.lab import Layout, Plates, Screen

NAMES = ["=1+1", "+A", "-A", "@sum", "'=x", "''-y", "=HYPERLINK(\"http://x\")", "'quoted", "-5",
         "+1e3", "gene"]


@given(st.text(max_size=8) | st.sampled_from(NAMES)
       | st.text("'=+-@\t1.", min_size=1, max_size=5))
def test_escaped_cells_are_restored(text):
    written = guarded(text)
    assert unguarded(written) == text
    if written[:1] in ("=", "+", "-", "@", "\t", "\r"):
        float(written)


def ok(*arguments):
    assert cli.main(["screen", *arguments]) == 0


def cells_of(path):
    if path.suffix == ".csv":
        return list(csv.reader(io.StringIO(path.read_text())))
    openpyxl = pytest.importorskip("openpyxl")
    cells = [cell for row in openpyxl.load_workbook(path).active for cell in row]
    assert all(cell.data_type != "f" for cell in cells)
    return [[cell.value for cell in row] for row in openpyxl.load_workbook(path).active]


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_plates_and_exports_escape_formulas(suffix, tmp_path, monkeypatch):
    if suffix == "xlsx":
        pytest.importorskip("openpyxl")
    monkeypatch.chdir(tmp_path)
    policy = pb.policies.RoundRobin(len(NAMES), 1, batch_size=len(NAMES), max_batches=2)
    Screen.create("study.db", policy, NAMES, who="=me", plates=Plates(Layout(8, 12))).close()
    ok("next", "-o", f"plate.{suffix}")
    rows = cells_of(tmp_path / f"plate.{suffix}")
    names = {row[2] for row in rows[1:]}
    assert {"-5", "+1e3", "gene", "'quoted"} <= names
    if suffix == "csv":
        assert {"'=1+1", "'+A", "'-A", "'@sum", "''=x", "'''-y"} <= names
        filled = io.StringIO()
        csv.writer(filled).writerows([rows[0], *([*row[:3], "0.5"] for row in rows[1:])])
        (tmp_path / "plate.csv").write_text(filled.getvalue())
    else:
        assert set(NAMES) <= names
        import openpyxl

        book = openpyxl.load_workbook("plate.xlsx")
        for row in range(2, len(rows) + 1):
            book.active.cell(row, 4).value = 0.5
            if str(book.active.cell(row, 3).value).startswith("="):
                book.active.cell(row, 3).data_type = "s"
        book.save("plate.xlsx")
    ok("record", f"plate.{suffix}")
    ok("export", f"all.{suffix}")
    written = [row[2] for row in cells_of(tmp_path / f"all.{suffix}")[1:]]
    assert sorted(map(unguarded, written) if suffix == "csv" else written) == sorted(NAMES)
