"""Scores that were paid for, in a file: SQLite, shared by processes, on the disk when kept.

``cells``    scores by model and item, and costs where they are told
``claims``   cells that a process is at, so that no other one pays for them too
``owners``   processes that have claims, and when they last said so
``about``    of how many items the scores are, and whether costs are told
"""

import os
import secrets
import socket
import threading
import time
from collections.abc import MutableMapping

from pybandit.studies._errors import StudyDamaged, named
from pybandit.studies._store import _address, _connect

APPLICATION, FORMAT = 0x70624365, 1
SCHEMA = """
CREATE TABLE cells (model INTEGER, item INTEGER, score REAL NOT NULL, cost REAL, time REAL,
                    PRIMARY KEY (model, item)) WITHOUT ROWID;
CREATE TABLE claims (model INTEGER, item INTEGER, owner TEXT NOT NULL,
                     PRIMARY KEY (model, item)) WITHOUT ROWID;
CREATE TABLE owners (owner TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL,
                     beat REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
# Seconds after which a process that was not heard of is taken for dead; it is heard of every
# BEAT. On this machine it is asked for by its number.
SILENT, BEAT = 60.0, 10.0


class Cells(MutableMapping):
    """Scores, or tuples (score, cost), by (model, item); what `best_of` takes as paid.

    What is written is on the disk when the call returns. Threads may share it, and
    processes the file.
    """

    def __init__(self, path, n_items, told):
        self.path, self._told = os.fspath(path), told
        self._owner, self._beat = secrets.token_hex(16), 0.0
        self._lock, self._db = threading.RLock(), None
        with self._lock, named(self.path):
            self._open(n_items)

    def _open(self, n_items):
        # a crash while it is made leaves an empty file, which is one that is new
        self._db = _connect(_address(self.path, "mode=rwc"))
        try:
            self._within(lambda: self._check(n_items))
            self._db.execute("PRAGMA journal_mode = WAL")
        except BaseException:
            self.close()
            raise

    def _check(self, n_items):
        """Make what is missing of a new file; refuse another's, or one of other items."""
        application, form = (self._db.execute(f"PRAGMA {name}").fetchone()[0]
                             for name in ("application_id", "user_version"))
        about = {"n_items": str(n_items), "costs": "told" if self._told else "not told"}
        if not application and not self._db.execute("SELECT 1 FROM sqlite_master").fetchone():
            for statement in SCHEMA.split(";"):
                self._db.execute(statement)
            self._db.execute(f"PRAGMA application_id = {APPLICATION}")
            self._db.execute(f"PRAGMA user_version = {FORMAT}")
            self._db.executemany("INSERT INTO about VALUES (?, ?)", about.items())
            return
        if application != APPLICATION or form > FORMAT:
            raise StudyDamaged(f"store must be a file of scores of format {FORMAT}, or new; "
                               f"{self.path} is another SQLite database or of format {form}")
        kept = dict(self._db.execute("SELECT name, value FROM about"))
        for name, value in about.items():
            if kept.get(name) != value:
                raise ValueError(f"store must be of the same evaluation: {self.path} has {name} "
                                 f"{kept.get(name)}; got {value}")

    def _within(self, work):
        """What `work()` returns, in a transaction that is on the disk afterwards."""
        with self._lock, named(self.path):
            closed = self._db is None
            if closed:  # an answer that came after the race
                self._db = _connect(_address(self.path, "mode=rw"))
            try:
                self._db.execute("BEGIN IMMEDIATE")
                result = work()
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            finally:
                if closed:
                    self._db.close()
                    self._db = None
            return result

    # -- a mapping --------------------------------------------------------------

    def __getitem__(self, place):
        row = self._row("SELECT score, cost FROM cells WHERE model = ? AND item = ?", place)
        if row is None:
            raise KeyError(place)
        return row if self._told else row[0]

    def __setitem__(self, place, cell):
        self.update({place: cell})

    def __delitem__(self, place):
        raise TypeError(f"{self.path} keeps what was paid for: nothing is deleted")

    def __len__(self):
        return self._row("SELECT count(*) FROM cells", ())[0]

    def __iter__(self):
        with self._lock, named(self.path):
            return iter(self._db.execute("SELECT model, item FROM cells").fetchall())

    def _row(self, query, values):
        with self._lock, named(self.path):
            return self._db.execute(query, values).fetchone()

    def update(self, cells):
        """Keep these, all of them or none; what is kept already stays as it is."""
        now = time.time()
        rows = [(*place, *(cell if self._told else (cell, None)), now)
                for place, cell in dict(cells).items()]

        def work():
            self._db.executemany("INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?, ?)", rows)
            self._db.executemany("DELETE FROM claims WHERE model = ? AND item = ?",
                                 [row[:2] for row in rows])

        self._within(work)

    # -- claims -------------------------------------------------------------------

    def claim(self, places):
        """Those of these places that are this object's to pay for, of which no score is kept."""
        return self._within(lambda: self._claimed(places)) if places else []

    def _claimed(self, places):
        self._say_alive()
        mine, alive = [], {}
        for place in places:
            if self._db.execute("SELECT 1 FROM cells WHERE model = ? AND item = ?",
                                place).fetchone():
                continue
            row = self._db.execute("SELECT owner FROM claims WHERE model = ? AND item = ?",
                                   place).fetchone()
            if row is not None and row[0] != self._owner:
                if row[0] not in alive:
                    alive[row[0]] = self._is_alive(row[0])
                if alive[row[0]]:
                    continue
            mine.append(place)
        self._db.executemany("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)",
                             [(*place, self._owner) for place in mine])
        return mine

    def _say_alive(self):
        self._beat = time.time()
        self._db.execute("INSERT OR REPLACE INTO owners VALUES (?, ?, ?, ?)",
                         (self._owner, socket.gethostname(), os.getpid(), self._beat))

    def beat(self):
        """Say that this process is alive, now and then."""
        if time.time() - self._beat > BEAT:
            self._within(self._say_alive)

    def _is_alive(self, owner):
        row = self._db.execute("SELECT host, pid, beat FROM owners WHERE owner = ?",
                               (owner,)).fetchone()
        if row is None or time.time() - row[2] > SILENT:
            return False
        return row[0] != socket.gethostname() or _exists(row[1])

    def release(self, places):
        """Give up claims: somebody else may pay for these."""
        self._within(lambda: self._db.executemany(
            "DELETE FROM claims WHERE model = ? AND item = ? AND owner = ?",
            [(*place, self._owner) for place in places]))

    def close(self):
        """Give up all claims, and the file; what comes later opens it again."""
        with self._lock:
            if self._db is None:
                return
            try:
                if self._beat:
                    self._within(self._leave)
            finally:
                self._db.close()
                self._db = None

    def _leave(self):
        self._db.execute("DELETE FROM claims WHERE owner = ?", (self._owner,))
        self._db.execute("DELETE FROM owners WHERE owner = ?", (self._owner,))


def _exists(pid):
    """Whether this machine has a process of that number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return True

