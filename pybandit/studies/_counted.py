"""Studies that are told counts: their methods."""

import importlib.util
from typing import Any

import numpy as np

from pybandit._shared.checks import MOST_PULLS, check_integer, shown
from pybandit._shared.types import Ints
from pybandit.studies import _count_log as count_log
from pybandit.studies._count_tells import CountTells
from pybandit.studies._counts import split_of
from pybandit.studies._recorder import reading, writing
from pybandit.studies._split_check import weights_of
from pybandit.studies.results import CountAmendment


class Counted(CountTells):
    """The methods of `Study` for counts."""

    @reading
    def split(self, n: int) -> Ints:
        """How the next n trials are shared out: what the policy asks for, scaled to n.

        Parameters
        ----------
        n : int

        Returns
        -------
        ndarray of int64, shape (n_arms,)
            They add up to n. Evenly, or by `shares`, among the arms left of a race; for
            ``ThompsonSampling(..., batch_size=b)`` the arms of the next b pulls. All to the
            arm found, where the policy is done; evenly, where it finds none.

        Examples
        --------
        >>> import pybandit as pb
        >>> study = pb.Study.create(":memory:", pb.CountRace(3), arms=["old", "new", "odd"])
        >>> study.split(5000)
        array([1667, 1667, 1666])
        >>> study.retire("odd", "it is broken on phones")
        >>> study.split(5000)
        array([2500, 2500,    0])
        """
        return split_of(self._ledger.policy, check_integer("n", n, 0, MOST_PULLS),
                        weights_of(self._ledger, self._shares))

    @writing
    def add_arm(self, name: str) -> int:
        """One arm more from the next batch on: its number. What it is promised: `CountRace`.

        Raises
        ------
        ValueError, TypeError
            Where the name is not text or there already, or the policy is no `CountRace`.
        StudyError
            As `tell`.

        Examples
        --------
        >>> import pybandit as pb
        >>> study = pb.Study.create(":memory:", pb.CountRace(2), arms=["old", "new"])
        >>> study.add_arm("newer"), study.names
        (2, ('old', 'new', 'newer'))
        """
        if not isinstance(name, str) or not name:
            raise TypeError(f"name must be text that is not empty; got {shown(name)}")
        if name in self._names.tolist():
            raise ValueError(f"name must be new; got {name!r}, which is arm "
                             f"{self._names.tolist().index(name)}")
        self._check_open_to("arms that are added")
        self._record("arm", {"name": name}, None)
        self._name_arms()
        return int(self._names.size) - 1

    @writing
    def retire(self, arm: str, reason: str) -> None:
        """Take an arm out, and record why; again is fine. What is promised then: `CountRace`.

        Raises
        ------
        ValueError, TypeError
            Where there is no such arm, it is the last one, the reason is no text, or the policy
            is no `CountRace`.
        StudyError
            As `tell`.

        Examples
        --------
        >>> import pybandit as pb
        >>> study = pb.Study.create(":memory:", pb.CountRace(3), arms=["old", "new", "odd"])
        >>> study.retire("odd", "it is broken on phones")
        >>> study.policy.survivors
        array([0, 1])
        """
        names = self._names.tolist()
        if arm not in names:
            raise ValueError(f"arm must be an arm of the study; got {shown(arm)}")
        if not isinstance(reason, str) or not reason:
            raise TypeError(f"reason must be text that is not empty; got {shown(reason)}")
        self._check_open_to("arms that are retired")
        if names.index(arm) not in self._ledger.policy.race.retired:
            self._record("retire", {"arm": names.index(arm), "reason": reason}, None)

    def _check_open_to(self, what):
        if not hasattr(self._ledger.policy, "add_arm"):
            raise ValueError(f"policy must be a CountRace for {what}; got {self._type.__name__}, "
                             "which promises nothing for these")

    def _columns_of_counts(self):
        n_arms, rows = self._names.size, []
        for batch, (key, one) in enumerate(count_log.recorded(self).items()):
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
        pandas.DataFrame, or dict of ndarray where pandas is not installed
            Columns batch, key, arm, name, trials, sum, squares (if any are recorded), told_at
            (seconds since 1970-01-01 UTC) and who: time and author of the last change.

        Examples
        --------
        >>> import pybandit as pb
        >>> study = pb.Study.create(":memory:", pb.CountRace(2), arms=["old", "new"], who="Ann")
        >>> result = study.tell_counts({"old": (2500, 100), "new": (2500, 150)}, key="Monday")
        >>> study.counts()[["key", "name", "trials", "sum"]]
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
    def _keys_known(self):
        """Return the counts of each key: {key: {name: (trials, sum[, squares])}}."""
        n_arms, names = self._names.size, self._names.tolist()
        columns = {key: [one for one in count_log.wide(recorded.body, n_arms) if one is not None]
                   for key, recorded in count_log.recorded(self).items()}
        return {key: dict(zip(names, zip(*(one.tolist() for one in of), strict=True), strict=True))
                for key, of in columns.items()}

    @reading
    def count_amendments(self) -> list[CountAmendment]:
        """Return every correction of counts, one per arm, in the order of the log.

        Examples
        --------
        >>> import pybandit as pb
        >>> study = pb.Study.create(":memory:", pb.CountRace(2), arms=["old", "new"])
        >>> result = study.tell_counts({"old": (2500, 100), "new": (2500, 150)}, key="Monday")
        >>> result = study.amend_counts("Monday", {"new": (2500, 148)}, reason="2 refunds")
        >>> [one] = study.count_amendments()
        >>> one.key, one.name, one.sum_before, one.sum, one.reason
        ('Monday', 'new', 150.0, 148.0, '2 refunds')
        """
        found, n_arms = [], self._names.size
        for one, before in count_log.amendments(self):
            new, old = count_log.wide(one.body, n_arms), count_log.wide(before, n_arms)
            for arm in np.flatnonzero(~count_log.same(new, old)).tolist():
                found.append(CountAmendment(
                    event=one.event, key=one.body["key"], arm=arm, name=self._names[arm],
                    trials_before=int(old[0][arm]), sum_before=float(old[1][arm]),
                    trials=int(new[0][arm]), sum=float(new[1][arm]),
                    reason=one.body["reason"], who=one.who, time=one.when))
        return found
