"""Time per run of `combine_estimators` with Python functions, compared with the bare calls.

Run with ``make bench``. Bare calls draw from one generator; a run has a generator of its own. The
aim is 4 us besides the function.
"""

import numpy as np
import pytest

import pybandit as pb

from native import size

N_RUNS = size(20_000, 200)


def first(rng):
    return rng.random()


def second(rng):
    return 0.25 + 0.5 * rng.random()


def bare():
    rng = np.random.default_rng(1)
    return [(first if i % 2 else second)(rng) for i in range(N_RUNS)]


def with_generators():
    return [(first if i % 2 else second)(np.random.default_rng(child))
            for i, child in enumerate(np.random.SeedSequence(1).spawn(N_RUNS))]


ROLES = {"bare calls": bare, "NumPy, a generator a run": with_generators,
         "combine_estimators": lambda: pb.combine_estimators([first, second], N_RUNS, rng=1,
                                                             progress=False),
         "combine_estimators, batches of 32": lambda: pb.combine_estimators(
             [first, second], N_RUNS, batch_size=32, rng=1, progress=False)}


@pytest.mark.parametrize("role", ROLES)
def test_run(timed, role):
    """Time of one run of one of two estimators that take 0.1 us."""
    timed("a run of one of two functions", role, ROLES[role], per=N_RUNS, rounds=5)
