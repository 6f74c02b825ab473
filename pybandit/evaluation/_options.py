"""What `best_of` was asked, checked against its scores, and the race that it makes."""

import numpy as np

from pybandit._shared.checks import check_integer, shown
from pybandit.betting.budget import BudgetRace
from pybandit.betting.race import BettingRace


def make_race(source, k, shared, guaranteed, budgets):
    """The race of a source: one with a guarantee, or one with a budget.

    `shared` are options of both, `guaranteed` those of the first only, `budgets` what makes
    it the second: one of them, or none, is not None.
    """
    k = check_integer("k", k, 1)
    if k >= source.n_models:
        raise ValueError(f"k must be below n_models = {source.n_models}; got {k}")
    size = source.n_models, source.n_items
    shared["rng"] = source.generator(shared["rng"])
    if all(budget is None for budget in budgets.values()):
        return BettingRace(*size, k=k, **shared, **guaranteed)
    for name, value in guaranteed.items():
        if not (value is None or isinstance(value, (int, float)) and value == 0):
            raise ValueError(f"{name} must be left out beside a budget; got {shown(value)}")
    return BudgetRace(*size, k=k, **shared, **budgets)


def costs_of(costs, source):
    """Costs without names, which are to be those of the scores."""
    for what, known in (("columns", source.names), ("index", source.labels)):
        held = getattr(costs, what, None)
        if known is None or held is None or what == "index" and np.ndim(costs) != 2:
            continue
        if list(held) != list(known):
            raise ValueError(f"costs must have the {what} of the scores, in their order; got "
                             f"{shown(list(held))}")
    return costs
