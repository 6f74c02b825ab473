"""Sources of scores with a common interface: functions, tables in memory, blocks."""

import functools
import inspect
import numbers

import numpy as np

from pybandit._shared.checks import (
    check_choice,
    check_indices,
    check_numeric,
    is_masked,
    labels_of,
    refuse_masks,
    shown,
)
from pybandit._shared.generators import as_generator
from pybandit._shared.labels import aligned, unlabelled
from pybandit.evaluation._keys import Keys, items_of, models_of
from pybandit.evaluation._opened import opened
from pybandit.evaluation._options import check_rows
from pybandit.evaluation._store import Paid
from pybandit.tables._columns import is_aggregate, is_label, is_model
from pybandit.tables._frames import is_table, scores_of_table
from pybandit.tables._npy import NpyFile, cells_of
from pybandit.tables._scores import Options
from pybandit.tables._table import Scores
from pybandit.tables.blocks import Blocks
from pybandit.tables.order import BlockGenerator

LOST = ("an item with a lost score must be left out for all models beforehand: its effect on "
        "the mean is unknown")


def as_source(scores, models, items, tells_costs=False, options=Options()):  # noqa: B008
    """Return the `ScoreSource` of these scores, with n_arms, n_items, names and a method `read`."""
    if callable(scores):
        refuse_class(scores)
        names, n_arms = models_of(models)
        labels, n_items = items_of(items)
        return FunctionSource(scores, n_arms, n_items, tells_costs, Keys(names, labels))
    if tells_costs:
        raise ValueError("costs must be numbers for a table of scores: 'told' is for a "
                         "function, which returns scores and costs; got 'told'")
    if options.models is not None:
        check_choice("models", options.models, ("rows", "columns"))
    source = _source_of_table(scores, options)
    if not isinstance(models, str):
        source.names = _named_so("models", models, source.names, source.n_arms, models_of)
    if not isinstance(items, str):
        source.labels = _named_so("items", items, source.labels, source.n_items, items_of)
    return source


def refuse_class(scores):
    """Refuse a class where a function is expected: an instance of it was probably meant."""
    if isinstance(scores, type):
        raise TypeError("scores must be a function of (model, items), or a table; got the class "
                        f"{scores.__name__}: call it, {scores.__name__}(...)")


def options_of(models, items, grouped):
    """Return the options for a table: `models` and `items` count only if they are text."""
    return Options(None, (), models if isinstance(models, str) else None,
                   items if isinstance(items, str) else None, grouped)


def _source_of_table(scores, options):
    scores = opened(scores, options)
    if isinstance(scores, Blocks):
        return BlockSource(scores)
    if isinstance(scores, Scores):
        source = TableSource(scores)
        source.is_read = True
        return source
    if is_table(scores):
        return TableSource(scores_of_table(scores, options))
    return TableSource(plain_table(scores, options))


def _named_so(name, given, held, n_held, read):
    """Return the names or labels of a table; refuse those that were given if they differ."""
    if given is None:
        return held
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        labels, n = None, int(given)  # no range check: it must equal n_held
    else:
        labels, n = read(given)
    if n != n_held:
        raise ValueError(f"{name} must be as many as the table has, {n_held}, or left out; got "
                         f"{shown(n)}")
    if labels is None or held is None:
        return labels or held
    for one, label in zip(held, labels, strict=True):
        if one != label:
            raise ValueError(f"{name} must be those of the table, in the same order, or left "
                             f"out; got {label!r} instead of {one!r}")
    return held


def plain_table(table, options):
    """Return a table without names, whose columns are chosen by number."""
    if options.items is not None:
        raise ValueError(f"items must be left out for a table without names; got "
                         f"{shown(options.items)}")
    if options.models != "rows" and options.columns is None:
        return table
    table = table if isinstance(table, np.ndarray) else np.asarray(table)
    if table.ndim != 2:
        return table
    if options.models == "rows":
        table = table.T
    if options.columns is None:
        return table
    chosen = check_indices("columns", options.columns, table.shape[1])
    return Scores(chosen.tolist(), range(len(table)), table[:, chosen], range(len(table)))


def known_scores(prior_scores, source):
    """Return the cells of `prior_scores`; its rows must have the labels of the scores' rows."""
    if prior_scores is None:
        return None
    check_rows("prior_scores", prior_scores, source)
    if hasattr(prior_scores, "to_numpy"):
        return unlabelled(prior_scores)
    if is_table(prior_scores):
        return np.column_stack([np.asarray(prior_scores.column(at))
                                for at in range(len(prior_scores.column_names))]
                               ) if hasattr(prior_scores, "column_names") else prior_scores.values
    return prior_scores


class ScoreSource:
    """Base class: names of models, labels of items, and checks of scores.

    `table` has all scores if they are in memory; `paid` stores those of a function.
    """

    names = labels = own_labels = table = paid = None
    is_read = False  # True if the table was read from a file

    @property
    def n_real_items(self):
        """Number of items of the caller; for pairs, `n_items` is larger."""
        return self.n_items

    def generator(self, rng):
        """Return the generator that draws the order of the items."""
        return rng

    def model(self, model):
        """Return 'model 3', or 'model "gpt" (column 3)'."""
        if self.names is None or _same(self.names[model], model):
            return f"model {model}"
        return f"model {self.names[model]!r} (column {model})"

    def item(self, item):
        """Return 'item 3', or 'item "q3" (row 3)'."""
        if self.labels is None or _same(self.labels[item], item):
            return f"item {item}"
        return f"item {self.labels[item]!r} (row {item})"

    def check(self, values, items, models, limits):
        """Refuse the first score that is not finite or outside `limits`."""
        low, high = limits
        bad = ~((values >= low) & (values <= high) & np.isfinite(values))
        if not bad.any():
            return
        row, column = np.argwhere(bad)[0]
        value = float(values[row, column])
        got = f"got {value} for {self.item(int(items[row]))} of {self.model(int(models[column]))}"
        if not np.isfinite(value):
            raise ValueError(f"scores must be finite; {got}; {LOST}")
        raise ValueError(f"scores must lie in value_range = {(low, high)}; {got}")


class FunctionSource(ScoreSource):
    """Scores, and costs if told, of a function called once per model and block of items."""

    def __init__(self, function, n_arms, n_items, tells_costs=False, keys=None):
        self.function, self.n_arms, self.n_items = function, n_arms, n_items
        self.tells_costs = tells_costs
        self.keys = Keys() if keys is None else keys
        self.names, self.labels = self.keys.names, self.keys.labels
        self.paid = Paid(None, ("score", "cost") if tells_costs else ("score",), self.keys)

    def read(self, items, models, advance):
        """Return scores (len(items), len(models)), and costs or None; report to `advance`."""
        values = np.empty((1 + self.tells_costs, items.size, models.size))
        for column, model in enumerate(models.tolist()):
            self.paid.fill(values[:, :, column], (model,), items,
                           functools.partial(self._call, model))
            advance(items.size)
        return values[0], values[1] if self.tells_costs else None

    def _call(self, model, items):
        """Call the function; return a list of its scores and, if told, its costs."""
        # a copy, because the function may modify its argument
        model = self.keys.model(model)
        name, given = f"score({model!r}, items)", self.function(model, items.copy())
        if inspect.iscoroutine(given):
            given.close()
            raise TypeError(f"{name} returned a coroutine: pass the async function itself, or "
                            "Calls(concurrency=...), so that it is called with one item and "
                            "awaited")
        parts = {"score": given}
        if self.tells_costs:
            parts = dict(zip(("score", "cost"), _pair(name, given), strict=True))
        return [_one_per_item(name, what, part, items) for what, part in parts.items()]


def _pair(name, given):
    """Return the scores and costs of a function that must return both."""
    if not isinstance(given, tuple) or len(given) != 2:
        size = f" of {len(given)}" if isinstance(given, tuple) else ""
        raise TypeError(f"{name} must return a tuple (scores, costs) with costs='told'; got "
                        f"{type(given).__name__}{size}")
    return given


def _one_per_item(name, what, given, items):
    if labels_of(given) is not None:
        given = aligned(name, given, items.tolist(), "its items")
    given = check_numeric(name, refuse_masks(name, given))
    if given.shape != items.shape:
        raise ValueError(f"{name} must return one {what} per item, shape {items.shape}; got shape "
                         f"{given.shape}")
    return given


class TableSource(ScoreSource):
    """Scores of a table: `Scores`, a `NpyFile`, or an array (items, models)."""

    def __init__(self, table):
        values = table
        if isinstance(table, Scores):
            values = table.values
            self.names = None if table.columns is None else tuple(table.columns)
            self.labels = None if isinstance(table.index, range) else table.index
            self.own_labels = table.own_index
        self.values = values if isinstance(values, NpyFile) else self._numbers(values)
        if self.values.ndim != 2 or self.values.shape[1] < 2 or not len(self.values):
            raise ValueError(f"scores must be a function or a table (items, models) of at least "
                             f"1 item and 2 models; got {type(table).__name__} of shape "
                             f"{self.values.shape}")
        self.n_items, self.n_arms = self.values.shape
        self.table = self.values if isinstance(self.values, np.ndarray) else None

    def read(self, items, models, advance):
        """Return scores (len(items), len(models)), and None for the costs."""
        values = cells_of(self.values, items, models)
        advance(values.size)
        return values, None

    def _numbers(self, values):
        """Return the table as an array of real numbers, without a copy if it is one."""
        try:
            # masked scores are lost: like NaN, they are refused when they are read
            array = (np.ma.filled(values.astype(np.float64), np.nan) if is_masked(values)
                     else np.asarray(values))
            if array.dtype.kind in "SU" and not isinstance(values, np.ndarray):
                array = np.array(values, dtype=object)  # numbers in a list with text stay numbers
        except Exception as error:  # rows of unequal lengths, or an error of __array__
            raise ValueError(f"scores must be a table (items, models) with rows of one length: "
                             f"{error}") from None
        if array.dtype.kind in "biuf" or array.ndim != 2:
            return array if array.ndim == 2 else check_numeric("scores", array)
        return self._from_cells(array)

    def _from_cells(self, cells):
        """Return a float64 table from objects; None and pandas.NA become NaN."""
        table = np.empty(cells.shape)
        for column in range(cells.shape[1]):
            for row, cell in enumerate(cells[:, column].tolist()):
                if cell is None or type(cell).__name__ == "NAType":
                    cell = np.nan
                elif not isinstance(cell, (numbers.Real, np.bool_)):
                    raise TypeError(f"scores must hold real numbers; got {cell!r} for "
                                    f"{self.item(row)} of {self.model(column)}")
                try:
                    table[row, column] = cell
                except OverflowError:
                    raise ValueError(f"scores must be finite float64; got an integer of more than "
                                     f"308 digits for {self.item(row)} of "
                                     f"{self.model(column)}") from None
        return table


class BlockSource(ScoreSource):
    """Scores of `Blocks`, read in whole blocks of items."""

    def __init__(self, blocks):
        if blocks.n_columns < 2:
            raise ValueError(f"scores must be a table (items, models) of at least 2 models; got "
                             f"{blocks!r}")
        if blocks.names is not None and not hasattr(blocks.read, "columns"):
            _check_names(blocks.names)
        self.blocks, self.names = blocks, blocks.names
        self.n_items, self.n_arms = blocks.n_rows, blocks.n_columns

    def generator(self, rng):
        return BlockGenerator(as_generator(rng), self.blocks.sizes)

    def read(self, items, models, advance):
        """Return scores (len(items), len(models)), and None for the costs."""
        values = self.blocks.values(items, models)
        advance(values.size)
        return values, None


def _check_names(names):
    """Refuse columns whose names say that they are not models."""
    for at, name in enumerate(names):
        if is_label(name, at) or is_model(name) or is_aggregate(name):
            raise ValueError(f"scores must have a model in each column; got a column {name!r}: "
                             "leave it out of the Blocks")


def _same(label, position):
    return isinstance(label, (int, np.integer)) and label == position
