"""Reference rule for rewards in any order: a race that receives its blocks in order.

This is the rule of `ask(n)` and `tell`, without a kernel. A race that received some cells must
equal one that received blocks in order, up to the first block with a cell that is not known.
"""

import numpy as np


def played(make, known):
    """Return a new race that received all complete blocks of `known`: {cell: (reward, cost)}."""
    race = make()
    while not race.done:
        arms, items = race.ask()
        cells = list(zip(arms.tolist(), items.tolist(), strict=True))
        if not all(cell in known for cell in cells):
            break
        rewards, costs = zip(*(known[cell] for cell in cells), strict=True)
        race.tell(arms, items, rewards, None if None in costs else costs)
    return race


def order_of(race):
    """Return the items of a race in the order drawn; None for a stream, with items 0, 1, ..."""
    return race.get_state()["order"]


def wanted(race, known):
    """Return the cells of the block of the reference race that are not known."""
    arms, items = race.ask()
    pairs = zip(arms.tolist(), items.tolist(), strict=True)
    return [pair for pair in pairs if pair not in known]


def may_be_asked_ahead(race, known):
    """Return cells of later blocks that may be needed; of a stream, those of the next 999 items."""
    arms, items = race.ask()
    capped = hasattr(race, "budget") or race.max_pulls is not None or (
        race.costs is not None and race.costs.max_cost is not None)
    if not arms.size or capped:
        return set()
    alive, order, block = np.unique(arms), order_of(race), set(items.tolist())
    start = int(race.pulls[alive[0]]) + len(block)
    later = range(start, start + 999) if order is None else order[start:].tolist()
    return {(arm, item) for arm in alive.tolist() for item in later} - set(known)


def useless(race, known):
    """Return the cells of `known` that the reference race did not use and never will."""
    told = set()
    order = order_of(race)
    for arm, n in enumerate(race.pulls.tolist()):
        items = range(n) if order is None else order[:n].tolist()
        told |= {(arm, item) for item in items}
    alive = set() if race.done else set(np.unique(race.ask()[0]).tolist())
    return {cell for cell in known if cell not in told and cell[0] not in alive}
