"""Studies that are told counts: their methods."""

import importlib.util
from collections.abc import Mapping
from typing import Any

import numpy as np

from pybandit._shared.checks import MOST_PULLS, check_integer, shown
from pybandit._shared.generators import as_generator
from pybandit._shared.types import Ints, Rng
from pybandit.studies._counts import checked_counts, split_of
from pybandit.studies._keys import counts_of
from pybandit.studies._recorder import Recorder, reading, writing
from pybandit.studies.results import TellResult


class Counted(Recorder):
    """The methods of `Study` for counts."""

    @writing
    def tell_counts(self, counts: Mapping[str, tuple[int, float]], *, key: str | None = None,
                    who: str | None = None, rng: Rng = None) -> TellResult:
        """Record a batch as counts: how often each arm was tried, and what came of it.

        Parameters
        ----------
        counts : dict of (int, float) by name
            Trials and successes of an arm, or the sum of its rewards; an arm that is not named
            had none.
        key : str, optional
            What the batch is called, a day perhaps. Counts that are recorded under it already
            change nothing if they are equal, and are refused if not, so that a call may be
            made again. By default the number of the batch: made again, it is another batch.
        who : str, optional
            By default who opened the study.
        rng : None, int, SeedSequence or Generator
            Draws the order within the batch, for a policy that is told rewards one by one. The
            seed is recorded.

        Returns
        -------
        TellResult
            Arms recorded now, or before; `complete` is True.

        Raises
        ------
        ValueError, TypeError
            Where an arm is not the study's, a sum is not one of so many rewards, the key has other
            counts, or batches were asked for: a study is told counts or asks, not both. Nothing
            is recorded then.
        StudyError
            As `tell`.

        Notes
        -----
        `CountRace` and `ThompsonSampling` take counts as they are; see there what is
        promised. For any other policy, and other races, a batch of successes and failures gets
        a random order of the study's, recorded as a seed, and is told as far as the policy
        asks for it; the rest of each arm waits. All orders are equally likely given the
        counts, as those of independent visits of one probability are: the rewards have the
        law of the visits in the order they came, and the policy's promise for independent rewards
        holds, if the visits of an arm are exchangeable within the batch, their probability
        is the same in all batches, and their number does not depend on what comes of them.
        What waits is told beside visits of later days: where days differ, use `CountRace`.

        Examples
        --------
        >>> import pybandit as pb
        >>> study = pb.Study.create(":memory:", pb.CountRace(2), arms=["old", "new"])
        >>> study.tell_counts({"old": (2500, 100), "new": (2500, 150)}, key="Monday")
        TellResult(n_new=2, n_known=0, complete=True)
        >>> study.tell_counts({"old": (2500, 100), "new": (2500, 150)}, key="Monday")
        TellResult(n_new=0, n_known=2, complete=True)
        >>> study.recommend().names, study.status().done
        (['new'], False)
        """
        trials, sums = checked_counts(counts, self._names, self._ledger.policy)
        known = self._counts_of(key)
        if known is None:
            key = str(self._ledger.counts.n) if key is None else key
            seed = as_generator(rng).integers(1 << 63, size=4)
            self._record("counts", {"key": key, "trials": trials, "sums": sums, "seed": seed},
                         None, who)
            return TellResult(len(counts), 0, True)
        _check_same(key, known, trials, sums, self._names)
        return TellResult(0, len(counts), True)

    def _counts_of(self, key):
        """What is recorded under a key, or None."""
        if key is not None and (not isinstance(key, str) or not key):
            raise TypeError(f"key must be text that is not empty; got {shown(key)}")
        sought = str(self._ledger.counts.n) if key is None else key
        event = self._keys.number(self, sought) if self._ledger.counts.n else None
        if event is None:
            return None
        if key is None:
            raise ValueError(f"key must be given where an earlier one is {sought!r}, the "
                             "number of this batch; got None")
        return self._entry(f"event {event}", self._store.events(event).fetchone()[4])

    @reading
    def split(self, n: int) -> Ints:
        """How the next n trials are shared out: what the policy asks for, scaled to n.

        Parameters
        ----------
        n : int

        Returns
        -------
        ndarray of int64, shape (n_arms,)
            They add up to n. Evenly among the arms left of a race; for
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
        return split_of(self._ledger.policy, check_integer("n", n, 0, MOST_PULLS))

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
        >>> study.add_arm("newer"), study.arms
        (2, ['old', 'new', 'newer'])
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

    def _bodies(self):
        """Time, who and body of each batch."""
        for number, _, when, who, body, _ in self._store.events(kind="counts"):
            yield when, who, counts_of(self, number, body)

    def _columns_of_counts(self):
        rows = [(batch, body["key"], arm, self._names[arm], body["trials"][arm],
                 body["sums"][arm], when, who)
                for batch, (when, who, body) in enumerate(self._bodies())
                for arm in np.flatnonzero(body["trials"])]
        kinds = {"batch": np.int64, "key": object, "arm": np.int64, "name": object,
                 "trials": np.int64, "sum": np.float64, "told_at": np.float64, "who": object}
        return {name: np.array([row[at] for row in rows], dtype=kind)
                for at, (name, kind) in enumerate(kinds.items())}

    @reading
    def counts(self) -> Any:
        """Every batch of counts, arm by arm, where there were trials.

        Returns
        -------
        pandas.DataFrame, or dict of ndarray where pandas is not installed
            Columns batch, key, arm, name, trials, sum, told_at (seconds since 1970-01-01 UTC)
            and who.

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


def _check_same(key, known, trials, sums, names):
    """Refuse counts that are not those of their key; arms that came later had none."""
    before = np.zeros((2, trials.size))
    before[:, :known["trials"].size] = known["trials"], known["sums"]
    other = (before != [trials, sums]).any(axis=0)
    if other.any():
        arm = int(other.argmax())
        raise ValueError(f"counts must be those already recorded as {key!r}; got {sums[arm]:g} of "
                         f"{trials[arm]} for arm {names[arm]!r}, where {before[1, arm]:g} of "
                         f"{int(before[0, arm])} was")
