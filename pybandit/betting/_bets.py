"""The options of the bets of a race."""

from dataclasses import dataclass
from typing import Literal

from pybandit._shared.checks import check_choice, check_flag, check_integer
from pybandit.betting.limits import MOST_BETS

MIXTURES = ("plug-in", "product", "ebmix")


@dataclass(frozen=True)
class Bets:
    """Options of the bets of a race, for its `bets`.

    Parameters
    ----------
    mixture : {"plug-in", "product", "ebmix"}, default "plug-in"
        How the capital of a bet grows. ``"plug-in"``: one bet, chosen anew for each item from
        those before it. ``"product"``: `n_bets` constant bets, whose capitals are averaged.
        ``"ebmix"``: the same with a bound of each factor, faster and less powerful.
    n_bets : int, optional
        Number of constant bets, in [1, 64]; 16 by default. Not for ``"plug-in"``.
    hybrid : bool, default False
        Bet half of the capital on the leader and spread the rest over all surviving rivals; for
        ``"product"`` only.

    Raises
    ------
    ValueError, TypeError
        If a parameter is outside its range, or does not apply to the mixture.

    Notes
    -----
    **Threads.** Nothing changes it: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> pb.betting.Bets("product", n_bets=8)
    Bets(mixture='product', n_bets=8, hybrid=False)
    """

    mixture: Literal["plug-in", "product", "ebmix"] = "plug-in"
    n_bets: int | None = None
    hybrid: bool = False

    def __init__(self, mixture="plug-in", *, n_bets=None, hybrid=False):
        check_choice("mixture", mixture, MIXTURES)
        if n_bets is not None:
            if mixture == "plug-in":
                raise ValueError(f"n_bets must be None for mixture='plug-in', which has one bet; "
                                 f"got {n_bets!r}")
            n_bets = check_integer("n_bets", n_bets, 1, MOST_BETS)
        hybrid = check_flag("hybrid", hybrid)
        if hybrid and mixture != "product":
            raise ValueError(f"hybrid must be False for mixture={mixture!r}; got True")
        for name, value in (("mixture", mixture), ("n_bets", n_bets), ("hybrid", hybrid)):
            object.__setattr__(self, name, value)
