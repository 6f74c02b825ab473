"""Reading an export of a study again by `record` and `amend` changes nothing."""

import csv
import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pybandit as pb
from pybandit.cli._out import written
from pybandit.errors import UnreadableFileError
from pybandit.lab._amend import amend_results
from pybandit.lab._export import export
from pybandit.lab._read import COLUMNS
from pybandit.lab._record import import_results
from pybandit.lab.plates import Layout, Plates

READINGS = st.floats(0.5, 2000.0).map(lambda value: round(value, 3))
FAST = settings(max_examples=60, deadline=None,
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@st.composite
def layouts(draw):
    """Return plates with any options and some controls."""
    layout = draw(st.sampled_from([Layout(2, 3), Layout(3, 4), Layout(4, 6), Layout(28, 2)]))
    wells = draw(st.lists(st.integers(0, layout.n_wells - 1), max_size=5, unique=True))
    cut = draw(st.integers(0, len(wells)))
    controls, positives = tuple(sorted(wells[:cut])), tuple(sorted(wells[cut:]))
    ways = [False] + [True, "percent"] * bool(controls)
    ways += ["inhibition"] * bool(controls and positives)
    log = draw(st.booleans())
    how = draw(st.sampled_from([way for way in ways if not (log and way == "inhibition")]))
    return Plates(layout, controls, "=control", how, log, draw(st.booleans()), positives,
                  "positive", draw(st.sampled_from(["rows", "shuffled", "apart"])), 3)


class Bench:
    """A study of one batch on one or two plates, with the readings expected in its export."""

    def __init__(self, plates, draw, folder):
        self.plates, self.draw, self.folder = plates, draw, Path(folder)
        n = draw(st.integers(1, 2 * plates.n_free - 1))
        self.study = pb.Study.create(":memory:",
                                     pb.policies.RoundRobin(4, 1, batch_size=n, max_batches=3),
                                     ["tea", "+milk", "gin", "rum"], settings=plates.settings())
        self.batch = self.study.ask()
        self.labels = plates.labels(0, self.batch.names)
        self.names, self.size = plates.names(0, n), plates.layout.n_wells
        self.readings = {}

    def write(self, name, cells):
        """Write cells as a long table; wells are numbered over all plates."""
        path = self.folder / name
        with open(path, "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(COLUMNS)
            for well, cell in cells.items():
                table.writerow([self.names[well // self.size],
                                self.plates.layout.wells[well % self.size], self.labels[well],
                                cell])
        return path

    def measure(self):
        """Record all wells of some plates; some of the wells are lost."""
        draw, parts = self.draw, range(self.draw(st.integers(1, len(self.names))))
        wells = [well for well, label in enumerate(self.labels)
                 if label and well // self.size in parts]
        lost = draw(st.sets(st.sampled_from(wells), max_size=3))
        cells = {well: "" if well in lost else draw(READINGS) for well in wells}
        try:
            import_results(self.study, self.write("r.csv", cells), lost=True, partial=True)
        except UnreadableFileError:  # all controls are lost, or their means are equal
            return
        self.readings |= {well: cell for well, cell in cells.items() if cell != ""}

    def amend(self):
        """Correct or withdraw some readings."""
        known = sorted(self.readings)
        for well in self.draw(st.lists(st.sampled_from(known), max_size=3, unique=True)):
            cell = self.draw(READINGS | st.just("failed"))
            text = f"{self.plates.layout.wells[well % self.size]}={cell}"
            try:
                amend_results(self.study, "typo", plate=self.names[well // self.size],
                              wells=[text])
            except (UnreadableFileError, ValueError):  # the last control would be withdrawn
                continue
            self.readings[well] = cell
        self.readings = {well: cell for well, cell in self.readings.items() if cell != "failed"}

    def exported(self, suffix):
        path = self.folder / f"all.{suffix}"
        written(path, lambda write: export(self.study, self.plates, write))
        return path

    def check_unchanged(self, path):
        """Pass a file to every command that reads it."""
        head, values = self.study.status().head, self.study.batch(0).values
        for lost in (False, True):
            done = amend_results(self.study, "again", path=path, lost=lost)
            assert (done.n_readings, done.n_amended, done.n_withdrawn) == (0, 0, 0)
        done = import_results(self.study, path, partial=True)
        assert (done.n_new, done.n_lost) == (0, 0) and done.has_arms
        if not (self.study.batch(0).states == "open").any():
            assert import_results(self.study, path).n_new == 0
            assert import_results(self.study, path, lost=True).n_lost == 0
        assert self.study.status().head == head
        assert self.study.batch(0).values.tobytes() == values.tobytes()


@FAST
@given(plates=layouts(), data=st.data())
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_reading_an_export_again_changes_nothing(suffix, plates, data):
    if suffix == "xlsx":
        pytest.importorskip("openpyxl")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(plates, data.draw, folder)
        bench.measure()
        if bench.readings:
            bench.amend()
        if data.draw(st.booleans()):
            bench.study.close_batch(0)
        wells = {(bench.names[well // bench.size], plates.layout.wells[well % bench.size]): cell
                 for well, cell in bench.readings.items()}
        with open(bench.exported("csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        assert {(row["plate"], row["well"]): float(row["value"]) for row in rows
                if row["value"]} == wells
        assert len(rows) == sum(map(bool, bench.labels))
        bench.check_unchanged(bench.exported(suffix))


@FAST
@given(plates=layouts(), data=st.data())
def test_reading_an_export_of_results_from_python_changes_nothing(plates, data):
    """Readings follow from rewards only if at most the sign was changed."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(plates, data.draw, folder)
        if data.draw(st.booleans()):
            bench.measure()
        study, size = bench.study, len(bench.batch.names)
        told = np.array(data.draw(st.lists(READINGS, min_size=size, max_size=size)))
        open_ = study.batch(0).states == "open"
        if open_.any():
            study.tell(0, told[open_], positions=np.flatnonzero(open_))
        known = np.flatnonzero(~np.isnan(study.batch(0).values))[:1]
        study.amend(0, [7.25] * known.size, positions=known, reason="from Python")
        path, record = bench.exported("csv"), study.batch(0)
        with open(path, newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["state"] != "control"]
        rewards = [float(row["reward"] or "nan") for row in rows]
        assert np.array_equal(rewards, record.values, equal_nan=True)
        if not (plates.log or plates.normalise):
            sign = -1.0 if plates.flip else 1.0
            assert np.array_equal([sign * float(row["value"] or "nan") for row in rows],
                                  record.values, equal_nan=True)
        head = study.status().head
        assert amend_results(study, "again", path=path).n_readings == 0
        assert import_results(study, path, partial=True).n_new == 0
        lacks = any(row["reward"] and not row["value"] for row in rows)
        if lacks:
            with pytest.raises(UnreadableFileError, match="is stored, so --lost does not withdraw"):
                amend_results(study, "again", path=path, lost=True)
        else:
            assert amend_results(study, "again", path=path, lost=True).n_withdrawn == 0
        assert study.status().head == head


def test_flipped_study_keeps_its_ranking(tmp_path):
    """An amendment by the study's own export must not reverse the ranking."""
    plates = Plates(Layout(2, 3), flip=True)
    study = pb.Study.create(":memory:", pb.policies.RoundRobin(6, 1, batch_size=6, max_batches=2),
                            settings=plates.settings())
    study.ask()
    path = tmp_path / "r.csv"
    path.write_text("plate,well,value\n" + "".join(f"0,{well},{i + 1}\n" for i, well in
                                                   enumerate(plates.layout.wells)))
    import_results(study, path)
    path = tmp_path / "all.csv"
    written(path, lambda write: export(study, plates, write))
    amend_results(study, "the same", path=path)
    assert study.policy.means.tolist() == [-1, -2, -3, -4, -5, -6]
    assert not study.amendments()


def test_controls_are_recorded_once(tmp_path):
    """Readings in a later file of the plate, without controls, are divided by recorded controls."""
    plates = Plates(Layout(2, 3), (0, 5), normalise=True)
    study = pb.Study.create(":memory:", pb.policies.RoundRobin(4, 1, batch_size=4, max_batches=2),
                            settings=plates.settings())
    study.ask()
    path = tmp_path / "r.csv"
    path.write_text("plate,well,value\n0,A1,2\n0,B3,4\n0,A2,6\n")
    import_results(study, path, partial=True)
    path.write_text("plate,well,value\n0,A1,2\n0,A3,3\n0,B1,9\n0,B2,12\n")
    import_results(study, path)
    assert study.batch(0).values.tolist() == [2.0, 1.0, 3.0, 4.0]
    assert not any(math.isnan(mean) for mean in study.policy.means)
