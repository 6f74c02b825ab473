"""Base class of `Study`: keeps the policy in memory in step with the file."""

import functools
import getpass
import importlib
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from pybandit import policies
from pybandit._shared.checks import LARGEST, check_integer, shown
from pybandit._shared.database_errors import as_recorded
from pybandit._shared.errors import StudyDamagedError, StudyError
from pybandit.studies._codec import encode
from pybandit.studies._journal import (
    BrokenLog,
    Event,
    Progress,
    Replayed,
    chained,
    replay,
    resume,
)
from pybandit.studies._races import RACES, RacePolicy
from pybandit.studies._rows import MOMENTS, check_first, decoded
from pybandit.studies._snapshot import Clock, Pace, decoded_progress
from pybandit.studies.results import Batch

_Method = TypeVar("_Method", bound=Callable[..., Any])


def reading(method: _Method) -> _Method:
    """Decorate a method so that all it reads is from one moment."""

    @functools.wraps(method)
    def call(self: "Recorder", *args: Any, **options: Any) -> Any:
        return self._read(lambda progress: method(self, *args, **options))

    return cast(_Method, call)


def writing(method: _Method) -> _Method:
    """Decorate a method so that all of its events are recorded, or none."""

    @functools.wraps(method)
    def call(self: "Recorder", *args: Any, **options: Any) -> Any:
        return self._write(lambda progress: method(self, *args, **options))

    return cast(_Method, call)


class Recorder:
    """Reads and records under the study's lock, starting from the present state of the file.

    The state of the study is kept in memory between calls. It is loaded again if another process
    has recorded events, or if a transaction failed after the state changed.
    """

    def __init__(self, store, kind, policy_type=None, who=None):
        self._store, self._kind, self._lock = store, kind, threading.RLock()
        self._who = default_who() if who is None else str(who)
        self._progress = self._head = None
        self._grouped = False  # True while `_group` has a transaction open
        with self._lock:
            store.run(lambda: self._begin(policy_type), write=False)

    def _begin(self, policy_type):
        """Read the first event, and load the state of the study."""
        store = self._store
        row = store.events(most=1).fetchone()
        if row is None or row[0] != 0:
            raise StudyDamagedError(f"{store.path} is damaged: log: event 0 is missing")
        first = check_first(store.path, self._first_of(row))
        self._created = row[2]
        self._kind.check(store.path, first["kind"])
        self._type = self._kind.type_of(first["policy"], policy_type)
        self._first_names = first["arms"]
        self._settings = first["settings"]
        self._sync()

    def _first_of(self, row):
        number, kind, when, who, body, digest = row
        if chained(bytes(32), number, kind, when, who, body) != digest:
            raise StudyDamagedError(f"{self._store.path} is damaged: log: event 0 is not what was "
                                    "recorded")
        return self._entry(f"event {number}", body)

    def _entry(self, place, body):
        """Return the decoded body of an event."""
        entry, = decoded(self._store.path, f"log: {place}", body)
        if type(entry) is not dict:
            raise StudyDamagedError(f"{self._store.path} is damaged: log: {place} is not that of a "
                                    "study")
        return entry

    def _read(self, work):
        """Return `work(progress)` with the present `Progress` of the file."""
        with self._lock:
            return self._store.run(lambda: work(self._sync()), write=False)

    def _write(self, work):
        """Return `work(progress)` under the write lock; its events are then on the disk."""
        with self._lock:
            if self._grouped:
                return work(self._progress)
            self._moved = False
            try:
                return self._store.run(lambda: work(self._sync()))
            except BaseException:
                if self._moved:
                    self._progress = None
                raise

    def _sync(self):
        """Return the `Progress`, loaded again if the file has changed."""
        store = self._store
        if self._progress is not None and not store.durable:
            return self._progress
        head = store.head()
        if self._progress is None or head != self._head:
            if store.durable:
                self._progress = self._loaded(head)
            else:
                self._progress = replay(store.events(), self._policy_of).progress
                self._progress.past = self._past
                store.n_late = len(self._progress.late)
            self._head = head
            self._name_arms()
        return self._progress

    def _name_arms(self):
        """Set the names of the arms, including those that the policy has added."""
        added = getattr(self._progress.policy, "names_added", ())
        self._names = np.array([*self._first_names, *added], dtype=object)
        self._store.n_arms = self._names.size

    def _policy_of(self, first):
        """Return the initial policy of the study."""
        return self._type.from_state(first["state"])

    def _loaded(self, head):
        """Return the `Progress` that is stored in the file."""
        store = self._store
        last = store.events(head.n_events - 1).fetchall()
        if [(row[0], row[5]) for row in last] != [(head.n_events - 1, head.digest)]:
            raise StudyDamagedError(f"{store.path} is damaged: log or head: the log does not end "
                                    f"with event {head.n_events - 1}")
        with Clock() as clock:
            state = store.state(head)
            try:
                policy = self._type.from_state(state)
                store.n_arms = len(self._first_names) + len(getattr(policy, "names_added", ()))
                fits = policy.n_arms == store.n_arms
            except Exception as error:  # raised by any policy, user-defined ones included
                raise StudyDamagedError(f"{store.path} is damaged: state: {error}") from error
        store.pace = Pace(store.n_bytes(), clock.seconds)
        if not fits:
            raise StudyDamagedError(f"{store.path} is damaged: state: it has {policy.n_arms} "
                                    f"arms, and there are {store.n_arms} names")
        if head.included < head.n_events:
            return self._resumed(head, policy)
        wells = store.wells(head.n_batches - 1) if head.asked else None
        if wells is not None and wells.status != "open":
            wells = None
        return Progress(policy, head.n_batches, wells, bool(head.asked), store.late(), self._past)

    def _resumed(self, head, policy):
        """Return the `Progress` after the events since the stored state, which is `policy`."""
        store = self._store
        try:
            progress = decoded_progress(store.path, head.progress, policy)
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise StudyDamagedError(f"{store.path} is damaged: head: progress: {error!r}"
                                    ) from error
        before = store.events(head.included - 1, most=1).fetchall()
        opened = {} if progress.open is None else {progress.open.number: progress.open}
        start = Replayed(progress, opened, head.included, before[0][5] if before else b"")
        try:
            with Clock() as clock:
                found = resume(start, self._counted(head.included),
                               lambda: self._past(head.included), store.wells)
        except BrokenLog as error:
            raise StudyDamagedError(f"{store.path} is damaged: {error}") from error
        store.pace.add(0, clock.seconds)
        known = store.wells(progress.open.number) if progress.open else None
        for holds, what in [
                ((found.n_events, found.digest) == (head.n_events, head.digest), "head or log"),
                ((progress.n_batches, progress.asked) == (head.n_batches, head.asked), "head"),
                (encode(store.late()) == encode(progress.late), "late"),
                (progress.open is None or known is not None and known.same(progress.open),
                 "batches")]:
            if not holds:
                raise StudyDamagedError(f"{store.path} is damaged: {what}: it does not follow "
                                        "from the log")
        progress.past = self._past
        return progress

    def _counted(self, start):
        """Yield the events from number `start` on, and add their sizes to those of the store."""
        for row in self._store.events(start):
            self._store.pace.add(len(row[4]), 0.0)
            yield row

    def _past(self, end=-1):
        """Return an iterator over (kind, body) of the stored events before event `end`, or all."""
        rows = self._store.events(most=end)
        return ((row[1], self._entry(f"event {row[0]}", row[4])) for row in rows)

    def _record(self, kind, body, wells, who=None):
        """Apply and store an event; return its batch."""
        self._moved = True
        try:
            with Clock() as clock:
                wells = self._progress.apply(kind, body, wells)
        except BrokenLog as error:
            raise StudyDamagedError(f"{self._store.path} is damaged: {error}") from error
        event, content = event_of(self._head.n_events, kind, self._who if who is None else str(who),
                                  body, self._head.digest)
        self._head = self._store.append(event, content, wells, self._progress, clock.seconds)
        return wells

    def _wells(self, batch_id):
        """Return the recorded batch of an id, or of a `Batch`."""
        if isinstance(batch_id, Batch):
            batch_id = batch_id.id
        number = check_integer("batch_id", batch_id, 0, LARGEST)
        opened = self._progress.open
        if opened is not None and opened.number == number:
            return opened
        wells = self._store.wells(number)
        if wells is None:
            raise ValueError(f"batch_id must be the id of one of the {self._progress.n_batches} "
                             f"batches asked for; got {number}")
        if wells.status == "open":
            raise StudyDamagedError(f"{self._store.path} is damaged: batches: batch {number} is "
                                    "open, but is not the last batch")
        return wells

    def _withdrawn(self, number):
        """Return the withdrawn results of a batch: a dict of sets of values by position."""
        found = {}

        def take(_event, _when, _who, body):
            if body["batch"] == number:
                lost = np.isnan(body["values"])
                for place, value in zip(body["positions"][lost].tolist(),
                                        body["before"][lost].tolist(), strict=True):
                    found.setdefault(place, set()).add(value)

        self._corrections(take)
        return found

    def _corrections(self, take):
        """Call `take(number, when, who, body)` for each amendment, in order."""
        for number, when, who, content in self._store.amendments():
            body = self._entry(f"event {number}", content)
            if "key" in body:  # a web test
                continue
            with as_recorded(self._store.path, f"log: event {number} is not an amendment"):
                take(number, when, who, body)

    def _batch(self, wells):
        """Return the `Batch` of an open batch."""
        policy = self._progress.policy
        items = policy.race.ask()[1] if isinstance(policy, RacePolicy) else None
        return Batch(id=wells.number, arms=wells.arms.copy(),
                     names=self._names[wells.arms].tolist(), items=items)

    def _tells(self):
        """Yield batch, positions, time and author of each tell and each amendment."""
        for _, body, when, who in self._store.tells():
            entry = self._entry("a tell", body)
            if "key" in entry:  # a web test
                continue
            yield entry.get("batch"), entry.get("positions"), when, who


def event_of(number, kind, who, body, before):
    """Return an event with the present time, and its encoded body."""
    content, now = encode(body), moment()
    digest = chained(before, number, kind, now, who, content)
    event = Event(number=number, kind=kind, time=now, who=who, body=body, digest=digest)
    return event, content


def moment():
    """Return the time in seconds since 1970; StudyError if a study cannot hold it."""
    now = time.time()
    if not MOMENTS[0] <= now <= MOMENTS[1]:
        raise StudyError(f"the clock of this machine must be between the years 68 and 9892; got "
                         f"{now:g} s since 1970")
    return now


def default_who():
    """Return user@host; the user is left out if unknown."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):
        user = ""
    return f"{user}@{socket.gethostname()}"


# policies outside `pybandit.policies`
ELSEWHERE = {"EstimatorAllocator": "pybandit.montecarlo"}


def type_of(name, policy_type):
    """Return the class of a policy by its name.

    The name comes from a file, so it selects one of the policies known here and never a module to
    import. Other classes are passed as `policy_type`.
    """
    if name in RACES and policy_type in (None, RACES[name], RACES[name].race_type):
        return RACES[name]
    if policy_type is None:
        if name in ELSEWHERE:
            return getattr(importlib.import_module(ELSEWHERE[name]), name)
        if name not in policies.__all__:
            raise ValueError(f"policy_type must be the class {shown(name)}, which is not one of "
                             "pybandit's policies; got None")
        return getattr(policies, name)
    if policy_type.__name__ != name:
        raise ValueError(f"policy_type must be the class {shown(name)}; got "
                         f"{policy_type.__name__}")
    return policy_type
