"""What a study's log says: events in a chain of hashes, and the study they lead to.

Every change of a study is one event. `Ledger.apply` is the only place that knows what an
event does; a running study applies each as it is recorded, `replay` applies them all.
"""

import hashlib
import struct
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pybandit._shared.records import Record
from pybandit.studies._codec import decode, encode
from pybandit.studies._forced import check_forced, check_recorded, corrected, tell_forced

# what is known of a well
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
        From 0.
    kind : str
        "create", "ask", "tell", "close", "abandon" or "amend"; of a web test "counts", "arm",
        "retire" or "amend".
    time : float
        Seconds since 1970-01-01 UTC, by the clock of who recorded it.
    who : str
    body : dict
        What was asked, told or corrected.
    digest : bytes
        SHA-256 of the event and of the digest before it.

    Notes
    -----
    **Threads.** Nothing changes it: threads may share it.

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
    """The digest of an event, its body in bytes, after the event of digest `before`."""
    head = encode([kind, who])
    return hashlib.sha256(b"".join([before, HEADER.pack(number, time), head, body])).digest()


class Wells:
    """A batch: its arms, what is known of each, and whether it is over.

    `status` is "open", "complete", "closed" or "abandoned"; `marks` and `values` have one
    entry an arm, a value NaN where none is known.
    """

    __slots__ = ("arms", "marks", "number", "status", "values")

    def __init__(self, number, arms, status="open", values=None, marks=None):
        self.number, self.arms, self.status = number, arms, status
        self.values = np.full(arms.size, np.nan) if values is None else values
        self.marks = np.zeros(arms.size, dtype=np.uint8) if marks is None else marks

    def same(self, other):
        """Whether another is this one, bit for bit."""
        return (self.number == other.number and self.status == other.status
                and all(getattr(self, name).tobytes() == getattr(other, name).tobytes()
                        for name in ("arms", "values", "marks")))


class Ledger:
    """Where a study is: the policy, and what waits for it.

    Attributes
    ----------
    policy : Policy
    n_batches : int
        Batches asked for, abandoned ones included.
    open : Wells or None
        The batch that is asked now.
    asked : bool
        Whether the policy has been asked and not told: a batch is open, or the last one
        was abandoned.
    late : list of (arms, values)
        Late results that wait for the policy's next batch to be told.
    past : callable
        All events before the one that is applied, (kind, body) each; for amendments.
    """

    def __init__(self, policy, n_batches=0, open=None, asked=False, late=(), past=None,
                 is_forced=False):
        self.policy, self.n_batches, self.open = policy, n_batches, open
        self.asked, self.late, self.past = asked, list(late), past
        # whether the policy is not asked: what was asked is known; pulls that it has not taken
        self._is_forced, self._left = is_forced, (np.empty(0, np.int64), np.empty(0))

    def apply(self, kind, body, wells=None):
        """Do what an event says to a batch, None for one that is asked; the batch, if any.

        A policy with `events` of its own applies these itself, and is asked for no batches.
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
            raise ValueError(f"batch {body['batch']} must be what the policy asks; got other arms")
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
        # what was withdrawn since is NaN
        at, values = at[known], values[known]
        wells.marks[at] = LATE
        self.late.append((wells.arms[at], values))
        self._take_late()
        return wells

    def _amend(self, body, wells):
        at, values = body["positions"], body["values"]
        if wells.values[at].tobytes() != body["before"].tobytes():
            raise ValueError(f"batch {wells.number} must have the results that are amended; got "
                             "others")
        wells.values[at] = values
        marks = wells.marks[at]
        marks[np.isnan(body["before"])] = KNOWN if wells.status == "open" else LATE
        wells.marks[at] = np.where(np.isnan(values), LOST, marks)
        if wells.status != "open" and at.size:
            self._tell_again(body)
        return wells

    def _tell_again(self, amendment):
        """The policy anew, told all batches with the results as they are known now."""
        again = repeated(self._repeated, amendment)
        self.policy, self.late = again.policy, again.late

    def _repeated(self, amendment):
        past = iter(self.past())
        _, first = next(past)
        again, batches = Ledger(type(self.policy).from_state(first["state"]), is_forced=True), {}
        for kind, body in corrected(past, amendment):
            check_recorded(kind, body, again.policy.n_arms)
            wells = again.apply(kind, body, batches.get(body.get("batch")))
            if wells is not None:
                batches[wells.number] = wells
        again.end()
        return again

    def end(self):
        """Give the policy what it has not taken; no more batches follow."""
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
        """Results that a policy had no pulls for, as it asked for nothing more."""
        known = ~np.isnan(values)
        if known.any():
            self.late.append((arms[known], values[known]))

    def _take_late(self):
        """Gives late results to the policy, unless it has asked for pulls it will be told."""
        if self.asked:
            return
        for arms, values in self.late:
            try:
                # of arms that an amended policy did not ask for there may be too many
                room = self.policy.n_pulls - int(self.policy.pulls.sum())
                self.policy.add_late(arms[:room], values[:room])
            except NotImplementedError:
                pass  # the policy has no use for them; the history has them
        self.late = []


class Replayed(NamedTuple):
    """Where the events of a log lead: the ledger, all batches, and the last event."""

    ledger: Ledger
    batches: dict[int, Wells]
    n_events: int
    digest: bytes


class BrokenLog(Exception):
    """An event is not what was recorded; the message names it."""


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


def replay(rows, policy_from):
    """Apply a log from its first event.

    Parameters
    ----------
    rows : iterable of (number, kind, time, who, body, digest)
        As they are stored, bodies in bytes.
    policy_from : callable
        The policy of the body of the first event.

    Raises
    ------
    BrokenLog
        Where an event is missing, changed, or not what the study does; names it.
    """
    ledger, batches, before, number, past = None, {}, START, -1, []
    for number, (stored, kind, time, who, body, digest) in enumerate(rows):
        if stored != number:
            raise BrokenLog(f"log: event {number} is missing")
        if chained(before, number, kind, time, who, body) != digest:
            raise BrokenLog(f"log: event {number} is not what was recorded: its digest differs")
        before = digest
        try:
            entry = decode(body)
            if ledger is None:
                ledger = Ledger(policy_from(entry), past=lambda: past)
                past.append((kind, entry))
                continue
            wells = ledger.apply(kind, entry, batches.get(entry.get("batch")))
            past.append((kind, entry))
        except Exception as error:  # of any policy, also one of the user
            raise BrokenLog(f"log: event {number}, {kind}, cannot be repeated: {error}") from error
        if wells is not None:
            batches[wells.number] = wells
    if ledger is None:
        raise BrokenLog("log: event 0 is missing")
    return Replayed(ledger, batches, number + 1, before)
