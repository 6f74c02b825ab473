"""State of a study and the arms found so far: frozen records."""


from dataclasses import dataclass
from typing import Any

import numpy as np

from pybandit._shared.optional import require
from pybandit._shared.records import Record

SHOWN = 5  # names in a sentence


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
        Rewards seen of `best_arms`.
    n_pulls : int
        Pulls of all arms, lost ones included.
    decided : bool
        True if the policy is done.
    unmeasured : ndarray of int64
        Arms without a reward, ascending: nothing is known of them. Some may be among
        `best_arms` if a policy returns k arms in any case.

    Notes
    -----
    **Threads.** Nothing changes it: threads may share it.

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
        words = ", ".join(found[:-1]) + " and " + found[-1] if len(found) > 1 else "".join(found)
        verb = "lead" if not self.decided else "are the best of"
        if len(found) < 2:
            verb = {"lead": "leads", "are the best of": "is the best of"}[verb]
        return (f"{words or 'no arm'} {verb} {len(self.names):,} arms after {self.n_pulls:,} "
                "pulls.")

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
class SplitCheck(Record):
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Status(Record):
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
