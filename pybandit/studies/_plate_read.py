"""Readings of plates out of a file: a long table of wells, or grids."""

from typing import NamedTuple

import numpy as np

from pybandit._shared.cells import BadFile
from pybandit.studies._sheet import PLAIN, listed, number, short
from pybandit.studies._table import opened
from pybandit.studies.plates import letters, plate_number

COLUMNS = "plate", "well", "arm", "value"


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
    """

    batch: int
    names: list[str]
    parts: list[int]
    values: np.ndarray
    lines: np.ndarray
    last: int
    is_grid: bool
    has_arms: bool = True

    def where(self, well, plates):
        """'line 3, column 'value'', or where it should be."""
        place = int(self.lines[well])
        if not place:
            return f"line {self.last}, column 'well'"
        column = str(well % plates.layout.columns + 1) if self.is_grid else "value"
        return f"line {place}, column {column!r}"


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
    BadFile
        Where anything in the file is not as it must be; names file, line and column.

    Notes
    -----
    The file is read once, a line at a time, and no further than the first row that does
    not fit: a file of more rows than the batch has wells ends at the first row too many.
    """
    sheet = _Sheet(plates, arms_of, batch, dialect, plate)
    with opened(path, (sheet.begins_long, sheet.begins_grid), dialect) as rows:
        line, first = next(rows)
        if {cell.casefold() for cell in first} & {dialect.column(one) for one in COLUMNS[1:]}:
            _read_long(sheet, rows, line, first)
        else:
            _read_grids(sheet, rows, line, first)
        return sheet.reading()


class _Sheet:
    """Collects wells; knows which batch they are of as soon as a plate is named."""

    def __init__(self, plates, arms_of, batch, dialect=PLAIN, plate=None):
        self.plates, self.n_wells = plates, plates.layout.n_wells
        self.arms_of, self.batch, self.names = arms_of, batch, None
        self.dialect, self.plate = dialect, plate
        self.starts, self.is_grid, self.has_arms, self.last = {}, False, True, 1

    def begins_long(self, cells):
        """Whether these are the header of a long table."""
        names = {cell.casefold() for cell in cells}
        return {self.dialect.column("well"), self.dialect.column("value")} <= names

    def begins_grid(self, cells):
        """Whether these are the first line of a grid, with the name or the columns' numbers."""
        n = self.plates.layout.columns
        head = [str(column + 1) for column in range(n)]
        is_plate = bool(cells) and cells[0].casefold() == "plate" and any(cells[1:2])
        return is_plate or (n > 1 and cells[-n:] == head and len(cells) <= n + 1)

    def _begin(self, batch, line):
        try:
            self.names = self.arms_of(batch)
        except (ValueError, OverflowError):
            raise BadFile(f"line {line}, column 'plate': no batch {batch} was asked for"
                          ) from None
        self.batch = batch
        self.labels = [label.strip() for label in self.plates.labels(batch, self.names)]
        self.values, self.lines = [np.nan] * len(self.labels), [0] * len(self.labels)

    def start(self, plate, line):
        """The first well of a plate of this name."""
        found = plate_number(plate)
        if found is None:
            raise BadFile(f"line {line}, column 'plate': {short(plate)} is not the name of a plate")
        if self.names is None:
            self._begin(found[0] if self.batch is None else self.batch, line)
        names = self.plates.names(self.batch, len(self.names))
        part = 0 if len(names) == 1 else found[1]
        expected = (self.batch, None if len(names) == 1 else found[1])
        if found != expected or part is None or part >= len(names):
            is_or_are = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
            raise BadFile(f"line {line}, column 'plate': {short(plate)} is not a plate of batch "
                          f"{self.batch}, {is_or_are}; a file holds one batch")
        self.starts[plate] = part * self.n_wells
        return self.starts[plate]

    def only_start(self, line):
        """The first well of the batch's plate, where no plate is named."""
        if self.plate is not None:
            return self.start(self.plate, line)
        if self.batch is not None and self.names is None:
            self._begin(self.batch, line)
        if self.batch is None:
            raise BadFile(f"line {line}, column 'plate': no plate is named; a long table has the "
                          f"columns {', '.join(COLUMNS)}, a grid begins with plate,NAME; "
                          "or give --plate")
        names = self.plates.names(self.batch, len(self.names))
        if len(names) > 1:
            raise BadFile(f"line {line}, column 'plate': no plate is named, and batch "
                          f"{self.batch} has {len(names)}, {names[0]} to {names[-1]}")
        return self.start(names[0], line)

    def reading(self):
        parts = sorted({start // self.n_wells for start in self.starts.values()})
        return Reading(self.batch, self.names, parts, np.array(self.values),
                       np.array(self.lines), self.last, self.is_grid, self.has_arms)


def _read_long(sheet, rows, line, header):
    at = _columns(header, line, sheet)
    layout = sheet.plates.layout
    found, wells = sheet.starts, dict(zip(layout.wells, range(layout.n_wells), strict=True))
    start = None if at[0] is not None else sheet.only_start(line)
    of_plate, of_well, of_arm, of_value = at
    sheet.has_arms, dialect = of_arm is not None, sheet.dialect
    for line, cells in rows:
        if not any(cells):
            continue
        if len(cells) != len(header):
            short_of = header[len(cells)] if len(cells) < len(header) else len(header) + 1
            raise BadFile(f"line {line}, column {short_of!r}: the row has {len(cells)} cells, the "
                          f"header {len(header)}")
        plate = None if of_plate is None else cells[of_plate]
        well, value = cells[of_well], cells[of_value]
        if plate is not None:
            start = found[plate] if plate in found else sheet.start(plate, line)
        position = wells[well] if well in wells else layout.find(well)
        if position is None:
            raise BadFile(f"line {line}, column 'well': {short(well)} is not a well of a {layout} "
                          "plate")
        index = start + position
        if sheet.lines[index]:
            raise BadFile(f"line {line}, column 'well': well {layout.wells[position]} of plate "
                          f"{plate or sheet.batch} is on line {sheet.lines[index]} already")
        if of_arm is not None and cells[of_arm] != sheet.labels[index]:
            _check_arm(sheet, index, cells[of_arm], line)
        sheet.values[index] = number(
            value, lambda line=line: f"line {line}, column {header[of_value]!r}", dialect)
        sheet.lines[index] = sheet.last = line
    if not sheet.starts:
        raise BadFile(f"line {line}, column 'well': there is a header and no wells under it")


def _columns(header, line, sheet):
    """Where plate, well, arm and value are; None where a column may be missing, and is."""
    names, found = [cell.casefold() for cell in header], []
    for role in COLUMNS:
        name, shown = sheet.dialect.column(role), sheet.dialect.columns.get(role, role)
        if names.count(name) > 1:
            raise BadFile(f"line {line}, column {shown!r}: the column is there "
                          f"{names.count(name)} times")
        is_needed = role in ("well", "value") or (
            role == "plate" and sheet.batch is None and sheet.plate is None)
        if name not in names and (is_needed or role in sheet.dialect.columns):
            raise BadFile(f"line {line}, column {shown!r}: the column is missing; the columns are "
                          f"{listed(header)}; --{role}-column says which it is")
        is_there = name in names and not (role == "plate" and sheet.plate is not None)
        found.append(names.index(name) if is_there else None)
    return found


def _check_arm(sheet, index, arm, line):
    """Raises where a well is said to hold another arm than it does."""
    expected = sheet.labels[index]
    plates, position = sheet.plates, index % sheet.n_wells
    is_control = position in plates.controls or position in plates.positives
    if not arm and (is_control or not expected):
        return
    well = sheet.plates.layout.wells[index % sheet.n_wells]
    holds = f"well {well} holds {short(expected)}" if expected else f"well {well} holds no arm"
    unknown = "" if arm in sheet.labels else ", which is no arm of this batch"
    raise BadFile(f"line {line}, column 'arm': {holds}, not {short(arm)}{unknown}")


def _read_grids(sheet, rows, line, first):
    sheet.is_grid = True
    rows, start, block = _chained(line, first, rows), None, []
    for line, cells in rows:
        sheet.last = line
        if cells[0].casefold() == "plate" and sheet.plate is None:
            _put_grid(sheet, start, block, line)
            if len(cells) < 2 or any(cells[2:]):
                raise BadFile(f"line {line}, column 3: a line that names a plate is plate,NAME")
            if cells[1] in sheet.starts:
                raise BadFile(f"line {line}, column 'plate': plate {cells[1]} is there already")
            start, block = sheet.start(cells[1], line), []
            continue
        if start is None:
            start = sheet.only_start(line)
        if sheet.plate is not None and cells[0].casefold() == "plate" and not block:
            continue
        if len(block) <= sheet.plates.layout.rows:
            block.append((line, cells))
        elif any(cells):
            raise BadFile(f"line {line}, column 1: more rows than a {sheet.plates.layout} plate "
                          "has")
    _put_grid(sheet, start, block, sheet.last)


def _chained(line, first, rows):
    yield line, first
    yield from rows


def _is_head(cells, n_columns, is_one_more):
    """Whether a line numbers the columns: values may be 1, 2, 3, ... too."""
    if cells[-n_columns:] != [str(column + 1) for column in range(n_columns)]:
        return False
    return cells[0].upper() != letters(0) if len(cells) > n_columns else is_one_more


def _put_grid(sheet, start, block, last):
    if start is None:
        return
    n_rows, n_columns = layout = sheet.plates.layout
    has_head = bool(block) and _is_head(block[0][1], n_columns, len(block) > n_rows)
    while len(block) > n_rows + has_head and not any(block[-1][1]):
        block.pop()
    body = block[has_head:]
    if len(body) != n_rows:
        at = body[n_rows][0] if len(body) > n_rows else last
        raise BadFile(f"line {at}, column 1: a grid of {len(body)} rows, but a {layout} plate "
                      f"has {n_rows}")
    has_names = len(body[0][1]) == n_columns + 1
    width = n_columns + has_names
    for row, (line, cells) in enumerate(block[:has_head] + body, -has_head):
        if len(cells) != width:
            raise BadFile(f"line {line}, column {min(len(cells), width) + 1}: the row has "
                          f"{len(cells)} cells; a row of a {layout} plate has {n_columns}, or one "
                          "more with its letter")
        if has_names and row >= 0 and cells[0].upper() != letters(row):
            raise BadFile(f"line {line}, column 1: row {letters(row)} is here; got "
                          f"{short(cells[0])}")
        for column, cell in enumerate(cells[has_names:] if row >= 0 else ()):
            index = start + row * n_columns + column
            sheet.lines[index] = line
            if sheet.labels[index]:
                sheet.values[index] = number(
                    cell, lambda line=line, column=column: f"line {line}, column '{column + 1}'",
                    sheet.dialect)
