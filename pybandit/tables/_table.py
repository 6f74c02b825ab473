"""A table of scores with names and labels, in memory."""

import numpy as np


class Scores:
    """A table of scores with names, of the form that `best_of` takes.

    Attributes
    ----------
    columns : list
        Names of the models.
    index : list or range
        Labels of the items.
    values : ndarray of real numbers, shape (n_items, n_models)
        NaN if a score is lost.
    lines : sequence of int
        The line of the file that each item ends on; rows if it has no lines.
    rows : sequence of int
        The row of the file that each item is.
    own_index : list or None
        The index of the data frame that the items were rows of.
    is_long : bool
        True if the table was one line for each score.
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
        """The items that have all their scores."""
        return self.some(np.flatnonzero(~np.isnan(self.values).any(axis=1)).tolist())

    def some(self, kept):
        """The items of these places."""
        own = None if self.own_index is None else [self.own_index[i] for i in kept]
        return Scores(self.columns, [self.index[i] for i in kept], self.values[kept],
                      [self.lines[i] for i in kept], [self.rows[i] for i in kept], own,
                      self.is_long)
