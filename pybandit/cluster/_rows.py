"""Check the rows between which distances are computed, and choose their type."""

import numbers

import numpy as np

from pybandit._shared.checks import as_array, check_choice, shown
from pybandit.cluster._frames import columns_of, is_frame, numbers_of_frame
from pybandit.cluster._sparse import as_csr, is_sparse, unit_csr, with_values

# Numbers of metrics (pybandit/cluster/distance.h), by the names of scikit-learn.
METRICS = {"euclidean": 0, "l2": 0, "sqeuclidean": 1, "manhattan": 2, "l1": 2, "cityblock": 2,
           "hamming": 3, "cosine": 4, "precomputed": 5}
# Squared distances of wider rows overflow, and those of narrower ones lose digits; per type.
WIDEST = {"float32": 1e18, "float64": 1e150}
NARROWEST = 1e-12  # of float32
AT_ONCE = 1 << 22  # values searched at once for one that is not finite


def as_rows(name, values, squared=True, names=None):
    """Return rows as a finite, C-contiguous float32 or float64 array of shape (n, n_columns).

    Sparse rows are returned in CSR, or dense if that takes less memory. `names` are the names of
    the columns, by default those of a data frame.

    float32 and float64 rows are not copied if they are C-contiguous, so another thread must not
    write to them. float16, integers and booleans become float32 if it holds them exactly, and
    otherwise float64. float32 rows whose squared differences would overflow or lose digits
    become float64 if `squared`.
    """
    names = columns_of(values) if names is None else names
    if is_sparse(values):
        rows = as_csr(name, values)
        if is_sparse(rows):
            return with_values(rows, _checked(name, rows.data, rows, squared, names))
    elif is_frame(values):
        rows = numbers_of_frame(name, values)
    elif hasattr(values, "toarray"):
        raise TypeError(f"{name} must have dense rows or be one of SciPy's sparse arrays; got "
                        f"{type(values).__name__}")
    else:
        rows = as_array(name, values)
    if rows.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers; got {type(values).__name__} with dtype "
                        f"{rows.dtype}{_other_than_number(rows)}: metric may be a function of two "
                        "other objects")
    if rows.ndim != 2 or not rows.size:
        raise ValueError(f"{name} must have shape (n, n_columns), both at least 1; got "
                         f"{rows.shape}")
    return _checked(name, rows, rows, squared, names)


def _checked(name, values, rows, squared, names):
    """Return the values of rows, all or those that are not 0, in the type for distances."""
    values = np.ascontiguousarray(values, _type_for(values))
    low, high = _range_of(values, rows)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(f"{name} must be finite; got {_first_bad(values, rows, names)}")
    range_ = float(high) - float(low)
    width = range_ * rows.shape[1] ** 0.5  # no distance is larger
    if width > WIDEST["float64"]:
        raise ValueError(f"{name} must have a range of at most {WIDEST['float64']:g} divided by "
                         f"sqrt(n_columns), or squared distances overflow; got {range_:g}")
    is_safe = NARROWEST < range_ and width < WIDEST["float32"] or range_ == 0
    return values if is_safe or not squared else values.astype(np.float64, copy=False)


def _other_than_number(rows):
    """Return the first object that is not a number, and its place, in words."""
    places = (place for place in np.ndindex(rows.shape) if rows.dtype.kind == "O"
              and not isinstance(rows[place], numbers.Real))
    place = next(places, None)
    return "" if place is None else f": {shown(rows[place])} at index {place}"


def _first_bad(values, rows, names):
    """Return the first value of rows that is not finite, and its place, in words."""
    flat = values.reshape(-1)
    at = next((first + int(np.argmin(np.isfinite(flat[first:first + AT_ONCE])))
               for first in range(0, flat.size, AT_ONCE)
               if not np.isfinite(flat[first:first + AT_ONCE]).all()), 0)
    if is_sparse(rows):
        row, column = int(np.searchsorted(rows.indptr, at, side="right")) - 1, rows.indices[at]
    else:
        row, column = divmod(at, rows.shape[1])
    column = int(column) if names is None else names[column]
    return f"{flat[at]} in row {row}, column {column!r}"


def _range_of(values, rows):
    """Return the smallest and the largest entry of rows; entries that CSR leaves out are 0."""
    if not is_sparse(rows):
        return values.min(), values.max()
    return (min(values.min(initial=0.0), 0.0), max(values.max(initial=0.0), 0.0))


def _type_for(rows):
    """Return the type in which distances of these rows are computed."""
    if rows.dtype.kind == "f" or not rows.size:
        return np.float64 if rows.dtype.itemsize > 4 else np.float32
    most = max(abs(int(rows.min())), abs(int(rows.max())))
    return np.float32 if most <= 1 << 24 else np.float64


def unit_rows(rows):
    """Return rows divided by their lengths, so that cosine distances are half squared distances.

    Rows of zeros get an additional column: their distance is 1 to all other rows, as in
    scikit-learn, and 0 to each other.
    """
    if is_sparse(rows):
        return unit_csr(rows, unit_rows)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))[:, None]
    unit = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0,
                     casting="same_kind")
    if lengths.all():
        return unit
    return np.hstack([unit, (lengths == 0).astype(rows.dtype)])


def check_metric(metric):
    """Return the number of a named metric."""
    return METRICS[check_choice("metric", metric, tuple(METRICS))]


def as_matrix(name, values):
    """Return a precomputed matrix of distances, float32 or float64; entries are not checked."""
    matrix = as_array(name, values)
    if matrix.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold distances; got {type(values).__name__} with dtype "
                        f"{matrix.dtype}")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"{name} must have shape (n, n) if metric is 'precomputed'; got "
                         f"{matrix.shape}")
    return np.ascontiguousarray(matrix, _type_for(matrix))
