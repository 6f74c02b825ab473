"""Checks of the arguments and the state of a confidence sequence."""

import math
import sys
from collections.abc import Mapping

import numpy as np

from pybandit._shared.checks import (
    MOST_PULLS,
    check_ends,
    check_in,
    check_integer,
    refuse_masks,
    shown,
)
from pybandit._shared.schema import Schema, finite, integer, number

# Squares of larger values overflow.
LARGEST_VALUE = 1e150
LARGEST_POPULATION = int(sys.float_info.max)
OPTIONS = ("population_size", "delta", "value_range", "method", "n_bets", "planned")
N_BETS, MOST_BETS = 16, 64  # of the exponential forms
EXPONENTIAL = ("empirical-bernstein", "hoeffding")


def check_population(population_size, least=1, most=LARGEST_POPULATION):
    """Return the size of a population, an int, or math.inf if it is infinite."""
    if isinstance(population_size, float) and population_size == math.inf:
        return math.inf
    if population_size is None or isinstance(population_size, str):
        raise TypeError("population_size must be an integer, or math.inf for an infinite "
                        f"population; got {shown(population_size)}")
    return check_integer("population_size", population_size, least, most)


def check_ends_for(method, value_range):
    """Return (low, high) as floats, or None if the method needs no range."""
    if value_range is None:
        if method != "asymptotic":
            raise ValueError(f"value_range must be given for method={method!r}; got None")
        return None
    return check_ends(refuse_masks("value_range", value_range))


def check_plan(method, n_bets, planned, population_size):
    """Return the number of bets of an exponential form, and the planned number of values."""
    if method in EXPONENTIAL:
        n_bets = check_integer("n_bets", N_BETS if n_bets is None else n_bets, 1, MOST_BETS)
    elif n_bets is not None:
        raise ValueError(f"n_bets must be left out with method={method!r}; got {shown(n_bets)}")
    if planned is not None:
        if method != "betting":
            raise ValueError(f"planned must be left out with method={method!r}; got "
                             f"{shown(planned)}")
        planned = check_integer("planned", planned, 1, min(population_size, MOST_PULLS))
    return n_bets, planned


def check_values(values, value_range):
    """Return the values as a 1-D array; refuse values outside the range."""
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
        raise ValueError(f"values must be at most population_size = {population_size} in number; "
                         f"got {n}")
    return n


def is_fresh_without_values(s):
    """the state of a new sequence if it has no values"""
    return s.n or all(np.array_equal(getattr(s, name), s.fresh[name]) for name in ARRAYS[0])


def values_are_of_population(s):
    """at most {population_size} values"""
    return s.n <= s.population_size


def history_is_of_values(s):
    """a history of all {n} values"""
    return s.n_kept == s.n


def squares_are_positive(s):
    """a sum of squares of at least 0 in moments"""
    return s.moments[1] >= 0.0


COUNT = integer("n", 0, MOST_PULLS)
BETTING = Schema([COUNT, number("history", 0.0, 1.0, ("n_kept",), nan=False)],
                 invariants=[values_are_of_population, history_is_of_values])
SUMS = Schema(
    [COUNT, number("current", shape=(2,), nan=False), finite("moments", shape=(2,)),
     number("sides", shape=(2, 2), nan=False), finite("exponents", 0.0, shape=(3, "n_bets"))],
    invariants=[values_are_of_population, is_fresh_without_values, squares_are_positive])
# names of the arrays in a state, without and with betting
ARRAYS = [entry.name for entry in SUMS.top[1:]], [entry.name for entry in BETTING.top[1:]]


def check_method(state):
    """Return the method of a state; "betting" if there is none, which is refused later."""
    return state.get("method", "betting") if isinstance(state, Mapping) else "betting"


def check_sequence_state(state, fresh):
    """Return the checked entries of a state; `fresh` is the state of the empty sequence."""
    sizes = {"population_size": fresh["population_size"], "n_bets": fresh["n_bets"] or 0}
    schema = BETTING if fresh["method"] == "betting" else SUMS
    return schema.checked_part("the parts of a sequence", dict(state), sizes | {"fresh": fresh})
