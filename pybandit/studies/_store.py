"""A study's file: SQLite tables, and transactions that are on the disk when they end.

``log``       all events, chained; everything else can be derived from it (`_journal`)
``head``      end of the log, so that a truncated log is detected
``state``     state of the policy after an event (`_snapshot`), one row per part
``batches``   arms, results and marks of each batch
``late``      late results that the policy has not received
``writes``    mark that later transactions are in ``<path>-wal`` (`_shared.database`)
"""

import hashlib
import os
import weakref
from typing import NamedTuple

import numpy as np

from pybandit._shared.checks import MOST_PULLS
from pybandit._shared.database import WRITES, Database, begin_writes, check_tables
from pybandit._shared.database_errors import named
from pybandit._shared.database_files import published, size_of
from pybandit._shared.errors import StudyDamagedError, StudyVersionError
from pybandit.studies._codec import encode
from pybandit.studies._journal import Wells
from pybandit.studies._rows import check_batch, check_late, decoded, typed
from pybandit.studies._snapshot import Clock, Pace, Snapshot, encoded_progress

APPLICATION, FORMAT = 0x70625374, 1
SCHEMA = f"""
{WRITES};
CREATE TABLE log (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, time REAL NOT NULL,
                  who TEXT NOT NULL, body BLOB NOT NULL, digest BLOB NOT NULL);
CREATE TABLE head (only INTEGER PRIMARY KEY CHECK (only = 0), n_events INTEGER NOT NULL,
                   digest BLOB NOT NULL, n_batches INTEGER NOT NULL, asked INTEGER NOT NULL,
                   included INTEGER NOT NULL, state BLOB NOT NULL, progress BLOB NOT NULL);
CREATE TABLE state (part TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE batches (number INTEGER PRIMARY KEY, status TEXT NOT NULL, arms BLOB NOT NULL,
                      results BLOB NOT NULL, marks BLOB NOT NULL);
CREATE TABLE late (place INTEGER PRIMARY KEY, arms BLOB NOT NULL, results BLOB NOT NULL);
CREATE INDEX amendments ON log (number) WHERE kind = 'amend'
"""


class Head(NamedTuple):
    """End of the log, and values that are in no other table; the last three are a `Snapshot`."""

    n_events: int
    digest: bytes
    n_batches: int
    asked: int
    included: int
    state: bytes
    progress: bytes


class Store:
    """The tables of one study, in a file or in memory.

    `durable` is False in memory, where the policy's state is not stored because it follows
    from the log.
    """

    def __init__(self, database):
        self.database, self.path, self.db = database, database.shown, database.db
        self.durable = database.path is not None
        # stored parts of the state, (bytes, digest) each; number of late results
        self.parts, self.n_late = {}, 0
        self.snapshot, self.pace = Snapshot(0, b"", b""), Pace()
        self.n_arms = 2**63  # until the number is known
        # If an unclosed study and its connection are garbage-collected together, the connection
        # may warn that it is unclosed before __del__ runs.
        weakref.finalize(self, database.close).atexit = False

    @classmethod
    def create(cls, path, overwrite, fill):
        """Create a study; calls `fill(store)` in its first transaction."""
        if path == ":memory:":
            store = cls(Database(path))
            _begin(store, fill)
            return store
        with named(path), published(os.path.realpath(path), overwrite) as draft:
            store = cls(Database(draft, access="draft"))
            try:
                _begin(store, fill)
                store.db.execute("PRAGMA journal_mode = WAL")
            finally:
                store.close()
        return cls.open(path)

    @classmethod
    def open(cls, path, without_log=False):
        """Open the study of a file."""
        return cls(Database.open(path, _check, APPLICATION, without_log=without_log))

    def run(self, work, write=True):
        """Return `work()`, done in one transaction; see `Database.run`."""
        return self.database.run(work, write)

    def close(self):
        self.database.close()

    __del__ = close  # a study that was not closed

    # methods that read

    def head(self):
        """Return the only row of the table `head`."""
        return _head(self.path, self.db)

    def largest_batch(self):
        """Return the size of the largest batch plus 1; 0 without batches.

        The 11 bytes before the numbers of an encoded array count as one arm.
        """
        (length,) = self.db.execute(
            "SELECT coalesce(max(length(arms)), 0) FROM batches").fetchone()
        return length // 8  # 8 bytes per arm

    def events(self, start=0, most=-1, kind=None):
        """Return rows of `log` from event `start` on, of one kind or all."""
        rows = self.db.execute("SELECT number, kind, time, who, body, digest FROM log WHERE "
                               "number >= ? AND (? IS NULL OR kind = ?) ORDER BY number LIMIT ?",
                               (start, kind, kind, most))
        return typed(self.path, "log", rows, int, str, float, str, bytes, bytes, ordered=True)

    def n_amendments(self):
        """Return the number of amendments, from an index."""
        return self.db.execute("SELECT count(*) FROM log WHERE kind = 'amend'").fetchone()[0]

    def amendments(self):
        """Return number, time, author and body of each amendment, from an index."""
        rows = self.db.execute("SELECT number, time, who, body FROM log WHERE kind = 'amend' "
                               "ORDER BY number")
        return typed(self.path, "log", rows, int, float, str, bytes, ordered=True)

    def tells(self):
        """Return rows of number, body, time and who, one for each tell and each amendment."""
        rows = self.db.execute("SELECT number, body, time, who FROM log WHERE kind IN ('tell', "
                               "'amend') ORDER BY number")
        return typed(self.path, "log", rows, int, bytes, float, str, ordered=True)

    def state(self, head):
        """Return the stored state of the policy; its digest must be that of the head."""
        rows = typed(self.path, "state", self.db.execute("SELECT part, body FROM state"), str,
                     bytes)
        self.parts = {part: (body, hashlib.sha256(body).digest()) for part, body in rows}
        self.snapshot = Snapshot(head.included, head.state, head.progress)
        if _digest_of(self.parts) != head.state:
            raise StudyDamagedError(f"{self.path} is damaged: state is not what was recorded")
        values = decoded(self.path, "state", *(body for body, _ in self.parts.values()))
        return dict(zip(self.parts, values, strict=True))

    def wells(self, number):
        """Return a batch by its number, or None."""
        row = self._batches("WHERE number = ?", number).fetchone()
        return row and self.wells_of(row)

    def _batches(self, which, *values):
        """Return rows of `batches`."""
        rows = self.db.execute("SELECT number, status, arms, results, marks FROM batches " + which,
                               values)
        return typed(self.path, "batches", rows, int, str, bytes, bytes, bytes, ordered=True)

    def all_wells(self):
        """Return an iterator over all batches in order."""
        # map, not a generator: it drops the bytes of a row before the caller uses its arrays
        return map(self.wells_of, self._batches("ORDER BY number"))

    def sizes(self):
        """Yield the number of wells of each batch, from the size of its marks (1 byte each)."""
        head = len(encode(np.empty(0, dtype=np.uint8)))
        rows = self.db.execute("SELECT number, length(marks) FROM batches ORDER BY number")
        for _, size in typed(self.path, "batches", rows, int, int, ordered=True):
            if size < head:
                raise StudyDamagedError(f"{self.path} is damaged: batches: a row holds no marks")
            yield size - head

    def wells_of(self, row):
        number, status, *contents = row
        arms, values, marks = decoded(self.path, f"batches: batch {number}", *contents)
        check_batch(self.path, number, status, (arms, values, marks), self.n_arms)
        return Wells(number, arms, status, values, marks)

    def late(self):
        """Return late results that the policy has not received, in order."""
        rows = self.db.execute("SELECT place, arms, results FROM late ORDER BY place")
        late = []
        for _, *contents in typed(self.path, "late", rows, int, bytes, bytes, ordered=True):
            late.append(tuple(decoded(self.path, "late", *contents)))
            check_late(self.path, late[-1], self.n_arms)
        self.n_late = len(late)
        return late

    # methods that write

    def append(self, event, body, wells, progress, seconds=0.0):
        """Store an event, its encoded body, and what results from it; return the new head.

        `seconds` is the time that the policy took for the event.
        """
        self.db.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)",
                        (event.number, event.kind, event.time, event.who, body,
                         event.digest))
        if wells is not None:
            self.put_wells(wells, is_new=event.kind == "ask")
        # the policy receives results only when the batch is over
        is_partial = event.kind == "tell" and wells.status == "open"
        if not is_partial:
            self.put_late(progress.late, event.kind == "amend")
        if self.durable:
            self.pace.add(len(body), seconds)
            self._put_snapshot(event, progress, is_partial)
        else:
            self.snapshot = Snapshot(event.number + 1, b"", b"")
        head = Head(event.number + 1, event.digest, progress.n_batches, int(progress.asked),
                    *self.snapshot)
        self.db.execute("INSERT OR REPLACE INTO head VALUES (0, ?, ?, ?, ?, ?, ?, ?)", head)
        return head

    def _put_snapshot(self, event, progress, is_partial):
        """Store the state after an event, if it has changed and a snapshot is due."""
        number = event.number + 1
        if is_partial:
            if not self.snapshot.progress:
                self.snapshot = self.snapshot._replace(n_events=number)
        # an amendment may have replaced the policy
        elif not self.snapshot.progress or self.pace.is_due or event.kind == "amend":
            with Clock() as clock:
                state = self.put_state(progress.policy.get_state())
            self.pace = Pace(self.n_bytes(), clock.seconds)
            self.snapshot = Snapshot(
                number, state, b"" if self.pace.is_small else encoded_progress(progress))

    def n_bytes(self):
        """Return the number of bytes of the stored state."""
        return sum(len(body) for body, _ in self.parts.values())

    def put_wells(self, wells, is_new):
        """Store the present state of a batch; its arms never change."""
        now = wells.status, encode(wells.values), encode(wells.marks)
        if is_new:
            self.db.execute("INSERT INTO batches (number, arms, status, results, marks) "
                            "VALUES (?, ?, ?, ?, ?)", (wells.number, encode(wells.arms), *now))
        else:
            self.db.execute("UPDATE batches SET status = ?, results = ?, marks = ? "
                            "WHERE number = ?", (*now, wells.number))

    def put_late(self, late, are_others):
        """Store the late results.

        Only those after the stored ones are written, unless there are fewer than before or
        `are_others` is True: then all are replaced.
        """
        if are_others or self.n_late > len(late):
            self.db.execute("DELETE FROM late")
            self.n_late = 0
        for place in range(self.n_late, len(late)):
            self.db.execute("INSERT INTO late VALUES (?, ?, ?)",
                            (place, *map(encode, late[place])))
        self.n_late = len(late)

    def put_state(self, state):
        """Store the parts of the policy's state that have changed; return the state's digest."""
        parts = {}
        for part, value in state.items():
            body, old = encode(value, part), self.parts.get(part)
            if old is not None and old[0] == body:
                parts[part] = old
                continue
            parts[part] = body, hashlib.sha256(body).digest()
            self.db.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (part, body))
        for part in self.parts.keys() - parts.keys():
            self.db.execute("DELETE FROM state WHERE part = ?", (part,))
        self.parts = parts
        return _digest_of(parts)


def _digest_of(parts):
    """Return the digest of all parts of a state."""
    return hashlib.sha256(encode({part: digest for part, (_, digest) in parts.items()})).digest()


def _head(path, db):
    """Return the only row of `head`."""
    rows = db.execute("SELECT n_events, digest, n_batches, asked, included, state, progress "
                      "FROM head")
    row = typed(path, "head", rows, int, bytes, int, int, int, bytes, bytes).fetchone()
    if row is None:
        raise StudyDamagedError(f"{path} is damaged: head is empty")
    head = Head(*row)
    if not (1 <= head.n_events <= MOST_PULLS and 0 <= head.n_batches <= MOST_PULLS):
        raise StudyDamagedError(f"{path} is damaged: head must have 1 to {MOST_PULLS} events and "
                                f"0 to {MOST_PULLS} batches; got {head.n_events} and "
                                f"{head.n_batches}")
    if not (head.included == head.n_events or 1 <= head.included < head.n_events and head.progress):
        raise StudyDamagedError(f"{path} is damaged: log or head: state must include 1 to "
                                f"{head.n_events} events; got {head.included}")
    return head


def _check(database):
    """Raise an error unless the file is a study of the format known here."""
    path, db = database.shown, database.db
    application, form, n_pages, size = (
        db.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("application_id", "user_version", "page_count", "page_size"))
    if application != APPLICATION:
        raise StudyDamagedError(f"{path} is not a study, but another SQLite database")
    if form != FORMAT:
        raise StudyVersionError(f"{path} has format {form}; this pybandit reads format {FORMAT}")
    found = os.path.getsize(database.path)
    if found < n_pages * size and not size_of(database.path + "-wal"):
        raise StudyDamagedError(f"{path} is truncated: it has {found} of {n_pages * size} bytes")
    check_tables(path, db, SCHEMA.split(";"))
    _head(path, db)


def _begin(store, fill):
    """Create the tables of a new study and call `fill(store)`, in one transaction."""
    store.db.execute(f"PRAGMA application_id = {APPLICATION}")
    store.db.execute(f"PRAGMA user_version = {FORMAT}")

    def work():
        for statement in SCHEMA.split(";"):
            store.db.execute(statement)
        begin_writes(store.db)
        fill(store)

    store.run(work)
