"""Distances from whatever a user gives: rows, a matrix, a function of indices or of two rows."""

import numpy as np

from pybandit._shared.checks import as_array, check_integer, shown
from pybandit.cluster._distances import Distances
from pybandit.cluster._files import is_table, rows_of_table
from pybandit.cluster._rows import METRICS, as_matrix, as_rows, check_metric, unit_rows
from pybandit.racing._callbacks import as_callback
from pybandit.racing.factors import MOST_FACTORS, Factors

PRECOMPUTED = METRICS["precomputed"]
# metrics of rows for which the triangle inequality holds
WITH_TRIANGLE = {METRICS[name] for name in ("euclidean", "manhattan", "hamming")}


def as_distances(x, n, metric):
    """Return (`Distances`, the number of the metric, True if the triangle inequality holds)."""
    names = None
    if is_table(x):
        x, names = rows_of_table(x)
    function = _function_of(x)
    if function is not None:
        if isinstance(x, Factors):
            n = _size_of(x, n)
        elif n is None:
            raise TypeError("n, the number of points, must be given if X is a function")
        if metric != "euclidean":
            raise ValueError(f"metric must not be given with a function of indices; got "
                             f"{shown(metric)}")
        n = check_integer("n", n, 1, MOST_FACTORS)
        return Distances(None, PRECOMPUTED, function, n), PRECOMPUTED, False
    if n is not None:
        raise TypeError(f"n must be given with a function of indices only; got {shown(n)}")
    if callable(metric):
        items = _items(x)
        return Distances(None, PRECOMPUTED, _of_pairs(metric, items), len(items)), PRECOMPUTED, \
            False
    number = check_metric(metric)
    if number == PRECOMPUTED:
        return Distances(as_matrix("X", x)), number, False
    rows = as_rows("X", x, number != METRICS["hamming"], names)
    if number == METRICS["cosine"]:
        rows = unit_rows(rows)
    return Distances(rows, number), number, number in WITH_TRIANGLE


def _function_of(x):
    """Return the function of indices that `x` is, compiled or not, or None."""
    if isinstance(x, Factors):
        if x.control is not None:
            raise ValueError("Factors of distances must not have a control variate")
        # factors are references, the second index of a distance
        return x._callback or (lambda i, j: np.transpose(x.function(j, i)))
    found = as_callback(x)
    if found is not None:
        return found
    return x if callable(x) else None


def _size_of(factors, n):
    if factors.n_factors != factors.n_states or n not in (None, factors.n_factors):
        raise ValueError(f"Factors of distances must have n_factors = n_states = n; got "
                         f"{factors.n_factors}, {factors.n_states} and n = {shown(n)}")
    return factors.n_factors


def _items(x):
    """Return the objects that a function of two of them takes: rows of an array, or a list."""
    items = list(x) if isinstance(x, (list, tuple)) else as_array("X", x)
    if len(np.shape(items)) == 0 or not len(items):
        raise ValueError("X must have at least one row; got none")
    return items


def _of_pairs(metric, items):
    """Return the function of indices of a function of two rows: one call per pair."""

    def number(a, b):
        value = metric(items[a], items[b])
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            raise TypeError(f"metric must return a number; got {shown(value)} from row {a} to row "
                            f"{b}") from error

    def distance(i, j):
        values = np.array([[number(a, b) for b in j] for a in i])
        bad = np.argwhere(~((values >= 0) & np.isfinite(values)))
        if len(bad):
            a, b = bad[0]
            raise ValueError(f"metric must return distances that are finite and at least 0; got "
                             f"{float(values[a, b])!r} from row {i[a]} to row {j[b]}")
        return values

    return distance


def part_of(distances, metric, members):
    """Return the `Distances` among some of the points."""
    if metric != PRECOMPUTED:
        return Distances(distances.rows[members], metric)
    return Distances(None, PRECOMPUTED,
                     lambda i, j: distances.block(members[i], members[j]), len(members))
