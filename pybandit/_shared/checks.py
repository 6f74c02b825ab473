"""Checks at the border: each names the argument, what came and what was expected."""

import numpy as np

# what an int64 holds; what is exact in float64, in which pulls are counted too
LARGEST = 2**63 - 1
MOST_PULLS = 2**53


class InfeasibleBudget(ValueError):
    """A budget too small for what was asked; the message names the smallest feasible one."""


def check_choice(name, value, choices):
    """Return `value` if it is one of `choices`."""
    if type(value) is str and value in choices:
        return value
    try:
        known = not isinstance(value, np.ndarray) and value in choices
    except (TypeError, ValueError):  # neither hashed nor compared, as lists and frames are
        known = False
    if not known:
        expected = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {expected}; got {value!r}")
    return value


def check_integer(name, value, minimum, maximum=None):
    """Return `value` as an int of at least `minimum`, at most `maximum`."""
    try:
        number = int(value)
        whole = number == value
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole or isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be an integer; got {value!r}")
    if number < minimum:
        raise ValueError(f"{name} must be at least {minimum}; got {number}")
    if maximum is not None and number > maximum:
        raise ValueError(f"{name} must be at most {maximum}; got {number}")
    return number


def check_in(name, values, expected, holds):
    """Return `values` as float64 if `holds` is true of all of them.

    `holds` gets the array; NaN must make it false. `expected` says in words
    what is allowed.
    """
    array = check_numeric(name, values)
    bad = ~np.asarray(holds(array), dtype=bool)
    if bad.any():
        where = "" if array.ndim == 0 else f" at index {_index(bad)}"
        value = array[bad].flat[0] if array.ndim else array[()]
        raise ValueError(f"{name} must be {expected}; got {float(value)!r}{where}")
    return array


def check_scalar(name, value, expected, holds):
    """Return `value`, a number of which `holds` is true, as a float."""
    value = check_in(name, value, expected, holds)
    if value.ndim:
        raise ValueError(f"{name} must be a number; got shape {value.shape}")
    return float(value)


def check_positive(name, value):
    """Return `value` as a float if it is finite and above 0."""
    return check_scalar(name, value, "finite and above 0", lambda x: np.isfinite(x) & (x > 0))


def check_delta(delta):
    """Return `delta` as a float in (0, 1)."""
    return float(check_in("delta", delta, "in (0, 1)", lambda x: (x > 0) & (x < 1)))


def check_numeric(name, values):
    """Return `values` as a float64 array, aligned, NaN where a masked array is masked.

    Refuses text, objects and complex numbers.
    """
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:  # rows of different lengths, for one
        raise TypeError(f"{name} must hold real numbers; got {type(values).__name__}: "
                        f"{error}") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"{name} must hold real numbers; got {type(values).__name__} "
            f"with dtype {array.dtype}"
        )
    if _is_masked(values):
        return np.where(values.mask, np.nan, array.astype(np.float64))
    array = array.astype(np.float64, copy=False)
    return array if array.flags.aligned else array.copy()


def refuse_masks(name, values):
    """Raise where some of these integers are masked: there is no NaN for them."""
    if _is_masked(values) and np.any(values.mask):
        raise ValueError(f"{name} must not be masked; got {int(np.sum(values.mask))} masked of "
                         f"{np.size(values)}")


def _is_masked(values):
    # not by np.ma, which is not imported otherwise
    return isinstance(values, np.ndarray) and hasattr(values, "mask")


def nonnegative(x):
    """Finite and at least 0, for `check_in`."""
    return np.isfinite(x) & (x >= 0)


def plain(values):
    """A float where there is but one number."""
    return float(values) if np.ndim(values) == 0 else values


def _index(mask):
    index = tuple(int(i) for i in np.argwhere(mask)[0])
    return index[0] if len(index) == 1 else index


def check_budget(budget, least, n_arms, reason):
    """Raise `InfeasibleBudget` below `least` pulls; `reason` says what they are for."""
    if budget < least:
        raise InfeasibleBudget(f"budget must be at least {least} for {n_arms} arms: {reason}; got "
                               f"{budget}")


def check_entry(progress, name, least, most):
    """Return the entry of a policy's saved progress, a number in [least, most]."""
    value = progress[name]
    if not least <= value <= most:
        raise ValueError(f"state must hold {name} in [{least}, {most}]; got {value}")
    return value


def check_counts(progress, name, most):
    """Return the entry of a policy's saved progress, an array of numbers in [0, most]."""
    values = np.asarray(progress[name])
    good = (values >= 0) & (values <= most)
    if not good.all():
        raise ValueError(f"state must hold {name} in [0, {most}]; got {values}")
    return values


def are_increasing(arms, n_arms):
    """Whether these are increasing arms of n_arms; NaN is none."""
    return bool((np.diff(arms, prepend=-1, append=n_arms) >= 1).all())
