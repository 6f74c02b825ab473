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
    """What a tell adds to a batch: positions, their values, NaN for a well that is lost."""

    positions: np.ndarray
    values: np.ndarray
    n_new: int
    n_known: int


def news_of(wells, results, positions, missing, policy, names, withdrawn):
    """What these results add to a batch.

    `withdrawn` tells, when it is called, by position what was recorded once and withdrawn: who
    tells that again has not heard of it, and it stays withdrawn.

    Raises
    ------
    ValueError, TypeError
        Where a position is no well's, or doubled; a result infinite, another than the one
        recorded, or one that the policy refuses. Names batch, well and arm.
    """
    check_choice("missing", missing, ("wait", "drop"))
    at, values = placed(wells, results, positions, names)
    if missing == "drop" and np.isnan(values).any():
        check_may_lose(wells, policy)
    if (wells.status == "open" and at.size == wells.arms.size and not wells.marks.any()
            and (np.abs(values) <= LARGEST_REWARD).all()):
        # as most tells are: all of a batch, for the first time
        policy._check_rewards(wells.arms[at], values, "drop")
        return News(at, values, at.size, 0)

    check_finite(wells, at, values, names)
    marks, is_told = wells.marks[at], ~np.isnan(values)
    had = is_told & ((marks == KNOWN) | (marks == LATE))
    other = had & (values != wells.values[at])
    if other.any():
        first = int(other.argmax())
        raise ValueError(f"results must be those already recorded; got {values[first]} for "
                         f"{well_of(wells, at[first], names)}, where {wells.values[at[first]]} "
                         "was: amend it, if that was wrong")
    if (is_told & (marks == LOST)).any():
        gone = withdrawn()
        had |= [value in gone.get(place, ()) for place, value in zip(at.tolist(), values.tolist(),
                                                                     strict=True)]
    new = is_told & ~had
    if is_told.any():
        _check_carried_out(wells)
    # as the policy's tell will check them, so that no result is recorded that it refuses
    policy._check_rewards(wells.arms[at], np.where(new, values, np.nan), "drop")
    taken = new
    if missing == "drop" and wells.status == "open":
        taken = new | (~is_told & (marks == OPEN))
    return News(at[taken], values[taken], int(new.sum()), int(had.sum()))


def amendment_of(wells, results, positions, reason, policy, names, withdrawn):
    """What is recorded of an amendment, perhaps of no result; and its `AmendResult`.

    `withdrawn` is as in `news_of`: of these wells results are recorded again.

    Raises
    ------
    ValueError, TypeError
        Where there is nothing to amend, or a result is refused; names batch, well and arm.
    """
    if not isinstance(reason, str):
        raise TypeError(f"reason must be text; got {type(reason).__name__}")
    if not reason.strip():
        raise ValueError(f"reason must say why a reading is another; got {reason!r}")
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
        raise ValueError(f"positions must be those of results that are recorded; {well} has "
                         "none: tell it")
    if (lost & had).any():
        check_may_lose(wells, policy)
    policy._check_rewards(wells.arms[at], values, "drop")
    new = had & (lost | (values != before))
    result = AmendResult(n_amended=int(new.sum()), n_known=int((~new).sum()))
    return {"batch": wells.number, "positions": at[new], "before": before[new],
            "values": values[new], "reason": reason}, result


def well_of(wells, position, names):
    """A well in words."""
    arm = wells.arms[position]
    return f"batch {wells.number}, well {position}, arm {arm} ({names[arm]})"


def check_finite(wells, at, values, names):
    """Raises where a result is infinite, or as good as that."""
    infinite = np.isinf(values)
    if infinite.any():
        first = int(infinite.argmax())
        raise ValueError(f"results must be finite, or NaN where not known; got {values[first]} "
                         f"for {well_of(wells, at[first], names)}")
    large = np.abs(values) > LARGEST_REWARD
    if large.any():
        first = int(large.argmax())
        raise ValueError(f"results must be at most {LARGEST_REWARD:g} in size, so that their "
                         f"squares add up; got {values[first]} for "
                         f"{well_of(wells, at[first], names)}")


def placed(wells, results, positions, names):
    """Positions and values, one a result, of wells that exist."""
    at, values = _placed(wells, results, positions)
    labels = labels_of(results)
    if labels is not None:
        _check_order(labels, at, wells.arms[at], names)
    return at, values


def _check_order(labels, at, arms, names):
    """Raises where a series is of these wells in another order, or of other arms.

    Labels that say nothing of either, as times or the rows of some table in its order, pass.
    """
    named = [names[arm] for arm in arms.tolist()]
    known = named, arms.tolist(), at.tolist()
    if labels in known or _are_rows(labels):
        return
    if set(labels) <= set(names) or any(Counter(labels) == Counter(one) for one in known):
        raise ValueError(f"results must be in the order of the batch; got a series of "
                         f"{shown(labels)}, and the arms are {shown(named)}")


def _are_rows(labels):
    """Whether they number rows of some table, in its order."""
    return (all(isinstance(label, Integral) for label in labels)
            and all(one < other for one, other in pairwise(labels)))


def _placed(wells, results, positions):
    values = check_numeric("results", results)
    values[np.isnan(values)] = np.nan  # of which there are many, for equal bytes
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
        raise ValueError(f"results must have the shape of positions, {at.shape}, and that one "
                         f"axis; got {values.shape}")
    at = at.astype(np.int64, copy=False)
    outside = (at < 0) | (at >= n)
    if outside.any():
        raise ValueError(f"positions must be in [0, {n}) for batch {wells.number}; got "
                         f"{at[outside][0]}")
    counts = np.bincount(at, minlength=n)
    if (counts > 1).any():
        raise ValueError(f"positions must name a well once; got {int(counts.argmax())} "
                         f"{int(counts.max())} times")
    return at, values


def checked_source(wells, source):
    """A source as it will be read again."""
    if not isinstance(source, dict):
        raise TypeError(f"source must be a dict; got {type(source).__name__}")
    _check_carried_out(wells)
    return decode(encode(source, "source"))


def _check_carried_out(wells):
    """Raise ValueError if a batch was abandoned."""
    if wells.status == "abandoned":
        raise ValueError(f"batch_id must be that of a batch that was carried out; batch "
                         f"{wells.number} was abandoned")


def check_may_lose(wells, policy):
    """Raises where a policy must be told everything that it asked for."""
    if not getattr(policy, "may_lose", True):
        raise ValueError(f"batch {wells.number} must be told whole: a race cannot leave an "
                         "evaluation out; evaluate it again, or tell the score that a failure has")


def check_over(wells, what, discard=False, policy=None):
    """Raises where a batch cannot be abandoned, or closed; whether it was before."""
    if what == "close":
        if wells.status == "open":
            check_may_lose(wells, policy)
        _check_carried_out(wells)
        return wells.status != "open"
    if wells.status in ("complete", "closed"):
        raise ValueError(f"batch_id must be that of an open batch; batch {wells.number} is "
                         f"{wells.status}, and the policy knows its results")
    if wells.status == "open" and not discard and (wells.marks != OPEN).any():
        n = int((wells.marks != OPEN).sum())
        raise ValueError(f"batch_id must be that of a batch without results; {n} of batch "
                         f"{wells.number} are recorded: pass discard=True to give them up")
    return wells.status == "abandoned"


