"""Recording counts in a web test, and correcting them."""

import warnings
from collections.abc import Mapping

import numpy as np

from pybandit._shared.checks import check_flag, shown
from pybandit._shared.count_rates import rate_words, rates_in
from pybandit._shared.generators import as_generator
from pybandit._shared.types import Rng
from pybandit.studies._recorder import writing
from pybandit.studies.results import AmendResult, TellResult
from pybandit.webtests._base import Base
from pybandit.webtests._counts import check_columns, checked_counts
from pybandit.webtests._dates import date_key
from pybandit.webtests._doubts import (
    CHANCE,
    GROWN,
    are_growing,
    chance_of_repeat,
    repeated_key,
)
from pybandit.webtests._recorded_counts import same, wide
from pybandit.webtests._split import mismatch_words, shares_now


class CountTells(Base):
    """The methods of `WebTest` that record counts."""

    def tell_counts(self, counts: Mapping[str, tuple[float, ...]], *, key: str | None = None,
                    cumulative: bool = False, repeated: bool = False, who: str | None = None,
                    rng: Rng = None) -> TellResult:
        """Record a batch as counts: trials of each arm, and the sum of their rewards.

        Parameters
        ----------
        counts : dict of (int, float) or (int, float, float) by name
            Trials and successes of an arm, or the sum of its rewards, and optionally the sum of
            their squares, for all arms or for none. Arms that are not named had no trials.
        key : str, optional
            Name of the batch, such as a day. A call may be repeated: equal counts under the same
            key change nothing, and others are refused; `amend_counts` corrects them. A day or
            an hour is one key however it is written: ``2025-01-03``, ``3 Jan 2025``,
            ``20250103``. By default the number of the batch, so that a second call records
            another batch.
        cumulative : bool, default False
            True if the counts are running totals of this batch and all before it. The
            difference to the recorded batches is recorded.
        repeated : bool, default False
            True to record counts although another key has the same counts.
        who : str, optional
            By default the name given to `open` or `create`.
        rng : None, int, SeedSequence or Generator
            Draws the order within the batch, for a policy that takes rewards one by one. The
            seed is recorded.

        Returns
        -------
        TellResult
            Numbers of arms recorded now and before; `complete` is True.

        Raises
        ------
        ValueError, TypeError
            If an arm is unknown, rewards cannot have such a sum, or running totals fall. If the
            key has other counts or is an ambiguous date, or if another key has the same counts,
            unless they may be equal by chance. Nothing is recorded.
        StudyError
            As in `tell`.

        Warns
        -----
        UserWarning
            If the counts are recorded but look wrong: they look like rates or running totals (no
            count fell in three batches), the same few counts have another key, or visits are not
            split by the shares (`WebTestStatus.split`).

        Notes
        -----
        `CountRace` and `ThompsonSampling` take counts directly; their docstrings state the
        guarantees. Any other policy receives the successes and failures of a batch in a random
        order, whose seed is recorded, as far as it asks for them. The other outcomes of each arm
        wait.

        All orders are equally likely given the counts, as for independent visits of one
        probability. The policy's guarantee for independent rewards therefore holds under three
        conditions: visits of an arm are exchangeable within a batch, their probability is the
        same in all batches, and their number does not depend on their outcomes. Outcomes that
        wait are used together with visits of later days. Use `CountRace` if days differ.

        Examples
        --------
        >>> import pybandit as pb
        >>> test = pb.webtests.WebTest.create(":memory:", pb.CountRace(2), arms=["old", "new"])
        >>> test.tell_counts({"old": (2500, 100), "new": (2500, 150)}, key="Monday")
        TellResult(n_new=2, n_known=0, complete=True)
        >>> test.tell_counts({"old": (2500, 100), "new": (2500, 150)}, key="Monday")
        TellResult(n_new=0, n_known=2, complete=True)
        >>> test.recommend().best_names, test.status().done
        (['new'], False)
        """
        result, doubts = self._tell_counts(counts, key, cumulative, repeated, who, rng)
        for words in doubts:
            warnings.warn(words, UserWarning, stacklevel=2)
        return result

    @writing
    def _tell_counts(self, counts, key, cumulative, repeated, who, rng):
        """Record counts; return the `TellResult` and warnings."""
        policy, n_arms = self._policy, self._names.size
        check_flag("cumulative", cumulative)
        check_flag("repeated", repeated)
        columns = checked_counts(counts, self._names, policy)
        found = self._keys.known(self._study)
        key = _checked_key(key, len(found), found)
        if cumulative:
            columns = self._difference(columns, found, key)
        if key in found:
            _check_same(key, wide(found[key].body, n_arms), columns, self._names)
            return TellResult(n_new=0, n_known=len(counts), complete=True), []
        doubts = _doubts(columns, found, key, repeated, self._names, policy)
        trials, sums, squares = columns
        body = {"key": key, "trials": trials, "sums": sums,
                "seed": as_generator(rng).integers(1 << 63, size=4)}
        if squares is not None:
            body["squares"] = squares
        shares = shares_now(policy, self._shares)
        if shares is not None:
            body["shares"] = shares
        was_off = policy.counts.split.is_off
        self._study._record("counts", body, None, who)
        check = policy.counts.split.check(self._names)
        if policy.counts.split.is_off and not was_off:
            doubts.append(mismatch_words(check))
        return TellResult(n_new=len(counts), n_known=0, complete=True), doubts

    def _difference(self, totals, found, key):
        """Return running totals minus the batches recorded before the one of this key."""
        rest, n_arms = [None if one is None else one.copy() for one in totals], self._names.size
        for other, one in found.items():
            if other == key:
                break
            told = wide(one.body, n_arms)
            for at in range(3):
                if rest[at] is not None:
                    rest[at] -= told[1] if told[at] is None else told[at]
        rest[1:] = [one if one is None else _without_noise(one, total)
                    for one, total in zip(rest[1:], totals[1:], strict=True)]
        low = np.minimum(rest[0], 0 if _has_negative(self._policy) else rest[1])
        if (low < 0).any():
            arm = int((low < 0).argmax())
            raise ValueError(
                f"counts must not fall if they are cumulative; got {totals[1][arm]:g} of "
                f"{totals[0][arm]} for arm {self._names[arm]!r}, {rest[1][arm]:+g} of "
                f"{rest[0][arm]:+d} since the recorded ones: correct the batch that changed by "
                "amend_counts")
        check_columns(*rest, self._names, self._policy)
        return tuple(rest)

    @writing
    def amend_counts(self, key: str, counts: Mapping[str, tuple[float, ...]], *, reason: str,
                     who: str | None = None) -> AmendResult:
        """Correct recorded counts, for example after robots were filtered or goods returned.

        Parameters
        ----------
        key : str
            The batch.
        counts : dict of (int, float) or (int, float, float) by name
            Correct counts, as in `tell_counts`, of the arms to change; others stay as they are.
        reason : str
            Stored in the log.
        who : str, optional
            By default the name given to `open` or `create`.

        Returns
        -------
        AmendResult
            Numbers of arms whose counts changed, and of arms that had these counts already.

        Raises
        ------
        ValueError, TypeError
            If nothing is recorded under the key, an arm was not in the test then, or the policy
            rejects the counts. Nothing is recorded.
        StudyError
            As in `tell`.

        Notes
        -----
        The policy starts again and receives all batches with their present counts, in their
        order; this takes time proportional to the size of the study. Its state is then bit for bit
        that of a policy which received the correct counts at once. An arm that was dropped may
        return, and there may be no winner any more.

        *Guarantee after a correction*, of `CountRace`. The counts after each correction are a
        version, and each version is a separate test.

        - Suppose a rule fixed beforehand determines the correct counts, for all arms alike, and
          a winner is declared only after the last correction. Then the probability of a wrong
          winner is at most delta: the decision uses one version only.
        - If a winner may be declared before and after corrections by such a rule, the
          probability is at most delta times the number of versions, which is the number of
          corrections plus one. Every version must satisfy the assumptions of `CountRace`:
          robots, for example, must visit all arms alike.
        - If results determine the corrections, nothing is proven. If all versions that might
          have been made can be counted, the probability is at most delta times their number.

        Record days when they are final, or correct them on dates fixed beforehand.

        Examples
        --------
        >>> import pybandit as pb
        >>> test = pb.webtests.WebTest.create(":memory:", pb.CountRace(2), arms=["old", "new"])
        >>> result = test.tell_counts({"old": (2500, 100), "new": (2500, 150)}, key="Monday")
        >>> test.amend_counts("Monday", {"new": (2380, 149)}, reason="120 visits of a robot")
        AmendResult(n_amended=1, n_known=0)
        >>> test.policy.pulls, test.amendments()[0].trials_before
        (array([2500, 2380]), 2500)
        """
        if not isinstance(reason, str):
            raise TypeError(f"reason must be text; got {type(reason).__name__}")
        if not reason.strip():
            raise ValueError(f"reason must say why counts are corrected; got {reason!r}")
        new = checked_counts(counts, self._names, self._policy)
        found = self._keys.known(self._study)
        key = _checked_key(key, None, found)
        if key not in found:
            raise ValueError(f"key must be that of recorded counts; got {key!r}: record them "
                             "with tell_counts")
        body, n_amended = self._amended_counts(found[key].body, counts, new)
        if n_amended:
            self._study._record("amend", {"key": key, **body, "reason": reason}, None, who)
        return AmendResult(n_amended=n_amended, n_known=len(counts) - n_amended)

    def _amended_counts(self, body, counts, new):
        """Return the columns of a batch with some arms' counts replaced, and how many changed."""
        width = body["trials"].size
        named = np.isin(self._names, list(counts))
        if named[width:].any() and new[0][width:].any():
            late = self._names[width:][new[0][width:] > 0]
            raise ValueError(f"counts must be of arms that were in the test then; got {late[0]!r}, "
                             "which was added later")
        before = wide(body, self._names.size)
        columns = [np.where(named, one, two) for one, two in zip(new[:2], before[:2], strict=True)]
        if new[2] is not None or before[2] is not None:
            if new[2] is None or before[2] is None and not named[before[0] > 0].all():
                raise ValueError("counts must have squares if the batch has them, and only then; "
                                 f"got {shown(dict(counts))}")
            columns.append(new[2] if before[2] is None else np.where(named, new[2], before[2]))
        columns = [*columns, None][:3]
        check_columns(*columns, self._names, self._policy)
        n_amended = int((named & ~same(columns, before)).sum())
        return {name: one[:width] for name, one in zip(("trials", "sums", "squares"), columns,
                                                       strict=True) if one is not None}, n_amended


def _checked_key(key, number, found):
    """Return the key of a batch; that of batch `number` by default, if it is not None."""
    if (key is None and number is None
            or key is not None and (not isinstance(key, str) or not key.strip())):
        raise TypeError(f"key must be text that is not empty; got {shown(key)}")
    if key is None and str(number) in found:
        raise ValueError(f"key must be given if the number of this batch, {str(number)!r}, "
                         "is already a key; got None")
    if key is None:
        return str(number)
    if key in found:
        return key
    try:
        return date_key(key)
    except ValueError as error:
        raise ValueError("a key that looks like a date must be a valid, unambiguous one: "
                         f"{error}") from None


def _check_same(key, known, columns, names):
    """Raise if counts differ from the recorded ones; arms added later had none."""
    other = ~same(columns, known)
    if other.any():
        arm = int(other.argmax())
        raise ValueError(f"counts must equal those already recorded as {key!r}; got "
                         f"{columns[1][arm]:g} of {columns[0][arm]} for arm {names[arm]!r}, where "
                         f"{known[1][arm]:g} of {known[0][arm]} is recorded: correct them with "
                         "amend_counts; another part of the batch needs its own key")


def _doubts(columns, found, key, repeated, names, policy):
    """Return warnings about new counts; raise if they are almost surely recorded already."""
    trials, sums, squares = columns
    doubts, twin = [], repeated_key(found, key, columns)
    if twin is not None and not repeated:
        words = (f"counts are those of {twin!r}: {_few(columns, names)}")
        if chance_of_repeat(columns, len(found)) <= CHANCE:
            raise ValueError(f"counts must be recorded once; got {key!r}, whose {words}. "
                             "Pass repeated=True (--repeated) if it is another batch anyway")
        doubts.append(f"{key!r} was recorded, but its {words}; they are perhaps equal by chance")
    if twin is None and are_growing(found, columns):
        doubts.append(f"{GROWN} up to {key!r}, as in running totals: if they "
                      "are, start another study with cumulative=True (--cumulative)")
    is_unit = policy.race is not None and policy.race.value_range == (0.0, 1.0)
    arm = rates_in(trials, sums) if squares is None and (
        is_unit or getattr(policy, "law", "") == "bernoulli") else None
    if arm is not None:
        doubts.append(f"{key!r}: " + rate_words(trials, sums, arm, repr(names[arm])))
    return doubts


def _few(columns, names):
    arms = np.flatnonzero(columns[0])[:3]
    return ", ".join(f"{columns[1][arm]:g} of {columns[0][arm]:,} for {names[arm]}" for arm in arms)


def _without_noise(values, totals):
    """Return differences; those within the rounding error of their totals are set to 0."""
    return np.where(np.abs(values) <= 1e-12 * np.abs(totals), 0.0, values)


def _has_negative(policy):
    """Return True if a policy accepts rewards below 0, whose sums may fall."""
    return policy.race is not None and policy.race.value_range[0] < 0
