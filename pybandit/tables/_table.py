"""A table of scores with names and labels, in memory."""

import numpy as np


class Scores:
    """A table of scores with names, as `best_of` takes it.

    Attributes
    ----------
    columns : list
        Names of the models.
    index : list or range
        Labels of the items.
    values : ndarray of real numbers, shape (n_items, n_models)
        NaN if a score is lost.
    lines : sequence of int
        The last line of each item in the file; rows if the file has no lines.
    rows : sequence of int
        The row of each item in the file.
    own_index : list or None
        The index of the data frame whose rows are the items.
    is_long : bool
        True if the table had one line per score.
    """

    def __init__(self, columns, index, values, lines, rows=None, own_index=None, is_long=False):
        self.columns, self.index, self.values, self.lines = columns, index, values, lines
        self.rows = range(len(lines)) if rows is None else rows
        self.own_index, self.is_long = own_index, is_long

    def to_numpy(self):
        return self.values

    def place(self, row, column):
        """Return 'line 3, column "gpt"'; of a table without lines 'row 3', or the item."""
        unit = "row" if isinstance(self.lines, range) else "line"
        where = f"item {self.index[row]!r}" if self.is_long else f"{unit} {self.lines[row]}"
        return f"{where}, column {self.columns[column]!r}"

    def without_lost(self):
        """Return a table of the items without a lost score."""
        return self.some(np.flatnonzero(~np.isnan(self.values).any(axis=1)).tolist())

    def some(self, kept):
        """Return a table of the items at these places."""
        own = None if self.own_index is None else [self.own_index[i] for i in kept]
        return Scores(self.columns, [self.index[i] for i in kept], self.values[kept],
                      [self.lines[i] for i in kept], [self.rows[i] for i in kept], own,
                      self.is_long)
