"""Files next to a study, and names in a study, do not make it delete, run or import anything."""

import functools
import os
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pybandit as pb
from fuzz.databases import plain_study, scores_file, signed_again, study_file
from fuzz.files import damaged, folder
from fuzz.source import Choices
from pybandit.errors import PybanditWarning, StudyError
from pybandit.evaluation._store_file import StoreFile
from pybandit.evaluation._store_names import Names
from pybandit.studies import Study
from pybandit.studies._codec import decode, encode
from pybandit.studies._recorder import type_of

from hostile.journals import journal

SIDES = "-wal", "-shm", "-journal", "-journal", ""
VICTIM = b"years of work\0"


@functools.cache
def place():
    """Return the folder that is emptied for each input."""
    return folder() / "place"


@functools.cache
def log_file():
    """Return the log of a study in use."""
    path = str(folder() / "used.db")
    with Study.create(path, pb.policies.Uniform(2, budget=8)) as study:
        study.ask()
        return Path(path + "-wal").read_bytes()


def neighbours(content):
    """Put any files under the names that SQLite uses, and open or create a file next to them."""
    bits, where = Choices(content), place()
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir()
    path, victim = where / "file.db", where / "thesis"
    victim.write_bytes(VICTIM)
    whole = bits.of([study_file(plain_study), scores_file(False), b"", None])
    if whole is not None:
        path.write_bytes(damaged(bits, whole) if bits.below(4) == 0 else whole)
    for _ in range(1 + bits.below(3)):
        put(bits, f"{path}{bits.of(SIDES)}", victim)
    before = set(os.listdir(where))
    try:
        call(bits, path)
    except (StudyError, FileExistsError, FileNotFoundError, ValueError, PybanditWarning,
            RuntimeWarning) as error:
        # if the file is a link, the message names its target
        assert "file.db" in str(error) or "path must be that of a new study" in str(error), error
    assert victim.read_bytes() == VICTIM, "a file next to it was written to"
    new = set(os.listdir(where)) - before
    assert new <= {"file.db", "file.db-wal", "file.db-shm"}, new


def put(bits, at, victim):
    """Create a file, a link, a folder or a FIFO, unless the name exists."""
    if os.path.lexists(at):
        return
    kind = bits.below(9)
    if kind == 0:
        os.symlink(bits.of([victim, "/nowhere", at, os.path.dirname(at)]), at)
    elif kind == 1:
        os.link(victim, at)
    elif kind == 2:
        os.mkfifo(at)
    elif kind == 3:
        os.mkdir(at)
    else:
        content = bits.of([journal(victim), log_file(), b""])
        Path(at).write_bytes(damaged(bits, content) if content and kind > 6 else content)


def call(bits, path):
    kind = bits.below(5)
    if kind < 2:
        with Study.open(path, without_log=bool(kind)) as study:
            study.status()
            study.ask()
    elif kind < 4:
        with closing(StoreFile(path, Names("01234", None, 5), False)) as cells:
            cells["4", 4] = 0.5
    else:  # the target of a link would be overwritten
        is_replaced = bits.below(2) and not path.is_symlink()
        Study.create(path, pb.policies.Uniform(2, budget=4), overwrite=bool(is_replaced)).close()


MODULES = ["pybandit.__main__", "pybandit", "os", "sys", "studies.cases", "antigravity", "this"]
CLASSES = ["main", "run", "Uniform", "Policy", "NativePolicy", "RacePolicy", "CountRace", "system",
           "EstimatorAllocator", "__class__", "", "UCB1", "Study"]


def names(content):
    """Look up a policy's name from a file: it is a known policy or rejected. May open a study."""
    bits = Choices(content)
    name = bits.of([*CLASSES, bits.of(MODULES) + "." + bits.of(CLASSES),
                    bits.of(CLASSES) * bits.of([1, 10_000]), content.decode("latin-1")])
    loaded = set(sys.modules)
    try:
        found = type_of(name, None)
        assert found.__name__ == name and found.__module__.startswith("pybandit."), found
    except ValueError as error:
        assert "policy_type must be the class" in str(error) and len(str(error)) < 400, error
    if bits.below(100) == 0:
        whole(bits, name)
    new = {one for one in set(sys.modules) - loaded if not one.startswith("pybandit.")}
    assert not new, new


def whole(bits, name):
    """Open a study whose first event has this name and the name of a module."""
    path = str(folder() / "named.db")
    Path(path).write_bytes(study_file(plain_study))
    with closing(sqlite3.connect(path)) as db, db:
        (body,), = db.execute("SELECT body FROM log WHERE number = 0")
        entry = decode(body) | {"policy": name, "module": bits.of(MODULES)}
        db.execute("UPDATE log SET body = ? WHERE number = 0", (encode(entry),))
    signed_again(path)
    try:
        Study.open(path).close()
    except (StudyError, ValueError) as error:
        assert len(str(error)) < 500, error
