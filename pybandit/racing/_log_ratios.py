"""Check the log ratios and bounds that users pass to acceptance tests."""

import dataclasses

import numpy as np

from pybandit._shared.checks import check_numeric, numbers_returned, shown
from pybandit.racing._named_bounds import as_bound
from pybandit.racing._track import cached
from pybandit.racing.bounds import BettingBound, EBSBound, NormalBound
from pybandit.racing.factors import Factors


class _Column:
    """Wrapper that makes a function of indices the function of `Factors` with one state."""

    def __init__(self, function):
        self.function = function

    def __call__(self, indices, states):
        values = numbers_returned("the return value of log_ratios", self.function(indices),
                                  indices.shape, "log_ratios must return shape (n,)")
        return values[:, None]


def factors_of_ratios(log_ratios, n_factors):
    """Return `Factors` of one state, or numbers as an (N, 1) matrix."""
    if isinstance(log_ratios, Factors) or not callable(log_ratios):
        if n_factors is not None:
            raise ValueError(f"n_factors must be given for a function of indices only; got "
                             f"{shown(n_factors)} and {type(log_ratios).__name__}")
    elif n_factors is None:
        raise TypeError("n_factors must be given if log_ratios is a function; got None")
    else:
        return Factors(_Column(log_ratios), n_factors, 1)
    if isinstance(log_ratios, Factors):
        if log_ratios.n_states != 1:
            raise ValueError(f"log_ratios must have n_states = 1; got Factors with n_states = "
                             f"{log_ratios.n_states}")
        return log_ratios
    ratios = check_numeric("log_ratios", log_ratios, copy=False)
    if ratios.ndim != 1 or ratios.size == 0:
        raise ValueError(f"log_ratios must have shape (N,) with N >= 1; got shape {ratios.shape}")
    return np.ascontiguousarray(ratios)[:, None]


def range_of(bound):
    """Return the range of the log ratios that the bound states; 0 if it uses none."""
    if not isinstance(bound, EBSBound):
        return 0.0
    return bound.value_range if bound.difference_range is None else bound.difference_range


@cached
def two_state_bound(bound, delta):
    """Return the bound object; a bound given by name gets the two-sided boundary."""
    checked = as_bound(bound, delta)
    if isinstance(bound, str) and isinstance(checked, NormalBound):
        checked = dataclasses.replace(checked, convention="two-sided")
    if isinstance(checked, BettingBound) and isinstance(checked.value_range, float):
        raise ValueError(f"value_range must be (low, high) of the log ratios for betting; got "
                         f"{checked.value_range!r}")
    if isinstance(checked, EBSBound) and isinstance(checked.value_range, tuple):
        raise ValueError(f"value_range must be a number, the spread of the log ratios; got "
                         f"{checked.value_range!r}")
    return checked
