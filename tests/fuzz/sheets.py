"""Tables are read correctly, or rejected with file, line and column.

Counts of web tests, values and locations of arms, and plates as workbooks, in any dialect; also
picklists and fills, which are determined by the arms of a plate.
"""

import csv
import functools
import io
import zipfile

import numpy as np

from fuzz.files import BATCHES, PLATES, arms_of, damaged, folder, refused, written
from fuzz.source import Choices
from pybandit._shared.cells import guarded, unguarded
from pybandit.errors import UnreadableFileError
from pybandit.lab._fill import ORDERS, filled
from pybandit.lab._picklists import (
    HEADERS,
    deck_of,
    picklist,
    read_picklist,
    read_stock,
    transfers_of,
)
from pybandit.lab._read import read_plates
from pybandit.lab._values import read_values
from pybandit.lab._write import csv_of, joined, plate_texts
from pybandit.lab.plates import Layout, Plates
from pybandit.tables._sheet import Dialect
from pybandit.tables._xlsx import workbook_of
from pybandit.webtests._count_file import read_counts

NAMES = ["tea", "=1+1", "-x", "@y", "+z", "\tt", "'", '"', ",", ";", "1", "1.5", "1e3", "ä", " b",
         "a" * 40, "a\rb", "nan", "A1", "\x00"]


def dialect_of(bits):
    """Return a valid dialect."""
    made = Dialect(bits.of([".", ","]), bits.of(["", "", ",", ".", "'", " ", "_"]),
                   bits.of([{}, {"arm": "Name"}, {"value": "result", "well": "pos"}]),
                   bits.of([None, None, "plate", "no"]))
    try:
        return made.checked()
    except ValueError as error:
        refused(error)
        return Dialect()


def counts(content):
    """Read a file of counts; the first byte decides whether a key is passed."""
    bits = Choices(content)
    key = bits.of([None, "Monday"])
    path = written("counts.csv", bits.rest())
    try:
        batches = read_counts(path, key)
    except UnreadableFileError as error:
        assert path in str(error)
        return refused(error)
    assert batches and all(batches.values()) and all(batches)
    assert not np.isnan([pair for batch in batches.values() for pair in batch.values()]).any()


def values(content):
    """Read a file with one value per arm, as for prior scores or a pilot."""
    path = written("values.csv", content)
    try:
        arms, read = read_values(path)
    except UnreadableFileError as error:
        assert path in str(error)
        return refused(error)
    assert len(arms) == len(read) and not np.isnan(read).any()


def stocks(content):
    """Read the locations of arms."""
    bits = Choices(content)
    dialect, path = dialect_of(bits), written("stock.csv", bits.rest())
    try:
        stock = read_stock(path, dialect)
    except UnreadableFileError as error:
        assert path in str(error)
        return refused(error)
    assert stock and all(stock) and all(stock.values())


@functools.cache
def book(number):
    """Return the bytes of a workbook with the plates of a batch."""
    plates, batch = PLATES[number % len(PLATES)], 7 * (number > 3)
    texts = plate_texts(plates, batch, BATCHES[batch], "long")
    rows = list(csv.reader(io.StringIO(joined(texts, "long"))))
    return workbook_of([rows[0], *([*row[:-1], str(i % 7)] for i, row in enumerate(rows[1:]))])


def sheets(content):
    """Read a workbook with changed bytes, or with a changed part, packed again."""
    bits = Choices(content)
    which, dialect = bits.below(8), dialect_of(bits)
    whole = book(which)
    made = damaged(bits, whole) if bits.below(3) == 0 else repacked(bits, whole)
    path = folder() / "plate.xlsx"
    path.write_bytes(made)
    try:
        reading = read_plates(str(path), PLATES[which % len(PLATES)], arms_of,
                              bits.of([None, 0, 7]), dialect)
    except UnreadableFileError as error:
        assert str(path) in str(error)
        return refused(error)
    assert reading.batch in BATCHES and not np.isinf(reading.values).any()


def repacked(bits, whole):
    """Return the archive with one of its parts changed or missing."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(made, "w") as new:
        parts = old.namelist()
        chosen = bits.of([part for part in parts if "sheet" in part or bits.below(6) == 0])
        for part in parts:
            body = old.read(part)
            if part == chosen:
                if bits.below(8) == 0:
                    continue
                body = damaged(bits, body)
            new.writestr(part, body)
    return made.getvalue()


def picklists(content):
    """Check that a picklist puts every arm in its well, and that a fill is a permutation."""
    bits = Choices(content)
    layout = bits.of([Layout(2, 3), Layout(8, 12)])
    controls = [(), (0, 5)][bits.below(2)]
    plates = Plates(layout, controls, fill=bits.of(ORDERS), fill_seed=bits.below(1000))
    names = [bits.of(NAMES[:12]) for _ in range(bits.below(20) + 1)]
    stock = {name: [(f"stock{bits.below(3)}", f"A{1 + i}")]
             for i, name in enumerate(dict.fromkeys(names)) if bits.below(50)}
    form = bits.of(sorted(HEADERS))
    slots = np.arange(len(names))
    order = filled(bits.of(ORDERS), bits.below(99), bits.below(9), names, slots // 6,
                   slots % 6 // 3, slots % 3)
    assert sorted(order.tolist()) == slots.tolist()
    try:
        transfers, by_hand = transfers_of(plates, 0, names, stock)
        deck = deck_of(transfers) if form == "opentrons" else None
        text = picklist(transfers, form, 2.5 * (1 + bits.below(40)), layout)
    except ValueError as error:
        return refused(error)
    assert set(by_hand) <= {"control"}
    found = read_picklist(text, form, stock, deck)
    assert found == {(one.plate, one.well): one.arm for one in transfers}


def cells(content):
    """Check that a guarded cell is not a formula and is read back unchanged."""
    bits = Choices(content)
    texts = [bits.of(NAMES) if bits.below(3) else bits.take(bits.below(9)).decode("latin-1")
             for _ in range(4)]
    for text in texts:
        made = guarded(text)
        assert unguarded(made) == text
        if made[:1] in "=+-@\t\r" and made:
            float(made.replace(",", "."))  # a cell with a number is not a formula
    assert csv_of([texts]).count("\n") >= 1
