"""Web tests: A/B tests of pages with daily counts, in one file."""

import importlib.util
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pybandit._shared.checks import MOST_PULLS, check_integer, shown
from pybandit._shared.types import ArrayLike, Ints
from pybandit.betting import CountRace
from pybandit.studies._create import created
from pybandit.studies._races import as_policy
from pybandit.studies._recorder import reading, writing
from pybandit.studies.study import Study
from pybandit.webtests import _recorded_counts as count_log
from pybandit.webtests._base import WEBTEST, checked_shares
from pybandit.webtests._counts import split_of
from pybandit.webtests._policy import counted_type
from pybandit.webtests._record import CountTells
from pybandit.webtests._split import weights_of
from pybandit.webtests.results import CountAmendment, WebTestStatus


class WebTest(CountTells):
    """An A/B test of pages with daily counts, in one file that survives crashes.

    Created by `WebTest.create` or `WebTest.open`. `split` returns the next number of visits of
    each page, and `tell_counts` records their counts.

    A web test keeps its data in a `Study`: when a method that changes the test returns, the
    change is on the disk, and several processes and threads may use one test at once.

    Attributes
    ----------
    study : Study
        The underlying study.
    path : str
    names : tuple of str
    settings : dict
    policy : CountRace, Policy or race
        A copy.

    Notes
    -----
    While a test is open, part of its log is in ``<path>-wal``. Copy both files, or close the
    test first.

    Examples
    --------
    >>> import pybandit as pb
    >>> test = pb.webtests.WebTest.create(":memory:", pb.CountRace(2), arms=["old", "new"])
    >>> test.split(5000)
    array([2500, 2500])
    >>> test.tell_counts({"old": (2500, 100), "new": (2500, 150)}, key="Monday")
    TellResult(n_new=2, n_known=0, complete=True)
    >>> test.recommend().best_names, test.status().done
    (['new'], False)
    """

    @classmethod
    def create(cls, path: str | os.PathLike[str], policy: Any, arms: Sequence[str] | None = None, *,
               shares: ArrayLike | None = None, who: str | None = None,
               settings: dict[str, Any] | None = None, overwrite: bool = False) -> Self:
        """Create a test.

        Parameters
        ----------
        path : str or path-like
            File to create, or ``":memory:"``. After a crash the file is complete or absent; a
            draft ``<path>.*.new`` may be left, which can be deleted.
        policy : CountRace, Policy or race
            New or used; the test keeps its own copy. `CountRace` finds the best page.
            ``ThompsonSampling(..., batch_size=b)`` sends more visits to pages that do well. Any
            other policy or race receives successes and failures: see `tell_counts`.
        arms : sequence of str, optional
            Unique names of the pages, one per arm; by default "0", "1", ...
        shares : array_like of float, shape (n_arms,), optional
            Weights above 0 by which visits are split among the arms. `split` uses them, and a
            sequential test compares the visits with them (`WebTestStatus.split`). By default they
            are equal for `CountRace`, and other policies have no test.
        who : str, optional
            Author recorded in the log; by default user@host.
        settings : dict, optional
            As in `Study.create`.
        overwrite : bool, default False
            True to replace an existing file, which must not be in use.

        Raises
        ------
        FileExistsError
            If the file exists.
        ValueError, TypeError
            If an argument is invalid.
        StudyError
            If the file cannot be written.

        Examples
        --------
        >>> import pybandit as pb
        >>> test = pb.webtests.WebTest.create("buttons.db", pb.CountRace(3),
        ...                                   arms=["red", "green", "blue"], shares=[2, 1, 1])
        >>> test
        <WebTest 'buttons.db': CountRace, 3 arms>
        >>> test.close()
        """
        if not isinstance(policy, CountRace):
            policy = as_policy(policy)
        counted = counted_type(type(policy))(policy)
        more = {} if shares is None else {"shares": checked_shares(shares, policy.n_arms)}
        store = created(path, WEBTEST, counted, arms, who=who, settings=settings,
                        overwrite=overwrite, **more)
        return cls(Study(store, WEBTEST, type(policy), who))

    @reading
    def status(self) -> WebTestStatus:
        """Return the state of the test: trials, batches, and the test of the split."""
        return WebTestStatus(**self._study._facts(),
                             split=self._policy.counts.split.check(self._names))

    @reading
    def split(self, n: int) -> Ints:
        """Split the next n trials as the policy's requests are split among the arms.

        Parameters
        ----------
        n : int

        Returns
        -------
        ndarray of int64, shape (n_arms,)
            Trials per arm, with sum n. A race splits them among its remaining arms, evenly or by
            `shares`; ``ThompsonSampling(..., batch_size=b)`` splits them as its next b pulls. If
            the policy is done, all trials go to the arm found, or evenly to all arms if it finds
            none.

        Examples
        --------
        >>> import pybandit as pb
        >>> test = pb.webtests.WebTest.create(":memory:", pb.CountRace(3),
        ...                                   arms=["old", "new", "odd"])
        >>> test.split(5000)
        array([1667, 1667, 1666])
        >>> test.retire("odd", "it is broken on phones")
        >>> test.split(5000)
        array([2500, 2500,    0])
        """
        return split_of(self._policy, check_integer("n", n, 0, MOST_PULLS),
                        weights_of(self._policy, self._shares))

    @writing
    def add_arm(self, name: str) -> int:
        """Add an arm from the next batch on, and return its number.

        See `CountRace` for the guarantee.

        Raises
        ------
        ValueError, TypeError
            If the name is not text or is already used, or if the policy is not a `CountRace`.
        StudyError
            As in `tell`.

        Examples
        --------
        >>> import pybandit as pb
        >>> test = pb.webtests.WebTest.create(":memory:", pb.CountRace(2), arms=["old", "new"])
        >>> test.add_arm("newer"), test.names
        (2, ('old', 'new', 'newer'))
        """
        if not isinstance(name, str) or not name:
            raise TypeError(f"name must be text that is not empty; got {shown(name)}")
        if name in self._names.tolist():
            raise ValueError(f"name must be new; got {name!r}, which is arm "
                             f"{self._names.tolist().index(name)}")
        self._check_open_to("arms that are added")
        self._study._record("arm", {"name": name}, None)
        self._study._name_arms()
        return int(self._names.size) - 1

    @writing
    def retire(self, arm: str, reason: str) -> None:
        """Remove an arm from the test, and record the reason. Repeating a call has no effect.

        See `CountRace` for the guarantee.

        Raises
        ------
        ValueError, TypeError
            If there is no such arm, it is the last one, the reason is not text, or the policy
            is not a `CountRace`.
        StudyError
            As in `tell`.

        Examples
        --------
        >>> import pybandit as pb
        >>> test = pb.webtests.WebTest.create(":memory:", pb.CountRace(3),
        ...                                   arms=["old", "new", "odd"])
        >>> test.retire("odd", "it is broken on phones")
        >>> test.policy.survivors
        array([0, 1])
        """
        names = self._names.tolist()
        if arm not in names:
            raise ValueError(f"arm must be an arm of the study; got {shown(arm)}")
        if not isinstance(reason, str) or not reason:
            raise TypeError(f"reason must be text that is not empty; got {shown(reason)}")
        self._check_open_to("arms that are retired")
        if names.index(arm) not in self._policy.race.retired:
            self._study._record("retire", {"arm": names.index(arm), "reason": reason}, None)

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            if name in ("ask", "tell", "amend", "batch", "close_batch", "abandon", "history"):
                raise AttributeError(f"a WebTest takes counts, by tell_counts; {name} is a method "
                                     "of pybandit.Study")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}",
                                 name=name, obj=self)

    def _check_open_to(self, what):
        if not hasattr(self._policy, "add_arm"):
            raise ValueError(f"policy must be a CountRace for {what}; got "
                             f"{self._study._type.__name__}, which has no guarantee for these")

    def _columns_of_counts(self):
        n_arms, rows = self._names.size, []
        for batch, (key, one) in enumerate(count_log.recorded(self._study).items()):
            trials, sums, squares = count_log.wide(one.body, n_arms)
            rows += [(batch, key, arm, self._names[arm], trials[arm], sums[arm],
                      np.nan if squares is None else squares[arm], one.when, one.who)
                     for arm in np.flatnonzero(trials)]
        kinds = {"batch": np.int64, "key": object, "arm": np.int64, "name": object,
                 "trials": np.int64, "sum": np.float64, "squares": np.float64,
                 "told_at": np.float64, "who": object}
        if all(np.isnan(row[6]) for row in rows):
            rows = [row[:6] + row[7:] for row in rows]
            del kinds["squares"]
        return {name: np.array([row[at] for row in rows], dtype=kind)
                for at, (name, kind) in enumerate(kinds.items())}

    @reading
    def counts(self) -> Any:
        """Return the present counts of every batch, one row per arm with trials.

        Returns
        -------
        pandas.DataFrame, or dict of ndarray if pandas is not installed
            Columns batch, key, arm, name, trials, sum, squares (if any are recorded), told_at
            (time of the last change, in seconds since 1970-01-01 UTC) and who (its author).

        Examples
        --------
        >>> import pybandit as pb
        >>> test = pb.webtests.WebTest.create(":memory:", pb.CountRace(2), arms=["old", "new"],
        ...                                   who="Ann")
        >>> result = test.tell_counts({"old": (2500, 100), "new": (2500, 150)}, key="Monday")
        >>> test.counts()[["key", "name", "trials", "sum"]]
              key name  trials    sum
        0  Monday  old    2500  100.0
        1  Monday  new    2500  150.0
        """
        columns = self._columns_of_counts()
        if importlib.util.find_spec("pandas") is None:
            return columns
        import pandas as pd

        return pd.DataFrame(columns)

    @reading
    def _batches(self):
        """Return trials, sums and squares (or None) of each batch, in order."""
        return [count_log.wide(one.body, self._names.size)
                for one in count_log.recorded(self._study).values()]

    @reading
    def _keys_known(self):
        """Return the counts of each key: {key: {name: (trials, sum[, squares])}}."""
        n_arms, names = self._names.size, self._names.tolist()
        columns = {key: [one for one in count_log.wide(recorded.body, n_arms) if one is not None]
                   for key, recorded in count_log.recorded(self._study).items()}
        return {key: dict(zip(names, zip(*(one.tolist() for one in of), strict=True), strict=True))
                for key, of in columns.items()}

    @reading
    def amendments(self) -> list[CountAmendment]:
        """Return every correction of counts, one per arm, in the order of the log.

        Examples
        --------
        >>> import pybandit as pb
        >>> test = pb.webtests.WebTest.create(":memory:", pb.CountRace(2), arms=["old", "new"])
        >>> result = test.tell_counts({"old": (2500, 100), "new": (2500, 150)}, key="Monday")
        >>> result = test.amend_counts("Monday", {"new": (2500, 148)}, reason="2 refunds")
        >>> [one] = test.amendments()
        >>> one.key, one.name, one.sum_before, one.sum, one.reason
        ('Monday', 'new', 150.0, 148.0, '2 refunds')
        """
        found, n_arms = [], self._names.size
        for one, before in count_log.amendments(self._study):
            new, old = count_log.wide(one.body, n_arms), count_log.wide(before, n_arms)
            for arm in np.flatnonzero(~count_log.same(new, old)).tolist():
                found.append(CountAmendment(
                    event=one.event, key=one.body["key"], arm=arm, name=self._names[arm],
                    trials_before=int(old[0][arm]), sum_before=float(old[1][arm]),
                    trials=int(new[0][arm]), sum=float(new[1][arm]),
                    reason=one.body["reason"], who=one.who, time=one.when))
        return found
