"""Studies whose policy is stored now and then, and replayed from the log when they are opened."""

import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

import pybandit as pb
from pybandit.errors import StudyDamagedError
from pybandit.studies import Study, _snapshot
from pybandit.studies._codec import decode, encode
from pybandit.webtests import WebTest

from policies.protocol import frozen
from studies.cases import POLICIES, make, measured, store_states


@pytest.fixture(autouse=True)
def rarely():
    """Store the state at the start and after amendments only."""
    store_states(0)
    yield
    store_states()


def head_of(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT n_events, included FROM head").fetchone()


def changed(path, statement, *values):
    with closing(sqlite3.connect(path)) as db, db:
        assert db.execute(statement, values).rowcount != 0


@pytest.mark.some(8)
@pytest.mark.parametrize("name", POLICIES)
def test_reopened_study_continues_as_in_memory(name, tmp_path):
    path = tmp_path / "study.db"
    with Study.create(":memory:", POLICIES[name]()) as straight:
        Study.create(path, POLICIES[name]()).close()
        for number in range(6):
            for study in straight, Study.open(path):
                batch = study.ask()
                if batch is not None:
                    half = np.arange(batch.arms.size) % 2 == number % 2
                    values = measured(number, batch.arms)
                    study.tell(batch.id, values[half], positions=np.flatnonzero(half))
                    study.tell(batch.id, values)
                if study is not straight:
                    assert frozen(study.policy.get_state()) == frozen(straight.policy.get_state())
                    study.close()
        n_events, included = head_of(path)
        assert included == 1 < n_events
        with Study.open(path) as study:
            assert study.verify().n_events == n_events
            assert study.status().n_pulls == straight.status().n_pulls


def test_late_and_closed_results_and_amendments_are_replayed(tmp_path):
    path, other = str(tmp_path / "study.db"), tmp_path / "copy.db"
    with make(path) as study:
        n_events, included = head_of(path)
        assert (n_events, included) == (16, 1)
        shutil.copy(path, other)
        shutil.copy(path + "-wal", str(other) + "-wal")
        with Study.open(other) as copy:
            assert frozen(copy.policy.get_state()) == frozen(study.policy.get_state())
            assert copy.status().n_late == study.status().n_late == 2
            assert copy.ask().id == study.ask().id == 4
            assert copy.batch(4).states.tolist() == study.batch(4).states.tolist()
            copy.verify()
        study.amend(1, [0.9], positions=[0], reason="a typo")
        assert head_of(path) == (17, 17)
        study.tell(4, measured(4, np.zeros(8, int))[2:], positions=np.arange(2, 8))
        study.ask()
        assert head_of(path) == (19, 17)
        with Study.open(path) as again:
            again.verify()
            assert frozen(again.policy.get_state()) == frozen(study.policy.get_state())


def test_web_test_is_replayed(tmp_path):
    path = tmp_path / "test.db"
    with WebTest.create(path, pb.CountRace(2), ["a", "b"]) as test:
        for day in range(5):
            test.tell_counts({"a": (100, 10), "b": (100, 12 + day)}, key=f"day {day}")
        test.add_arm("c")
        test.tell_counts({"a": (100, 11), "b": (90, 2), "c": (80, 9)}, key="day 5")
        assert head_of(path)[1] == 1
        with WebTest.open(path) as again:
            assert again.names == ("a", "b", "c")
            assert frozen(again.policy.get_state()) == frozen(test.policy.get_state())
            again.verify()


def test_another_process_sees_the_same(tmp_path):
    path = tmp_path / "study.db"
    with Study.create(path, POLICIES["batch sar"]()) as one, Study.open(path) as other:
        for number in range(4):
            batch = (one, other)[number % 2].ask()
            (other, one)[number % 2].tell(batch.id, measured(number, batch.arms))
            assert frozen(one.policy.get_state()) == frozen(other.policy.get_state())
        assert head_of(path) == (9, 1)


def test_log_decides_when_the_next_state_is_stored(tmp_path, monkeypatch):
    path = tmp_path / "study.db"
    with Study.create(path, pb.policies.RoundRobin(2000, 10, batch_size=100,
                                                   max_batches=60)) as study:
        size = study._store.n_bytes()
        monkeypatch.setattr(_snapshot, "SHARE", 4)
        stored, n_bytes = [], 0
        while (batch := study.ask()) is not None:
            study.tell(batch.id, np.zeros(100))
            n_events, included = head_of(path)
            if included == n_events or included == n_events - 1:
                stored.append(included)
        with closing(sqlite3.connect(path)) as db:
            (n_bytes,) = db.execute("SELECT sum(length(body)) FROM log WHERE number").fetchone()
        assert 0.5 * 4 * n_bytes / size < len(stored) <= 4 * n_bytes / size + 1


def test_slow_policies_are_stored_more_often(tmp_path, monkeypatch):
    monkeypatch.setattr(_snapshot, "PATIENCE", 0.0)
    monkeypatch.setattr(_snapshot.Clock, "__exit__", lambda self, *error: setattr(
        self, "seconds", 1.0))
    path = tmp_path / "study.db"
    with Study.create(path, POLICIES["uniform"]()) as study:
        for number in range(3):
            batch = study.ask()
            study.tell(batch.id, measured(number, batch.arms)) if batch else None
        assert head_of(path)[0] == head_of(path)[1]


@pytest.mark.parametrize("statement, words", [
    ("UPDATE log SET who = 'someone' WHERE number = 5", "log: event 5 "),
    ("DELETE FROM log WHERE number = 5", "log: event 5 is missing"),
    ("UPDATE head SET n_batches = 4", "head"), ("UPDATE head SET asked = 0", "head"),
    ("UPDATE head SET included = 0", "state must include 1 to 16 events; got 0"),
    ("UPDATE head SET included = 2", "damaged"), ("UPDATE head SET included = 17", "damaged"),
    ("UPDATE head SET progress = X'00'", "head: progress"),
    ("UPDATE head SET progress = X''", "state must include"),
    ("DELETE FROM late", "late"), ("DELETE FROM batches WHERE number = 4", "batches"),
    ("UPDATE batches SET marks = (SELECT marks FROM batches WHERE number = 0) WHERE number = 4",
     "batches")])
def test_changed_rows_are_detected_when_opened(statement, words, tmp_path):
    path = str(tmp_path / "study.db")
    make(path).close()
    changed(path, statement)
    with pytest.raises(StudyDamagedError, match=words):
        Study.open(path)


def test_changed_progress_is_detected(tmp_path):
    path = str(tmp_path / "study.db")
    make(path).close()
    with closing(sqlite3.connect(path)) as db:
        (progress,) = db.execute("SELECT progress FROM head").fetchone()
    known = decode(progress)
    for change in dict(n_batches=1), dict(asked=True), dict(late=[[1]]), dict(open=3), \
            dict(late=[[np.array([1]), np.array([0.5])]]), dict(n_batches="x"):
        changed(path, "UPDATE head SET progress = ?", encode(known | change))
        with pytest.raises(StudyDamagedError, match="damaged"):
            with Study.open(path) as study:
                study.verify()
