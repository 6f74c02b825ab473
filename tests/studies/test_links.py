"""Studies and stores under several names: links, and clocks that are wrong."""

import os
import sqlite3
import time
from contextlib import closing

import pytest

import pybandit as pb
from pybandit._shared import database as _database
from pybandit.errors import StudyError
from pybandit.evaluation._store_file import StoreFile
from pybandit.evaluation._store_names import Names
from pybandit.studies import Study

from studies.cases import make, measured


@pytest.mark.parametrize("target", ["study.db", "../study.db", "folder"])
def test_study_in_use_opens_through_a_link(target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkdir("other")
    if target == "folder":
        os.symlink(tmp_path, "other/link")
        link = "other/link/study.db"
    else:
        link = "link.db" if target == "study.db" else "other/link.db"
        os.symlink(target, link)
    with make("study.db") as study, Study.open(link) as linked:
        assert linked.path == link and linked.status().n_pulls == study.status().n_pulls
        linked.close_batch(4)
        batch = study.ask()
        study.tell(batch.id, measured(batch.id, batch.arms))
        assert linked.verify() == study.verify()
    assert not os.path.lexists(link + "-wal")


def test_linked_study_that_cannot_be_written_is_not_read_without_its_log(tmp_path, monkeypatch):
    """Its newest changes are in a log that cannot be read without write access."""
    path, link = str(tmp_path / "study.db"), str(tmp_path / "link.db")
    os.symlink(path, link)
    with make(path):
        monkeypatch.setattr(_database.Database, "_guard", refuse_writing)
        with pytest.raises(StudyError, match="cannot be read without write access"):
            Study.open(link)


def refuse_writing(self):
    if not self.read_only:
        error = sqlite3.OperationalError("attempt to write a readonly database")
        error.sqlite_errorcode = sqlite3.SQLITE_READONLY
        raise error


def test_file_of_two_names_is_refused(tmp_path):
    """Each name would have its own log, and each process would see only one of them."""
    path, other = str(tmp_path / "study.db"), str(tmp_path / "other.db")
    make(path).close()
    os.link(path, other)
    for name in (path, other):
        with pytest.raises(StudyError, match="has 2 names .hard links."):
            Study.open(name)
    os.unlink(path)
    Study.open(other).close()


def test_new_study_is_made_where_a_link_points(tmp_path):
    path, link = str(tmp_path / "study.db"), str(tmp_path / "link.db")
    os.symlink(path, link)
    Study.create(link, pb.policies.Uniform(2, budget=4)).close()
    assert os.path.islink(link) and not os.path.islink(path)
    with pytest.raises(FileExistsError, match="study.db exists"):
        Study.create(link, pb.policies.Uniform(2, budget=4))
    Study.create(link, pb.policies.Uniform(3, budget=6), overwrite=True).close()
    assert os.path.islink(link)
    with Study.open(path) as study:
        assert study.policy.n_arms == 3


def test_store_through_a_link_is_the_store(tmp_path):
    path, link = tmp_path / "evals.db", tmp_path / "link.db"
    os.symlink(path, link)
    names = Names("a", None, 9)
    with closing(StoreFile(link, names, False)) as linked, \
            closing(StoreFile(path, names, False)) as cells:
        linked["a", 1] = 0.5
        cells["a", 2] = 0.25
        assert dict(linked) == dict(cells) == {("a", 1): 0.5, ("a", 2): 0.25}
    assert sorted(os.listdir(tmp_path)) == ["evals.db", "link.db"]


@pytest.mark.parametrize("now", [2.6e11, 1e300, float("inf"), -7e10, float("nan")])
def test_clock_out_of_range_records_nothing(now, tmp_path, monkeypatch):
    path = str(tmp_path / "study.db")
    with make(path) as study:
        head = study.status().head
        with monkeypatch.context() as patch:
            patch.setattr(time, "time", lambda: now)
            for change in (lambda: study.close_batch(4),
                           lambda: study.amend(0, [0.5], positions=[0], reason="a typo"),
                           lambda: Study.create(tmp_path / "new.db",
                                                pb.policies.Uniform(2, budget=4))):
                with pytest.raises(StudyError, match="the clock of this machine must be between"):
                    change()
        assert study.status().head == head
        study.close_batch(4)
        study.verify()
    assert os.listdir(tmp_path) == ["study.db"]


@pytest.mark.parametrize("now", [2.4e11, -5e10, 0.0])
def test_clock_in_range_records_what_verify_accepts(now, tmp_path, monkeypatch):
    path = str(tmp_path / "study.db")
    monkeypatch.setattr(time, "time", lambda: now)
    with make(path) as study:
        study.verify()
        study.history()
