"""Numbers of data frames, whose columns may have different types and missing values."""

import numpy as np

from pybandit._shared.checks import labels_of, shown

__all__ = ["columns_of", "is_frame", "numbers_of_frame", "refuse_missing"]


def is_frame(values):
    """Return True for a data frame of pandas, of which columns are read one by one."""
    return hasattr(values, "iloc") and hasattr(values, "dtypes") and len(values.shape) == 2


def columns_of(values):
    """Return the names of the columns of a data frame, or None."""
    return labels_of(values, "columns")


def numbers_of_frame(name, frame):
    """Return the numbers of a frame, in the smallest type that holds those of all columns.

    Nullable columns are taken as their numbers. A missing value is an error with its column.
    """
    kinds = {one.kind if isinstance(one, np.dtype) else "" for one in frame.dtypes}
    if kinds == {"b"} or kinds <= set("iuf"):
        return np.asarray(frame)  # which copies nothing if there is one type
    columns = [_numbers(name, frame.iloc[:, at], label)
               for at, label in enumerate(columns_of(frame))]
    rows = np.empty(frame.shape, np.result_type(*columns) if columns else np.float64)
    for at, column in enumerate(columns):
        rows[:, at] = column
    return rows


def refuse_missing(name, frame):
    """Raise an error with the column of the first missing value of a frame."""
    for at, label in enumerate(columns_of(frame)):
        _refuse_missing(name, frame.iloc[:, at], label)


def _refuse_missing(name, series, label):
    is_missing = np.asarray(series.isna(), dtype=bool)
    if is_missing.any():
        at = int(np.argmax(is_missing))
        raise ValueError(f"{name} must not have missing values; got {series.iloc[at]} in row {at}, "
                         f"column {label!r}")


def _numbers(name, series, label):
    """Return the numbers of a column."""
    _refuse_missing(name, series, label)
    numbers = getattr(series.dtype, "numpy_dtype", series.dtype)
    if isinstance(numbers, np.dtype) and numbers.kind in "biuf":
        return series.to_numpy(dtype=numbers)
    values = np.asarray(series)
    if values.dtype.kind == "O":  # numbers of Python, or something else
        values = np.array(list(values))
    if values.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers; got {shown(series.iloc[0])} in column "
                        f"{label!r} of {series.dtype}")
    return values
