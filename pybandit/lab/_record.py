"""Record a file of readings in a study: all of it or nothing."""

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
    """Summary of a recorded file of readings.

    Attributes
    ----------
    batch : int
    plates : list of str
        Plates in the file.
    n_new, n_known, n_lost : int
        Numbers of results recorded now and known before, and of wells that now count as lost.
    markers : dict of str to int
        Number of wells with each marker instead of a reading, such as "OVRFLW".
    limits : dict of str to int
        Number of wells read as each limit, such as ">4.000".
    measurement : str
        The measurement that was read, if the file names it.
    is_late : bool
        True if the batch was over before.
    complete : bool
        True if it is over now.
    has_arms : bool
        True if the file names the arms of its wells, which were then checked.

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
    """Record a file of readings.

    Parameters
    ----------
    study : Study
    path : str or path-like
        A long table (columns plate, well, arm, value; others are ignored) or grids; CSV or
        a workbook.
    batch : int, optional
        Batch of the file, if it names no plate.
    partial : bool, default False
        True if wells may have no value; they stay open.
    lost : bool, default False
        True if wells without a value are lost; with `partial`, only those with a row in the
        file.
    dialect : Dialect
    plate : str, optional
        Plate of the file. Overrides the names in the file.

    Returns
    -------
    Imported

    Raises
    ------
    UnreadableFileError
        If anything in the file is invalid; the message names file, line and column. Nothing is
        recorded.
    StudyError
        If the results cannot be recorded.
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
        # a withdrawn control is treated like a lost one
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
    """Return two dicts of text -> number of wells: markers without a value, and limits."""
    found = {}, {}
    for well, cell in reading.markers.items():
        kind = found[not np.isnan(reading.values[well])]
        kind[cell] = kind.get(cell, 0) + 1
    return found


def _withdrawn(study, reading, plates, record, wells):
    """Return a mask of readings of this file that were recorded before and withdrawn since.

    Compares readings, not rewards: a reward changes with the controls of its plate.
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
    """Return the readings of a file with empty control wells filled from the recorded ones.

    All results of a plate are thus divided by the mean of the same controls, even if they come
    from several files.
    """
    at = np.array([*plates.controls, *plates.positives], dtype=np.int64)
    for part in settled:
        wells = part * plates.layout.n_wells + at
        values[wells] = np.where(np.isnan(values[wells]), recorded[wells], values[wells])
    return values


def _news(path, reading, plates, record, wells, kept, recorded, has_marks):
    """Return the readings of a file to store with the results; None if all are stored already.

    Raises
    ------
    UnreadableFileError
        If a well has another reading than the recorded one, or if a control well has its first
        reading after results of its plate were divided by the mean of the other controls.
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
                                      "use amend to correct it")
        late = (~np.isnan(values) & np.isnan(old))[list(divisors)]
        if names[part] in kept and late.any() and told[wells // n_wells == part].any():
            well = divisors[int(late.argmax())]
            raise UnreadableFileError(f"{reading.where(cut.start + well, plates)}: control well "
                                      f"{plates.layout.wells[well]} of plate {names[part]} has a "
                                      "value now, but results of this plate were divided by the "
                                      "mean of the others: leave it empty")
        is_new |= bool((~np.isnan(values) & np.isnan(old)).any())
        found[names[part]] = values
    if not (is_new or has_marks):
        return None
    source = {"file": Path(path).name, "plates": found}
    marked = markers_by_plate(reading, names, n_wells)
    return source | {"markers": marked} if marked else source


def _check_known(record, rewards, reading, plates, wells):
    """Raise if a result differs from the recorded one, or if its batch was abandoned."""
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
                                  f"{float(record.values[at])!r} is recorded ({int(other.sum())} "
                                  "such wells in all); use amend to correct it")


def _refuse_missing(at, n, reading, plates, wells):
    raise UnreadableFileError(f"{reading.where(wells[at], plates)}: no value for "
                              f"{_well(at, reading, plates, wells)}, {n} such wells in all; pass "
                              "--partial if they come later, --lost if they never will")


def _well(at, reading, plates, wells):
    part, position = divmod(int(wells[at]), plates.layout.n_wells)
    plate = plates.names(reading.batch, len(reading.names))[part]
    return f"well {plates.layout.wells[position]} of plate {plate} ({reading.names[at]})"


def _tell(study, reading, plates, wells, at, rewards, source):
    try:
        return study.tell(reading.batch, rewards, positions=at, missing="drop",
                          source=source)
    except ValueError as error:
        # find the rejected reward, to name its place in the file
        policy, arms = study.policy, np.zeros(1, dtype=np.int64)
        for position, reward in zip(at.tolist(), rewards, strict=True):
            try:
                policy._check_rewards(arms, np.array([reward]), "drop")
            except ValueError as reason:
                # the reason names an index of the array; cut it off
                what = str(reason).partition(" at index")[0]
                raise UnreadableFileError(f"{reading.where(wells[position], plates)}: {what} for "
                                          f"{_well(position, reading, plates, wells)}") from None
        raise UnreadableFileError(str(error)) from error
