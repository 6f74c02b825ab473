"""Read scores in rows of text: a line per item and a column per model, or a line per score.

Rows become numbers as they are read: a cell takes 8 bytes of memory and about 0.1 us. Only the
first column, and columns whose names indicate labels, are kept as text.
"""

import math
import operator
from array import array

import numpy as np

from pybandit._shared.cells import LOST
from pybandit._shared.errors import UnreadableFileError
from pybandit.tables._cells import (
    MOST_CELLS,
    WORDS,
    WordCounter,
    column_of_text,
    is_label_text,
    is_score,
    number_of,
    wrong_text,
)
from pybandit.tables._columns import (
    MEASURES,
    is_aggregate,
    is_label,
    is_model,
    long_layout,
    plain,
)
from pybandit.tables._scores import Options, Raw, settled
from pybandit.tables._table import Scores
from pybandit.tables._text import DECIMAL_COMMA, MAYBE_THOUSANDS, listed, short

KNOWN_LOST = frozenset(LOST)


def scores_of_rows(rows, options=Options(), decimal=None):  # noqa: B008
    """Return the `Scores` of rows of text.

    Parameters
    ----------
    rows : iterable of (int, list of str)
        The line of each row, and its cells.
    options : Options
    decimal : {None, ".", ","}
        Decimal point; None: a point, or a comma in the whole file.

    Raises
    ------
    UnreadableFileError
        If the rows are not scores; the message has line, column and text.
    """
    table = TextTable(rows, options, decimal)
    if table.names is not None:
        scores = settled(table, options)
        table.check_read()
        return scores
    for name, given in (("columns", options.columns), ("--drop", options.drop or None),
                        ("items", options.items)):
        if given is not None:
            raise UnreadableFileError(f"{name} must be left out for a file without a header; got "
                                      f"{short(given)}")
    return _unnamed(table, options)


def _unnamed(table, options):
    """Return the scores of rows without a header."""
    labelled = table.is_text(0)
    _check_not_numbered("the first column", table.texts[0])
    at = range(int(labelled), table.n_columns)
    table.names = [f"model {one - labelled}" for one in range(table.n_columns)]
    for one in at:
        if table.bad(one) is not None:
            row, reason = table.bad(one)
            raise UnreadableFileError(f"{table.place(row, one)}: {reason}; labels of items go into "
                                      "a first column headed 'item'")
    values, labels = table.numbers(at), table.texts[0] if labelled else None
    if options.models == "rows":
        names = labels or [f"model {row}" for row in range(len(values))]
        scores = Scores(names, range(len(at)), values.T, range(len(at)))
    else:
        names = [table.names[one] for one in at]
        index = range(len(values)) if labels is None else labels
        scores = Scores(names, index, values, table.lines)
    if len(scores.columns) < options.least:
        raise UnreadableFileError("must have a column for each of at least 2 models; got "
                                  f"{len(scores.columns)}: {listed(scores.columns)}")
    if labels is not None and not options.repeated and len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise UnreadableFileError(f"labels must differ; got {short(twice)} twice: an item counts "
                                  "once, unless labels are groups (weights= or --groups)")
    return scores


class TextTable(Raw):
    """Cells of all rows; see `Raw`.

    Attributes
    ----------
    names : list of str or None
        None if there is no header.
    texts : dict of int to list of str
        The cells of columns that are kept as text.
    """

    def __init__(self, rows, options, decimal):
        self._decimal, self._point, self._comma, self._surely = decimal, None, None, False
        self._bad, self._words, self._columns = {}, {}, {}
        self.names, rows = None, iter(rows)
        line, first = next(rows, (0, None))
        if first is None:
            raise UnreadableFileError("is empty")
        self._line, has_header = line, not all(map(_may_be_score, first))
        if has_header:
            while first and not first[-1]:
                first = first[:-1]
        self._first, self.n_columns = first, len(first)
        if len(first) < options.least:
            raise UnreadableFileError("must have a column for each of at least 2 models; line "
                                      f"{line} is one cell, {listed(first)}: is the delimiter "
                                      "right?")
        self._plan(options, has_header)
        self.lines, self._numbers = array("q"), array("d")
        if not has_header:
            self._add(line, first)
        self._read(rows)
        has_header = has_header or self._is_header()
        if has_header:
            self._take_header()
        self._check_decimals()
        self.n_rows = len(self.lines)

    def _plan(self, options, has_header):
        """Choose the columns that are kept as text and as numbers."""
        every, names = range(self.n_columns), self._first
        text, skipped = {0}, set()
        if has_header:
            allowed = [at for at in every if names[at] not in options.drop and (
                options.columns is None or names[at] in options.columns)]
            layout = long_layout([names[at] for at in allowed])
            if layout is not None and options.models is None and options.items is None:
                model, items, scores, epoch = layout
                text = {allowed[at] for at in (model, *items, epoch) if at is not None}
                text |= {at for at in allowed if plain(names[at]) in MEASURES}
                skipped = set(every) - text - {allowed[at] for at in scores}
            else:
                text |= {at for at in every if is_label(names[at], at) or is_model(names[at])
                         or names[at] == options.items}
                unread = {at for at in every if options.columns is None
                          and is_aggregate(names[at])}
                skipped = (set(every) - set(allowed) | unread) - text
        self.texts = {at: [] for at in sorted(text)}
        self._score_at = [at for at in every if at not in text and at not in skipped]
        at = self._score_at
        self._take = (operator.itemgetter(slice(1, None)) if at == [*every][1:] else
                      operator.itemgetter(*at) if len(at) > 1 else
                      (lambda cells: (cells[at[0]],)) if at else lambda cells: ())
        self._place_of = {column: place for place, column in enumerate(at)}

    def _read(self, rows):
        blank = []  # rows of blank cells, which are items only if others follow
        for line, cells in rows:
            if not any(cells):
                blank.append((line, cells))
                continue
            for one in blank:
                self._add(*one)
            blank.clear()
            self._add(line, cells)
            if self._bad:
                break

    def _add(self, line, cells):
        width = self.n_columns
        if len(cells) > width and not any(cells[width:]):
            cells = cells[:width]
        if len(cells) != width:
            raise UnreadableFileError(f"line {line} has {len(cells)} cells; line {self._line} has "
                                      f"{width}")
        if len(self._numbers) + width > MOST_CELLS:
            raise UnreadableFileError(f"line {line}: a file of text must have at most "
                                      f"{MOST_CELLS:,} scores; write the table as Parquet, and see "
                                      "pybandit shuffle")
        self.lines.append(line)
        for at, kept in self.texts.items():
            kept.append(cells[at])
        scores = self._take(cells)
        # an exception per lost score would cost six times as much as this
        if not (self._extend(scores) or self._extend(
                ["nan" if cell.casefold() in KNOWN_LOST else cell for cell in scores])):
            self._numbers.extend(self._number_of(cell, at)
                                 for at, cell in zip(self._score_at, scores, strict=True))

    def _extend(self, scores):
        """Append numbers of a row; return False, with nothing appended, if some are text."""
        begin, joined = len(self._numbers), "".join(scores)
        if "_" in joined:
            return False
        if self._decimal != "." and "." in joined:
            if self._decimal == ",":
                return False
            self._point = self._point or len(self.lines)
        try:
            self._numbers.extend(map(float, scores))
        except ValueError:
            del self._numbers[begin:]
            return False
        return True

    def _number_of(self, cell, at):
        """Return the number of a cell; NaN for text, which is recorded in `_bad`."""
        row = len(self.lines) - 1
        number = self._parsed(cell, row)
        if number is None and cell.casefold() in WORDS:
            words = self._words.setdefault(at, WordCounter(row, cell))
            number = words.score_of(cell)
        if number is None:
            self._bad.setdefault(at, (row, wrong_text(cell)))
            return math.nan
        return number

    def _parsed(self, cell, row):
        """Return the float of text with a decimal point or comma; None for other text."""
        if self._decimal != "." and DECIMAL_COMMA.fullmatch(cell):
            self._comma = self._comma or (row, cell)
            self._surely = self._surely or not MAYBE_THOUSANDS.fullmatch(cell)
            cell = cell.replace(",", ".")
        elif self._decimal == "," and "." in cell:
            return None
        return number_of(cell)

    def check_read(self):
        """Refuse a table whose reading stopped at a bad cell."""
        for at, (row, reason) in self._bad.items():
            raise UnreadableFileError(f"{self.place(row, at)}: {reason}")

    def _check_decimals(self):
        """Refuse commas that may separate thousands, or that occur together with points."""
        if self._decimal is not None or self._comma is None:
            return
        row, cell = self._comma
        if self._point is not None or not self._surely:
            why = (f"line {self.lines[self._point - 1]} has a decimal point" if self._point
                   else "no cell tells decimals from thousands")
            raise UnreadableFileError(f"line {self.lines[row]}: {short(cell)} has a comma, and "
                                      f"{why}: pass --decimal , or --decimal . to decide")

    # -- the header ----------------------------------------------------------

    def _is_header(self):
        """Return True if a first line of numbers names the models, as pandas writes it."""
        first, labels = self._first, self.texts[0][1:]
        if first[0] == "" and labels and (
                _counts(labels) or not any(map(is_score, labels))
                or _counts(first[1:]) and self._are_labels(labels)):
            return True
        is_blank_once = first[0] == "" and labels and "" not in labels
        if is_blank_once or len(first) > 2 and _counts(first):
            raise UnreadableFileError("the first line can be a header or an item: "
                                      f"{listed(first)}; give a header with names of the models")
        return False

    def _are_labels(self, labels):
        """Return True if numbers can only be labels: they differ, and some are not scores."""
        if "" in labels or len(set(labels)) < len(labels):
            return False
        left = {_or_nan(number_of(label)) for label in labels}
        scores = np.frombuffer(self._numbers)[len(self._score_at):]
        for start in range(0, len(scores), 1 << 20):
            left.difference_update(scores[start:start + (1 << 20)].tolist())
        return bool(left)

    def _take_header(self):
        """Take the names from the first line, and remove it from the items."""
        if len(self.lines) and self.lines[0] == self._line:
            del self.lines[0]
            del self._numbers[:len(self._score_at)]
            for kept in self.texts.values():
                del kept[0]
            self._bad = {at: (row - 1, why) for at, (row, why) in self._bad.items()}
        if not self.lines:
            raise UnreadableFileError("there is a header and no items under it")
        first = self._first
        is_named = is_label(first[0], 0) or is_model(first[0])
        if 0 in self.texts and not is_named:
            if all(map(_may_be_score, first[1:])) and self.is_text(0):
                raise UnreadableFileError(f"line {self._line} can be a header or an item: "
                                          f"{listed(first)}; give a header that begins with 'item'")
        self.names = [name or (f"column {at}" if at > 1 else "") for at, name
                      in enumerate(first, 1)]

    # -- columns --------------------------------------------------------------

    def is_text(self, column):
        return all(map(is_label_text, self.texts[column]))

    def bad(self, column):
        if column in self.texts:
            return self._column(column).bad
        if column not in self._bad and column in self._words:
            found = self._words[column].bad(self.numbers([column])[:, 0])
            if found is not None:
                self._bad[column] = found
        return self._bad.get(column)

    def numbers(self, columns):
        found = np.frombuffer(self._numbers).reshape(len(self.lines), len(self._score_at))
        places = [self._place_of.get(at) for at in columns]
        if places == list(range(len(self._score_at))):
            return found
        values = np.empty((len(self.lines), len(places)))
        for place, (at, column) in enumerate(zip(places, columns, strict=True)):
            values[:, place] = self._column(column).numbers if at is None else found[:, at]
        return values

    def _column(self, column):
        """Return the `Column` of a column that is kept as text."""
        if column not in self._columns:
            cells = self.texts[column]
            if any("," in cell or self._decimal == "," for cell in cells):
                parsed = [(cell, self._parsed(cell, row)) for row, cell in enumerate(cells)]
                cells = [cell if number is None else repr(number) for cell, number in parsed]
                self._check_decimals()
            self._columns[column] = column_of_text(cells)
        return self._columns[column]

    def labels(self, column):
        return self.texts[column]


def _may_be_score(cell):
    return is_score(cell) or DECIMAL_COMMA.fullmatch(cell) is not None


def _counts(cells, start=0):
    """Return True if the cells are 0, 1, 2, ..."""
    return cells == [str(i) for i in range(start, start + len(cells))]


def _check_not_numbered(name, cells):
    """Refuse a first column that counts the rows and has no name."""
    if len(cells) > 2 and (_counts(cells) or _counts(cells, 1)) or len(cells) > 9:
        numbered = sorted(cells, key=lambda cell: (len(cell), cell))
        if _counts(numbered) or _counts(numbered, 1):
            raise UnreadableFileError(f"{name} numbers the items: head it 'item' if it holds their "
                                      "labels, or put another column first if it holds scores")


def _or_nan(number):
    return math.nan if number is None else number
