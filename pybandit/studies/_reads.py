"""Methods that read a study and change nothing."""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from pybandit._shared.checks import check_integer
from pybandit._shared.database_errors import as_recorded
from pybandit.studies import _journal
from pybandit.studies._history import history_of
from pybandit.studies._journal import Event
from pybandit.studies._recorder import Recorder, reading
from pybandit.studies._verify import verified
from pybandit.studies.answers import Recommendation, Status
from pybandit.studies.results import Amendment, BatchRecord, VerifyResult


class ReadMethods(Recorder):
    """The methods of `Study` that only read."""

    @property
    def path(self) -> str:
        """Path of the file."""
        return self._store.path

    @property
    @reading
    def names(self) -> tuple[str, ...]:
        """Names of the arms; a tuple of str."""
        return tuple(self._names.tolist())

    @property
    def settings(self) -> dict[str, Any]:
        """Settings given to `create`; a copy."""
        return copy.deepcopy(self._settings)

    @property
    @reading
    def policy(self) -> Any:
        """The policy in its present state; a copy."""
        policy = self._type.from_state(self._progress.policy.get_state())
        return getattr(policy, "wrapped", policy)

    @reading
    def recommend(self) -> Recommendation:
        """Return the arms found so far, best first. May be called at any time.

        Examples
        --------
        >>> import pybandit as pb
        >>> study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
        ...                         arms=["tea", "coffee"])
        >>> result = study.tell(study.ask().id, [0.1, 0.4, 0.2, 0.6])
        >>> study.recommend().best_names
        ['coffee']
        """
        policy = self._progress.policy
        arms = np.asarray(policy.recommend())
        return Recommendation(
            best_arms=arms, best_names=self._names[arms].tolist(),
            names=tuple(self._names.tolist()), means=policy.means[arms],
            pulls=policy.pulls[arms], n_pulls=policy.n_pulls, decided=bool(policy.decided),
            done=bool(policy.done), unmeasured=np.flatnonzero(policy.pulls == 0))

    @reading
    def status(self) -> Status:
        """Return the state of the study: pulls, batches and missing results."""
        return Status(**self._facts())

    def _facts(self):
        """Return the fields of a `Status`."""
        policy, wells, head = self._progress.policy, self._progress.open, self._head
        budget = getattr(policy, "budget", getattr(policy, "max_pulls", None))
        batches = getattr(policy, "max_batches", None)
        changed = self._store.events(head.n_events - 1).fetchone()[2]
        return dict(
            path=self.path, policy=self._type.__name__, n_arms=policy.n_arms, k=policy.k,
            done=bool(policy.done), n_pulls=policy.n_pulls, n_batches=policy.n_batches,
            n_lost=policy.n_pulls - int(policy.pulls.sum()), n_asked=self._progress.n_batches,
            open_batch=wells and wells.number,
            n_open=int((wells.marks == _journal.OPEN).sum()) if wells else 0,
            n_late=sum(arms.size for arms, _ in self._progress.late),
            n_unmeasured=int((policy.pulls == 0).sum()),
            silent=[str(self._names[arm]) for arm in getattr(policy, "silent", ())],
            survivors=getattr(policy, "survivors", None), budget=budget, max_batches=batches,
            pulls_left=None if budget is None else budget - policy.n_pulls,
            batches_left=None if batches is None else batches - policy.n_batches,
            n_amendments=self._store.n_amendments(), n_events=head.n_events,
            head=head.digest.hex(), created=self._created, changed=changed)

    @reading
    def batch(self, batch_id: int) -> BatchRecord:
        """Return the recorded results of a batch, open or over.

        Raises
        ------
        ValueError
            If there is no such batch.
        """
        wells = self._wells(batch_id)
        return BatchRecord(id=wells.number, names=self._names[wells.arms].tolist(),
                           status=wells.status, values=wells.values.copy(),
                           states=_journal.MARKS[wells.marks])

    @reading
    def history(self) -> Any:
        """Return a table of all wells of all batches.

        Returns
        -------
        pandas.DataFrame, or dict of ndarray if pandas is not installed
            Columns batch, position, arm, name, value (NaN if unknown), state ("known", "lost",
            "open", "late" or "abandoned"), told_at (time of the report, in seconds since
            1970-01-01 UTC; NaN if there is none) and who. A race also has the column item.

        Examples
        --------
        >>> import pybandit as pb
        >>> study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
        ...                         arms=["tea", "coffee"])
        >>> result = study.tell(study.ask().id, [0.1, 0.4, 0.2], positions=[0, 1, 2])
        >>> study.history()[["batch", "position", "name", "value", "state"]]
           batch  position    name  value  state
        0      0         0     tea    0.1  known
        1      0         1  coffee    0.4  known
        2      0         2     tea    0.2  known
        3      0         3  coffee    NaN   open
        """
        with as_recorded(self.path, "log and batches do not match"):
            return history_of(self._store.all_wells(), self._tells(), self._names,
                              self._progress.policy)

    @reading
    def amendments(self) -> list[Amendment]:
        """Return all corrected results, in the order of their corrections."""
        found = []
        self._corrections(lambda *event: found.extend(self._amended(*event)))
        return found

    def _amended(self, number, when, who, body):
        """Return the results that an event corrects."""
        if type(body["reason"]) is not str:
            raise TypeError("its reason is not text")
        arms = self._wells(body["batch"]).arms
        columns = zip(body["positions"].tolist(), body["before"].tolist(),
                      body["values"].tolist(), strict=True)
        return [Amendment(event=number, batch=body["batch"], position=at, arm=int(arms[at]),
                          name=self._names[arms[at]], before=before, value=value,
                          reason=body["reason"], who=who, time=when)
                for at, before, value in columns]

    def log(self, start: int = 0) -> Iterator[Event]:
        """Iterate over the events of the log from number `start` on.

        Examples
        --------
        >>> import pybandit as pb
        >>> study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
        ...                         arms=["tea", "coffee"])
        >>> result = study.tell(study.ask().id, [0.1, 0.4, 0.2, 0.6])
        >>> [(event.number, event.kind) for event in study.log(start=1)]
        [(1, 'ask'), (2, 'tell')]
        """
        start = check_integer("start", start, 0)
        while True:
            rows = self._read(lambda _, first=start: self._store.events(first, 100).fetchall())
            for number, kind, when, who, body, digest in rows:
                entry = self._entry(f"event {number}", body)
                yield _journal.Event(number=number, kind=kind, time=when, who=who, body=entry,
                                     digest=digest)
            if not rows:
                return
            start = rows[-1][0] + 1

    def verify(self, head: str | None = None) -> VerifyResult:
        """Replay the log from the first event and compare the result with the file, bit for bit.

        Parameters
        ----------
        head : str, optional
            Digest noted earlier (`Status.head`), which the log must contain.

        Returns
        -------
        VerifyResult

        Raises
        ------
        StudyDamagedError
            If anything differs from what was recorded; the message names the event or table.

        Examples
        --------
        >>> import pybandit as pb
        >>> study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
        ...                         arms=["tea", "coffee"])
        >>> head = study.status().head       # noted elsewhere, perhaps on paper
        >>> result = study.tell(study.ask().id, [0.1, 0.4, 0.2, 0.6])
        >>> study.verify(head).n_events
        3
        """
        with self._lock:
            return self._store.run(lambda: verified(self._store, self._type, head), write=False)
