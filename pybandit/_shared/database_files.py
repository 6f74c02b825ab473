"""Files of studies: checks before SQLite opens them, and atomic creation."""

import os
import secrets
import stat
import sys
import time
from contextlib import contextmanager

from pybandit._shared.errors import StudyDamagedError, StudyError
from pybandit._shared.files import replace

SIDES = "-wal", "-shm", "-journal"


def checked(path, kind):
    """Return `path` as str if SQLite may open it.

    A journal makes SQLite write into the file, and delete every file that the journal names.
    Studies and stores are in WAL mode and never have one. SQLite also writes into whatever has
    the name of the log or of its index, so these must be regular files with one name.

    Raises
    ------
    FileNotFoundError
        If there is no file.
    StudyDamagedError
        If the file, or a file next to it, may not be opened.
    """
    path = os.fsdecode(path)
    resolved = os.path.realpath(path)
    try:
        mode, n_names = _mode_of(resolved)
    except FileNotFoundError:
        raise FileNotFoundError(f"path must be that of a {kind}; {path} does not exist") from None
    except (OSError, ValueError) as error:  # a name too long or with a null, a loop of links
        raise StudyError(f"{path!r} cannot be opened: {error}") from None
    if not stat.S_ISREG(mode):
        raise StudyDamagedError(f"{path} is not a {kind}: it must be a regular file")
    if n_names > 1:
        raise StudyDamagedError(f"{path} has {n_names} names (hard links), and SQLite would keep a "
                                "log for each of them; copy it and open the copy")
    for side in SIDES:
        try:
            found = os.lstat(resolved + side)
        except FileNotFoundError:
            continue
        if side == "-journal":
            raise StudyDamagedError(f"{path} cannot be opened next to {resolved}{side}: a {kind} "
                                    "never has such a file, and SQLite would delete the files that "
                                    "it names; move it away")
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            raise StudyDamagedError(f"{path} cannot be opened next to {resolved}{side}, which must "
                                    "be a regular file without hard links")
    return path


def _mode_of(path):
    """Return the mode of a file and its number of names, which is 2 while it is being created."""
    for _ in range(5):
        found = os.stat(path)
        if found.st_nlink == 1 or not stat.S_ISREG(found.st_mode):
            break
        time.sleep(0.02)
    return found.st_mode, found.st_nlink


def check_header(path, application, kind):
    """Raise StudyDamagedError unless a file is a database with this application identifier.

    SQLite writes a log that it finds next to any file into that file.
    """
    with open(path, "rb") as file:
        header = file.read(100)
    if len(header) < 100 or not header.startswith(b"SQLite format 3\0"):
        raise StudyDamagedError(f"{path} is damaged or not a {kind}: file is not a database")
    if int.from_bytes(header[68:72], "big") != application:
        raise StudyDamagedError(f"{path} is not a {kind}, but another SQLite database")


def size_of(path):
    """Return the size of a file in bytes, 0 if there is none."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


@contextmanager
def published(path, overwrite):
    """Yield the path of a draft to write and close, which then replaces `path`; atomic and durable.

    Raises
    ------
    FileExistsError
        If `path`, or a log that SQLite would use for it, exists and `overwrite` is False.
    StudyError
        If the existing file cannot be replaced.
    """
    if not overwrite:
        _refuse_existing(path)
    elif os.path.lexists(path) and not os.path.isfile(path):
        raise StudyError(f"{path} cannot be replaced: it must be a regular file")
    draft = f"{path}.{secrets.token_hex(8)}.new"
    try:
        yield draft
        _sync(draft)
        if overwrite:
            _check_closed(path)
            _drop(path, *SIDES)  # or SQLite would apply the old study's log to the new one
            replace(draft, path)
        else:
            _link(draft, path)
        _sync_folder(os.path.dirname(os.path.abspath(path)))
    finally:
        try:
            _drop(draft, "", *SIDES)
        finally:  # Ctrl-C may end the first attempt
            _drop(draft, "", *SIDES)


def _refuse_existing(path):
    for name in ("", *SIDES):
        if os.path.lexists(path + name):
            raise FileExistsError(f"path must be that of a new study; {path + name} exists")


def _check_closed(path):
    """Raise StudyError if Windows would not replace `path`, before its log is removed.

    Windows refuses to rename a file that a program has open, also to its own name.
    """
    if os.path.lexists(path):
        try:
            os.rename(path, path)
        except OSError as error:
            raise StudyError(f"{path} cannot be replaced: close it in other programs first; "
                             f"{error}") from None


def _drop(path, *names):
    for name in names:
        try:
            os.unlink(path + name)
        except FileNotFoundError:
            pass
        except OSError as error:  # a folder, for example
            raise StudyError(f"{path + name} cannot be removed: {error}") from None


def _link(draft, path):
    """Rename a file without replacing an existing one."""
    try:
        if sys.platform == "win32":
            # os.rename refuses there to replace. A draft with a second name could not be removed
            # once another process has opened `path`.
            os.rename(draft, path)
        else:
            os.link(draft, path)
    except FileExistsError:
        raise FileExistsError(f"path must be that of a new study; {path} exists") from None
    except OSError:
        # a file system without links
        _refuse_existing(path)
        os.rename(draft, path)


def _sync(path, access=os.O_RDWR):  # Windows writes only files to the disk that may be written
    handle = os.open(path, access)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(path):
    if hasattr(os, "O_DIRECTORY"):  # Windows cannot open folders
        _sync(path, os.O_RDONLY)


class Place:
    """The file that a database connection writes to, even if another file takes its name."""

    def __init__(self, shown, path, kind):
        self.shown, self.path, self.kind = shown, path, kind
        self.file = self._found()

    def check(self):
        """Raise StudyError if the name now belongs to a different file, or to none."""
        if self._found() != self.file:
            raise StudyError(f"{self.shown} was moved, removed or replaced while the {self.kind} "
                             "was open: open it again")

    def _found(self):
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_dev, found.st_ino
