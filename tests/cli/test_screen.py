"""pybandit screen: a complete screen, its creation, its output and errors."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import pybandit as pb
from pybandit import cli
from pybandit.cli._screen_policies import CHOICES, make_policy

from cli.screen_commands import (
    GENES,
    NEW,
    as_json,
    carry_out,
    digest,
    fill,
    ok,
    refused,
    rows_of,
)

pytestmark = pytest.mark.usefixtures("folder")


# a complete study

def test_study_equals_python(normalised, capsys):
    """The results are bitwise equal up to the end, with controls."""
    twin = pb.policies.BatchSAR(30, 3, batch_size=20, max_batches=8, max_repeats=4)
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
    assert cli.main(["screen", "next"]) == 4
    assert "done" in capsys.readouterr().err
    known = as_json(capsys, "status")
    assert known["done"] and known["n_batches"] == number == twin.n_batches
    assert [one["arm"] for one in known["best"]] == twin.recommend().tolist()
    assert [one["mean"] for one in known["best"]] == twin.means[twin.recommend()].tolist()
    with pb.Study.open("study.db") as study:
        assert study.policy.means.tobytes() == twin.means.tobytes()
        assert study.verify().head == known["head"] == as_json(capsys, "verify")["head"]
    assert "done: nothing more" in ok(capsys, "status")


def test_export_has_all_wells(normalised, capsys):
    for number in range(2):
        ok(capsys, "record", carry_out(capsys, number))
    ok(capsys, "next")
    assert ok(capsys, "export", "all.csv") == "72 wells: all.csv\n"
    head, *rows = rows_of("all.csv")
    assert head == ["plate", "well", "arm", "value", "state", "told_at", "who", "reward"]
    with pb.Study.open("study.db") as study:
        history = study.history()
    assert [row[0] for row in rows] == ["0"] * 24 + ["1"] * 24 + ["2"] * 24
    for number in range(2):
        shown = sorted(row[1:] for row in rows_of(f"r{number}.csv")[1:])
        assert sorted(row[1:4] for row in rows[24 * number:24 * number + 24]) == shown
    arms = [row for row in rows if row[2] != "control"]
    assert [float(row[7]) for row in arms[:40]] == list(history["value"][:40])
    assert [row[3:] for row in arms[40:]] == [["", "open", "", "", ""]] * 20
    assert [row[4:] for row in rows if row[2] == "control"] == [["control", "", "", ""]] * 12
    assert rows[0][4] == "known" and "@" in rows[0][6] and rows[0][5].endswith("Z")
    assert ok(capsys, "export", "one.csv", "--batch", "1") == "24 wells: one.csv\n"
    assert rows_of("one.csv") == [head, *rows[24:48]]
    assert "got 3" in refused(capsys, "export", "no.csv", "--batch", "3")
    assert ok(capsys, "export", "-") == Path("all.csv").read_text()


def test_report_is_written(study, capsys):
    assert ok(capsys, "report", "-o", "r.html") == "report: r.html\n"
    page = Path("r.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and digest() in page


def test_status_shows_the_progress(normalised, capsys):
    ok(capsys, "record", carry_out(capsys, 0))
    carry_out(capsys, 1)
    half = fill("p1.csv", "half.csv", lambda row: row[1][0] in "AB" or row[2] == "control")
    ok(capsys, "record", half, "--partial")
    lines = ok(capsys, "status", "--top", "2").splitlines()
    assert lines[:6] == [
        "study   study.db: BatchSAR, 30 arms, the 3 best wanted",
        "plates  4x6, 4 wells with control",
        "rewards readings by their mean, logarithm, sign changed",
        "spent   1 batches, 20 pulls", "left    7 of 8 batches", "in play 30 arms"]
    assert lines[6] == "unseen  10 of 30 arms not measured yet"
    assert lines[7] == "now     plate 1 is open: 10 of 20 wells pending"
    assert f"head    {digest()}" in lines[8:12] and lines[-1].startswith("and 1 more")
    assert lines[13].split() == ["best", "by", "now", "mean", "wells"]
    known = as_json(capsys, "status")
    assert known["open_batch"] == 1 and known["n_open"] == 10 and len(known["best"]) == 3
    assert known["settings"]["plates"]["layout"] == "4x6"


def test_arms_without_a_result_are_not_listed_as_best(capsys):
    """Ten arms are wanted, and the first plate has room for six."""
    ok(capsys, "new", "study.db", "--policy", "batch-sar", "--arms", "genes.csv", "--k", "10",
       "--batches", "20", "--plate", "2x3")
    assert ok(capsys, "status").endswith("\n\nbest by now: no arm of the answer has a result yet\n")
    ok(capsys, "record", carry_out(capsys, 0))
    shown = ok(capsys, "status").partition("best by now")[2].splitlines()[1:]
    known = {row[2] for row in rows_of("p0.csv")[1:]}
    assert {" ".join(line.split()[:2]) for line in shown[:-1]} <= known and 1 < len(shown) <= 7
    assert all(int(line.split()[-1]) > 0 for line in shown[:-1])
    assert shown[-1] == f"and {11 - len(shown)} more of the answer have no result yet"
    best = as_json(capsys, "status")["best"]
    assert sum(one["pulls"] == 0 for one in best) == 11 - len(shown)


@pytest.mark.parametrize("name", CHOICES)
def test_every_policy_runs_from_the_command_line(name, capsys, folder):
    """Three plates per policy are written, measured and recorded."""
    (folder / "genes.csv").write_text("arm,noise_std\n" + "".join(f"{g},0.5\n" for g in GENES))
    given = {"k": 3, "batches": 8, "repeats": 4, "budget": 300, "delta": 0.1, "noise_std": 0.5,
             "seed": 3}
    choice = CHOICES[name]
    options = [part for option in choice.needs + choice.takes if option in given
               for part in ("--" + option.replace("_", "-"),
                            given[option])] + ["--reuse"] * ("reuse" in choice.takes)
    ok(capsys, "new", "study.db", "--policy", name, "--arms", "genes.csv", "--plate", "12x12",
       *options)
    for number in range(3):
        path = carry_out(capsys, number)
        assert " new" in ok(capsys, "record", path)
    known = as_json(capsys, "status")
    assert known["policy"] == choice.policy and known["n_batches"] == 3
    assert known["policy"] in pb.policies.__all__


def test_missing_and_unknown_options_of_a_policy_are_named(capsys):
    base = ["new", "study.db", "--arms", "genes.csv", "--policy"]
    assert "--policy batch-sar needs --batches" in refused(capsys, *base, "batch-sar", "--k", "3")
    assert "--policy ucb1 does not take --k" in refused(capsys, *base, "ucb1", "--k", "3")
    assert "needs a column 'noise_std'" in refused(capsys, *base, "shvar", "--budget", "99")
    message = refused(capsys, *base, "batch-sar", "--k", "3", "--batches", "1")
    assert "--batches must be at least 5 for 30 arms" in message and "max_batches" not in message
    assert not os.path.exists("study.db")
    with pytest.raises(ValueError, match="needs --batch-size"):
        make_policy("round-robin", 5, {"k": 1, "batches": 3})


@pytest.mark.parametrize("text, message", [
    ("gene\na\nb\na\n", "line 4, column 1: arm 'a' is on line 2 already"),
    ("gene\na\n\nb\nc,d\n", "line 5, column 2: the row has 2 cells"),
    ("gene\n", "no arms under it"),
    ("", "line 1, column 1: the file is empty"), ("x,y\n1,2\n", "none of arm, name, gene and id"),
    ("arm,noise_std\na,1\nb,-1\n", "line 3, column 'noise_std': must be positive"),
    ("arm,noise_std\na,1\nb,x\n", "line 3, column 'noise_std': 'x' is not"),
    ("arm,v\na,1\n,2\n", "line 3, column 1: the arm has no name")])
def test_invalid_files_of_arms_are_rejected(capsys, folder, text, message):
    (folder / "genes.csv").write_text(text)
    found = refused(capsys, *NEW)
    assert found.startswith("pybandit screen new: genes.csv: line ") and message in found


def test_files_of_arms_are_read(capsys, folder):
    (folder / "plain.csv").write_text("b\na\nc\n")
    (folder / "columns.csv").write_text("well;Compound\n1;x, y\n2;z\n")
    for file, more, names in [("plain.csv", [], ["b", "a", "c"]),
                              ("columns.csv", ["--column", "compound"], ["x, y", "z"])]:
        ok(capsys, "new", f"{file}.db", "--policy", "ucb1", "--arms", file, *more)
        with pb.Study.open(f"{file}.db") as study:
            assert study.names == tuple(names)
    assert "there is no 'colour' in the header" in refused(
        capsys, "new", "x.db", "--policy", "ucb1", "--arms", "columns.csv", "--column", "colour")


def test_invalid_new_is_rejected(study, capsys):
    assert "study.db exists" in refused(capsys, *NEW)
    other = ["new", "other.db", *NEW[2:]]
    for more, message in [(["--plate", "8"], "a plate must be"), (["--controls", "Z1"], "controls"),
                          (["--normalise"], "controls must be given"),
                          (["--arms", "no.csv"], "no.csv: cannot be read"),
                          (["--controls", "A1", "--control-label", "gene 3"], "must differ")]:
        assert message in refused(capsys, *other, *more)
    with pytest.raises(SystemExit) as stop:
        cli.main(["screen", "new", "other.db", "--policy", "guess", "--arms", "genes.csv"])
    assert stop.value.code == 2
    assert not os.path.exists("other.db")


# errors

def test_exit_status_depends_on_the_error(study, capsys, folder):
    assert "does not exist" in refused(capsys, "status", "--study", "none.db")
    assert "there is no batch" not in refused(capsys, "record", "none.csv")
    (folder / "no.db").write_text("not a study" * 1000)
    for action in ("status", "next", "verify"):
        assert "no.db" in refused(capsys, action, "--study", "no.db", status=3)
    shutil.copy("study.db", "new.db")
    with closing(sqlite3.connect("new.db")) as db, db:
        db.execute("PRAGMA user_version = 99")
    assert "format 99" in refused(capsys, "status", "--study", "new.db", status=3)
    ok(capsys, "record", carry_out(capsys, 0))
    head = digest()
    ok(capsys, "verify", "--head", head)
    assert "log" in refused(capsys, "verify", "--head", "0" * 64, status=3)
    with closing(sqlite3.connect("study.db")) as db, db:
        db.execute("UPDATE log SET body = zeroblob(9) WHERE number = 2")
    assert "event 2" in refused(capsys, "verify", status=3)
    assert cli.main(["screen"]) == 2
    assert "exit status: 0 done" in capsys.readouterr().out


def test_study_may_be_named_before_or_after_the_action(study, capsys):
    os.rename("study.db", "screen.db")
    plain = ok(capsys, "status", "--study", "screen.db")
    assert plain.startswith("study   screen.db")
    assert ok(capsys, "status", "screen.db") == plain
    assert ok(capsys, "--study", "screen.db", "status") == plain
    assert ok(capsys, "--study", "none.db", "status", "--study", "screen.db") == plain
    assert ok(capsys, "status", "screen.db", "--study", "screen.db") == plain
    ok(capsys, "next", "screen.db", "-o", "p0.csv")
    fill("p0.csv", "r0.csv", lambda row: row[1][0] == "A")
    assert "6 new" in ok(capsys, "record", "screen.db", "r0.csv", "--partial")
    assert "6 already known" in ok(capsys, "record", "--partial", "r0.csv", "--study", "screen.db")
    assert "18 wells lost" in ok(capsys, "close", "screen.db", "0")
    ok(capsys, "report", "screen.db", "-o", "r.html")
    assert "24 wells" in ok(capsys, "export", "screen.db", "all.csv")
    assert ok(capsys, "verify", "screen.db").startswith("valid: ")
    for words in ["new", "--study", "other.db"], ["--study", "other.db", "new"]:
        ok(capsys, *words, *NEW[2:])
        os.unlink("other.db")
    assert "named once; got a.db and --study b.db" in refused(
        capsys, "status", "a.db", "--study", "b.db")
    assert "must be named: pybandit screen new study.db" in refused(capsys, *NEW[:1], *NEW[2:])
    assert not os.path.exists("study.db")


def test_help_has_short_lines(capsys):
    for arguments in [], ["new"], ["next"], ["record"], ["close"], ["abandon"], ["status"], [
            "verify"], ["report"], ["export"]:
        with pytest.raises(SystemExit) as stop:
            cli.main(["screen", *arguments, "--help"])
        assert stop.value.code == 0
        assert all(len(line) < 100 for line in capsys.readouterr().out.splitlines())


def test_folder_that_cannot_be_written_is_an_error(study, capsys):
    os.mkdir("p0.csv")
    refused(capsys, "export", "p0.csv")
    assert [name for name in os.listdir() if name.endswith(".new")] == []


def test_program_gives_the_same_answers(study):
    """SQLite is imported only for studies."""
    run = subprocess.run([sys.executable, "-m", "pybandit", "screen", "status", "--json"],
                         capture_output=True, text=True, check=True,
                         env={**os.environ, "PYTHONPATH": ":".join(sys.path)})
    assert json.loads(run.stdout)["n_arms"] == 30 and run.stderr == ""
    code = "import sys, pybandit.cli; print('sqlite3' in sys.modules)"
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True,
                         check=True, env={**os.environ, "PYTHONPATH": ":".join(sys.path)})
    assert run.stdout == "False\n"


@pytest.mark.parametrize("side", ["-wal", "-shm", "-journal"])
def test_output_with_the_name_of_a_log_is_rejected(side, capsys):
    """SQLite would delete the plate, or apply it to the study."""
    Path("study.db").touch()
    with pytest.raises(SystemExit):
        cli.main(["screen", "next", "-o", f"study.db{side}"])
    assert f"must not be the name of an existing file plus {side}" in capsys.readouterr().err
    assert not os.path.exists(f"study.db{side}")


def test_study_works_on_files_of_all_kinds(folder, capsys):
    plates = pb.lab.Plates(pb.lab.Layout(2, 3))
    policy = pb.policies.RoundRobin(4, 1, batch_size=5, max_batches=3)
    pb.Study.create("study.db", policy).close()
    pb.lab.Screen.create("screen.db", policy, plates=plates).close()
    pb.webtests.WebTest.create("webtest.db", pb.CountRace(2)).close()
    for kind in ("study", "screen", "webtest"):
        for action in (["status"], ["verify"], ["report", "-o", "page.html", "--title", "My own"]):
            assert cli.main(["study", action[0], f"{kind}.db", *action[1:]]) == 0
        assert "<h1>My own</h1>" in Path("page.html").read_text("utf-8")
        said = capsys.readouterr().out
        assert ("\nplates  2x3" in said) == (kind == "screen"), said
    assert cli.main(["study", "close", "webtest.db", "0"]) == 2
    assert "is a web test, which has no batches" in capsys.readouterr().err
    assert cli.main(["screen", "next", "study.db"]) == 2
    assert "is the file of a study: open it with pybandit.Study.open" in capsys.readouterr().err
