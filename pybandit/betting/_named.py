"""Types of the attributes of a race, and the error for missing ones."""

from typing import TYPE_CHECKING

from pybandit._shared.types import Floats
from pybandit.betting.options import Bets, Costs


class Made:
    """What says of a race that was never made that it was not."""

    if not TYPE_CHECKING:  # to whom every name would be there

        def __getattr__(self, name):
            if name.startswith("__") or "_race" in self.__dict__:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}",
                                     name=name, obj=self)
            raise AttributeError(f"this {type(self).__name__} has no {name!r}: its __init__ was "
                                 "not called, or did not end", name=name, obj=self)


class Named(Made):
    """Arguments of every race."""

    n_arms: int
    n_items: int | None
    delta: float
    value_range: tuple[float, float] | float
    epsilon: float
    max_pulls: int | None
    bets: Bets
    block_size: int | None
    population_size: float
    costs: Costs | None
    weights: Floats | None
