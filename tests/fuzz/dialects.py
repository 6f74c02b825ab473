"""Plate files in the formats of common spreadsheets and readers are read back exactly.

The bytes choose the values and the format: long table or grids, delimiter, decimal and thousands
signs, quotes, line ends, titles, byte order mark and column names. Other encodings are rejected.
"""

import csv
import io

import numpy as np

from fuzz.files import BATCHES, PLATES, arms_of, refused, written
from fuzz.source import Choices
from pybandit._shared.cells import DELIMITERS
from pybandit.errors import UnreadableFileError
from pybandit.lab._read import COLUMNS, read_plates
from pybandit.lab.plates import letters
from pybandit.tables._sheet import Dialect

NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, 12.0, 999.0, 1000.0, 1234.5, -1234567.25, 1e-5, 1e16, 1e300,
           123456789.0, 0.1, np.nan]
LOST = ["", "NA", "nan", "#N/A", "None"]
TITLES = ["Plate reader 3000", "Measured at 12:30, by Ann", "a;b;c;d", "", '"quoted, once"', "1",
          "\t\t"]
ENCODINGS = ["utf-8", "utf-8-sig", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252"]


def dialect_of(bits):
    """Return a valid dialect."""
    decimal = bits.of([".", ","])
    thousands = bits.of([one for one in ("", "", ",", ".", "'", "’", " ", "_") if one != decimal])
    columns = bits.of([{}, {}, {"value": "Result", "well": "Pos"}, {"arm": "Größe"},
                       {"plate": "Barcode", "value": "OD 600"}])
    return Dialect(decimal, thousands, columns).checked()


def cell_of(bits, value, dialect):
    """Return the text of a number or of a missing value in the dialect."""
    if np.isnan(value):
        return bits.of(LOST)
    if dialect.thousands and bits.below(4) and abs(value) < 1e15:
        text = f"{value:,.6f}".rstrip("0").rstrip(".") if bits.below(2) else f"{value:,.6f}"
    else:
        text = bits.of([repr(float(value)), f"{value:.17g}", f"{value:.16e}"])
    blank = bits.of([" ", "\u00a0", "\u202f"]) if dialect.thousands == " " else dialect.thousands
    text = text.translate({ord("."): dialect.decimal, ord(","): blank})
    return bits.of(["", " ", "+" if text[0] != "-" else ""]) + text


class Table:
    """Rows of a file of one batch, and the values expected from reading them."""

    def __init__(self, bits):
        self.bits, self.dialect = bits, dialect_of(bits)
        self.plates, self.batch = bits.of(PLATES), bits.of([0, 7])
        self.arms = BATCHES[self.batch]
        self.names = self.plates.names(self.batch, len(self.arms))
        self.labels = self.plates.labels(self.batch, self.arms)
        self.values = np.full(len(self.labels), np.nan)
        self.is_named = len(self.names) > 1 or bits.below(2)
        self.lines = np.zeros(len(self.labels), dtype=bool)

    def value(self, well):
        """Choose the value of a well and return its text."""
        chosen = self.bits.of(NUMBERS)
        self.values[well], self.lines[well] = chosen, True
        return cell_of(self.bits, chosen, self.dialect)

    def long(self):
        """Yield the rows of a long table: a header, then wells, in random order, as are columns."""
        bits, n = self.bits, self.plates.layout.n_wells
        roles = [role for role in COLUMNS if role != "plate" or self.is_named]
        if "arm" not in self.dialect.columns and bits.below(2):
            roles.remove("arm")
        if "plate" in self.dialect.columns and not self.is_named:
            roles.append("plate")
        shuffled = np.random.default_rng(bits.below(256))
        roles = [*shuffled.permutation(roles), *["comment"][:bits.below(2)]]
        names = [self.dialect.columns.get(role, role) for role in roles]
        yield [name if bits.below(3) else name.upper() for name in names]
        wells = shuffled.permutation(len(self.labels))[:1 + bits.below(len(self.labels))]
        for well in wells.tolist():
            row = dict(plate=self.names[well // n], arm=self.labels[well], comment="",
                       well=self.well(well % n), value=self.value(well))
            yield [row[role] for role in roles]
            if bits.below(16) == 0:
                yield [""] * len(roles)

    def well(self, position):
        """Return the name of a well in one of the usual forms."""
        name = self.plates.layout.wells[position]
        return self.bits.of([name, name.lower(), f" {name}", f"{name[0]}0{name[1:]}"])

    def grids(self):
        """Yield each plate below its name, with or without column numbers and row letters."""
        bits, layout = self.bits, self.plates.layout
        has_letters, has_head = bits.below(2), bits.below(2)
        for part, name in enumerate(self.names):
            if self.is_named:
                yield ["plate" if bits.below(2) else "Plate", name, *[""] * bits.below(3)]
            if has_head or not self.is_named:
                yield [""] * has_letters + [str(1 + i) for i in range(layout.columns)]
            for row in range(layout.rows):
                start = part * layout.n_wells + row * layout.columns
                yield [letters(row)] * has_letters + [
                    self.value(well) if self.labels[well] else ""
                    for well in range(start, start + layout.columns)]


def text_of(bits, rows, delimiter):
    """Return rows below a title as text, in the style of some program."""
    out = io.StringIO()
    for _ in range(bits.below(3)):
        out.write(bits.of(TITLES) + "\n")
    quoting = bits.of([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
    csv.writer(out, delimiter=delimiter, quoting=quoting,
               lineterminator=bits.of(["\n", "\r\n"])).writerows(rows)
    return out.getvalue()


def dialects(content):
    """Write a file and read it back: values are equal, or an ambiguous file is rejected."""
    bits = Choices(content)
    table, is_grid = Table(bits), bits.below(2)
    delimiter = bits.of(DELIMITERS)
    text = text_of(bits, list(table.grids() if is_grid else table.long()), delimiter)
    encoding = bits.of(ENCODINGS)
    path = written("plate.csv", text.encode(encoding, "replace"))
    is_passed = not table.is_named or bits.below(2)
    try:
        reading = read_plates(path, table.plates, arms_of, table.batch if is_passed else None,
                              table.dialect)
    except UnreadableFileError as error:
        assert path in str(error)
        refused(error)
        assert not text.isascii() or encoding.startswith("utf-16") or is_odd(table, is_grid), error
        return
    assert reading.batch == table.batch and reading.is_grid == bool(is_grid)
    known = ~np.isnan(table.values)
    assert (reading.lines > 0)[table.lines].all()
    assert np.array_equal(reading.values, table.values, equal_nan=True), (
        text, reading.values[known], table.values[known])


def is_odd(table, is_grid):
    """Return True for a grid with one column and no name, which is only a column of numbers."""
    return is_grid and table.plates.layout.columns == 1 and not table.is_named
