"""Long tables: one line per score, with its model and its item."""

from typing import Any, NamedTuple

import numpy as np

from pybandit._shared.errors import UnreadableFileError
from pybandit.tables._cells import MOST_CELLS
from pybandit.tables._columns import is_aggregate, left_out
from pybandit.tables._table import Scores
from pybandit.tables._text import short


class Record(NamedTuple):
    """A score of a model on an item.

    Attributes
    ----------
    model, item : str
    score : float
        NaN if it is lost.
    epoch : object, optional
        The repetition to which it belongs.
    place : str
        Its place in a file, for messages: 'run.json, line 3'.
    """

    model: str
    item: str
    score: float
    epoch: Any = None
    place: str = ""


def table_of_records(records):
    """Return the `Scores` of an iterable of `Record`; the rules are those of `long_table`."""
    records = list(records)
    if not records:
        raise UnreadableFileError("there are no scores")
    models, items, scores, epochs, places = zip(*records, strict=True)
    has_epochs = any(epoch is not None for epoch in epochs)
    return long_table(models, items, np.array(scores, dtype=np.float64),
                      epochs if has_epochs else None,
                      place=lambda row: places[row] or f"record {row}")


def long_table(models, items, scores, epochs=None, *, place):
    """Make a table (items, models) from a list of scores.

    The rules are the same for all files of this kind:

    - Models and items are labels, compared as text: item ``07`` is not item ``7``. Both are in
      the order of their first appearance. Neither may be empty.
    - A model has one score for an item. A second one, equal or not, is refused, with the places of
      both, unless they have different epochs.
    - Epochs of an item are averaged, if all of them are there. If an epoch that occurs in the
      table is missing for a model and an item, or its score is lost, then the score of the model
      on the item is lost.
    - Items and models with names of aggregates (``mean``, ``average``, ``total``, ...) are left
      out with a warning.
    - A lost score is NaN, and so is the score of a model on an item for which it has no line.
      Callers refuse such tables with a message, or leave those items out for all models:
      `Scores.without_lost`.

    Parameters
    ----------
    models, items : sequence of str
    scores : ndarray of float64
    epochs : sequence, optional
    place : callable
        ``place(row)`` returns the place of a score in its file, for messages.

    Returns
    -------
    Scores
        The table; its `is_long` is True.

    Raises
    ------
    UnreadableFileError
        If a label is empty, a score occurs twice, or there are fewer than two models.
    """
    for what, labels in (("model", models), ("item", items)):
        empty = next((row for row, label in enumerate(labels) if label == ""), None)
        if empty is not None:
            raise UnreadableFileError(f"{place(empty)}: the {what} must not be empty")
    kept = [row for row in range(len(models))
            if not (is_aggregate(items[row]) or is_aggregate(models[row]))]
    if 0 < len(kept) < len(models):
        left_out("rows of", sorted({label for labels in (models, items) for label in labels
                                    if is_aggregate(label)}))
    else:
        kept = range(len(models))
    columns, of_model = _numbered(models, kept)
    index, of_item = _numbered(items, kept)
    rounds, of_epoch = _numbered([""] * len(models) if epochs is None else epochs, kept)
    if len(columns) < 2:
        raise UnreadableFileError(f"must have scores of at least 2 models; got {len(columns)}: "
                                  f"{', '.join(map(short, columns))}")
    n_cells = len(rounds) * len(index) * len(columns)
    if n_cells > MOST_CELLS:
        raise UnreadableFileError(f"must have at most {MOST_CELLS:,} cells; got {len(columns):,} "
                                  f"models on {len(index):,} items in {len(rounds):,} epochs")
    cells = (of_epoch * len(index) + of_item) * len(columns) + of_model
    _check_once(cells, kept, models, items, place, epochs is not None)
    values = np.full(n_cells, np.nan)
    values[cells] = np.asarray(scores)[kept]
    values = values.reshape(len(rounds), len(index), len(columns)).mean(axis=0)
    return Scores(columns, index, values, range(len(index)), is_long=True)


def _numbered(labels, kept):
    """Return distinct labels in order of appearance, and the label number of each row."""
    numbers = {}
    of_row = [numbers.setdefault(labels[row], len(numbers)) for row in kept]
    return list(numbers), np.array(of_row, dtype=np.int64)


def _check_once(cells, kept, models, items, place, has_epochs):
    order = np.argsort(cells, kind="stable")
    twice = np.flatnonzero(np.diff(cells[order]) == 0)
    if twice.size:
        at = twice[order[twice + 1].argmin()]
        first, row = kept[order[at]], kept[order[at + 1]]
        more = " and epoch" if has_epochs else ""
        raise UnreadableFileError(f"{place(row)}: model {short(models[row])} has a second score on "
                                  f"item {short(items[row])}; the first is at {place(first)}: a "
                                  f"model must have one score for each item{more}")
