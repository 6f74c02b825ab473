"""Checks of results and amendments: which are new, which are known, which are rejected."""

from collections import Counter
from itertools import pairwise
from numbers import Integral
from typing import NamedTuple

import numpy as np

from pybandit._shared.checks import (
    LARGEST_REWARD,
    check_choice,
    check_numeric,
    labels_of,
    owned,
    shown,
)
from pybandit.studies._codec import decode, encode
from pybandit.studies._journal import KNOWN, LATE, LOST, OPEN
from pybandit.studies.results import AmendResult


class News(NamedTuple):
    """Results to add to a batch: positions and values, NaN for a lost well."""

    positions: np.ndarray
    values: np.ndarray
    n_new: int
    n_known: int


def news_of(wells, results, positions, missing, policy, names, withdrawn):
    """Return the `News` among these results.

    `withdrawn()` returns the values that were withdrawn, by position. Such a value counts as
    known: its reporter may not have heard of the withdrawal. It stays withdrawn.

    Raises
    ------
    ValueError, TypeError
        If a position is invalid or repeated, or a result is infinite, differs from the recorded
        one, or is rejected by the policy. The message names batch, well and arm.
    """
    check_choice("missing", missing, ("wait", "drop"))
    at, values = placed(wells, results, positions, names)
    if missing == "drop" and np.isnan(values).any():
        check_may_lose(wells, policy)
    if (wells.status == "open" and at.size == wells.arms.size and not wells.marks.any()
            and (np.abs(values) <= LARGEST_REWARD).all()):
        # the usual case: all results of a batch, reported for the first time
        policy._check_rewards(wells.arms[at], values, "drop")
        return News(at, values, at.size, 0)

    check_finite(wells, at, values, names)
    marks, is_told = wells.marks[at], ~np.isnan(values)
    had = is_told & ((marks == KNOWN) | (marks == LATE))
    other = had & (values != wells.values[at])
    if other.any():
        first = int(other.argmax())
        raise ValueError(f"results must equal those already recorded; got {values[first]} for "
                         f"{well_of(wells, at[first], names)}, where {wells.values[at[first]]} "
                         "is recorded: if that is wrong, use amend")
    if (is_told & (marks == LOST)).any():
        gone = withdrawn()
        had |= [value in gone.get(place, ()) for place, value in zip(at.tolist(), values.tolist(),
                                                                     strict=True)]
    new = is_told & ~had
    if is_told.any():
        _check_carried_out(wells)
    # the same check as in the policy's tell, before anything is recorded
    policy._check_rewards(wells.arms[at], np.where(new, values, np.nan), "drop")
    taken = new
    if missing == "drop" and wells.status == "open":
        taken = new | (~is_told & (marks == OPEN))
    return News(at[taken], values[taken], int(new.sum()), int(had.sum()))


def amendment_of(wells, results, positions, reason, policy, names, withdrawn):
    """Return the body of an amendment, possibly without a change, and its `AmendResult`.

    `withdrawn` is as in `news_of`; a withdrawn well may get a result again.

    Raises
    ------
    ValueError, TypeError
        If a well has no result to amend, or a result is rejected. The message names batch, well
        and arm.
    """
    if not isinstance(reason, str):
        raise TypeError(f"reason must be text; got {type(reason).__name__}")
    if not reason.strip():
        raise ValueError(f"reason must say why a result is corrected; got {reason!r}")
    at, values = placed(wells, results, positions, names)
    check_finite(wells, at, values, names)
    _check_carried_out(wells)
    lost, before = np.isnan(values), wells.values[at]
    had = (wells.marks[at] == KNOWN) | (wells.marks[at] == LATE)
    without = ~had & ~lost
    if without.any():
        back = without & np.isin(at, list(withdrawn()))
        had, without = had | back, without & ~back
    if without.any():
        well = well_of(wells, at[int(without.argmax())], names)
        raise ValueError(f"positions must be those of recorded results; {well} has none: "
                         "report it with tell")
    if (lost & had).any():
        check_may_lose(wells, policy)
    policy._check_rewards(wells.arms[at], values, "drop")
    new = had & (lost | (values != before))
    result = AmendResult(n_amended=int(new.sum()), n_known=int((~new).sum()))
    return {"batch": wells.number, "positions": at[new], "before": before[new],
            "values": values[new], "reason": reason}, result


def well_of(wells, position, names):
    """Return the name of a well for messages."""
    arm = wells.arms[position]
    return f"batch {wells.number}, well {position}, arm {arm} ({names[arm]})"


def check_finite(wells, at, values, names):
    """Raise ValueError if a result is infinite or larger than LARGEST_REWARD."""
    infinite = np.isinf(values)
    if infinite.any():
        first = int(infinite.argmax())
        raise ValueError(f"results must be finite, or NaN if unknown; got {values[first]} "
                         f"for {well_of(wells, at[first], names)}")
    large = np.abs(values) > LARGEST_REWARD
    if large.any():
        first = int(large.argmax())
        raise ValueError(f"results must have magnitude at most {LARGEST_REWARD:g}, so that the "
                         f"sum of their squares is finite; got {values[first]} for "
                         f"{well_of(wells, at[first], names)}")


def placed(wells, results, positions, names):
    """Return positions and values, one per result, after checks."""
    at, values = _placed(wells, results, positions)
    labels = labels_of(results)
    if labels is not None:
        _check_order(labels, at, wells.arms[at], names)
    return at, values


def _check_order(labels, at, arms, names):
    """Raise ValueError if a series is labelled by other arms, or by these in another order.

    Unrelated labels pass, such as times, or row numbers of another table in ascending order.
    """
    named = [names[arm] for arm in arms.tolist()]
    known = named, arms.tolist(), at.tolist()
    if labels in known or _are_rows(labels):
        return
    if set(labels) <= set(names) or any(Counter(labels) == Counter(one) for one in known):
        raise ValueError(f"results must be in the order of the batch; got a series labelled "
                         f"{shown(labels)}, and the arms are {shown(named)}")


def _are_rows(labels):
    """Return True if the labels are ascending integers."""
    return (all(isinstance(label, Integral) for label in labels)
            and all(one < other for one, other in pairwise(labels)))


def _placed(wells, results, positions):
    values = check_numeric("results", results)
    values[np.isnan(values)] = np.nan  # one bit pattern for all NaNs
    n = wells.arms.size
    if positions is None:
        if values.shape != (n,):
            raise ValueError(f"results must have the shape of batch {wells.number}, ({n},); got "
                             f"{values.shape}")
        return np.arange(n), values
    at = owned("positions", positions)
    if at.dtype.kind not in "iu" and at.size:
        raise TypeError(f"positions must be integers; got dtype {at.dtype}")
    if at.ndim != 1 or values.shape != at.shape:
        raise ValueError(f"results and positions must have the same one-dimensional shape; got "
                         f"{values.shape} and {at.shape}")
    at = at.astype(np.int64, copy=False)
    outside = (at < 0) | (at >= n)
    if outside.any():
        raise ValueError(f"positions must be in [0, {n}) for batch {wells.number}; got "
                         f"{at[outside][0]}")
    counts = np.bincount(at, minlength=n)
    if (counts > 1).any():
        raise ValueError(f"positions must be unique; got {int(counts.argmax())} "
                         f"{int(counts.max())} times")
    return at, values


def checked_source(wells, source):
    """Return a source as it will be read from the log."""
    if not isinstance(source, dict):
        raise TypeError(f"source must be a dict; got {type(source).__name__}")
    _check_carried_out(wells)
    return decode(encode(source, "source"))


def _check_carried_out(wells):
    """Raise ValueError if a batch was abandoned."""
    if wells.status == "abandoned":
        raise ValueError(f"batch_id must not be that of an abandoned batch; batch {wells.number} "
                         "was abandoned")


def check_may_lose(wells, policy):
    """Raise ValueError if a policy must receive every result that it asked for."""
    if not getattr(policy, "may_lose", True):
        raise ValueError(f"batch {wells.number} must be complete: a race needs every evaluation; "
                         "repeat those that failed, or report the score that a failure deserves")


def check_over(wells, what, discard=False, policy=None):
    """Return True if a batch is already over, as `what` ("close" or "abandon") would make it.

    Raises ValueError if it cannot be closed or abandoned.
    """
    if what == "close":
        if wells.status == "open":
            check_may_lose(wells, policy)
        _check_carried_out(wells)
        return wells.status != "open"
    if wells.status in ("complete", "closed"):
        raise ValueError(f"batch_id must be that of an open batch; batch {wells.number} is "
                         f"{wells.status}, and the policy has received its results")
    if wells.status == "open" and not discard and (wells.marks != OPEN).any():
        n = int((wells.marks != OPEN).sum())
        raise ValueError(f"batch_id must be that of a batch without results; batch {wells.number} "
                         f"has {n}: pass discard=True to give them up")
    return wells.status == "abandoned"


