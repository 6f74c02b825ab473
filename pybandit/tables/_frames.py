"""Tables in memory as `Raw` tables: data frames of pandas and others, Arrow, xarray, records."""

import numpy as np

from pybandit._shared.errors import UnreadableFileError
from pybandit.tables._cells import Column, column_of, is_label_text, is_lost, label_of
from pybandit.tables._columns import is_label, is_model
from pybandit.tables._scores import Options, Raw, settled
from pybandit.tables._table import Scores


def is_table(table):
    """Return True for a table that names its columns, or its dimensions."""
    return (is_frame(table) or is_arrow(table) or is_labelled_array(table)
            or hasattr(table, "__dataframe__"))


def is_frame(table):
    return hasattr(table, "columns") and hasattr(table, "to_numpy")


def is_arrow(table):
    return hasattr(table, "column_names") and hasattr(table, "column")


def is_labelled_array(table):
    """Return True for an array of xarray."""
    return all(hasattr(table, name) for name in ("dims", "coords", "values", "transpose"))


def scores_of_table(table, options=Options()):  # noqa: B008
    """Return the `Scores` of a data frame, an Arrow table or an array of xarray."""
    try:
        if is_frame(table):
            return settled(FrameTable(table), options)
        if is_arrow(table):
            return settled(ArrowTable(table), options)
        if is_labelled_array(table):
            return _of_labelled_array(table, options)
        names = list(table.__dataframe__().column_names())
        return settled(_ArrayTable(np.asarray(table), None, names), options)
    except UnreadableFileError as error:
        raise ValueError(f"scores: {error}") from None


class ListTable(Raw):
    """Columns that are lists of objects, or arrays."""

    def __init__(self, names, columns, lines=None):
        self.names, self._cells, self._made = names, columns, {}
        self.n_rows = len(columns[0]) if columns else 0
        self.lines = range(self.n_rows) if lines is None else lines

    def cells(self, column):
        """Return the cells of a column as a list of objects, or an array of numbers."""
        return self._cells[column]

    def _column(self, column):
        if column not in self._made:
            cells = self.cells(column)
            self._made[column] = (Column(cells) if isinstance(cells, np.ndarray)
                                  else column_of(cells))
        return self._made[column]

    def bad(self, column):
        return self._column(column).bad

    def is_text(self, column):
        cells = self.cells(column)
        return isinstance(cells, list) and all(
            isinstance(cell, str) and is_label_text(cell.strip()) for cell in cells)

    def numbers(self, columns):
        if not columns:
            return np.empty((self.n_rows, 0))
        return np.column_stack([self._column(at).numbers for at in columns])

    def labels(self, column):
        cells = self.cells(column)
        if not isinstance(cells, np.ndarray):
            return [label_of(cell) if isinstance(cell, (str, float)) or is_lost(cell) else
                    str(cell) for cell in cells]
        return [label_of(cell) for cell in cells.tolist()]

    def place(self, row, column):
        if self.index is not None:
            return f"item {self.index[row]!r} (row {row}), column {self.names[column]!r}"
        return super().place(row, column)


class FrameTable(ListTable):
    """A data frame: of pandas, of polars, or of anything with `columns` and `to_numpy`."""

    def __init__(self, frame):
        super().__init__(list(frame.columns), [])
        self._frame, self._matrix = frame, None
        self.columns_name = _name_of(frame.columns)
        shape = getattr(frame, "shape", None)
        if not hasattr(frame, "dtypes") or _all_plain(frame):
            self._matrix = np.asarray(frame.to_numpy())
            shape = self._matrix.shape
        self.n_rows = shape[0]
        self.lines = range(self.n_rows)
        self._take_index(getattr(frame, "index", None))

    def _take_index(self, index):
        """Use an index as labels of the rows; levels of pandas that name models become columns."""
        if index is None or callable(index):
            return
        self.own_index = index
        names = list(getattr(index, "names", [None]))
        if len(names) > 1 and any(is_model(name) for name in names if name is not None):
            self._frame = self._frame.reset_index()
            self.names, self._matrix = list(self._frame.columns), None
            return
        self.index_name = names[0] if len(names) == 1 else None
        is_default = self.index_name is None and len(index) == self.n_rows and (
            list(index[:1]) == [0] * min(1, self.n_rows) and type(index).__name__ == "RangeIndex"
            and list(index[-1:]) == [self.n_rows - 1] * min(1, self.n_rows))
        if not is_default:
            self.index = list(index)

    def cells(self, column):
        if self._matrix is not None:
            cells = self._matrix[:, column]
            return cells if cells.dtype.kind in "biuf" else cells.tolist()
        frame = self._frame
        if hasattr(frame, "iloc"):
            return _cells_of(frame.iloc[:, column])
        return _cells_of(frame.get_column(frame.columns[column])
                         if hasattr(frame, "get_column") else frame[frame.columns[column]])

    def numbers(self, columns):
        matrix = self._matrix
        if matrix is not None and matrix.dtype.kind in "biuf":
            return matrix if columns == list(range(matrix.shape[1])) else matrix[:, columns]
        return super().numbers(columns)


def _name_of(columns):
    return getattr(columns, "name", None)


def _all_plain(frame):
    """Return True if all columns have one NumPy kind of numbers, so that pandas copies nothing."""
    kinds = {getattr(dtype, "kind", "O") if isinstance(dtype, np.dtype) else "O"
             for dtype in frame.dtypes}
    return len(kinds) == 1 and kinds <= set("biuf") or not hasattr(frame, "iloc") and not hasattr(
        frame, "get_column")


def _cells_of(series):
    """Return the cells of a column of a frame: an array of numbers, or a list of objects."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return series.to_numpy()
    if hasattr(series, "to_list"):
        cells = series.to_list()
        if str(dtype).casefold().startswith(("datetime", "date", "timestamp", "period")):
            return [cell if is_lost(cell) else str(cell) for cell in cells]
        return cells
    return np.asarray(series).tolist()


class ArrowTable(ListTable):
    """A table or a record batch of Arrow; a stored index of pandas labels its rows."""

    def __init__(self, table, index=()):
        names = list(table.column_names)
        self._at = [at for at, name in enumerate(names) if name not in index]
        super().__init__([names[at] for at in self._at], [])
        self._table, self.n_rows = table, len(table.column(0)) if names else 0
        self.lines = range(self.n_rows)
        if len(index) == 1:
            self.index = [label_of(cell) if isinstance(cell, float) else cell
                          for cell in table.column(index[0]).to_pylist()]
            self.index_name = None if index[0].startswith("__index_level") else index[0]
        elif any(map(is_model, index)):  # index levels of pandas: one line per score
            self.names, self._at = names, list(range(len(names)))

    def cells(self, column):
        cells = self._table.column(self._at[column])
        if not hasattr(cells, "to_pylist"):
            return list(cells)
        kind = np.asarray(cells.slice(0, 0)).dtype.kind
        if kind in "iuf" and not cells.null_count:
            return np.asarray(cells)
        return cells.to_pylist()


def _of_labelled_array(array, options):
    """Return the scores of an array of xarray; its coordinates are names and labels."""
    if len(array.dims) != 2:
        raise ValueError(f"scores must have two dimensions, (items, models); got {array.dims}")
    rows, columns = array.dims
    labels = [list(array.coords[name].values.tolist()) if name in array.coords else None
              for name in (rows, columns)]
    table = _ArrayTable(array.values, labels[0], labels[1])
    table.index_name = rows if is_model(rows) else None
    table.index_is = "first dimension"
    table.columns_name = columns if is_label(columns, 1) else None
    if labels[1] is None and options.models is None and not (
            table.index_name or table.columns_name):
        n_rows = len(array.values)
        return Scores(None, labels[0] or range(n_rows), array.values, range(n_rows))
    return settled(table, options)


class _ArrayTable(ListTable):
    """A matrix with labels of rows and columns."""

    def __init__(self, values, rows, columns):
        super().__init__([f"column {at}" for at in range(values.shape[1])] if columns is None
                         else columns, [values[:, at] if values.dtype.kind in "biuf" else
                                        values[:, at].tolist() for at in range(values.shape[1])])
        self.n_rows, self.index = len(values), rows
        self.lines = range(self.n_rows)
