"""Plates: positions of wells, reading and writing of files, controls."""

import csv
import gzip
import io
import math
import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pybandit.errors import UnreadableFileError
from pybandit.lab._normalise import rewards_of
from pybandit.lab._read import read_plates
from pybandit.lab._write import joined, plate_texts
from pybandit.lab.plates import Layout, Plates, controls_of, letters, plate_number

SMALL = Plates(Layout(2, 3), (0, 5))
NAMES = ["tea", "milk", "gin", "rum"]
GOOD = ("plate,well,arm,value\n7,A1,control,2\n7,A2,tea,1\n7,A3,milk,2.5\n7,B1,gin,-3\n"
        "7,B2,rum,1e2\n7,B3,control,4\n")


def read(tmp_path, text, plates=SMALL, names=NAMES, number=7, batch=None):
    path = tmp_path / "plate.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def arms_of(found):
        if found != number:
            raise ValueError("what a study says")
        return names

    return read_plates(path, plates, arms_of, batch)


def rewards(tmp_path, text, plates=SMALL, names=NAMES, batch=None, lost=False):
    return rewards_of(read(tmp_path, text, plates, names, batch=batch), plates, lost)


# layouts

def test_known_plates_have_right_wells():
    assert Layout.parse("384").wells[-1] == "P24" and Layout.parse("16x24") == (16, 24)
    assert Layout.parse("96") == Layout.parse(" 8 X 12 ") == Layout.parse("8×12") == (8, 12)
    assert Layout.parse("1536").find("AF48") == 1535
    assert Layout(8, 12).wells[:13] == (*(f"A{i}" for i in range(1, 13)), "B1")
    assert [letters(row) for row in (0, 25, 26, 51, 52, 701, 702)] == [
        "A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]


@pytest.mark.parametrize("text", ["", "95", "0x12", "8x", "-8x12", "8x12x3", "9999x9999", "eight"])
def test_invalid_layouts_are_rejected(text):
    with pytest.raises(ValueError, match=f"got {text!r}$"):
        Layout.parse(text)


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_well_names_match_positions(rows, columns, data):
    layout = Layout.parse(f"{rows}x{columns}")
    position = data.draw(st.integers(0, layout.n_wells - 1))
    well = layout.wells[position]
    assert well == f"{letters(position // columns)}{position % columns + 1}"
    letter, number = well.rstrip(string.digits), well.lstrip(string.ascii_uppercase)
    for name in (well, well.lower(), f" {letter}0{number} ", f"{letter}-{number}",
                 f"{letter} {number}", f"{letter}:0{number}"):
        assert layout.find(name) == position
    if rows <= 26 or len(letter) > 1:
        assert layout.find_typed(well.lower()) == position
    assert len(set(layout.wells)) == rows * columns
    for name in f"{letters(rows)}1", f"A{columns + 1}", "A0", "1A", "", "A", f"{well}.5":
        assert layout.find(name) is None


def test_names_of_plates():
    assert SMALL.names(7, 4) == ["7"] and SMALL.names(7, 5) == ["7p1", "7p2"]
    assert plate_number("7") == plate_number(" 007") == (7, None)
    assert plate_number("12p3") == (12, 2)
    for text in "", "p1", "7p0", "7p", "-1", "1.0", "7 p1", "plate 7":
        assert plate_number(text) is None


# controls

def test_control_wells():
    layout = Layout(2, 3)
    for text, expected in [("", ()), ("A1, b3", (0, 5)), ("col:1,3", (0, 2, 3, 5)),
                           ("row:B", (3, 4, 5)), ("col:2,A1", (0, 1, 4)),
                           ("COL:1,row:a", (0, 1, 2, 3))]:
        assert controls_of(text, layout) == expected
    for text in "C1", "A4", "col:4", "col:A1", "row:C", "col:0", "A1;A2":
        with pytest.raises(ValueError, match="controls must be wells, columns or rows of a 2x3"):
            controls_of(text, layout)
    assert controls_of("AA1", Layout(30, 1)) == (26,)


@pytest.mark.parametrize("options, message", [
    ({"controls": range(6)}, "must leave wells"), ({"normalise": True}, "controls must be given"),
    ({"label": " "}, "label"), ({"normalise": "mean"}, "normalise must be False, True, 'percent'"),
    ({"normalise": "inhibition", "controls": (0,)}, "positives must be given"),
    ({"controls": (0, 1), "positives": (1,)}, "got A2 as both"), ({"fill": "spiral"}, "fill must"),
    ({"controls": (0,), "positives": (1,), "positive_label": "control"}, "labels .* must differ"),
    ({"controls": (0, 1, 2), "positives": (3, 4, 5)}, "must leave wells")])
def test_impossible_plates_are_rejected(options, message):
    with pytest.raises(ValueError, match=message):
        Plates(Layout(2, 3), **options)


def test_plates_are_restored_from_settings():
    plates = Plates(Layout(3, 4), (1, 11), "cells", True, True, False)
    assert Plates.of(plates.settings()) == plates
    # this text must not change, so that older versions can read it
    assert set(plates.settings()["plates"]) == {"layout", "controls", "label", "normalise", "log",
                                                "flip"}
    plates = Plates(Layout(3, 4), (1, 11), "cells", "inhibition", True, False, (0,), "drug",
                    "apart", 7)
    assert Plates.of(plates.settings()) == plates
    assert Plates.of({}) == Plates(Layout(8, 12))
    for told in 3, {}, {"layout": "8x12", "colour": 1}, {"layout": 4}, {"layout": "2x2", "log": 1,
                                                                       "controls": 3}:
        with pytest.raises(ValueError, match="settings"):
            Plates.of({"plates": told})


@st.composite
def filled(draw):
    """Return plates, names of a batch, and a value for every well of its plates."""
    layout = Layout(draw(st.integers(1, 5)), draw(st.integers(1, 30)))
    wells = st.integers(0, layout.n_wells - 1)
    controls = draw(st.sets(wells, max_size=layout.n_wells - 1))
    n = draw(st.integers(1, 3 * layout.n_wells))
    names = [f"arm {draw(st.sampled_from(['é', ',', chr(34), 'x']))} {i}" for i in range(n)]
    plates = Plates(layout, tuple(sorted(controls)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return plates, names, rng.normal(size=plates.n_plates(n) * layout.n_wells) * 10.0**rng.integers(
        -9, 9)


@settings(max_examples=40, deadline=None)
@given(filled())
def test_places_are_the_free_wells_in_order(case):
    plates, names, _ = case
    n_wells = plates.layout.n_wells
    free = [i for i in range(len(names) * n_wells) if i % n_wells not in plates.controls]
    assert plates.places(7, names).tolist() == free[:len(names)]
    labels = plates.labels(7, names)
    assert [labels[i] for i in free[:len(names)]] == names
    assert set(labels) - {""} == {*names, *(["control"] if plates.controls else [])}
    assert labels.count("control") == len(plates.controls) * plates.n_plates(len(names))


@settings(max_examples=40, deadline=None)
@given(filled(), st.sampled_from([",", ";", "\t"]))
def test_long_tables_round_trip(tmp_path_factory, case, delimiter):
    plates, names, values = case
    rows = list(csv.reader(io.StringIO(joined(plate_texts(plates, 7, names).values()))))
    held = [i for i, label in enumerate(plates.labels(7, names)) if label]
    assert rows[0] == ["plate", "well", "arm", "value"] and len(rows) == len(held) + 1
    order = np.random.default_rng(len(held)).permutation(len(held))
    text = io.StringIO()
    write = csv.writer(text, delimiter=delimiter)
    write.writerow(rows[0])
    write.writerows([*rows[1 + i][:3], repr(float(values[held[i]]))] for i in order)
    found = read(tmp_path_factory.mktemp("long"), text.getvalue(), plates, names)
    assert found.values[held].tolist() == values[held].tolist()
    assert np.isnan(np.delete(found.values, held)).all()
    assert found.parts == list(range(plates.n_plates(len(names)))) and not found.is_grid


@settings(max_examples=40, deadline=None)
@given(filled(), st.booleans(), st.booleans())
def test_grids_round_trip(tmp_path_factory, case, head, labelled):
    plates, names, values = case
    n_rows, n_columns = plates.layout
    held = np.array([bool(label) for label in plates.labels(7, names)])
    text = io.StringIO()
    write = csv.writer(text)
    for part, plate in enumerate(plates.names(7, len(names))):
        write.writerow(["plate", plate])
        if head:
            write.writerow([""] * labelled + list(range(1, n_columns + 1)))
        block = values[part * n_rows * n_columns:][:n_rows * n_columns].reshape(n_rows, n_columns)
        for row, line in enumerate(block.tolist()):
            write.writerow([letters(row)] * labelled + list(map(repr, line)))
    found = read(tmp_path_factory.mktemp("grid"), text.getvalue(), plates, names)
    assert found.values[held].tolist() == values[held].tolist() and found.is_grid
    assert np.isnan(found.values[~held]).all()


@settings(max_examples=40, deadline=None)
@given(filled())
def test_empty_grids_show_the_plate(case):
    plates, names, _ = case
    shown = []
    for text in plate_texts(plates, 3, names, "grid").values():
        rows = list(csv.reader(io.StringIO(text)))
        assert rows[0][0] == "plate" and rows[1][1:] == [str(i + 1) for i in range(
            plates.layout.columns)]
        assert [row[0] for row in rows[2:]] == [letters(i) for i in range(plates.layout.rows)]
        shown += [cell for row in rows[2:] for cell in row[1:]]
    assert shown == plates.labels(7, names)


# handwritten files

def test_long_table_is_read(tmp_path):
    expected = [1.0, 2.5, -3.0, 100.0]
    assert rewards(tmp_path, GOOD).tolist() == expected
    for text in (GOOD.replace("\n", "\r\n"), "\n\n" + GOOD, "\ufeff" + GOOD, GOOD + ",,,\n\n",
                 GOOD.replace(",", ";"), GOOD.replace(",", "\t"), GOOD.rstrip("\n"),
                 GOOD.replace("control", ""), GOOD.replace("A2", "a02"), GOOD.replace("7,", "07,"),
                 GOOD.replace("plate,well,arm,value", " Plate ,WELL,arm,Value"),
                 GOOD.replace("7,B2,rum", '"7","B2", rum '), GOOD.replace(",", ", ")):
        assert rewards(tmp_path, text).tolist() == expected, text
    more = "".join(f"x,{line}\n" for line in GOOD.splitlines())
    assert rewards(tmp_path, more).tolist() == expected
    no_plate = GOOD.replace("plate,", "").replace("7,", "")
    assert rewards(tmp_path, no_plate, batch=7).tolist() == expected


def test_cells_without_a_value(tmp_path):
    for lost in "", "NA", "nan", "N/A", "null", "none":
        found = rewards(tmp_path, GOOD.replace("2.5", lost))
        assert np.isnan(found).tolist() == [False, True, False, False]


GRID = "plate,7\n,1,2,3\nA,2,1,2.5\nB,-3,1e2,4\n"


def test_grids_are_read(tmp_path):
    expected = [1.0, 2.5, -3.0, 100.0]
    for text in (GRID, GRID.replace(",1,2,3\n", "", 1), "plate,7\n1,2,3\n2,1,2.5\n-3,1e2,4\n",
                 "plate,7\n2,1,2.5\n-3,1e2,4\n", GRID + "\n,,,\n",
                 GRID.replace("plate,7", "plate,7,,"), "plate,7\n\n2,1,2.5\n-3,1e2,4\n,,\n"):
        assert rewards(tmp_path, text).tolist() == expected, text
    assert rewards(tmp_path, "2,1,2.5\n-3,1e2,4\n", batch=7).tolist() == expected
    # readings that look like column numbers are readings
    assert rewards(tmp_path, "plate,7\n1,2,3\n4,5,6\n").tolist() == [2, 3, 4, 5]


def test_empty_wells_are_ignored(tmp_path):
    names = NAMES[:3]
    grid = "plate,7\n2,1,2.5\n-3,empty,4\n"
    assert rewards(tmp_path, grid, names=names).tolist() == [1, 2.5, -3]
    long = GOOD.replace("rum,1e2", ",9")
    assert rewards(tmp_path, long, names=names).tolist() == [1, 2.5, -3]
    with pytest.raises(UnreadableFileError,
                       match="line 6, column 'arm': well B2 holds no arm, not 'rum'"):
        rewards(tmp_path, GOOD, names=names)


@pytest.mark.parametrize("old, new, message", [
    ("7,A3", "8,A3", "line 4, column 'plate': '8' is not a plate of batch 7 .7.;"),
    ("7,A3", "7p1,A3", "line 4, column 'plate': '7p1' is not a plate"),
    ("7,A3", "seven,A3", "line 4, column 'plate': 'seven' is not the name of a plate"),
    ("7,A1", "8,A1", "line 2, column 'plate': no batch 8 was asked for"),
    ("7,A3", "7,A2", "line 4, column 'well': well A2 of plate 7 is on line 3 already"),
    ("7,A3", "7,C3", "line 4, column 'well': 'C3' is not a well of a 2x3 plate"),
    ("milk", "soda", "line 4, column 'arm': well A3 holds 'milk', not 'soda', which is not an arm"),
    ("milk", "tea", "line 4, column 'arm': well A3 holds 'milk', not 'tea'$"),
    ("milk", "", "line 4, column 'arm': well A3 holds 'milk', not ''"),
    ("7,B3,control", "7,B3,tea", "line 7, column 'arm': well B3 holds 'control', not 'tea'"),
    ("2.5", "high", "line 4, column 'value': 'high' is not a finite number"),
    ("2.5", '"2,5"', "line 4, column 'value': '2,5' .*: the decimal sign is a"),
    ("2.5", "inf", "line 4, column 'value': 'inf' is not"),
    ("2.5", "-nan", "line 4, column 'value': '-nan' is not"),
    ("2.5", "1e999", "line 4, column 'value'"),
    ("2.5", "1_0", "line 4, column 'value'"),
    ("milk,2.5", "milk", "line 4, column 'value': the row has 3 cells, the header 4"),
    ("2.5", "2.5,1", "line 4, column 5: the row has 5 cells, the header 4"),
    (",value", ",reading", "line 1, column 'value': the column is missing"),
    ("plate,", "dish,", "line 1, column 'plate': the column is missing"),
    ("arm,", "well,", "line 1, column 'well': the column occurs 2 times"),
    ("milk", "mi\0lk", "line 4, column 3: not UTF-8"),
    ("milk", '"milk', "line 7, column 1: not CSV"),
    ("milk", '"mi"lk', "line 4, column 1: not CSV"),
    (GOOD, "", "line 1, column 1: the file is empty"),
    (GOOD, "\n \n", "line 1, column 1: the file is empty"),
    (GOOD, "plate,well,arm,value\n", "line 1, column 'well': there is a header but no wells"),
    (GOOD, "1,2,3\n4,5,6\n", "line 1, column 'plate': no plate is named"),
    (GOOD, "plate,8\n1,2,3\n4,5,6\n", "line 1, column 'plate': no batch 8"),
    (GOOD, "plate,7\n1,2,3\n4,x,6\n", "line 3, column '2': 'x' is not"),
    (GOOD, "plate,7\n1,2,3\n4,5\n", "line 3, column 3: the row has 2 cells"),
    (GOOD, "plate,7\n1,2\n4,5\n", "line 2, column 3: the row has 2 cells"),
    (GOOD, "plate,7\n1,2,3\n", "line 2, column 1: the grid has 1 rows, but a 2x3 plate has 2"),
    (GOOD, "plate,7\n4,5,6\n1,2,3\n4,5,6\n", "line 4, column 1: the grid has 3 rows"),
    (GOOD, GRID + "C,1,2,3\n", "line 5, column 1: the grid has more rows than a 2x3 plate"),
    (GOOD, GRID.replace("B", "C"), "line 4, column 1: the row must be named B; got 'C'"),
    (GOOD, GRID + GRID, "line 5, column 'plate': plate 7 occurs twice"),
    (GOOD, GRID.replace("plate,7", "plate,7,8"), "line 1, column 3: a line that names a plate"),
    (GOOD, "plate,7\n", "line 1, column 1: the grid has 0 rows"),
])
def test_invalid_files_are_rejected(tmp_path, old, new, message):
    with pytest.raises(UnreadableFileError, match=rf"plate\.csv: {message}"):
        read(tmp_path, GOOD.replace(old, new, 1))


@pytest.mark.parametrize("content, message", [
    (GOOD.replace("milk", "mílk").encode("latin-1"), "line 4, column 3: not UTF-8"),
    (GOOD.encode("utf-16")[:-1], "line 1, column 1: the file is not UTF-16 text"),
    (GOOD.encode("utf-16-le")[:-1], "line 1, column 1: the file is not UTF-16-LE text"),
    (gzip.compress(GOOD.encode(), mtime=0)[:-4], "line 1, column 1: the gzip file is damaged"),
    (b"\xff" + GOOD.encode(), "line 1, column 1: not UTF-8"),
    (b"x" * 2_000_000, "line 1, column 1: the row must be at most"),
])
def test_binary_files_are_rejected(tmp_path, content, message):
    with pytest.raises(UnreadableFileError, match=message):
        read(tmp_path, content)


def test_missing_file_is_reported(tmp_path):
    for path in tmp_path / "none.csv", tmp_path:
        with pytest.raises(UnreadableFileError, match="cannot be read"):
            read_plates(path, SMALL, None)


def test_name_that_is_not_ascii_is_read(tmp_path):
    text = GOOD.replace("milk", "mílk 牛乳")
    assert rewards(tmp_path, text, names=["tea", "mílk 牛乳", "gin", "rum"])[1] == 2.5


@pytest.mark.parametrize("content", [
    GOOD.encode("utf-16"), GOOD.encode("utf-16-le"), GOOD.encode("utf-16-be"),
    GOOD.replace("\n", "\r").encode(), gzip.compress(GOOD.encode(), mtime=0),
    gzip.compress(GOOD.encode("utf-16"), mtime=0), b"sep=;\n" + GOOD.replace(",", ";").encode()])
def test_plates_are_read_in_other_encodings(tmp_path, content):
    expected = read(tmp_path, GOOD)
    (tmp_path / "other.csv").write_bytes(content)
    found = read_plates(str(tmp_path / "other.csv"), SMALL, lambda number: NAMES)
    assert found.values.tolist() == expected.values.tolist()


def test_endless_file_is_read_up_to_first_invalid_row(tmp_path):
    """The size does not matter: the file here is endless."""
    class Endless(io.BytesIO):
        n_read = 0

        def readline(self, size=-1):
            self.n_read += 1
            return super().readline() or b"7,A2,tea,1\n"

    from pybandit.lab import _long as _plate_long
    from pybandit.lab import _read as _plate_read
    from pybandit.tables import _sheet

    file = Endless(GOOD.encode())
    rows = _sheet.rows_of(file)
    line, first = next(rows)
    sheet = _plate_read._Sheet(SMALL, lambda number: NAMES, None)
    with pytest.raises(UnreadableFileError, match="line 8, column 'well'"):
        _plate_long.read_long(sheet, rows, line, first)
    assert file.n_read == _sheet.MOST_TITLE  # the rows in which a header is searched


# readings to rewards

def divided(**options):
    return Plates(Layout(2, 3), (0, 5), normalise=True, **options)


def test_readings_become_rewards(tmp_path):
    """Readings are divided by 3, the mean of the controls; then come logarithm and sign."""
    text = GOOD.replace("-3", "3")
    values = [1, 2.5, 3, 100]
    assert rewards(tmp_path, text).tolist() == values
    assert rewards(tmp_path, text, divided()).tolist() == [v / 3 for v in values]
    expected = [math.log(v / 3) for v in values]
    assert rewards(tmp_path, text, divided(log=True)) == pytest.approx(expected, rel=1e-15)
    assert rewards(tmp_path, text, divided(log=True, flip=True)) == pytest.approx(
        [-v for v in expected], rel=1e-15)
    assert rewards(tmp_path, text, Plates(Layout(2, 3), (0, 5), log=True)) == pytest.approx(
        np.log(values), rel=1e-15)


def test_each_plate_has_its_own_controls(tmp_path):
    names = [f"arm{i}" for i in range(8)]
    grid = "plate,7p2\n5,1,2\n3,4,5\nplate,7p1\n2,2,4\n6,8,2\n"
    assert rewards(tmp_path, grid, divided(), names).tolist() == [1, 2, 3, 4, .2, .4, .6, .8]
    one = rewards(tmp_path, "plate,7p2\n5,1,2\n3,4,5\n", divided(), names)
    assert np.isnan(one[:4]).all() and one[4:].tolist() == [.2, .4, .6, .8]


@pytest.mark.parametrize("options, old, new, message", [
    ({}, "control,4", "control,-2", "line 2, column 'value': the mean of the controls of plate 7 "
                                    "must be finite and not 0; got 0"),
    ({"log": True}, "control,4", "control,-4", "line 2, .* must be positive; got -1"),
    ({"log": True}, "x", "x", r"line 5, column 'value': -1 \(normalised\) has no finite log"),
    ({}, "control,4", "control,", "line 7, column 'value': control well B3 of plate 7 has no"),
    ({}, "7,B3,control,4\n", "", "line 6, column 'well': control well B3 of plate 7 has no"),
    ({}, "control,2\n", "control,1e308\n", "mean"), ({}, "1e2", "1e308", "line 6, .*quotient")])
def test_invalid_controls_are_rejected(tmp_path, options, old, new, message):
    text = GOOD.replace(old, new)
    if "mean" == message:
        text = text.replace("control,4", "control,1.7e308")
    if "quotient" in message:
        text = text.replace("control,2", "control,1e-9").replace("control,4", "control,1e-9")
    with pytest.raises(UnreadableFileError, match=message):
        rewards(tmp_path, text, divided(**options))


def test_mean_ignores_lost_controls(tmp_path):
    text = GOOD.replace("control,4", "control,")
    assert rewards(tmp_path, text, divided(), lost=True).tolist() == [.5, 1.25, -1.5, 50]
    with pytest.raises(UnreadableFileError, match="control well A1"):
        rewards(tmp_path, text.replace("control,2", "control,NA"), divided(), lost=True)
    nothing = "plate,well,arm,value\n7,A2,tea,\n"
    assert np.isnan(rewards(tmp_path, nothing, divided())).all()


def test_order_of_rows_does_not_change_results(tmp_path):
    rng = np.random.default_rng(5)
    plates = Plates(Layout(4, 6), tuple(range(0, 24, 2)), normalise=True, log=True)
    names = [f"arm{i}" for i in range(12)]
    head, *rows = joined(plate_texts(plates, 7, names).values()).splitlines()
    rows = [row + repr(rng.lognormal()) for row in rows]
    found = [rewards(tmp_path, "\n".join([head, *rng.permutation(rows)]), plates, names).tobytes()
             for _ in range(5)]
    assert len(set(found)) == 1
