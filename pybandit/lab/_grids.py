"""Find grids of a plate in the rows of a file, among titles, labels and footers.

A grid is a line of the columns' numbers and then a line per row of the plate: its letter, its
values, and perhaps a label. Numbers or letters may be missing. A plate has several grids if it was
measured several times, at two wavelengths for example; then each has a name, the label of its rows
or the line above it.
"""

import re
from typing import NamedTuple

from pybandit._shared.errors import UnreadableFileError
from pybandit.lab._row_names import is_row, letters
from pybandit.lab._shape import NAME, Shape, cell_of, is_plate
from pybandit.tables._sheet import short

MOST_GRIDS, MOST_CELLS = 1000, 1 << 20  # per file, over all of its grids
LONGEST_TITLE = 50
FRACTION = re.compile(r"[+-]?\d*[.,]\d+(e[+-]?\d+)?", re.IGNORECASE)


class Grid(NamedTuple):
    """Values of one plate, measured once.

    Attributes
    ----------
    start : int
        First well of the plate.
    title, label : str
        Line above the grid, and label of its rows; "" if there is none.
    rows : list of (int, list of str)
        Line and cells of each row of the plate.
    """

    start: int
    title: str
    label: str
    rows: list


class Finder:
    """Finds the grids in the rows of a file.

    Parameters
    ----------
    sheet : object
        Returns the first well of a plate, by `start` and `only_start`.
    rows : iterator of (int, list of str)
    above : list of str
        Lines before the first row.
    """

    def __init__(self, sheet, rows, above):
        self.sheet, self.rows, self.shape = sheet, rows, Shape(sheet.plates.layout, sheet.dialect)
        self.layout, self.last, self.n_cells = sheet.plates.layout, 1, 0
        self.title = next((_title(line.split()) for line in reversed(above) if line.strip()), "")
        self.start, self.must_begin, self.names, self.grids = None, False, [], []
        self.row = None
        self._next()

    def _next(self):
        """Go to the next row; return the one before it."""
        row, self.row = self.row, next(self.rows, None)
        if self.row is not None:
            # a plain list does not check its cells, which become values only later
            self.row = self.row[0], list(self.row[1])
        self.last = self.row[0] if self.row else self.last
        return row

    def found(self):
        """Return the grids, at least one."""
        is_first = True
        while self.row is not None:
            line, cells = self.row
            if is_plate(cells):
                self._name(line, cells)
            elif self._begins(cells, is_first):
                self._take()
            elif any(cells):
                if self.must_begin:
                    self._refuse_short(0, line)
                self.title = _title(self._next()[1])
            else:
                self._next()
            is_first = False
        if self.must_begin:
            self._refuse_short(0, self.last)
        if not self.grids:
            raise UnreadableFileError(f"line {self.last}, column 1: there is no grid of a "
                                      f"{self.layout} plate: "
                                      f"the numbers 1 to {self.layout.columns} of its columns, and "
                                      f"{self.layout.rows} rows under them; a long table must have "
                                      "the columns "
                                      "well and value, or --well-column and --value-column name "
                                      "them")
        return self.grids

    def _name(self, line, cells):
        """Read the line that names the plate of the grids below it."""
        sheet = self.sheet
        if any(cells[2:]):
            raise UnreadableFileError(f"line {line}, column 3: a line that names a plate must "
                                      "be plate,NAME")
        if sheet.plate is not None:
            if self.names and cells[1] != self.names[0]:
                raise UnreadableFileError(f"line {line}, column 2: --plate {sheet.plate} takes a "
                                          "file of one "
                                          f"plate; got {short(self.names[0])} and "
                                          f"{short(cells[1])}")
        else:
            if self.must_begin:
                self._refuse_short(0, line)
            if cells[1] in sheet.starts:
                raise UnreadableFileError(f"line {line}, column 'plate': plate {cells[1]} occurs "
                                          "twice")
            self.start, self.must_begin = sheet.start(cells[1], line), True
        self.names.append(cells[1])
        self.title = ""
        self._next()

    def _begins(self, cells, is_first):
        shape = self.shape
        if shape.begins(cells):
            return True
        if is_first or self.must_begin:  # must be a row, whatever it contains
            return len(cells) in (shape.n, shape.n + 1) or self.must_begin
        return not self.grids and shape.is_bare(cells)

    def _take(self):
        """Read the grids of a block of rows: several if its rows have several labels."""
        if self.start is None:
            self.start = self.sheet.only_start(self.row[0])
        at = self.shape.head_at(self.row[1])
        head = None if at is None else self._next()
        if at and not (self.must_begin or self._is_row_at(at)):
            self.title = _title(head[1])  # numbers, but not a grid
            return
        title, self.title, self.must_begin = self.title or _corner(head, at), "", False
        column = max(at - 1, 0) if at is not None else 0
        if self.row and is_row(cell_of(self.row[1], column), 0) and (
                at or not self._is_unlettered()):
            reads = self._lettered(column, head is not None)
        else:
            reads = [("", self._unlettered(at, head))]
        self.n_cells += sum(len(rows) for _, rows in reads) * self.layout.columns
        if self.n_cells > MOST_CELLS or len(self.grids) >= MOST_GRIDS:
            raise UnreadableFileError(f"line {self.last}, column 1: a file must have at most "
                                      f"{MOST_GRIDS:,} grids, of {MOST_CELLS:,} cells together")
        self.grids += [Grid(self.start, title, label, rows) for label, rows in reads]

    def _is_row_at(self, at):
        """Return True if the next row may be one of a grid whose values begin at a cell."""
        return self.row is not None and (bool(NAME.fullmatch(cell_of(self.row[1], at - 1)))
                                         or self.shape.has_values(self.row[1][at:]))

    def _is_unlettered(self):
        """Return True if the row has values only: a letter would be one cell more."""
        return len(self.row[1]) == self.shape.n

    def _lettered(self, column, has_head):
        """Return (label, rows) of each measurement of a block whose rows begin with letters."""
        reads = {}
        for row in range(self.layout.rows):
            while self.row and not any(self.row[1]):
                self._next()
            if self.row is None or is_plate(self.row[1]) or (
                    self.shape.head_at(self.row[1]) is not None):
                self._refuse_short(row, self.last)
            line, cells = self.row
            if not is_row(cell_of(cells, column), row):
                raise UnreadableFileError(f"line {line}, column {column + 1}: the row must be "
                                          f"named {letters(row)}; got "
                                          f"{short(cell_of(cells, column))}")
            for place in range(self.layout.n_wells):
                label, values = self._row_of(column + 1, has_head)
                reads.setdefault(place, []).append((label, values))
                if not self._is_more(column):
                    break
        self._check_end(column, True)
        return self._by_label(reads)

    def _is_more(self, column):
        """Return True if the next line is another measurement of the same row of the plate."""
        end = column + 1 + self.layout.columns
        return (self.row is not None and not cell_of(self.row[1], column)
                and bool(cell_of(self.row[1], end)))

    def _row_of(self, start, has_head):
        """Read a row whose values begin at cell `start`; return its label and (line, values)."""
        line, cells = self._next()
        n, end = self.layout.columns, start + self.layout.columns
        labels = [cell for cell in cells[end:] if cell]
        is_label = len(labels) <= 1 and not any(FRACTION.fullmatch(cell) or (
            not has_head and self.shape.value(cell) is not None) for cell in labels)
        if len(cells) < end or not is_label:
            raise UnreadableFileError(f"line {line}, column {min(len(cells), end) + 1}: the row "
                                      "has "
                                      f"{len(cells)} cells; a row of a {self.layout} plate has "
                                      f"{n}, or one more with its letter")
        return "".join(labels), (line, cells[start:end])

    def _by_label(self, reads):
        """Return (label, rows) of each measurement; labels that are numbers must agree."""
        found = []
        for rows in reads.values():
            if len(rows) < self.layout.rows:
                self._refuse_short(len(rows), self.last)
            labels = list(dict.fromkeys(label for label, _ in rows))
            if len(labels) > 1 and (len(reads) > 1 or any(
                    self.shape.value(label) is not None for label in labels if label)):
                at = next(row for row, (label, _) in enumerate(rows) if label != labels[0])
                raise UnreadableFileError(f"line {rows[at][1][0]}, column 1: rows of a grid must "
                                          "end in the "
                                          f"same label; got {short(labels[0])} and "
                                          f"{short(rows[at][0])}")
            found.append((labels[0] if len(labels) == 1 else "", [row for _, row in rows]))
        return found

    def _unlettered(self, at, head):
        """Return the rows of a block without letters; `head` may be None."""
        start, n_rows, rows = at or 0, self.layout.rows, []
        if at == 0 and head is not None:
            rows.append(head)  # numbers of columns, or values 1, 2, 3, ...
        while self.row is not None and not is_plate(self.row[1]):
            line, cells = self.row
            if start and len(rows) >= n_rows and self.shape.head_at(cells) is not None:
                break
            if len(rows) >= n_rows and not (self.shape.has_values(cells[start:]) or (
                    at == 0 and self.shape.is_all_values(cells))):
                break
            if len(rows) == n_rows + 1:
                break
            if start and NAME.fullmatch(cells[start - 1]):
                raise UnreadableFileError(f"line {line}, column {start}: the row must be named "
                                          f"{letters(len(rows))}; got {short(cells[start - 1])}")
            rows.append(self._next())
        if at == 0 and len(rows) > n_rows:
            rows = rows[1:]
        if len(rows) != n_rows:
            self._refuse_short(len(rows), rows[n_rows][0] if len(rows) > n_rows else self.last)
        end = start + self.layout.columns
        for line, cells in rows:
            if len(cells) < end or any(cells[end:]):
                raise UnreadableFileError(f"line {line}, column {min(len(cells), end) + 1}: the "
                                          "row has "
                                          f"{len(cells)} cells; a row of a {self.layout} plate has "
                                          f"{self.layout.columns}, or one more with its letter")
        self._check_end(start, False)
        return [(line, cells[start:end]) for line, cells in rows]

    def _check_end(self, column, is_lettered):
        """Raise if a grid continues below its last row: the file is of a larger plate."""
        while self.row is not None and not any(self.row[1]):
            self._next()
        if self.row is None:
            return
        line, cells = self.row
        if column and self.shape.head_at(cells) is not None:
            return
        goes_on = (is_row(cell_of(cells, column), self.layout.rows) and any(cells[column + 1:])
                   if is_lettered else self.shape.has_values(cells[column:]))
        if goes_on:
            raise UnreadableFileError(f"line {line}, column 1: the grid has more rows than a "
                                      f"{self.layout} plate")

    def _refuse_short(self, n, line):
        raise UnreadableFileError(f"line {line}, column 1: the grid has {n} rows, but a "
                                  f"{self.layout} plate has {self.layout.rows}")


def _title(cells):
    """Return the text of a line above a grid, shortened to a length that can be typed."""
    return " ".join(filter(None, cells))[:LONGEST_TITLE].strip()


def _corner(head, at):
    """Return the words in the corner of a grid."""
    cell = head[1][at - 1] if head and at else ""
    return "" if cell in ("<>", "#") else cell


def read_grids(sheet, rows, above):
    """Read the grids of a file into a sheet; UnreadableFileError if anything does not fit."""
    sheet.is_grid = True
    finder = Finder(sheet, rows, above)
    if finder.row is not None and not is_plate(finder.row[1]):
        finder.start = sheet.only_start(finder.row[0])
    by_plate = {}
    for grid in finder.found():
        by_plate.setdefault(grid.start, []).append(grid)
    sheet.last = finder.last
    for grids in by_plate.values():
        _put(sheet, _chosen(sheet, grids, finder.shape))


def _chosen(sheet, grids, shape):
    """Return the grid to read: the only one with values, or the one named by the dialect."""
    wanted, layout = sheet.dialect.measurement, sheet.plates.layout
    used = [bool(label) for label in sheet.labels[grids[0].start:][:layout.n_wells]]
    if len(grids) > 1:  # a grid of names is not a measurement
        grids = [grid for grid in grids if not _is_text(grid, used, shape)] or grids
    names = _names_of(grids)
    if wanted is None and len(grids) == 1:
        return grids[0]
    if wanted is not None:
        same = [at for at, name in enumerate(names) if name.casefold() == wanted.casefold()]
        if len(same) == 1:
            sheet.measurement = names[same[0]]
            return grids[same[0]]
    told = "" if wanted is None else f"there is no measurement {short(wanted)}; "
    raise UnreadableFileError(f"line {grids[-1].rows[0][0]}, column 1: {told}the file has "
                              f"{len(grids)} "
                              f"measurement{'s' * (len(grids) != 1)} of a plate; choose one with "
                              "--measurement: "
                              f"{', '.join(map(short, names[:20]))}{', ...' * (len(names) > 20)}")


def _names_of(grids):
    """Return a name for each grid of a plate: its label, its title, both, or with a number."""
    labels = [grid.label or grid.title for grid in grids]
    if len(set(labels)) < len(labels):
        labels = [" ".join(filter(None, dict.fromkeys((grid.title, grid.label))))
                  for grid in grids]
    names = []
    for at, label in enumerate(labels, 1):
        name, more = label or f"grid {at}", 1
        while name in names:
            more += 1
            name = f"{label} ({more})"
        names.append(name)
    return names


def _is_text(grid, used, shape):
    """Return True for a grid of names, such as a layout, in the wells that are used."""
    cells = [cell for _, cells in grid.rows for cell in cells]
    values = [shape.value(cell) for cell, is_used in zip(cells, used, strict=True) if is_used]
    return None in values and all(value is None or value != value for value in values)


def _put(sheet, grid):
    n = sheet.plates.layout.columns
    for row, (line, cells) in enumerate(grid.rows):
        for column, cell in enumerate(cells):
            sheet.put(grid.start + row * n + column, cell,
                      lambda line=line, column=column: f"line {line}, column '{column + 1}'", line)
