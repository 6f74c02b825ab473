"""Hostile text: tables of scores, and tables of a laboratory (plates, arms, values, counts)."""

import gzip
import io
import tracemalloc

import pytest

from pybandit.errors import UnreadableFileError
from pybandit.tables import _read_scores

from hostile.driver import attack
from hostile.special import attacked, check_refused

WIDE = b",".join(b"m%d" % i for i in range(40_000))


def scores():
    rows = b"0.5,0.5\n" * 3
    return {
        "twice among 40,000 columns": (WIDE + b",m7\n" + b"1," * 40_000 + b"1\n", "'m7' twice"),
        "text in 40,000 columns": (WIDE + b"\n" + b"1," * 39_999 + b"x\n", "line 2", "'m39999'"),
        "3 million columns": (b"10," * 3_000_000 + b"1\n", "at most 8,388,608"),
        "quoted lines": (b'a,b\n1,"' + b"x\n" * 4_000_000, "line"),
        "open quote": (b'a,b\n0.5,"0.6\n' + rows * 100_000, "line"),
        "rows in quotes": (b'a,b\n' + b'1,"2222222222\n",' * 1_000_000, "at most 8,388,608"),
        "one cell": (b"a,b\n1," + b"9" * 200_000 + b"\n", "line 2", "field"),
        "blank lines": (b"\n" * 2_000_000, "lines"),
        "too many rows": (b"a,b\n" + b"1,1\n" * 1_100_000, "at most 1,048,576 lines"),
        "nulls": (b"a,b\n1,\0\n", "line 2"),
        "half of UTF-16": ("a,b\n1,2\n".encode("utf-16")[:-1], "UTF-16"),
        "UTF-16 without a mark": ("a,b\n1,x\n".encode("utf-16-le"), "line 2, column 'b'"),
        "bomb": (gzip.compress((b"1," * 999 + b"1\n") * (1 << 14)), "at most 16,777,216 bytes"),
        "bomb of one line": (gzip.compress(bytes(1 << 26)), "at most"),
        "half a character": (b"a,b\n0.5,\xe2\x82", "UTF-8"),
        "compressed": (b"\x1f\x8b\x08\0" + bytes(100), "damaged"),
        "formula": (b"a,b\n1,=cmd|' /C calc'!A0\n", "line 2"),
        "long name": (b"a," + b"x" * 130_000 + b"\n1,z\n", "line 2"),
        "uneven": (b"a,b\n" + b"1,1\n" * 1000 + b"1," * 100_000 + b"1\n", "line 1002 has 100001"),
        "text in 600,000 lines": (b"item,a,b\n" + b"i,zz,yy\n" * 600_000,
                                  "line 2, column 'a': 'zz' is not a number"),
        "text after lost scores": (lost(b"") + b"i," + b"," * 3999 + b"x\n",
                                   "line 502, column 'm3999': 'x' is not a number"),
        "text, then an uneven line": (b"item,a,b\ni,1,x\ni,1\n", "line 2, column 'b'"),
        "empty": (b"", "is empty"),
    }


def lost(cell):
    """Return a table of 500 items and 4,000 models, all without a score."""
    header = b"item," + b",".join(b"m%d" % i for i in range(4000))
    row = b"," + b",".join([cell] * 4000) + b"\n"
    return header + b"\n" + b"".join(b"i%d" % i + row for i in range(500))


def table(header, row):
    """Return files with errors outside this header and row."""
    return {
        "500,000 columns": (b"a," * 490_000 + b"a\n", "line 1"),
        "titles of a megabyte": ((b"," * 900_000 + b"\n") * 199 + header + row, "line"),
        "line of 2 MB": (header + b"x" * 2_000_000 + b"\n", "at most 1,000,000 bytes"),
        "lines in a quote": (header + b'"' + b"x\n" * 1_000_000, "line"),
        "rows in quotes": (header + b'7,"2\n",' * 1_000_000, "at most 1,000,000 bytes"),
        "blank lines": (header + b"\n" * 1_100_000, "line"),
        "blank lines before": (b"\n" * 5_000_000, "blank"),
        "open quote": (header + b'"' + row * 100, "line"),
        "nulls": (header + row.replace(b"A1", b"A\0"), "not UTF-8"),
        "half of UTF-16": ((header + row * 9).decode().encode("utf-16")[:-1], "UTF-16"),
        "UTF-16 without lines": (b"\xff\xfe" + b"a\0" * 3_000_000, "at most 1,000,000 bytes"),
        "UTF-16 that is not": (b"\xff\xfe" + b"\0\xd8" * 1_000_000, "not UTF-16 text"),
        "bomb": (gzip.compress(header + bytes(1 << 25)), "at most"),
        "half a character": (header + b"\xe2\x82" + row, "not UTF-8"),
        "compressed": (b"\x1f\x8b\x08\0" + bytes(100), "line"),
        "empty": (b"", "is empty"),
    }


LAB = {
    "plates": table(b"plate,well,arm,value\n", b"7,A1,control,1\n") | {
        "well of 100,000 letters": (b"plate,well,arm,value\n7," + b"A" * 100_000 + b"1,tea,1\n",
                                    "is not a well"),
        "plate of 100,000 digits": (b"plate,well,arm,value\n" + b"7" * 100_000 + b",A1,tea,1\n",
                                    "line 2"),
        "rows without end": (b"plate,well,arm,value\n" + b"7,A1,control,1\n" * 500_000,
                             "line 2 already"),
        "digits": (b"plate,well,arm,value\n7,A1,control," + b"1" * 100_000 + b"\n",
                   "not a finite number"),
        "grids without end": (b"plate,7\n" + b",1,2,3\nA,1,2,3\nB,4,5,6\nr\n" * 240_000, "grids"),
        "a grid of long cells": (b"plate,7\n" + (b"A,%s,2,3\nB,1,2,3\nx\n" % (b"1" * 900_000))
                                 * 100, "line"),
        "small letters without end": (b"plate,well,arm,value\n" + b"7,a1,,1\n" * 500_000,
                                      "line 2 already")},
    "arms": table(b"arm,plate,well\n", b"tea,7,A1\n") | {
        "2 million arms": (b"arm\n" + b"".join(b"a%d\n" % i for i in range(2_000_000)),
                           "at most 1,048,576 lines"),
        "twice": (b"arm\n" + b"".join(b"a%d\n" % i for i in range(500_000)) + b"a7\n",
                  "line 9 already")},
    "values": table(b"arm,value,x\n", b"A1,1,1\n"),
    "counts": table(b"arm,trials,sum\n", b"A1,3,1\n"),
}


def test_hostile_tables_of_scores_are_refused(tmp_path):
    found = attacked(tmp_path, "best_of", scores(), ".csv")
    assert check_refused(found, "ValueError", 22) >= len(scores())


def test_lost_scores_take_no_more_resources_than_others(tmp_path):
    for name, cell in (("empty", b""), ("null", b"NuLL")):
        (tmp_path / f"{name}.csv").write_bytes(lost(cell))
    found = attack(tmp_path, "hostile.calls:best_of", sorted(tmp_path.glob("*.csv")),
                   megabytes=125)  # 62 bytes per cell
    assert len(found) == 2
    for outcome in found.values():
        assert "ValueError" in outcome.errors and "scores must be finite; got nan" in outcome.text


def test_hostile_laboratory_tables_are_refused(tmp_path):
    for reader, files in LAB.items():
        folder = tmp_path / reader
        folder.mkdir()
        assert check_refused(attacked(folder, reader, files, ".csv"), least=18) >= len(files)


def test_reading_scores_takes_a_few_bytes_per_cell(tmp_path):
    """Cells kept as text would take some 100 bytes each."""
    path = tmp_path / "scores.csv"
    path.write_text(",".join(f"m{i}" for i in range(100)) + ("\n0.25" + ",0.75" * 99) * 3000)
    tracemalloc.start()
    try:
        assert _read_scores.read_scores(path).values.shape == (3000, 100)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 300_000 * 20


def test_stdin_is_read_within_bounds(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("a,b\n1," + "1," * (1 << 22)))
    with pytest.raises(UnreadableFileError,
                       match="line 2: the row must be at most 8,388,608 bytes long"):
        _read_scores.read_scores("-")
