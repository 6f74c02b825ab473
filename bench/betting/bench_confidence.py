"""Confidence sequences, compared with the product of sixteen bets against one mean.

Run with ``make bench``. The product tests one mean after the last value; a sequence finds both
bounds after every value.
"""

import ctypes

import numpy as np
import pytest

import pybandit as pb

from native import pointer, size

SIZE = 100_000
BETS = np.geomspace(0.001, 0.05, 16)  # with larger bets, wealth becomes denormal
METHODS = ["betting", "empirical-bernstein", "hoeffding", "asymptotic"]
ROLES = ["bare product, one pass", *METHODS]


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(7).random(SIZE)


@pytest.mark.parametrize("n", size([1_000, 10_000, 100_000], [1_000]))
@pytest.mark.parametrize("role", ROLES)
def test_sequence(timed, limits, values, n, role):
    """Time of the bounds after each of n values of a population of 100,000."""
    group = f"bounds after each of {n} of {SIZE} values"
    read = values[:n]
    if role in METHODS:
        timed(group, role, lambda: pb.confidence_sequence(read, population_size=SIZE, method=role),
              rounds=5 if n == SIZE else 30)
        return
    capital = np.empty(16)
    timed(group, role, lambda: limits.limit_bets_16(
        pointer(read), ctypes.c_int64(n), ctypes.c_double(0.5), pointer(BETS), pointer(capital)))


@pytest.mark.parametrize("role", METHODS)
def test_one_more_value(timed, values, role):
    """Time of the bounds after values 10,001 to 10,100, each added alone."""
    def fresh():
        sequence = pb.betting.ConfidenceSequence(population_size=SIZE, method=role)
        sequence.tell(values[:10_000])
        return (sequence,), {}

    def add(sequence):
        for value in values[10_000:10_100]:
            sequence.tell(value)

    timed("one more value after 10,000, alone", role, add, per=100, setup=fresh, rounds=10)
