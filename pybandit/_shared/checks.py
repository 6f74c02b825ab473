"""Checks of arguments: each message names the argument, the requirement and the value received."""

import sys

import numpy as np

from pybandit._shared.errors import InfeasibleBudgetError
from pybandit._shared.warn import warn

# largest int64
LARGEST = 2**63 - 1
# largest absolute reward: sums of squares of larger ones overflow and could not be restored
LARGEST_REWARD = 1e150
MOST_PULLS = 2**53  # exact in float64, in which pulls are also counted
# maximum number of entries of an array: 8 TB of float64; sizes in bytes do not overflow
MOST_HELD = 2**40
# types that NumPy converts to new arrays, C-contiguous and aligned
NEW = {bool, int, float, list, tuple}


def shown(value, most=200):
    """Return a value for a message: its repr, cut if it is long, or its type if repr fails."""
    try:
        text = repr(value)
    except Exception:  # an int of thousands of digits, or an error in the class
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= most else f"{text[:most]}..."


def check_choice(name, value, choices):
    """Return `value` if it is one of `choices`."""
    if type(value) is str and value in choices:
        return value
    try:
        hash(value)  # unhashable values are not choices; arrays would compare element by element
        known = value in choices
    except Exception:
        known = False
    if not known:
        expected = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {expected}; got {shown(value)}")
    return value


def refuse_class(name, value, expected):
    """Raise TypeError if `value` is a class, which users forget to call."""
    if isinstance(value, type):
        raise TypeError(f"{name} must be {expected}; got the class {value.__name__}: call it, "
                        f"{value.__name__}(...)")


def check_flag(name, value):
    """Return `value` as a bool; refuse masked values and those without a truth value, as arrays."""
    try:
        if not is_masked(value):
            return bool(value)
    except Exception:
        pass
    raise TypeError(f"{name} must be True or False; got {shown(value)}")


def check_integer(name, value, minimum, maximum=LARGEST):
    """Return `value` as an int of at least `minimum`, at most `maximum`."""
    try:
        number = int(value)
        whole = bool(number == value) and not (
            isinstance(value, (bool, np.bool_)) or isinstance(value, np.ndarray) and value.ndim)
    except Exception:  # __int__ and == may be user-defined
        whole = False
    if not whole:
        raise TypeError(f"{name} must be an integer; got {shown(value)}")
    if number < minimum:
        raise ValueError(f"{name} must be at least {minimum}; got {shown(number)}")
    if number > maximum:
        raise ValueError(f"{name} must be at most {maximum}; got {shown(number)}")
    return number


def check_in(name, values, expected, holds, copy=True):
    """Return `values` as float64 if `holds` is true of all of them.

    `holds` receives the array and must be false for NaN. `expected` describes the allowed values
    in the message. `copy` is passed to `check_numeric`.
    """
    array = check_numeric(name, values, copy=copy)
    bad = ~np.asarray(holds(array), dtype=bool)
    if bad.any():
        where = "" if array.ndim == 0 else f" at index {_index(bad)}"
        value = array[bad].flat[0] if array.ndim else array[()]
        raise ValueError(f"{name} must be {expected}; got {float(value)!r}{where}"
                         f"{_percent_remedy(expected, float(value))}")
    return array


def _percent_remedy(expected, value):
    """Return the remedy for a percentage where a share is expected, or ""."""
    is_share = expected in ("in (0, 1)", "in [0, 1]", "in (0, 1]", "in [0, 1)")
    if is_share and 1 < value < 100:
        return f": write {value:g} % as {value / 100:g}"
    return ""


def check_scalar(name, value, expected, holds):
    """Return `value`, one number, as a float if `holds` is true of it."""
    number = check_numeric(name, value)
    if number.ndim:
        raise ValueError(f"{name} must be a number; got shape {number.shape}")
    return float(check_in(name, number, expected, holds, copy=False))


def check_positive(name, value):
    """Return `value` as a float if it is finite and above 0."""
    return check_scalar(name, value, "finite and above 0", lambda x: np.isfinite(x) & (x > 0))


def check_ends(value_range):
    """Return `value_range` as two floats, low and high, low below high."""
    ends = check_in("value_range", value_range, "(low, high), both finite", np.isfinite)
    if ends.shape != (2,) or not 0 < float(ends[1]) - float(ends[0]) < np.inf:
        raise ValueError("value_range must be (low, high) with low < high and a finite difference; "
                         f"got {shown(value_range)}")
    return float(ends[0]), float(ends[1])


def check_delta(delta):
    """Return `delta`, a probability of error, as a float in (0, 1); warn from 0.5 on."""
    delta = check_scalar("delta", delta, "in (0, 1)", lambda x: (x > 0) & (x < 1))
    if delta >= 0.5:
        warn(f"delta is the probability of an error; got {delta:g}: for a confidence of 95 % pass "
             "delta=0.05")
    return delta


def as_list(name, values, expected, least=1):
    """Return an iterable as a list of at least `least` items; messages say what is `expected`."""
    try:
        items = list(values)
    except Exception as error:
        raise TypeError(f"{name} must be {expected}; got {shown(values)}: {error}") from error
    if len(items) < least:
        entries = "entry" if least == 1 else "entries"
        raise ValueError(f"{name} must have at least {least} {entries} ({expected}); got "
                         f"{len(items)} entries")
    return items


def is_masked(values):
    """Return True if some of these values are masked."""
    # there are no masked arrays unless numpy.ma was imported; importing it here would be slow
    return type(values) is not np.ndarray and "numpy.ma" in sys.modules and np.ma.is_masked(values)


def check_numeric(name, values, masked_as_nan=False, copy=True):
    """Return a float64 copy of `values`, C-contiguous.

    Refuses text, objects, complex numbers and masked entries; with `masked_as_nan`, masked
    entries become NaN.

    Another thread may write to the original at any time, and `__array__` may return a different
    array at its next call. Therefore the copy is made first; the caller checks this copy and uses
    it. Without `copy`, an aligned float64 array shares the memory of `values`, in any order of
    axes. This is for large tables whose values are never used as an index or a size.
    """
    masked = is_masked(values)
    if masked and not masked_as_nan:
        raise TypeError(f"{name} must hold real numbers; got {type(values).__name__} with "
                        "masked entries: fill them or leave them out")
    try:
        array = _as_own(values, copy)
    except Exception as error:  # rows of unequal lengths, or a user-defined __array__
        raise ValueError(f"{name} must hold real numbers; got {shown(values)}: {error}") from error
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"{name} must hold real numbers; got {type(values).__name__} "
            f"with dtype {array.dtype}"
        )
    if masked:
        return np.where(values.mask, np.nan, array.astype(np.float64))
    if array.dtype != np.float64:
        # conversion may signal a 32-bit NaN, or overflow from long double to infinity
        with np.errstate(invalid="ignore", over="ignore"):
            return array.astype(np.float64, order="C")
    return array if array.flags.aligned else array.copy()


def labels_of(table, what="index"):
    """Return the row labels of a frame or series, or its "columns"; None if it has none."""
    held = getattr(table, what, None)
    if held is None and what == "index" and hasattr(table, "coords"):  # xarray
        rows = table.dims[0] if table.dims else None
        held = table.coords[rows].values.tolist() if rows in table.coords else None
    return None if held is None or callable(held) else list(held)  # lists have a method named index


def check_counts(trials, sums, n_arms, most=MOST_PULLS):
    """Return checked trials (int64) and sums of rewards (float64), one value per arm."""
    of_trials, of_sums = labels_of(trials), labels_of(sums)
    if of_trials is not None and of_sums is not None and of_trials != of_sums:
        raise ValueError(f"sums must have the index of trials, {shown(of_trials)}; got "
                         f"{shown(of_sums)}")
    trials = check_in("trials", refuse_masks("trials", trials), "integers of at least 0",
                      lambda x: (x >= 0) & (x <= MOST_PULLS) & (np.floor(x) == x))
    sums = check_in("sums", refuse_masks("sums", sums), "finite", np.isfinite)
    for name, values in (("trials", trials), ("sums", sums)):
        if values.shape != (n_arms,):
            raise ValueError(f"{name} must have shape ({n_arms},), one value per arm; got "
                             f"{values.shape}")
    if trials.sum() > most:
        raise ValueError(f"trials must be at most {most} in all; got {trials.sum():.0f}")
    return trials.astype(np.int64), np.ascontiguousarray(sums)


def refuse_masks(name, values):
    """Return `values`; refuse masked entries, which have no value."""
    if is_masked(values):
        where = np.argwhere(np.broadcast_to(values.mask, values.shape))[0].tolist()
        raise ValueError(f"{name} must not be masked; got a mask at index "
                         f"{where[0] if len(where) == 1 else tuple(where)}")
    return values


def as_array(name, values, copy=False):
    """Return `values` as an array of any dtype; refuse masked entries and invalid objects.

    The data may be shared with the caller; shape and dtype are not. See `owned`.
    """
    if is_masked(values):
        raise TypeError(f"{name} must be an array without masked entries; got {shown(values)}")
    try:
        return _as_own(values, copy)
    except Exception as error:
        raise TypeError(f"{name} must be an array; got {shown(values)}: {error}") from error


def _as_own(values, copy):
    """Return a new array whose shape and dtype (with `copy` also data) no other code can change."""
    array = np.asarray(values)
    if type(values) in NEW:
        return array
    return np.array(array, order="C") if copy else array.view()


def owned(name, values):
    """Return a C-contiguous copy of `values`, of any dtype.

    Check and use this copy, never the original: see `check_numeric`.
    """
    return as_array(name, values, copy=True)


def check_indices(name, values, n, dtype=np.int64, size=""):
    """Return a C-contiguous copy of `values`, integers in [0, n); `size` explains n in messages."""
    values = owned(name, values)
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise TypeError(f"{name} must be a 1-D array of integers; got shape {values.shape} of "
                        f"{values.dtype}")
    if values.size and not (values.min() >= 0 and values.max() < n):
        raise ValueError(f"{name} must be in [0, {n}){size}; got {values.min()} to "
                         f"{values.max()}")
    return values.astype(dtype, copy=False)


def frozen(array):
    """Return a copy of `array` that can never be written to.

    An array that owns its memory can be made writable again with `setflags`; an array on `bytes`
    cannot.
    """
    return np.ndarray(array.shape, array.dtype, array.tobytes())


def read_only(array):
    """Return a read-only view of an array, to pass to a user's function."""
    view = array[...]
    view.flags.writeable = False
    return view


def returned(name, values, shape, expected):
    """Return the result of a user's function as an array of this shape and of any dtype.

    The result is converted once, so the array that is checked is the one that is used; the data
    may be shared. `expected` is the first half of the message for a different shape.
    """
    try:
        array = _as_own(values, copy=False)
    except Exception as error:  # rows of unequal lengths
        raise ValueError(f"{name} must be an array; got {shown(values)}: {error}") from error
    if array.shape != shape:
        raise ValueError(f"{expected} = {shape}; got shape {array.shape}")
    return array


def numbers_returned(name, values, shape, expected):
    """Return the result of `returned` as float64; refuse masked entries."""
    if is_masked(values):
        return check_numeric(name, values)  # raises the error
    return check_numeric(name, returned(name, values, shape, expected), copy=False)


def nonnegative(x):
    """Return True for finite x of at least 0; a condition for `check_in`."""
    return np.isfinite(x) & (x >= 0)


def plain(values):
    """Return a single number as a float, and arrays unchanged."""
    return float(values) if np.ndim(values) == 0 else values


def _index(mask):
    index = tuple(int(i) for i in np.argwhere(mask)[0])
    return index[0] if len(index) == 1 else index


def check_budget(budget, least, n_arms, reason, name="budget"):
    """Raise `InfeasibleBudgetError` if `budget` is below `least`; `reason` explains `least`."""
    if budget < least:
        raise InfeasibleBudgetError(f"{name} must be at least {least} for {n_arms} arms: {reason}; "
                                    f"got {budget}")


def listed(names, most=8):
    """Return the first names, separated by commas, and the number of the others."""
    rest = len(names) - most
    return ", ".join(map(str, names[:most])) + f" and {rest:,} more" * (rest > 0)
