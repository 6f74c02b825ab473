"""Results out of a file into a study: whole or not at all."""

from typing import NamedTuple

import numpy as np

from pybandit._shared.cells import BadFile
from pybandit.studies._normalise import rewards_of
from pybandit.studies._plate_read import read_plates
from pybandit.studies.plates import Plates


class Imported(NamedTuple):
    """What a file of results did to a study.

    Attributes
    ----------
    batch : int
    plates : list of str
        Those that are in the file.
    n_new, n_known, n_lost : int
        Results recorded now, known before, and wells that count as lost from now on.
    is_late : bool
        Whether the batch was over before.
    complete : bool
        Whether it is over now.
    """

    batch: int
    plates: list[str]
    n_new: int
    n_known: int
    n_lost: int
    is_late: bool
    complete: bool


def import_results(study, path, *, batch=None, partial=False, lost=False):
    """Record a file of results.

    Parameters
    ----------
    study : Study
    path : str or path-like
        A long table (columns plate, well, arm, value; others are passed over) or grids.
    batch : int, optional
        The batch that the file is of, where it does not name a plate.
    partial : bool, default False
        Whether wells may be without a value: they stay open.
    lost : bool, default False
        Whether wells without a value are lost; with `partial` those whose row is in the file.

    Returns
    -------
    Imported

    Raises
    ------
    BadFile
        Where anything does not fit; names file, line and column. Nothing is recorded then.
    StudyError
        Where it cannot be recorded.
    """
    plates = Plates.of(study.settings)
    reading = read_plates(path, plates, lambda number: study.batch(number).names, batch)
    record = study.batch(reading.batch)
    try:
        wells = plates.places(record.id, record.names)
        in_file = np.isin(wells // plates.layout.n_wells, reading.parts)
        rewards = rewards_of(reading, plates, lost)
        _check_known(record, rewards, reading, plates, wells)
        open_ = in_file & np.isnan(rewards) & (record.states == "open")
        if lost and partial:
            open_ &= reading.lines[wells] > 0
        if open_.any() and not (partial or lost):
            _refuse_missing(int(open_.argmax()), int(open_.sum()), reading, plates, wells)
        at = np.flatnonzero(in_file & ~np.isnan(rewards) | (open_ if lost else False))
        told = _tell(study, reading, plates, wells, at, rewards[at])
    except BadFile as error:
        raise BadFile(f"{path}: {error}") from None
    names = plates.names(reading.batch, len(record.names))
    return Imported(reading.batch, [names[part] for part in reading.parts], told.n_new,
                    told.n_known, int(open_.sum()) if lost else 0, record.status != "open",
                    told.complete)


def _check_known(record, rewards, reading, plates, wells):
    """Raises where a result is another than the one recorded, or its batch was abandoned."""
    told = ~np.isnan(rewards)
    if record.status == "abandoned" and told.any():
        place = reading.where(wells[int(told.argmax())], plates)
        raise BadFile(f"{place}: batch {record.id} was abandoned and takes no results; the same "
                      "arms were asked for again")
    other = told & ~np.isnan(record.values) & (rewards != record.values)
    if other.any():
        at = int(other.argmax())
        raise BadFile(f"{reading.where(wells[at], plates)}: {float(rewards[at])!r} for "
                      f"{_well(at, reading, plates, wells)}, where {float(record.values[at])!r} is "
                      f"recorded; {int(other.sum())} such in all")


def _refuse_missing(at, n, reading, plates, wells):
    raise BadFile(f"{reading.where(wells[at], plates)}: no value for "
                  f"{_well(at, reading, plates, wells)}, {n} such in all; --partial where they "
                  "come later, --lost where they never will")


def _well(at, reading, plates, wells):
    part, position = divmod(int(wells[at]), plates.layout.n_wells)
    plate = plates.names(reading.batch, len(reading.names))[part]
    return f"well {plates.layout.wells[position]} of plate {plate} ({reading.names[at]})"


def _tell(study, reading, plates, wells, at, rewards):
    try:
        return study.tell(reading.batch, rewards, positions=at, missing="drop")
    except ValueError as error:
        # the reward that the policy refuses, by its place in the file
        policy, arms = study.policy, np.zeros(1, dtype=np.int64)
        for position, reward in zip(at.tolist(), rewards, strict=True):
            try:
                policy._check_rewards(arms, np.array([reward]), "drop")
            except ValueError as reason:
                # which names the arm by its place in an array
                what = str(reason).partition(" at index")[0]
                raise BadFile(f"{reading.where(wells[position], plates)}: {what} for "
                              f"{_well(position, reading, plates, wells)}") from None
        raise BadFile(str(error)) from error
