"""Rows of wrong types, values of another form, and logs with recomputed digests: all are named.

Found by tests/fuzz; each raised another error than `StudyDamagedError`.
"""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

import pybandit as pb
from pybandit.errors import StudyDamagedError
from pybandit.evaluation._store_file import StoreFile
from pybandit.evaluation._store_names import Names
from pybandit.lab._export import export
from pybandit.lab.controls import readings_of
from pybandit.lab.plates import Layout, Plates
from pybandit.studies import Study
from pybandit.studies._codec import decode, encode
from pybandit.studies._journal import START, chained


def put(path, table, column, value, which="1"):
    with closing(sqlite3.connect(path)) as db, db:
        assert db.execute(f"UPDATE {table} SET {column} = ? WHERE {which}", (value,)).rowcount


def sign(path):
    """Recompute the digests of the log, as a forger would."""
    with closing(sqlite3.connect(path)) as db, db:
        before = START
        for number, kind, time, who, body, _ in db.execute("SELECT * FROM log ORDER BY number"
                                                           ).fetchall():
            before = chained(before, number, kind, time, who, body)
            db.execute("UPDATE log SET digest = ? WHERE number = ?", (before, number))
        db.execute("UPDATE head SET digest = ?", (before,))


def refused(path, words):
    with pytest.raises(StudyDamagedError, match=words) as raised, Study.open(path) as study:
        study.batch(2)
        study.history()
        list(study.log())
        study.verify()
    assert path in str(raised.value)


@pytest.mark.parametrize("table, column, value, words", [
    ("log", "body", "x", "log: a row holds a str where a bytes"),
    ("log", "time", "x", "log: a row holds a str where a float"),
    ("log", "kind", b"ask", "log: a row holds a bytes where a str"),
    ("head", "n_events", "x", "head: a row holds a str where a int"),
    ("head", "n_events", -2**63, "head must have .* got -9223372036854775808 and 5"),
    # the next event could not be stored
    ("head", "n_batches", 2**63 - 1, "head must have .* got 16 and 9223372036854775807"),
    ("head", "digest", 3, "head: a row holds a int"),
    ("state", "body", 3, "state: a row holds a int"),
    # bytes(10**12) are a terabyte of zeros
    ("batches", "arms", 10**12, "batches: a row holds a int"),
    ("batches", "status", "ready", "batches: batch 2: invalid arms"),
    ("batches", "arms", encode(3), "batches: batch 4: invalid arms"),
    ("batches", "arms", encode(np.full(8, 30)), "batches: batch 4: invalid arms"),
    ("batches", "arms", encode(np.full(8, -31)), "batches: batch 4: invalid arms"),
    ("batches", "marks", encode(np.full(8, 4, dtype=np.uint8)), "batches: batch 4: invalid arms"),
    ("batches", "results", encode([0.5] * 8), "batches: batch 4: invalid arms"),
    ("batches", "results", encode(np.full(8, np.inf)), "batches: batch 4: invalid arms"),
    # results above LARGEST_REWARD (1e150), which no policy accepts
    ("batches", "results", encode(np.full(8, 1e151)), "batches: batch 4: invalid arms"),
    ("late", "results", encode(np.full(2, -1e151)), "late: invalid arms"),
    ("late", "arms", encode("x"), "late: invalid arms"),
    ("late", "results", encode(np.zeros(5)), "late: invalid arms"),
    ("late", "results", encode(np.full(2, np.nan)), "late: invalid arms")])
def test_invalid_rows_are_damage(path, table, column, value, words):
    which = "status != 'open'" if value == "ready" else "1"
    put(path, table, column, value, which)
    refused(path, words)


@pytest.mark.parametrize("number, changes, words", [
    (0, None, "event 0 is not that of a study"), (0, dict(arms=[3] * 30), "event 0 is not that"),
    (0, dict(arms=["x"]), "state: it has 30 arms, and there are 1 names"),
    (0, dict(settings=3), "event 0 is not that"), (0, dict(policy=None), "event 0 is not that"),
    (0, dict(version=3), "event 0 is not that"),
    (2, None, "a tell is not that of a study"),
    (2, dict(batch=99), "log and batches do not match"),
    (2, dict(positions="x"), "log and batches do not match"),
    (2, dict(positions=2**70), "log and batches do not match"),
    (2, dict(batch=2**70), "log and batches do not match")])
def test_invalid_events_with_right_digests_are_damage(path, number, changes, words):
    with closing(sqlite3.connect(path)) as db:
        ((body,),) = db.execute("SELECT body FROM log WHERE number = ?", (number,))
    entry = None if changes is None else {**decode(body), **changes}
    put(path, "log", "body", encode(entry), f"number = {number}")
    sign(path)
    refused(path, words)


@pytest.mark.parametrize("changes", [
    dict(batch=99), dict(batch=2**70), dict(batch="x"), dict(positions="x"), dict(positions=2**70),
    dict(positions=None), dict(positions=np.arange(3.0)), dict(positions=np.array([8])),
    dict(positions=np.array([-1])), None])
def test_export_of_invalid_events_is_damage(path, changes):
    with closing(sqlite3.connect(path)) as db:
        ((body,),) = db.execute("SELECT body FROM log WHERE number = 2")
    entry = {} if changes is None else {**decode(body), **changes}
    put(path, "log", "body", encode(entry), "number = 2")
    sign(path)
    with Study.open(path) as study, pytest.raises(StudyDamagedError, match="do not match"):
        export(study, Plates(Layout(8, 12)), lambda text: None)
    refused(path, "do not match")


@pytest.mark.parametrize("marks", ["x", b"", b"x", 3, encode(np.zeros(1, dtype=np.uint8))])
def test_export_of_invalid_marks_is_damage(path, marks):
    put(path, "batches", "marks", marks, "number = 3")
    with Study.open(path) as study, pytest.raises(StudyDamagedError, match="is damaged: "):
        export(study, Plates(Layout(8, 12)), lambda text: None)


@pytest.mark.parametrize("changes", [dict(batch="x"), dict(batch=None), None])
def test_sources_without_batch_are_damage(path, changes):
    with Study.open(path) as study:
        study.tell(4, [0.5], positions=[3], source={"file": "a.csv", "plates": {}})
        number = study.status().n_events - 1
    with closing(sqlite3.connect(path)) as db:
        ((body,),) = db.execute("SELECT body FROM log WHERE number = ?", (number,))
    entry = ["source"] if changes is None else {**decode(body), **changes}
    put(path, "log", "body", encode(entry), f"number = {number}")
    sign(path)
    with Study.open(path) as study, pytest.raises(StudyDamagedError,
                                                  match="is damaged: log: event"):
        readings_of(study)


@pytest.mark.parametrize("time", [1e308, 253402300800.0, -1e12])
def test_impossible_times_are_damage(path, time):
    """A report could not show them."""
    put(path, "log", "time", time, "number = 3")
    sign(path)
    refused(path, "log: .* is not a valid time")


@pytest.mark.parametrize("changes", [
    dict(reason=3), dict(batch=np.arange(2)), dict(positions=3), dict(before=None),
    dict(positions=np.full(1, 99)), dict(values=np.zeros(3))])
def test_invalid_amendments_are_damage(path, changes):
    with Study.open(path) as study:
        study.amend(0, [0.5], positions=[2], reason="read again")
        number = study.status().n_events - 1
    with closing(sqlite3.connect(path)) as db:
        ((body,),) = db.execute("SELECT body FROM log WHERE number = ?", (number,))
    put(path, "log", "body", encode({**decode(body), **changes}), f"number = {number}")
    sign(path)
    with Study.open(path) as study, pytest.raises(
            StudyDamagedError, match=f"event {number} is not an amendment") as raised:
        study.amendments()
    assert path in str(raised.value)


@pytest.mark.parametrize("arm", [-1, 30, 21254])
def test_amendments_after_unknown_arms_are_damage(path, arm):
    """They would wait as late results, and a later call would fail."""
    with closing(sqlite3.connect(path)) as db:
        ((kind, body),) = db.execute("SELECT kind, body FROM log WHERE number = 1")
    entry = decode(body)
    assert kind == "ask"
    arms = entry["arms"].copy()
    arms[6] = arm
    put(path, "log", "body", encode({**entry, "arms": arms}), "number = 1")
    with Study.open(path) as study, pytest.raises(StudyDamagedError, match="arms of the policy"):
        study.amend(0, [0.5], positions=[2], reason="read again")


@pytest.mark.parametrize("values", [
    np.array([0.5, -2.6e307]), np.array([0.5, np.inf]), np.array([1, 2]), np.zeros((2, 1))])
def test_amendments_after_too_large_results_are_damage(path, values):
    """They would wait as late results too."""
    with Study.open(path) as study:
        study.tell(1, [0.25, 0.75], positions=[6, 7])
        number = study.status().n_events - 1
    with closing(sqlite3.connect(path)) as db:
        ((kind, body),) = db.execute("SELECT kind, body FROM log WHERE number = ?", (number,))
    assert kind == "tell"
    with Study.open(path) as study:
        study.amend(0, [0.5], positions=[2], reason="read again")  # continues if it is complete
    put(path, "log", "body", encode({**decode(body), "values": values}), f"number = {number}")
    with Study.open(path) as study, pytest.raises(StudyDamagedError,
                                                  match="log: .* must have results"):
        study.amend(0, [0.75], positions=[2], reason="read again")


@pytest.mark.parametrize("kind", ["finish", "_class__", "take_late", "new"])
def test_events_of_unknown_kind_are_damage(path, kind):
    """Otherwise an event could call any method of `Progress`."""
    put(path, "log", "kind", kind, "number = 3")
    sign(path)
    with Study.open(path) as study, pytest.raises(StudyDamagedError, match="kind must be one of"):
        study.verify()


@pytest.mark.parametrize("change", [
    lambda kind, body: ("abandoned", body), lambda kind, body: (kind, {**body, "batch": 99}),
    lambda kind, body: (kind, {name: body[name] for name in body if name != "positions"}),
    lambda kind, body: (kind, {**body, "positions": None}),
    lambda kind, body: (kind, {**body, "values": np.full(6, np.inf)}),
    lambda kind, body: (kind, {})])
def test_amendments_after_invalid_events_are_damage(path, change):
    with closing(sqlite3.connect(path)) as db:
        ((kind, body),) = db.execute("SELECT kind, body FROM log WHERE number = 5")
    kind, entry = change(kind, decode(body))
    put(path, "log", "body", encode(entry), "number = 5")
    put(path, "log", "kind", kind, "number = 5")
    sign(path)
    with Study.open(path) as study, pytest.raises(StudyDamagedError, match="is damaged: log"):
        study.amend(0, [0.5], positions=[2], reason="read again")


def test_second_open_batch_is_damage(path):
    put(path, "batches", "status", "open", "number = 2")
    with Study.open(path) as study, pytest.raises(StudyDamagedError, match="batch 2 is open"):
        study.tell(2, np.zeros(8))


def test_schema_names_that_are_not_text_are_damage(path):
    """SQLite quotes them in a message that Python's module cannot decode."""
    with open(path, "r+b") as file:
        content = file.read()
        file.seek(content.index(b"CREATE TABLE late") + 10)
        file.write(b"\xff")
    refused(path, "malformed database schema")


NAMES = Names("ab", None, 5)


@pytest.mark.parametrize("statement, words", [
    ("CREATE VIEW more AS SELECT * FROM cells", "a file of scores: it has the view more"),
    ("ALTER TABLE cells ADD COLUMN more", "its table cells is missing or was changed")])
def test_foreign_tables_of_stores_are_rejected(tmp_path, statement, words):
    path = str(tmp_path / "scores.cells")
    StoreFile(path, NAMES, False).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
    with pytest.raises(StudyDamagedError, match=words) as raised:
        StoreFile(path, NAMES, False)
    assert path in str(raised.value)


ENDLESS = ("ALTER TABLE {0} RENAME TO old; CREATE VIEW {0} AS WITH RECURSIVE r({1}) AS (SELECT {2} "
           "UNION ALL SELECT * FROM r) SELECT * FROM r")


@pytest.mark.parametrize("statements, words", [
    # reading would never end
    (ENDLESS.format("late", "place, arms, results", "0, x'', x''"), "it has the view late"),
    ("CREATE TRIGGER more AFTER INSERT ON log BEGIN DELETE FROM head; END", "the trigger more"),
    ("DROP INDEX amendments; CREATE INDEX amendments ON batches (number)",
     "it has the index amendments"),
    ("CREATE INDEX more ON log (length(zeroblob(999999999)))", "it has the index more"),
    ("CREATE VIRTUAL TABLE more USING fts5(x)", "it has the table more"),
    ("ALTER TABLE log ADD COLUMN more", "its table log is missing or was changed"),
    ("DROP TABLE late; CREATE TABLE late (place, arms, results)", "its table late is missing")])
def test_foreign_tables_are_rejected(path, statements, words):
    with closing(sqlite3.connect(path)) as db:
        db.executescript(statements)
    with pytest.raises(StudyDamagedError, match=words) as raised:
        Study.open(path)
    assert path in str(raised.value)


def test_harmless_user_tables_are_accepted(path):
    """Other files are accepted too if the index is missing or a table has its name."""
    with Study.open(path) as study:
        study.amend(0, [0.5], positions=[2], reason="read again")
    with closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE notes (x); ANALYZE; DROP INDEX amendments; "
                         "CREATE TABLE amendments (x)")
    with Study.open(path) as study:
        study.amend(0, [0.75], positions=[2], reason="once more")
        assert study.status().n_amendments == 2 and study.verify()


@pytest.mark.parametrize("statement, words", [
    ("UPDATE cells SET score = 'x'", "cells: .* of .*a.*1.* is not what"),
    ("UPDATE cells SET score = 9e999", "cells: "),
    ("UPDATE cells SET arm = x'00'", "cells: the place "),
    ("UPDATE cells SET item = x'00'", "cells: the place "),
    ("UPDATE owners SET pid = 'x'", "owners: process 'x'"),
    ("UPDATE owners SET pid = 4611686018427387904", "owners: process 4611"),
    ("UPDATE owners SET beat = 'x'", "owners: process")])
def test_invalid_rows_of_stores_are_damage(tmp_path, statement, words):
    path = str(tmp_path / "scores")
    store = StoreFile(path, NAMES, False)
    store.update({("a", 1): 0.5})
    store.claim([("b", 1)])
    with closing(sqlite3.connect(path)) as db, db:
        assert db.execute(statement).rowcount
    other = StoreFile(path, NAMES, False)
    with pytest.raises(StudyDamagedError, match=words) as raised:
        list(other)
        other.get(("a", 1))
        other.claim([("b", 1)])
    assert path in str(raised.value)
    other.close()
    store.close()


@pytest.mark.parametrize("size", [1.7976931348623157e308, -1e160])
def test_results_whose_squares_overflow_are_rejected(size, tmp_path):
    """Perhaps a plate reader's value for "too bright": two per arm made the study unreadable."""
    with pb.Study.create(tmp_path / "study.db", pb.policies.Uniform(2, budget=8)) as study:
        batch = study.ask()
        with pytest.raises(ValueError, match=r"must have magnitude at most 1e\+150.* well 0"):
            study.tell(batch.id, np.full(8, size))
        study.tell(batch.id, np.full(7, 0.5), positions=np.arange(7))
        with pytest.raises(ValueError, match="at most"):
            study.tell(batch.id, [size], positions=[7])
        with pytest.raises(ValueError, match="at most"):
            study.amend(batch.id, [size], positions=[3], reason="too bright")
        study.tell(batch.id, [1e150], positions=[7])
    with pb.Study.open(tmp_path / "study.db") as study:
        assert study.status().done and study.verify().n_pulls == 8
