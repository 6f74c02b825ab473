"""An experiment in one file: asked, told, and the same after any crash.

A batch goes through these states, each step one event of the log::

                 tell: some wells          tell: the last well
               +------------------+      +----------------------> complete
               v                  |      |
    ask ---> open ----------------+------+----------------------> closed
               |                         close_batch: the rest is lost
               |
               +--> abandoned: never carried out; the next ask gives the same arms

The policy is told when a batch is complete or closed. A result of a well that was lost is
late: it is recorded, and the policy gets it (`Policy.add_late`) as soon as it has nothing
asked. What is abandoned takes no results.
"""

import copy
import os
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from pybandit._shared.checks import check_integer
from pybandit._shared.types import ArrayLike
from pybandit._shared.version import __version__
from pybandit.studies import _journal
from pybandit.studies._codec import decode, encode
from pybandit.studies._counted import Counted
from pybandit.studies._create import checked_names, checked_state
from pybandit.studies._history import history_of
from pybandit.studies._journal import Event
from pybandit.studies._races import as_policy
from pybandit.studies._recorder import default_who, event_of, reading, writing
from pybandit.studies._store import Store
from pybandit.studies._tell import check_over, news_of
from pybandit.studies._verify import verified
from pybandit.studies.results import (
    Batch,
    BatchRecord,
    Recommendation,
    Status,
    TellResult,
    VerifyResult,
)


class Study(Counted):
    """A run of a policy that survives crashes, late answers and lost ones; in one file.

    Made by `Study.create` or `Study.open`. When a method that changes the study returns,
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
    A file in use has part of its log in ``<path>-wal``: copy both, or close the study first.

    Examples
    --------
    >>> import pybandit as pb
    >>> study = pb.Study.create(":memory:", pb.Uniform(2, budget=4), arms=["tea", "coffee"])
    >>> batch = study.ask()
    >>> batch.names
    ['tea', 'coffee', 'tea', 'coffee']
    >>> study.tell(batch.id, [0.1, 0.4, float("nan"), 0.6])
    TellResult(n_new=3, n_known=0, complete=False)
    >>> study.tell(batch.id, [0.3], positions=[2])
    TellResult(n_new=1, n_known=0, complete=True)
    >>> study.recommend().names
    ['coffee']
    """

    @classmethod
    def create(cls, path: str | os.PathLike[str], policy: Any, arms: Sequence[str] | None = None, *,
               who: str | None = None, settings: dict[str, Any] | None = None,
               overwrite: bool = False) -> Self:
        """Begin a study.

        Parameters
        ----------
        path : str or path-like
            The file to make, or ``":memory:"``. A crash leaves none of it or all, and
            perhaps a draft, ``<path>.*.new``, of no use to anybody.
        policy : Policy, BettingRace, BettingThreshold, BudgetRace or CountRace
            Fresh or used; the study has its own copy. One of your own class needs
            ``get_state`` and ``from_state``, of plain values and arrays. Of a race batches
            have `items` too, and nothing can be lost.
        arms : sequence of str, optional
            Unique names, one an arm; by default "0", "1", ...
        who : str, optional
            Who records; by default user@host.
        settings : dict, optional
            Anything made of dicts with text as names, lists, text and numbers; kept.
        overwrite : bool, default False
            Whether an existing file is replaced; nobody may be using it.

        Raises
        ------
        FileExistsError
            Where the file exists.
        ValueError, TypeError
            Where an argument is not as above.
        StudyError
            Where the file cannot be written.
        """
        policy = as_policy(policy)
        policy_type, names = type(policy), checked_names(policy, arms)
        state = checked_state(policy)
        settings = decode(encode({} if settings is None else settings, "settings"))
        if not isinstance(settings, dict):
            raise TypeError(f"settings must be a dict; got {type(settings).__name__}")
        first = {"policy": policy_type.__name__, "arms": names, "settings": settings,
                 "state": state, "version": __version__, "module": policy_type.__module__}
        name = default_who() if who is None else str(who)
        ledger = _journal.Ledger(policy_type.from_state(state))

        def fill(store):
            event, body = event_of(0, "create", name, first, _journal.START)
            store.append(event, body, None, ledger)

        path = os.fspath(path)
        return cls(Store.create(path, overwrite, fill), policy_type, who)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, policy_type: type | None = None,
             who: str | None = None) -> Self:
        """Go on with a study.

        Parameters
        ----------
        path : str or path-like
        policy_type : type, optional
            The policy's class, where it is not one of pybandit's policies.
        who : str, optional
            As in `create`.

        Raises
        ------
        FileNotFoundError
        ValueError
            Where `policy_type` is needed or another.
        StudyDamaged
            Where the file is no study, truncated, or not what was recorded.
        StudyVersionError
            Where a newer pybandit wrote it.
        StudyError
            Where it cannot be read.

        Notes
        -----
        The state is read, not replayed: `verify` does that. Where the file is read-only, what
        changes the study raises `StudyError`.
        """
        store = Store.open(os.fspath(path))
        try:
            return cls(store, policy_type, who)
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        """End the use of the file; again is fine."""
        with self._lock:
            self._store.close()
            self._ledger = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Study {self.path!r}: {self._type.__name__}, {self._names.size} arms>"

    # what changes the study

    def ask(self) -> Batch | None:
        """The batch to carry out now: the same until it is over; None once all is done.

        Returns
        -------
        Batch or None

        Raises
        ------
        StudyError
            Where it cannot be recorded.
        """
        known = self._asked()
        return self._ask() if known is None else known[0]

    @reading
    def _asked(self) -> tuple[Batch | None] | None:
        """The open batch, or None for the end; nothing where there is one to ask for."""
        if self._ledger.open is not None:
            return (self._batch(self._ledger.open),)
        return (None,) if self._ledger.policy.done else None

    @writing
    def _ask(self) -> Batch | None:
        ledger = self._ledger
        # unless another process did so in between
        if ledger.open is None:
            if ledger.policy.done:
                return None
            arms = np.array(ledger.policy.ask(), dtype=np.int64)
            self._record("ask", {"batch": ledger.n_batches, "arms": arms}, None)
        return self._batch(ledger.open)

    @writing
    def tell(self, batch_id: int, results: ArrayLike, *, missing: str = "wait",
             positions: ArrayLike | None = None, who: str | None = None) -> TellResult:
        """Record results of a batch: all, some, again, or late.

        Parameters
        ----------
        batch_id : int
        results : array_like of float, shape (n,)
            In the order of the batch's arms; NaN as `missing` says.
        missing : {"wait", "drop"}
            Whether NaN is a well not yet known, or one that is lost.
        positions : array_like of int, shape (n,), optional
            The wells that `results` are of, each once; by default all.
        who : str, optional
            By default who opened the study.

        Returns
        -------
        TellResult
            A result told before, and equal, counts as known and changes nothing.

        Raises
        ------
        ValueError, TypeError
            Where a result is another than the one recorded, infinite, or refused by the
            policy; names batch, well and arm. Nothing is recorded then.
        StudyError
            Where it cannot be recorded; the study is as before.
        """
        wells = self._wells(batch_id)
        news = news_of(wells, results, positions, missing, self._ledger.policy, self._names)
        if news.positions.size:
            body = {"batch": wells.number, "positions": news.positions, "values": news.values}
            wells = self._record("tell", body, wells, who)
        return TellResult(news.n_new, news.n_known, wells.status != "open")

    @writing
    def close_batch(self, batch_id: int) -> None:
        """Count what is not known of a batch as lost, and go on; again is fine.

        Raises
        ------
        ValueError
            Where there is no such batch, or it was abandoned.
        StudyError
            As `tell`.
        """
        wells = self._wells(batch_id)
        if not check_over(wells, "close", policy=self._ledger.policy):
            self._record("close", {"batch": wells.number}, wells)

    @writing
    def abandon(self, batch_id: int, *, discard: bool = False) -> None:
        """A batch was never carried out: nothing is spent; again is fine.

        The next `ask` gives the same arms under another id.

        Parameters
        ----------
        batch_id : int
        discard : bool, default False
            Whether results that were recorded are given up.

        Raises
        ------
        ValueError
            Where there is no such batch, it is complete or closed, or has results.
        StudyError
            As `tell`.
        """
        wells = self._wells(batch_id)
        if not check_over(wells, "abandon", discard):
            self._record("abandon", {"batch": wells.number}, wells)

    # what is known

    @property
    def path(self) -> str:
        """The file."""
        return self._store.path

    @property
    def arms(self) -> list[str]:
        """The arms' names; a list of str."""
        return self._names.tolist()

    @property
    def settings(self) -> dict[str, Any]:
        """What `create` was given; a copy."""
        return copy.deepcopy(self._settings)

    @property
    @reading
    def policy(self) -> Any:
        """The policy as it is now; a copy."""
        policy = self._type.from_state(self._ledger.policy.get_state())
        return getattr(policy, "race", policy)

    @reading
    def recommend(self) -> Recommendation:
        """The arms found, best first, at any time; a `Recommendation`."""
        policy = self._ledger.policy
        arms = np.asarray(policy.recommend())
        return Recommendation(arms, self._names[arms].tolist(), policy.means[arms],
                              policy.pulls[arms])

    @reading
    def status(self) -> Status:
        """Where the study is; a `Status`."""
        policy, wells, head = self._ledger.policy, self._ledger.open, self._head
        budget, batches = (getattr(policy, name, None) for name in ("budget", "max_batches"))
        changed = self._store.events(head.n_events - 1).fetchone()[2]
        return Status(
            path=self.path, policy=self._type.__name__, n_arms=policy.n_arms, k=policy.k,
            done=bool(policy.done), n_pulls=policy.n_pulls, n_batches=policy.n_batches,
            n_lost=policy.n_pulls - int(policy.pulls.sum()), n_asked=self._ledger.n_batches,
            open_batch=wells and wells.number,
            n_open=int((wells.marks == _journal.OPEN).sum()) if wells else 0,
            n_late=sum(arms.size for arms, _ in self._ledger.late),
            survivors=getattr(policy, "survivors", None), budget=budget, max_batches=batches,
            pulls_left=None if budget is None else budget - policy.n_pulls,
            batches_left=None if batches is None else batches - policy.n_batches,
            n_events=head.n_events, head=head.digest.hex(), created=self._created,
            changed=changed)

    @reading
    def batch(self, batch_id: int) -> BatchRecord:
        """What is recorded of a batch, open or over; a `BatchRecord`.

        Raises
        ------
        ValueError
            Where there is no such batch.
        """
        wells = self._wells(batch_id)
        return BatchRecord(wells.number, self._names[wells.arms].tolist(), wells.status,
                           wells.values.copy(), _journal.MARKS[wells.marks])

    @reading
    def history(self) -> Any:
        """Every well of every batch.

        Returns
        -------
        pandas.DataFrame, or dict of ndarray where pandas is not installed
            Columns batch, position, arm, name, value (NaN where not known), state ("known",
            "lost", "open", "late" or "abandoned"), told_at (seconds since 1970-01-01 UTC,
            NaN where never) and who; of a race also item.
        """
        return history_of(self._store.all_wells(), self._tells(), self._names,
                          self._ledger.policy)

    def log(self, start: int = 0) -> Iterator[Event]:
        """Iterate over the events from number `start` on; each an `Event`."""
        start = check_integer("start", start, 0)
        while True:
            rows = self._read(lambda _, first=start: self._store.events(first, 100).fetchall())
            for number, kind, when, who, body, digest in rows:
                yield _journal.Event(number, kind, when, who, decode(body), digest)
            if not rows:
                return
            start = rows[-1][0] + 1

    def verify(self, head: str | None = None) -> VerifyResult:
        """Replay the log from the first event, and compare: bit for bit.

        Parameters
        ----------
        head : str, optional
            A digest that was noted before (`Status.head`): the log must have led there.

        Returns
        -------
        VerifyResult

        Raises
        ------
        StudyDamaged
            Where anything is not what was recorded; names the event or the table.
        """
        with self._lock:
            return self._store.run(lambda: verified(self._store, self._type, head), write=False)
