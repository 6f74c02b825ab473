"""Cells that a plate reader writes instead of a value, and limits such as >4.000."""

import re

import numpy as np

# A run of one of the signs * ? # - + . counts as the sign; < and > stand for any limit.
MARKERS = frozenset({
    "ovrflw", "overflow", "ovfl", "ovflw", "over", "over range", "overrange", "out of range",
    "range?", "sat", "#sat", "saturated", "high", "#high", "low", "#low", "under", "underflow",
    "undrflw", "missed", "missing", "masked", "#masked", "invalid", "error", "err", "#err",
    "#error", "fail", "failed", "nd", "n.d.", "n/d", "no data", "no read", "undetermined", "lod",
    "blq", "bql", "inf", "+inf", "-inf", "infinity", "-infinity", "#num!", "#div/0!", "#value!",
    "#ref!", "#null!", "#name?", "nan", "#n/a", "<", ">", "*", "?", "#", "-"})
# Empty cells: unlike NaN and #N/A, which readers write, they are not counted as markers.
EMPTY = "", "na", "n/a", "null", "none"
SIGNS = re.compile(r"([*?#+.-])\1*")
LIMIT = re.compile(r"([<>≤≥])=?\s*(\S.*)")


def markers_of(text):
    """Return the markers of an option, comma-separated; ValueError if there are none."""
    found = frozenset(map(_folded, filter(str.strip, text.split(","))))
    if not found:
        raise ValueError(f"--lost-markers must be cells, such as OVRFLW,MISSED; got {text!r}")
    return found


def is_marker(cell, markers=MARKERS):
    """Return True if a cell is one of these markers."""
    if not markers or not cell:
        return False
    word, limit = _folded(cell), LIMIT.fullmatch(cell)
    return word in markers or (limit is not None and {"≤": "<", "≥": ">"}.get(
        limit[1], limit[1]) in markers)


def limit_of(cell, dialect):
    """Return 4.0 for the cell >4.000, None if it is not a limit with a number."""
    found = LIMIT.fullmatch(cell)
    try:
        return found and float(dialect.plain(found[2]))
    except ValueError:
        return None


def is_counted(cell, value):
    """Return True if a cell, read as `value`, is a marker or a limit instead of a reading."""
    return (value != value and cell.casefold() not in EMPTY) or cell[:1] in ("<", ">", "≤", "≥")


def markers_by_plate(reading, names, n_wells):
    """Return the positions of the wells with each marker or limit of a reading, by plate."""
    found = {}
    for well, cell in sorted(reading.markers.items()):
        part, position = divmod(well, n_wells)
        found.setdefault(names[part], {}).setdefault(cell, []).append(position)
    return {plate: {cell: np.array(positions, dtype=np.int64)
                    for cell, positions in cells.items()} for plate, cells in found.items()}


def _folded(text):
    word = " ".join(text.casefold().split())
    return word[0] if SIGNS.fullmatch(word) else word
