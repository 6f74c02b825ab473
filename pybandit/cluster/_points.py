"""Points given as rows, as a matrix of distances or as a function of indices."""

import numpy as np

from pybandit._shared.checks import check_in, check_integer, refuse_class, shown
from pybandit.cluster._distances import Distances
from pybandit.cluster._files import is_table, rows_of_table
from pybandit.cluster._rows import as_matrix, as_rows, check_metric, unit_rows
from pybandit.racing._callbacks import as_callback

PRECOMPUTED = check_metric("precomputed")
COSINE = check_metric("cosine")
SQUARED = {check_metric(name) for name in ("euclidean", "sqeuclidean")}


def as_distances(name, X, metric, n=None):
    """Return the Distances of points: rows, a matrix, or a function of indices of n points."""
    if isinstance(X, Distances):
        return X
    refuse_class(name, X, "rows, or a function of indices")
    callback = None if isinstance(X, np.ndarray) else as_callback(X)
    if callback is not None or callable(X):
        if n is None:
            raise TypeError(f"n, the number of points, must be given if {name} is a function; got "
                            "None")
        return Distances(None, function=callback or X, n=check_integer("n", n, 1))
    if n is not None:
        raise TypeError(f"n must be None if {name} holds rows; got {shown(n)}")
    if is_table(X):
        X = rows_of_table(X)
    number = check_metric(metric)
    if number == PRECOMPUTED:
        return Distances(as_matrix(name, X), number)
    rows = as_rows(name, X, number in SQUARED)
    return Distances(unit_rows(rows) if number == COSINE else rows, number)


def check_weights(weights, n):
    """Return weights as float64, shape (n,), or None if they are None."""
    if weights is None:
        return None
    weights = check_in("weights", weights, "finite and at least 0",
                       lambda w: (w >= 0) & (w < np.inf))
    if weights.shape != (n,):
        raise ValueError(f"weights must have shape ({n},), one weight per row; got "
                         f"{weights.shape}")
    if not weights.any():
        raise ValueError("weights must not all be 0")
    return weights
