"""Costs of rewards: known in advance or reported with the rewards, and the sums spent."""

import numpy as np

from pybandit._shared.checks import check_numeric, refuse_masks
from pybandit._shared.errors import InfeasibleBudgetError
from pybandit._shared.labels import in_order
from pybandit.betting.options import LARGEST_COST, TOLD, check_prices

# Relative tolerance of a limit: the sum of ten costs of 0.1 is not exactly 1.
ROUNDING = 1e-12


def check_costs(costs, n_arms, n_items):
    """Return None, "told", or a matrix of prices: 1 or n_items rows, 1 or n_arms columns."""
    if costs is None or isinstance(costs, str) and costs == TOLD:
        return costs
    prices = check_prices("costs", costs)
    shape = prices.shape
    if prices.ndim == 1:
        if prices.size == n_arms == n_items:
            raise ValueError(f"costs must have shape (1, {n_arms}) or ({n_items}, 1) if there are "
                             f"as many items as arms; got shape {prices.shape}")
        prices = prices[:, None] if prices.size == n_items else prices[None]
    in_order("costs", costs, range(shape[0] if shape else 0),
             what="the index of the items or the arms")
    rows, columns = {1, n_items} - {None}, {1, n_arms}
    if prices.ndim > 2 or prices.ndim == 2 and not (
            prices.shape[0] in rows and prices.shape[1] in columns):
        item = "" if n_items is None else f", ({n_items},) or ({n_items}, {n_arms})"
        raise ValueError(f"costs must be 'told' or have shape ({n_arms},){item}; got shape "
                         f"{shape}")
    return prices.reshape(1, 1) if prices.ndim == 0 else prices


def check_told(costs, arms, items):
    """Return the reported costs of these pairs as float64, one per pair."""
    told = check_numeric("costs", refuse_masks("costs", costs))
    if told.shape != arms.shape:
        raise ValueError(f"costs must have the shape of arms, {arms.shape}; got {told.shape}")
    bad = ~((told >= 0) & (told <= LARGEST_COST))
    if bad.any():
        at = int(bad.argmax())
        raise ValueError(f"costs must be finite and at least 0; got {told[at]} for item "
                         f"{items[at]} of arm {arms[at]}")
    return told


class Money:
    """Prices, and the cost per arm after each block of a race.

    A block is entered before the race records it. If Ctrl-C ends the call in between, the entry
    is not visible and is replaced when the block is entered again.
    """

    def __init__(self, costs, most, n_arms):
        self.prices = costs if isinstance(costs, np.ndarray) else None
        self.most = most
        self.told = []                    # matrices (items, arms), if costs are reported
        self.sums = [np.zeros(n_arms)]    # by number of blocks entered

    def spent(self, n_blocks):
        """Return the cost per arm after `n_blocks` blocks."""
        return self.sums[n_blocks]

    def left(self, n_blocks):
        """Return what is left of the limit after `n_blocks` blocks, plus a rounding tolerance."""
        return self.most * (1 + ROUNDING) - float(self.spent(n_blocks).sum())

    def enter(self, n_blocks, arms, costs):
        """Enter the costs (items, arms) of the block that follows `n_blocks` blocks."""
        del self.sums[n_blocks + 1:], self.told[n_blocks:]
        if self.prices is None:
            self.told.append(costs)
        spent = self.sums[n_blocks].copy()
        spent[arms] += costs.sum(axis=0)
        self.sums.append(spent)

    def of(self, items, arms):
        """Return the known prices of items and arms, a matrix (items, arms)."""
        return self.price(*np.broadcast_arrays(items[:, None], arms))

    def price(self, items, arms):
        """Return the known prices of pairs, one per pair."""
        rows = items if self.prices.shape[0] > 1 else np.zeros_like(items)
        columns = arms if self.prices.shape[1] > 1 else np.zeros_like(arms)
        return self.prices[rows, columns]

    def mean_prices(self, n_blocks, pulls):
        """Return the mean cost of an item per arm; NaN if unknown."""
        if self.prices is not None:
            return np.broadcast_to(self.prices.mean(axis=0), pulls.shape)
        with np.errstate(invalid="ignore"):
            return self.spent(n_blocks) / pulls

    def affordable(self, items, arms, n_blocks, pulls):
        """Return how many of these items, in order, the unspent part of the limit pays for.

        With known prices the limit is never exceeded, to 12 digits. Without them, the next items
        are expected to cost as much as earlier ones, and the first item is read alone.
        """
        left = self.left(n_blocks)
        if self.prices is not None:
            costs = self.of(items, arms).sum(axis=1).cumsum()
            return int(np.searchsorted(costs, left, side="right"))
        if n_blocks == 0:
            return min(1, items.size)
        price = self.mean_prices(n_blocks, pulls)[arms].sum()
        return items.size if price * items.size <= left else max(0, int(left // price))


def check_feasible(name, money, n_arms):
    """Refuse a limit that does not pay for one item of each arm, whichever item comes first."""
    if money.most is None or money.prices is None:
        return
    columns = money.prices.shape[1]
    least = float(money.prices.sum(axis=1).max()) * (n_arms if columns == 1 else 1)
    if money.left(0) < least:
        raise InfeasibleBudgetError(f"{name} of costs must be at least {least!r}, the cost of the "
                                    f"most expensive item for all {n_arms} arms; got "
                                    f"{money.most!r}")
