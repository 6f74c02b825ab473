"""Rows of a study's file, of the types that were recorded: SQLite keeps any in any column."""

import math

import numpy as np

from pybandit._shared.checks import LARGEST_REWARD, MOST_PULLS
from pybandit._shared.errors import StudyDamagedError
from pybandit.studies._codec import decode, flat
from pybandit.studies._journal import LATE

MOMENTS = -6e10, 2.5e11  # seconds since 1970: what dates are written of
STATUSES = ("open", "complete", "closed", "abandoned")


def typed(path, table, cursor, *kinds, ordered=False):
    """Return the cursor, which raises `StudyDamagedError` at a row of other types.

    If `ordered`, also at a row whose first value is not larger than that of the row before, as
    pages that contain each other have rows without end.
    """
    last = None

    def checked(_, row):
        nonlocal last
        for value, kind in zip(row, kinds, strict=True):
            if type(value) is not kind:
                raise StudyDamagedError(f"{path} is damaged: {table}: a row holds a "
                                        f"{type(value).__name__} where a {kind.__name__} was "
                                        "recorded")
            if kind is float and not MOMENTS[0] <= value <= MOMENTS[1]:
                raise StudyDamagedError(f"{path} is damaged: {table}: {value} is the time of no "
                                        "event")
        if ordered:
            if last is not None and row[0] <= last:
                raise StudyDamagedError(f"{path} is damaged: {table}: row {row[0]} follows row "
                                        f"{last}")
            last = row[0]
        return row

    cursor.row_factory = checked
    return cursor


def decoded(path, place, *contents):
    """Return the values of these bytes; StudyDamagedError, with the place, if invalid."""
    try:
        return list(map(decode, contents))
    except ValueError as error:
        raise StudyDamagedError(f"{path} is damaged: {place}: {error}") from error


def check_batch(path, number, status, columns, n_arms):
    """Raises where this can be no batch of a study of so many arms."""
    arms, values, marks = columns
    if not (flat(columns, (np.int64, np.float64, np.uint8)) and status in STATUSES
            and (marks <= LATE).all() and are_arms(arms, n_arms)
            and not (np.abs(values) > LARGEST_REWARD).any()):
        raise StudyDamagedError(f"{path} is damaged: batches: batch {number}: no arms, results and "
                                f"marks of a study of {n_arms} arms")


def check_late(path, columns, n_arms):
    """Raises where these can be no late results of a study of so many arms."""
    if not (flat(columns, (np.int64, np.float64)) and are_arms(columns[0], n_arms)
            and (np.abs(columns[1]) <= LARGEST_REWARD).all()):
        raise StudyDamagedError(f"{path} is damaged: late: no arms and results of a study of "
                                f"{n_arms} arms")


def are_arms(arms, n_arms):
    return bool(((arms >= 0) & (arms < n_arms)).all())


def check_counts(part, n_arms):
    """Raises where this can be no part of the state of a study that is told counts."""
    if part is None:
        return
    n, names = part["n"], part["names"]
    arrays = part["lengths"], part["waiting"]
    if not (type(n) is int and 0 <= n <= MOST_PULLS and type(names) is list
            and all(type(name) is str for name in names)
            and flat(arrays[:1], (np.int64,)) and flat(arrays[1:], (np.uint8,))
            and arrays[0].size in (0, n_arms) and (arrays[0] >= 0).all()
            and arrays[0].sum() == arrays[1].size and (arrays[1] <= 1).all()
            and _is_split(part["split"], n_arms)):
        raise ValueError(f"its counts are not those of a study of {n_arms} arms")


def _is_split(split, n_arms):
    """Return True if this can be the test of the split of a study of `n_arms` arms."""
    shares, counts = split["shares"], split["counts"]
    return (flat((shares, counts), (np.float64, np.int64)) and shares.size <= n_arms
            and bool(((shares >= 0) & (shares <= 1)).all() and (counts >= 0).all()
                     and (counts <= MOST_PULLS).all())
            and all(type(split[name]) is float and abs(split[name]) <= LARGEST_REWARD
                    for name in ("past", "most")) and split["most"] >= 0)


def check_first(path, first):
    """Return what the first event says: class, arms, settings, a state and a version."""
    kinds = dict(policy=str, arms=list, settings=dict, state=dict, version=str)
    if not (all(type(first.get(name)) is kind for name, kind in kinds.items())
            and first["arms"] and all(type(name) is str for name in first["arms"])
            and _are_shares(first.get("shares"), len(first["arms"]))):
        raise StudyDamagedError(f"{path} is damaged: log: event 0 is not that of a study")
    return first


def _are_shares(shares, n_arms):
    return shares is None or (type(shares) is list and len(shares) == n_arms and all(
        type(one) is float and 0.0 < one < math.inf for one in shares))
