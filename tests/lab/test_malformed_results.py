"""Malformed files of results: rejected with row and column, or accepted as a whole.

For accepted files, a simple independent reader gives the expected results.
"""

import contextlib
import csv
import io
import math
import re
import shutil
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pybandit as pb
from pybandit import cli
from pybandit.errors import UnreadableFileError
from pybandit.lab._read import read_plates
from pybandit.lab._write import plate_texts
from pybandit.lab.plates import Layout, Plates
from pybandit.lab.screen import Screen

PLATES = Plates(Layout(4, 6), (5, 11, 17, 23), normalise=True, log=True)
GENES = [f"gene {i}" for i in range(20)]
COLUMNS = ["plate", "well", "arm", "value"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a study with plate 0 recorded and plate 1 open."""
    folder = tmp_path_factory.mktemp("studies")
    policy = pb.policies.BatchSAR(20, 2, batch_size=20, max_batches=8, max_repeats=4)
    with Screen.create(folder / "first.db", policy, GENES, plates=PLATES) as study:
        study.tell(study.ask().id, np.linspace(0, 1, 20))
        batch = study.ask()
        (text,) = plate_texts(PLATES, batch.id, batch.names).values()
    rng = np.random.default_rng(1)
    rows = [row[:3] + [f"{rng.uniform(0.5, 2):.4f}"] for row in csv.reader(io.StringIO(text))][1:]
    return folder, rows


def as_long(rows, header=COLUMNS):
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    return text.getvalue().encode()


def as_grid(rows):
    lines = [rows[at:at + 6] for at in range(0, 24, 6)]
    return "\n".join(["plate,1", ",1,2,3,4,5,6", *(
        ",".join([letter, *(row[3] for row in line)])
        for letter, line in zip("ABCD", lines, strict=True))]).encode()


# kinds of faults: each function takes the 24 rows and returns a file

def cell_of(column, cells):
    def change(draw, rows):
        rows[draw(st.integers(0, 23))][column] = draw(st.sampled_from(cells))
        return as_long(rows)

    return change


def doubled_well(draw, rows):
    row, other = (draw(st.integers(0, 23)) for _ in range(2))
    if draw(st.booleans()):
        rows.insert(other, list(rows[row]))
    else:
        rows[row][1] = rows[other][1]
    return as_long(rows)


def other_arm(draw, rows):
    row = draw(st.integers(0, 23))
    rows[row][2] = draw(st.sampled_from([*GENES, "control", "nobody", "GENE 1", "gene  1", ""]))
    return as_long(rows)


def encoding(draw, rows):
    rows[draw(st.integers(0, 23))][2] += draw(st.sampled_from(["", "é"]))
    return as_long(rows).decode().encode(draw(st.sampled_from(
        ["latin-1", "utf-16", "utf-16-le", "utf-8-sig", "utf-32", "cp037"])))


def stray_byte(draw, rows):
    content, at = bytearray(as_long(rows)), draw(st.integers(0, 400))
    content[at:at + draw(st.integers(0, 1))] = bytes([draw(st.integers(0, 255))])
    return bytes(content)


def missing_column(draw, rows):
    column = draw(st.integers(0, 3))
    if draw(st.booleans()):
        return as_long(rows, COLUMNS[:column] + COLUMNS[column + 1:])
    return as_long([row[:column] + row[column + 1:] for row in rows],
                   COLUMNS[:column] + COLUMNS[column + 1:])


def ragged(draw, rows):
    row = rows[draw(st.integers(0, 23))]
    if draw(st.booleans()):
        row.insert(draw(st.integers(0, 4)), draw(st.sampled_from(["", "1", "note"])))
    else:
        row.pop(draw(st.integers(0, 3)))
    return as_long(rows)


def cut(draw, rows):
    content = as_long(rows) if draw(st.booleans()) else as_grid(rows)
    return content[:draw(st.integers(0, len(content)))]


def missing_rows(draw, rows):
    kept = draw(st.lists(st.booleans(), min_size=24, max_size=24))
    return as_long([row for row, keep in zip(rows, kept, strict=True) if keep])


def controls(draw, rows):
    for row in rows:
        if row[2] == "control":
            row[3] = draw(st.sampled_from(["0", "-1", "1", "1e308", "", "-0.0", "1e-320"]))
    return as_long(rows)


def grid_cell(draw, rows):
    rows[draw(st.integers(0, 23))][3] = draw(st.sampled_from(["x", "NaN", "", "1,5", "inf", "2"]))
    return as_grid(rows)


def grid_line(draw, rows):
    lines = as_grid(rows).split(b"\n")
    at = draw(st.integers(0, 5))
    change = draw(st.sampled_from([
        lambda: lines.pop(at), lambda: lines.insert(at, lines[at]), lambda: lines.insert(at, b""),
        lambda: lines.__setitem__(at, lines[at] + b",1"), lambda: lines.reverse(),
        lambda: lines.__setitem__(at, lines[at][:-3]), lambda: lines.extend(lines[1:])]))
    change()
    return b"\n".join(lines)


def many_rows(draw, rows):
    """Add a hundred thousand rows that are empty or repeated."""
    row = draw(st.sampled_from([b"1,A4,gene 3,1\r\n", b",,,\r\n", b"\r\n",
                                b"1,A1,control,1\r\n"]))
    return as_long(rows) + row * draw(st.sampled_from([1, 1000, 10**5]))


KINDS = {
    "nothing": lambda draw, rows: as_long(rows),
    "grid": lambda draw, rows: as_grid(rows),
    "plate": cell_of(0, ["0", "2", "1p1", "01", "", "x", "-1", "1.0", "99999999999"]),
    "well": cell_of(1, ["A7", "E1", "a1", "A01", "", "1A", "A", "B2"]),
    "doubled well": doubled_well, "arm": other_arm,
    "text": cell_of(3, ["x", "1,5", "1e", "--1", "1_0", "0x1", "inf", "-inf", "1 2", "1e999"]),
    "no value": cell_of(3, ["NaN", "NA", "", "nan", "null"]),
    "negative": cell_of(3, ["-1", "0", "-0.0", "1e-320", "1e308"]),
    "encoding": encoding, "stray byte": stray_byte, "missing column": missing_column,
    "ragged": ragged, "cut": cut, "missing rows": missing_rows, "controls": controls,
    "grid cell": grid_cell, "grid line": grid_line, "many rows": many_rows,
}
OPTIONS = [], ["--partial"], ["--lost"], ["--partial", "--lost"], ["--batch", "1"]


def plain(content, lost):
    """Return the 20 rewards of an accepted file, by a reader without checks."""
    text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff")
                          else "utf-16-le" if content[1:2] == b"\0" else "utf-8-sig",
                          "replace")  # unused cells may be invalid
    lines = [row for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)]
    values = {}
    if any(cell.strip().lower() == "well" for cell in lines[0]):
        head = [cell.strip().lower() for cell in lines[0]]
        for row in lines[1:]:
            well = row[head.index("well")].strip()
            position = "ABCD".index(well[0].upper()) * 6 + int(well[1:]) - 1
            values[position] = row[head.index("value")]
    else:
        lines = lines[1:] if lines[0][0] == "plate" else lines
        lines = lines[1:] if lines[0][-6:] == list("123456") and len(lines) > 4 else lines
        for row, line in enumerate(lines[:4]):
            values |= {6 * row + column: cell for column, cell in enumerate(line[-6:])}
    found = {position: float(cell) for position, cell in values.items()
             if cell.strip().lower() not in ("", "na", "nan", "null")}
    arms, of_controls = (sorted(at for at in found if (at % 6 == 5) == is_control)
                         for is_control in (False, True))
    assert lost or not arms or len(of_controls) == 4
    mean = np.mean([found[at] for at in of_controls]) if arms else np.nan
    return [math.log(found[at] / mean) if at in found else None
            for at in range(24) if at % 6 != 5]


def record(folder, content, options):
    """Record a file in a copy of the study; return exit status, message and the copy."""
    shutil.copy(folder / "first.db", folder / "study.db")
    (folder / "results.csv").write_bytes(content)
    err = io.StringIO()
    with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
        status = cli.main(["screen", "record", str(folder / "results.csv"), "--study",
                           str(folder / "study.db"), *options])
    return status, err.getvalue()


def assert_whole_or_not_at_all(case, kind, options, data):
    folder, rows = case
    with pb.Study.open(folder / "first.db") as study:
        head = study.status().head
    content = KINDS[kind](data.draw, [list(row) for row in rows])
    status, message = record(folder, content, options)
    with pb.Study.open(folder / "study.db") as study:
        found, batch = study.verify(), study.batch(1)
        assert study.batch(0).values.tolist() == np.linspace(0, 1, 20).tolist()
    if status == 2:
        assert re.match(r"pybandit screen record: \S+results\.csv: line \d+, column ('\w+'|\d+): ",
                        message), message
        assert message.count("\n") == 1
        assert found.head == head and batch.status == "open" and np.isnan(batch.values).all()
    else:
        assert status == 0 and message == ""
        expected = plain(content, "--lost" in options)
        assert batch.values == pytest.approx(
            [np.nan if reward is None else reward for reward in expected], nan_ok=True, rel=1e-12)
        if "--partial" not in options:
            assert batch.status == "complete"
            assert "--lost" in options or None not in expected
    return status


def checked(n):
    return lambda test: settings(max_examples=n, deadline=None, derandomize=True,
                                 suppress_health_check=list(HealthCheck))(
        given(st.sampled_from(sorted(KINDS)), st.sampled_from(OPTIONS), st.data())(test))


@checked(60)
def test_malformed_files_are_rejected_or_read_right(folder, kind, options, data):
    assert_whole_or_not_at_all(folder, kind, options, data)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_three_hundred_malformed_files_are_rejected_or_read_right(folder, kind):
    """Tests twenty files of each of 19 kinds; kinds that may be accepted show both outcomes."""
    outcomes = []

    @settings(max_examples=20, deadline=None, derandomize=True,
              suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(OPTIONS), st.data())
    def run(options, data):
        outcomes.append(assert_whole_or_not_at_all(folder, kind, options, data))

    run()
    print(f"\n{kind}: {outcomes.count(2)} of {len(outcomes)} refused")
    always = {"nothing": 0, "grid": 0, "text": 2, "ragged": 2}
    assert kind not in always or set(outcomes) == {always[kind]}


def test_unchanged_file_is_accepted(folder):
    """The unchanged file is accepted, so the others are rejected because of their faults."""
    for content in as_long(folder[1]), as_grid(folder[1]):
        assert record(folder[0], content, []) == (0, "")


@pytest.mark.parametrize("more", ["1,A1,control,1\n", "1,D5,gene 3,1\n", "2,A1,control,1\n"])
def test_million_rows_are_rejected_early(folder, more):
    """The file is rejected at the first surplus row, quickly and with little memory."""
    path = folder[0] / "many.csv"
    path.write_bytes(as_long(folder[1]) + more.encode() * 1_000_000)
    with pb.Study.open(folder[0] / "first.db") as study:
        names = study.batch(1).names
    tracemalloc.start()
    begun = time.process_time()
    with pytest.raises(UnreadableFileError, match="line 26, column"):
        read_plates(path, PLATES, lambda number: names)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.process_time() - begun < 0.5 and peak < 2e6
