"""Names of wells in files: A1, a01, A-1, and rows after Z in three forms.

Instruments call the rows 27 to 32 of 1,536 wells AA to AF, Aa to Af, or a to f. In the last form
case matters: a1 is well AA1 there, but well A1 in a file without capitals.
"""

import re

from pybandit._shared.errors import UnreadableFileError
from pybandit.tables._sheet import short

WELL = re.compile(r"([A-Za-z]{1,4})[ :_-]?0*([1-9][0-9]{0,6})")
ALPHABET = 26


def well_parts(text):
    """Return the letters and the column of a well's name, None if it is not one."""
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
    """Return True if `name` may be the name of a row whose number is known, as in a grid."""
    return name.upper() == letters(row) or (
        row >= ALPHABET and name == chr(ord("a") + row - ALPHABET))


class RowNames:
    """Forms of the row names of a file; says which rows small letters are.

    Parameters
    ----------
    n_rows : int
        Rows of the plate.
    """

    def __init__(self, n_rows):
        self._late = {chr(ord("a") + i) for i in range(min(ALPHABET, n_rows - ALPHABET))}
        self._seen = set()

    def is_open(self, name):
        """Return True if a name may be of two rows; remember it."""
        self._seen.add(name)
        return name in self._late

    def offset(self, fits, place):
        """Return 26 if small letters are the rows after Z, 0 if they are the rows A, B, ...

        Parameters
        ----------
        fits : callable
            ``fits(offset)`` returns True if no well would then be there twice or hold another
            arm than it should.
        place : str
            Line, column and name of the first open name, for the error.

        Raises
        ------
        UnreadableFileError
            If both are possible.
        """
        small = {name for name in self._seen if len(name) == 1 and name.islower()}
        large = {name for name in self._seen if len(name) == 1 and name.isupper()}
        is_late = small <= self._late and not any(len(name) > 1 for name in self._seen)
        choices = [offset for offset in (0, ALPHABET)[:1 + is_late] if fits(offset)]
        if len(choices) < 2:
            return choices[0] if choices else 0
        # capitals without the letters of the small ones, and beyond them: the form A to Z, a to f
        folded = {name.lower() for name in large}
        if folded - self._late and not folded & small:
            return ALPHABET
        first = sorted(small)[0]
        raise UnreadableFileError(f"{place} may be row {first.upper()} or row A{first.upper()}, "
                                  "and nothing in "
                                  f"the file says which; call the rows after Z AA, AB, ...")


def check_row(name, text, n_rows):
    """Raise ValueError if a name outside a file may be of two rows; `text` has it."""
    if RowNames(n_rows).is_open(name):
        raise ValueError(f"wells of a plate with more than {ALPHABET} rows must be in capitals, in "
                         f"row {name.upper()} or A{name.upper()}; got {short(text)}")
