"""Detect rows that begin a grid of a plate: column numbers, the letter A, or bare values."""

import re
from dataclasses import replace

from pybandit._shared.errors import UnreadableFileError
from pybandit.lab._row_names import is_row
from pybandit.lab.plates import plate_number
from pybandit.tables._markers import MARKERS
from pybandit.tables._sheet import number

FAR = 4  # maximum number of cells before the first value: a row's letter, a temperature
NAME = re.compile(r"[A-Za-z]{1,2}")  # name of a row


class Shape:
    """Detects rows that begin a grid of a layout."""

    def __init__(self, layout, dialect):
        self.layout, self.n = layout, layout.columns
        self.dialect = replace(dialect, markers=MARKERS, limits=True)

    def begins(self, cells):
        """Return True for a line that names a plate, numbers its columns, or is its row A."""
        return is_plate(cells) or self.n > 1 and (
            self.head_at(cells) is not None or self.is_row_a(cells) and self.has_values(cells[1:]))

    def is_bare(self, cells):
        """Return True for a row that consists of one value per column of the plate."""
        return self.n > 1 and not any(cells[self.n:]) and self.has_values(cells)

    def head_at(self, cells):
        """Return the cell at which the column numbers 1, 2, ... begin; None if there are none."""
        for at in range(min(len(cells) - self.n, FAR) + 1):
            if all(map(_is_column, cells[at:at + self.n], range(1, self.n + 1))):
                is_longer = len(cells) > at + self.n and _is_column(cells[at + self.n], self.n + 1)
                is_value = at and (is_row(cells[at - 1], 0) or _is_number(cells[at - 1]))
                return None if is_longer or is_value else at
        return None

    def is_row_a(self, cells):
        """Return True for a row that begins with the letter A and has enough cells."""
        return len(cells) > self.n and is_row(cells[0], 0)

    def has_values(self, cells):
        """Return True if there are enough cells, at least one is a number, and none is text."""
        values = [self.value(cell) for cell in cells[:self.n]]
        return (len(values) == self.n and None not in values
                and any(value == value for value in values))

    def is_all_values(self, cells):
        """Return True if there is one cell per column of the plate, and none is text."""
        return len(cells) == self.n and None not in map(self.value, cells)

    def value(self, cell):
        """Return the value of a cell, NaN if it is empty or a marker, None if it is text."""
        try:
            return number(cell, str, self.dialect)
        except UnreadableFileError:
            return None


def _is_number(cell):
    return bool(cell) and not cell.strip("+-0123456789.,")


def _is_column(cell, column):
    return cell.lstrip("0") == str(column) or cell == f"{column}.0"


def is_plate(cells):
    """Return True for a line ``plate,NAME``.

    More cells may follow only if NAME is a plate name of a study, such as 7 or 7p2.
    """
    return cell_of(cells, 0).casefold() == "plate" and any(cells[1:2]) and not (
        any(cells[2:]) and plate_number(cells[1]) is None)


def cell_of(cells, at):
    """Return a cell, or "" beyond the end of its row."""
    return cells[at] if at < len(cells) else ""
