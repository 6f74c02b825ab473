"""Plates of a batch as text: a long table of wells, or grids; to be filled in."""

import csv
import io

from pybandit._shared.cells import guarded
from pybandit.lab._read import COLUMNS
from pybandit.lab.plates import letters

FORMATS = "long", "grid"


def plate_texts(plates, batch, names, form="long"):
    """The plates of a batch, whose arms have these names.

    Returns
    -------
    dict of str to str
        From each plate's name to CSV: ``plate,well,arm,value`` with no values, or a grid of
        arms under the line ``plate,NAME``.
    """
    n_wells, labels = plates.layout.n_wells, plates.labels(batch, names)
    write = {"long": _long, "grid": _grid}[form]
    return {plate: write(plates.layout, plate, labels[part * n_wells:(part + 1) * n_wells])
            for part, plate in enumerate(plates.names(batch, len(names)))}


def joined(texts, form="long"):
    """All of these plates in one text."""
    texts = list(texts)
    if form == "grid":
        return "\n".join(texts)
    return texts[0] + "".join(text.partition("\n")[2] for text in texts[1:])


def _long(layout, plate, labels):
    return table([COLUMNS, *((plate, well, label, "") for well, label in
                             zip(layout.wells, labels, strict=True) if label)])


def _grid(layout, plate, labels):
    n = layout.columns
    return table([("plate", plate), ("", *range(1, n + 1)),
                  *((letters(row), *labels[row * n:(row + 1) * n]) for row in range(layout.rows))])


def table(rows):
    """Rows as CSV, of which a spreadsheet runs nothing."""
    return csv_of([guarded(cell) if isinstance(cell, str) else cell for cell in row]
                  for row in rows)


def csv_of(rows):
    """Rows as CSV, each cell as it is: for robots."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
