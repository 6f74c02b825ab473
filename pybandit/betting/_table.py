"""A race with a budget on a table that is in memory: its looks without Python between them."""

import numpy as np

from pybandit.betting._rejects import read_looks
from pybandit.betting.budget import BudgetRace


def read_ahead(race, table, advance):
    """Read what a race asks of a table: to its end, or to a cell that is no reward.

    Returns the items, none where `ask` and `tell` must do it; the race is as after theirs,
    bit for bit. `advance` hears of the cells of each look.
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
