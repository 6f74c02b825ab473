"""Results of the methods of a web test: frozen records."""

from dataclasses import dataclass

import numpy as np

from pybandit._shared.records import Record
from pybandit.studies.answers import Status


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SplitCheck(Record):
    """Test that visits are split by the shares (sample-ratio mismatch).

    Attributes
    ----------
    names : list of str
        Names of the arms among which visits are split now.
    trials : ndarray of int64
        Visits per arm since an arm was last added or dropped.
    shares : ndarray of float64
        Expected shares, with sum 1.
    p_value : float
        Valid for any number of looks: if visits are split by the shares, the probability that
        it is ever at most x is at most x.
    mismatch : bool
        True if `p_value` is at most .01.

    Notes
    -----
    The test uses a Dirichlet mixture of likelihood ratios, averaged over three concentrations
    (Lindon and Malek 2022). Visits of an arm that is dropped or retired do not count.

    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> test = pb.webtests.WebTest.create(":memory:", pb.CountRace(2), arms=["old", "new"])
    >>> result = test.tell_counts({"old": (5100, 400), "new": (4900, 410)})
    >>> check = test.status().split
    >>> check.trials, check.shares, round(check.p_value, 3), check.mismatch
    (array([5100, 4900]), array([0.5, 0.5]), 0.929, False)
    """

    names: list[str]
    trials: np.ndarray
    shares: np.ndarray
    p_value: float
    mismatch: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WebTestStatus(Status):
    """State of a web test: the state of its study, and the test of the split.

    Attributes
    ----------
    split : SplitCheck or None
        Test that visits are split by the shares; None before the first batch, or if there is
        nothing to test.

    Notes
    -----
    The other attributes are those of `pybandit.studies.Status`.

    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> test = pb.webtests.WebTest.create(":memory:", pb.CountRace(2), arms=["old", "new"])
    >>> result = test.tell_counts({"old": (5100, 400), "new": (4900, 410)})
    >>> status = test.status()
    >>> status.n_pulls, status.done, status.split.mismatch
    (10000, False, False)
    """

    split: SplitCheck | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountAmendment(Record):
    """Counts of one arm that were corrected.

    Attributes
    ----------
    event : int
        Number of the event in the log.
    key : str
        Key of the batch.
    arm : int
    name : str
        Name of the arm.
    trials_before : int
    sum_before : float
    trials : int
    sum : float
    reason, who : str
    time : float
        Seconds since 1970-01-01 UTC.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> test = pb.webtests.WebTest.create(":memory:", pb.CountRace(2), arms=["old", "new"])
    >>> result = test.tell_counts({"old": (2500, 100), "new": (2500, 150)}, key="Monday")
    >>> result = test.amend_counts("Monday", {"new": (2380, 149)}, reason="a robot", who="Ann")
    >>> [one] = test.amendments()
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
