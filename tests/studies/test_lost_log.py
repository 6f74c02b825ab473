"""A file without its log is rejected if, and only if, the log has changes that the file lacks."""

import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress

import numpy as np
import pytest

import pybandit as pb
from pybandit._shared import database as _database
from pybandit.errors import StudyDamagedError
from pybandit.evaluation._store_file import StoreFile
from pybandit.evaluation._store_names import Names
from pybandit.studies import Study

from studies.cases import make, measured

LOST = "lacks its newest changes.*study.db-wal, which must be next to it"

KILLED = """
import os, signal, sys
import pybandit as pb
from studies.cases import measured
path, n_batches, log_bytes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
from pybandit._shared import database
database.LOG_BYTES = log_bytes
study = pb.Study.create(path, pb.policies.BatchSAR(30, 3, batch_size=8, max_batches=60,
                                                     max_repeats=2))
for _ in range(n_batches):
    batch = study.ask()
    study.tell(batch.id, measured(batch.id, batch.arms))
print(study.status().n_pulls, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(path, n_batches, log_bytes=1 << 22):
    """Return the number of pulls of a study whose process was killed."""
    where = os.pathsep.join([str(pathlib.Path(__file__).parents[1]), *sys.path])
    done = subprocess.run([sys.executable, "-c", KILLED, path, str(n_batches), str(log_bytes)],
                          env={**os.environ, "PYTHONPATH": where}, text=True, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize("n_batches, log_bytes", [(1, 1 << 22), (20, 1 << 22), (20, 100_000)])
def test_study_moved_without_its_log_is_refused(n_batches, log_bytes, tmp_path):
    """Even if the log was moved into the file several times before."""
    path, moved = str(tmp_path / "study.db"), str(tmp_path / "moved" / "study.db")
    n_pulls = killed(path, n_batches, log_bytes)
    os.mkdir(tmp_path / "moved")
    shutil.move(path, moved)
    content = pathlib.Path(moved).read_bytes()
    for _ in range(2):
        with pytest.raises(StudyDamagedError, match=LOST):
            Study.open(moved)
    assert pathlib.Path(moved).read_bytes() == content and os.listdir(tmp_path / "moved") == [
        "study.db"]
    shutil.move(path + "-wal", moved + "-wal")
    for _ in range(2):
        with Study.open(moved) as study:
            study.verify()
            assert study.status().n_pulls == n_pulls == 8 * n_batches


@pytest.mark.parametrize("left", [0, 10, 32, 4000])
def test_log_without_a_page_is_a_lost_log(left, tmp_path):
    path = str(tmp_path / "study.db")
    killed(path, 3)
    os.truncate(path + "-wal", left)
    os.unlink(path + "-shm")
    with pytest.raises(StudyDamagedError, match=LOST):
        Study.open(path)


def test_study_continues_without_a_lost_log_on_request(tmp_path):
    path = str(tmp_path / "study.db")
    killed(path, 20, 100_000)
    os.unlink(path + "-wal")
    with Study.open(path, without_log=True) as study:
        study.verify()
        n_pulls = study.status().n_pulls
        assert 0 < n_pulls < 160
    with Study.open(path) as study:
        batch = study.ask()
        study.tell(batch.id, measured(batch.id, batch.arms))
    with Study.open(path) as study:
        assert study.status().n_pulls > n_pulls


def test_copy_of_a_study_in_use_is_refused_without_its_log(tmp_path):
    path, copy = str(tmp_path / "study.db"), str(tmp_path / "copy" / "study.db")
    os.mkdir(tmp_path / "copy")
    with make(path) as study:
        shutil.copy(path, copy)
        shutil.copy(path, tmp_path / "both.db")
        shutil.copy(path + "-wal", tmp_path / "both.db-wal")
        head = study.status().head
    with pytest.raises(StudyDamagedError, match=LOST):
        Study.open(copy)
    with Study.open(tmp_path / "both.db") as study:
        assert study.verify(head).head == head


ENDS = {
    "closed": "study.close()",
    "not closed": "",
    "raised": "raise SystemExit(3)",
    "collected": "del study, batch; import gc; gc.collect()",
    "only asked": "study.close(); study = pb.Study.open(path); study.ask(); study.ask()",
    "only read": "study.close(); study = pb.Study.open(path); study.status(); study.verify()",
    "refused": """
study.close()
study = pb.Study.open(path)
try:
    study.tell(0, [float('inf')])
except ValueError:
    pass
""",
    "forked": """
if os.fork() == 0:
    os._exit(0)
os.wait()
""",
}


@pytest.mark.parametrize("end", ENDS)
def test_study_of_a_process_that_ended_is_complete(end, tmp_path):
    """However the process ended, unless it was killed."""
    path = str(tmp_path / "study.db")
    code = f"""
import os, sys
import pybandit as pb
path = {path!r}
study = pb.Study.create(path, pb.policies.Uniform(3, budget=30))
batch = study.ask()
{ENDS[end]}
"""
    subprocess.run([sys.executable, "-c", code], check=end != "raised")
    assert os.listdir(tmp_path) == ["study.db"]
    with Study.open(path) as study:
        assert study.verify().n_events == 2


def test_two_users_of_a_study_lose_no_log(tmp_path):
    path = str(tmp_path / "study.db")
    make(path).close()
    first, second = Study.open(path), Study.open(path)
    for study in (first, second):
        study.close_batch(study.ask().id)
        with pytest.raises(StudyDamagedError, match=LOST):
            Study.open(shutil.copy(path, tmp_path / "copy" / "study.db")
                       if (tmp_path / "copy").mkdir(exist_ok=True) is None else path)
    first.close()
    second.close_batch(second.ask().id)
    with pytest.raises(StudyDamagedError, match=LOST):
        Study.open(shutil.copy(path, tmp_path / "copy" / "study.db"))
    second.close()
    with Study.open(shutil.copy(path, tmp_path / "copy" / "study.db")) as study:
        study.verify()


def test_mark_delayed_by_readers_is_set_with_the_next_transaction(tmp_path, monkeypatch):
    monkeypatch.setattr(_database, "MARK_PATIENCE", 0.01)
    path, copy = str(tmp_path / "study.db"), tmp_path / "copy"
    copy.mkdir()
    make(path).close()
    with Study.open(path) as study, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM log").fetchone()
        study.close_batch(4)
        other.execute("ROLLBACK")
        batch = study.ask()
        with pytest.raises(StudyDamagedError, match=LOST):
            Study.open(shutil.copy(path, copy / "study.db"))
        study.close_batch(batch.id)
    with Study.open(path) as study:
        assert study.verify().n_events == 19


def test_log_of_a_long_run_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(_database, "LOG_BYTES", 200_000)
    path = str(tmp_path / "study.db")
    with Study.create(path, pb.policies.BatchSAR(200, 3, batch_size=40, max_batches=60,
                                                 max_repeats=2)) as study:
        largest = 0
        for _ in range(40):
            batch = study.ask()
            study.tell(batch.id, np.zeros(batch.arms.size))
            largest = max(largest, os.path.getsize(path + "-wal"))
    assert 200_000 < largest < 400_000


def test_store_moved_without_its_log_warns(tmp_path):
    path = str(tmp_path / "evals.db")
    cells = StoreFile(path, Names("a", None, 9), False)
    cells["a", 1] = 0.5
    os.mkdir(tmp_path / "copy")
    shutil.copy(path, tmp_path / "copy" / "evals.db")
    lacks = pytest.warns(pb.errors.PybanditWarning, match="lacks the scores of .*evals.db-wal")
    with lacks, closing(
            StoreFile(tmp_path / "copy" / "evals.db", Names("a", None, 9), False)) as copied:
        assert not dict(copied)
    with closing(StoreFile(tmp_path / "copy" / "evals.db", Names("a", None, 9), False)):
        pass  # warns once
    cells.close()
    shutil.copy(path, tmp_path / "copy" / "evals.db")
    with closing(StoreFile(tmp_path / "copy" / "evals.db", Names("a", None, 9), False)) as copied:
        assert dict(copied) == {("a", 1): 0.5}


@pytest.mark.parametrize("stops_at", ["UPDATE writes SET is_next = 1",
                                      "PRAGMA wal_checkpoint(FULL)", "BEGIN IMMEDIATE", "COMMIT",
                                      "UPDATE writes SET is_next = 0 WHERE is_next"])
def test_interrupted_mark_leaves_a_study_that_opens(stops_at, tmp_path, monkeypatch):
    """Ctrl-C at every statement of the transaction that begins a log."""
    path = str(tmp_path / "study.db")
    make(path).close()
    study = Study.open(path)

    class Interrupted:
        def __init__(self, db):
            self.db, self.n = db, 0

        def execute(self, statement, *values):
            result = self.db.execute(statement, *values)
            if statement == stops_at and not self.n:
                self.n, result = 1, None  # a traceback would keep the statement open
                raise KeyboardInterrupt
            return result

        def __getattr__(self, name):
            return getattr(self.db, name)

    study._store.database.db = Interrupted(study._store.db)
    with suppress(KeyboardInterrupt):
        study.close_batch(4)
    assert study._store.database.db.n == 1
    study.close()
    with Study.open(path) as study:
        study.verify()
