"""Reference implementation of the acceptance test of Chen & Ghahramani 2016, Sec. 3.3."""

from typing import NamedTuple

import numpy as np

from racing.reference import race

TWIN_OF = ("accept",)  # kernels of csrc


class Outcome(NamedTuple):
    accepted: bool
    n_looks: int
    n_evaluations: int
    exact: bool


def accept(ratios, log_threshold, next_indices, options):
    """Run one test. ``next_indices(n)`` returns the next n indices of the order."""
    if np.isinf(log_threshold):
        return Outcome(log_threshold < 0, 0, 0, True)
    n_factors = len(ratios)
    looks = race.schedule(n_factors, options.first_look, options.max_fraction)
    order = []
    for n_looks, rows in enumerate(looks, start=1):
        if rows == n_factors:
            return Outcome(bool(ratios.sum() > log_threshold), n_looks, n_factors, True)
        order += list(next_indices(rows - len(order)))
        seen = ratios[order]
        gap = seen.mean() - log_threshold / n_factors
        values = seen if gap > 0 else -seen
        if abs(gap) > race.one_width(options, looks, options.delta, values, options.value_range):
            return Outcome(bool(gap > 0), n_looks, rows, False)
    raise AssertionError("the last look reads everything")
