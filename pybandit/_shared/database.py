"""Open SQLite files, and run transactions on them. Nothing else in the package opens SQLite.

A file from a stranger may contain anything. `database_files.checked` and `check_header` examine it
and its neighbours before SQLite does, and `Database._guard` restricts what SQLite may do. [1]_

The newest transactions of a file are in its log, ``<path>-wal``, until SQLite moves them into
the file. A file that was moved without its log looks complete, only older. So the file has a
mark, `is_next` in the table ``writes``: 1 if the next transaction is in the log. It is set in
the file itself before the log gets its first transaction, and that transaction resets it. If a
file has the mark and no log, later transactions are missing. When SQLite ends a log, it moves all
of it into the file, the reset included.

References
----------
.. [1] "Defense Against The Dark Arts", https://sqlite.org/security.html
"""

import os
import sqlite3
import threading
import time
import weakref
from contextlib import suppress
from urllib.parse import quote

from pybandit._shared.database_errors import CLOSED_TO_WRITING, code_of, named
from pybandit._shared.database_files import Place, check_header, checked, size_of
from pybandit._shared.errors import StudyDamagedError, StudyError

PATIENCE = 30.0  # seconds to wait for another writer
MARK_PATIENCE = 0.1  # seconds to wait for readers at the start of a log
LOG_BYTES = 1 << 22  # a larger log is moved into the file
LEAST_LOG = 32 + 24 + 4096  # size of a log with one page: both headers and the page
WRITES = """CREATE TABLE writes (only INTEGER PRIMARY KEY CHECK (only = 0),
                     is_next INTEGER NOT NULL)"""
LIMITS = {sqlite3.SQLITE_LIMIT_ATTACHED: 0, sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
          sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 10, sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1_000_000,
          sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
          sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0}
# Steps of SQLite's virtual machine in one transaction: a scan takes some ten for each row, and
# pages that contain each other would be scanned indefinitely.
STEP, FREE_STEPS, STEPS_PER_BYTE = 100_000, 20_000_000, 100


# Databases of this process. The lock keeps `check_header` from reading a file while another
# thread opens it; see `_is_open_here`.
_DATABASES, _OPENING = weakref.WeakSet(), threading.Lock()


class Database:
    """One connection to a file or to memory, and its transactions.

    Parameters
    ----------
    shown : str
        Path as the user wrote it, for messages; ":memory:" for memory.
    kind : str
        The file's kind, for messages.
    access : {"rw", "ro", "draft"}
        "ro" if the file cannot be written; "draft" for a new file, which is not in WAL mode yet.

    Attributes
    ----------
    path : str or None
        Absolute path with symbolic links resolved; None for memory.
    db : sqlite3.Connection
    read_only, is_open : bool
    lost_log : bool
        True if the newest changes were in a log that is not there.
    """

    def __init__(self, shown, kind="study", access="rw"):
        self.shown, self.kind, self.read_only = shown, kind, access == "ro"
        self.path = None if shown == ":memory:" else os.path.realpath(shown)
        self._keeps_log = access == "rw" and self.path is not None
        self._place = Place(shown, self.path, kind) if self.path and access != "draft" else None
        self._steps, self._is_owed, self.lost_log = 0, False, False
        with _OPENING:
            self.db = _connect(_address(self.path, access))
            self.is_open = True
            _DATABASES.add(self)
        try:
            self._guard()
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, shown, check, application, kind="study", without_log=False):
        """Open a file for reading and writing, or for reading if it cannot be written.

        `check(database)` raises an error unless the contents are those of its kind, whose
        application identifier is `application`. `without_log` accepts a file whose log is lost.
        """
        shown = checked(shown, kind)
        with _OPENING:
            if not _is_open_here(shown):
                check_header(shown, application, kind)
        with named(shown, kind):
            for is_last in (False, False, True):
                had_log = size_of(os.path.realpath(shown) + "-wal") >= LEAST_LOG
                found = cls._opened(shown, check, kind)
                found.lost_log = not had_log and found._was_marked
                if without_log or not found.lost_log:
                    found._set_patience(0)  # another process may run the transaction
                    found._forget_mark()
                    found._set_patience(PATIENCE)
                    return found
                found.close()
                if not is_last:
                    time.sleep(0.05)  # another process may have just started the log
            raise StudyDamagedError(
                f"{shown} lacks its newest changes: it was in use when its process ended or when "
                f"it was copied, and they are in {os.path.basename(found.path)}-wal, which must be "
                "next to it; `pybandit study recover` continues without them")

    @classmethod
    def _opened(cls, shown, check, kind):
        try:
            return cls(shown, kind)._checked(check)
        except sqlite3.OperationalError as error:
            if code_of(error) not in CLOSED_TO_WRITING:
                raise
        if size_of(os.path.realpath(shown) + "-wal"):
            raise StudyError(f"{shown} cannot be read without write access: its newest changes "
                             f"are in {shown}-wal; copy both files to a writable folder")
        return cls(shown, kind, "ro")._checked(check)

    def _checked(self, check):
        try:
            check(self)
            self._was_marked = self._is_marked()
            mode, = self.db.execute("PRAGMA journal_mode").fetchone()
            if mode != "wal" and not self.read_only:
                raise StudyDamagedError(f"{self.shown} is damaged or not a {self.kind}: its "
                                        f"journal mode must be wal; got {mode}")
        except BaseException:
            self.close()
            raise
        return self

    def reopen(self, check, application):
        """Open the file again after `close`; an error if another file has its name now."""
        self._check_place()
        self.db = Database.open(self.path, check, application, self.kind).db
        self.db.set_progress_handler(self._count_steps, STEP)
        self.is_open = True

    def _guard(self):
        """Restrict SQLite, so that the contents of a file cannot make it run or write anything."""
        db = self.db
        for category, limit in LIMITS.items():
            db.setlimit(category, min(limit, db.getlimit(category)))
        if hasattr(db, "setconfig"):  # from Python 3.12 on
            for name, value in (("DEFENSIVE", True), ("TRUSTED_SCHEMA", False),
                                ("ENABLE_TRIGGER", False), ("ENABLE_VIEW", False)):
                db.setconfig(getattr(sqlite3, f"SQLITE_DBCONFIG_{name}"), value)
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0",
                       "cache_size = -2000", "synchronous = FULL", "wal_autocheckpoint = 0"):
            db.execute(f"PRAGMA {pragma}")
        db.set_progress_handler(self._count_steps, STEP)

    def _count_steps(self):
        """Return True, which ends the statement, after more steps than the file can need."""
        self._steps += STEP
        if self._steps <= FREE_STEPS or self.path is None:
            return False
        size = size_of(self.path) + size_of(self.path + "-wal")
        return self._steps > FREE_STEPS + STEPS_PER_BYTE * size

    def run(self, work, write=True):
        """Return `work()`, done in one transaction that is on the disk when this returns.

        This is a function and not a context manager, because the frame of a generator lives as
        long as the traceback of Ctrl-C, and an interactive session keeps that.
        """
        with named(self.shown, self.kind):
            if not write and (self.path is None or self.db.in_transaction):
                return work()  # in memory, or part of a larger reading
            if write and self.read_only:
                raise StudyError(f"{self.shown} cannot be written: it is read-only")
            self._steps = 0
            has_written, keeps_log = False, write and self._keeps_log
            try:
                if keeps_log:
                    self._mark_log()
                self.db.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                self._check_place()
                before = self.db.total_changes
                result = work()
                has_written = self.db.total_changes != before
                if has_written and keeps_log:
                    self.db.execute("UPDATE writes SET is_next = 0 WHERE is_next")
                self.db.execute("COMMIT")
            except BaseException:
                has_written = False
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")
                raise
            finally:
                if keeps_log and not has_written:
                    self._forget_mark()
            return result

    def _check_place(self):
        if self._place is not None:
            self._place.check()

    def close(self):
        self.is_open = False
        self.db.close()

    # the log

    def _is_marked(self):
        row = self.db.execute("SELECT is_next FROM writes").fetchone()
        if row is None:
            raise StudyDamagedError(f"{self.shown} is damaged: its table writes is empty")
        return bool(row[0])

    def _mark_log(self):
        """Set the mark, which says that later transactions are in the log, unless it is set.

        Readers may keep SQLite from moving the mark into the file. Then the next transaction
        tries again, because no transaction may wait for long readers.
        """
        size = size_of(self.path + "-wal")
        if not (self._is_owed or size == 0 or size > LOG_BYTES):
            return
        self._check_place()
        if size > LOG_BYTES:
            self._move_log("TRUNCATE")
        self._in_transaction("UPDATE writes SET is_next = 1")
        # FULL keeps the log's disk space, so that the mark can be undone on a full disk
        self._is_owed = self._move_log("FULL")

    def _move_log(self, mode):
        """Move the log into the file; return True if readers prevented it."""
        self._set_patience(MARK_PATIENCE)
        try:
            busy, *_ = self.db.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
        finally:
            self._set_patience(PATIENCE)
        return bool(busy)

    def _forget_mark(self):
        """Undo `_mark_log` if no transaction followed: nothing is missing without the log."""
        if not self._keeps_log:
            return
        with suppress(sqlite3.Error):  # else opening the file raises an error
            if self._is_marked():
                self._in_transaction("UPDATE writes SET is_next = 0")

    def _in_transaction(self, statement):
        try:
            self.db.execute("BEGIN IMMEDIATE")
            self.db.execute(statement)
            self.db.execute("COMMIT")
        except BaseException:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            raise

    def _set_patience(self, seconds):
        self.db.execute(f"PRAGMA busy_timeout = {int(1000 * seconds)}")


def _is_open_here(path):
    """Return True if this process has the file open; it must then not be opened again.

    Closing another descriptor of a file releases all locks of the process on it (POSIX), those
    of SQLite included.
    """
    file = Place(path, os.path.realpath(path), "").file
    return any(one.is_open and one._place and one._place.file == file for one in list(_DATABASES))


def begin_writes(db):
    """Fill the table `writes` of a new file."""
    db.execute("INSERT INTO writes VALUES (0, 0)")


def _connect(address):
    # one connection for all threads, which take turns by a lock of the caller
    return sqlite3.connect(address, timeout=PATIENCE, isolation_level=None,
                           check_same_thread=False, uri=address.startswith("file:"))


def _address(path, access):
    if path is None:
        return ":memory:"
    options = {"rw": "mode=rw", "ro": "immutable=1", "draft": "mode=rwc"}[access]
    # as bytes: a file name need not be valid text
    return f"file:{quote(os.fsencode(path))}?{options}"


def check_tables(path, db, statements, kind="study"):
    """Raise an error if a database lacks a table of `statements`, or has other objects than tables.

    `statements` are those that created the database. Its indices may be missing, and the file may
    have additional tables.
    """

    def refuse(what):
        raise StudyDamagedError(f"{path} is damaged or not a {kind}: {what}")

    missing = {_plain(statement) for statement in statements} - {""}
    for type_, name, statement in db.execute("SELECT type, name, sql FROM sqlite_master"):
        statement = _plain(statement)
        if statement in missing:
            missing.remove(statement)
        # SQLite uses the statement and ignores the type
        elif statement and not statement.upper().startswith("CREATE TABLE "):
            refuse(f"it has the {type_} {name}, which does not belong to a {kind}")
    for statement in sorted(missing):
        if statement.startswith("CREATE TABLE "):
            refuse(f"its table {statement.split()[2]} is missing or was changed")


def _plain(statement):
    """Return a statement in one line, as SQLite stores it; "" for an automatic index."""
    return " ".join(str(statement or "").replace("IF NOT EXISTS ", "").split())
