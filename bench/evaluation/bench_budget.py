"""Time of a budget of scores on a table in memory, compared with a gather of as many cells.

Run with ``make bench``. Times are per score read. The target is the line "twice the gather
and 20 ns" of the same run. A call takes some .35 ms in addition, most of the time on the smallest
table.
"""

import numpy as np
import pytest

import pybandit as pb

from native import RESULTS, record

SIZES = {"80 models, 1,000 items": (1000, 80), "450 models, 756 items": (756, 450),
         "80 models, 10,000 items": (10_000, 80)}


def table(n_items, n_models):
    rng = np.random.default_rng(6)
    ability = np.sort(rng.normal(0.5, 0.06, n_models))
    chance = np.clip(ability + rng.normal(0.0, 0.2, (n_items, 1)), 0.02, 0.98)
    return (rng.random((n_items, n_models)) < chance) * 1.0


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("role", ["bare gather", "budget", "guaranteed race"])
def test_a_tenth_of_the_cells(timed, size, role):
    """`budget` reads a tenth of the cells; the race stops as soon as it is decided."""
    scores = table(*SIZES[size])
    budget, group = scores.size // 10, f"a score read: {size}"
    if role == "bare gather":
        rows = np.random.default_rng(3).permutation(len(scores))[:len(scores) // 10]
        columns = np.arange(scores.shape[1])
        timed(group, role, lambda: scores[rows[:, None], columns].sum(axis=0), per=budget)
        if group in RESULTS:
            gather = RESULTS[group][role].seconds
            record(group, "twice the gather and 20 ns", 2 * gather + 20e-9, is_ours=False)
        return
    options = {"budget": budget} if role == "budget" else {}

    def run():
        return pb.best_of(scores, value_range=(0, 1), rng=1, progress=False, **options)

    timed(group, role, run, per=run().n_pulls, rounds=5)
