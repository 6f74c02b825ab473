"""Counts that are told to a study, and those that are corrected."""

import warnings
from collections.abc import Mapping

import numpy as np

from pybandit._shared.checks import check_flag, shown
from pybandit._shared.count_rates import rate_words, rates_in
from pybandit._shared.generators import as_generator
from pybandit._shared.types import Rng
from pybandit.studies._count_doubts import CHANCE, are_growing, chance_of_repeat, repeated_key
from pybandit.studies._count_log import same, wide
from pybandit.studies._counts import check_columns, checked_counts
from pybandit.studies._dates import date_key
from pybandit.studies._races import CountPolicy
from pybandit.studies._recorder import Recorder, writing
from pybandit.studies._split_check import mismatch_words, shares_now
from pybandit.studies.results import AmendResult, TellResult


class CountTells(Recorder):
    """The methods of `Study` that record counts."""

    def tell_counts(self, counts: Mapping[str, tuple[float, ...]], *, key: str | None = None,
                    cumulative: bool = False, repeated: bool = False, who: str | None = None,
                    rng: Rng = None) -> TellResult:
        """Record a batch as counts: how often each arm was tried, and what came of it.

        Parameters
        ----------
        counts : dict of (int, float) or (int, float, float) by name
            Trials and successes of an arm, or the sum of its rewards, and perhaps the sum of
            their squares, for all arms or for none; an arm that is not named had none.
        key : str, optional
            Name of the batch, such as a day. Counts that are recorded under it already
            change nothing if they are equal, and are refused if not, so that a call may be
            made again: `amend_counts` corrects them. Days and hours are keys however they are
            written: ``2025-01-03``, ``3 Jan 2025`` and ``20250103`` are one day. By default the
            number of the batch: made again, it is another batch.
        cumulative : bool, default False
            True if the counts are running totals, this batch and all before it: their
            difference from what was told is recorded.
        repeated : bool, default False
            True to record counts although another key has the same.
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
            If an arm is not the study's, a sum is not one of so many rewards, the key has other
            counts or may be one of two days, another key has the same counts and this is not by
            chance, running totals fall, or batches were asked for: a study is told counts or
            asks, not both. Nothing is recorded then.
        StudyError
            As `tell`.

        Warns
        -----
        UserWarning
            If the counts are recorded but look wrong: rates, running totals (no count fell in
            three batches), the same few counts under another key, or visits that are not split
            by the shares (`Status.split`).

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
        result, doubts = self._tell_counts(counts, key, cumulative, repeated, who, rng)
        for words in doubts:
            warnings.warn(words, UserWarning, stacklevel=2)
        return result

    @writing
    def _tell_counts(self, counts, key, cumulative, repeated, who, rng):
        """Record counts; returns the `TellResult` and what looks wrong of them, in words."""
        ledger, n_arms = self._ledger, self._names.size
        check_flag("cumulative", cumulative)
        check_flag("repeated", repeated)
        columns = checked_counts(counts, self._names, ledger.policy)
        found = self._keys.known(self)
        key = _checked_key(key, len(found), found)
        if cumulative:
            columns = self._difference(columns, found, key)
        if key in found:
            _check_same(key, wide(found[key].body, n_arms), columns, self._names)
            return TellResult(0, len(counts), True), []
        doubts = _doubts(columns, found, key, repeated, self._names, ledger.policy)
        trials, sums, squares = columns
        body = {"key": key, "trials": trials, "sums": sums,
                "seed": as_generator(rng).integers(1 << 63, size=4)}
        if squares is not None:
            body["squares"] = squares
        shares = shares_now(ledger, self._shares)
        if shares is not None:
            body["shares"] = shares
        self._record("counts", body, None, who)
        check = ledger.counts.split.check(self._names)
        if shares is not None and check.mismatch:
            doubts.append(mismatch_words(check))
        return TellResult(len(counts), 0, True), doubts

    def _difference(self, totals, found, key):
        """Return running totals minus what was told before the batch of this key."""
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
        low = np.minimum(rest[0], 0 if _has_negative(self._ledger.policy) else rest[1])
        if (low < 0).any():
            arm = int((low < 0).argmax())
            raise ValueError(
                f"counts must not fall if they are cumulative; got {totals[1][arm]:g} of "
                f"{totals[0][arm]} for arm {self._names[arm]!r}, {rest[1][arm]:+g} of "
                f"{rest[0][arm]:+d} since: correct the batch that changed by amend_counts")
        check_columns(*rest, self._names, self._ledger.policy)
        return tuple(rest)

    @writing
    def amend_counts(self, key: str, counts: Mapping[str, tuple[float, ...]], *, reason: str,
                     who: str | None = None) -> AmendResult:
        """Correct counts that are recorded, as after robots were filtered or goods returned.

        Parameters
        ----------
        key : str
            The batch.
        counts : dict of (int, float) or (int, float, float) by name
            What the batch should have been, as `tell_counts` takes it, of the arms that are to
            change; others stay as they are.
        reason : str
            Kept with what was recorded before.
        who : str, optional
            By default who opened the study.

        Returns
        -------
        AmendResult
            Arms whose counts changed, and arms that were recorded so.

        Raises
        ------
        ValueError, TypeError
            If nothing is recorded under the key, an arm was not in the test then, counts are
            refused, or the policy cannot be told again. Nothing is recorded then.
        StudyError
            As `tell`.

        Notes
        -----
        The policy begins again and is told all batches as they are known now, in the order in
        which they were told: O(the study). It becomes bit for bit the one that was told the
        right counts at once. An arm that was dropped may come back, and one that won may have
        won no longer.

        *Guarantee after a correction*, of `CountRace`. Each version of the counts, as they are
        after a number of corrections, is a test of its own.

        - If a rule that was fixed beforehand says which visits and rewards count, for all arms
          alike, and a winner is only taken after the last correction, the probability of a
          wrong one is at most delta: the final counts are those that the rule gives, and
          nobody decided by others.
        - If a winner may be taken before and after corrections of such a rule, it is at most
          delta times the number of versions: corrections plus one. This needs every version to
          satisfy what `CountRace` assumes: robots, say, that see all arms alike.
        - If results decide what is corrected, nothing is proven, unless all versions that might
          have come of it can be counted: it is then at most delta times their number.

        Tell days when they are final, or correct on days that are fixed beforehand.

        Examples
        --------
        >>> import pybandit as pb
        >>> study = pb.Study.create(":memory:", pb.CountRace(2), arms=["old", "new"])
        >>> result = study.tell_counts({"old": (2500, 100), "new": (2500, 150)}, key="Monday")
        >>> study.amend_counts("Monday", {"new": (2380, 149)}, reason="120 visits of a robot")
        AmendResult(n_amended=1, n_known=0)
        >>> study.policy.pulls, study.count_amendments()[0].trials_before
        (array([2500, 2380]), 2500)
        """
        if not isinstance(reason, str):
            raise TypeError(f"reason must be text; got {type(reason).__name__}")
        if not reason.strip():
            raise ValueError(f"reason must say why counts are others; got {reason!r}")
        new = checked_counts(counts, self._names, self._ledger.policy)
        found = self._keys.known(self)
        key = _checked_key(key, None, found)
        if key not in found:
            raise ValueError(f"key must be that of counts that are recorded; got {key!r}: tell it")
        body, n_amended = self._amended_counts(found[key].body, counts, new)
        if n_amended:
            self._record("amend", {"key": key, **body, "reason": reason}, None, who)
        return AmendResult(n_amended, len(counts) - n_amended)

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
        check_columns(*columns, self._names, self._ledger.policy)
        n_amended = int((named & ~same(columns, before)).sum())
        return {name: one[:width] for name, one in zip(("trials", "sums", "squares"), columns,
                                                       strict=True) if one is not None}, n_amended


def _checked_key(key, number, found):
    """Return the key of a batch; that of batch `number` by default, if it is not None."""
    if (key is None and number is None
            or key is not None and (not isinstance(key, str) or not key.strip())):
        raise TypeError(f"key must be text that is not empty; got {shown(key)}")
    if key is None and str(number) in found:
        raise ValueError(f"key must be given where an earlier one is {str(number)!r}, the "
                         "number of this batch; got None")
    if key is None:
        return str(number)
    if key in found:
        return key
    try:
        return date_key(key)
    except ValueError as error:
        raise ValueError(f"key must be the day or the hour if it is a date: {error}") from None


def _check_same(key, known, columns, names):
    """Refuse counts that are not those of their key; arms that came later had none."""
    other = ~same(columns, known)
    if other.any():
        arm = int(other.argmax())
        raise ValueError(f"counts must be those already recorded as {key!r}; got "
                         f"{columns[1][arm]:g} of {columns[0][arm]} for arm {names[arm]!r}, where "
                         f"{known[1][arm]:g} of {known[0][arm]} was: amend_counts corrects them; "
                         "another part of the batch needs a key of its own")


def _doubts(columns, found, key, repeated, names, policy):
    """Return what looks wrong of new counts, in words; refuse a batch that was surely told."""
    trials, sums, squares = columns
    doubts, twin = [], repeated_key(found, key, columns)
    if twin is not None and not repeated:
        words = (f"counts are those of {twin!r}: {_few(columns, names)}")
        if chance_of_repeat(columns, len(found)) <= CHANCE:
            raise ValueError(f"counts must be told once; got {key!r}, whose {words}. Pass "
                             "repeated=True (--repeated) if it is another batch all the same")
        doubts.append(f"{key!r} was recorded, but its {words}; they are perhaps equal by chance")
    if twin is None and are_growing(found, columns):
        doubts.append(f"no count fell in three batches up to {key!r}, as in running totals: if "
                      "they are, begin another study with cumulative=True (--cumulative)")
    is_unit = isinstance(policy, CountPolicy) and policy.race.value_range == (0.0, 1.0)
    arm = rates_in(trials, sums) if squares is None and (
        is_unit or getattr(policy, "law", "") in ("beta", "bernoulli")) else None
    if arm is not None:
        doubts.append(f"{key!r}: " + rate_words(trials, sums, arm, repr(names[arm])))
    return doubts


def _few(columns, names):
    arms = np.flatnonzero(columns[0])[:3]
    return ", ".join(f"{columns[1][arm]:g} of {columns[0][arm]:,} for {names[arm]}" for arm in arms)


def _without_noise(values, totals):
    """Return differences without what is left by rounding of their totals."""
    return np.where(np.abs(values) <= 1e-12 * np.abs(totals), 0.0, values)


def _has_negative(policy):
    """Return True if a policy takes rewards below 0, of which sums may fall."""
    return isinstance(policy, CountPolicy) and policy.race.value_range[0] < 0
