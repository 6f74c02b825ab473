"""Picklists: transfers from stock wells to plate wells, in the formats of three robots.

- Echo: columns are found by name; volumes are in nl, multiples of 2.5.
- Opentrons: the cherry-picking protocol reads eight columns in this order; plates are given
  by their slots, volumes in ul.
- Hamilton: a method reads the columns that it is configured for; these are their usual names,
  with volumes in ul.
"""

import csv
import io
from itertools import cycle
from typing import NamedTuple

from pybandit._shared.errors import UnreadableFileError
from pybandit.lab._row_names import RowNames, row_number, well_parts
from pybandit.lab._write import csv_of
from pybandit.lab.plates import Layout
from pybandit.tables._sheet import PLAIN, listed, opened, rows_under, short

ECHO = ("Source Plate Name", "Source Well", "Sample Name", "Destination Plate Name",
        "Destination Well", "Transfer Volume")
OPENTRONS = ("Source Labware", "Source Slot", "Source Well",
             "Source Aspiration Height Above Bottom (in mm)", "Dest Labware", "Dest Slot",
             "Dest Well", "Volume (in ul)")
HAMILTON = ("SourceLabwareID", "SourcePositionID", "TargetLabwareID", "TargetPositionID",
            "Volume")
HEADERS = {"echo": ECHO, "opentrons": OPENTRONS, "hamilton": HAMILTON}
DROP = 2.5  # nl per drop of an Echo
SLOTS = 10  # free slots of an OT-2, without tips and waste
HEIGHT = 1  # mm above the bottom
LABWARE = {96: "corning_96_wellplate_360ul_flat", 384: "corning_384_wellplate_112ul_flat",
           24: "corning_24_wellplate_3.4ml_flat", 48: "corning_48_wellplate_1.6ml_flat",
           12: "corning_12_wellplate_6.9ml_flat", 6: "corning_6_wellplate_16.8ml_flat"}
ARM_COLUMNS = "arm", "name", "gene", "id"
LARGEST = Layout(32, 48)


class Transfer(NamedTuple):
    """One transfer from a stock well to a plate well."""

    source: str
    source_well: str
    plate: str
    well: str
    arm: str


def read_stock(path, dialect=PLAIN):
    """Read the wells in which each arm is stored.

    Parameters
    ----------
    path : str or path-like
        A table with the columns plate, well and arm (or name, gene, id).
    dialect : Dialect

    Returns
    -------
    dict of str to list of (plate, well)
        Wells of each arm by its name, in the order of the file.

    Raises
    ------
    UnreadableFileError
        If a cell is missing or a well occurs twice; the message names file, line and column.
    """
    def is_header(cells):
        return {dialect.column("plate"), dialect.column("well")} <= {one.casefold()
                                                                     for one in cells}

    with opened(path, (is_header,), dialect) as rows:
        line, header = next(rows)
        heads = [cell.casefold() for cell in header]
        at = [_column(heads, names, line, header) for names in (
            (dialect.column("plate"),), (dialect.column("well"),),
            (dialect.column("arm"), *ARM_COLUMNS))]
        stock, lines, filled = {}, {}, []
        for line, cells in rows_under(rows, header):
            plate, well, arm = (cells[i] for i in at)
            if not arm:
                continue  # an empty well
            if not plate or LARGEST.find(well) is None:
                raise UnreadableFileError(f"line {line}, column "
                                          f"{header[at[0 if not plate else 1]]!r}: "
                                          f"{short(well) if plate else 'no plate'} is not a place "
                                          f"where arm {short(arm)} can be stored")
            filled.append((line, plate, well_parts(well), arm))
        for line, plate, position, arm in _placed(filled):
            place = plate, LARGEST.wells[position]
            if place in lines:
                raise UnreadableFileError(f"line {line}, column {header[at[1]]!r}: well {place[1]} "
                                          f"of plate {plate} is on line {lines[place]} already")
            lines[place] = line
            stock.setdefault(arm, []).append(place)
        if not stock:
            raise UnreadableFileError(f"line {line}, column 1: there is a header but no arm below "
                                      "it")
        return stock


def _placed(filled):
    """Yield line, plate, position and arm; the whole file decides which rows a, b, ... are."""
    rows, certain, waiting = RowNames(LARGEST.rows), set(), []
    for line, plate, (name, column), _ in filled:
        if rows.is_open(name):
            waiting.append((line, plate, name, column))
        else:
            certain.add((plate, row_number(name), column))

    def fits(offset):
        return not any((plate, row_number(name) + offset, column) in certain
                       for _, plate, name, column in waiting)

    offset, n_columns = 0, max((parts[1] for _, _, parts, _ in filled), default=0)
    if waiting and not (n_columns <= Layout.parse("384").columns and fits(0)):
        line, _, name, column = waiting[0]
        offset = rows.offset(fits, f"line {line}, column 'well': {name}{column}")
    for line, plate, (name, column), arm in filled:
        row = row_number(name) + (offset if rows.is_open(name) else 0)
        yield line, plate, row * LARGEST.columns + column - 1, arm


def _column(heads, names, line, header):
    for name in names:
        if name in heads:
            return heads.index(name)
    raise UnreadableFileError(f"line {line}, column {names[0]!r}: the column is missing; the "
                              f"columns are {listed(header)}")


def transfers_of(plates, batch, names, stock):
    """Return the transfers that fill the plates of a batch.

    Also returns a dict of the labels of controls that are not in the stock, with their numbers
    of wells.

    Raises
    ------
    ValueError
        If an arm is not in the stock; the message names it.
    """
    labels, size = plates.labels(batch, names), plates.layout.n_wells
    absent = sorted({name for name in names if name not in stock})
    if absent:
        raise ValueError(f"--stock must hold every arm of the plates; {short(absent[0])} is not in "
                         f"it ({len(absent)} missing in all)")
    places = {arm: cycle(wells) for arm, wells in stock.items()}
    transfers, by_hand = [], {}
    for part, plate in enumerate(plates.names(batch, len(names))):
        for well, label in zip(plates.layout.wells, labels[part * size:(part + 1) * size],
                               strict=True):
            if label in places:
                transfers.append(Transfer(*next(places[label]), plate, well, label))
            elif label:
                by_hand[label] = by_hand.get(label, 0) + 1
    return transfers, by_hand


def deck_of(transfers):
    """Return the slot of each plate on an OT-2: filled plates first, then stock plates."""
    plates = list(dict.fromkeys(one.plate for one in transfers))
    sources = list(dict.fromkeys(one.source for one in transfers))
    deck = {("plate", name): i + 1 for i, name in enumerate(plates)}
    deck |= {("stock", name): len(plates) + i + 1 for i, name in enumerate(sources)}
    if len(deck) > SLOTS:
        raise ValueError(f"an OT-2 has {SLOTS} free slots; these transfers need {len(plates)} for "
                         f"plates and {len(sources)} for stock plates")
    return deck


def picklist(transfers, form, volume, layout):
    """Return a picklist as CSV.

    Parameters
    ----------
    transfers : list of Transfer
    form : {"echo", "opentrons", "hamilton"}
    volume : float
        Volume of each transfer, in nl for an Echo and in ul otherwise.
    layout : Layout
        Layout of the filled plates.

    Raises
    ------
    ValueError
        If the robot cannot make these transfers.
    """
    if not 0 < volume < 1e6:
        raise ValueError(f"--volume must be positive; got {volume:g}")
    amount = f"{volume:g}"
    if form == "echo":
        if volume % DROP:
            raise ValueError(f"--volume must be a multiple of {DROP} nl for an Echo; got {amount}")
        rows = [(one.source, one.source_well, one.arm, one.plate, one.well, amount)
                for one in transfers]
    elif form == "opentrons":
        deck = deck_of(transfers)
        labware = LABWARE.get(layout.n_wells)
        if labware is None:
            raise ValueError(f"no labware of an OT-2 is known for plates of {layout} wells")
        foreign = [one for one in transfers if layout.find(one.source_well) is None]
        if foreign:
            raise ValueError(f"--stock must use plates of {layout} wells for an OT-2; got well "
                             f"{foreign[0].source_well} of {foreign[0].source}")
        rows = [(labware, deck["stock", one.source], one.source_well, HEIGHT, labware,
                 deck["plate", one.plate], one.well, amount) for one in transfers]
    else:
        rows = [(one.source, one.source_well, one.plate, one.well, amount) for one in transfers]
    return csv_of([HEADERS[form], *rows])


def read_picklist(text, form, stock, deck=None):
    """Return the arm that a picklist puts into each well, by (plate, well).

    Parameters
    ----------
    text : str
    form : {"echo", "opentrons", "hamilton"}
    stock : dict
        Return value of `read_stock`.
    deck : dict, optional
        Return value of `deck_of`, for an OT-2.
    """
    of_place = {place: arm for arm, places in stock.items() for place in places}
    plates = {(kind, str(slot)): name for (kind, name), slot in (deck or {}).items()}
    filled = {}
    for row in csv.DictReader(io.StringIO(text)):
        if form == "echo":
            source, target = row[ECHO[0]], row[ECHO[3]]
            wells = row[ECHO[1]], row[ECHO[4]]
        elif form == "opentrons":
            source, target = plates["stock", row[OPENTRONS[1]]], plates["plate", row[OPENTRONS[5]]]
            wells = row[OPENTRONS[2]], row[OPENTRONS[6]]
        else:
            source, wells = row[HAMILTON[0]], (row[HAMILTON[1]], row[HAMILTON[3]])
            target = row[HAMILTON[2]]
        filled[target, wells[1]] = of_place[source, wells[0]]
    return filled
