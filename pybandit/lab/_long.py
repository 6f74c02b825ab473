"""Read a long table, which has one row per well."""

import re

from pybandit._shared.errors import UnreadableFileError
from pybandit.lab._row_names import ALPHABET, RowNames, row_number, well_parts
from pybandit.tables._sheet import listed, short
from pybandit.tables._text import Fault

COLUMNS = "plate", "well", "arm", "value"
# Columns that name plates in the files of readers: Barcode, Plate ID, assay_plate, ...
OF_PLATES = re.compile(r"(assay)?(plate|platte|barcode)(barcode|id|name|number|no|nr)?")


def read_long(sheet, rows, line, header):
    """Read the rows under a header into a sheet; raise UnreadableFileError if one is invalid."""
    header = _without_end(header, 0)
    table = _Table(sheet, line, header)
    for line, cells in rows:
        if not any(cells):
            continue
        cells = _without_end(cells, len(header))
        if not table.is_plain(cells) and table.is_footer(line, cells):
            continue
        if len(cells) != len(header):
            short_of = header[len(cells)] if len(cells) < len(header) else len(header) + 1
            raise UnreadableFileError(f"line {line}, column {short_of!r}: the row has {len(cells)} "
                                      f"cells, the header {len(header)}")
        table.take(line, cells)
    table.settle()
    if not sheet.starts:
        raise UnreadableFileError(f"line {line}, column 'well': there is a header but no wells "
                                  "below it")


def _without_end(cells, n):
    """Return a row without the empty cells at its end that come after the first `n`."""
    last = len(cells)
    while last > n and not list.__getitem__(cells, last - 1):
        last -= 1
    return cells if last == len(cells) else type(cells)(cells[:last])


class _Table:
    """Wells of a long table; lower-case row names are resolved once all wells are read."""

    def __init__(self, sheet, line, header):
        self.sheet, self.header, self.layout = sheet, header, sheet.plates.layout
        self.of_plate, self.of_well, self.of_arm, self.of_value = at = _columns(header, line, sheet)
        self.start = None if at[0] is not None else sheet.only_start(line)
        self.one_plate = [] if at[0] is not None else _plate_columns(header, sheet)
        sheet.has_arms = self.of_arm is not None
        self.known = dict(zip(self.layout.wells, range(self.layout.n_wells), strict=True))
        self.rows = RowNames(self.layout.rows) if self.layout.rows > ALPHABET else None
        self.waiting, self.plates, self.footer = {}, {}, None

    def is_plain(self, cells):
        """Return True for a whole row with a well's usual name."""
        return (self.footer is None and len(cells) == len(self.header)
                and list.__getitem__(cells, self.of_well) in self.known)

    def is_footer(self, line, cells):
        """Return True for a line without a well below the table; raise if more wells follow."""
        has_well = any(well_parts(cell) for cell in cells)
        is_short = len(cells) < len(self.header) or not any(
            (list.__getitem__(cells, self.of_well), list.__getitem__(cells, self.of_value)))
        if has_well or not is_short:
            if self.footer is not None:
                raise UnreadableFileError(self.footer)
            return False
        if self.footer is None:
            self.footer = (f"line {line}, column {self.header[min(len(cells), self.of_well)]!r}: "
                           f"the row has {len(cells)} cells and no well, but wells follow; the "
                           f"header has {len(self.header)} cells")
        return True

    def take(self, line, cells):
        sheet, well, plate = self.sheet, cells[self.of_well], None
        if self.of_plate is not None:
            plate = cells[self.of_plate]
            found = sheet.starts
            self.start = found[plate] if plate in found else sheet.start(plate, line)
        for at in self.one_plate:
            self._check_plate(line, at, list.__getitem__(cells, at))
        row = (line, plate, self.start, cells)
        if self.rows is not None:
            parts = well_parts(well)
            if parts is not None and self.rows.is_open(parts[0]):
                return self._wait(row, well, parts)
        position = self.known.get(well)
        if position is None:
            parts = well_parts(well)
            position = parts and self.layout._at(row_number(parts[0]), parts[1] - 1)
        if position is None:
            raise UnreadableFileError(f"line {line}, column 'well': {short(well)} is not a well of "
                                      f"a {self.layout} plate")
        self._put(row, position)

    def _put(self, row, position):
        line, plate, start, cells = row
        sheet, index = self.sheet, start + position
        if sheet.lines[index]:
            raise UnreadableFileError(f"line {line}, column 'well': well "
                                      f"{self.layout.wells[position]} of "
                                      f"plate {plate or sheet.batch} is on line "
                                      f"{sheet.lines[index]} already")
        if self.of_arm is not None and cells[self.of_arm] != sheet.labels[index]:
            _check_arm(sheet, index, cells[self.of_arm], line)
        sheet.put(index, cells[self.of_value],
                  lambda: f"line {line}, column {self.header[self.of_value]!r}", line)

    def _wait(self, row, well, parts):
        """Keep a row whose well name is ambiguous until all rows are known."""
        key = row[2], parts
        if key in self.waiting:
            raise UnreadableFileError(f"line {row[0]}, column 'well': well {well} of plate "
                                      f"{row[1] or self.sheet.batch} is on line "
                                      f"{self.waiting[key][0]} already")
        self.waiting[key] = row

    def settle(self):
        """Assign the waiting rows to wells."""
        if not self.waiting:
            return
        (_, first), row = next(iter(self.waiting.items()))
        offset = self.rows.offset(self._fits, f"line {row[0]}, column 'well': {first[0]}"
                                              f"{first[1]} of a {self.layout} plate")
        for (_, parts), row in self.waiting.items():
            position = self.layout._at(row_number(parts[0]) + offset, parts[1] - 1)
            if position is None:
                raise UnreadableFileError(f"line {row[0]}, column 'well': {parts[0]}{parts[1]} is "
                                          f"not a well of a {self.layout} plate")
            self._put(row, position)

    def _fits(self, offset):
        """Return True if the waiting rows would get free wells with the arms that they name."""
        for (start, parts), (_, _, _, cells) in self.waiting.items():
            position = self.layout._at(row_number(parts[0]) + offset, parts[1] - 1)
            if position is None or self.sheet.lines[start + position]:
                return False
            if self.of_arm is not None and not _holds(self.sheet, start + position,
                                                      cells[self.of_arm]):
                return False
        return True

    def _check_plate(self, line, at, plate):
        """Raise if a file that should hold one plate names two."""
        first = self.plates.setdefault(at, plate) if plate else plate
        if plate != first:
            sheet = self.sheet
            told = f"--plate {sheet.plate}" if sheet.plate is not None else f"--batch {sheet.batch}"
            raise UnreadableFileError(f"line {line}, column {self.header[at]!r}: {told} takes a "
                                      f"file of one plate; got {short(first)} and {short(plate)}")


def _columns(header, line, sheet):
    """Return the columns of plate, well, arm and value; None for an optional missing one."""
    names, found = [cell.casefold() for cell in header], []
    for role in COLUMNS:
        name, shown = sheet.dialect.column(role), sheet.dialect.columns.get(role, role)
        if names.count(name) > 1:
            raise UnreadableFileError(f"line {line}, column {shown!r}: the column occurs "
                                      f"{names.count(name)} times")
        is_needed = role in ("well", "value") or (
            role == "plate" and sheet.batch is None and sheet.plate is None)
        if name not in names and (is_needed or role in sheet.dialect.columns):
            _check_text(header)
            raise UnreadableFileError(f"line {line}, column {shown!r}: the column is missing; the "
                                      "columns are "
                                      f"{listed(header)}; name it with --{role}-column")
        is_there = name in names and not (role == "plate" and sheet.plate is not None)
        found.append(names.index(name) if is_there else None)
    return found


def _check_text(header):
    """Raise the error of a column whose name could not be decoded."""
    for cell in header:
        if isinstance(cell, Fault) and not cell.isascii():
            raise UnreadableFileError(cell.why)


def _plate_columns(header, sheet):
    """Return the columns that name plates in a file that should hold one plate."""
    names = [cell.casefold() for cell in header]
    return [at for at, name in enumerate(names) if name == sheet.dialect.column("plate")
            or OF_PLATES.fullmatch(re.sub(r"[\W_]+", "", name))]


def _holds(sheet, index, arm):
    """Return True if the file may name this arm for a well."""
    expected, position = sheet.labels[index], index % sheet.n_wells
    is_control = position in sheet.plates.controls or position in sheet.plates.positives
    return arm == expected or (not arm and (is_control or not expected))


def _check_arm(sheet, index, arm, line):
    """Raise if the file names another arm than the one in a well."""
    if _holds(sheet, index, arm):
        return
    expected = sheet.labels[index]
    well = sheet.plates.layout.wells[index % sheet.n_wells]
    holds = f"well {well} holds {short(expected)}" if expected else f"well {well} holds no arm"
    unknown = "" if arm in sheet.labels else ", which is not an arm of this batch"
    raise UnreadableFileError(f"line {line}, column 'arm': {holds}, not {short(arm)}{unknown}")
