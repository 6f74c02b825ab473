"""Read files of plate readings: a long table of wells, or grids."""

import itertools
import re
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from pybandit._shared.errors import UnreadableFileError
from pybandit.lab._grids import read_grids
from pybandit.lab._long import COLUMNS, read_long
from pybandit.lab._shape import Shape
from pybandit.lab.plates import plate_number
from pybandit.tables._markers import MARKERS, is_counted, is_marker, limit_of
from pybandit.tables._sheet import PLAIN, Dialect, number, opened, short

__all__ = ["COLUMNS", "Reading", "read_plates"]


class Reading(NamedTuple):
    """Readings of one batch from a file; wells are counted over all plates of the batch.

    Attributes
    ----------
    batch : int
    names : list of str
        Names of the batch's arms.
    parts : list of int
        Plates in the file, from 0, ascending.
    values : ndarray of float64
        Readings; NaN if there is none.
    lines : ndarray of int64
        Line of each well; 0 if it is not in the file.
    last : int
        The last line.
    is_grid : bool
    has_arms : bool
        True if the file names the arm of each well.
    markers : dict of int to str
        Cells with a marker or a limit instead of a reading, by well.
    measurement : str
        Name of the measurement, and of the format that was read; "" if the file has no names.
    unit : str
        Unit of `lines`: "line" or "measurement".
    """

    batch: int
    names: list[str]
    parts: list[int]
    values: np.ndarray
    lines: np.ndarray
    last: int
    is_grid: bool
    has_arms: bool = True
    markers: dict[int, str] = {}
    measurement: str = ""
    unit: str = "line"

    def where(self, well, plates):
        """Return the place of a well for messages: line 3, column 'value'."""
        place = int(self.lines[well])
        if not place:
            return f"{self.unit} {self.last}, column 'well'"
        column = str(well % plates.layout.columns + 1) if self.is_grid else "value"
        return f"{self.unit} {place}, column {column!r}"


def read_plates(path, plates, arms_of, batch=None, dialect=PLAIN, plate=None):
    """Read a file of results.

    Parameters
    ----------
    path : str or path-like
    plates : Plates
    arms_of : callable
        Returns the names of a batch's arms, given its number; raises ``ValueError`` if there is
        no such batch.
    batch : int, optional
        Batch of the file; by default derived from the plates that it names.
    dialect : Dialect
    plate : str, optional
        Plate of the file. Overrides the names in the file.

    Returns
    -------
    Reading

    Raises
    ------
    UnreadableFileError
        If anything in the file is invalid; the message names file, line and column.

    Notes
    -----
    The file is read once, line by line, up to the first invalid row. A file with more rows
    than the batch has wells is read up to the first row in excess.
    """
    if dialect.instrument is not None:
        return _read_instrument(path, plates, arms_of, batch, dialect, plate)
    sheet, above = _Sheet(plates, arms_of, batch, dialect, plate), []
    shape = Shape(plates.layout, dialect)
    with opened(path, (sheet.begins_long, shape.begins, shape.is_bare), dialect, above) as rows:
        line, first = next(rows)
        if {cell.casefold() for cell in first} & {dialect.column(one) for one in COLUMNS[1:]}:
            read_long(sheet, rows, line, first)
        else:
            read_grids(sheet, itertools.chain([(line, first)], rows), above)
        return sheet.reading()


def _read_instrument(path, plates, arms_of, batch, dialect, plate):
    """Read a file with allotropy; errors number its measurements instead of lines."""
    from pybandit.lab._allotropy import read_instrument, rows_of

    plain = Dialect(markers=dialect.markers, limits=dialect.limits)
    sheet = _Sheet(plates, arms_of, batch, plain, plate)
    try:
        found = read_instrument(path, dialect.instrument, dialect.measurement)
        header, rows = rows_of(found)
        if "plate" not in header and plate is None and batch is None:
            raise UnreadableFileError("no plate is named; name it with --plate")
        read_long(sheet, rows, 1, header)
    except OSError as error:
        raise UnreadableFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnreadableFileError as error:
        words = re.sub("^line ", "measurement ", str(error))
        raise UnreadableFileError(f"{path}: {words}") from None
    sheet.measurement = f"{found.measurement} of {found.instrument.lower()}"
    return sheet.reading()._replace(unit="measurement")


class _Sheet:
    """Collects the readings of wells; the first plate determines the batch."""

    def __init__(self, plates, arms_of, batch, dialect=PLAIN, plate=None):
        self.plates, self.n_wells = plates, plates.layout.n_wells
        self.arms_of, self.batch, self.names = arms_of, batch, None
        self.dialect, self.plate = dialect, plate
        self.starts, self.is_grid, self.has_arms, self.last = {}, False, True, 1
        self.markers, self.measurement = {}, ""

    def begins_long(self, cells):
        """Return True if these cells are the header of a long table."""
        names = {cell.casefold() for cell in cells}
        return {self.dialect.column("well"), self.dialect.column("value")} <= names

    def _begin(self, batch, line):
        try:
            self.names = self.arms_of(batch)
        except (ValueError, OverflowError):
            raise UnreadableFileError(f"line {line}, column 'plate': no batch {batch} was asked for"
                                      ) from None
        self.batch = batch
        self.labels = [label.strip() for label in self.plates.labels(batch, self.names)]
        self.values, self.lines = [np.nan] * len(self.labels), [0] * len(self.labels)

    def start(self, plate, line):
        """Return the first well of the plate with this name."""
        found = plate_number(plate)
        if found is None:
            raise UnreadableFileError(f"line {line}, column 'plate': {short(plate)} is not the "
                                      "name of a plate; name the plate with --plate")
        if self.names is None:
            self._begin(found[0] if self.batch is None else self.batch, line)
        names = self.plates.names(self.batch, len(self.names))
        part = 0 if len(names) == 1 else found[1]
        expected = (self.batch, None if len(names) == 1 else found[1])
        if found != expected or part is None or part >= len(names):
            is_or_are = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
            raise UnreadableFileError(f"line {line}, column 'plate': {short(plate)} is not a plate "
                                      f"of batch {self.batch} ({is_or_are}); a file must "
                                      "have one batch")
        for other, start in self.starts.items():
            if start == part * self.n_wells and other != plate:
                raise UnreadableFileError(f"line {line}, column 'plate': {short(other)} and "
                                          f"{short(plate)} are the same plate; use one name")
        self.starts[plate] = part * self.n_wells
        return self.starts[plate]

    def only_start(self, line):
        """Return the first well of the batch's only plate, for a file that names no plate."""
        if self.plate is not None:
            return self.start(self.plate, line)
        if self.batch is not None and self.names is None:
            self._begin(self.batch, line)
        if self.batch is None:
            raise UnreadableFileError(f"line {line}, column 'plate': no plate is named; a long "
                                      "table has the "
                                      f"columns {', '.join(COLUMNS)}, a grid begins with "
                                      "plate,NAME; or give --plate")
        names = self.plates.names(self.batch, len(self.names))
        if len(names) > 1:
            raise UnreadableFileError(f"line {line}, column 'plate': no plate is named, and batch "
                                      f"{self.batch} has {len(names)}, {names[0]} to {names[-1]}")
        return self.start(names[0], line)

    def put(self, index, cell, place, line):
        """Store a cell as the reading of a well; `place()` returns the name of the cell."""
        self.lines[index] = line
        self.last = max(self.last, line)
        if not self.labels[index]:  # an empty well: long tables store its unused reading
            with suppress(UnreadableFileError):
                self.values[index] = np.nan if self.is_grid else number(cell, place, self.dialect)
            return
        try:
            value = self.values[index] = number(cell, place, self.dialect)
        except UnreadableFileError:
            self._refuse_marker(cell, place())
            raise
        if cell and is_counted(cell, value):
            self.markers[index] = cell[:40]

    def _refuse_marker(self, cell, place):
        """Raise if a cell is a marker; the message names the option that accepts it."""
        if is_marker(cell, MARKERS):
            limit = limit_of(cell, self.dialect)
            take = "" if limit is None else f"; --take-limits reads it as {limit:g}"
            raise UnreadableFileError(f"{place}: {short(cell)} is not a finite number; --lost "
                                      f"or --lost-markers counts the well as lost{take}"
                                      ) from None

    def reading(self):
        parts = sorted({start // self.n_wells for start in self.starts.values()})
        return Reading(self.batch, self.names, parts, np.array(self.values),
                       np.array(self.lines), self.last, self.is_grid, self.has_arms,
                       self.markers, self.measurement)
