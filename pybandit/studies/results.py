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
        Pulls whose result never came.
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
    survivors : ndarray of int64, or None
        Arms still pulled, where the policy has such.
    budget, max_batches : int or None
        What the policy may spend, where it says so.
    pulls_left, batches_left : int or None
        Of these.
    n_amendments : int
        Amendments recorded.
    n_events : int
    head : str
        Digest of the last event, in hexadecimal.
    created, changed : float
        Times of the first and the last event; seconds since 1970-01-01 UTC.

    Notes
    -----
    **Threads.** Nothing changes it: threads may share it.
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
    survivors: np.ndarray | None
    budget: int | None
    max_batches: int | None
    pulls_left: int | None
    batches_left: int | None
    n_amendments: int
    n_events: int
    head: str
    created: float
    changed: float
