"""Paid scores in a file (SQLite) that processes share; written to the disk at once.

``cells``    scores and costs by model and item, with a flag for failed calls
``claims``   cells that a process is paying for, so that no other one does
``owners``   processes that have claims, and the time of their last sign of life
``about``    facts about the evaluation, which every later one must match
``writes``   marks that later transactions are in the log (`_shared/database.py`)
"""

import math
import os
import secrets
import sqlite3
import threading
import time
import weakref
from collections.abc import MutableMapping

from pybandit._shared import alive
from pybandit._shared.checks import shown
from pybandit._shared.database import PATIENCE, WRITES, Database, begin_writes, check_tables
from pybandit._shared.database_errors import BUSY, code_of, named
from pybandit._shared.database_files import checked, published, size_of
from pybandit._shared.errors import (
    PybanditWarning,
    StoreMismatchError,
    StudyDamagedError,
    StudyError,
)
from pybandit._shared.warn import warn

APPLICATION, FORMAT, KIND = 0x70624365, 1, "file of scores"
SCHEMA = f"""
{WRITES};
CREATE TABLE cells (arm TEXT, item TEXT, score REAL NOT NULL, cost REAL, time REAL,
                    failed INTEGER NOT NULL, PRIMARY KEY (arm, item)) WITHOUT ROWID;
CREATE TABLE claims (arm TEXT, item TEXT, owner TEXT NOT NULL,
                     PRIMARY KEY (arm, item)) WITHOUT ROWID;
CREATE TABLE owners (owner TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL,
                     began TEXT NOT NULL, beat REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
# Seconds of silence after which a process is considered dead if its process id is unknown here,
# as in another container. A process writes every BEAT seconds, but not while it scores a block.
SILENT, BEAT = 60.0, 10.0
# A failed call counts as known only for the same `failed`: the parameters are its score and cost
KNOWN = "(NOT failed OR score IS ? AND cost IS ?)"
# Open stores of this process, by owner: the claims of a garbage-collected store are void
_OPEN = weakref.WeakValueDictionary()


class StoreFile(MutableMapping):
    """Store of `best_of` in a file: scores, or tuples (score, cost), by (model, item).

    `names` are the `Names` of the evaluation; `about` has other facts that the file must match,
    as text by name. Writes are on the disk when the call returns. Threads may share the object,
    and processes of one machine the file.
    """

    def __init__(self, path, names, has_costs, failed=None, about=()):
        self._failed = (*(failed or ()), None, None)[:2]
        self.path, self._has_costs = os.fsdecode(path), has_costs
        self._owner, self._beat = secrets.token_hex(16), 0.0
        self._lock, self._database = threading.RLock(), None
        self._closed, self._running = False, set()
        self._names = names
        self._about = {"costs": "told" if has_costs else "not told", **names.about(), **dict(about)}
        _OPEN[self._owner] = self
        with self._lock, named(self.path, KIND):
            self._make()
            self._database = Database.open(self.path, self._check, APPLICATION, KIND,
                                           without_log=True)
        if self._database.lost_log:
            self._warn_of_loss()

    def _warn_of_loss(self):
        try:
            warn(f"store {self.path} lacks the scores of {self.path}-wal, which is not next to it: "
                 "they must be paid for again", PybanditWarning)
        except BaseException:  # warning filters may make it an error
            self.close()
            raise

    @property
    def _db(self):
        return self._database.db

    def _make(self):
        """Create the file unless it is there; another process may do the same."""
        resolved = os.path.realpath(self.path)
        if os.path.lexists(resolved):
            checked(self.path, KIND)
            if not os.path.getsize(resolved):
                if size_of(resolved + "-wal"):
                    raise StudyDamagedError(f"{self.path} is not a {KIND}: it is empty, and "
                                            f"{resolved}-wal next to it is not")
                self._fill_empty()
            return
        try:
            with published(resolved, overwrite=False) as draft:
                database = Database(draft, KIND, "draft")
                try:
                    database.run(lambda: self._fill(database.db))
                    database.db.execute("PRAGMA journal_mode = WAL")
                finally:
                    database.close()
        except FileExistsError:
            if not os.path.exists(resolved):  # a leftover log of SQLite was in the way
                raise

    def _fill_empty(self):
        """Fill an empty file in place, without a journal on the disk: there is nothing to lose."""
        database = Database(self.path, KIND, "draft")
        try:
            database.db.execute("PRAGMA journal_mode = MEMORY")
            database.run(lambda: self._fill(database.db))
            limit = time.monotonic() + PATIENCE
            while True:  # SQLite does not wait for other processes here
                try:
                    database.db.execute("PRAGMA journal_mode = WAL")
                    return
                except sqlite3.OperationalError as error:
                    if code_of(error) not in BUSY or time.monotonic() > limit:
                        raise
                time.sleep(0.005)
        finally:
            database.close()

    def _fill(self, db):
        """Create the tables of a file that has none."""
        if db.execute("SELECT 1 FROM sqlite_master").fetchone():
            return
        for statement in SCHEMA.split(";"):
            db.execute(statement)
        begin_writes(db)
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.execute(f"PRAGMA user_version = {FORMAT}")
        db.executemany("INSERT INTO about VALUES (?, ?)", self._about.items())

    def _check(self, database):
        """Raise an error if the file is not a store, or is that of another evaluation."""
        db = database.db
        application, form = (db.execute(f"PRAGMA {name}").fetchone()[0]
                             for name in ("application_id", "user_version"))
        if application != APPLICATION or form != FORMAT:
            raise StudyDamagedError(f"store must be a file of scores of format {FORMAT}, or new; "
                                    f"{self.path} is another SQLite database or of format {form}")
        check_tables(self.path, db, SCHEMA.split(";"), KIND)
        kept = dict(db.execute("SELECT name, value FROM about LIMIT 10"))
        for name, value in self._about.items():
            if kept.get(name) != value:
                raise StoreMismatchError(f"store must be of the same evaluation: {self.path} has "
                                         f"{name} {shown(kept.get(name))}; got {shown(value)}")

    def _within(self, work):
        """Run `work()` in a transaction, which is then on the disk, and return its result."""
        with self._lock:
            is_late = self._closed and not self._database.is_open  # an answer after the race
            if is_late:
                with named(self.path, KIND):
                    self._database.reopen(self._check, APPLICATION)
            try:
                return self._database.run(work)
            finally:
                if is_late:
                    self._database.close()

    # -- a mapping --------------------------------------------------------------

    def __getitem__(self, key):
        place = self._names.of(key)
        row = self._row(f"SELECT score, cost FROM cells WHERE arm = ? AND item = ? AND {KNOWN}",
                        (*place, *self._failed))
        if row is None:
            raise KeyError(key)
        numbers = row if self._has_costs else row[:1]
        if not all(isinstance(one, float) and math.isfinite(one) for one in numbers):
            self._refuse("cells", f"{row} of {place}")
        return row if self._has_costs else row[0]

    def _refuse(self, table, what):
        raise StudyDamagedError(f"{self.path} is damaged: {table}: {what} is not what was recorded")

    def __setitem__(self, place, cell):
        self.update({place: cell})

    def __delitem__(self, place):
        raise TypeError(f"{self.path} keeps all paid scores: none can be deleted")

    def __len__(self):
        return sum(1 for _ in self)

    def __iter__(self):
        with self._lock, named(self.path, KIND):
            places, last = [], ("", "")
            for place in self._db.execute(f"SELECT arm, item FROM cells WHERE {KNOWN} ORDER BY "
                                          "arm, item", self._failed):
                # places must increase: damaged pages that refer to each other never end
                if not all(isinstance(one, str) for one in place) or place <= last:
                    self._refuse("cells", f"the place {place}")
                key = self._names.key(place)
                if key is not None:
                    places.append(key)
                last = place
        return iter(places)

    def _row(self, query, values):
        with self._lock, named(self.path, KIND):
            return self._db.execute(query, values).fetchone()

    def update(self, cells, failed=()):
        """Store these cells, all or none; cells that are already stored stay as they are."""
        now = time.time()
        rows = [(*self._names.of(key), *(cell if self._has_costs else (cell, None)), now,
                 key in failed) for key, cell in dict(cells).items()]

        def work():
            self._db.executemany("DELETE FROM cells WHERE arm = ? AND item = ? AND NOT " + KNOWN,
                                 [(*row[:2], *self._failed) for row in rows])
            self._db.executemany("INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?, ?, ?)", rows)
            self._db.executemany("DELETE FROM claims WHERE arm = ? AND item = ?",
                                 [row[:2] for row in rows])

        self._within(work)

    def drop(self, item):
        """Delete the scores of an item, which contradict each other."""
        self._within(lambda: self._db.execute("DELETE FROM cells WHERE item = ?", (str(item),)))

    # -- claims -------------------------------------------------------------------

    def claim(self, places, most=math.inf):
        """Claim up to `most` of these places, in their order, and return the claimed ones.

        Places that have a stored score, or that another process has claimed, are skipped.
        """
        return self._within(lambda: self._claimed(places, most)) if places else []

    def _claimed(self, places, most):
        # one query: a process that waits for others calls this again and again
        taken = {(arm, item): owner for arm, item, owner in self._db.execute(
            "SELECT * FROM claims WHERE owner != ?", (self._owner,))}
        mine, alive = [], {}
        for place in places:
            if len(mine) >= most:
                break
            owner = taken.get(self._names.of(place))
            if owner is not None:
                if owner not in alive:
                    alive[owner] = self._is_alive(owner)
                if alive[owner]:
                    continue
            if place not in self:
                mine.append(place)
        if mine:  # if not, write nothing
            self._say_alive()
            self._db.executemany("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)",
                                 [(*self._names.of(place), self._owner) for place in mine])
        return mine

    def _say_alive(self):
        self._beat = time.time()
        self._db.execute("INSERT OR REPLACE INTO owners VALUES (?, ?, ?, ?, ?)",
                         (self._owner, alive.here(), os.getpid(),
                          alive.started(os.getpid()) or "", self._beat))

    def beat(self):
        """Record that this process is alive, at most every `BEAT` seconds."""
        if time.time() - self._beat > BEAT:
            self._within(self._say_alive)

    def _is_alive(self, owner):
        row = self._db.execute("SELECT host, pid, began, beat FROM owners WHERE owner = ?",
                               (owner,)).fetchone()
        if row is None:
            return False
        host, pid, began, beat = row
        if not (isinstance(pid, int) and 0 < pid < 2**31 and isinstance(beat, float)):
            self._refuse("owners", f"process {pid!r}, last alive at {beat!r},")
        if host != alive.here():
            return time.time() - beat <= SILENT
        # on this machine silence does not matter: a block may take hours
        return owner in _OPEN if pid == os.getpid() else alive.is_alive(pid, began)

    def release(self, places):
        """Give up claims, so that other processes may pay for these places."""
        self._within(lambda: self._db.executemany(
            "DELETE FROM claims WHERE arm = ? AND item = ? AND owner = ?",
            [(*self._names.of(place), self._owner) for place in places]))

    def keep_running(self, places):
        """Keep the claims of these places after `close`: their calls go on after the race."""
        with self._lock:
            self._running.update(map(self._names.of, places))

    def ended(self, place):
        """Note that a call that outlived the race has ended; after the last one, close the file."""
        with self._lock:
            self._running.discard(self._names.of(place))
            if self._closed:
                self.close()

    def close(self):
        """Give up all claims but those of running calls; close the file if no call is running.

        A later write opens the file again.
        """
        with self._lock:
            self._closed = True
            if self._database is None or not self._database.is_open:
                return
            try:
                if self._beat:
                    self._within(self._leave)
            except StudyError:
                pass  # a full disk: other processes wait for these claims until this process ends
            finally:
                if not self._running:
                    _OPEN.pop(self._owner, None)
                    self._database.close()

    def _leave(self):
        claimed = self._db.execute("SELECT arm, item FROM claims WHERE owner = ?",
                                   (self._owner,)).fetchall()
        self._db.executemany("DELETE FROM claims WHERE arm = ? AND item = ?",
                             [place for place in claimed if place not in self._running])
        if not self._running:
            self._db.execute("DELETE FROM owners WHERE owner = ?", (self._owner,))
