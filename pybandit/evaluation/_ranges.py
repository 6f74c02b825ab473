"""The range of scores: given, or found from a table in memory."""

import os

import numpy as np

from pybandit.evaluation._scores import TableSource

SUCH_AS = "(low, high), of all values a score can take, such as (0, 1)"


def range_of(value_range, scores, source, items):
    """Return `value_range`; if it is None, (0, 1) for a table in memory whose cells lie there.

    The guarantee is about the random order of the items, so a look at the whole table does not
    weaken it.
    """
    if value_range is not None:
        return value_range
    kind = _kind_without_range(scores, source)
    if kind is not None:
        raise ValueError(f"value_range must be given for {kind}: {SUCH_AS}")
    values = source.values
    if values.dtype == bool:
        return 0.0, 1.0
    if items.population_size not in (None, source.n_items):
        raise ValueError("value_range must be given beside a population_size, because other items "
                         f"may have other scores: {SUCH_AS}")
    if np.isnan(values).any():
        row, column = np.argwhere(np.isnan(values))[0].tolist()
        raise ValueError(f"scores must be finite; got nan for {source.model(column)}, "
                         f"{source.item(row)}: leave items with a lost score out for all models")
    bad = (values < 0) | (values > 1)
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        raise ValueError("value_range must be given for a table with cells outside [0, 1]: "
                         f"{SUCH_AS}; got {float(values[row, column])} for {source.model(column)}, "
                         f"{source.item(row)}")
    return 0.0, 1.0


def _kind_without_range(scores, source):
    """Return the kind of these scores in words; None if they are a table in memory."""
    if callable(scores):
        return "a function"
    if isinstance(scores, (str, os.PathLike)) or isinstance(scores, (list, tuple)) and all(
            isinstance(one, (str, os.PathLike)) for one in scores):
        return "a file"
    if not isinstance(source, TableSource) or source.table is None or source.is_read or (
            isinstance(scores, np.memmap)):
        return "scores that are not a table in memory"
    return None
