"""Types of command-line arguments, for argparse."""

import argparse
import math
import os
import pathlib


def writable(path):
    """Return the path of a file in a folder that exists, or None for "-"."""
    folder = pathlib.Path(path).parent
    if not folder.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {str(folder)!r}")
    for side in ("-wal", "-shm", "-journal"):  # SQLite takes these for parts of a study
        if path.endswith(side) and os.path.exists(path.removesuffix(side)):
            raise argparse.ArgumentTypeError(f"{path!r} must not be the name of a file and {side}")
    return None if path == "-" else path


def at_least(minimum):
    """An integer of at least `minimum`."""
    def integer(text):
        number = int(text)
        if number < minimum:
            raise argparse.ArgumentTypeError(f"must be at least {minimum}; got {number}")
        return number

    return integer


def number_of(text):
    """A float; NaN, which no range holds, where the text is no number."""
    try:
        return float(text)
    except ValueError:
        return math.nan
