"""pybandit screen: writing plates and recording results."""

import csv
import io
import os
import time
from pathlib import Path

import numpy as np
import pytest

import pybandit as pb
from pybandit.lab import Layout, Plates

from cli.screen_commands import (
    GENES,
    NEW,
    as_json,
    carry_out,
    digest,
    fill,
    ok,
    reading,
    refused,
    rows_of,
)

pytestmark = pytest.mark.usefixtures("folder")
DEFAULT = Plates(Layout(8, 12))


# writing plates

def test_next_gives_the_same_plate_until_it_is_recorded(study, capsys):
    text = ok(capsys, "next")
    head = digest()
    assert ok(capsys, "next", "-o", "p0.csv") == "plate 0: 24 wells, in p0.csv\n"
    assert Path("p0.csv").read_text() == text == ok(capsys, "next") and digest() == head
    ok(capsys, "next", "-o", "p0.csv")
    fill("p0.csv", "p0.csv")
    filled = Path("p0.csv").read_text()
    assert "p0.csv exists with other content" in refused(capsys, "next", "-o", "p0.csv")
    assert Path("p0.csv").read_text() == filled
    ok(capsys, "next", "-o", "p0.csv", "--overwrite")
    assert Path("p0.csv").read_text() == text and sorted(os.listdir()) == ["genes.csv", "p0.csv",
                                                                      "study.db"]


def test_next_prints_json_and_grids(normalised, capsys):
    known = as_json(capsys, "next")
    rows = list(csv.reader(io.StringIO(ok(capsys, "next"))))[1:]
    assert known["wells"] == [row[:3] for row in rows]
    assert known["plates"] == ["0"] and known["batch"] == 0 and not known["done"]
    grid = list(csv.reader(io.StringIO(ok(capsys, "next", "--format", "grid"))))
    assert [cell for row in grid[2:] for cell in row[1:]] == [row[2] for row in rows]


def test_batch_on_several_plates_is_recorded_by_plate(capsys):
    """A stage of 30 pulls on plates with 24 wells, of which 4 are controls."""
    ok(capsys, "new", "study.db", "--policy", "sequential-halving", "--arms", "genes.csv",
       "--budget", "150", "--plate", "4x6", "--controls", "A1,B1,C1,D1", "--normalise")
    assert ok(capsys, "next", "-o", "p.csv") == "plate 0p1, 0p2: 30 wells, in p_p1.csv, p_p2.csv\n"
    assert len(rows_of("p_p1.csv")) == 25 and len(rows_of("p_p2.csv")) == 15
    assert ok(capsys, "record", fill("p_p2.csv", "r2.csv")) == (
        "plate 0p2: 10 new; 20 wells are still open\n")
    assert "plate 0p1 is open: 20 of 30 wells" in ok(capsys, "status")
    assert ok(capsys, "record", fill("p_p1.csv", "r1.csv")) == "plate 0p1: 20 new\n"
    both = ok(capsys, "next")
    assert both.count("plate,well,arm,value") == 1 and "\n1p1," in both and "\n1p2," in both
    with pb.Study.open("study.db") as study:
        assert study.policy.n_pulls == 30
    ok(capsys, "export", "all.csv")
    assert [row[0] for row in rows_of("all.csv")[1:31]] == ["0p1"] * 20 + ["0p2"] * 10


def test_batch_may_be_smaller_than_a_plate(capsys):
    ok(capsys, *NEW, "--batch-size", "12")
    path = carry_out(capsys, 0)
    assert len(rows_of(path)) == 13
    assert ok(capsys, "record", path) == "plate 0: 12 new\n"


# recording results

def test_recording_twice_changes_nothing(study, capsys):
    path = carry_out(capsys, 0)
    ok(capsys, "record", path)
    head = digest()
    assert ok(capsys, "record", path) == "plate 0: 24 already known\n" and digest() == head
    assert as_json(capsys, "record", path)["n_known"] == 24
    fill("p0.csv", "other.csv", value=lambda row: reading(row) + (row[1] == "B2"))
    assert "line 9, column 'value':" in refused(capsys, "record", "other.csv")


def test_plate_is_recorded_in_parts(study, capsys):
    carry_out(capsys, 0)
    part = fill("p0.csv", "part.csv", lambda row: row[1][0] == "A")
    message = refused(capsys, "record", part)
    assert "part.csv: line 7, column 'well': no value for well B1 of plate 0" in message
    assert "18 such wells in all; pass --partial" in message
    assert ok(capsys, "record", part, "--partial") == "plate 0: 6 new; 18 wells are still open\n"
    # the rest of the results, and some known ones again
    rest = fill("p0.csv", "rest.csv", lambda row: row[1] > "A3")
    assert ok(capsys, "record", rest) == "plate 0: 18 new, 3 already known\n"


def test_lost_wells_need_an_option(study, capsys):
    carry_out(capsys, 0)
    some = fill("p0.csv", "some.csv", lambda row: row[1][0] != "D",
                lambda row: "NA" if row[1] == "A1" else reading(row))
    assert "line 2, column 'value': no value for well A1" in refused(capsys, "record", some)
    assert ok(capsys, "record", some, "--lost", "--partial") == (
        "plate 0: 17 new, 1 lost; 6 wells are still open\n")
    assert ok(capsys, "record", some, "--lost") == "plate 0: 17 already known, 6 lost\n"
    with pb.Study.open("study.db") as study:
        states = study.history()["state"]
    assert [at for at, state in enumerate(states) if state == "lost"] == [0, *range(18, 24)]


def test_late_control_is_rejected(capsys):
    """A late control would change the mean by which recorded results were divided."""
    ok(capsys, *NEW, "--controls", "col:6", "--normalise")
    ok(capsys, "next", "-o", "p0.csv")
    first = fill("p0.csv", "first.csv", lambda row: row[1][0] != "D",
                 lambda row: "" if row[1] == "A6" else reading(row))
    ok(capsys, "record", first, "--partial", "--lost")
    second = fill("p0.csv", "second.csv", lambda row: row[1][0] == "D" or row[1][1] == "6")
    assert "control well A6 of plate 0 has a value now" in refused(capsys, "record", second)
    third = fill("p0.csv", "third.csv", lambda row: row[1][0] == "D" or row[1][1] == "6",
                 lambda row: "" if row[1] in ("A6", "D6") else reading(row))
    assert "new" in ok(capsys, "record", third, "--lost")


def test_lost_plate_is_recorded(normalised, capsys):
    """To record the loss, record the file as `next` wrote it, without values."""
    ok(capsys, "next", "-o", "p0.csv")
    assert ok(capsys, "record", "p0.csv", "--lost") == "plate 0: 0 new, 20 lost\n"
    assert as_json(capsys, "status")["n_lost"] == 20


def test_late_plate_is_recorded(normalised, capsys):
    late = carry_out(capsys, 0)
    closed = ok(capsys, "close", "0")
    assert closed == "batch 0 is closed: 20 wells lost, unless reported late\n"
    head = digest()
    assert ok(capsys, "close", "0") == closed and digest() == head
    carry_out(capsys, 1)
    assert ok(capsys, "record", late) == "plate 0: 20 new (late)\n"
    assert ok(capsys, "record", late) == "plate 0: 20 already known\n"
    assert "late    20 results" in ok(capsys, "status")
    ok(capsys, "record", "r1.csv")
    known = as_json(capsys, "status")
    assert known["n_late"] == known["n_lost"] == 0 and known["n_pulls"] == 40


def test_abandoned_plate_is_requested_again(study, capsys):
    path = carry_out(capsys, 0)
    assert "batch 0 is abandoned" in ok(capsys, "abandon", "0")
    assert "line 2, column 'value': batch 0 was abandoned" in refused(capsys, "record", path)
    again = carry_out(capsys, 1)
    assert [row[1:3] for row in rows_of(again)] == [row[1:3] for row in rows_of(path)]
    ok(capsys, "record", fill("p1.csv", "x.csv", lambda row: row[1] == "A1"), "--partial")
    assert "discard" in refused(capsys, "abandon", "1")
    ok(capsys, "abandon", "1", "--discard")
    assert "got 7" in refused(capsys, "close", "7")
    refused(capsys, "close", str(10**30))
    assert f"no batch {10**30} was asked for" in refused(capsys, "record", path, "--batch", 10**30)


def test_grid_is_recorded(normalised, capsys):
    carry_out(capsys, 0)
    rows = rows_of("r0.csv")[1:]
    cells = [row[3] for row in rows]
    grid = ["plate,0", *(",".join(cells[at:at + 6]) for at in range(0, 24, 6))]
    Path("grid.csv").write_text("\n".join(grid))
    assert ok(capsys, "record", "grid.csv") == "plate 0: 20 new\n"
    assert ok(capsys, "record", "r0.csv") == "plate 0: 20 already known\n"
    Path("bare.csv").write_text("\n".join(grid[1:]))
    assert "no plate is named" in refused(capsys, "record", "bare.csv")
    assert ok(capsys, "record", "bare.csv", "--batch", "0") == "plate 0: 20 already known\n"
    assert "plate 0 is not" not in refused(capsys, "record", "grid.csv", "--batch", "1")


def test_error_names_the_cell_of_an_invalid_reward(capsys):
    with pb.lab.Screen.create("study.db", pb.policies.KLUCB(30), GENES, plates=DEFAULT):
        pass
    carry_out(capsys, 0)
    path = fill("p0.csv", "high.csv", value=lambda row: 1.5 if row[1] == "B4" else 0.5)
    assert ("high.csv: line 17, column 'value': rewards must be in [0, 1]; got 1.5 for "
            "well B4 of plate 0 (gene 15)") in refused(capsys, "record", path)


def test_study_created_in_python_is_used(capsys):
    with pb.lab.Screen.create("study.db", pb.policies.UCB1(1), ["tea"], plates=DEFAULT) as study:
        study.ask()
    assert ok(capsys, "next") == "plate,well,arm,value\n0,A1,tea,\n"
    Path("r.csv").write_text("plate,well,arm,value\n0,A1,tea,0.5\n")
    assert ok(capsys, "record", "r.csv", "--who", "Ada") == "plate 0: 1 new\n"
    assert ok(capsys, "export", "-").splitlines()[1].startswith("0,A1,tea,0.5,known,")
    with pb.Study.open("study.db") as study:
        assert [event.who for event in study.log()][-1] == "Ada"
        assert study.batch(0).values.tolist() == [0.5]


@pytest.mark.slow
def test_a_hundred_thousand_results_are_recorded_in_two_seconds(capsys, folder):
    """Records a stage of 10^5 pulls on 285 plates; the limit is on processor time."""
    (folder / "genes.csv").write_text("".join(f"g{i}\n" for i in range(12_500)))
    ok(capsys, "new", "study.db", "--policy", "sequential-halving", "--arms", "genes.csv",
       "--budget", "1400000", "--plate", "384", "--controls", "col:1,24", "--normalise")
    Path("p.csv").write_text(ok(capsys, "next"))
    values = np.random.default_rng(1).random(200_000).tolist()
    fill("p.csv", "r.csv", value=lambda row: values.pop())
    begun = time.process_time()
    out = ok(capsys, "record", "r.csv")
    assert time.process_time() - begun < 2.0
    assert out == "plate 0p1, 0p2, ..., 0p285: 100,000 new\n"
