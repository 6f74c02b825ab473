"""Options of `pybandit study`: how a file is written, what is on a plate."""

from pybandit.cli._types import at_least

FILLS = "rows", "shuffled", "apart"
HELP = {"plate": "plates", "well": "wells", "arm": "arms, which a file may leave out",
        "value": "readings"}


def add_numbers(part):
    """Add the options that say how numbers are written, and in which sheet."""
    part.add_argument("--decimal", default=".", metavar="C", help="what stands before decimals: "
                                                                  ". or , (default %(default)s)")
    part.add_argument("--thousands", default="", metavar="C",
                      help="what stands between groups of three digits (default: nothing)")
    part.add_argument("--sheet", metavar="NAME", help="the sheet of a workbook, where it has many")


def add_dialect(part):
    """Add the options of a file of readings."""
    add_numbers(part)
    for role in HELP:
        part.add_argument(f"--{role}-column", metavar="NAME",
                          help=f"the column of the {HELP[role]} (default {role})")
    part.add_argument("--instrument", metavar="NAME",
                      help="a file of an instrument that allotropy reads: auto, or the name of "
                           "its format (pip install 'pybandit-core[lab]')")
    part.add_argument("--measurement", metavar="NAME",
                      help="the measurement to read, if the file has several of a plate")
    part.add_argument("--lost-markers", metavar="CELLS",
                      help="cells that mark a lost well, such as OVRFLW,MISSED; < and > for limits "
                           "(default with --lost: those that readers write)")
    part.add_argument("--take-limits", action="store_true",
                      help="read a limit, such as >4.000, as 4.0")


def add_plate(part):
    """Add the options that say how many arms a batch has."""
    part.add_argument("--plate", default="8x12", metavar="RxC",
                      help="rows x columns, or wells: 96, 384 (default %(default)s)")
    part.add_argument("--batch-size", type=at_least(1), metavar="N",
                      help="arms of a batch (default: wells that are no controls)")
    part.add_argument("--controls", default="", metavar="WELLS",
                      help="wells with a control: A1,A2,H12, columns col:1,24, rows row:A,H")


def add_layout(part):
    """Add the options to the parser of `new`."""
    add_plate(part)
    part.add_argument("--control-label", default="control", metavar="TEXT",
                      help="what the files call them (default %(default)s)")
    part.add_argument("--positives", default="", metavar="WELLS",
                      help="wells with a positive control; --controls are then untreated")
    part.add_argument("--positive-label", default="positive", metavar="TEXT",
                      help="what the files call them (default %(default)s)")
    part.add_argument("--fill", choices=FILLS, default="rows",
                      help="how arms fill the wells: along rows, shuffled, or shuffled with "
                           "wells of one arm apart (default %(default)s)")
    part.add_argument("--fill-seed", type=at_least(0), default=0, metavar="N",
                      help="of the order that is shuffled (default %(default)s)")
    part.add_argument("--free-edges", action="store_true", help="no arms in the wells at the edge")
    part.add_argument("--normalise", nargs="?", const=True, default=False,
                      choices=("percent", "inhibition"), metavar="HOW",
                      help="divide readings by the mean of their plate's controls; percent: of "
                           "it; inhibition: per cent of the way to the positives' mean")
    for name, text in (("log", "take the natural logarithm"),
                       ("flip", "change the sign: low readings are good")):
        part.add_argument(f"--{name}", action="store_true", help=text)
