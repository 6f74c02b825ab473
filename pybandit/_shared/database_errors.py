"""Convert SQLite's errors to the errors of studies."""

import sqlite3
from contextlib import contextmanager

from pybandit._shared.errors import StudyDamagedError, StudyError

# SQLite's primary result codes
DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT,
           sqlite3.SQLITE_MISMATCH}
CLOSED_TO_WRITING = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM,
                     sqlite3.SQLITE_AUTH}
NO_ROOM = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_TOOBIG}
BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


# errors that damaged contents cause in the code that reads them
MISREAD = ArithmeticError, AttributeError, LookupError, TypeError, ValueError


@contextmanager
def as_recorded(path, what):
    """Convert errors in reading damaged contents to StudyDamagedError for `what` at `path`."""
    try:
        yield
    except MISREAD as error:
        raise StudyDamagedError(f"{path} is damaged: {what}: {error!r}") from error


def code_of(error):
    """Return SQLite's primary result code of an error, or None."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


@contextmanager
def named(path, kind="study"):
    """Convert SQLite's errors to errors of the study, or other `kind`, at `path`."""
    try:
        yield
    except UnicodeDecodeError as error:  # SQLite's message quotes the file
        raise StudyDamagedError(f"{path} is damaged or not a {kind}: {error.object!r}") from error
    except sqlite3.ProgrammingError as error:
        raise ValueError(f"the {kind} {path} is closed: {error}") from error
    except sqlite3.DatabaseError as error:
        code = code_of(error)
        # a table or column that is missing has no code of its own
        if code in DAMAGED or (code == sqlite3.SQLITE_ERROR and "no such" in str(error)):
            raise StudyDamagedError(f"{path} is damaged or not a {kind}: {error}") from error
        if code in CLOSED_TO_WRITING:
            raise StudyError(f"{path} cannot be written and is unchanged: {error}") from error
        if code in NO_ROOM:
            raise StudyError(f"{path} could not be written and is unchanged; the disk may be full: "
                             f"{error}") from error
        if code == sqlite3.SQLITE_INTERRUPT:  # by `Database._count_steps`
            raise StudyDamagedError(f"{path} is damaged or not a {kind}: reading its tables "
                                    "does not end") from error
        if code in BUSY:
            raise StudyError(f"{path} is busy: timed out waiting for another process to finish "
                             f"writing: {error}") from error
        raise StudyError(f"{path}: {error}") from error
