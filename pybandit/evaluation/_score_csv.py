"""Scores out of a CSV file: items in lines, models in columns.

Rows become numbers as they are read: a cell takes 8 bytes of memory and about 0.1 us. A file has
at most MOST_LINES lines and MOST_CELLS cells, a row LONGEST_ROW characters.
"""

import csv
import io
import math
import sys
from array import array

import numpy as np

from pybandit._shared.cells import DELIMITERS, LOST, BadFile
from pybandit._shared.files import Lines, opened_regular, reason_of
from pybandit.tables._open import MOST_CELLS

LABEL_HEADERS = ("", "id", "item", "name", "index", "unnamed: 0")
LABEL_ENDS = ("_id", " id")
MOST_LINES, MOST_CHARACTERS, LONGEST_ROW = 1 << 20, 1 << 29, 1 << 23


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
    lines : sequence of int
        The line of the file that each item ends on; rows where it has no lines.
    rows : sequence of int
        Which of the file's items each is.
    """

    def __init__(self, columns, index, values, lines, rows=None):
        self.columns, self.index, self.values, self.lines = columns, index, values, lines
        self.rows = range(len(lines)) if rows is None else rows

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
    with _opened(path) as file:
        table = _Table(file, delimiter)
    first = table.first
    if len(first) < 2:
        raise BadFile(f"must have a column for each of at least 2 models; line {table.lines[0]} is "
                      f"one cell, {_short(first)}: is the delimiter right?")
    header = _is_header(table)
    if header and len(table.lines) < 2:
        raise BadFile("there is a header and no items under it")
    labels, lines = table.labels[header:], table.lines[header:]
    labelled = _has_labels(first, labels, lines, header)
    names = _names(first, labelled, header)
    table.check_numbers(header, labelled, names)
    values = np.frombuffer(table.numbers).reshape(-1, len(first))[header:, labelled:]
    return Scores(names, labels if labelled else range(len(labels)), values, lines)


def _opened(path):
    try:
        if path == "-":
            text = sys.stdin.read(MOST_CHARACTERS + 1)
            return io.StringIO(text.removeprefix("\ufeff"), newline="")
        # universal newlines, untranslated: those in quotes stay as they are
        return io.TextIOWrapper(opened_regular(path), "utf-8-sig", newline="")
    except OSError as error:
        raise BadFile(f"cannot be read: {reason_of(error)}") from None


class _Table:
    """The cells of all lines that are not blank.

    Attributes
    ----------
    first : list of str
        Cells of the first line.
    labels : list of str
        The first cell of each line.
    lines : array of int
        The line of the file that each ends on.
    numbers : array of float
        All cells, row by row; NaN if a score is lost or a cell is text. Reading stops after the
        first row below the header that has text: `check_numbers` refuses it.
    """

    def __init__(self, file, delimiter):
        self.labels, self.lines, self.numbers = [], array("q"), array("d")
        self._bad = None  # row, column and text of the first cell that is text, labels aside
        taken = Lines(file.readline, LONGEST_ROW, MOST_LINES, MOST_CHARACTERS, "line {}: ",
                      "; write a large table as Parquet or .npy")
        try:
            for cells in self._rows(taken, delimiter):
                self._add(cells, self.lines[-1])
                if self._bad is not None:
                    break
        except UnicodeDecodeError as error:
            raise BadFile(f"is not UTF-8 text: {error.reason} after line {taken.number}") from None
        except OSError as error:
            raise BadFile(f"cannot be read: {reason_of(error)}") from None
        if not self.lines:
            raise BadFile("is empty")

    def _rows(self, taken, delimiter):
        """Stripped cells of every line that is not blank."""
        first, blank = next((line for line in taken if line.strip("\r\n")), ""), taken.number - 1
        if delimiter is None:
            delimiter = max(DELIMITERS, key=first.count)
        reader = csv.reader(_chained(first, taken), delimiter=delimiter, strict=True)
        try:
            for cells in reader:
                taken.begin_row()
                if cells:
                    self.lines.append(blank + reader.line_num)
                    yield [cell.strip() for cell in cells]
        except csv.Error as error:
            raise BadFile(f"line {blank + reader.line_num}: {error}") from None

    def _add(self, cells, line):
        if not self.labels:
            self.first = cells
        elif len(cells) != len(self.first):
            raise BadFile(f"line {line} has {len(cells)} cells; line {self.lines[0]} has "
                          f"{len(self.first)}")
        if len(self.numbers) + len(cells) > MOST_CELLS:
            raise BadFile(f"line {line}: a file of text must have at most {MOST_CELLS:,} scores; "
                          "write the table as Parquet, and see pybandit shuffle")
        self.numbers.append(_or_nan(_number(cells[0])))
        scores = cells[1:]
        # an exception per lost score would cost six times as much as this
        if not (self._extend(scores) or self._extend(
                [cell if cell and cell.casefold() not in LOST else "nan" for cell in scores])):
            self.numbers.extend(self._numbers_of(scores))
        self.labels.append(cells[0])

    def _extend(self, scores):
        """Append numbers of a row; return False, with nothing appended, if some are text."""
        begin = len(self.numbers)
        try:
            if "_" in "".join(scores):
                return False
            self.numbers.extend(map(float, scores))
        except ValueError:
            del self.numbers[begin:]
            return False
        return True

    def _numbers_of(self, scores):
        """Yield numbers of cells, some of which are text."""
        for column, cell in enumerate(scores, 1):
            number = _number(cell)
            if number is None and self._bad is None and self.labels:
                self._bad = len(self.labels), column, cell
            yield _or_nan(number)

    def check_numbers(self, header, labelled, names):
        """Refuse the first text below the header, apart from labels."""
        bad = [] if self._bad is None else [self._bad]
        if not labelled:
            bad += next(([(row, 0, cell)] for row, cell in enumerate(self.labels)
                         if row >= header and _number(cell) is None), [])
        if bad:
            row, column, cell = min(bad)
            raise BadFile(f"line {self.lines[row]}, column {_short([names[column - labelled]])}: "
                          f"{_short([cell])} is not a number; labels of items go into a first "
                          "column headed 'item'")

    def has_all(self, labels):
        """Return True if every label, as a number, is a score of some item."""
        left = {_or_nan(_number(label)) for label in labels}
        scores = np.frombuffer(self.numbers).reshape(-1, len(self.first))[1:, 1:]
        for start in range(0, len(scores), 1 << 10):
            left.difference_update(scores[start:start + (1 << 10)].ravel().tolist())
        return not left


def _chained(first, rest):
    yield first
    yield from rest


def _or_nan(number):
    return math.nan if number is None else number


def _is_header(table):
    """Whether the first line names the models: text, or what pandas writes for numbers."""
    first, labels = table.first, table.labels[1:]
    if any(_number(cell) is None for cell in first):
        return True
    if first[0] == "" and labels and (
            _counts(labels) or all(_number(label) is None for label in labels)
            or _counts(first[1:]) and _are_labels(labels, table)):
        return True
    is_blank_once = first[0] == "" and labels and "" not in labels
    if is_blank_once or len(first) > 2 and _counts(first):
        raise BadFile(f"the first line can be a header or an item: {_short(first)}; give a header "
                      f"with names of the models")
    return False


def _are_labels(labels, table):
    """Whether numbers can only be labels: all differ, and some are not among the scores."""
    return "" not in labels and len(set(labels)) == len(labels) and not table.has_all(labels)


def _counts(cells, start=0):
    """Whether these are 0, 1, 2 and so on."""
    return cells == [str(i) for i in range(start, start + len(cells))]


def _has_labels(first, column, lines, header):
    """Whether the first column holds labels of the items."""
    head = first[0].casefold()
    if header and (head in LABEL_HEADERS or head.endswith(LABEL_ENDS)):
        return True
    numbered, are_many = column, len(column) > 9  # few scores may be such by chance
    if are_many:
        numbered = sorted(column, key=lambda cell: (len(cell), cell))
    if (are_many or header and len(column) > 2) and (_counts(numbered) or _counts(numbered, 1)):
        raise BadFile(f"{f'column {first[0]!r}' if header else 'the first column'} numbers the "
                      f"items: head it 'item' if it holds their labels, and put another first if "
                      f"it holds scores")
    labelled = all(_number(cell) is None for cell in column)
    if labelled and header and all(_number(cell) is not None for cell in first[1:]):
        raise BadFile(f"line {lines[0] - 1} can be a header or an item: {_short(first)}; "
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
    seen = set()
    for name in names:
        if name in seen:
            raise BadFile(f"names of models must differ; got {_short([name])} twice")
        seen.add(name)
    return names


def _number(cell):
    """A float, NaN for a lost score, None for text."""
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return math.nan if cell.casefold() in LOST else None


def _short(cells):
    text = ", ".join(map(repr, cells[:20]))
    return text if len(text) <= 60 else text[:57] + "..."
