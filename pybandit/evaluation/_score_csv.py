"""Scores out of a CSV file: items in lines, models in columns."""

import csv
import io
import math
import sys

import numpy as np

from pybandit._shared.cells import DELIMITERS, LOST, BadFile

LABEL_HEADERS = ("", "id", "item", "name", "index", "unnamed: 0")
LABEL_ENDS = ("_id", " id")


class Scores:
    """A table of scores with names, of the form that `best_of` takes.

    Attributes
    ----------
    columns : list of str
        Names of the models.
    index : list of str or range
        Labels of the items.
    values : ndarray of float64, shape (n_items, n_models)
        NaN where a score is lost.
    lines : list of int or range
        The line of the file that each item ends on; rows where it has no lines.
    rows : list of int
        Which of the file's items each is.
    """

    def __init__(self, columns, index, values, lines, rows=None):
        self.columns, self.index, self.values, self.lines = columns, index, values, lines
        self.rows = list(range(len(lines))) if rows is None else rows

    def to_numpy(self):
        return self.values

    def place(self, row, column):
        """'line 3, column "gpt"'; of a file without lines 'row 3'."""
        unit = "row" if isinstance(self.lines, range) else "line"
        return f"{unit} {self.lines[row]}, column {self.columns[column]!r}"

    def without_lost(self):
        """The items that have all their scores."""
        kept = np.flatnonzero(~np.isnan(self.values).any(axis=1)).tolist()
        return Scores(self.columns, [self.index[i] for i in kept], self.values[kept],
                      [self.lines[i] for i in kept], [self.rows[i] for i in kept])


def read_scores(path, delimiter=None):
    """The `Scores` of a file, or of stdin for "-".

    Raises
    ------
    BadFile
        Naming line, column and text.
    """
    lines = _cells(_text(path), delimiter)
    first = lines[0][1]
    for line, cells in lines:
        if len(cells) != len(first):
            raise BadFile(f"line {line} has {len(cells)} cells; line {lines[0][0]} has "
                          f"{len(first)}")
    if len(first) < 2:
        raise BadFile(f"must have a column for each of at least 2 models; line {lines[0][0]} is "
                      f"one cell, {_short(first)}: is the delimiter right?")
    header = _is_header(first, lines[1:])
    body = lines[1:] if header else lines
    if not body:
        raise BadFile("there is a header and no items under it")
    labelled = _has_labels(first, body, header)
    names = _names(first, labelled, header)
    labels = [cells[0] for _, cells in body] if labelled else range(len(body))
    values = np.array([[_score(cell, line, name)
                        for cell, name in zip(cells[labelled:], names, strict=True)]
                       for line, cells in body])
    return Scores(names, labels, values, [line for line, _ in body])


def _text(path):
    try:
        if path == "-":
            return sys.stdin.read().removeprefix("\ufeff")
        with open(path, encoding="utf-8-sig", newline="") as file:
            return file.read()
    except OSError as error:
        raise BadFile(f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadFile(f"is not UTF-8 text: {error.reason} at byte {error.start}") from None


def _cells(text, delimiter):
    """(line number, stripped cells) of every line that is not blank."""
    if not text.strip():
        raise BadFile("is empty")
    if delimiter is None:
        line = text.lstrip("\r\n").splitlines()[0]
        delimiter = max(DELIMITERS, key=line.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if cells]
    except csv.Error as error:
        raise BadFile(f"line {reader.line_num}: {error}") from None


def _is_header(first, below):
    """Whether the first line names the models: text, or what pandas writes for numbers."""
    if any(_number(cell) is None for cell in first):
        return True
    labels = [cells[0] for _, cells in below]
    if first[0] == "" and labels and (
            _counts(labels) or all(_number(label) is None for label in labels)
            or _counts(first[1:]) and _are_labels(labels, below)):
        return True
    is_blank_once = first[0] == "" and labels and "" not in labels
    if is_blank_once or len(first) > 2 and _counts(first):
        raise BadFile(f"the first line can be a header or an item: {_short(first)}; give a header "
                      f"with names of the models")
    return False


def _are_labels(labels, body):
    """Whether numbers can only be labels: all differ, and some are not among the scores."""
    scores = {cell for _, cells in body for cell in cells[1:]}
    return "" not in labels and len(set(labels)) == len(labels) and not scores.issuperset(labels)


def _counts(cells, start=0):
    """Whether these are 0, 1, 2 and so on."""
    return cells == [str(i) for i in range(start, start + len(cells))]


def _has_labels(first, body, header):
    """Whether the first column holds labels of the items."""
    head = first[0].casefold()
    if header and (head in LABEL_HEADERS or head.endswith(LABEL_ENDS)):
        return True
    column = [cells[0] for _, cells in body]
    numbered, are_many = column, len(column) > 9  # few scores may be such by chance
    if are_many:
        numbered = sorted(column, key=lambda cell: (len(cell), cell))
    if (are_many or header and len(body) > 2) and (_counts(numbered) or _counts(numbered, 1)):
        raise BadFile(f"{f'column {first[0]!r}' if header else 'the first column'} numbers the "
                      f"items: head it 'item' if it holds their labels, and put another first if "
                      f"it holds scores")
    labelled = all(_number(cell) is None for cell in column)
    if labelled and header and all(_number(cell) is not None for cell in first[1:]):
        raise BadFile(f"line {body[0][0] - 1} can be a header or an item: {_short(first)}; "
                      f"give a header that begins with 'item'")
    return labelled


def _names(first, labelled, header):
    names = first[labelled:]
    if not header:
        names = [f"model {i}" for i in range(len(names))]
    names = [name or f"column {i}" for i, name in enumerate(names, 1 + labelled)]
    if len(names) < 2:
        raise BadFile(f"must have a column for each of at least 2 models; got {len(names)}: "
                      f"{_short(names)}")
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise BadFile(f"names of models must differ; got {twice!r} twice")
    return names


def _score(cell, line, name):
    number = _number(cell)
    if number is None:
        raise BadFile(f"line {line}, column {name!r}: {cell!r} is not a number; labels of items "
                      f"go into a first column headed 'item'")
    return number


def _number(cell):
    """A float, NaN for a lost score, None for text."""
    if cell.casefold() in LOST:
        return math.nan
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def _short(cells):
    text = ", ".join(map(repr, cells))
    return text if len(text) <= 60 else text[:57] + "..."
