"""Run a race with a budget on a table in memory, without Python code between the looks."""

import numpy as np

from pybandit.betting._rejects import read_looks
from pybandit.betting.budget import BudgetRace


def read_ahead(race, table, advance):
    """Read a table for a race until it ends, or until the table holds an invalid reward.

    Returns the items read; none if the race must use `ask` and `tell`. The state of the race is
    the same as after `ask` and `tell`, bit for bit. `advance` is called with the number of cells
    of each look.
    """
    plain = isinstance(race, BudgetRace) and race.k == 1 and race.costs is None
    if not plain or table.dtype != np.float64 or not table.flags.c_contiguous:
        return np.empty(0, dtype=np.int64)
    books = race._books
    with race._guard:
        before = books.n_items
        schedule = race._schedule()
        measure = race._measure if schedule is race._rejects else None
        read_looks(race._race, books, schedule, measure, table, race._order, race.budget,
                   race._keys, race._limits(), advance)
        return race._order[before:books.n_items].copy()
