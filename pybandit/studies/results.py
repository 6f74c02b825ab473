"""Results of the methods of a study: frozen records."""

from dataclasses import dataclass

import numpy as np

from pybandit._shared.records import Record


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch(Record):
    """Pulls to carry out.

    Attributes
    ----------
    id : int
        Counts from 0 over all batches of the study, abandoned ones included.
    arms : ndarray of int64, shape (n,)
        Arms to pull; an arm may occur several times.
    names : list of str
        Names of these arms.
    items : ndarray of int64, shape (n,), or None
        For a race: the item on which to evaluate each arm.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
    ...                         arms=["tea", "coffee"])
    >>> batch = study.ask()
    >>> batch.id, batch.arms, batch.names
    (0, array([0, 1, 0, 1]), ['tea', 'coffee', 'tea', 'coffee'])
    >>> study.tell(batch.id, [0.1, 0.4, 0.2, 0.6]).complete
    True
    """

    id: int
    arms: np.ndarray
    names: list[str]
    items: np.ndarray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TellResult(Record):
    """Numbers of new and known results of a call of `Study.tell`.

    Attributes
    ----------
    n_new : int
        Results recorded by this call.
    n_known : int
        Results that were recorded before with the same value.
    complete : bool
        True if the batch is over.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
    ...                         arms=["tea", "coffee"])
    >>> batch = study.ask()
    >>> study.tell(batch.id, [0.1, 0.4], positions=[0, 1])
    TellResult(n_new=2, n_known=0, complete=False)
    >>> study.tell(batch.id, [0.4, 0.2, 0.6], positions=[1, 2, 3])
    TellResult(n_new=2, n_known=1, complete=True)
    """

    n_new: int
    n_known: int
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AmendResult(Record):
    """Numbers of corrected and unchanged results of a call of `Study.amend`.

    Attributes
    ----------
    n_amended : int
        Results that have changed.
    n_known : int
        Results that were recorded before with the same value.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
    ...                         arms=["tea", "coffee"])
    >>> batch = study.ask()
    >>> result = study.tell(batch.id, [0.1, 0.4, 0.2, 6.0])
    >>> study.amend(batch.id, [0.2, 0.6], positions=[2, 3], reason="the point was missed")
    AmendResult(n_amended=1, n_known=1)
    """

    n_amended: int
    n_known: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment(Record):
    """One corrected result.

    Attributes
    ----------
    event : int
        Number of the event in the log.
    batch, position, arm : int
    name : str
        Name of the arm.
    before, value : float
        Previous and corrected value; NaN if there is none.
    reason, who : str
    time : float
        Seconds since 1970-01-01 UTC.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
    ...                         arms=["tea", "coffee"])
    >>> batch = study.ask()
    >>> result = study.tell(batch.id, [0.1, 0.4, 0.2, 6.0])
    >>> result = study.amend(batch.id, [0.6], positions=[3], reason="no point", who="Ann")
    >>> [one] = study.amendments()
    >>> one.name, one.before, one.value, one.reason, one.who
    ('coffee', 6.0, 0.6, 'no point', 'Ann')
    """

    event: int
    batch: int
    position: int
    arm: int
    name: str
    before: float
    value: float
    reason: str
    who: str
    time: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchRecord(Record):
    """Recorded results of a batch.

    Attributes
    ----------
    id : int
    names : list of str
        Names of its arms.
    status : {"open", "complete", "closed", "abandoned"}
    values : ndarray of float64, shape (n,)
        NaN if unknown.
    states : ndarray of str, shape (n,)
        "open", "known", "lost" or "late".

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
    ...                         arms=["tea", "coffee"])
    >>> batch = study.ask()
    >>> result = study.tell(batch.id, [0.1, 0.4], positions=[0, 1])
    >>> record = study.batch(0)
    >>> record.status, record.values, record.states.tolist()
    ('open', array([0.1, 0.4, nan, nan]), ['known', 'known', 'open', 'open'])
    """

    id: int
    names: list[str]
    status: str
    values: np.ndarray
    states: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyResult(Record):
    """Size and digest of a study that passed `Study.verify`.

    Attributes
    ----------
    n_events, n_batches, n_pulls : int
    head : str
        Digest of the last event, in hexadecimal. It depends on all events before.

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
    >>> found = study.verify()
    >>> found.n_events, found.n_batches, found.n_pulls, found.head == study.status().head
    (3, 1, 4, True)
    """

    n_events: int
    n_batches: int
    n_pulls: int
    head: str
