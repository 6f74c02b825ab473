"""A study's file: SQLite tables, and transactions that are on the disk when they end.

``log``       every event, chained; from it all else follows (`_journal`)
``head``      where the log ends, so that a log cut short is noticed
``state``     the policy after the last event, part by part
``batches``   arms, results and marks of each batch
``late``      late results that wait for the policy
"""

import hashlib
import os
import sqlite3
import weakref
from typing import NamedTuple
from urllib.parse import quote

import numpy as np

from pybandit._shared.checks import MOST_PULLS
from pybandit.studies._codec import encode
from pybandit.studies._errors import (
    CLOSED_TO_WRITING,
    StudyDamaged,
    StudyError,
    StudyVersionError,
    code_of,
    named,
)
from pybandit.studies._files import Place, published
from pybandit.studies._journal import Wells
from pybandit.studies._rows import check_batch, check_late, decoded, typed
from pybandit.studies._tables import check_tables

APPLICATION, FIRST_FORMAT = 0x70625374, 1
# kinds of events that came later: a study has the format that its events need
FORMATS = {"amend": 2, "counts": 2, "arm": 2, "retire": 2}
FORMAT = max(FORMATS.values())
PATIENCE = 30.0  # seconds for which another writer is waited for
SCHEMA = """
CREATE TABLE log (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, time REAL NOT NULL,
                  who TEXT NOT NULL, body BLOB NOT NULL, digest BLOB NOT NULL);
CREATE TABLE head (only INTEGER PRIMARY KEY CHECK (only = 0), n_events INTEGER NOT NULL,
                   digest BLOB NOT NULL, n_batches INTEGER NOT NULL, asked INTEGER NOT NULL,
                   state BLOB NOT NULL);
CREATE TABLE state (part TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE batches (number INTEGER PRIMARY KEY, status TEXT NOT NULL, arms BLOB NOT NULL,
                      results BLOB NOT NULL, marks BLOB NOT NULL);
CREATE TABLE late (place INTEGER PRIMARY KEY, arms BLOB NOT NULL, results BLOB NOT NULL);
"""
AMENDMENTS = "CREATE INDEX IF NOT EXISTS amendments ON log (number) WHERE kind = 'amend'"


class Head(NamedTuple):
    """Where the log ends, and what is not in the other tables."""

    n_events: int
    digest: bytes
    n_batches: int
    asked: int
    state: bytes


class Store:
    """One connection to a study's file, or to memory.

    `durable` is false of memory, where the policy's state is not stored: it follows from
    the log. `read_only` is true where the file cannot be written.
    """

    def __init__(self, path, connection, read_only=False):
        self.path, self.db, self.read_only = path, connection, read_only
        self.durable = path != ":memory:"
        self.place = None  # of a file that was opened
        # as they are stored: parts of the state, bytes and digest; and how many are late
        self.parts, self.n_late = {}, 0
        self.n_arms = 2**63  # until they are known
        # of a study that nobody closed: where both are collected at once __del__ may come after
        # the connection's own end, which warns
        weakref.finalize(self, connection.close).atexit = False

    @classmethod
    def create(cls, path, overwrite, fill):
        """A new study; `fill` gets a Store in a transaction."""
        if path == ":memory:":
            store = cls(path, _connect(path))
            _begin(store, fill)
            return store
        with named(path), published(path, overwrite) as draft:
            store = cls(path, _connect(draft))
            try:
                _begin(store, fill)
                store.db.execute("PRAGMA journal_mode = WAL")
            finally:
                store.close()
        return cls.open(path)

    @classmethod
    def open(cls, path):
        """The study of a file."""
        if not os.path.exists(path):
            raise FileNotFoundError(f"path must be that of a study; {path} does not exist")
        place = Place(path)
        with named(path):
            store = cls._opened(path)
        store.place = place
        return store

    @classmethod
    def _opened(cls, path):
        try:
            return cls(path, _connect(_address(path, "mode=rw"))).checked()
        except sqlite3.OperationalError as error:
            if code_of(error) not in CLOSED_TO_WRITING:
                raise
        return cls(path, _connect_unwritable(path), True).checked()

    def checked(self):
        """Itself, if it is a study of a format known here."""
        try:
            self.check()
        except BaseException:
            self.close()
            raise
        return self

    def check(self):
        """Raises where this is no study of a format known here."""
        application, form = (self.db.execute(f"PRAGMA {name}").fetchone()[0]
                             for name in ("application_id", "user_version"))
        if application != APPLICATION:
            raise StudyDamaged(f"{self.path} is not a study, but another SQLite database or an "
                               "empty file")
        if form > FORMAT:
            raise StudyVersionError(f"{self.path} has format {form}; this pybandit reads formats "
                                    f"up to {FORMAT}")
        n_pages, size = (self.db.execute(f"PRAGMA {name}").fetchone()[0]
                         for name in ("page_count", "page_size"))
        found = os.path.getsize(self.path)
        if found < n_pages * size and not _has_log(self.path):
            raise StudyDamaged(f"{self.path} is truncated: {found} of {n_pages * size} bytes")
        check_tables(self.path, self.db, [*SCHEMA.split(";"), AMENDMENTS])
        self.head()

    def run(self, work, write=True):
        """What `work()` returns, all of it or nothing; what it wrote is on the disk afterwards.

        No context manager: the frame of a call that Ctrl-C ends is left at once, that of a
        generator only when the traceback is given up, and an interactive session keeps it.
        """
        with named(self.path):
            if not write and (not self.durable or self.db.in_transaction):
                return work()  # nobody else writes, or what is read is part of a larger reading
            if write and self.read_only:
                raise StudyError(f"{self.path} cannot be written: it is read-only")
            try:
                self.db.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                if self.place is not None:
                    self.place.check()
                result = work()
                self.db.execute("COMMIT")
            except BaseException:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")
                raise
            return result

    def close(self):
        self.db.close()

    __del__ = close  # a study that nobody closed

    # what is read

    def head(self):
        """The only row of `head`."""
        rows = self.db.execute("SELECT n_events, digest, n_batches, asked, state FROM head")
        row = typed(self.path, "head", rows, int, bytes, int, int, bytes).fetchone()
        if row is None:
            raise StudyDamaged(f"{self.path} is damaged: head is empty")
        head = Head(*row)
        if not (1 <= head.n_events <= MOST_PULLS and 0 <= head.n_batches <= MOST_PULLS):
            raise StudyDamaged(f"{self.path} is damaged: head: {head.n_events} events, "
                               f"{head.n_batches} batches")
        return head

    def largest_batch(self):
        """Return the size of the largest batch, rounded up by a few results."""
        (length,) = self.db.execute(
            "SELECT coalesce(max(length(arms)), 0) FROM batches").fetchone()
        return length // 8  # 8 bytes per arm

    def events(self, start=0, most=-1, kind=None):
        """Rows of `log` from an event on, all or of one kind."""
        rows = self.db.execute("SELECT number, kind, time, who, body, digest FROM log WHERE "
                               "number >= ? AND (? IS NULL OR kind = ?) ORDER BY number LIMIT ?",
                               (start, kind, kind, most))
        return typed(self.path, "log", rows, int, str, float, str, bytes, bytes)

    def n_amendments(self):
        """How many amendments there are, without reading the log: `need_format` made an index."""
        if self.format() < FORMATS["amend"]:
            return 0
        return self.db.execute("SELECT count(*) FROM log WHERE kind = 'amend'").fetchone()[0]

    def amendments(self):
        """Number, time, who and body of each, by that index."""
        if self.format() < FORMATS["amend"]:
            return iter(())
        rows = self.db.execute("SELECT number, time, who, body FROM log WHERE kind = 'amend' "
                               "ORDER BY number")
        return typed(self.path, "log", rows, int, float, str, bytes)

    def format(self):
        """The format of the file."""
        return self.db.execute("PRAGMA user_version").fetchone()[0]

    def tells(self):
        """Body, time and who of each tell and each amendment."""
        rows = self.db.execute("SELECT body, time, who FROM log WHERE kind IN ('tell', 'amend') "
                               "ORDER BY number")
        return typed(self.path, "log", rows, bytes, float, str)

    def state(self, expected):
        """The stored state of the policy, whose digest is `expected`."""
        rows = typed(self.path, "state", self.db.execute("SELECT part, body FROM state"), str,
                     bytes)
        self.parts = {part: (body, hashlib.sha256(body).digest()) for part, body in rows}
        if _digest_of(self.parts) != expected:
            raise StudyDamaged(f"{self.path} is damaged: state is not what was recorded")
        values = decoded(self.path, "state", *(body for body, _ in self.parts.values()))
        return dict(zip(self.parts, values, strict=True))

    def wells(self, number):
        """The batch of a number, or None."""
        row = self._batches("WHERE number = ?", number).fetchone()
        return row and self.wells_of(row)

    def _batches(self, which, *values):
        """Rows of `batches`."""
        rows = self.db.execute("SELECT number, status, arms, results, marks FROM batches " + which,
                               values)
        return typed(self.path, "batches", rows, int, str, bytes, bytes, bytes)

    def all_wells(self):
        """All batches in order."""
        # map: what was read of a batch is gone by the time that its arrays are used
        return map(self.wells_of, self._batches("ORDER BY number"))

    def sizes(self):
        """Wells of each batch in order, without reading them: a mark is a byte."""
        head = len(encode(np.empty(0, dtype=np.uint8)))
        rows = self.db.execute("SELECT length(marks) FROM batches ORDER BY number")
        for size, in typed(self.path, "batches", rows, int):
            if size < head:
                raise StudyDamaged(f"{self.path} is damaged: batches: a row holds no marks")
            yield size - head

    def wells_of(self, row):
        number, status, *contents = row
        arms, values, marks = decoded(self.path, f"batches: batch {number}", *contents)
        check_batch(self.path, number, status, (arms, values, marks), self.n_arms)
        return Wells(number, arms, status, values, marks)

    def late(self):
        """Late results that wait for the policy, in order."""
        rows = self.db.execute("SELECT arms, results FROM late ORDER BY place")
        late = [tuple(decoded(self.path, "late", *row))
                for row in typed(self.path, "late", rows, bytes, bytes).fetchall()]
        for columns in late:
            check_late(self.path, columns, self.n_arms)
        self.n_late = len(late)
        return late

    # what is written

    def append(self, event, body, wells, ledger):
        """An event, its body in bytes, and where it leads; the new head."""
        self.db.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)",
                        (*event[:4], body, event.digest))
        if event.kind in FORMATS:
            self.need_format(FORMATS[event.kind])
        if wells is not None:
            self.put_wells(wells, is_new=event.kind == "ask")
        if event.kind == "tell" and wells.status == "open":
            # the policy hears of a batch when it is over
            state = _digest_of(self.parts) if self.durable else b""
        else:
            self.put_late(ledger.late, event.kind == "amend")
            state = self.put_state(ledger.state()) if self.durable else b""
        head = Head(event.number + 1, event.digest, ledger.n_batches, int(ledger.asked), state)
        self.db.execute("INSERT OR REPLACE INTO head VALUES (0, ?, ?, ?, ?, ?)", head)
        return head

    def need_format(self, form):
        """From now on an older pybandit refuses the file, and says so."""
        if self.format() < form:
            self.db.execute(f"PRAGMA user_version = {form}")
            self.db.execute(AMENDMENTS)

    def put_wells(self, wells, is_new):
        """A batch as it is now; its arms never change."""
        now = wells.status, encode(wells.values), encode(wells.marks)
        if is_new:
            self.db.execute("INSERT INTO batches (number, arms, status, results, marks) "
                            "VALUES (?, ?, ?, ?, ?)", (wells.number, encode(wells.arms), *now))
        else:
            self.db.execute("UPDATE batches SET status = ?, results = ?, marks = ? "
                            "WHERE number = ?", (*now, wells.number))

    def put_late(self, late, are_others):
        """These are what waits now: those that did, and more, or none; or others, amended ones."""
        if are_others or self.n_late > len(late):
            self.db.execute("DELETE FROM late")
            self.n_late = 0
        for place in range(self.n_late, len(late)):
            self.db.execute("INSERT INTO late VALUES (?, ?, ?)",
                            (place, *map(encode, late[place])))
        self.n_late = len(late)

    def put_state(self, state):
        """The policy's state, of which only what changed is written; its digest."""
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
    """One digest of all parts of a state."""
    return hashlib.sha256(encode({part: digest for part, (_, digest) in parts.items()})).digest()


def _begin(store, fill):
    """The tables of a new study, and what `fill` writes."""
    store.db.execute(f"PRAGMA application_id = {APPLICATION}")
    store.db.execute(f"PRAGMA user_version = {FIRST_FORMAT}")

    def work():
        for statement in SCHEMA.split(";"):
            store.db.execute(statement)
        fill(store)

    store.run(work)


def _connect(address):
    # one connection for all threads: whoever uses it holds the study's lock
    connection = sqlite3.connect(address, timeout=PATIENCE, isolation_level=None,
                                 check_same_thread=False, uri=address.startswith("file:"))
    try:
        connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_unwritable(path):
    if _has_log(path):
        raise StudyError(f"{path} cannot be read where it cannot be written, because {path}-wal "
                         "is not yet part of it; copy both to where they can")
    return _connect(_address(path, "immutable=1"))


def _address(path, options):
    # bytes: names may be no text
    return f"file:{quote(os.fsencode(os.path.abspath(path)))}?{options}"


def _has_log(path):
    return os.path.exists(path + "-wal") and os.path.getsize(path + "-wal") > 0
