"""Run a race on a table in memory, without Python code between the looks."""

import numpy as np

from pybandit.betting._order import MOST_PAIRS, SMALLEST_BLOCK, USUAL_SHARE
from pybandit.betting._reads import CELLS, DrawnOrder, Table, read_blocks, read_looks
from pybandit.betting.budget import BudgetRace


def read_ahead(race, table, advance, mapped=()):
    """Read a table for a race until it ends, or until the table holds an invalid reward.

    Returns the items read; none if the race must use `ask` and `tell`. The state of the race is
    the same as after `ask` and `tell`, bit for bit. `advance` is called with the number of cells
    of each look. For a table mapped from a file, `mapped` are the arguments `most` and `give_back`
    of `Table`.
    """
    if table.dtype not in CELLS or not table.flags.aligned:
        return np.empty(0, dtype=np.int64)
    books, cells = race._books, Table(table, race._limits(), *mapped)
    with race._guard:
        if not _is_plain(race):
            return np.empty(0, dtype=np.int64)
        before, order = books.n_items, race._order
        if isinstance(order, np.ndarray):
            order = DrawnOrder(None, order.size, order)
        if isinstance(race, BudgetRace):
            schedule = race._schedule()
            measure = race._measure if schedule is race._rejects else None
            read_looks(race._race, books, schedule, measure, cells, order, race.budget,
                       race._keys, advance)
        else:
            most = race.n_arms * race.n_items if race.max_pulls is None else race.max_pulls
            rule = race.block_size or 0, SMALLEST_BLOCK, USUAL_SHARE, MOST_PAIRS
            read_blocks(race._race, books, cells, order, most, rule, advance)
        return order[before:books.n_items]


def _is_plain(race):
    """Return True if the next rewards of a race depend on nothing but its table."""
    if race.costs is not None or race._early.keys.size:
        return False
    if not isinstance(race._order, (np.ndarray, DrawnOrder)):
        return False
    if isinstance(race, BudgetRace):
        return race.k == 1
    return getattr(race, "_predictor", None) is None
