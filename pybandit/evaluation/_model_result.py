"""Base class of results about models: names, counts and printing."""

import html
from typing import Any

import numpy as np

from pybandit._shared.checks import check_integer
from pybandit._shared.html import table
from pybandit._shared.optional import require
from pybandit._shared.records import plain
from pybandit._shared.types import Floats, Ints

PRINTED, ROWS = 9, 20  # models of a printed table and of one in a notebook


class ModelResult:
    """Base class of results about models; subclasses set the annotated attributes."""

    __slots__ = ()
    best_arms: Ints
    names: tuple[str, ...]
    n_arms: int
    n_items: int
    n_pulls: int
    n_failed_by_arm: Ints
    population_size: float
    _race: Any
    _named: bool

    @property
    def best_names(self) -> tuple[str, ...]:
        """Names of `best_arms`, best first."""
        return tuple(self.names[arm] for arm in self.best_arms.tolist())

    @property
    def fraction_read(self) -> float:
        """Fraction of all n_arms * n_items scores that was read, in [0, 1]."""
        return self.n_pulls / (self.n_arms * self.n_items)

    @property
    def n_failed(self) -> int:
        """Number of calls that failed after all tries, over all models."""
        return int(self.n_failed_by_arm.sum())

    def name(self, model: int) -> str:
        """Return the name of a model; 'model 3' if there are no names."""
        model = self._checked(model)
        return self.names[model] if self._named else f"model {model}"

    def rewards(self, model: int) -> Floats:
        """Return the scores of a model in the order read; float64, shape (pulls[model],)."""
        rewards: Floats = self._race.rewards(self._checked(model))
        return rewards

    def to_frame(self) -> Any:
        """Return all models in a pandas.DataFrame, the answer first, indexed by name.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.
        """
        pandas = require("pandas", "pandas")
        index = pandas.Index(list(self.names), name="model")
        return pandas.DataFrame(self._columns(), index=index).iloc[self._order()]

    def _checked(self, model):
        model = check_integer("model", model, 0)
        if model >= self.n_arms:
            raise ValueError(f"model must be below the number of models, {self.n_arms}; got "
                             f"{model}")
        return model

    def _jsonable(self, *names):
        """Return these attributes as lists and plain numbers."""
        return {name: plain(getattr(self, name)) for name in names}

    def _printed(self, most):
        """Return the head and first rows of `to_frame` as text, and the number of other rows."""
        columns = self._columns(bounds=False)
        rows = [(self.names[arm], *(_shown(values[arm]) for values in columns.values()))
                for arm in self._order()[:most]]
        return ("model", *columns), rows, max(0, self.n_arms - most)

    def _table(self):
        """Return the lines of a table of text, at most ten below the head."""
        head, rows, n_more = self._printed(PRINTED if self.n_arms <= PRINTED else PRINTED - 1)
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        lines = ["  ".join(f"{cell:>{width}}" if at > 1 else f"{cell:{width}}" for at, (cell, width)
                           in enumerate(zip(row, widths, strict=True))).rstrip()
                 for row in (head, *rows)]
        return [*lines, *([f"and {n_more:,} more: to_frame() has all"] if n_more else [])]

    def _html(self, *sentences):
        head, rows, n_more = self._printed(ROWS)
        more = f"<p>and {n_more:,} more: <code>to_frame()</code> has all</p>" if n_more else ""
        return (f"<p>{'<br>'.join(map(html.escape, filter(None, sentences)))}</p>"
                + table(head, rows) + more)


def names_of(source: Any) -> dict[str, Any]:
    """Return the attributes `names`, as text, and `_named`, True if the source has names."""
    named = source.names is not None
    names = source.names if named else range(source.n_arms)
    return {"names": tuple(map(str, names)), "_named": named}


def _shown(value):
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, (int, np.integer)) else str(value)
