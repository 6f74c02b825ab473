"""An experiment in one file that survives crashes.

A batch goes through these states; each step is one event of the log::

                 tell: some wells          tell: the last well
               +------------------+      +----------------------> complete
               v                  |      |
    ask ---> open ----------------+------+----------------------> closed
                             close_batch: pending results are lost
               |
               +--> abandoned: never carried out; the next ask gives the same arms

The policy receives the results when a batch is complete or closed. A result of a lost well
is late: it is recorded, and the policy receives it (`Policy.add_late`) as soon as it waits
for no other results. An abandoned batch takes no results.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from pybandit._shared.checks import check_flag
from pybandit.studies._changes import ChangeMethods
from pybandit.studies._create import created
from pybandit.studies._kinds import STUDY, Kind
from pybandit.studies._notebook import NotebookDisplay
from pybandit.studies._races import as_policy
from pybandit.studies._reads import ReadMethods
from pybandit.studies._store import Store


class Study(ChangeMethods, ReadMethods, NotebookDisplay):
    """A run of a policy in one file, which survives crashes and accepts late and lost results.

    Created by `Study.create` or `Study.open`. When a method that changes the study returns,
    the change is on the disk. Several processes and threads may use one study at once.

    Attributes
    ----------
    path : str
    arms : list of str
    settings : dict
    policy : Policy or race
        A copy.

    Notes
    -----
    While a study is open, part of its log is in ``<path>-wal``. Copy both files, or close the
    study first.

    Examples
    --------
    >>> import pybandit as pb
    >>> study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
    ...                         arms=["tea", "coffee"])
    >>> batch = study.ask()
    >>> batch.names
    ['tea', 'coffee', 'tea', 'coffee']
    >>> study.tell(batch.id, [0.1, 0.4, float("nan"), 0.6])
    TellResult(n_new=3, n_known=0, complete=False)
    >>> study.tell(batch.id, [0.3], positions=[2])
    TellResult(n_new=1, n_known=0, complete=True)
    >>> study.recommend().best_names
    ['coffee']
    """

    @classmethod
    def create(cls, path: str | os.PathLike[str], policy: Any, arms: Sequence[str] | None = None, *,
               who: str | None = None, settings: dict[str, Any] | None = None,
               overwrite: bool = False) -> Self:
        """Create a study.

        Parameters
        ----------
        path : str or path-like
            File to create, or ``":memory:"``. After a crash the file is complete or absent; a
            draft ``<path>.*.new`` may be left, which can be deleted.
        policy : Policy, BettingRace, BettingThreshold or BudgetRace
            New or used; the study keeps its own copy. A user-defined class needs ``get_state``
            and ``from_state``, with a state of plain values and arrays. Batches of a race also
            have `items`, and none of their results can be lost.
        arms : sequence of str, optional
            Unique names, one per arm; by default "0", "1", ...
        who : str, optional
            Author recorded in the log; by default user@host.
        settings : dict, optional
            Stored with the study. Nested dicts with str names, lists, text and numbers.
        overwrite : bool, default False
            True to replace an existing file, which must not be in use.

        Raises
        ------
        FileExistsError
            If the file exists.
        ValueError, TypeError
            If an argument is invalid.
        StudyError
            If the file cannot be written.

        Examples
        --------
        >>> import pybandit as pb
        >>> policy = pb.policies.BatchScreening(2000, 20, batch_size=384, max_batches=12)
        >>> study = pb.Study.create("screen.study", policy, settings={"assay": "viability"})
        >>> study
        <Study 'screen.study': BatchScreening, 2000 arms>
        >>> study.close()
        """
        policy = as_policy(policy)
        store = created(path, STUDY, policy, arms, who=who, settings=settings, overwrite=overwrite)
        return cls(store, STUDY, type(policy), who)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, policy_type: type | None = None,
             who: str | None = None, without_log: bool = False) -> Self:
        """Open an existing study.

        Parameters
        ----------
        path : str or path-like
        policy_type : type, optional
            The policy's class, if it is not one of pybandit's policies.
        who : str, optional
            As in `create`.
        without_log : bool, default False
            True to continue without the changes in ``<path>-wal`` if that file is lost.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If `policy_type` is needed but missing, or is not the class of the policy. Also if
            the file is that of a web test; the message then names the function to use. The file
            of a screen can be opened, because its log is that of a study.
        StudyDamagedError
            If the file is not a study, is truncated, differs from its own log, or lacks its
            newest changes because it was moved or copied without ``<path>-wal``. Also if there
            is a file ``<path>-journal``, which could make SQLite delete files.
        StudyVersionError
            If a newer pybandit wrote the file.
        StudyError
            If the file cannot be read.

        Notes
        -----
        The policy's state is read from the file, and the events recorded since it was stored are
        replayed; `verify` replays the whole log. If the file is read-only, methods that change the
        study raise `StudyError`.

        Examples
        --------
        >>> import pybandit as pb
        >>> pb.Study.create("tea.study", pb.policies.Uniform(2, budget=4),
        ...                 arms=["tea", "coffee"]).close()
        >>> with pb.Study.open("tea.study", who="Ann") as study:
        ...     print(study.ask().names)
        ['tea', 'coffee', 'tea', 'coffee']
        """
        return opened(STUDY, path, policy_type, who, without_log, cls)

    def close(self) -> None:
        """Close the file. Closing it again has no effect."""
        with self._lock:
            self._store.close()
            self._progress = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            if name in ("tell_counts", "amend_counts", "split", "add_arm", "retire", "counts"):
                raise AttributeError(f"a Study takes results of batches, by tell; {name} is a "
                                     "method of pybandit.webtests.WebTest")
            raise AttributeError(f"'Study' object has no attribute {name!r}", name=name, obj=self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a Study is an open file and cannot be pickled or copied; open the file "
                        f"where it is needed: Study.open({self.path!r})")

    def __repr__(self) -> str:
        return f"<Study {self.path!r}: {self._type.__name__}, {self._names.size} arms>"


def opened(kind: Kind, path: str | os.PathLike[str], policy_type: type | None, who: str | None,
           without_log: bool, cls: Any = Study) -> Any:
    """Open a file of this kind as a `Study`, or as another class `cls`."""
    store = Store.open(os.fspath(path), check_flag("without_log", without_log))
    try:
        return cls(store, kind, policy_type, who)
    except BaseException:
        store.close()
        raise
