"""What a study answers with: plain, frozen records."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Batch(NamedTuple):
    """Pulls to carry out.

    Attributes
    ----------
    id : int
        Counts from 0 over all batches of the study, abandoned ones included.
    arms : ndarray of int64, shape (n,)
        Repeats allowed.
    names : list of str
        Of these arms.
    items : ndarray of int64, shape (n,), or None
        Of a race: the item that each arm is evaluated on.

    Notes
    -----
    **Threads.** Nothing changes it: threads may share it.

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


class TellResult(NamedTuple):
    """What a tell did.

    Attributes
    ----------
    n_new : int
        Results recorded now.
    n_known : int
        Results that were recorded before, and are equal.
    complete : bool
        Whether the batch is over.

    Notes
    -----
    **Threads.** Nothing changes it: threads may share it.

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


class AmendResult(NamedTuple):
    """What an amendment did.

    Attributes
    ----------
    n_amended : int
        Results that are others now.
    n_known : int
        Results that were recorded so before.

    Notes
    -----
    **Threads.** Nothing changes it: threads may share it.

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


class Amendment(NamedTuple):
    """One result that was corrected.

    Attributes
    ----------
    event : int
        Its number in the log.
    batch, position, arm : int
    name : str
        Of the arm.
    before, value : float
        What was recorded, and what is; NaN for none.
    reason, who : str
    time : float
        Seconds since 1970-01-01 UTC.

    Notes
    -----
    **Threads.** Nothing changes it: threads may share it.

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


class CountAmendment(NamedTuple):
    """Counts of one arm that were corrected.

    Attributes
    ----------
    event : int
        Its number in the log.
    key : str
        Of the batch.
    arm : int
    name : str
        Of the arm.
    trials_before : int
    sum_before : float
    trials : int
    sum : float
    reason, who : str
    time : float
        Seconds since 1970-01-01 UTC.

    Notes
    -----
    **Threads.** Nothing changes it: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> study = pb.Study.create(":memory:", pb.CountRace(2), arms=["old", "new"])
    >>> result = study.tell_counts({"old": (2500, 100), "new": (2500, 150)}, key="Monday")
    >>> result = study.amend_counts("Monday", {"new": (2380, 149)}, reason="a robot", who="Ann")
    >>> [one] = study.count_amendments()
    >>> one.name, one.trials_before, one.trials, one.reason, one.who
    ('new', 2500, 2380, 'a robot', 'Ann')
    """

    event: int
    key: str
    arm: int
    name: str
    trials_before: int
    sum_before: float
    trials: int
    sum: float
    reason: str
    who: str
    time: float


class SplitCheck(NamedTuple):
    """The test that visits draw their arms by the shares: a sample-ratio mismatch.

    Attributes
    ----------
    names : list of str
        Of the arms among which visits are split now.
    trials : ndarray of int64
        Visits since this is so; an arm that is dropped or comes begins a new part.
    shares : ndarray of float64
        Expected; they add up to 1.
    p_value : float
        Of all parts together, at any number of looks: if the split is by the shares it is ever
        at most x with probability at most x.
    mismatch : bool
        True if `p_value` is at most .01.

    Notes
    -----
    A Dirichlet mixture of likelihood ratios, the mean of three concentrations (Lindon and Malek
    2022). Visits of an arm that is dropped or retired do not count.

    **Threads.** Nothing changes it: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> study = pb.Study.create(":memory:", pb.CountRace(2), arms=["old", "new"])
    >>> result = study.tell_counts({"old": (5100, 400), "new": (4900, 410)})
    >>> check = study.status().split
    >>> check.trials, check.shares, round(check.p_value, 3), check.mismatch
    (array([5100, 4900]), array([0.5, 0.5]), 0.929, False)
    """

    names: list[str]
    trials: np.ndarray
    shares: np.ndarray
    p_value: float
    mismatch: bool


class BatchRecord(NamedTuple):
    """What is recorded of a batch.

    Attributes
    ----------
    id : int
    names : list of str
        Of its arms.
    status : {"open", "complete", "closed", "abandoned"}
    values : ndarray of float64, shape (n,)
        NaN where not known.
    states : ndarray of str, shape (n,)
        "open", "known", "lost" or "late".

    Notes
    -----
    **Threads.** Nothing changes it: threads may share it.

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


class Recommendation(NamedTuple):
    """The arms found, best first.

    Attributes
    ----------
    arms : ndarray of int64, shape (k,)
    names : list of str
    means : ndarray of float64, shape (k,)
        NaN where no reward was seen.
    pulls : ndarray of int64, shape (k,)
        Rewards seen.
    unmeasured : ndarray of int64
        Of all arms those without a reward, ascending: nothing is known of them. Some may be
        among `arms`, where a policy names as many as are wanted.

    Notes
    -----
    **Threads.** Nothing changes it: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> study = pb.Study.create(":memory:",
    ...                         pb.policies.RoundRobin(4, 2, batch_size=3, max_batches=2),
    ...                         arms=["tea", "coffee", "milk", "water"])
    >>> batch = study.ask()
    >>> result = study.tell(batch.id, [0.1, 0.7, 0.4])
    >>> found = study.recommend()
    >>> found.names, found.means, found.unmeasured
    (['coffee', 'milk'], array([0.7, 0.4]), array([3]))
    """

    arms: np.ndarray
    names: list[str]
    means: np.ndarray
    pulls: np.ndarray
    unmeasured: np.ndarray

    def _repr_html_(self) -> str:
        from pybandit.studies._notebook import recommendation_html

        return recommendation_html(self)


class VerifyResult(NamedTuple):
    """What was found whole.

    Attributes
    ----------
    n_events, n_batches, n_pulls : int
    head : str
        The digest of the last event, in hexadecimal: it changes if anything before does.

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
    >>> found = study.verify()
    >>> found.n_events, found.n_batches, found.n_pulls, found.head == study.status().head
    (3, 1, 4, True)
    """

    n_events: int
    n_batches: int
    n_pulls: int
    head: str


@dataclass(frozen=True, eq=False)
class Status:
    """Where a study is.

    Attributes
    ----------
    path, policy : str
        The file, and the name of the policy's class.
    n_arms, k : int
    done : bool
        Whether the policy asks for nothing more.
    n_pulls, n_batches : int
        What the policy was told, lost pulls included.
    n_lost : int
        Pulls whose result the policy does not have; `n_late` of them came, and wait.
    n_asked : int
        Batches asked for: those told, the open one and the abandoned.
    open_batch : int or None
        Id of the batch that is open.
    n_open : int
        Wells of the open batch that are not yet known.
    n_late : int
        Late results that wait until the open batch is told.
    n_unmeasured : int
        Arms without a reward; where `done`, never measured.
    silent : list of str
        Arms that lost `silent_after` pulls in a row and have not answered since, see `Policy`.
    survivors : ndarray of int64, or None
        Arms still pulled, where the policy has such.
    budget, max_batches : int or None
        What the policy may spend, where it says so.
    pulls_left, batches_left : int or None
        Of these.
    n_amendments : int
        Amendments recorded.
    split : SplitCheck or None
        Test that visits are split by the shares; None unless the study takes counts.
    n_events : int
    head : str
        Digest of the last event, in hexadecimal.
    created, changed : float
        Times of the first and the last event; seconds since 1970-01-01 UTC.

    Notes
    -----
    **Threads.** Nothing changes it: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
    ...                         arms=["tea", "coffee"])
    >>> batch = study.ask()
    >>> result = study.tell(batch.id, [0.1, 0.4], positions=[0, 1])
    >>> status = study.status()
    >>> status.policy, status.n_open, status.n_pulls, status.pulls_left, status.done
    ('Uniform', 2, 0, 4, False)
    """

    path: str
    policy: str
    n_arms: int
    k: int
    done: bool
    n_pulls: int
    n_batches: int
    n_lost: int
    n_asked: int
    open_batch: int | None
    n_open: int
    n_late: int
    n_unmeasured: int
    silent: list[str]
    survivors: np.ndarray | None
    budget: int | None
    max_batches: int | None
    pulls_left: int | None
    batches_left: int | None
    n_amendments: int
    split: SplitCheck | None
    n_events: int
    head: str
    created: float
    changed: float
