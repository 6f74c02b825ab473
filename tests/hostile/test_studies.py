"""Hostile studies and stores, SQLite, and hostile files next to them."""

import os
import shutil
import socket
import sqlite3
import struct
from contextlib import closing, suppress
from pathlib import Path

import pytest

from fuzz.databases import signed_again
from pybandit.evaluation._store_file import StoreFile
from pybandit.evaluation._store_names import Names
from pybandit.studies._codec import decode, encode

from hostile.driver import attack
from hostile.endless import make_endless
from hostile.journals import journal
from studies.cases import make


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A study and a store, closed."""
    folder = tmp_path_factory.mktemp("whole")
    make(str(folder / "study.db")).close()
    with closing(StoreFile(folder / "store.db", Names("012", None, 9), False)) as cells:
        cells.update({(model, item): 0.5 for model in "012" for item in range(9)})
    return folder


def test_played_journal_deletes_a_file(whole, tmp_path):
    """The attack is real: SQLite deletes `victim` if another program opens such a study."""
    victim = tmp_path / "thesis.txt"
    victim.write_text("years of work")
    path = shutil.copy(whole / "study.db", tmp_path / "study.db")
    Path(f"{path}-journal").write_bytes(journal(victim))
    with closing(sqlite3.connect(path)) as db, suppress(sqlite3.Error):
        db.execute("SELECT * FROM log").fetchall()
    assert not victim.exists()


def neighbour(side, make_it):
    """Return a function that puts a file next to the study."""
    return lambda path, victim: make_it(path + side, victim)


NEIGHBOURS = {
    "super-journal": neighbour("-journal", lambda at, victim: Path(at).write_bytes(
        journal(victim))),
    "empty journal": neighbour("-journal", lambda at, _: Path(at).touch()),
    "linked journal": neighbour("-journal", lambda at, victim: os.symlink(victim, at)),
    "dangling journal": neighbour("-journal", lambda at, _: os.symlink("/nowhere/at/all", at)),
    "journal that is a folder": neighbour("-journal", lambda at, _: os.mkdir(at)),
    "linked log": neighbour("-wal", lambda at, victim: os.symlink(victim, at)),
    "log of two names": neighbour("-wal", lambda at, victim: os.link(victim, at)),
    "log that is a pipe": neighbour("-wal", lambda at, _: os.mkfifo(at)),
    "log that is a folder": neighbour("-wal", lambda at, _: os.mkdir(at)),
    "linked index": neighbour("-shm", lambda at, victim: os.symlink(victim, at)),
    "index of two names": neighbour("-shm", lambda at, victim: os.link(victim, at)),
    "index that is a pipe": neighbour("-shm", lambda at, _: os.mkfifo(at)),
}


@pytest.mark.parametrize("kind", ["study", "store"])
@pytest.mark.parametrize("name", ["plain", "linked"])
def test_neighbours_are_refused(kind, name, whole, tmp_path):
    """No file next to a study makes SQLite write, delete or wait; also through a link."""
    paths = []
    for number, put in enumerate(NEIGHBOURS.values()):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        victim = folder / "thesis.txt"
        victim.write_text("years of work")
        path = shutil.copy(whole / f"{kind}.db", folder / f"{number}.db")
        put(str(path), str(victim))
        if name == "linked":
            os.symlink(path, folder / f"link-{number}.db")
            path = folder / f"link-{number}.db"
        paths.append(path)
    outcomes = attack(tmp_path, f"hostile.databases:{kind}", paths)
    for path in paths:
        outcomes[Path(path).name].refused("StudyDamagedError", "cannot be opened next to")


def test_journal_next_to_a_new_store_or_study_is_refused(tmp_path):
    """SQLite would apply the journal to the new file."""
    victim = tmp_path / "thesis.txt"
    victim.write_text("years of work")
    Path(f"{tmp_path / 'new.db'}-journal").write_bytes(journal(victim))
    Path(f"{tmp_path / 'empty.db'}-journal").write_bytes(journal(victim))
    (tmp_path / "empty.db").touch()
    outcomes = attack(tmp_path, "hostile.databases:store",
                      [tmp_path / "new.db", tmp_path / "empty.db"])
    outcomes["new.db"].refused("FileExistsError", "-journal exists")
    outcomes["empty.db"].refused("StudyDamagedError", "cannot be opened next to")


def pipe(path):
    os.unlink(path)
    os.mkfifo(path)


def bound_socket(path):
    os.unlink(path)
    with closing(socket.socket(socket.AF_UNIX)) as unix_socket:
        unix_socket.bind(os.path.relpath(path))  # absolute names may be too long


def device(path):
    os.unlink(path)
    os.symlink("/dev/zero", path)


def loop(path):
    os.unlink(path)
    os.symlink(path, path)


def folder(path):
    os.unlink(path)
    os.mkdir(path)


def garbage(path):
    Path(path).write_bytes(bytes(range(256)) * 256)


def statements(*texts):
    def change(path):
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            for text in texts:
                db.execute(text)

    return change


def header(at, content):
    def change(path):
        with open(path, "r+b") as file:
            file.seek(at)
            file.write(content)

    return change


def sparse(path):
    """Make a sparse file of 256 GiB whose header states that size."""
    header(28, struct.pack(">I", 1 << 26))(path)
    os.truncate(path, 1 << 38)


ENDLESS_VIEW = ("CREATE VIEW v AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x FROM r) "
                "SELECT x FROM r")


def refused_of(table):
    """Changes of a database after which it is refused."""
    return {
        **{change.__name__: change for change in (pipe, bound_socket, device, loop, folder,
                                                  garbage)},
        "endless view": statements(ENDLESS_VIEW),
        "endless table": statements(f"ALTER TABLE {table} RENAME TO v",
                                    ENDLESS_VIEW.replace("VIEW v", f"VIEW {table}")),
        "trigger": statements(f"CREATE TRIGGER t AFTER INSERT ON {table} BEGIN DELETE FROM "
                              f"{table}; END"),
        "generated column": statements(
            f"ALTER TABLE {table} ADD COLUMN z AS (length(zeroblob(500000000)))"),
        "expression index": statements(f"CREATE INDEX i ON {table} (abs(number))".replace(
            "number", "item" if table == "cells" else "number")),
        "full-text table": statements("CREATE VIRTUAL TABLE v USING fts5(x)"),
        "not WAL": statements("PRAGMA journal_mode = DELETE"),
        "no table": statements("DROP TABLE writes"),
        "empty table": statements("DELETE FROM writes"),
        "page size": header(16, struct.pack(">H", 3)),
        "schema format": header(44, struct.pack(">I", 99)),
        "other application": header(68, b"nope"),
    }


def test_damaged_and_forged_databases_are_refused(whole, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind, table in (("study", "log"), ("store", "cells")):
        paths = []
        (tmp_path / kind).mkdir()
        for name, change in refused_of(table).items():
            paths.append(shutil.copy(whole / f"{kind}.db", tmp_path / kind / f"{name}.db"))
            change(str(paths[-1]))
        outcomes = attack(tmp_path / kind, f"hostile.databases:{kind}", paths)
        for path in paths:
            outcomes[path.name].refused("StudyError")


def test_sparse_database_is_refused(whole, tmp_path):
    sparse(shutil.copy(whole / "study.db", tmp_path / "sparse.db"))
    outcomes = attack(tmp_path, "hostile.databases:study", [tmp_path / "sparse.db"])
    outcomes["sparse.db"].refused("StudyDamagedError", "is never used")


def test_unusual_valid_databases_are_read(whole, tmp_path):
    """Users may add tables to a study; time and memory stay within the limits."""
    unusual = {"tables": statements("BEGIN", *(f"CREATE TABLE t{i} (x)" for i in range(5_000)),
                                    "COMMIT"),
               "cache": header(48, struct.pack(">i", -2**31))}
    for name, change in unusual.items():
        change(str(shutil.copy(whole / "study.db", tmp_path / f"{name}.db")))
    outcomes = attack(tmp_path, "hostile.databases:study",
                      [tmp_path / f"{name}.db" for name in unusual])
    for name in unusual:
        outcomes[f"{name}.db"].read()


@pytest.mark.parametrize("kind, tables", [
    ("study", ["log", "head", "state", "batches", "late", "writes"]),
    ("store", ["cells", "claims", "owners", "about"])])
def test_endless_tables_are_refused(kind, tables, whole, tmp_path):
    for table in tables:
        make_endless(shutil.copy(whole / f"{kind}.db", tmp_path / f"{table}.db"), table)
    names = [f"{table}.db" for table in tables]
    outcomes = attack(tmp_path, f"hostile.databases:{kind}", [tmp_path / name for name in names],
                      may_change=names)
    for name in names:
        if name == "about.db":  # a store reads the first rows of this table
            outcomes[name].read()
        else:
            outcomes[name].refused("StudyError")


def forged(path, number, **entries):
    """Change what an event says and sign the log again."""
    with closing(sqlite3.connect(path)) as db, db:
        (body,), = db.execute("SELECT body FROM log WHERE number = ?", (number,))
        db.execute("UPDATE log SET body = ? WHERE number = ?",
                   (encode(decode(body) | entries), number))
    signed_again(path)


NAMES = {"module": ("main", "pybandit.__main__"), "own": ("run", "sys"), "long": ("x" * 10_000,),
         "dotted": ("a." * 10_000,), "base": ("Policy",), "private": ("NativePolicy",),
         "attribute": ("__name__",), "empty": ("",), "race": ("RacePolicy",),
         "allocator": ("EstimatorAllocator", "pybandit.montecarlo.allocation")}


def test_names_in_a_study_import_nothing(whole, tmp_path):
    """The name of a policy selects one of pybandit; names of modules are ignored."""
    for name, entries in NAMES.items():
        forged(shutil.copy(whole / "study.db", tmp_path / f"{name}.db"), 0,
               **dict(zip(("policy", "module"), entries, strict=False)))
    outcomes = attack(tmp_path, "hostile.databases:study",
                      [tmp_path / f"{name}.db" for name in NAMES])
    for name in NAMES:
        outcome = outcomes[f"{name}.db"]
        assert set(outcome.errors) & {"StudyDamagedError",
                                      "ValueError"} and len(outcome.text) < 400, (
            outcome)


BODIES = {
    "deep": b"".join([b"L" + struct.pack("<Q", 1)] * 100_000) + b"N",
    "many": b"L" + struct.pack("<Q", 2**62) + b"N" * 1000,
    "long": b"s" + struct.pack("<Q", 2**62), "large": b"I" + struct.pack("<Q", 2**40),
    "wide": b"af\x20" + struct.pack("<Q", 0) + struct.pack("<Q", 2**62) * 31,
    "axes": b"af\xff" + struct.pack("<Q", 1) * 255 + bytes(8),
    "flat": b"af\x02" + struct.pack("<QQ", 2**63, 0),
    "digits": b"I" + struct.pack("<Q", 500_000) + b"\x7f" * 500_000,
    "text": b"s" + struct.pack("<Q", 1) + b"\xff", "nothing": b"",
    "unordered": b"D" + struct.pack("<Q", 2) + 2 * (b"s" + struct.pack("<Q", 1) + b"aN"),
}


@pytest.mark.parametrize("number", [0, 1])
def test_forged_event_bodies_are_refused(number, whole, tmp_path):
    for name, body in BODIES.items():
        path = shutil.copy(whole / "study.db", tmp_path / f"{name}.db")
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE log SET body = ? WHERE number = ?", (body, number))
        signed_again(path)
    outcomes = attack(tmp_path, "hostile.databases:study",
                      [tmp_path / f"{name}.db" for name in BODIES])
    for name in BODIES:
        outcomes[f"{name}.db"].refused("StudyDamagedError")


LOGS = {"garbage": bytes(range(256)) * 64, "zeros": bytes(1 << 16), "short": b"\x37\x7f\x06\x82",
        "header": bytes.fromhex("377f0682002de218") + bytes(5000),
        "size": bytes.fromhex("377f0682002de218") + struct.pack(">6I", 3, 0, 0, 0, 0, 0)}


def test_garbage_logs_are_ignored(whole, tmp_path):
    """SQLite ignores a log that it did not write, and without a mark nothing is missing."""
    for name, content in LOGS.items():
        path = shutil.copy(whole / "study.db", tmp_path / f"{name}.db")
        Path(f"{path}-wal").write_bytes(content)
    names = [f"{name}.db" for name in LOGS]
    outcomes = attack(tmp_path, "hostile.databases:study", [tmp_path / name for name in names],
                      may_change=[name + side for name in names for side in ("", "-wal", "-shm")])
    for name in names:
        outcomes[name].read()
