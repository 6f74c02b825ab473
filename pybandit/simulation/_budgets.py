"""Policies of a budget, over several: one result whose checkpoints are the budgets."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pybandit.simulation._plan import Copies, Like, check_checkpoints
from pybandit.simulation.result import SimulationResult


@dataclass(frozen=True)
class AtBudget:
    """A function of an environment, of one that takes a budget too."""

    make: Callable
    budget: int

    def __call__(self, environment: Any) -> Any:
        return self.make(environment, self.budget)


def check_budgets(budgets, max_pulls, checkpoints):
    """Increasing numbers of pulls, in the place of max_pulls and checkpoints."""
    for name, given in (("max_pulls", max_pulls), ("checkpoints", checkpoints)):
        if given is not None:
            raise ValueError(f"{name} must be None where budgets are given; got {given!r}")
    return check_checkpoints(budgets, None, "budgets", 1)


def asked_at(make, budgets):
    """What is simulated: a maker, its max_pulls and its checkpoints, once or for each budget."""
    if isinstance(make, (Copies, Like)):
        return [(make, budgets[-1], budgets)]
    return [(AtBudget(make, budget), budget, (budget,)) for budget in budgets]


def over_budgets(budgets, ends):
    """The result at the last budget, with the checkpoints of all."""
    if len(ends) == 1:
        return ends[0]
    arrays, metrics, totals = ends[-1]._parts()
    marks = [name for name in arrays if name.startswith("checkpoint_")]
    arrays |= {name: np.concatenate([getattr(one, name) for one in ends], axis=1)
               for name in marks}
    return SimulationResult._of(budgets, arrays, metrics, totals)
