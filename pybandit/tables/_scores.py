"""Decide the meaning of columns and rows of score tables, in one place for all formats.

Every reader makes a `Raw` table, and `settled` returns its `Scores` or refuses it. The rules are
in `_columns`, and on the page "What is read".
"""

from typing import Any, NamedTuple

import numpy as np

from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.warn import warn
from pybandit.tables._columns import (
    MEASURES,
    PLACES,
    REMEDY,
    are_items,
    extremes_of,
    is_aggregate,
    is_counter,
    is_label,
    is_model,
    is_numbering,
    left_out,
    long_layout,
    plain,
    warn_of_last_row,
    warn_of_odd,
)
from pybandit.tables._logs.fields import Choice
from pybandit.tables._long import long_table
from pybandit.tables._table import Scores
from pybandit.tables._text import listed, short

ROWS = 'pass models="rows" (--models rows) to read each row as a model'
AS_COLUMNS = 'or models="columns" (--models columns) to read each column as a model'


class Options(NamedTuple):
    """Options of the user for a table.

    Attributes
    ----------
    columns : list or None
        Names of the columns to read; for a long table, those of model, item and score.
    drop : tuple
        Names of columns to leave out.
    models : {None, "columns", "rows"}
        Place of the models. None: columns, and a table that seems to have them in rows is refused.
    items : object
        Name of the column with labels of the items.
    repeated : bool
        True if labels may occur more than once, as for groups.
    logs : Choice
        Options for log files.
    least : int
        Least number of models.
    """

    columns: Any = None
    drop: Any = ()
    models: Any = None
    items: Any = None
    repeated: bool = False
    logs: Any = Choice()
    least: int = 2


class Raw:
    """Base class of tables with names before the rules are applied; subclasses have the cells.

    Attributes
    ----------
    names : list
        One name per column.
    index, index_name : list or None, object
        Labels of the rows outside the columns, and their name.
    n_rows : int
        Number of rows.
    lines : sequence of int
        The line of the file of each row.
    own_index : list or None
        The index of the data frame.
    """

    index = index_name = own_index = columns_name = None
    index_is = "index"

    def bad(self, column):
        """Return None for a column of scores, or (row, reason) of the first other cell."""
        raise NotImplementedError

    def is_text(self, column):
        """Return True if all cells of a column are text that does not look like a number."""
        raise NotImplementedError

    def numbers(self, columns):
        """Return the scores of columns, (n_rows, len(columns))."""
        raise NotImplementedError

    def labels(self, column):
        """Return the cells of a column as labels."""
        raise NotImplementedError

    def place(self, row, column):
        unit = "row" if isinstance(self.lines, range) else "line"
        return f"{unit} {self.lines[row]}, column {short(self.names[column])}"


def settled(raw, options=Options()):  # noqa: B008
    """Return the `Scores` of a `Raw` table.

    Raises
    ------
    UnreadableFileError
        If a column or row is ambiguous, a label or a name occurs twice, or a cell is not a score;
        the message has the cause and the option that decides.
    """
    kept, chosen = _kept(raw, options)
    layout = long_layout([raw.names[at] for at in kept])
    if layout is not None and options.models is None and options.items is None:
        if not chosen:
            _refuse_measures(raw, kept)
        return _of_long(raw, [kept[at] if type(at) is int else [kept[one] for one in at]
                              if at is not None else None for at in layout])
    by_rows = _rows_are_models(raw, kept, options, chosen)
    label, kept = _labels_of(raw, kept, options, chosen, by_rows)
    kept = _scores_among(raw, kept, chosen)
    _check_differ("names of models" if not by_rows else "labels of items",
                  [raw.names[at] for at in kept])
    names, values = [raw.names[at] for at in kept], raw.numbers(kept)
    rows = _rows_of_items(label, len(values))
    if len(rows) < len(values):
        values = values[rows]
    if not chosen and values.size:
        _check_columns(names, values)
    return _made(raw, names, label, values, rows, options, by_rows)


def _kept(raw, options):
    """Return the places of the selected columns, and True if the options name them."""
    _check_differ("names of columns", raw.names)
    places = {}
    for at, name in enumerate(raw.names):
        places.setdefault(name, at)
        places.setdefault(str(name).strip(), at)
    if options.columns is not None:
        return [_place_of("columns", name, places, raw) for name in options.columns], True
    dropped = {_place_of("--drop", name, places, raw) for name in options.drop}
    return [at for at in range(len(raw.names)) if at not in dropped], False


def _place_of(option, name, places, raw):
    try:
        return places[name] if name in places else places[str(name)]
    except (KeyError, TypeError):
        raise UnreadableFileError(f"{option} must name columns of the table; got {short(name)}: "
                                  f"they are {listed(list(map(str, raw.names)))}") from None


def _check_differ(what, names):
    seen = set()
    for name in names:
        if name in seen:
            raise UnreadableFileError(f"{what} must differ; got {short(name)} twice")
        seen.add(name)


def _refuse_measures(raw, kept):
    """Refuse a long table with several metrics, whose scores must not be mixed."""
    for at in kept:
        if plain(raw.names[at]) in MEASURES:
            found = sorted(set(raw.labels(at)))
            if len(found) > 1:
                raise UnreadableFileError(f"column {short(raw.names[at])} must have one value; got "
                                          f"{listed(found)}: keep one of them in the table, or "
                                          "name the columns of model, item and score by columns= "
                                          "or --columns")


def _of_long(raw, layout):
    model, items, scores, epoch = layout
    for what, found in (("labels of items", items), ("scores", scores)):
        if len(found) > 1:
            raise UnreadableFileError(f"a table with a column {short(raw.names[model])} must have "
                                      f"one column of {what}; got "
                                      f"{listed([str(raw.names[at]) for at in found])}: columns= "
                                      "or --columns names model, item and score")
    score, item = scores[0], items[0]
    _refuse_text(raw, score)
    return long_table(raw.labels(model), raw.labels(item), raw.numbers([score])[:, 0],
                      None if epoch is None else raw.labels(epoch),
                      place=lambda row: raw.place(row, score))


def _rows_are_models(raw, kept, options, chosen):
    """Return True if the options say that rows are models; refuse a table that looks like it."""
    if options.models is not None:
        return options.models == "rows"
    if raw.index_name is not None and is_model(raw.index_name):
        raise UnreadableFileError(f"the {raw.index_is} is named {short(raw.index_name)}, so each "
                                  f"row may be a model: {ROWS}, {AS_COLUMNS}")
    if raw.columns_name is not None and (
            is_label(raw.columns_name, 1) and plain(raw.columns_name) != "name"):
        raise UnreadableFileError(f"the columns are named {short(raw.columns_name)}, so each row "
                                  f"may be a model: {ROWS}, {AS_COLUMNS}")
    for at in () if chosen else kept:
        if is_model(raw.names[at]) and raw.bad(at) is not None:
            raise UnreadableFileError(f"column {short(raw.names[at])} has names of models, so each "
                                      f"row may be a model: {ROWS}, {AS_COLUMNS}; if each line is "
                                      "one score, the table must have columns such as model, item "
                                      "and score")
    if not chosen:
        _refuse_items(raw, kept)
    return False


def _refuse_items(raw, kept):
    """Refuse columns that are all named as items."""
    names = [raw.names[at] for at in kept if not (
        is_label(raw.names[at], at) or is_aggregate(raw.names[at])
        or at == 0 and raw.bad(at) is not None)]  # a first column of labels, whatever its name
    if are_items(names):
        raise UnreadableFileError(f"columns {listed(list(map(str, names)))} are named as items, so "
                                  f"each row may be a model: {ROWS}, {AS_COLUMNS}")


def _labels_of(raw, kept, options, chosen, by_rows):
    """Return the labels of the rows, or None, and the other columns."""
    if options.items is not None:
        places = {name: at for at, name in enumerate(raw.names)}
        places |= {str(name): at for at, name in enumerate(raw.names)}
        at = _place_of("items", options.items, places, raw)
        return raw.labels(at), [one for one in kept if one != at]
    among = [at for at in range(len(raw.names)) if at not in kept] if chosen else kept
    named = [at for at in among
             if is_label(raw.names[at], at) or is_model(raw.names[at]) and by_rows]
    if not chosen:
        kept = [at for at in kept if at not in named]
    first = [at for at in named if by_rows and is_model(raw.names[at])] or [
        at for at in named if plain(raw.names[at]) not in PLACES]
    if raw.index is not None and (raw.index_name is not None or not first):
        return raw.index, kept
    if not named and 0 in among and raw.bad(0) is not None and raw.is_text(0):
        named, kept = [0], [at for at in kept if at != 0]
    if not named:
        return None, kept
    return _checked_labels(raw, (first or named)[0]), kept


def _checked_labels(raw, at):
    """Return the labels of a column; refuse fractions, which are scores."""
    if raw.bad(at) is None:
        numbers = raw.numbers([at])[:, 0]
        fractions = np.flatnonzero(numbers != np.floor(numbers))
        fractions = fractions[~np.isnan(numbers[fractions])]
        if fractions.size:
            raise UnreadableFileError(f"{raw.place(fractions[0], at)}: {numbers[fractions[0]]:g} "
                                      "is not a label, but the name of the column says that it "
                                      f"has labels: {REMEDY}")
    return raw.labels(at)


def _scores_among(raw, kept, chosen):
    """Return the columns of scores, without aggregates and columns without name and scores."""
    if not chosen:
        kept = [at for at in kept if not _is_blank(raw, at)]
        aggregates = [at for at in kept if is_aggregate(raw.names[at])]
        left_out("columns", [raw.names[at] for at in aggregates])
        kept = [at for at in kept if at not in aggregates]
    for at in kept:
        _refuse_text(raw, at)
    return kept


def _is_blank(raw, at):
    name = plain(raw.names[at])
    if name and not name.startswith(("unnamed:", "column_")):
        return False
    return raw.bad(at) is None and bool(np.isnan(raw.numbers([at])).all())


def _refuse_text(raw, at):
    bad = raw.bad(at)
    if bad is not None:
        raise UnreadableFileError(f"{raw.place(bad[0], at)}: {bad[1]}; labels of items go into a "
                                  f"first column headed 'item'; {REMEDY}")


def _rows_of_items(label, n_rows):
    """Return the rows whose labels are not names of aggregates."""
    if label is None:
        return range(n_rows)
    kept = [row for row in range(n_rows) if not is_aggregate(label[row])]
    if not 0 < len(kept) < n_rows:
        return range(n_rows)
    left_out("rows", [label[row] for row in range(n_rows) if is_aggregate(label[row])])
    return kept


def _check_columns(names, values):
    """Refuse columns of integers that only count the rows; warn of those unlike the others."""
    lows, highs = extremes_of(values)
    with np.errstate(invalid="ignore"):
        suspects = np.flatnonzero(highs - lows == len(values) - 1)
    for at in suspects.tolist():
        if len(values) > 1 and is_numbering(values[:, at].astype(np.float64)):
            raise UnreadableFileError(f"column {short(names[at])} numbers the items: head it "
                                      "'item' or name it with items= or --items if it holds their "
                                      f"labels; {REMEDY}")
    if len(values) > 2:
        warn_of_odd(names, lows, highs)
        warn_of_last_row(values)
    for at in range(len(names)):
        if is_counter(values[:, at]):
            warn(f"column {short(names[at])} has whole numbers that grow with each row, like "
                 f"numbers of items: is it a model? {REMEDY}")


def _made(raw, names, label, values, rows, options, by_rows):
    """Return the `Scores` of the selected columns and rows."""
    labels = None if label is None else [label[row] for row in rows]
    lines = raw.lines if isinstance(rows, range) else [raw.lines[row] for row in rows]
    if labels is not None:
        _check_labels(raw, labels, lines, options, by_rows)
    if by_rows:
        labels = labels or [f"model {row}" for row in rows]
        table = Scores(labels, names, values.T, range(len(names)))
    else:
        own = raw.own_index
        if own is not None and not isinstance(rows, range):
            own = [own[row] for row in rows]
        table = Scores(names, range(len(values)) if labels is None else labels, values, lines,
                       rows, own)
    if len(table.columns) < options.least:
        raise UnreadableFileError(f"must have a column for each of at least 2 models; got "
                                  f"{len(table.columns)}: {listed(list(map(str, table.columns)))}")
    if not len(table.values):
        raise UnreadableFileError("there are no items")
    return table


def _check_labels(raw, labels, lines, options, by_rows):
    """Refuse a label that is empty or occurs twice, unless groups are meant."""
    if options.repeated and not by_rows:
        return
    seen = {}
    for row, label in enumerate(labels):
        if label is None or isinstance(label, str) and not label.strip():
            unit = "row" if isinstance(raw.lines, range) else "line"
            raise UnreadableFileError(f"labels must not be empty; got {label!r} in {unit} "
                                      f"{lines[row]}: take the line out if it is a mean or a sum "
                                      "of the others")
        if label in seen:
            unit = "rows" if isinstance(raw.lines, range) else "lines"
            where = f"{short(label)} twice, in {unit} {lines[seen[label]]} and {lines[row]}"
            if by_rows:
                raise UnreadableFileError(f"names of models must differ; got {where}")
            raise UnreadableFileError(f"labels must differ; got item {where}: an item counts once, "
                                      "unless labels are groups (weights= or --groups)")
        seen[label] = row
