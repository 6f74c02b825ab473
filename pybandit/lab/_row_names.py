"""Names of wells in files, such as A1, a01 or A-1. Rows after Z have names of three forms.

On plates of 1,536 wells, which have 32 rows, instruments call the rows 27 to 32 AA to AF, Aa to
Af, or a to f. In the last form, a1 is well AA1. But in a file that writes all rows in lower case,
a1 is well A1.
"""

import re

from pybandit._shared.errors import UnreadableFileError
from pybandit.tables._sheet import short

WELL = re.compile(r"([A-Za-z]{1,4})[ :_-]?0*([1-9][0-9]{0,6})")
ALPHABET = 26


def well_parts(text):
    """Return the letters and the column of a well's name; None if the text is not such a name."""
    found = WELL.fullmatch(text.strip())
    return found and (found[1], int(found[2]))


def letters(row):
    """Return the name of a row: A to Z, then AA, AB, ..."""
    text, row = "", row + 1
    while row:
        row, last = divmod(row - 1, ALPHABET)
        text = chr(ord("A") + last) + text
    return text


def row_number(name):
    """Return the row of this name in either case, from 0."""
    row = 0
    for letter in name.upper():
        row = ALPHABET * row + ord(letter) - ord("A") + 1
    return row - 1


def is_row(name, row):
    """Return True if `name` is a possible name of the row with this number."""
    return name.upper() == letters(row) or (
        row >= ALPHABET and name == chr(ord("a") + row - ALPHABET))


class RowNames:
    """Row names of a file; decides whether row a is row A or row AA, and so on for b, c, ...

    Parameters
    ----------
    n_rows : int
        Number of rows of the plate.
    """

    def __init__(self, n_rows):
        self._late = {chr(ord("a") + i) for i in range(min(ALPHABET, n_rows - ALPHABET))}
        self._seen = set()

    def is_open(self, name):
        """Return True if a name is ambiguous between two rows. Remembers the name."""
        self._seen.add(name)
        return name in self._late

    def offset(self, fits, place):
        """Return 26 if lower-case letters are the rows after Z, 0 if they are the rows A, B, ...

        Parameters
        ----------
        fits : callable
            ``fits(offset)`` returns True if no well would then occur twice or hold a wrong arm.
        place : str
            Line, column and text of the first ambiguous name, for the error.

        Raises
        ------
        UnreadableFileError
            If both are possible and the file does not decide.
        """
        small = {name for name in self._seen if len(name) == 1 and name.islower()}
        large = {name for name in self._seen if len(name) == 1 and name.isupper()}
        is_late = small <= self._late and not any(len(name) > 1 for name in self._seen)
        choices = [offset for offset in (0, ALPHABET)[:1 + is_late] if fits(offset)]
        if len(choices) < 2:
            return choices[0] if choices else 0
        # Rows A to Z are in capitals and rows a to f come after Z if some capital cannot be one of
        # a to f, and no letter occurs both as a capital and in lower case.
        folded = {name.lower() for name in large}
        if folded - self._late and not folded & small:
            return ALPHABET
        first = sorted(small)[0]
        raise UnreadableFileError(f"{place} may be row {first.upper()} or row A{first.upper()}, "
                                  "and the file does not decide; name the rows after Z AA, AB, ...")


def check_row(name, text, n_rows):
    """Raise ValueError if a row name in `text`, typed by a user, is ambiguous."""
    if RowNames(n_rows).is_open(name):
        raise ValueError(f"wells of a plate with more than {ALPHABET} rows must be in capitals, "
                         f"for row {name.upper()} or A{name.upper()}; got {short(text)}")
