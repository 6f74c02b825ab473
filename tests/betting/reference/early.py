"""What a race knows of cells that came in any order: the plain one, told from the beginning.

No twin of a kernel: the rule of `ask(n)` and `tell` in its plainest form. A race that was told
some cells is the one that was told, from the first item on, all blocks whose cells are known.
"""

import numpy as np


def played(make, known):
    """A fresh race told what of `known`, {(arm, item): (reward, cost)}, is its turn."""
    race = make()
    while not race.done:
        arms, items = race.ask()
        cells = list(zip(arms.tolist(), items.tolist(), strict=True))
        if not all(cell in known for cell in cells):
            break
        rewards, costs = zip(*(known[cell] for cell in cells), strict=True)
        race.tell(arms, items, rewards, costs if isinstance(getattr(race, "costs", None), str)
                  else None)
    return race


def order_of(race):
    """Its items in the order they were drawn in; None for a stream, which counts them."""
    return race.get_state()["order"]


def wanted(race, known, n=None):
    """What a plain race wants next that is not known: of its block, or of n cells ahead too."""
    arms, items = race.ask()
    if n is not None and arms.size:
        alive, order = np.unique(arms), order_of(race)
        told = int(race.pulls[alive[0]])
        capped = hasattr(race, "budget") or race.max_evaluations is not None or (
            getattr(race, "max_cost", None) is not None)
        n_items = arms.size // alive.size if capped else max(n, arms.size)
        pairs = [(arm, place if order is None else int(order[place]))
                 for place in range(told, told + n_items) if order is None or place < order.size
                 for arm in alive.tolist()][:max(n, arms.size)]
    else:
        pairs = list(zip(arms.tolist(), items.tolist(), strict=True))
    return [pair for pair in pairs if pair not in known][:n]


def useless(race, known):
    """Of `known`, the cells that a plain race was not told and never will be."""
    told = set()
    order = order_of(race)
    for arm, n in enumerate(race.pulls.tolist()):
        items = range(n) if order is None else order[:n].tolist()
        told |= {(arm, item) for item in items}
    alive = set() if race.done else set(np.unique(race.ask()[0]).tolist())
    return {cell for cell in known if cell not in told and cell[0] not in alive}
