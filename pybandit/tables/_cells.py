"""Cells of a table of scores: numbers, words that are scores, lost scores, and other text."""

import decimal
import math
import numbers
import re
from typing import Any, NamedTuple

import numpy as np

from pybandit._shared.cells import LOST
from pybandit.tables._text import DECIMAL_COMMA, short

# Maximum cells of a block of a file, or of a table that is read whole: 256 MiB of float64.
MOST_CELLS = 1 << 25
# Pairs of words that are scores, if a whole column consists of them: the first is 1.
PAIRS = (("true", "false"), ("yes", "no"), ("pass", "fail"), ("passed", "failed"),
         ("correct", "incorrect"), ("right", "wrong"), ("t", "f"), ("y", "n"))
WORDS = {word: (kind, 1.0 - place) for kind, pair in enumerate(PAIRS)
         for place, word in enumerate(pair)}


# Text that was written as a number of some kind: 83%, 1.234,5, <0.1, 3/4, $2.
NUMERIC = re.compile(r"[<>~=\u2248$\u20ac\u00a3\s]*[+-]?\d[\d.,'_\s]*(?:e[+-]?\d+)?"
                     r"(?:\s*/\s*\d+)?\s*[%$\u20ac\u00a3]?", re.IGNORECASE)


class Column(NamedTuple):
    """A column of scores, or of text.

    Attributes
    ----------
    numbers : ndarray of float64 or None
        NaN if a score is lost; None if the column is not of scores.
    bad : (int, str) or None
        The row of the first cell that is not a score, and the reason.
    """

    numbers: Any
    bad: Any = None


def number_of(cell):
    """Return a float, NaN for a lost score, None for other text."""
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return math.nan if cell.casefold() in LOST else None


def is_score(cell):
    """Return True for a number, a lost score or a word that is a score."""
    return number_of(cell) is not None or cell.casefold() in WORDS


def is_label_text(cell):
    """Return True for text with a letter or a digit that does not look like a score."""
    return (not is_score(cell) and NUMERIC.fullmatch(cell) is None
            and any(map(str.isalnum, cell)))


def wrong_text(cell):
    """Return why a cell of text is not a score, with a remedy if there is one."""
    hint = ""
    share = number_of(cell[:-1]) if cell.endswith("%") else None
    if share is not None and math.isfinite(share):
        hint = f": write it as a number, {share:g} or {share / 100:g}"
    elif DECIMAL_COMMA.fullmatch(cell):
        hint = ": --decimal , reads it with a decimal comma"
    elif number_of(cell.replace(",", "")) is not None:
        hint = ": write it without separators of thousands"
    elif cell.casefold() in WORDS:
        hint = ": words are scores only if the whole column consists of one pair of them"
    return f"{short(cell)} is not a number{hint}"


class WordCounter:
    """Check of the words of one column: they must be of one pair, without numbers."""

    def __init__(self, row, cell):
        self.kind, self.row, self.cell, self.n = WORDS[cell.casefold()][0], row, cell, 0

    def score_of(self, cell):
        """Return the score of a word, or None if it is of another pair."""
        kind, score = WORDS[cell.casefold()]
        self.n += 1
        return score if kind == self.kind else None

    def bad(self, column):
        """Return the first cell that does not fit, if there are numbers among the words."""
        if self.n == np.count_nonzero(~np.isnan(column)):
            return None
        return self.row, (f"{short(self.cell)} stands in a column of numbers: words are scores "
                          "only if the whole column consists of one pair of them")


def column_of_text(cells):
    """Return the `Column` of a list of text."""
    values, words = np.full(len(cells), np.nan), None
    for row, cell in enumerate(cells):
        number = number_of(cell)
        if number is None and cell.casefold() in WORDS:
            words = words or WordCounter(row, cell)
            number = words.score_of(cell)
        if number is None:
            return Column(None, (row, wrong_text(cell)))
        values[row] = number
    bad = words and words.bad(values)
    return Column(None, bad) if bad else Column(values)


def column_of(cells):
    """Return the `Column` of a list of Python objects: numbers, bools, text, None."""
    if all(isinstance(cell, str) or is_lost(cell) for cell in cells):
        return column_of_text(["" if is_lost(cell) else str(cell).strip() for cell in cells])
    values, truths = np.full(len(cells), np.nan), None
    for row, cell in enumerate(cells):
        if is_lost(cell) or isinstance(cell, str) and cell.strip().casefold() in LOST:
            continue
        if isinstance(cell, (bool, np.bool_)):
            truths = truths or WordCounter(row, str(cell))
            values[row] = truths.score_of(str(cell))
        elif isinstance(cell, (numbers.Real, decimal.Decimal)):
            try:
                values[row] = cell
            except OverflowError:
                return Column(None, (row, "an integer of more than 308 digits is not a finite "
                                          "float64"))
        else:
            return Column(None, (row, f"{short(cell)} is not a number: scores must be real "
                                      "numbers"))
    bad = truths and truths.bad(values)
    return Column(None, bad) if bad else Column(values)


def is_lost(cell):
    """Return True for None, NaN and the missing values of pandas."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, (float, np.floating)) and cell != cell


def label_of(cell):
    """Return a label as text; 3.0, which pandas makes of 3 if a label is missing, becomes '3'."""
    if is_lost(cell):
        return ""
    if isinstance(cell, (float, np.floating)) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()
