"""Groups of options of races: the costs of scores, and the kind of the bets."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np

from pybandit._shared.checks import (
    check_choice,
    check_flag,
    check_in,
    check_integer,
    check_positive,
    refuse_masks,
    shown,
)
from pybandit._shared.keywords import hinted
from pybandit._shared.types import ArrayLike
from pybandit.betting.limits import MOST_BETS

__all__ = ["Bets", "Costs"]

TOLD = "told"
# largest cost of one score: the sum over the maximum number of scores is finite
LARGEST_COST = 1e150
MIXTURES = ("plug-in", "product", "ebmix")
USUAL_BETS = 16


@hinted()
@dataclass(frozen=True, eq=False)
class Costs:
    """Costs of scores, and the most that may be spent.

    Parameters
    ----------
    values : float, array_like or "told", default "told"
        Cost of one score, finite and at least 0, in any currency: a number; an array of shape
        (n_items, n_arms), (n_arms,) or (n_items,); or "told" if a cost is known only after the
        call. A function of scores then returns a tuple (scores, costs), and ``tell`` of a race
        takes ``costs``. Costs decide when a race stops and how many items are read at a time,
        but never which items.
    budget : float, optional
        Maximum cost of a race with a budget, above 0. The race plans how to spend it, in order
        to find the best arm with high probability; see `BudgetRace`. Not together with `max_cost`.
    max_cost : float, optional
        Maximum cost of a race with a guarantee, above 0. The race stops there, decided or not.
        If `values` are numbers, neither limit is ever exceeded, to 12 digits.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or if both limits are given. The function or class
        that takes this object checks the shape of `values`.

    See Also
    --------
    best_of, BettingRace, BudgetRace : accept it as ``costs``.

    Notes
    -----
    **Threads.** Immutable, so threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> from pybandit.betting import Costs
    >>> scores = np.random.default_rng(1).random((1000, 5)) * [0.5, 0.6, 0.7, 0.8, 1.0]
    >>> result = pb.best_of(scores, value_range=(0, 1), costs=Costs(0.02, max_cost=50), rng=1)
    >>> result.best, round(result.cost, 2)
    (4, 5.48)
    """

    values: float | ArrayLike | Literal["told"] = TOLD
    _: KW_ONLY
    budget: float | None = None
    max_cost: float | None = None

    def __post_init__(self) -> None:
        _check_values("values", self.values)
        for name in ("budget", "max_cost"):
            limit = getattr(self, name)
            if limit is not None:
                object.__setattr__(self, name, check_positive(name, limit))
        if self.budget is not None and self.max_cost is not None:
            raise ValueError("pass at most one of budget and max_cost to Costs; got "
                             f"{self.budget} and {self.max_cost}")


@hinted()
@dataclass(frozen=True)
class Bets:
    """Kind of the bets of a race.

    Parameters
    ----------
    mixture : {"plug-in", "product", "ebmix"}, default "plug-in"
        "plug-in": one bet per process, computed from the items read before; see `BettingRace`.
        "product": the mean wealth of constant bets. "ebmix": constant bets in the empirical
        Bernstein form; see `BettingBound`.
    n_bets : int, optional
        Number of constant bets, in [1, 64]; 16 by default. Not for "plug-in".
    hybrid : bool, default False
        As in `BettingBound`; only for "product" and a race with ``k=1``.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or does not apply to `mixture`.

    See Also
    --------
    BettingRace, BudgetRace, BettingThreshold : accept it as ``bets``.

    Notes
    -----
    **Threads.** Immutable, so threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> race = pb.BettingRace(3, 100, value_range=(0, 1), bets=pb.betting.Bets("product"))
    >>> race.bets
    Bets(mixture='product', n_bets=16, hybrid=False)
    """

    mixture: Literal["plug-in", "product", "ebmix"] = "plug-in"
    _: KW_ONLY
    n_bets: int | None = None
    hybrid: bool = False

    def __post_init__(self) -> None:
        check_choice("mixture", self.mixture, MIXTURES)
        object.__setattr__(self, "hybrid", check_flag("hybrid", self.hybrid))
        if self.hybrid and self.mixture != "product":
            raise ValueError(f"hybrid must be False unless mixture is 'product'; got True with "
                             f"mixture={self.mixture!r}")
        if self.mixture == "plug-in":
            if self.n_bets is not None:
                raise ValueError("n_bets must be left out for mixture='plug-in' (one bet); got "
                                 f"{shown(self.n_bets)}")
            return
        n_bets = USUAL_BETS if self.n_bets is None else self.n_bets
        object.__setattr__(self, "n_bets", check_integer("n_bets", n_bets, 1, MOST_BETS))


def as_costs(costs: Any) -> Costs | None:
    """Return `costs` as a `Costs` object, or None if there are none."""
    if costs is None or isinstance(costs, Costs):
        return costs
    _check_values("costs", costs)
    return Costs(costs)


def _check_values(name: str, values: Any) -> None:
    """Refuse costs that are neither "told" nor numbers."""
    if isinstance(values, str):
        if values != TOLD:
            raise ValueError(f"{name} must be numbers or 'told'; got {shown(values)}")
    elif values is None:
        raise TypeError(f"{name} must be numbers or 'told'; got None")
    else:
        check_prices(name, values)


def as_bets(bets: Any, usual: str, owner: str) -> Bets:
    """Return the checked `bets`, or by default those with the mixture `usual`."""
    if bets is None:
        return Bets(usual)  # type: ignore[arg-type]
    if not isinstance(bets, Bets):
        raise TypeError(f"bets of {owner} must be a Bets, such as Bets('product'); got "
                        f"{shown(bets)}")
    return bets


def check_prices(name: str, values: Any) -> np.ndarray:
    """Return costs as float64; refuse numbers that are negative or not finite."""
    return check_in(name, refuse_masks(name, values), "finite and at least 0",
                    lambda x: (x >= 0) & (x <= LARGEST_COST))
