"""What changes a study: each change one event of its log."""

from typing import Any

import numpy as np

from pybandit._shared.types import ArrayLike
from pybandit.studies._recorder import Recorder, reading, writing
from pybandit.studies._tell import amendment_of, check_over, checked_source, news_of
from pybandit.studies.results import AmendResult, Batch, TellResult


class Changes(Recorder):
    """The methods of `Study` that record."""

    def ask(self) -> Batch | None:
        """The batch to carry out now: the same until it is over; None once all is done.

        Returns
        -------
        Batch or None

        Raises
        ------
        StudyError
            Where it cannot be recorded.

        Examples
        --------
        >>> import pybandit as pb
        >>> study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
        ...                         arms=["tea", "coffee"])
        >>> study.ask().names, study.ask().id
        (['tea', 'coffee', 'tea', 'coffee'], 0)
        >>> study.tell(0, [0.1, 0.4, 0.2, 0.6]).complete, study.ask()
        (True, None)
        """
        known = self._asked()
        return self._ask() if known is None else known[0]

    @reading
    def _asked(self) -> tuple[Batch | None] | None:
        """The open batch, or None for the end; nothing where there is one to ask for."""
        if self._ledger.open is not None:
            return (self._batch(self._ledger.open),)
        return (None,) if self._ledger.policy.done else None

    @writing
    def _ask(self) -> Batch | None:
        ledger = self._ledger
        # unless another process did so in between
        if ledger.open is None:
            if ledger.policy.done:
                return None
            arms = np.array(ledger.policy.ask(), dtype=np.int64)
            self._record("ask", {"batch": ledger.n_batches, "arms": arms}, None)
        return self._batch(ledger.open)

    @writing
    def tell(self, batch_id: int | Batch, results: ArrayLike, *, missing: str = "wait",
             positions: ArrayLike | None = None, who: str | None = None,
             source: dict[str, Any] | None = None) -> TellResult:
        """Record results of a batch: all, some, again, or late.

        Parameters
        ----------
        batch_id : int or Batch
        results : array_like of float, shape (n,)
            In the order of the batch's arms, by whose names a pandas.Series may be labelled; NaN
            as `missing` says.
        missing : {"wait", "drop"}
            Whether NaN is a well not yet known, or one that is lost.
        positions : array_like of int, shape (n,), optional
            The wells that `results` are of, each once; by default all.
        who : str, optional
            By default who opened the study.
        source : dict, optional
            What the results were made of, of anything that `create` takes for `settings` and
            arrays; kept in the log, also where no result is new.

        Returns
        -------
        TellResult
            A result told before, and equal, counts as known and changes nothing, also where it
            was withdrawn since: `amend` records it again.

        Raises
        ------
        ValueError, TypeError
            Where a result is another than the one recorded, infinite, or refused by the
            policy; names batch, well and arm. Nothing is recorded then.
        StudyError
            Where it cannot be recorded; the study is as before.

        Examples
        --------
        >>> import pybandit as pb
        >>> study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
        ...                         arms=["tea", "coffee"])
        >>> batch = study.ask()
        >>> study.tell(batch.id, [0.1, 0.4], positions=[0, 1], source={"file": "monday.csv"})
        TellResult(n_new=2, n_known=0, complete=False)
        >>> study.tell(batch.id, [0.1, 0.4, 0.2, float("nan")], missing="drop")   # the last is lost
        TellResult(n_new=1, n_known=2, complete=True)
        >>> study.tell(batch.id, [0.6], positions=[3])                            # and was found
        TellResult(n_new=1, n_known=0, complete=True)
        """
        wells = self._wells(batch_id)
        news = news_of(wells, results, positions, missing, self._ledger.policy, self._names,
                       lambda: self._withdrawn(wells.number))
        if news.positions.size or source is not None:
            body = {"batch": wells.number, "positions": news.positions, "values": news.values}
            if source is not None:
                body["source"] = checked_source(wells, source)
            wells = self._record("tell", body, wells, who)
        return TellResult(n_new=news.n_new, n_known=news.n_known,
                          complete=wells.status != "open")

    @writing
    def amend(self, batch_id: int | Batch, results: ArrayLike, *, positions: ArrayLike, reason: str,
              who: str | None = None, source: dict[str, Any] | None = None) -> AmendResult:
        """Correct results that are recorded, of a batch that is open or over; again is fine.

        Parameters
        ----------
        batch_id : int or Batch
        results : array_like of float, shape (n,)
            What they should have been; NaN withdraws one: its well counts as lost, and another
            result of it may be told.
        positions : array_like of int, shape (n,)
            The wells that `results` are of, each once.
        reason : str
            Kept with what was recorded before.
        who : str, optional
            By default who opened the study.
        source : dict, optional
            As in `tell`.

        Returns
        -------
        AmendResult
            A result that is recorded as it should be counts as known and changes nothing.

        Raises
        ------
        ValueError, TypeError
            Where nothing is recorded of a well, a result is infinite or refused by the policy,
            or the policy cannot be told again. Nothing is recorded then.
        StudyError
            As `tell`.

        Notes
        -----
        Where the batch is over, the policy begins anew and is told all batches again, with the
        results as they are known now: O(the study). What was asked stays asked. As long as
        the policy asks for the same arms, it becomes bit for bit the one that was told the
        right results at once. Where it would have asked for others, it is told those that
        were read; the rest of what it asks for counts as lost, and what was read of other
        arms is late. A race, and a policy of one's own without ``add_late``, refuse then.

        Examples
        --------
        >>> import pybandit as pb
        >>> study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
        ...                         arms=["tea", "coffee"])
        >>> batch = study.ask()
        >>> result = study.tell(batch.id, [0.1, 0.4, 0.2, 6.0])
        >>> study.amend(batch.id, [0.6], positions=[3], reason="the point was missed")
        AmendResult(n_amended=1, n_known=0)
        >>> study.policy.means.round(2), study.amendments()[0].before
        (array([0.15, 0.5 ]), 6.0)
        """
        wells = self._wells(batch_id)
        body, result = amendment_of(wells, results, positions, reason, self._ledger.policy,
                                    self._names, lambda: self._withdrawn(wells.number))
        if source is not None:
            body["source"] = checked_source(wells, source)
        if result.n_amended or source is not None:
            self._record("amend", body, wells, who)
        return result

    @writing
    def close_batch(self, batch_id: int | Batch) -> None:
        """Count what is not known of a batch as lost, and go on; again is fine.

        Raises
        ------
        ValueError
            Where there is no such batch, or it was abandoned.
        StudyError
            As `tell`.

        Examples
        --------
        >>> import pybandit as pb
        >>> study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
        ...                         arms=["tea", "coffee"])
        >>> result = study.tell(study.ask().id, [0.1, 0.4], positions=[0, 1])
        >>> study.close_batch(0)
        >>> study.status().n_lost, study.status().done
        (2, True)
        """
        wells = self._wells(batch_id)
        if not check_over(wells, "close", policy=self._ledger.policy):
            self._record("close", {"batch": wells.number}, wells)

    @writing
    def abandon(self, batch_id: int | Batch, *, discard: bool = False) -> None:
        """A batch was never carried out: nothing is spent; again is fine.

        The next `ask` gives the same arms under another id.

        Parameters
        ----------
        batch_id : int or Batch
        discard : bool, default False
            Whether results that were recorded are given up.

        Raises
        ------
        ValueError
            Where there is no such batch, it is complete or closed, or has results.
        StudyError
            As `tell`.

        Examples
        --------
        >>> import pybandit as pb
        >>> study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4),
        ...                         arms=["tea", "coffee"])
        >>> batch = study.ask()
        >>> study.abandon(batch.id)
        >>> again = study.ask()
        >>> again.id, again.names == batch.names, study.status().n_pulls
        (1, True, 0)
        """
        wells = self._wells(batch_id)
        if not check_over(wells, "abandon", discard):
            self._record("abandon", {"batch": wells.number}, wells)
