"""Stored readings of wells, and the quality of plates by their controls.

A study that receives results from files stores the readings and the names of the files next to
the rewards. A plate is good if its two kinds of controls lie far apart compared with their
noise: Z' is 1 without noise, above 0.5 for an excellent assay, and at most 0 if the bands of
three standard deviations touch (Zhang, Chung and Oldenburg, 1999).
"""

import math
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pybandit._shared.database_errors import as_recorded
from pybandit._shared.records import Record
from pybandit._shared.types import Floats, Ints
from pybandit.lab.plates import Plates
from pybandit.studies._codec import flat
from pybandit.studies._reads import ReadMethods


@dataclass(frozen=True, slots=True)
class Controls(Record):
    """Readings of the control wells of one kind on a plate.

    Attributes
    ----------
    n : int
        Number of wells with a reading.
    mean, std : float
        Mean and standard deviation. Both are NaN without readings; `std` also for one reading.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> from pybandit.lab import Controls
    >>> Controls(n=16, mean=1000.0, std=50.0)
    Controls(n=16, mean=1000.0, std=50.0)
    """

    n: int
    mean: float
    std: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlateReadings(Record):
    """Stored readings of one plate.

    Attributes
    ----------
    name : str
    batch : int
    values : ndarray of float64, shape (wells,)
        Readings along the rows; NaN if there is none.
    files : list of str
        Names of the files that they came from, in order.
    controls, positives : Controls
    z_prime : float
        ``1 - 3 (std + std') / |mean - mean'|``; NaN if a kind of controls has fewer than two
        readings.
    markers : dict of str to ndarray of int64
        Positions of the wells with each marker instead of a reading, such as "OVRFLW", and of
        those whose reading is a limit, such as ">4.000".

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
    >>> [plate] = screen.readings()
    >>> plate.name, plate.controls.mean, plate.positives.mean, plate.values.tolist()[1]
    ('0', 200.0, 20.0, 100.0)
    """

    name: str
    batch: int
    values: Floats
    files: list[str]
    controls: Controls
    positives: Controls
    z_prime: float
    markers: dict[str, Ints]


Kept = tuple[int, Floats, list[str], dict[int, str]]


def readings_of(study: ReadMethods, batch: int | None = None) -> list[PlateReadings]:
    """Return the readings stored in a study, which came from files.

    Parameters
    ----------
    study : Study
    batch : int, optional
        Only those of this batch.

    Returns
    -------
    list of PlateReadings
        In the order in which the plates were first recorded; amendments are applied.

    Notes
    -----
    Takes time proportional to the length of the log.
    """
    plates = Plates.of(study.settings)
    return [_plate_of(name, *one, plates) for name, one in _kept(study, batch).items()]


def kept_by_batch(study: ReadMethods) -> dict[int, dict[str, Floats]]:
    """Return the stored readings of each batch, by the names of its plates."""
    found: dict[int, dict[str, Floats]] = {}
    for name, (number, values, *_) in _kept(study).items():
        found.setdefault(number, {})[name] = values
    return found


def _kept(study: ReadMethods, batch: int | None = None) -> dict[str, Kept]:
    """Return batch, readings, files and markers of each plate."""
    kept: dict[str, Kept] = {}
    for number, source, is_whole in _sources(study):
        if batch is not None and number != batch:
            continue
        for name, values in _plates_in(source).items():
            _, old, files, marks = kept.get(name, (number, values, [], {}))
            is_new = is_whole or old.size != values.size
            new = values if is_new else np.where(np.isnan(values), old, values)
            if old.size == new.size:  # a well with a new reading loses its marker
                same = (old == new) | (np.isnan(old) & np.isnan(new))
                marks = {well: cell for well, cell in marks.items() if same[well]}
            marks = marks | _markers_in(source, name, new.size)
            kept[name] = number, new, [*files, source["file"]], marks
    return kept


def withdrawn_of(study: ReadMethods, batch: int) -> list[int] | None:
    """Return positions of a batch whose results were ever withdrawn; None without amendments."""
    def read(_):
        return list(study._withdrawn(batch)) if study._store.n_amendments() else None

    return study._read(read)


def were_kept(study: ReadMethods, batch: int, names: list[str], values: Floats) -> np.ndarray:
    """Return a mask of the readings, plate by plate, that were ever stored for their wells."""
    found, size = np.zeros(values.size, dtype=bool), values.size // len(names)
    for number, source, _ in _sources(study):
        if number != batch:
            continue
        for name, kept in _plates_in(source).items():
            if name in names and kept.size == size:
                cut = slice(names.index(name) * size, (names.index(name) + 1) * size)
                found[cut] |= values[cut] == kept
    return found


def _sources(study: ReadMethods) -> Iterable[tuple[int, dict[str, Any], bool]]:
    """Return batch, source and a flag for each event with a source; the flag marks amendments."""
    found = []
    for number, kind, content in study._read(lambda _: [
            (row[0], row[1], row[4]) for row in study._store.events()
            if row[1] in ("tell", "amend") and b"source" in row[4]]):
        body = study._entry(f"event {number}", content)
        if "source" in body:
            with as_recorded(study.path, f"log: event {number} belongs to no batch"):
                found.append((operator.index(body["batch"]), body["source"], kind == "amend"))
    return found


def _plates_in(source):
    """Return readings by the names of the plates; an empty dict if the source is not a file."""
    if type(source) is not dict or type(source.get("file")) is not str:
        return {}
    plates = source.get("plates")
    are_readings = type(plates) is dict and all(flat([values], [np.float64])
                                           for values in plates.values())
    return plates if are_readings else {}


def _markers_in(source, plate, size):
    """Return the marker of each well of a plate; an empty dict if there are none."""
    plates = source.get("markers")
    cells = plates.get(plate) if type(plates) is dict else None
    if type(cells) is not dict or not all(flat([wells], [np.int64]) for wells in cells.values()):
        return {}
    return {well: cell for cell, wells in cells.items() for well in wells.tolist()
            if 0 <= well < size}


def _plate_of(name, batch, values, files, marks, plates):
    controls, positives = (_controls_of(values[[well for well in wells if well < values.size]])
                           for wells in (plates.controls, plates.positives))
    cells = {cell: np.array([well for well in marks if marks[well] == cell], dtype=np.int64)
             for cell in sorted(set(marks.values()))}
    return PlateReadings(name=name, batch=batch, values=values, files=files, controls=controls,
                         positives=positives, z_prime=z_prime(controls, positives), markers=cells)


@np.errstate(over="ignore", invalid="ignore")  # readings near the largest number
def _controls_of(values):
    values = values[~np.isnan(values)]
    mean = float(values.mean()) if values.size else math.nan
    std = float(values.std(ddof=1)) if values.size > 1 else math.nan
    return Controls(values.size, mean, std)


def z_prime(controls: Controls, positives: Controls) -> float:
    """Return Z' of two kinds of controls; NaN if one has fewer than two readings.

    Parameters
    ----------
    controls, positives : Controls

    Returns
    -------
    float
        ``1 - 3 (std + std') / |mean - mean'|``, at most 1.

    Raises
    ------
    AttributeError
        If an argument is not `Controls`.

    Examples
    --------
    >>> from pybandit.lab.controls import Controls, z_prime
    >>> z_prime(Controls(16, 1000.0, 50.0), Controls(16, 100.0, 10.0))
    0.8
    """
    apart = abs(controls.mean - positives.mean)
    if not apart > 0:
        return math.nan
    return 1.0 - 3.0 * (controls.std + positives.std) / apart

