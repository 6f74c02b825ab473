"""Checks at the border: each names the argument, what came and what was expected."""

import sys

import numpy as np

from pybandit._shared.errors import InfeasibleBudgetError
from pybandit._shared.warn import warn

# what an int64 holds; what is exact in float64, in which pulls are counted too
LARGEST = 2**63 - 1
# in size: a state that holds sums of squares which are no numbers is no state, and is lost
LARGEST_REWARD = 1e150
MOST_PULLS = 2**53
# of what arrays are made of: 8 TB of numbers, and sizes that do not overflow
MOST_HELD = 2**40
# types of which NumPy makes new arrays, C-contiguous and aligned
NEW = {bool, int, float, list, tuple}


def shown(value, most=200):
    """A value in a message: its repr, cut where it is long; its type where it has none."""
    try:
        text = repr(value)
    except Exception:  # of an int of thousands of digits, or whatever the class does
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= most else f"{text[:most]}..."


def check_choice(name, value, choices):
    """Return `value` if it is one of `choices`."""
    if type(value) is str and value in choices:
        return value
    try:
        hash(value)  # arrays compare item by item, and what has no hash is none of them
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
    """Whether `value` is true; refuses what has no truth, as an array, and what is masked."""
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
    except Exception:  # __int__ and == may be anybody's
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

    `holds` gets the array; NaN must make it false. `expected` describes the allowed
    values in the message. `copy` is that of `check_numeric`.
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
    """Return `value`, a number of which `holds` is true, as a float."""
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
    """What an iterable gives, `least` things or more; `expected` says in words of what."""
    try:
        items = list(values)
    except Exception as error:
        raise TypeError(f"{name} must be {expected}; got {shown(values)}: {error}") from error
    if len(items) < least:
        raise ValueError(f"{name} must be {expected}, {least} or more; got {len(items)}")
    return items


def is_masked(values):
    """Whether some of these values are masked."""
    # where numpy.ma was never imported, which takes a while, there is no masked array
    return type(values) is not np.ndarray and "numpy.ma" in sys.modules and np.ma.is_masked(values)


def check_numeric(name, values, masked_as_nan=False, copy=True):
    """Return a float64 copy of `values`, C-contiguous.

    Refuses text, objects, complex numbers and masked entries, for which float64 has no
    value; with `masked_as_nan` they become NaN.

    Another thread, or a view, may write to the original at any time, and `__array__` may
    return another array at its next call. Therefore a copy is made first; the caller checks
    this copy and uses it. Without `copy`, an aligned float64 array shares the memory of
    `values`, and has any order: for large tables whose values are never an index or a size.
    """
    masked = is_masked(values)
    if masked and not masked_as_nan:
        raise TypeError(f"{name} must hold real numbers; got {type(values).__name__} with "
                        "masked entries: fill them or leave them out")
    try:
        array = _as_own(values, copy)
    except Exception as error:  # rows of unequal lengths, or an __array__ of the user's
        raise ValueError(f"{name} must hold real numbers; got {shown(values)}: {error}") from error
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"{name} must hold real numbers; got {type(values).__name__} "
            f"with dtype {array.dtype}"
        )
    if masked:
        return np.where(values.mask, np.nan, array.astype(np.float64))
    if array.dtype != np.float64:
        # a signalling NaN of 32 bits is one that processors tell of; a longer number is infinite
        with np.errstate(invalid="ignore", over="ignore"):
            return array.astype(np.float64, order="C")
    return array if array.flags.aligned else array.copy()


def labels_of(table, what="index"):
    """Labels of the rows of a frame or a series, or "columns"; None if there are none."""
    held = getattr(table, what, None)
    if held is None and what == "index" and hasattr(table, "coords"):  # of xarray
        rows = table.dims[0] if table.dims else None
        held = table.coords[rows].values.tolist() if rows in table.coords else None
    return None if held is None or callable(held) else list(held)  # lists have a method index


def check_counts(trials, sums, n_arms, most=MOST_PULLS):
    """Trials and sums of rewards, one an arm, as int64 and float64; at most `most` trials."""
    of_trials, of_sums = labels_of(trials), labels_of(sums)
    if of_trials is not None and of_sums is not None and of_trials != of_sums:
        raise ValueError(f"sums must have the index of trials, {shown(of_trials)}; got "
                         f"{shown(of_sums)}")
    trials = check_in("trials", refuse_masks("trials", trials), "integers of at least 0",
                      lambda x: (x >= 0) & (x <= MOST_PULLS) & (np.floor(x) == x))
    sums = check_in("sums", refuse_masks("sums", sums), "finite", np.isfinite)
    for name, values in (("trials", trials), ("sums", sums)):
        if values.shape != (n_arms,):
            raise ValueError(f"{name} must have the shape ({n_arms},), one an arm; got "
                             f"{values.shape}")
    if trials.sum() > most:
        raise ValueError(f"trials must be at most {most} in all; got {trials.sum():.0f}")
    return trials.astype(np.int64), np.ascontiguousarray(sums)


def refuse_masks(name, values):
    """Return `values`, unless some of them are masked: what is under a mask is no number."""
    if is_masked(values):
        where = np.argwhere(np.broadcast_to(values.mask, values.shape))[0].tolist()
        raise ValueError(f"{name} must not be masked; got a mask at index "
                         f"{where[0] if len(where) == 1 else tuple(where)}")
    return values


def as_array(name, values, copy=False):
    """Return `values` as an array of any dtype; refuses masks and objects without an array.

    The data may be shared with the caller; shape and dtype are not: see `owned`.
    """
    if is_masked(values):
        raise TypeError(f"{name} must be an array without masked entries; got {shown(values)}")
    try:
        return _as_own(values, copy)
    except Exception as error:
        raise TypeError(f"{name} must be an array; got {shown(values)}: {error}") from error


def _as_own(values, copy):
    """Return a new array whose shape and dtype no other code can set; with `copy` its data too."""
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
    """Return a C-contiguous copy of `values`, integers in [0, n); messages add what n is."""
    values = owned(name, values)
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise TypeError(f"{name} must be a 1-D array of integers; got shape {values.shape} of "
                        f"{values.dtype}")
    if values.size and not (values.min() >= 0 and values.max() < n):
        raise ValueError(f"{name} must be in [0, {n}){size}; got {values.min()} to "
                         f"{values.max()}")
    return values.astype(dtype, copy=False)


def frozen(array):
    """Return a copy of `array` in memory that no array can be made to write to.

    An array that owns its memory can be made writable again with `setflags`; one on `bytes`
    cannot.
    """
    return np.ndarray(array.shape, array.dtype, array.tobytes())


def read_only(array):
    """Return a view of an array that a user's function gets: writing to it raises."""
    view = array[...]
    view.flags.writeable = False
    return view


def returned(name, values, shape, expected):
    """Return what a user's function returned as an array of this shape and of any dtype.

    It is converted once, so the array that is checked is the one that is used; the data may
    be shared. `expected` is the first half of the message for another shape.
    """
    try:
        array = _as_own(values, copy=False)
    except Exception as error:  # rows of unequal lengths
        raise ValueError(f"{name} must be an array; got {shown(values)}: {error}") from error
    if array.shape != shape:
        raise ValueError(f"{expected} = {shape}; got shape {array.shape}")
    return array


def numbers_returned(name, values, shape, expected):
    """Return the array of `returned` as float64; refuses masks."""
    if is_masked(values):
        return check_numeric(name, values)  # which refuses it
    return check_numeric(name, returned(name, values, shape, expected), copy=False)


def nonnegative(x):
    """Finite and at least 0, for `check_in`."""
    return np.isfinite(x) & (x >= 0)


def plain(values):
    """A float where there is but one number."""
    return float(values) if np.ndim(values) == 0 else values


def _index(mask):
    index = tuple(int(i) for i in np.argwhere(mask)[0])
    return index[0] if len(index) == 1 else index


def check_budget(budget, least, n_arms, reason, name="budget"):
    """Raise `InfeasibleBudgetError` below `least` pulls; `reason` says what they are for."""
    if budget < least:
        raise InfeasibleBudgetError(f"{name} must be at least {least} for {n_arms} arms: {reason}; "
                                    f"got {budget}")


def listed(names, most=8):
    """Names with commas between, and how many follow the first ones."""
    rest = len(names) - most
    return ", ".join(map(str, names[:most])) + f" and {rest:,} more" * (rest > 0)
