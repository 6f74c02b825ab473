"""Methods that change a study; each change is one event of its log."""

from typing import Any

import numpy as np

from pybandit._shared.types import ArrayLike
from pybandit.studies._recorder import Recorder, reading, writing
from pybandit.studies._tell import amendment_of, check_over, checked_source, news_of
from pybandit.studies.results import AmendResult, Batch, TellResult


class ChangeMethods(Recorder):
    """The methods of `Study` that record."""

    def ask(self) -> Batch | None:
        """Return the batch to carry out now.

        Returns the same batch until it is over, and None once the policy is done.

        Returns
        -------
        Batch or None

        Raises
        ------
        StudyError
            If the request cannot be recorded.

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
        """Return a tuple with the open batch, or with None if the policy is done.

        Returns None if the policy may be asked for a batch.
        """
        if self._progress.open is not None:
            return (self._batch(self._progress.open),)
        return (None,) if self._progress.policy.done else None

    @writing
    def _ask(self) -> Batch | None:
        progress = self._progress
        # another process may have asked in the meantime
        if progress.open is None:
            if progress.policy.done:
                return None
            arms = np.array(progress.policy.ask(), dtype=np.int64)
            self._record("ask", {"batch": progress.n_batches, "arms": arms}, None)
        return self._batch(progress.open)

    @writing
    def tell(self, batch_id: int | Batch, results: ArrayLike, *, missing: str = "wait",
             positions: ArrayLike | None = None, who: str | None = None,
             source: dict[str, Any] | None = None) -> TellResult:
        """Record results of a batch: all or some of them, late ones, or the same ones again.

        Parameters
        ----------
        batch_id : int or Batch
        results : array_like of float, shape (n,)
            In the order of the batch's arms. A pandas.Series may be labelled by the names of the
            arms. `missing` gives the meaning of NaN.
        missing : {"wait", "drop"}
            "wait": NaN is a result that is still pending. "drop": it is lost.
        positions : array_like of int, shape (n,), optional
            Positions in the batch that `results` belong to, each at most once; by default all.
        who : str, optional
            Author; by default the `who` of `open` or `create`.
        source : dict, optional
            Origin of the results: values of the types that `settings` of `create` accepts, or
            arrays. Stored in the log, even if no result is new.

        Returns
        -------
        TellResult
            A result that equals the recorded one counts as known and changes nothing. So does a
            result that has been withdrawn since: record it again with `amend`.

        Raises
        ------
        ValueError, TypeError
            If a result differs from the recorded one, is infinite, or is rejected by the policy.
            The message names batch, well and arm. Nothing is recorded.
        StudyError
            If the results cannot be recorded. The study does not change.

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
        news = news_of(wells, results, positions, missing, self._progress.policy, self._names,
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
        """Correct recorded results of an open or finished batch. Repeating a call has no effect.

        Parameters
        ----------
        batch_id : int or Batch
        results : array_like of float, shape (n,)
            Correct values. NaN withdraws a result: its well counts as lost, and another result
            may be reported.
        positions : array_like of int, shape (n,)
            Positions in the batch that `results` belong to, each at most once.
        reason : str
            Stored with the previous values.
        who : str, optional
            Author; by default the `who` of `open` or `create`.
        source : dict, optional
            As in `tell`.

        Returns
        -------
        AmendResult
            A result that is already recorded with this value counts as known and changes nothing.

        Raises
        ------
        ValueError, TypeError
            If a well has no recorded result, if a result is infinite or rejected by the policy, or
            if the policy cannot replay its batches (see Notes). Nothing is recorded.
        StudyError
            As in `tell`.

        Notes
        -----
        If the batch is over, the policy starts again from its initial state and receives all
        batches with their corrected results, in time proportional to the size of the study.
        Past requests do not change.

        As long as the policy asks for the same arms as before, its state becomes bit for bit
        that of a policy that received the correct results at once. If it would have asked for
        other arms, it receives the results that exist for them; its other requests count as
        lost, and results of the arms that it did not ask for are late. A race, or a
        user-defined policy without ``add_late``, raises an error instead.

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
        body, result = amendment_of(wells, results, positions, reason, self._progress.policy,
                                    self._names, lambda: self._withdrawn(wells.number))
        if source is not None:
            body["source"] = checked_source(wells, source)
        if result.n_amended or source is not None:
            self._record("amend", body, wells, who)
        return result

    @writing
    def close_batch(self, batch_id: int | Batch) -> None:
        """Close a batch: pending results count as lost. Repeating a call has no effect.

        Raises
        ------
        ValueError
            If there is no such batch, or it was abandoned.
        StudyError
            As in `tell`.

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
        if not check_over(wells, "close", policy=self._progress.policy):
            self._record("close", {"batch": wells.number}, wells)

    @writing
    def abandon(self, batch_id: int | Batch, *, discard: bool = False) -> None:
        """Abandon a batch that was never carried out: nothing is spent.

        The next `ask` returns the same arms under another id. Repeating a call has no effect.

        Parameters
        ----------
        batch_id : int or Batch
        discard : bool, default False
            True to give up recorded results.

        Raises
        ------
        ValueError
            If there is no such batch, it is complete or closed, or it has results and `discard` is
            False.
        StudyError
            As in `tell`.

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
