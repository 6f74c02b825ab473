"""pybandit study: what it writes, records, says and refuses."""

import csv
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import pybandit as pb
from pybandit import cli
from pybandit.cli._study_policies import CHOICES, make_policy

GENES = [f"gene {i}" for i in range(30)]
NEW = ["new", "study.db", "--policy", "batch-sar", "--arms", "genes.csv", "--k", "3", "--batches",
       "8", "--repeats", "4", "--plate", "4x6"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "genes.csv").write_text("\n".join(["gene", *GENES]) + "\n")
    return tmp_path


@pytest.fixture
def study(capsys):
    ok(capsys, *NEW)


@pytest.fixture
def normalised(capsys):
    ok(capsys, *NEW, "--controls", "col:6", "--normalise", "--log", "--flip")


def ok(capsys, *arguments, status=0):
    """What a command prints."""
    assert cli.main(["study", *map(str, arguments)]) == status
    out, err = capsys.readouterr()
    assert err == "" and all(len(line) < 100 for line in out.splitlines())
    return out


def as_json(capsys, *arguments):
    return json.loads(ok(capsys, *arguments, "--json"))


def refused(capsys, *arguments, status=2):
    """What a command says that fails, and changes nothing."""
    before = digest()
    assert cli.main(["study", *map(str, arguments)]) == status
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"pybandit study {arguments[0]}: ")
    assert err.count("\n") == 1 and digest() == before
    return err


def digest():
    if not os.path.exists("study.db"):
        return None
    try:
        with pb.Study.open("study.db") as study:
            return study.verify().head
    except pb.studies.StudyError as error:
        return str(error)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def reading(row):
    """A reader's value, by plate and well."""
    seed = [ord(character) for character in row[0] + row[1]]
    return float(np.round(np.random.default_rng(seed).uniform(0.1, 0.9), 3))


def fill(source, target, keep=lambda row: True, value=reading):
    """A file of results of a long table, of the rows to be kept."""
    head, *rows = rows_of(source)
    with open(target, "w", newline="") as file:
        csv.writer(file).writerows([head, *([*row[:3], value(row)] for row in rows if keep(row))])
    return target


def carry_out(capsys, number):
    ok(capsys, "next", "-o", f"p{number}.csv")
    return fill(f"p{number}.csv", f"r{number}.csv")


# a whole study

def test_a_study_is_that_of_python(normalised, capsys):
    """Bit for bit, with controls, to the end."""
    twin = pb.BatchSAR(30, 3, 20, 8, 4)
    number = 0
    while not twin.done:
        path = carry_out(capsys, number)
        assert ok(capsys, "record", path) == f"plate {number}: 20 new\n"
        rows = rows_of(path)[1:]
        control = np.mean([float(row[3]) for row in rows if row[2] == "control"])
        arms = [row for row in rows if row[2] != "control"]
        assert [row[2] for row in arms] == [GENES[arm] for arm in twin.ask()]
        assert [row[1] for row in rows] == [f"{r}{c}" for r in "ABCD" for c in range(1, 7)]
        assert all((row[2] == "control") == row[1].endswith("6") for row in rows)
        twin.tell(twin.ask(), -np.log(np.array([float(row[3]) for row in arms]) / control))
        number += 1
    assert cli.main(["study", "next"]) == 4
    assert "done" in capsys.readouterr().err
    known = as_json(capsys, "status")
    assert known["done"] and known["n_batches"] == number == twin.n_batches
    assert [one["arm"] for one in known["best"]] == twin.recommend().tolist()
    assert [one["mean"] for one in known["best"]] == twin.means[twin.recommend()].tolist()
    with pb.Study.open("study.db") as study:
        assert study.policy.means.tobytes() == twin.means.tobytes()
        assert study.verify().head == known["head"] == as_json(capsys, "verify")["head"]
    assert "done: nothing more" in ok(capsys, "status")


def test_export(normalised, capsys):
    for number in range(2):
        ok(capsys, "record", carry_out(capsys, number))
    ok(capsys, "next")
    assert ok(capsys, "export", "all.csv") == "60 wells: all.csv\n"
    head, *rows = rows_of("all.csv")
    assert head == ["plate", "well", "arm", "value", "state", "told_at", "who"]
    with pb.Study.open("study.db") as study:
        history = study.history()
    assert [row[0] for row in rows] == ["0"] * 20 + ["1"] * 20 + ["2"] * 20
    shown = [row[1:3] for number in range(2) for row in rows_of(f"p{number}.csv")[1:]
             if row[2] != "control"]
    assert [row[1:3] for row in rows[:40]] == shown
    assert [float(row[3]) for row in rows[:40]] == list(history["value"][:40])
    assert [row[3:] for row in rows[40:]] == [["", "open", "", ""]] * 20
    assert rows[0][4] == "known" and "@" in rows[0][6] and rows[0][5].endswith("Z")
    assert ok(capsys, "export", "-") == Path("all.csv").read_text()


def test_report(study, capsys):
    assert ok(capsys, "report", "-o", "r.html") == "report: r.html\n"
    page = Path("r.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and digest() in page


def test_the_status(normalised, capsys):
    ok(capsys, "record", carry_out(capsys, 0))
    carry_out(capsys, 1)
    half = fill("p1.csv", "half.csv", lambda row: row[1][0] in "AB" or row[2] == "control")
    ok(capsys, "record", half, "--partial")
    lines = ok(capsys, "status", "--top", "2").splitlines()
    assert lines[:5] == [
        "study   study.db: BatchSAR, 30 arms, the 3 best wanted",
        "plates  4x6, 4 wells with control, readings by their mean, logarithm, sign changed",
        "spent   1 batches, 20 pulls", "left    7 of 8 batches", "in play 30 arms"]
    assert lines[5] == "now     plate 1 is out: 10 of 20 wells not yet known"
    assert lines[7] == f"head    {digest()}" and lines[-1].startswith("and 1 more")
    assert lines[9].split() == ["best", "by", "now", "mean", "wells"]
    known = as_json(capsys, "status")
    assert known["open_batch"] == 1 and known["n_open"] == 10 and len(known["best"]) == 3
    assert known["settings"]["plates"]["layout"] == "4x6"


# plates out

def test_next_is_the_same_until_it_is_recorded(study, capsys):
    text = ok(capsys, "next")
    head = digest()
    assert ok(capsys, "next", "-o", "p0.csv") == "plate 0: 24 wells, in p0.csv\n"
    assert Path("p0.csv").read_text() == text == ok(capsys, "next") and digest() == head
    ok(capsys, "next", "-o", "p0.csv")
    fill("p0.csv", "p0.csv")
    filled = Path("p0.csv").read_text()
    assert "p0.csv holds something else" in refused(capsys, "next", "-o", "p0.csv")
    assert Path("p0.csv").read_text() == filled
    ok(capsys, "next", "-o", "p0.csv", "--force")
    assert Path("p0.csv").read_text() == text and sorted(os.listdir()) == ["genes.csv", "p0.csv",
                                                                      "study.db"]


def test_next_for_machines_and_as_a_grid(normalised, capsys):
    known = as_json(capsys, "next")
    rows = list(csv.reader(io.StringIO(ok(capsys, "next"))))[1:]
    assert known["wells"] == [row[:3] for row in rows]
    assert known["plates"] == ["0"] and known["batch"] == 0 and not known["done"]
    grid = list(csv.reader(io.StringIO(ok(capsys, "next", "--format", "grid"))))
    assert [cell for row in grid[2:] for cell in row[1:]] == [row[2] for row in rows]


def test_a_batch_on_several_plates(capsys):
    """A stage of 30 pulls on plates of 24 wells less 4 controls, recorded a plate at a time."""
    ok(capsys, "new", "study.db", "--policy", "sequential-halving", "--arms", "genes.csv",
       "--budget", "150", "--plate", "4x6", "--controls", "A1,B1,C1,D1", "--normalise")
    assert ok(capsys, "next", "-o", "p.csv") == "plate 0p1, 0p2: 30 wells, in p_p1.csv, p_p2.csv\n"
    assert len(rows_of("p_p1.csv")) == 25 and len(rows_of("p_p2.csv")) == 15
    assert ok(capsys, "record", fill("p_p2.csv", "r2.csv")) == (
        "plate 0p2: 10 new; 20 wells are still open\n")
    assert "plate 0p1 is out: 20 of 30 wells" in ok(capsys, "status")
    assert ok(capsys, "record", fill("p_p1.csv", "r1.csv")) == "plate 0p1: 20 new\n"
    both = ok(capsys, "next")
    assert both.count("plate,well,arm,value") == 1 and "\n1p1," in both and "\n1p2," in both
    with pb.Study.open("study.db") as study:
        assert study.policy.n_pulls == 30
    ok(capsys, "export", "all.csv")
    assert [row[0] for row in rows_of("all.csv")[1:31]] == ["0p1"] * 20 + ["0p2"] * 10


def test_a_batch_smaller_than_a_plate(capsys):
    ok(capsys, *NEW, "--batch-size", "12")
    path = carry_out(capsys, 0)
    assert len(rows_of(path)) == 13
    assert ok(capsys, "record", path) == "plate 0: 12 new\n"


@pytest.mark.parametrize("name", CHOICES)
def test_every_policy_of_the_command_line(name, capsys, folder):
    """Three plates each: written, read, recorded."""
    (folder / "genes.csv").write_text("arm,variance\n" + "".join(f"{g},0.5\n" for g in GENES))
    given = {"k": 3, "batches": 8, "repeats": 4, "budget": 300, "delta": 0.1, "sigma": 0.5,
             "seed": 3}
    choice = CHOICES[name]
    options = [part for option in choice.needs + choice.takes if option in given
               for part in (f"--{option}", given[option])] + ["--reuse"] * ("reuse" in choice.takes)
    ok(capsys, "new", "study.db", "--policy", name, "--arms", "genes.csv", "--plate", "12x12",
       *options)
    for number in range(3):
        path = carry_out(capsys, number)
        assert " new" in ok(capsys, "record", path)
    known = as_json(capsys, "status")
    assert known["policy"] == choice.policy and known["n_batches"] == 3
    assert known["policy"] in pb.policies.__all__


def test_options_that_a_policy_needs_or_does_not_take(capsys):
    base = ["new", "study.db", "--arms", "genes.csv", "--policy"]
    assert "--policy batch-sar needs --batches" in refused(capsys, *base, "batch-sar", "--k", "3")
    assert "--policy ucb1 takes no --k" in refused(capsys, *base, "ucb1", "--k", "3")
    assert "needs a column 'variance'" in refused(capsys, *base, "shvar", "--budget", "99")
    message = refused(capsys, *base, "batch-sar", "--k", "3", "--batches", "1")
    assert "max_batches" in message
    assert not os.path.exists("study.db")
    with pytest.raises(ValueError, match="needs --batch-size"):
        make_policy("round-robin", 5, {"k": 1, "batches": 3})


@pytest.mark.parametrize("text, message", [
    ("gene\na\nb\na\n", "line 4, column 1: arm 'a' is on line 2 already"),
    ("gene\na\n\nb\nc,d\n", "line 5, column 2: the row has 2 cells"),
    ("gene\n", "no arms under it"),
    ("", "line 1, column 1: the file is empty"), ("x,y\n1,2\n", "none of arm, name, gene and id"),
    ("arm,variance\na,1\nb,-1\n", "line 3, column 'variance': must be positive"),
    ("arm,variance\na,1\nb,x\n", "line 3, column 'variance': 'x' is not"),
    ("arm,v\na,1\n,2\n", "line 3, column 1: an arm without a name")])
def test_files_of_arms_that_are_refused(capsys, folder, text, message):
    (folder / "genes.csv").write_text(text)
    found = refused(capsys, *NEW)
    assert found.startswith("pybandit study new: genes.csv: line ") and message in found


def test_files_of_arms(capsys, folder):
    (folder / "plain.csv").write_text("b\na\nc\n")
    (folder / "columns.csv").write_text("well;Compound\n1;x, y\n2;z\n")
    for file, more, names in [("plain.csv", [], ["b", "a", "c"]),
                              ("columns.csv", ["--column", "compound"], ["x, y", "z"])]:
        ok(capsys, "new", f"{file}.db", "--policy", "ucb1", "--arms", file, *more)
        with pb.Study.open(f"{file}.db") as study:
            assert study.arms == names
    assert "no 'colour' is in the header" in refused(
        capsys, "new", "x.db", "--policy", "ucb1", "--arms", "columns.csv", "--column", "colour")


def test_new_that_is_refused(study, capsys):
    assert "study.db exists" in refused(capsys, *NEW)
    other = ["new", "other.db", *NEW[2:]]
    for more, message in [(["--plate", "8"], "a plate must be"), (["--controls", "Z1"], "controls"),
                          (["--normalise"], "controls must be given"),
                          (["--arms", "no.csv"], "no.csv: cannot be read"),
                          (["--controls", "A1", "--control-label", "gene 3"], "must differ")]:
        assert message in refused(capsys, *other, *more)
    with pytest.raises(SystemExit) as stop:
        cli.main(["study", "new", "other.db", "--policy", "guess", "--arms", "genes.csv"])
    assert stop.value.code == 2
    assert not os.path.exists("other.db")


# results in

def test_recorded_twice(study, capsys):
    path = carry_out(capsys, 0)
    ok(capsys, "record", path)
    head = digest()
    assert ok(capsys, "record", path) == "plate 0: 24 already known\n" and digest() == head
    assert as_json(capsys, "record", path)["n_known"] == 24
    fill("p0.csv", "other.csv", value=lambda row: reading(row) + (row[1] == "B2"))
    assert "line 9, column 'value':" in refused(capsys, "record", "other.csv")


def test_a_plate_in_parts(study, capsys):
    carry_out(capsys, 0)
    part = fill("p0.csv", "part.csv", lambda row: row[1][0] == "A")
    message = refused(capsys, "record", part)
    assert "part.csv: line 7, column 'well': no value for well B1 of plate 0" in message
    assert "18 such in all; --partial" in message
    assert ok(capsys, "record", part, "--partial") == "plate 0: 6 new; 18 wells are still open\n"
    # the rest, and some again
    rest = fill("p0.csv", "rest.csv", lambda row: row[1] > "A3")
    assert ok(capsys, "record", rest) == "plate 0: 18 new, 3 already known\n"


def test_lost_wells(study, capsys):
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


def test_a_lost_plate(normalised, capsys):
    """The empty plate itself is what was read of it."""
    ok(capsys, "next", "-o", "p0.csv")
    assert ok(capsys, "record", "p0.csv", "--lost") == "plate 0: 0 new, 20 lost\n"
    assert as_json(capsys, "status")["n_lost"] == 20


def test_a_late_plate(normalised, capsys):
    late = carry_out(capsys, 0)
    closed = ok(capsys, "close", "0")
    assert closed == "batch 0 is closed: 20 wells lost, unless they come late\n"
    head = digest()
    assert ok(capsys, "close", "0") == closed and digest() == head
    carry_out(capsys, 1)
    assert ok(capsys, "record", late) == "plate 0: 20 new (late)\n"
    assert ok(capsys, "record", late) == "plate 0: 20 already known\n"
    assert "late    20 results" in ok(capsys, "status")
    ok(capsys, "record", "r1.csv")
    known = as_json(capsys, "status")
    assert known["n_late"] == known["n_lost"] == 0 and known["n_pulls"] == 40


def test_an_abandoned_plate(study, capsys):
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


def test_a_grid_is_recorded(normalised, capsys):
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


def test_a_reward_that_the_policy_refuses(capsys):
    with pb.Study.create("study.db", pb.KLUCB(30), GENES):
        pass
    carry_out(capsys, 0)
    path = fill("p0.csv", "high.csv", value=lambda row: 1.5 if row[1] == "B4" else 0.5)
    assert ("high.csv: line 17, column 'value': rewards must be in [0, 1]; got 1.5 for "
            "well B4 of plate 0 (gene 15)") in refused(capsys, "record", path)


def test_a_study_made_in_python(capsys):
    with pb.Study.create("study.db", pb.UCB1(1), ["tea"]) as study:
        study.ask()
    assert ok(capsys, "next") == "plate,well,arm,value\n0,A1,tea,\n"
    Path("r.csv").write_text("plate,well,arm,value\n0,A1,tea,0.5\n")
    assert ok(capsys, "record", "r.csv", "--who", "Ada") == "plate 0: 1 new\n"
    assert ok(capsys, "export", "-").splitlines()[1].startswith("0,A1,tea,0.5,known,")
    with pb.Study.open("study.db") as study:
        assert [event.who for event in study.log()][-1] == "Ada"
        assert study.batch(0).values.tolist() == [0.5]


# what goes wrong

def test_exit_statuses(study, capsys, folder):
    assert "does not exist" in refused(capsys, "status", "--study", "none.db")
    assert "there is no batch" not in refused(capsys, "record", "none.csv")
    (folder / "no.db").write_text("not a study" * 1000)
    for action in ("status", "next", "verify"):
        assert "no.db" in refused(capsys, action, "--study", "no.db", status=3)
    shutil.copy("study.db", "new.db")
    with sqlite3.connect("new.db") as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    assert "format 99" in refused(capsys, "status", "--study", "new.db", status=3)
    ok(capsys, "record", carry_out(capsys, 0))
    head = digest()
    ok(capsys, "verify", "--head", head)
    assert "log" in refused(capsys, "verify", "--head", "0" * 64, status=3)
    with sqlite3.connect("study.db") as db:
        db.execute("UPDATE log SET body = zeroblob(9) WHERE number = 2")
    db.close()
    assert "event 2" in refused(capsys, "verify", status=3)
    assert cli.main(["study"]) == 2
    assert "exit status: 0 done" in capsys.readouterr().out


def test_help(capsys):
    for arguments in [], ["new"], ["next"], ["record"], ["close"], ["abandon"], ["status"], [
            "verify"], ["report"], ["export"]:
        with pytest.raises(SystemExit) as stop:
            cli.main(["study", *arguments, "--help"])
        assert stop.value.code == 0
        assert all(len(line) < 100 for line in capsys.readouterr().out.splitlines())


def test_a_folder_that_cannot_be_written(study, capsys):
    os.mkdir("p0.csv")
    refused(capsys, "export", "p0.csv")
    assert [name for name in os.listdir() if name.endswith(".new")] == []


def test_as_a_program(study):
    """The same answers from a process of its own; SQLite is only loaded for studies."""
    run = subprocess.run([sys.executable, "-m", "pybandit", "study", "status", "--json"],
                         capture_output=True, text=True, check=True,
                         env={**os.environ, "PYTHONPATH": ":".join(sys.path)})
    assert json.loads(run.stdout)["n_arms"] == 30 and run.stderr == ""
    code = "import sys, pybandit.cli; print('sqlite3' in sys.modules)"
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True,
                         check=True, env={**os.environ, "PYTHONPATH": ":".join(sys.path)})
    assert run.stdout == "False\n"


@pytest.mark.slow
def test_a_hundred_thousand_results(capsys, folder):
    """A stage of 10^5 pulls on 285 plates: recorded in 2 s of processor time."""
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
