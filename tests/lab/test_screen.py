"""A screen is a study with plates: the same log, and results from files."""

import numpy as np
import pytest

import pybandit as pb
from pybandit.lab import Layout, Plates, Screen, write_report
from pybandit.studies import Study, kind_of

from policies.protocol import frozen

PLATES = Plates(Layout(2, 3), controls=(0,), normalise=True)
NAMES = ["tea", "coffee", "milk", "water"]


def policy():
    return pb.policies.RoundRobin(4, 1, batch_size=5, max_batches=3)


def filled(text, values):
    """Return the text of a plate with a value in each row."""
    head, *rows = text.splitlines()
    return "\n".join([head, *(f"{row}{value}" for row, value in zip(rows, values, strict=True))])


def test_screen_equals_study_with_rewards_of_readings(tmp_path):
    twin = Study.create(":memory:", policy(), NAMES)
    Screen.create(tmp_path / "teas.db", policy(), NAMES, plates=PLATES,
                  settings={"assay": 3}).close()
    for number, readings in enumerate([[200, 100, 300, 50, 80, 120], [100, 90, 20, 10, 40, 60]]):
        with Screen.open(tmp_path / "teas.db", who="Ann") as screen:
            batch = screen.ask()
            assert batch.id == number and batch.names == twin.ask().names
            file = tmp_path / "plate.csv"
            file.write_text(filled(screen.plate_texts(batch)[str(number)], readings))
            assert (screen.record(file).n_new, screen.record(file).n_known) == (5, 5)
        twin.tell(number, np.array(readings[1:]) / readings[0])
    with Screen.open(tmp_path / "teas.db") as screen:
        assert frozen(screen.policy.get_state()) == frozen(twin.policy.get_state())
        assert screen.plates == PLATES and screen.settings["assay"] == 3
        assert screen.names == tuple(NAMES) and repr(screen).startswith("<Screen '")
        assert [one.controls.mean for one in screen.readings()] == [200.0, 100.0]
        done = screen.amend_readings("a typo", plate="1", wells=["A2=80"])
        assert (done.n_readings, done.n_amended) == (1, 1) and len(screen.amendments()) == 1
        parts = []
        assert screen.export(parts.append) == 12
        assert "1,A2,tea,80.0" in "".join(parts).replace(screen.batch(1).names[0], "tea")
        assert screen.verify().n_batches == screen.status().n_batches == 2
        write_report(screen, tmp_path / "report.html")
    assert "Plate 1" in (tmp_path / "report.html").read_text("utf-8")


def test_kind_of_file_is_recorded(tmp_path):
    paths = {kind: tmp_path / f"{kind}.db" for kind in ("study", "screen", "webtest")}
    Study.create(paths["study"], policy()).close()
    Screen.create(paths["screen"], policy(), plates=PLATES).close()
    pb.webtests.WebTest.create(paths["webtest"], pb.CountRace(2)).close()
    assert all(kind_of(path) == kind for kind, path in paths.items())
    with Study.open(paths["screen"]) as log:  # the log of a screen is that of a study
        assert log.status().n_arms == 4
    for cls, kind, words in [
        (Study, "webtest", "webtest.db is the file of a webtest: open it with"),
        (Screen, "study", r"file of a screen; .*study.db is the file of a study: open"),
        (Screen, "webtest", "the file of a webtest"),
        (pb.webtests.WebTest, "study", "is the file of a study"),
        (pb.webtests.WebTest, "screen", "of a screen: open it with pybandit.lab.Screen.open"),
    ]:
        with pytest.raises(ValueError, match=words):
            cls.open(paths[kind])


@pytest.mark.parametrize("options, error, words", [
    (dict(plates=(2, 3)), TypeError, r"plates must be Plates; got \(2, 3\)"),
    (dict(plates=PLATES, settings={"plates": 1}), ValueError, "must not have 'plates'.*got 1"),
    (dict(plates=PLATES, arms=["tea", "control", "milk", "water"]), ValueError,
     "labels of controls; got 'control'")])
def test_invalid_screens_are_rejected(options, error, words, tmp_path):
    with pytest.raises(error, match=words):
        Screen.create(tmp_path / "teas.db", policy(), **options)
    assert not list(tmp_path.iterdir())


def test_lab_report_rejects_web_tests(tmp_path):
    test = pb.webtests.WebTest.create(":memory:", pb.CountRace(2))
    with pytest.raises(TypeError, match="study must be a Study or a Screen; got <WebTest"):
        write_report(test, tmp_path / "report.html")
