"""Files that are damaged, of another kind, full or read-only: named in errors, and unchanged."""

import os
import pathlib
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

import pybandit as pb
from pybandit.errors import StudyDamagedError, StudyError, StudyVersionError
from pybandit.studies import Study
from pybandit.studies._codec import decode, encode
from pybandit.webtests import WebTest

from policies.protocol import frozen
from studies.cases import make, measured


def changed(path, statement, *values):
    with closing(sqlite3.connect(path)) as db, db:
        assert db.execute(statement, values).rowcount != 0


def assert_refused(path, words, error=StudyDamagedError):
    """Assert that opening or verifying raises an error with these words."""
    with pytest.raises(error, match=words) as raised:
        with Study.open(path) as study:
            study.verify()
    assert path in str(raised.value)


def test_copy_of_a_file_passes_verify(path):
    with Study.open(path) as study:
        assert study.verify().n_events == 16 and study.status().n_late == 2


FLIPPED = "UPDATE {table} SET {column} = CAST(X'00' || substr({column}, 2) AS BLOB) WHERE {which}"


@pytest.mark.parametrize("table, column, which, words", [
    ("log", "body", "number = 0", "log: event 0 "), ("log", "body", "number = 7", "log: event 7 "),
    ("log", "digest", "number = 3", "log: event 3 "), ("log", "digest", "number = 15", "log"),
    ("head", "digest", "1", "head"), ("head", "state", "1", "state"),
    ("state", "body", "part = 'sums'", "state"), ("state", "body", "part = 'type'", "state"),
    ("batches", "arms", "number = 1", "batches: batch 1"),
    ("batches", "results", "number = 4", "batches: batch 4"),
    ("batches", "marks", "number = 0", "batches: batch 0"),
    ("late", "arms", "1", "late"), ("late", "results", "1", "late")])
def test_flipped_bytes_in_each_table_are_detected(path, table, column, which, words):
    changed(path, FLIPPED.format(table=table, column=column, which=which))
    assert_refused(path, words)


@pytest.mark.parametrize("statement, words", [
    ("UPDATE log SET who = 'someone' WHERE number = 5", "log: event 5 "),
    ("UPDATE log SET time = time + 1 WHERE number = 5", "log: event 5 "),
    ("UPDATE log SET kind = 'abandon' WHERE number = 3", "log: event 3 "),
    ("DELETE FROM log WHERE number = 5", "log: event 5 is missing"),
    ("DELETE FROM log WHERE number = 0", "log: event 0 is missing"),
    ("DELETE FROM log WHERE number = 15", "log or head: .* event 15"),
    ("DELETE FROM log", "log: event 0 is missing"), ("DELETE FROM head", "head is empty"),
    ("UPDATE head SET n_events = 15", "log or head"), ("UPDATE head SET asked = 0", "head"),
    ("UPDATE head SET n_batches = 4", "head"),
    ("DELETE FROM state WHERE part = 'sums'", "state"), ("DELETE FROM late", "late"),
    ("DELETE FROM batches WHERE number = 2", "batches: there are 4, not 5"),
    ("UPDATE batches SET status = 'complete' WHERE number = 2", "batches: batch 2"),
    ("DROP TABLE late", "its table late is missing"), ("DROP TABLE head", "its table head")])
def test_changed_rows_are_detected(path, statement, words):
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement)
    assert_refused(path, words)


def test_state_with_right_digest_that_contradicts_log_is_detected(path):
    """The digest is recomputed, as a forger would do."""
    import hashlib

    with closing(sqlite3.connect(path)) as db, db:
        ((body,),) = db.execute("SELECT body FROM state WHERE part = 'sums'")
        sums = decode(body)
        sums[sums != 0] += 1.0  # arms that were pulled
        db.execute("UPDATE state SET body = ? WHERE part = 'sums'", (encode(sums),))
        parts = {part: hashlib.sha256(body).digest()
                 for part, body in db.execute("SELECT part, body FROM state")}
        db.execute("UPDATE head SET state = ?", (hashlib.sha256(encode(parts)).digest(),))
    assert_refused(path, "state: sums does not follow from the log")


@pytest.mark.parametrize("form", [0, 2, 4])
def test_error_about_other_format_names_both_versions(form, path):
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {form}")
    assert_refused(path, f"format {form}; this pybandit reads format 1", StudyVersionError)


@pytest.mark.parametrize("content", [b"", b"plate,well\n" * 1000, b"SQLite format 3\0" * 500])
def test_other_files_are_rejected(tmp_path, content):
    path = tmp_path / "study.db"
    path.write_bytes(content)
    assert_refused(str(path), "not a study|damaged")
    assert path.read_bytes() == content
    with pytest.raises(FileExistsError):
        Study.create(path, pb.policies.Uniform(2, budget=4))


def test_other_databases_are_rejected(tmp_path):
    path = str(tmp_path / "other.db")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE log (number)")
    assert_refused(path, "is not a study, but another SQLite database")


def test_truncated_files_are_rejected(path):
    size = os.path.getsize(path)
    for left in range(size - 1, 0, -size // 15):
        os.truncate(path, left)
        assert_refused(path, "truncated|damaged|not a study")


def test_flipped_bytes_anywhere_are_detected_or_harmless(path):
    """Each flip is detected, or is in no part of the study."""
    with open(path, "rb") as file:
        content = file.read()
    with Study.open(path) as study:
        before = study.status().head, frozen(study.policy.get_state())
    rng, n_found = np.random.default_rng(1), 0
    for at in rng.integers(0, len(content), 60):
        bad = bytearray(content)
        bad[at] ^= int(rng.integers(1, 256))
        with open(path, "wb") as file:
            file.write(bad)
        try:
            with Study.open(path) as study:
                study.verify()
                assert (study.status().head, frozen(study.policy.get_state())) == before
        except StudyError:
            n_found += 1
    assert n_found > 10


def test_log_of_another_study_is_not_used(tmp_path):
    path = str(tmp_path / "study.db")
    with make(path):
        shutil.copy(path + "-wal", tmp_path / "kept")
    os.unlink(path)
    shutil.copy(tmp_path / "kept", path + "-wal")
    with pytest.raises(FileExistsError, match="study.db-wal exists"):
        Study.create(path, pb.policies.Uniform(2, budget=4))
    with Study.create(path, pb.policies.Uniform(2, budget=4), overwrite=True) as study:
        assert study.verify().n_events == 1


def is_restored(path):
    os.replace(path + ".backup", path)


def is_begun_anew(path):
    Study.create(path, pb.policies.Uniform(2, budget=4), overwrite=True).close()


@pytest.mark.parametrize("happens", [os.unlink, is_restored, is_begun_anew,
                                     lambda path: os.rename(path, path + ".moved")])
def test_replaced_file_is_detected(happens, tmp_path, monkeypatch):
    """Otherwise records would go to a file without a name, and would be acknowledged."""
    monkeypatch.chdir(tmp_path)
    study = WebTest.create("study.db", pb.CountRace(2), ["a", "b"])
    monkeypatch.chdir("/")  # relative to the folder in which it was opened
    path = str(tmp_path / "study.db")
    study.tell_counts({"a": (9, 1), "b": (9, 2)}, key="monday")
    shutil.copy(path, path + ".backup")
    happens(path)
    for act in (lambda: study.tell_counts({"a": (9, 1), "b": (9, 2)}, key="tuesday"),
                study.status):
        with pytest.raises(StudyError, match="study.db was moved, removed or replaced while"):
            act()
    study.close()


def test_read_only_connection_does_not_record(path):
    """SQLite reports that the file cannot be written; the study does not change."""
    study = Study.open(path)
    before, head = frozen(study.policy.get_state()), study.status().head
    study._store.db.execute("PRAGMA query_only = ON")
    for act in (lambda: study.tell(4, measured(4, np.zeros(8))[:1] * 0 + 0.5, positions=[5]),
                lambda: study.close_batch(4), lambda: study.abandon(4, discard=True)):
        with pytest.raises(StudyError, match="cannot be written and is unchanged"):
            act()
        assert (frozen(study.policy.get_state()), study.status().head) == (before, head)
    assert study.ask().id == 4
    study._store.db.execute("PRAGMA query_only = OFF")
    study.close_batch(4)
    study.verify()
    study.close()


READ_ONLY = """
import sys
from pybandit.studies import Study
from pybandit.webtests import WebTest
from pybandit.errors import StudyError
study = Study.open(sys.argv[1])
study.verify()
assert study.ask().id == 4 and len(study.history()["arm"]) == 40
try:
    study.close_batch(4)
except StudyError as error:
    print(error)
"""


def mounted_read_only(folder):
    """Return arguments that run a program with this folder read-only, or None."""
    if not shutil.which("unshare"):
        return None
    begin = ["unshare", "--mount", "sh", "-c",
             f'mount --bind "{folder}" "{folder}" && mount -o remount,ro,bind "{folder}" && '
             '"$@"', "sh"]
    return begin if subprocess.run([*begin, "true"], capture_output=True).returncode == 0 else None


def test_study_in_read_only_folder_is_readable(path, tmp_path):
    """A study there can be read, not written."""
    begin = mounted_read_only(tmp_path)
    if begin is None:
        if os.geteuid() == 0:
            pytest.skip("root is refused nothing here, and may not mount")
        os.chmod(path, 0o400)
        os.chmod(tmp_path, 0o500)
        begin = []
    done = subprocess.run([*begin, sys.executable, "-c", READ_ONLY, path], capture_output=True,
                          text=True)
    os.chmod(tmp_path, 0o700)
    assert done.returncode == 0, done.stderr
    assert f"{path} cannot be written" in done.stdout
    with Study.open(path) as study:
        assert study.verify().n_events == 16


FULL = """
import sys
from pybandit.studies import Study
from pybandit.webtests import WebTest
from pybandit.errors import StudyError
from studies import cases, test_damage
study = Study.open(sys.argv[1])
head = study.status().head
test_damage.fill_disk(int(sys.argv[2]))
try:
    while True:
        batch = study.ask()
        head = study.status().head
        rewards = cases.measured(batch.id, batch.arms)
        study.tell(batch.id, rewards[2:], positions=range(2, 8))
        head = study.status().head
        study.close_batch(batch.id)
        head = study.status().head
except StudyError as error:
    print(error)
    print(head, study.status().head)
    study.verify(head)
"""


def run_beside(code, *given):
    """Run a program in another process, which may import the tests."""
    path = os.pathsep.join([str(pathlib.Path(__file__).parents[1]), *sys.path])
    done = subprocess.run([sys.executable, "-c", code, *given], text=True, capture_output=True,
                          env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    return done


def fill_disk(most):
    """Limit the size of files, as if the disk were full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


@pytest.mark.some(2)
@pytest.mark.parametrize("room", [0, 2_000, 5_000, 40_000])
def test_full_disk_loses_no_acknowledged_result(path, room):
    """The disk fills up at various points, in the log or the file; later the study continues."""
    with Study.open(path) as study:
        n_known = int(np.isfinite(np.asarray(study.history()["value"])).sum())
    done = run_beside(FULL, path, str(room))
    said, heads = done.stdout.splitlines()
    assert f"{path} could not be written and is unchanged; the disk may be full" in said
    before, after = heads.split()
    assert before == after
    with Study.open(path) as study:
        study.verify(after)
        assert study.status().head == after
        assert np.isfinite(np.asarray(study.history()["value"])).sum() >= n_known
        batch = study.ask()
        study.close_batch(batch.id)
        study.verify()


def test_full_disk_leaves_no_partial_new_study(tmp_path):
    """No file is left."""
    path = str(tmp_path / "study.db")
    code = ("import sys, pybandit as pb\n"
            "from studies import test_damage\n"
            "test_damage.fill_disk(3000)\n"
            "try: pb.Study.create(sys.argv[1], pb.policies.Uniform(50, budget=100))\n"
            "except pb.errors.StudyError as error: print(error)\n")
    done = run_beside(code, path)
    assert "could not be written and is unchanged" in done.stdout
    assert os.listdir(tmp_path) == []
