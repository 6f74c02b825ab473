"""Results out of a file into a study: whole or not at all."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.records import Record
from pybandit.lab._normalise import recorded_readings, rewards_of
from pybandit.lab._read import read_plates
from pybandit.lab.controls import readings_of, were_kept, withdrawn_of
from pybandit.lab.plates import Plates
from pybandit.tables._markers import is_marker, markers_by_plate
from pybandit.tables._sheet import PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported(Record):
    """What a file of readings did to a screen.

    Attributes
    ----------
    batch : int
    plates : list of str
        Those that are in the file.
    n_new, n_known, n_lost : int
        Results recorded now, known before, and wells that count as lost from now on.
    markers : dict of str to int
        Wells of the file by the marker that they have instead of a reading, such as "OVRFLW".
    limits : dict of str to int
        Wells read as the limit that the file has, such as ">4.000".
    measurement : str
        The measurement that was read, if the file names it.
    is_late : bool
        Whether the batch was over before.
    complete : bool
        Whether it is over now.
    has_arms : bool
        Whether the file says which arm is in a well, so that this was checked.

    Notes
    -----
    **Threads.** Nothing changes it: threads may share it.

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
    >>> done = screen.record("plate0.csv")
    >>> done.plates, done.n_new, done.n_known, done.complete
    (['0'], 4, 0, True)
    """

    batch: int
    plates: list[str]
    n_new: int
    n_known: int
    n_lost: int
    is_late: bool
    complete: bool
    has_arms: bool
    markers: dict[str, int]
    limits: dict[str, int]
    measurement: str


def import_results(study, path, *, batch=None, partial=False, lost=False, dialect=PLAIN,
                   plate=None):
    """Record a file of results.

    Parameters
    ----------
    study : Study
    path : str or path-like
        A long table (columns plate, well, arm, value; others are passed over) or grids; CSV or
        a workbook.
    batch : int, optional
        The batch that the file is of, where it does not name a plate.
    partial : bool, default False
        Whether wells may be without a value: they stay open.
    lost : bool, default False
        Whether wells without a value are lost; with `partial` those whose row is in the file.
    dialect : Dialect
    plate : str, optional
        The plate that the file is of, whatever it says.

    Returns
    -------
    Imported

    Raises
    ------
    UnreadableFileError
        Where anything does not fit; names file, line and column. Nothing is recorded then.
    StudyError
        Where it cannot be recorded.
    """
    plates = Plates.of(study.settings)
    dialect.checked()
    reading = read_plates(path, plates, lambda number: study.batch(number).names, batch,
                          dialect, plate)
    record = study.batch(reading.batch)
    try:
        wells = plates.places(record.id, record.names)
        in_file = np.isin(wells // plates.layout.n_wells, reading.parts)
        gone = _withdrawn(study, reading, plates, record, wells)
        kept = {plate.name: plate.values for plate in readings_of(study, record.id)}
        recorded = recorded_readings(plates, record.id, record.names, record.values, kept)
        settled = set((wells[~np.isnan(record.values)] // plates.layout.n_wells).tolist())
        values = _with_controls(np.where(gone, np.nan, reading.values), recorded, settled, plates)
        reading = reading._replace(values=values)
        # a control that was withdrawn is as one that is lost
        some_will_do = lost or bool(gone.any() or dialect.markers and reading.markers)
        rewards = rewards_of(reading, plates, some_will_do, settled)
        _check_known(record, rewards, reading, plates, wells)
        open_ = in_file & np.isnan(rewards) & (record.states == "open")
        marked = np.isin(wells, [well for well, cell in reading.markers.items()
                                 if is_marker(cell, dialect.markers)])
        gone_now = open_ & ((reading.lines[wells] > 0) | (not partial) if lost else marked)
        if (open_ & ~gone_now).any() and not (partial or lost):
            left = open_ & ~gone_now
            _refuse_missing(int(left.argmax()), int(left.sum()), reading, plates, wells)
        at = np.flatnonzero(in_file & ~np.isnan(rewards) | gone_now)
        told = _tell(study, reading, plates, wells, at, rewards[at],
                     _news(path, reading, plates, record, wells, kept, recorded,
                           (gone_now & marked).any()))
    except UnreadableFileError as error:
        raise UnreadableFileError(f"{path}: {error}") from None
    names = plates.names(reading.batch, len(record.names))
    n_known = told.n_known + int(gone[wells].sum())
    markers, limits = _counted(reading)
    return Imported(batch=reading.batch, plates=[names[part] for part in reading.parts],
                    n_new=told.n_new, n_known=n_known, n_lost=int(gone_now.sum()),
                    is_late=record.status != "open", complete=told.complete,
                    has_arms=reading.has_arms, markers=markers, limits=limits,
                    measurement=reading.measurement)


def _counted(reading):
    """Return how many wells have each marker, and how many were read as each limit."""
    found = {}, {}
    for well, cell in reading.markers.items():
        kind = found[not np.isnan(reading.values[well])]
        kind[cell] = kind.get(cell, 0) + 1
    return found


def _withdrawn(study, reading, plates, record, wells):
    """Readings that were withdrawn since, of a file that is sent again; not those of other values.

    Of readings, for what a study is told of one changes with the controls of its plate.
    """
    gone = np.zeros(reading.values.size, dtype=bool)
    lost = withdrawn_of(study, reading.batch)
    if lost is None:
        return gone
    gone[wells[np.isin(np.arange(wells.size), lost) & (record.states == "lost")]] = True
    names, size = plates.names(reading.batch, len(record.names)), plates.layout.n_wells
    for plate in readings_of(study, reading.batch):
        part = names.index(plate.name)
        controls = part * size + np.array([*plates.controls, *plates.positives], dtype=np.int64)
        gone[controls] = np.isnan(plate.values[controls - part * size])
    return gone & were_kept(study, reading.batch, names, reading.values)


def _with_controls(values, recorded, settled, plates):
    """Return readings of a file, with recorded controls in place of those that it leaves empty.

    Results of a plate are divided by the mean of the same controls, whatever file they are in.
    """
    at = np.array([*plates.controls, *plates.positives], dtype=np.int64)
    for part in settled:
        wells = part * plates.layout.n_wells + at
        values[wells] = np.where(np.isnan(values[wells]), recorded[wells], values[wells])
    return values


def _news(path, reading, plates, record, wells, kept, recorded, has_marks):
    """The readings of a file, where some are not kept yet, to be kept with the results.

    Raises
    ------
    UnreadableFileError
        Where a control well has another reading than it had, or has one after results of its
        plate were divided by the mean of the others.
    """
    if record.status == "abandoned":
        return None
    n_wells, names = plates.layout.n_wells, plates.names(reading.batch, len(reading.names))
    divisors = plates.controls if plates.normalise else ()
    if plates.normalise == "inhibition":
        divisors = (*divisors, *plates.positives)
    told = np.isin(record.states, ("known", "late"))
    found, is_new = {}, False
    for part in reading.parts:
        cut = slice(part * n_wells, (part + 1) * n_wells)
        values, old = reading.values[cut], recorded[cut]
        other = ~np.isnan(values) & ~np.isnan(old) & (values != old)
        if other.any():
            at = int(other.argmax())
            place = reading.where(cut.start + at, plates)
            raise UnreadableFileError(f"{place}: {values[at]:g} for well {plates.layout.wells[at]} "
                                      f"of plate {names[part]}, where {old[at]:g} is recorded; "
                                      "amend corrects it")
        late = (~np.isnan(values) & np.isnan(old))[list(divisors)]
        if names[part] in kept and late.any() and told[wells // n_wells == part].any():
            well = divisors[int(late.argmax())]
            raise UnreadableFileError(f"{reading.where(cut.start + well, plates)}: control well "
                                      f"{plates.layout.wells[well]} of plate {names[part]} has a "
                                      "value now, and results of this plate are by the mean of the "
                                      "others: leave it empty")
        is_new |= bool((~np.isnan(values) & np.isnan(old)).any())
        found[names[part]] = values
    if not (is_new or has_marks):
        return None
    source = {"file": Path(path).name, "plates": found}
    marked = markers_by_plate(reading, names, n_wells)
    return source | {"markers": marked} if marked else source


def _check_known(record, rewards, reading, plates, wells):
    """Raises where a result is another than the one recorded, or its batch was abandoned."""
    told = ~np.isnan(rewards)
    if record.status == "abandoned" and told.any():
        place = reading.where(wells[int(told.argmax())], plates)
        raise UnreadableFileError(f"{place}: batch {record.id} was abandoned and takes no results; "
                                  "the same arms were asked for again")
    other = told & ~np.isnan(record.values) & (rewards != record.values)
    if other.any():
        at = int(other.argmax())
        raise UnreadableFileError(f"{reading.where(wells[at], plates)}: {float(rewards[at])!r} for "
                                  f"{_well(at, reading, plates, wells)}, where "
                                  f"{float(record.values[at])!r} is recorded; {int(other.sum())} "
                                  "such in all; amend corrects it")


def _refuse_missing(at, n, reading, plates, wells):
    raise UnreadableFileError(f"{reading.where(wells[at], plates)}: no value for "
                              f"{_well(at, reading, plates, wells)}, {n} such in all; --partial "
                              "where they come later, --lost where they never will")


def _well(at, reading, plates, wells):
    part, position = divmod(int(wells[at]), plates.layout.n_wells)
    plate = plates.names(reading.batch, len(reading.names))[part]
    return f"well {plates.layout.wells[position]} of plate {plate} ({reading.names[at]})"


def _tell(study, reading, plates, wells, at, rewards, source):
    try:
        return study.tell(reading.batch, rewards, positions=at, missing="drop",
                          source=source)
    except ValueError as error:
        # the reward that the policy refuses, by its place in the file
        policy, arms = study.policy, np.zeros(1, dtype=np.int64)
        for position, reward in zip(at.tolist(), rewards, strict=True):
            try:
                policy._check_rewards(arms, np.array([reward]), "drop")
            except ValueError as reason:
                # which names the arm by its place in an array
                what = str(reason).partition(" at index")[0]
                raise UnreadableFileError(f"{reading.where(wells[position], plates)}: {what} for "
                                          f"{_well(position, reading, plates, wells)}") from None
        raise UnreadableFileError(str(error)) from error
