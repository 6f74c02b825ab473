"""Time of `best_of` on a table in memory, compared with the race and with the mean of all cells.

Run with ``make bench``. `best_of` draws the order of the items as far as it reads them, and not
all of it, which would take as long as the bare permutation.
"""

import numpy as np
import pytest

import pybandit as pb

from native import size

SIZES = {"10,000 x 10": (10_000, 10), "100,000 x 10": (100_000, 10),
         "1,000,000 x 10": (size(1_000_000, 20_000), 10), "100,000 x 100": (100_000, 100)}
ROLES = ["NumPy's mean of all cells", "bare permutation", "pb.race", "best_of", "best_of, float32",
         "best_of, memmap"]


@pytest.fixture(scope="module")
def tables():
    """Return coins of probability one half, with one column better by `gap`."""
    made = {}

    def make(name, gap):
        if (name, gap) not in made:
            n_items, n_models = SIZES[name]
            chance = np.full(n_models, 0.5)
            chance[0] += gap
            made.clear()
            made[name, gap] = (np.random.default_rng(0).random((n_items, n_models)) < chance) * 1.0
        return made[name, gap]

    return make


@pytest.mark.parametrize("gap", [0.02, 0.1])
@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("role", ROLES)
def test_guaranteed(timed, tables, tmp_path, name, gap, role):
    """Time of a call that finds the best column with a guarantee."""
    scores = tables(name, gap)
    if role == "best_of, float32":
        scores = scores.astype(np.float32)
    if role == "best_of, memmap":
        np.save(tmp_path / "scores.npy", scores)
        scores = np.load(tmp_path / "scores.npy", mmap_mode="r")
    bound = pb.racing.BettingBound(delta=0.05, value_range=1.0)
    run = {"NumPy's mean of all cells": lambda: scores.mean(axis=0),
           "bare permutation": lambda: np.random.default_rng(1).permutation(len(scores)),
           "pb.race": lambda: pb.race(scores, bound=bound, rng=1)}.get(
               role, lambda: pb.best_of(scores, value_range=(0, 1), rng=1, progress=False))
    timed(f"the best of {name} coins, gap {gap}", role, run, rounds=5,
          is_ours=role.startswith("best_of"))
