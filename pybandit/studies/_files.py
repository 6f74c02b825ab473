"""A study's file comes to be whole or not at all, and stays where it is."""

import os
import secrets
from contextlib import contextmanager, suppress

from pybandit.studies._errors import StudyError

SIDES = "-wal", "-shm", "-journal"


@contextmanager
def published(path, overwrite):
    """The path of a file to fill and close, which then becomes `path`; atomic and durable.

    Raises
    ------
    FileExistsError
        Where `path` exists without `overwrite`, or a log that SQLite would take for its own.
    """
    if not overwrite:
        _refuse_existing(path)
    draft = f"{path}.{secrets.token_hex(8)}.new"
    try:
        yield draft
        _sync(draft)
        if overwrite:
            _drop(path, *SIDES)  # else SQLite would play the old study's log into the new one
            os.replace(draft, path)
        else:
            _link(draft, path)
        _sync(os.path.dirname(os.path.abspath(path)))
    finally:
        try:
            _drop(draft, "", *SIDES)
        finally:  # Ctrl-C may end that too
            _drop(draft, "", *SIDES)


def _refuse_existing(path):
    for name in ("", *SIDES):
        if os.path.lexists(path + name):
            raise FileExistsError(f"path must be that of a new study; {path + name} exists")


def _drop(path, *names):
    for name in names:
        with suppress(FileNotFoundError):
            os.unlink(path + name)


def _link(draft, path):
    """A rename that does not replace."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise FileExistsError(f"path must be that of a new study; {path} exists") from None
    except OSError:
        # a file system without links
        _refuse_existing(path)
        os.rename(draft, path)


def _sync(path):
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Place:
    """Where a database was opened: what is written goes there, whatever takes its name."""

    def __init__(self, path, kind="study"):
        self.shown, self.kind = path, kind
        self.path = os.path.abspath(path)  # the process may go to another folder
        self.file = self._found()

    def check(self):
        """Raises where the name is another file's by now, or nobody's."""
        if self._found() != self.file:
            raise StudyError(f"{self.shown} was moved, removed or replaced while the {self.kind} "
                             "was open: open it again")

    def _found(self):
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_dev, found.st_ino
