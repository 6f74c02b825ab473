"""Kinds of study files: a plain study, a screen, a web test."""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from pybandit.studies._recorder import type_of
from pybandit.studies._rows import check_first, decoded
from pybandit.studies._store import Store

# The function that opens a file of each kind, for errors.
OPENED_BY = {"study": "pybandit.Study.open", "screen": "pybandit.lab.Screen.open",
             "webtest": "pybandit.webtests.WebTest.open"}


class Kind(NamedTuple):
    """A kind of file, and the function that finds the class of its policy by name."""

    name: str
    type_of: Callable[[str, type | None], Any] = type_of
    # Other kinds that open as this one: a screen is a study with plates in its settings.
    takes: tuple[str, ...] = ()

    def check(self, path: str, found: str) -> None:
        """Raise ValueError if a file is of another kind."""
        if found not in (self.name, *self.takes):
            raise ValueError(f"path must be the file of a {self.name}; {path} is the file of a "
                             f"{found}: open it with {OPENED_BY.get(found, 'a newer pybandit')}")


STUDY = Kind("study", takes=("screen",))


def kind_of(path: str | os.PathLike[str], without_log: bool = False) -> str:
    """Return the kind of a file: "study", "screen" or "webtest".

    Parameters
    ----------
    path : str or path-like
    without_log : bool, default False
        As in `Study.open`.

    Returns
    -------
    str

    Raises
    ------
    FileNotFoundError, StudyDamagedError, StudyVersionError, StudyError
        As in `Study.open`.

    Examples
    --------
    >>> import pybandit as pb
    >>> pb.webtests.WebTest.create("buttons.db", pb.CountRace(2)).close()
    >>> pb.studies.kind_of("buttons.db")
    'webtest'
    """
    store = Store.open(os.fspath(path), without_log)
    try:
        row = store.run(lambda: store.events(most=1).fetchone(), write=False)
        (first,) = [None] if row is None else decoded(store.path, "log: event 0", row[4])
        return str(check_first(store.path, first)["kind"])
    finally:
        store.close()
