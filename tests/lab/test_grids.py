"""Grids as instruments write them: titles, labels, footers, several measurements."""

import numpy as np
import pytest

from pybandit.errors import UnreadableFileError
from pybandit.lab._read import read_plates
from pybandit.lab.plates import SIZES, Layout, Plates, letters
from pybandit.tables._sheet import PLAIN, Dialect


def grid(layout, delimiter=",", head="{}", corner="", label="", start=0.5, end="", value=str,
         row_letters=True):
    """Return the lines of a grid with the values `start`, `start` + 1, ..."""
    n_rows, n = layout
    lines = [delimiter.join([corner, *(head.format(i + 1) for i in range(n))]) + end]
    for row in range(n_rows):
        cells = [value(start + row * n + i) for i in range(n)]
        lines.append(delimiter.join([letters(row) if row_letters else "24.9", *cells])
                     + (delimiter + label if label else ""))
    return lines


def read(tmp_path, lines, layout, dialect=PLAIN, encoding="utf-8", plate=None, batch=7):
    path = tmp_path / "reader.txt"
    path.write_bytes("\n".join(lines).encode(encoding))
    names = [f"g{i}" for i in range(layout.n_wells)]
    return read_plates(path, Plates(layout), lambda number: names, batch, dialect, plate)


def right(reading, layout, start=0.5):
    return np.array_equal(reading.values, start + np.arange(layout.n_wells))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("options", [
    {}, {"label": "450"}, {"label": "OD 600"}, {"end": ","}, {"end": ",,,"}, {"head": "{:02d}"},
    {"corner": "<>"}, {"corner": "Rows/Cols"}, {"row_letters": False, "corner": "Temp"},
    {"delimiter": ";"}, {"delimiter": "\t", "label": "Read 1:450"}])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_grids_of_plate_readers_are_read(tmp_path, size, options, encoding):
    layout = Layout.parse(str(size))
    lines = ["Reader 3000", "Date,2026-01-02", "", *grid(layout, **options), "",
             "Measured by Ann", "end,12:30"]
    assert right(read(tmp_path, lines, layout, encoding=encoding), layout)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-8-sig"])
def test_encodings_without_a_mark_are_detected(tmp_path, encoding):
    layout = Layout(8, 12)
    assert right(read(tmp_path, ["Plate reader", *grid(layout)], layout, encoding=encoding), layout)


def test_long_table_in_utf_16_is_read(tmp_path):
    layout = Layout(8, 12)
    lines = ["Größe des Plättchens", "plate\twell\tarm\tvalue",
             *(f"7\t{well}\tg{i}\t{i + 0.5}" for i, well in enumerate(layout.wells))]
    for encoding in ("utf-16", "utf-16-be"):
        if encoding == "utf-16":
            assert right(read(tmp_path, lines, layout, encoding=encoding), layout)
        assert right(read(tmp_path, lines[1:], layout, encoding=encoding), layout)


def test_decimal_commas_are_read(tmp_path):
    layout = Layout(8, 12)
    lines = ["Titel", *grid(layout, ";", value=lambda value: f"{value:.2f}".replace(".", ","))]
    assert right(read(tmp_path, lines, layout, Dialect(",")), layout)
    with pytest.raises(UnreadableFileError, match="--decimal , reads it|no grid"):
        read(tmp_path, lines, layout)
    split = [line.replace(".5", ",5") for line in grid(layout)]
    with pytest.raises(UnreadableFileError, match="the row has 25 cells"):
        read(tmp_path, split, layout)
    one = grid(layout)
    one = [one[0], *(line.replace(".5", ",5", 1) for line in one[1:])]
    with pytest.raises(UnreadableFileError,
                       match="the row has 14 cells"):  # cells shifted by one, without a label
        read(tmp_path, one, layout)


def test_grid_with_labels_below_and_at_the_side_is_read(tmp_path):
    layout = Layout(2, 3)
    lines = [*grid(layout, label="450"), ",450,450,450", ",mean,0.5,0.7", "Gain,1,2,3"]
    assert right(read(tmp_path, lines, layout), layout)
    means = [*grid(layout), ",2,3,4", "mean,1,2,3"]
    assert right(read(tmp_path, means, layout), layout)


# several measurements

def two(layout, **options):
    return ["Plate 1", "OD 450", *grid(layout, **options), "", "OD 600",
            *grid(layout, start=1000.5, **options)]


@pytest.mark.parametrize("options", [{}, {"row_letters": False, "corner": "T"}])
def test_one_of_several_grids_must_be_named(tmp_path, options):
    layout = Layout(4, 6)
    lines = two(layout, **options)
    with pytest.raises(UnreadableFileError,
                       match="the file has 2 measurements of a plate; choose one with "
                             "--measurement: 'OD 450', 'OD 600'"):
        read(tmp_path, lines, layout)
    for name, start in (("OD 450", 0.5), ("od 600", 1000.5)):
        assert right(read(tmp_path, lines, layout, Dialect(measurement=name)), layout, start)
    with pytest.raises(UnreadableFileError,
                       match="there is no measurement 'OD 500'; the file has 2"):
        read(tmp_path, lines, layout, Dialect(measurement="OD 500"))


def test_wrong_name_of_single_grid_is_rejected(tmp_path):
    layout = Layout(2, 3)
    lines = ["OD 450", *grid(layout)]
    assert right(read(tmp_path, lines, layout, Dialect(measurement="OD 450")), layout)
    with pytest.raises(UnreadableFileError,
                       match="no measurement 'OD 600'; the file has 1 .*'OD 450'"):
        read(tmp_path, lines, layout, Dialect(measurement="OD 600"))


def test_equal_titles_are_numbered(tmp_path):
    layout = Layout(2, 3)
    lines = [*grid(layout), "", *grid(layout, start=7.5), "Read", *grid(layout, start=9.5), "Read",
             *grid(layout, start=8.5)]
    with pytest.raises(UnreadableFileError, match="'grid 1', 'grid 2', 'Read', 'Read .2.'"):
        read(tmp_path, lines, layout)
    assert right(read(tmp_path, lines, layout, Dialect(measurement="Read (2)")), layout, 8.5)


def test_rows_with_several_labels_are_several_measurements(tmp_path):
    """One line per wavelength for each row; the first has the letter."""
    layout = Layout(2, 3)
    lines = ["Results", ",1,2,3,", "A,0.5,1.5,2.5,450", ",10.5,11.5,12.5,570", "B,3.5,4.5,5.5,450",
             ",13.5,14.5,15.5,570"]
    with pytest.raises(UnreadableFileError, match="2 measurements of a plate; .*'450', '570'"):
        read(tmp_path, lines, layout)
    assert right(read(tmp_path, lines, layout, Dialect(measurement="450")), layout)
    assert right(read(tmp_path, lines, layout, Dialect(measurement="570")), layout, 10.5)
    with pytest.raises(UnreadableFileError,
                       match="line 5, column 1: rows of a grid must end in the same"):
        read(tmp_path, [*lines[:4], "B,3.5,4.5,5.5,570", ",13.5,14.5,15.5,450"], layout)


def test_a_grid_of_names_is_not_a_measurement(tmp_path):
    layout = Layout(2, 3)
    lines = ["Layout", ",1,2,3", "A,SPL1,SPL2,SPL3", "B,BLK,BLK,CTL", "", "Results", *grid(layout)]
    assert right(read(tmp_path, lines, layout), layout)
    numbered = ["Layout", ",1,2,3", "A,1,2,3", "B,4,5,6", "", "Results", *grid(layout)]
    with pytest.raises(UnreadableFileError, match="'Layout', 'Results'"):
        read(tmp_path, numbered, layout)
    bad = [*lines[:6], ",1,2,3", "A,0.5,x,2.5", "B,3.5,4.5,5.5"]
    with pytest.raises(UnreadableFileError, match="line 8, column '2': 'x' is not a finite number"):
        read(tmp_path, bad, layout)


def test_grids_without_letters_under_separate_headers(tmp_path):
    """A file has raw and reduced values; their second header was once read as a ninth row."""
    layout = Layout(2, 3)
    lines = ["##BLOCKS= 1", "Plate:\tPlate01\t1.3", "\tTemperature\t1\t2\t3\t\t",
             "\t37.0\t0.5\t1.5\t2.5\t\t", "\t\t3.5\t4.5\t5.5\t\t", "", "\t\t1\t2\t3\t",
             "\t\t7.5\t8.5\t9.5\t", "\t\t10.5\t11.5\t12.5\t", "~End"]
    with pytest.raises(UnreadableFileError,
                       match="2 measurements .*: 'Plate: Plate01 1.3', 'grid 2'"):
        read(tmp_path, lines, layout)
    for name, start in (("Plate: Plate01 1.3", 0.5), ("grid 2", 7.5)):
        assert right(read(tmp_path, lines, layout, Dialect(measurement=name)), layout, start)


def test_a_header_that_begins_with_plate_is_a_title(tmp_path):
    layout = Layout(8, 12)
    lines = ["Plate information", "Plate,Repeat,Barcode,Measured height", "1,1,B7,15", "",
             "Results of Plate 1, Abs 450", *grid(layout, corner="", row_letters=True), "", "Plate"]
    assert right(read(tmp_path, lines, layout), layout)


def test_long_titles_are_shortened(tmp_path):
    layout = Layout(2, 3)
    lines = ["=" * 200, *grid(layout), "x" * 200, *grid(layout, start=7.5)]
    assert right(read(tmp_path, lines, layout, Dialect(measurement="x" * 50)), layout, 7.5)


def test_time_series_is_rejected(tmp_path):
    layout = Layout(2, 3)
    lines = [line for time in range(5) for line in (f"Time {time} s", *grid(layout, start=time))]
    with pytest.raises(UnreadableFileError, match="5 measurements .*'Time 0 s', 'Time 1 s'"):
        read(tmp_path, lines, layout)
    blocks = [*grid(layout, row_letters=False), "", "24.9,1,2,3", "24.9,1,2,3"]
    with pytest.raises(UnreadableFileError, match="the grid has 3 rows, but a 2x3 plate has 2"):
        read(tmp_path, blocks, layout)


# grids of other plates

@pytest.mark.parametrize("wrong", ["8x12", "4x6", "32x48"])
def test_a_grid_of_another_size_is_refused(tmp_path, wrong):
    other = Layout.parse(wrong)
    for options in ({}, {"row_letters": False}):
        with pytest.raises(UnreadableFileError, match="no grid of a 16x24 plate|rows|cells"):
            read(tmp_path, ["Reader", *grid(other, **options)], Layout(16, 24))
        with pytest.raises(UnreadableFileError, match="no grid of a 2x3 plate|rows|cells"):
            read(tmp_path, ["Reader", *grid(other, **options)], Layout(2, 3))


def test_truncated_grid_is_rejected(tmp_path):
    layout = Layout(4, 6)
    lines = ["Reader", *grid(layout)]
    with pytest.raises(UnreadableFileError, match="the grid has 3 rows, but a 4x6 plate has 4"):
        read(tmp_path, lines[:-1], layout)
    with pytest.raises(UnreadableFileError, match="the row must be named A; got 'B'"):
        read(tmp_path, [lines[1], *lines[3:], "E,1,2,3,4,5,6"], layout)
    with pytest.raises(UnreadableFileError, match="the row must be named C; got 'D'"):
        read(tmp_path, [*lines[:4], lines[5]], layout)
    with pytest.raises(UnreadableFileError, match="the row must be named C; got 'OD 600'"):
        read(tmp_path, [*lines[:4], "OD 600", *grid(layout)], layout)
    with pytest.raises(UnreadableFileError, match="more rows than a 3x6 plate"):
        read(tmp_path, lines, Layout(3, 6))


def test_text_without_a_grid_is_refused(tmp_path):
    with pytest.raises(UnreadableFileError,
                       match="there is no grid of a 8x12 plate: the numbers 1 to 12"):
        read(tmp_path, ["Reader", "a,b", "1,2"] * 300, Layout(8, 12))
    with pytest.raises(UnreadableFileError, match="--well-column and --value-column name them"):
        read(tmp_path, ["Well Position,OD450", "A1,0.2", "A2,0.3"] * 3, Layout(8, 12))


def test_two_barcodes_are_rejected(tmp_path):
    """A file of two plates was read as one if --plate or --batch was given."""
    layout = Layout(2, 3)
    wells = list(enumerate(layout.wells))
    for name, columns in (("barcode", {"plate": "barcode"}), ("Plate ID", {}), ("plate", {})):
        dialect = Dialect(columns=columns)
        lines = [f"{name},well,value", *(f"{'B1' if i < 3 else 'B2'},{well},{i}" for i, well in
                                         wells)]
        for options in ({"plate": "7"}, {"batch": 7}):
            if "batch" in options and name != "Plate ID":
                continue
            with pytest.raises(UnreadableFileError,
                               match=rf"line 5, column '{name}': --.* 7 takes a file of "
                                              "one plate; got 'B1' and 'B2'"):
                read(tmp_path, lines, layout, dialect, **options)
        one = [line.replace("B2,", "B1,", 1) for line in lines]
        assert right(read(tmp_path, one, layout, dialect, plate="7"), layout, 0)
    with pytest.raises(UnreadableFileError,
                       match="line 5, column 'plate': '7' and '07' are the same plate"):
        read(tmp_path, ["plate,well,value", *(f"{'7' if i < 3 else '07'},{well},{i}" for i, well in
                                              wells)], layout)
    grids = ["plate,B1", *grid(layout), "plate,B2", *grid(layout)]
    with pytest.raises(UnreadableFileError, match="line 5, column 2: .* got 'B1' and 'B2'"):
        read(tmp_path, grids, layout, plate="7")


def test_footers_of_long_tables_are_skipped(tmp_path):
    layout = Layout(2, 3)
    rows = [f"7,{well},g{i},{i + 0.5}," for i, well in enumerate(layout.wells)]
    head = "plate,well,arm,value"
    for lines in ([head + ",", *rows], [head, *rows], [head + ",,", *rows, "", "Measured by Ann"],
                  [head, *(row.rstrip(",") for row in rows), "end,12:30", "Ann"]):
        assert right(read(tmp_path, lines, layout), layout)
    with pytest.raises(UnreadableFileError,
                       match="line 4, .*the row has 2 cells and no well, but wells"):
        read(tmp_path, [head, *rows[:2], "end,12:30", *rows[2:]], layout)
    with pytest.raises(UnreadableFileError, match="line 4, column 'arm': the row has 2 cells"):
        read(tmp_path, [head, *rows[:2], "7,B1", *rows[2:]], layout)


def test_cells_that_are_not_text_are_refused_if_they_are_used(tmp_path):
    layout = Layout(2, 3)
    head = "well,value,Temp (\u00b0C),comment"
    rows = [f"{well},{i + 0.5},20,\u00b5" for i, well in enumerate(layout.wells)]
    assert right(read(tmp_path, [head, *rows], layout, encoding="latin-1"), layout)
    rows[2] = rows[2].replace("2.5", "2.5\u00b5")
    with pytest.raises(UnreadableFileError, match="line 4, column 2: not UTF-8"):
        read(tmp_path, [head, *rows], layout, encoding="latin-1")
