"""Options of the commands on files of numbers and on plates."""

from pybandit.cli._types import at_least

FILLS = "rows", "shuffled", "apart"
HELP = {"plate": "plates", "well": "wells", "arm": "arms (optional in a file)",
        "value": "readings"}


def add_numbers(part):
    """Add the options for the format of numbers, and for the sheet of a workbook."""
    part.add_argument("--decimal", default=".", metavar="C", help="decimal sign: . or , "
                                                                  "(default %(default)s)")
    part.add_argument("--thousands", default="", metavar="C",
                      help="separator of groups of three digits (default: none)")
    part.add_argument("--sheet", metavar="NAME", help="sheet of the workbook, if it has several")


def add_dialect(part):
    """Add the options for a file of readings."""
    add_numbers(part)
    for role in HELP:
        part.add_argument(f"--{role}-column", metavar="NAME",
                          help=f"column of the {HELP[role]} (default {role})")
    part.add_argument("--instrument", metavar="NAME",
                      help="read an instrument's file with allotropy: auto, or the name of the "
                           "format (pip install 'pybandit-core[lab]')")
    part.add_argument("--measurement", metavar="NAME",
                      help="measurement to read, if the file has several of one plate")
    part.add_argument("--lost-markers", metavar="CELLS",
                      help="cells that mark a lost well, such as OVRFLW,MISSED; < and > for limits "
                           "(default with --lost: the usual markers of plate readers)")
    part.add_argument("--take-limits", action="store_true",
                      help="read a limit such as >4.000 as the value 4.0")


def add_plate(part):
    """Add the options that determine the number of wells of a batch."""
    part.add_argument("--plate", default="8x12", metavar="RxC",
                      help="rows x columns, or the number of wells, such as 96 (default "
                           "%(default)s)")
    part.add_argument("--batch-size", type=at_least(1), metavar="N",
                      help="wells per batch (default: all wells of a plate that are not controls)")
    part.add_argument("--controls", default="", metavar="WELLS",
                      help="wells with a control: A1,A2,H12, or columns col:1,24, or rows row:A,H")


def add_layout(part):
    """Add the options for the layout of plates."""
    add_plate(part)
    part.add_argument("--control-label", default="control", metavar="TEXT",
                      help="name of the controls in files (default %(default)s)")
    part.add_argument("--positives", default="", metavar="WELLS",
                      help="wells with a positive control; --controls are then the untreated wells")
    part.add_argument("--positive-label", default="positive", metavar="TEXT",
                      help="name of the positive controls in files (default %(default)s)")
    part.add_argument("--fill", choices=FILLS, default="rows",
                      help="order of the arms in the wells: along rows, shuffled, or shuffled with "
                           "the wells of one arm apart (default %(default)s)")
    part.add_argument("--fill-seed", type=at_least(0), default=0, metavar="N",
                      help="seed of the shuffled order (default %(default)s)")
    part.add_argument("--free-edges", action="store_true", help="put no arms in wells at the edge")
    part.add_argument("--normalise", nargs="?", const=True, default=False,
                      choices=("percent", "inhibition"), metavar="HOW",
                      help="divide readings by the mean of their plate's controls; percent: in "
                           "per cent of that mean; inhibition: per cent of the way from it to "
                           "the mean of the positives")
    for name, text in (("log", "take the natural logarithm"),
                       ("flip", "change the sign, if low readings are good")):
        part.add_argument(f"--{name}", action="store_true", help=text)
