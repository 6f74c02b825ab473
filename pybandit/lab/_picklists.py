"""Which stock well goes into which well of a plate, as three kinds of robots read it.

An Echo reads columns by their names, volumes in nl, of which it moves multiples of 2.5. The
cherry-picking protocol of Opentrons reads eight columns in this order, plates by their slots,
volumes in ul. A Hamilton method reads the columns that it is told to; these are the usual
names, volumes in ul.
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
DROP = 2.5  # nl, of an Echo
SLOTS = 10  # of an OT-2, less those of the tips and the waste
HEIGHT = 1  # mm above the bottom
LABWARE = {96: "corning_96_wellplate_360ul_flat", 384: "corning_384_wellplate_112ul_flat",
           24: "corning_24_wellplate_3.4ml_flat", 48: "corning_48_wellplate_1.6ml_flat",
           12: "corning_12_wellplate_6.9ml_flat", 6: "corning_6_wellplate_16.8ml_flat"}
ARM_COLUMNS = "arm", "name", "gene", "id"
LARGEST = Layout(32, 48)


class Transfer(NamedTuple):
    """What goes where."""

    source: str
    source_well: str
    plate: str
    well: str
    arm: str


def read_stock(path, dialect=PLAIN):
    """Where each arm is kept.

    Parameters
    ----------
    path : str or path-like
        A table with the columns plate, well and arm (or name, gene, id).
    dialect : Dialect

    Returns
    -------
    dict of str to list of (plate, well)
        By the names of the arms, in the order of the file.

    Raises
    ------
    UnreadableFileError
        Where a cell is missing, or a well is there twice; names file, line and column.
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
                                          f"of arm {short(arm)}")
            filled.append((line, plate, well_parts(well), arm))
        for line, plate, position, arm in _placed(filled):
            place = plate, LARGEST.wells[position]
            if place in lines:
                raise UnreadableFileError(f"line {line}, column {header[at[1]]!r}: well {place[1]} "
                                          f"of plate {plate} is on line {lines[place]} already")
            lines[place] = line
            stock.setdefault(arm, []).append(place)
        if not stock:
            raise UnreadableFileError(f"line {line}, column 1: there is a header and no arm under "
                                      "it")
        return stock


def _placed(filled):
    """Yield line, plate, position and arm; small letters are rows as the whole file says."""
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
    """What fills the plates of a batch, and which labels of controls are not in the stock.

    Raises
    ------
    ValueError
        Where an arm is not in the stock; names it.
    """
    labels, size = plates.labels(batch, names), plates.layout.n_wells
    absent = sorted({name for name in names if name not in stock})
    if absent:
        raise ValueError(f"--stock must hold every arm of the plate; {short(absent[0])} is not in "
                         f"it, {len(absent)} such in all")
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
    """The slot of each plate of an OT-2: those that are filled first, then the stock's."""
    plates = list(dict.fromkeys(one.plate for one in transfers))
    sources = list(dict.fromkeys(one.source for one in transfers))
    deck = {("plate", name): i + 1 for i, name in enumerate(plates)}
    deck |= {("stock", name): len(plates) + i + 1 for i, name in enumerate(sources)}
    if len(deck) > SLOTS:
        raise ValueError(f"an OT-2 has room for {SLOTS} plates beside the tips; this takes "
                         f"{len(plates)} and {len(sources)} of the stock")
    return deck


def picklist(transfers, form, volume, layout):
    """A picklist as CSV.

    Parameters
    ----------
    transfers : list of Transfer
    form : {"echo", "opentrons", "hamilton"}
    volume : float
        Of each transfer; nl for an Echo, else ul.
    layout : Layout
        Of the plates that are filled.

    Raises
    ------
    ValueError
        Where the robot cannot do so.
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
            raise ValueError(f"an OT-2 knows no plates of {layout} wells")
        foreign = [one for one in transfers if layout.find(one.source_well) is None]
        if foreign:
            raise ValueError(f"--stock must be on plates of {layout} wells for an OT-2; got well "
                             f"{foreign[0].source_well} of {foreign[0].source}")
        rows = [(labware, deck["stock", one.source], one.source_well, HEIGHT, labware,
                 deck["plate", one.plate], one.well, amount) for one in transfers]
    else:
        rows = [(one.source, one.source_well, one.plate, one.well, amount) for one in transfers]
    return csv_of([HEADERS[form], *rows])


def read_picklist(text, form, stock, deck=None):
    """What a picklist puts into wells: a dict of (plate, well) to arm.

    Parameters
    ----------
    text : str
    form : {"echo", "opentrons", "hamilton"}
    stock : dict
        Of `read_stock`.
    deck : dict, optional
        Of `deck_of`, for an OT-2.
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
