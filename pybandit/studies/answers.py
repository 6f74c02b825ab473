"""State of a study and the arms found so far: frozen records."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pybandit._shared.optional import require
from pybandit._shared.records import Record

SHOWN = 5  # maximum number of names in a sentence


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recommendation(Record):
    """The arms found, best first.

    Attributes
    ----------
    best_arms : ndarray of int64, shape (k,)
    best_names : list of str
        Names of `best_arms`.
    names : tuple of str
        Names of all arms.
    means : ndarray of float64, shape (k,)
        Means of `best_arms`; NaN if an arm has no reward.
    pulls : ndarray of int64, shape (k,)
        Number of rewards of each of `best_arms`.
    n_pulls : int
        Pulls of all arms, lost ones included.
    decided : bool
        True if the policy or race has reached its answer with its delta. Always False for
        policies without a delta and for those that `max_pulls` stopped.
    done : bool
        True if the policy asks for nothing more.
    unmeasured : ndarray of int64
        Arms without a reward, ascending: nothing is known of them. Some may be among
        `best_arms` if a policy returns k arms in any case.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> policy = pb.policies.RoundRobin(4, 2, batch_size=3, max_batches=2)
    >>> study = pb.Study.create(":memory:", policy, arms=["tea", "coffee", "milk", "water"])
    >>> batch = study.ask()
    >>> result = study.tell(batch.id, [0.1, 0.7, 0.4])
    >>> found = study.recommend()
    >>> found.best_names, found.means, found.unmeasured
    (['coffee', 'milk'], array([0.7, 0.4]), array([3]))
    >>> print(found.summary())
    coffee and milk lead 4 arms after 3 pulls.
    """

    best_arms: np.ndarray
    best_names: list[str]
    names: tuple[str, ...]
    means: np.ndarray
    pulls: np.ndarray
    n_pulls: int
    decided: bool
    done: bool
    unmeasured: np.ndarray

    @property
    def best(self) -> int | None:
        """The first of `best_arms`, or None if there are none."""
        return int(self.best_arms[0]) if len(self.best_arms) else None

    @property
    def best_name(self) -> str | None:
        """The first of `best_names`, or None if there are none."""
        return self.best_names[0] if self.best_names else None

    def summary(self) -> str:
        """Return the answer in one sentence."""
        found = self.best_names[:SHOWN]
        if len(self.best_names) > SHOWN:
            found = [*found, f"{len(self.best_names) - SHOWN} others"]
        words = " and ".join(filter(None, [", ".join(found[:-1]), *found[-1:]])) or "no arm"
        is_one = len(found) < 2
        if self.decided:
            verb = "is the best of" if is_one else "are the best of"
        elif self.done:
            verb = "is chosen among" if is_one else "are chosen among"
        else:
            verb = "leads" if is_one else "lead"
        return f"{words} {verb} {len(self.names):,} arms after {self.n_pulls:,} pulls."

    def to_frame(self) -> Any:
        """Return a pandas.DataFrame with a row per arm of `best_arms`: mean and pulls.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.
        """
        pandas = require("pandas", "pandas")
        return pandas.DataFrame({"arm": self.best_arms, "mean": self.means, "pulls": self.pulls},
                                index=pandas.Index(self.best_names, name="name"))

    def __repr__(self):
        return f"<Recommendation: {self.summary().removesuffix('.')}>"

    def _repr_html_(self) -> str:
        from pybandit.studies._notebook import recommendation_html

        return recommendation_html(self)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Status(Record):
    """State of a study: pulls, batches, and results that are missing.

    Attributes
    ----------
    path, policy : str
        The file, and the name of the policy's class.
    n_arms, k : int
    done : bool
        True if the policy asks for nothing more.
    n_pulls, n_batches : int
        Pulls and batches reported to the policy, lost pulls included.
    n_lost : int
        Pulls without a result; results of `n_late` of them have arrived since.
    n_asked : int
        Batches asked for: reported, open and abandoned.
    open_batch : int or None
        Id of the open batch.
    n_open : int
        Wells of the open batch without a result.
    n_late : int
        Late results, which the policy receives when the open batch is over.
    n_unmeasured : int
        Arms without a reward.
    silent : list of str
        Arms that lost `silent_after` pulls in a row and have had no result since; see `Policy`.
    survivors : ndarray of int64, or None
        Arms that are not eliminated; None if the policy eliminates none.
    budget, max_batches : int or None
        Limits of the policy; None if it has none.
    pulls_left, batches_left : int or None
        Pulls and batches that remain until these limits.
    n_amendments : int
        Amendments recorded.
    n_events : int
    head : str
        Digest of the last event, in hexadecimal.
    created, changed : float
        Times of the first and the last event; seconds since 1970-01-01 UTC.

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
    n_events: int
    head: str
    created: float
    changed: float
