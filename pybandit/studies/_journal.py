"""Events of a study's log, in a chain of hashes, and the study that results from them.

Every change of a study is one event, and only `Progress.apply` carries events out. A running
study applies each event when it is recorded; `replay` applies all of them.
"""

import hashlib
import itertools
import struct
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pybandit._shared.records import Record
from pybandit.studies._codec import decode, encode
from pybandit.studies._forced import check_forced, check_recorded, corrected, tell_forced

# marks of a well
OPEN, KNOWN, LOST, LATE = range(4)
MARKS = np.array(["open", "known", "lost", "late"])
KINDS = ("ask", "tell", "close", "abandon", "amend")
START = bytes(32)
HEADER = struct.Struct("<Qd")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Event(Record):
    """One entry of a study's log.

    Attributes
    ----------
    number : int
        Position in the log, from 0.
    kind : str
        "create", "ask", "tell", "close", "abandon" or "amend"; in a web test "create",
        "counts", "arm", "retire" or "amend".
    time : float
        Seconds since 1970-01-01 UTC, by the clock of the machine that recorded it.
    who : str
        Author.
    body : dict
        Content: the arms asked for, or results and corrections.
    digest : bytes
        SHA-256 of the event and the digest of the event before it.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
    ...                         arms=["tea", "coffee"])
    >>> batch = study.ask()
    >>> result = study.tell(batch.id, [0.1, 0.4, 0.2, 0.6])
    >>> [event.kind for event in study.log()]
    ['create', 'ask', 'tell']
    >>> list(study.log())[-1].body["values"]
    array([0.1, 0.4, 0.2, 0.6])
    """

    number: int
    kind: str
    time: float
    who: str
    body: dict[str, Any]
    digest: bytes


def chained(before, number, kind, time, who, body):
    """Return the digest of an event with an encoded body; `before` is the previous digest."""
    head = encode([kind, who])
    return hashlib.sha256(b"".join([before, HEADER.pack(number, time), head, body])).digest()


class Wells:
    """A batch: its arms, their results and marks, and its status.

    `status` is "open", "complete", "closed" or "abandoned". `marks` and `values` have one
    entry per pull; a value is NaN if it is unknown.
    """

    __slots__ = ("arms", "marks", "number", "status", "values")

    def __init__(self, number, arms, status="open", values=None, marks=None):
        self.number, self.arms, self.status = number, arms, status
        self.values = np.full(arms.size, np.nan) if values is None else values
        self.marks = np.zeros(arms.size, dtype=np.uint8) if marks is None else marks

    def same(self, other):
        """Return True if `other` is equal bit for bit."""
        return (self.number == other.number and self.status == other.status
                and all(getattr(self, name).tobytes() == getattr(other, name).tobytes()
                        for name in ("arms", "values", "marks")))


class Progress:
    """State of a study: its policy, the open batch, and late results.

    Attributes
    ----------
    policy : Policy
    n_batches : int
        Batches asked for, abandoned ones included.
    open : Wells or None
        The open batch.
    asked : bool
        True if the policy was asked and waits for results: a batch is open, or the last one
        was abandoned.
    late : list of (arms, values)
        Late results, which the policy receives when its open batch is over.
    past : callable
        Returns all earlier events, (kind, body) each; used by amendments.
    """

    def __init__(self, policy, n_batches=0, open=None, asked=False, late=(), past=None,
                 is_forced=False):
        self.policy, self.n_batches, self.open = policy, n_batches, open
        self.asked, self.late, self.past = asked, list(late), past
        # In a forced replay, requests come from the log instead of the policy, and `_left` holds
        # pulls that the policy has not received yet.
        self._is_forced, self._left = is_forced, (np.empty(0, np.int64), np.empty(0))

    def apply(self, kind, body, wells=None):
        """Apply an event to a batch (None for "ask"), and return the batch, or None.

        A policy with `events` applies these kinds itself and is not asked for batches.
        """
        if kind in getattr(self.policy, "events", ()):
            self.policy.apply(kind, body, self.past)
            return None
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
        return getattr(self, "_" + kind)(body, wells)

    def _ask(self, body, wells):
        arms = body["arms"]
        if not self._is_forced:
            arms = np.ascontiguousarray(self.policy.ask(), dtype=np.int64)
        if body["batch"] != self.n_batches or not np.array_equal(arms, body["arms"]):
            raise ValueError(f"batch {body['batch']} must have the arms that the policy "
                             "asks for; it has others")
        self.open = Wells(self.n_batches, arms)
        self.n_batches += 1
        self.asked = True
        return self.open

    def _tell(self, body, wells):
        at, values = body["positions"], body["values"]
        known = ~np.isnan(values)
        wells.values[at] = values
        if wells.status == "open":
            wells.marks[at] = np.where(known, KNOWN, LOST)
            if (wells.marks != OPEN).all():
                self._finish(wells, "complete")
            return wells
        # NaN: the result has been withdrawn since
        at, values = at[known], values[known]
        wells.marks[at] = LATE
        self.late.append((wells.arms[at], values))
        self._take_late()
        return wells

    def _amend(self, body, wells):
        at, values = body["positions"], body["values"]
        if wells.values[at].tobytes() != body["before"].tobytes():
            raise ValueError(f"batch {wells.number} must hold the results that are amended; it "
                             "holds others")
        wells.values[at] = values
        marks = wells.marks[at]
        marks[np.isnan(body["before"])] = KNOWN if wells.status == "open" else LATE
        wells.marks[at] = np.where(np.isnan(values), LOST, marks)
        if wells.status != "open" and at.size:
            self._tell_again(body)
        return wells

    def _tell_again(self, amendment):
        """Replay the policy on all batches with their present results."""
        again = repeated(self._repeated, amendment)
        self.policy, self.late = again.policy, again.late

    def _repeated(self, amendment):
        past = iter(self.past())
        _, first = next(past)
        again, batches = Progress(type(self.policy).from_state(first["state"]), is_forced=True), {}
        for kind, body in corrected(past, amendment):
            check_recorded(kind, body, again.policy.n_arms)
            wells = again.apply(kind, body, batches.get(body.get("batch")))
            if wells is not None:
                batches[wells.number] = wells
        again.end()
        return again

    def end(self):
        """Report the remaining pulls to the policy; no more batches follow."""
        self._put_late(*tell_forced(self.policy, *self._left))
        self._take_late()
        if self.open is not None:
            check_forced(self.policy, self.open.arms)

    def _close(self, body, wells):
        wells.marks[wells.marks == OPEN] = LOST
        self._finish(wells, "closed")
        return wells

    def _abandon(self, body, wells):
        wells.status, self.open = "abandoned", None
        return wells

    def _finish(self, wells, status):
        pulls = map(np.concatenate, zip(self._left, (wells.arms, wells.values), strict=True))
        left = tell_forced(self.policy, *pulls, is_last=not self._is_forced)
        wells.status, self.open, self.asked = status, None, False
        if self._is_forced:
            self._left = left
        else:
            self._put_late(*left)
        self._take_late()

    def _put_late(self, arms, values):
        """Add known results that the policy did not receive, because it is done, to `late`."""
        known = ~np.isnan(values)
        if known.any():
            self.late.append((arms[known], values[known]))

    def _take_late(self):
        """Report late results to the policy, unless it waits for the results of a batch."""
        if self.asked:
            return
        for arms, values in self.late:
            try:
                # after an amendment there may be more results than lost pulls
                room = self.policy.n_pulls - int(self.policy.pulls.sum())
                self.policy.add_late(arms[:room], values[:room])
            except NotImplementedError:
                pass  # the policy cannot use them; they stay in the history
        self.late = []


class Replayed(NamedTuple):
    """Result of a replay: progress, batches, number of events, and the last digest."""

    progress: Progress
    batches: dict[int, Wells]
    n_events: int
    digest: bytes


class BrokenLog(Exception):
    """Raised if an event is missing, was changed or cannot be applied; the message names it."""


def repeated(repeat, amendment):
    """Return `repeat(amendment)`; raise BrokenLog if it fails and `repeat(None)` does too."""
    try:
        return repeat(amendment)
    except Exception as error:  # raised by any policy
        try:
            repeat(None)
        except Exception:
            raise BrokenLog(f"log: its events cannot be repeated: {error!r}") from error
        raise


def replay(rows, policy_from, each=None):
    """Apply all events of a log.

    Parameters
    ----------
    rows : iterable of (number, kind, time, who, body, digest)
        As stored, with encoded bodies.
    policy_from : callable
        Returns the policy from the body of the first event.
    each : callable, optional
        Called as `each(n_events, progress)` after each event.

    Raises
    ------
    BrokenLog
        If an event is missing, was changed, or cannot be applied; the message names it.
    """
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        raise BrokenLog("log: event 0 is missing")
    kind, entry = _checked(first, 0, START)
    try:
        progress = Progress(policy_from(entry))
    except Exception as error:  # raised by any policy, user-defined ones included
        raise BrokenLog(f"log: event 0, {kind}, cannot be repeated: {error}") from error
    if each is not None:
        each(1, progress)
    return resume(Replayed(progress, {}, 1, first[5]), rows, lambda: [(kind, entry)], each=each)


def resume(start, rows, past, find=None, each=None):
    """Apply the events of a log that follow those of `start`, a `Replayed`; return a `Replayed`.

    Parameters
    ----------
    start : Replayed
        Changed.
    rows, each
        As in `replay`.
    past : callable
        Returns the events before `rows`, (kind, body) each.
    find : callable, optional
        Returns a batch by its number, or None, if it is not in `start`.
    """
    progress, batches, n_events, before = start
    since = []
    progress.past = lambda: itertools.chain(past(), since)
    for row in rows:
        kind, entry = _checked(row, n_events, before)
        before = row[5]
        try:
            number = entry.get("batch")
            wells = batches.get(number)
            if wells is None and number is not None and kind != "ask" and find is not None:
                wells = find(number)
            wells = progress.apply(kind, entry, wells)
        except Exception as error:
            raise BrokenLog(f"log: event {n_events}, {kind}, cannot be repeated: {error}"
                            ) from error
        since.append((kind, entry))
        n_events += 1
        if wells is not None:
            batches[wells.number] = wells
        if each is not None:
            each(n_events, progress)
    return Replayed(progress, batches, n_events, before)


def _checked(row, expected, before):
    """Return kind and decoded body of an event; `before` is the previous digest."""
    number, kind, time, who, body, digest = row
    if number != expected:
        raise BrokenLog(f"log: event {expected} is missing")
    if chained(before, number, kind, time, who, body) != digest:
        raise BrokenLog(f"log: event {number} is not what was recorded: its digest differs")
    try:
        return kind, decode(body)
    except ValueError as error:
        raise BrokenLog(f"log: event {number}, {kind}, cannot be repeated: {error}") from error
