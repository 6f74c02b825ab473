"""Check rows of a study's file: SQLite accepts values of any type in any column."""

import numpy as np

from pybandit._shared.checks import LARGEST_REWARD
from pybandit._shared.errors import StudyDamagedError
from pybandit.studies._codec import decode, flat
from pybandit.studies._journal import LATE

MOMENTS = -6e10, 2.5e11  # seconds since 1970: the range that can be written as dates
STATUSES = ("open", "complete", "closed", "abandoned")


def typed(path, table, cursor, *kinds, ordered=False):
    """Return the cursor; it then raises `StudyDamagedError` at a row with types other than `kinds`.

    If `ordered`, it also raises at a row whose first value does not exceed that of the row
    before: damaged pages that refer to each other would yield rows indefinitely.
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
                raise StudyDamagedError(f"{path} is damaged: {table}: {value} is not a "
                                        "valid time")
        if ordered:
            if last is not None and row[0] <= last:
                raise StudyDamagedError(f"{path} is damaged: {table}: row {row[0]} follows row "
                                        f"{last}")
            last = row[0]
        return row

    cursor.row_factory = checked
    return cursor


def decoded(path, place, *contents):
    """Return the values of these bytes; raise StudyDamagedError, with `place`, if invalid."""
    try:
        return list(map(decode, contents))
    except ValueError as error:
        raise StudyDamagedError(f"{path} is damaged: {place}: {error}") from error


def check_batch(path, number, status, columns, n_arms):
    """Raise StudyDamagedError if this cannot be a batch of a study with `n_arms` arms."""
    arms, values, marks = columns
    if not (flat(columns, (np.int64, np.float64, np.uint8)) and status in STATUSES
            and (marks <= LATE).all() and are_arms(arms, n_arms)
            and not (np.abs(values) > LARGEST_REWARD).any()):
        raise StudyDamagedError(f"{path} is damaged: batches: batch {number}: invalid arms, "
                                f"results or marks for a study of {n_arms} arms")


def check_late(path, columns, n_arms):
    """Raise StudyDamagedError if these cannot be late results with `n_arms` arms."""
    if not (flat(columns, (np.int64, np.float64)) and are_arms(columns[0], n_arms)
            and (np.abs(columns[1]) <= LARGEST_REWARD).all()):
        raise StudyDamagedError(f"{path} is damaged: late: invalid arms or results for a "
                                f"study of {n_arms} arms")


def are_arms(arms, n_arms):
    return bool(((arms >= 0) & (arms < n_arms)).all())


def check_first(path, first):
    """Return the first event, checked: kind, class, arms, settings, state and version."""
    kinds = dict(kind=str, policy=str, arms=list, settings=dict, state=dict, version=str)
    if not (all(type(first.get(name)) is kind for name, kind in kinds.items())
            and first["arms"] and all(type(name) is str for name in first["arms"])):
        raise StudyDamagedError(f"{path} is damaged: log: event 0 is not that of a study")
    return first

