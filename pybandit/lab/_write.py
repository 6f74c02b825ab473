"""Write the plates of a batch as text to fill in: a long table of wells, or grids."""

import csv
import io

from pybandit._shared.cells import guarded
from pybandit.lab._read import COLUMNS
from pybandit.lab.plates import letters

FORMATS = "long", "grid"


def plate_texts(plates, batch, names, form="long"):
    """Return the plates of a batch whose arms have these names.

    Returns
    -------
    dict of str to str
        CSV by the name of each plate: a table ``plate,well,arm,value`` without values, or a
        grid of arms below the line ``plate,NAME``.
    """
    n_wells, labels = plates.layout.n_wells, plates.labels(batch, names)
    write = {"long": _long, "grid": _grid}[form]
    return {plate: write(plates.layout, plate, labels[part * n_wells:(part + 1) * n_wells])
            for part, plate in enumerate(plates.names(batch, len(names)))}


def joined(texts, form="long"):
    """Return several plates as one text."""
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
    """Return rows as CSV; cells are escaped so that a spreadsheet does not run them as formulas."""
    return csv_of([guarded(cell) if isinstance(cell, str) else cell for cell in row]
                  for row in rows)


def csv_of(rows):
    """Return rows as CSV without escaping, for robots."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
