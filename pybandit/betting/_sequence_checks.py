"""Checks of the arguments and the state of a confidence sequence."""

import math
import sys
from collections.abc import Mapping

import numpy as np

from pybandit._shared.checks import check_in, check_integer, refuse_masks, shown

# Squares of larger values overflow.
LARGEST_VALUE = 1e150
LARGEST_POPULATION = int(sys.float_info.max)
# What the state of a sequence of n values and g bets holds: shape, least, most.
ARRAYS = {
    "history": ("n", 0.0, 1.0),
    "current": ((2,), -math.inf, math.inf),
    "moments": ((2,), -sys.float_info.max, sys.float_info.max),
    "sides": ((3, 2), -math.inf, math.inf),
    "capital": ((2, "g"), 0.0, sys.float_info.max),
    "exponents": ((3, "g"), 0.0, sys.float_info.max),
}
OPTIONS = ("population_size", "delta", "value_range", "method", "n_bets")


def check_population(population_size, least=1, most=LARGEST_POPULATION):
    """Return the size of a population, an int, or math.inf if it is infinite."""
    if isinstance(population_size, float) and population_size == math.inf:
        return math.inf
    if population_size is None or isinstance(population_size, str):
        raise TypeError("population_size must be an integer, or math.inf for an infinite "
                        f"population; got {shown(population_size)}")
    return check_integer("population_size", population_size, least, most)


def check_ends(value_range, method):
    """(low, high) as floats; None where the method needs no range."""
    if value_range is None:
        if method != "asymptotic":
            raise ValueError(f"value_range must be given for method={method!r}; got None")
        return None
    ends = check_in("value_range", refuse_masks("value_range", value_range), "finite",
                    np.isfinite)
    if ends.shape != (2,) or not 0 < float(ends[1]) - float(ends[0]) < math.inf:
        raise ValueError(f"value_range must be (low, high) with low < high and a finite "
                         f"difference; got {value_range!r}")
    return float(ends[0]), float(ends[1])


def check_values(values, value_range):
    """An array of one dimension, inside the range."""
    values = refuse_masks("values", values)
    if value_range is None:
        values = check_in("values", values, f"finite and at most {LARGEST_VALUE:g} in size",
                          lambda x: np.abs(x) <= LARGEST_VALUE)
    else:
        low, high = value_range
        values = check_in("values", values, f"in value_range [{low!r}, {high!r}]",
                          lambda x: (x >= low) & (x <= high))
    if values.ndim > 1:
        raise ValueError(f"values must have one dimension; got shape {values.shape}")
    return np.atleast_1d(values)


def check_room(n, population_size):
    """Refuse more values than the population has."""
    if n > population_size:
        raise ValueError(f"values must be at most population_size = {population_size} in all; got "
                         f"{n}")
    return n


def check_parts(state):
    """Refuse what is not a dict of the parts of a state."""
    names = {*OPTIONS, "n", *ARRAYS}
    if not isinstance(state, Mapping) or set(state) != names:
        got = (", ".join(sorted(map(str, state))) if isinstance(state, Mapping)
               else type(state).__name__)
        raise ValueError(f"state must be a dict of {', '.join(sorted(names))}; got {got}")


def check_arrays(state, fresh):
    """The arrays of a state, by name, as float64; `fresh` is that of a sequence without values."""
    n, n_bets = state["n"], fresh["capital"].shape[1]
    sizes = {"n": n if fresh["method"] == "betting" else 0, "g": n_bets}
    arrays = {}
    for name, (shape, least, most) in ARRAYS.items():
        shape = tuple(sizes.get(size, size) for size in ((shape,) if shape == "n" else shape))
        arrays[name] = _array(name, state[name], shape, least, most)
    if n == 0:
        for name, array in arrays.items():
            if not np.array_equal(array, fresh[name]):
                raise ValueError(f"state[{name!r}] must be that of a sequence without values, "
                                 f"{fresh[name].tolist()}; got {array.tolist()}")
    if arrays["moments"][1] < 0:
        raise ValueError(f"state['moments'] must have squares of at least 0; got "
                         f"{float(arrays['moments'][1])}")
    return arrays


def _array(name, value, shape, least, most):
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # a ragged list
        array = np.asarray(None)
    if array.dtype.kind not in "fiu" or array.shape != shape:
        raise ValueError(f"state[{name!r}] must be an array of shape {shape}; got "
                         f"{type(value).__name__} of dtype {array.dtype}, shape {array.shape}")
    array = np.array(array, dtype=np.float64, order="C")
    bad = ~((array >= least) & (array <= most))
    if bad.any():
        raise ValueError(f"state[{name!r}] must hold numbers in [{least:g}, {most:g}]; got "
                         f"{float(array[bad][0])}")
    return array
