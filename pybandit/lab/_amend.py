"""Correct recorded readings from a file or the command line."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pybandit._shared.cells import LOST
from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.records import Record
from pybandit.lab._normalise import recorded_readings, rewards_of
from pybandit.lab._read import Reading, read_plates
from pybandit.lab.controls import readings_of, withdrawn_of
from pybandit.lab.plates import Plates, plate_number
from pybandit.tables._markers import markers_by_plate
from pybandit.tables._sheet import PLAIN, number

FAILED = (*LOST, "failed", "lost")


@dataclass(frozen=True, slots=True, kw_only=True)
class Amended(Record):
    """Numbers of readings and results that an amendment changed.

    Attributes
    ----------
    batch : int
    plates : list of str
    n_readings : int
        Wells whose reading changed, controls included.
    n_amended : int
        Results of arms that changed.
    n_withdrawn : int
        Results among them that now count as lost.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> from pybandit.lab import Layout, Plates, Screen
    >>> plates = Plates(Layout.parse("2x3"), controls=(0,), positives=(5,))
    >>> policy = pb.policies.RoundRobin(4, 1, batch_size=4, max_batches=1)
    >>> screen = Screen.create(":memory:", policy, ["tea", "milk", "rum", "gin"], plates=plates)
    >>> _ = screen.ask()
    >>> with open("plate0.csv", "w") as file:
    ...     _ = file.write("plate,0\\n200,100,300\\n150,80,20\\n")
    >>> _ = screen.record("plate0.csv")
    >>> screen.amend_readings("a typo", plate="0", wells=["A2=110", "A3=failed"])
    Amended(batch=0, plates=['0'], n_readings=2, n_amended=2, n_withdrawn=1)
    """

    batch: int
    plates: list[str]
    n_readings: int
    n_amended: int
    n_withdrawn: int


def amend_results(study, reason, *, path=None, plate=None, wells=(), batch=None, lost=False,
                  dialect=PLAIN):
    """Correct recorded readings, and the results computed from them.

    Parameters
    ----------
    study : Study
    reason : str
    path : str or path-like, optional
        File of correct readings, in a format of `import_results`. Wells without a value do not
        change.
    plate : str, optional
        Plate of `wells` or of the file.
    wells : sequence of str
        "B7=812.5", or "B7=failed" to withdraw a reading.
    batch : int, optional
        As in `import_results`.
    lost : bool, default False
        True to withdraw the readings of wells that are in the file without a value.
    dialect : Dialect

    Returns
    -------
    Amended

    Raises
    ------
    UnreadableFileError, ValueError
        If a reading, well, plate or batch is invalid. Nothing is recorded.
    """
    plates = Plates.of(study.settings)
    dialect.checked()

    def arms_of(number):
        return study.batch(number).names

    if path is not None:
        reading = read_plates(path, plates, arms_of, batch, dialect, plate)
        gone = (reading.lines > 0) & np.isnan(reading.values) if lost else reading.lines < 0
    else:
        reading, gone = _typed(plate, wells, plates, arms_of, dialect)
    where = "the command line" if path is None else path
    try:
        return _amend(study, reason, reading, gone, plates, where, path)
    except UnreadableFileError as error:
        raise UnreadableFileError(f"{where}: {error}") from None


def _typed(plate, wells, plates, arms_of, dialect):
    """Return typed readings of a plate, and a mask of withdrawn wells."""
    found = plate_number(plate)
    if found is None:
        raise ValueError(f"--plate must be the name of a plate, such as 7 or 7p2; got {plate!r}")
    try:
        names = arms_of(found[0])
    except ValueError:
        raise ValueError("--plate must be a plate of a batch that was asked for; got "
                         f"{plate!r}") from None
    all_plates = plates.names(found[0], len(names))
    part = found[1] or 0
    if plate.strip() not in all_plates:
        allowed = (f"one of {all_plates[0]} to {all_plates[-1]}" if len(all_plates) > 1
                   else f"{all_plates[0]}, the only plate of its batch")
        raise ValueError(f"--plate must be {allowed}; got "
                         f"{plate!r}")
    size, labels = plates.layout.n_wells, plates.labels(found[0], names)
    values, gone = np.full(size * len(all_plates), np.nan), np.zeros(size * len(all_plates), bool)
    for text in wells:
        well, sign, value = text.partition("=")
        position = plates.layout.find_typed(well)
        if position is None or not sign:
            raise ValueError(f"--well must be WELL=VALUE, with a well of a {plates.layout} plate; "
                             f"got {text!r}")
        index = part * size + position
        if not labels[index]:
            raise ValueError(f"--well {well}: well {well} of plate {plate.strip()} is empty")
        if gone[index] or not np.isnan(values[index]):
            raise ValueError(f"--well must name each well once; got {well} again")
        gone[index] = value.strip().casefold() in FAILED
        if not gone[index]:
            values[index] = number(value.strip(), lambda text=text: f"--well {text}", dialect)
    return Reading(found[0], names, [part], values, np.ones(values.size, np.int64), 1, False), gone


def _amend(study, reason, reading, gone, plates, where, path):
    """Merge readings into the stored ones, and amend the results computed from them."""
    record, size = study.batch(reading.batch), plates.layout.n_wells
    names = plates.names(reading.batch, len(record.names))
    kept = recorded_readings(plates, reading.batch, record.names, record.values,
                             {one.name: one.values for one in readings_of(study, reading.batch)})
    new = np.where(gone, np.nan, np.where(np.isnan(reading.values), kept, reading.values))
    labels = np.array(plates.labels(reading.batch, record.names), dtype=object) != ""
    changed = labels & (gone | ~np.isnan(reading.values)) & ~(
        (new == kept) | (np.isnan(new) & np.isnan(kept)))
    wells = plates.places(reading.batch, record.names)
    touched, is_control = np.zeros(gone.size, bool), labels.copy()
    is_control[wells] = False
    touched[wells] = (changed | gone | ~np.isnan(reading.values))[wells]
    if plates.normalise:
        for part in reading.parts:
            cut = slice(part * size, (part + 1) * size)
            touched[cut] |= (changed & is_control)[cut].any()
    told = np.isin(record.states, ["known", "late"])
    if path is not None:
        _check_withdrawn(gone[wells] & told & np.isnan(kept[wells]), wells, reading, plates, names)
    back = np.isin(np.arange(wells.size), withdrawn_of(study, reading.batch) or [])
    told |= back & ~np.isnan(reading.values[wells])  # withdrawn readings are recorded again
    at = np.flatnonzero(touched[wells] & told)
    _check_kept(new, gone, wells[at], reading, plates, names)
    rewards = rewards_of(reading._replace(values=new), plates, True)[at]
    lacks = touched[wells] & ~told & ~np.isnan(new[wells])
    _refuse_unrecorded(lacks & (changed[wells]), wells, plates, names, record)
    parts = [part for part in reading.parts if changed[part * size:(part + 1) * size].any()]
    source = {"file": Path(where).name, "plates": {
        names[part]: new[part * size:(part + 1) * size] for part in parts},
        "markers": markers_by_plate(reading, names, size)} if parts else None
    done = study.amend(reading.batch, rewards, positions=at, reason=reason, source=source)
    return Amended(batch=reading.batch, plates=[names[part] for part in reading.parts],
                   n_readings=int(changed.sum()), n_amended=done.n_amended,
                   n_withdrawn=int(np.isnan(rewards).sum()))


def _check_withdrawn(lacks, wells, reading, plates, names):
    """Raise if an empty cell would withdraw a result without a stored reading.

    An export writes such a result as an empty cell too.
    """
    if lacks.any():
        well = int(wells[int(lacks.argmax())])
        part, position = divmod(well, plates.layout.n_wells)
        name = plates.layout.wells[position]
        raise UnreadableFileError(f"{reading.where(well, plates)}: no reading of well {name} of "
                                  f"plate {names[part]} is stored, so --lost does not withdraw its "
                                  f"result; use --plate {names[part]} --well {name}=failed")


def _check_kept(new, gone, wells, reading, plates, names):
    """Raise if a result would have to be computed again from readings that are not stored."""
    lacks = wells[np.isnan(new[wells]) & ~gone[wells]]
    if plates.normalise:
        controls = [*plates.controls, *plates.positives]
        for part in np.unique(wells // plates.layout.n_wells).tolist():
            there = part * plates.layout.n_wells + np.array(controls)
            if np.isnan(new[there]).all():
                lacks = there
    if lacks.size:
        part, position = divmod(int(lacks[0]), plates.layout.n_wells)
        raise UnreadableFileError(f"{reading.where(lacks[0], plates)}: no reading of well "
                                  f"{plates.layout.wells[position]} of plate {names[part]} is "
                                  "stored, because its results were reported from Python; "
                                  "pass a file of the whole plate")


def _refuse_unrecorded(lacks, wells, plates, names, record):
    if lacks.any():
        at = int(lacks.argmax())
        part, position = divmod(int(wells[at]), plates.layout.n_wells)
        raise ValueError(f"well {plates.layout.wells[position]} of plate {names[part]} "
                         f"({record.names[at]}) has no result to amend; record one")
