"""pybandit screen export: complete contents, and bounded memory."""

import csv
import io
import math
import os
import subprocess
import sys

import numpy as np
import pytest

import pybandit as pb
from lab.report_page import SCREEN, screened
from pybandit import cli
from pybandit.lab import Layout, Plates, Screen, _export

# VmHWM is the peak of this program; on Linux, getrusage includes the peak of its parent
MEASURED = """
import re, resource, sys, time
from pathlib import Path
from pybandit import cli
assert cli.main(["screen", "export", "--study", sys.argv[1], sys.argv[2]]) == 0
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
peak /= 1024 if sys.platform == "darwin" else 1
if Path("/proc/self/status").exists():
    peak = re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]
print(peak, time.process_time())
"""


def exported(study, plates):
    parts = []
    n = _export.export(study, plates, parts.append)
    head, *rows = csv.reader(io.StringIO("".join(parts)))
    assert head == list(_export.COLUMNS) and len(rows) == n
    return rows, parts


@pytest.mark.parametrize("at_once", [1, 7, 8192])
def test_export_has_every_well_of_every_batch(at_once, monkeypatch):
    """Includes lost, late, abandoned and open wells, for any number of rows written at a time."""
    monkeypatch.setattr(_export, "AT_ONCE", at_once)
    study = screened(batches=6)
    study.tell(0, study.batch(0).values, who="nobody new")  # the same values again change nothing
    study.tell(5, [0.25], positions=[12], who="Eve, of the \"night\" shift")
    rows, parts = exported(study, SCREEN)
    assert (len(parts) > 3) == (at_once < 100)
    controls = [row for row in rows if row[4] == "control"]
    assert [row[2:4] for row in controls] == [[SCREEN.label, ""]] * 24
    rows = [row for row in rows if row[4] != "control"]
    history = study.history()
    columns = list(zip(*rows, strict=True))
    assert list(columns[2]) == list(history["name"]) and list(columns[4]) == list(history["state"])
    assert set(columns[4]) == {"known", "lost", "late", "open", "abandoned"}
    assert list(columns[6]) == list(history["who"])
    assert set(columns[3]) == {""}  # results reported from Python have no readings
    for text, value in zip(columns[7], history["value"], strict=True):
        assert float(text or "nan") == value or (text == "" and math.isnan(value))
    for text, told in zip(columns[5], history["told_at"], strict=True):
        assert (text == "") == math.isnan(told)
    expected = [(name, SCREEN.layout.wells[place]) for batch in range(6)
                for name in SCREEN.names(batch, 20)
                for place in SCREEN.places(batch, [""] * 20).tolist()]
    assert list(zip(*columns[:2], strict=True)) == expected


def test_batches_on_several_plates_are_exported():
    plates = Plates(Layout(2, 3), (0, 4))
    study = pb.Study.create(":memory:", pb.policies.Uniform(5, budget=10),
                            settings=plates.settings())
    study.ask()
    rows, _ = exported(study, plates)
    assert [row[:2] for row in rows[:10]] == [
        [f"0p{part}", well] for part in (1, 2, 3) for well in ("A2", "A3", "B1", "B3")][:10]
    assert [row[:3] for row in rows[10:]] == [
        [f"0p{part}", well, "control"] for part in (1, 2, 3) for well in ("A1", "B2")]


@pytest.mark.slow
def test_export_of_a_million_wells_takes_a_hundred_megabytes(tmp_path):
    """The export takes about 70 MB and 2.5 s; all wells written at once took 710 MB and 45 s."""
    plates = Plates(Layout(16, 24))
    policy = pb.policies.RoundRobin(2000, 20, batch_size=384, max_batches=2605)
    with pb.Study.create(tmp_path / "study.db", policy, settings=plates.settings()) as study:
        study._store.db.execute("PRAGMA synchronous = OFF")
        values = np.random.default_rng(0).normal(size=384)
        while (batch := study.ask()) is not None:
            study.tell(batch.id, values)
    run = subprocess.run([sys.executable, "-c", MEASURED, tmp_path / "study.db",
                          tmp_path / "all.csv"], capture_output=True, text=True, check=True,
                         env={**os.environ, "PYTHONPATH": ":".join(sys.path)})
    said, figures = run.stdout.splitlines()
    assert said.startswith("1,000,320 wells")
    kilobytes, seconds = map(float, figures.split())
    assert kilobytes < 100_000
    assert seconds < 10
    with open(tmp_path / "all.csv") as file:
        assert sum(1 for _ in file) == 1_000_321


@pytest.mark.parametrize("action", [["export", "other.db"],
                                    ["next", "-o", "other.db", "--overwrite"],
                                    ["report", "-o", "other.db"]])
def test_study_is_never_overwritten(action, capsys, tmp_path, monkeypatch):
    """`export other.db` names a study and no output file; it must not overwrite other.db."""
    monkeypatch.chdir(tmp_path)
    for name in ("study.db", "other.db"):
        policy = pb.policies.RoundRobin(3, 1, batch_size=4, max_batches=2)
        Screen.create(name, policy, plates=Plates(Layout(8, 12))).close()
    assert cli.main(["screen", *action]) == 2
    assert "other.db is a database" in capsys.readouterr().err
    with pb.Study.open("other.db") as study:
        assert study.verify().n_events == 1
    assert sorted(os.listdir()) == ["other.db", "study.db"]
