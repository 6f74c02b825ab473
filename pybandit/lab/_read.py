"""Readings of plates out of a file: a long table of wells, or grids."""

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
    """What a file says about one batch, in wells counted over all plates of the batch.

    Attributes
    ----------
    batch : int
    names : list of str
        Of the batch's arms.
    parts : list of int
        Plates that are in the file, from 0, ascending.
    values : ndarray of float64
        NaN where there is no value.
    lines : ndarray of int64
        The line that a well is on; 0 where there is none.
    last : int
        The last line.
    is_grid : bool
    has_arms : bool
        Whether the file says which arm is in a well.
    markers : dict of int to str
        Cells that were markers or limits instead of readings, by well.
    measurement : str
        Name of the measurement that was read, and what read it; "" if the file has no names.
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
        """'line 3, column 'value'', or where it should be."""
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
        From the number of a batch to its arms' names; ``ValueError`` where there is none.
    batch : int, optional
        The batch that the file is of; by default its plates tell.
    dialect : Dialect
    plate : str, optional
        The plate that the file is of, whatever it says.

    Returns
    -------
    Reading

    Raises
    ------
    UnreadableFileError
        Where anything in the file is not as it must be; names file, line and column.

    Notes
    -----
    The file is read once, a line at a time, and no further than the first row that does
    not fit: a file of more rows than the batch has wells ends at the first row too many.
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
    """Read a file that allotropy reads; its measurements count as lines."""
    from pybandit.lab._instruments import read_instrument, rows_of

    plain = Dialect(markers=dialect.markers, limits=dialect.limits)
    sheet = _Sheet(plates, arms_of, batch, plain, plate)
    try:
        found = read_instrument(path, dialect.instrument, dialect.measurement)
        header, rows = rows_of(found)
        if "plate" not in header and plate is None and batch is None:
            raise UnreadableFileError("no plate is named; --plate says which it is")
        read_long(sheet, rows, 1, header)
    except OSError as error:
        raise UnreadableFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnreadableFileError as error:
        words = re.sub("^line ", "measurement ", str(error))
        raise UnreadableFileError(f"{path}: {words}") from None
    sheet.measurement = f"{found.measurement} of {found.instrument.lower()}"
    return sheet.reading()._replace(unit="measurement")


class _Sheet:
    """Collects wells; knows which batch they are of as soon as a plate is named."""

    def __init__(self, plates, arms_of, batch, dialect=PLAIN, plate=None):
        self.plates, self.n_wells = plates, plates.layout.n_wells
        self.arms_of, self.batch, self.names = arms_of, batch, None
        self.dialect, self.plate = dialect, plate
        self.starts, self.is_grid, self.has_arms, self.last = {}, False, True, 1
        self.markers, self.measurement = {}, ""

    def begins_long(self, cells):
        """Whether these are the header of a long table."""
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
        """The first well of a plate of this name."""
        found = plate_number(plate)
        if found is None:
            raise UnreadableFileError(f"line {line}, column 'plate': {short(plate)} is not the "
                                      "name of a plate; --plate says which plate the file is of")
        if self.names is None:
            self._begin(found[0] if self.batch is None else self.batch, line)
        names = self.plates.names(self.batch, len(self.names))
        part = 0 if len(names) == 1 else found[1]
        expected = (self.batch, None if len(names) == 1 else found[1])
        if found != expected or part is None or part >= len(names):
            is_or_are = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
            raise UnreadableFileError(f"line {line}, column 'plate': {short(plate)} is not a plate "
                                      f"of batch {self.batch}, {is_or_are}; a file holds one batch")
        for other, start in self.starts.items():
            if start == part * self.n_wells and other != plate:
                raise UnreadableFileError(f"line {line}, column 'plate': {short(other)} and "
                                          f"{short(plate)} are one plate; call it by one name")
        self.starts[plate] = part * self.n_wells
        return self.starts[plate]

    def only_start(self, line):
        """The first well of the batch's plate, where no plate is named."""
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
        """Take a cell as the reading of a well; `place()` names the cell."""
        self.lines[index] = line
        self.last = max(self.last, line)
        if not self.labels[index]:  # an empty well: its cell is not used, but kept in long tables
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
        """Raise if a cell is a marker, and say which option takes it."""
        if is_marker(cell, MARKERS):
            limit = limit_of(cell, self.dialect)
            take = "" if limit is None else f"; --take-limits takes it as {limit:g}"
            raise UnreadableFileError(f"{place}: {short(cell)} is not a finite number; --lost "
                                      f"takes it as a lost well, as --lost-markers says{take}"
                                      ) from None

    def reading(self):
        parts = sorted({start // self.n_wells for start in self.starts.values()})
        return Reading(self.batch, self.names, parts, np.array(self.values),
                       np.array(self.lines), self.last, self.is_grid, self.has_arms,
                       self.markers, self.measurement)
