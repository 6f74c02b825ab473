"""Rows of SciPy's sparse arrays, in CSR. `scipy.sparse` is imported where it is used."""

import sys

import numpy as np

AT_ONCE = 1 << 22  # entries that are dense at once
FEW_COLUMNS = 10   # rows with at most this number are made dense


def is_sparse(values):
    """Return True for one of SciPy's sparse arrays."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(values)


def dense(rows):
    """Return rows as an ndarray."""
    return rows.toarray() if is_sparse(rows) else rows


def as_csr(name, values):
    """Return rows in CSR with sorted columns, which may share their values; or a dense array.

    Few columns, or rows of which at least half of the entries are not 0, take less memory dense.
    """
    from scipy import sparse

    if values.ndim != 2 or not all(values.shape):
        raise ValueError(f"{name} must have shape (n, n_columns), both at least 1; got "
                         f"{values.shape}")
    if values.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers; got {type(values).__name__} with dtype "
                        f"{values.dtype}")
    rows = sparse.csr_array(values)
    n, n_columns = rows.shape
    if n_columns <= FEW_COLUMNS or 2 * rows.nnz >= n * n_columns:
        return rows.toarray()
    _check_structure(name, rows)
    if not rows.has_canonical_format:
        rows = rows.copy()  # the next line changes it
        rows.sum_duplicates()
    return rows


def _check_structure(name, rows):
    """Refuse positions or columns out of range, with which SciPy would read other memory."""
    columns = rows.indices
    if rows.indptr.shape != (rows.shape[0] + 1,):
        raise ValueError(f"{name} must be a valid sparse array; got {rows.indptr.size} positions "
                         f"of {rows.shape[0]} rows")
    check_starts(np.array(rows.indptr), min(columns.size, rows.data.size))
    if columns.size and not 0 <= columns.min() <= columns.max() < rows.shape[1]:
        raise ValueError(f"{name} must be a valid sparse array; got columns {columns.min()} to "
                         f"{columns.max()} of {rows.shape[1]}")


def check_starts(starts, n_values):
    """Refuse positions of rows that are not those of CSR."""
    if starts[0] != 0 or starts[-1] > n_values or (np.diff(starts) < 0).any():
        raise ValueError("X must be a valid sparse array; got positions of rows that decrease or "
                         f"are outside the {n_values} values")


def with_values(rows, values):
    """Return the rows with other values."""
    from scipy import sparse

    return sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def parts(rows):
    """Yield slices of rows that are dense in bounded memory."""
    size = max(1, AT_ONCE // rows.shape[1])
    for first in range(0, rows.shape[0], size):
        yield slice(first, min(first + size, rows.shape[0]))


def unit_csr(rows, unit_rows):
    """Return the rows that `unit_rows` makes of dense parts: with an additional column, or not."""
    from scipy import sparse

    n_columns = rows.shape[1]
    made = [sparse.csr_array(_with_column(unit_rows(rows[part].toarray()), n_columns + 1))
            for part in parts(rows)]
    found = sparse.vstack(made, format="csr")
    return found if found[:, [n_columns]].nnz else sparse.csr_array(found[:, :n_columns])


def _with_column(rows, n_columns):
    """Return rows with zeros appended up to n_columns."""
    missing = n_columns - rows.shape[1]
    return np.hstack([rows, np.zeros((len(rows), missing), rows.dtype)]) if missing else rows


def dense_columns(rows):
    """Yield blocks of columns as dense arrays, all columns once."""
    from scipy import sparse

    by_column = sparse.csc_array(rows)
    size = max(1, AT_ONCE // rows.shape[0])
    for first in range(0, rows.shape[1], size):
        yield np.ascontiguousarray(by_column[:, first:first + size].toarray())


def first_of_equal(rows, candidates):
    """Return the positions of the first of each group of equal rows, increasing."""
    seen, first = set(), []
    for at, row in enumerate(candidates):
        one = rows[[row]]
        one.eliminate_zeros()
        key = one.indices.tobytes(), (one.data + 0.0).tobytes()  # -0.0 does not occur
        if key not in seen:
            seen.add(key)
            first.append(at)
    return np.array(first)
