"""Types of command-line arguments, for argparse."""

import argparse
import csv
import math
import os
import pathlib

from pybandit._shared.files import check_regular, reason_of

PICTURES = ".png", ".svg", ".pdf", ".eps", ".jpg", ".jpeg", ".tif", ".tiff", ".webp"


def writable(path):
    """Return the path of a file in a folder that exists, or None for "-"."""
    folder = pathlib.Path(path).parent
    if not folder.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {str(folder)!r}")
    for side in ("-wal", "-shm", "-journal"):  # SQLite would treat these as parts of a study
        if path.endswith(side) and os.path.exists(path.removesuffix(side)):
            raise argparse.ArgumentTypeError(f"must not be the name of an existing file plus "
                                             f"{side}; got {path!r}")
    return None if path == "-" else path


def picture(path):
    """Return a path like `writable`, if it has an image's extension and may be overwritten."""
    if writable(path) is None:
        return None
    if pathlib.Path(path).suffix.casefold() not in PICTURES:
        raise argparse.ArgumentTypeError(f"must end in {', '.join(PICTURES[:-1])} or "
                                         f"{PICTURES[-1]}; got {path!r}")
    try:
        if os.path.lexists(path):
            check_regular(path)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"must be a file that can be written, in one of the "
                                         f"formats {', '.join(PICTURES)}; got {path!r}: "
                                         f"{reason_of(error)}") from None
    return path


def at_least(minimum):
    """Return the type of an integer of at least `minimum`."""
    def integer(text):
        number = int(text)
        if number < minimum:
            raise argparse.ArgumentTypeError(f"must be at least {minimum}; got {number}")
        return number

    return integer


def names(text):
    """Return the names in a comma-separated list; names with a comma are quoted."""
    return [name.strip() for name in next(csv.reader([text]), []) if name.strip()]


def number_of(text):
    """Return a text as a float; NaN, which is in no range, if the text is not a number."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def probability(text):
    """Return a number above 0 and below 1."""
    value = number_of(text)
    if not 0.0 < value < 1.0:
        raise argparse.ArgumentTypeError(f"must be above 0 and below 1; got {text}")
    return value
