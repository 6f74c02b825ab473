"""Check reported rewards, and store those that wait for their block, in immutable objects."""

from typing import NamedTuple

import numpy as np

from pybandit._shared.checks import MOST_HELD, check_numeric, owned, refuse_masks
from pybandit._shared.labels import told_in_order
from pybandit._shared.schema import Schema, integer, number
from pybandit.betting._state import check_mapping


def checked_report(arms, items, rewards):
    """Return checked copies of arms, items and rewards, arrays of one shape."""
    told_in_order("rewards", rewards, arms, items)
    arms, items = _integers("arms", arms), _integers("items", items)
    rewards = check_numeric("rewards", refuse_masks("rewards", rewards))
    for name, values in (("items", items), ("rewards", rewards)):
        if values.shape != arms.shape:
            raise ValueError(f"{name} must have the shape of arms, {arms.shape}; got "
                             f"{values.shape}")
    return arms, items, rewards


def check_range(rewards, arms, items, limits, value_range):
    """Refuse a reward outside the range, naming item and arm; all arrays have one dimension."""
    low, high, _ = limits
    bad = ~((rewards >= low) & (rewards <= high) & np.isfinite(rewards))
    if bad.any():
        at = int(bad.argmax())
        expected = f"in value_range = {value_range}" if np.isfinite(rewards[at]) else "finite"
        raise ValueError(f"rewards must be {expected}; got {rewards[at]} for item "
                         f"{items[at]} of arm {arms[at]}")


def check_spread(values, arms, items, most):
    """Refuse rewards (items, arms) that differ by more than `most` within an item."""
    spread = np.ptp(values, axis=1)
    if spread.max() > most * (1 + 1e-12):
        row = int(spread.argmax())
        first, last = int(values[row].argmin()), int(values[row].argmax())
        error = ValueError(
            f"rewards of one item must differ by at most value_range = {most}; got "
            f"{values[row, first]} and {values[row, last]} for arms {arms[first]} and "
            f"{arms[last]} on item {items[row]}")
        error.refused_item = int(items[row])  # for callers that store scores
        raise error


def _integers(name, values):
    array = owned(name, refuse_masks(name, values))
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise TypeError(f"{name} must be a 1-D array of integers; got {type(values).__name__} of "
                        f"dtype {array.dtype} with {array.ndim} dimensions")
    return array.astype(np.int64, copy=False)


class Early(NamedTuple):
    """Rewards that wait for their block. Immutable, so that one assignment records a report.

    A cell is a pair of an arm and an item. `keys` increase: the item's place in the order, times
    the number of arms, plus the arm. `costs` is None unless costs are "told".
    """

    keys: np.ndarray
    rewards: np.ndarray
    costs: np.ndarray | None

    def places(self, keys):
        """Return the position of each key, or -1 if it is absent."""
        if not self.keys.size:
            return np.full(np.shape(keys), -1)
        at = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        return np.where(self.keys[at] == keys, at, -1)

    def with_cells(self, keys, rewards, costs):
        """Return a copy with these cells added."""
        keys = np.concatenate([self.keys, keys])
        order = np.argsort(keys, kind="stable")
        more = None if costs is None else np.concatenate([self.costs, costs])[order]
        return Early(keys[order], np.concatenate([self.rewards, rewards])[order], more)

    def only(self, kept):
        """Return a copy with only the cells that the mask `kept` selects."""
        return Early(self.keys[kept], self.rewards[kept],
                     None if self.costs is None else self.costs[kept])


AHEAD = Schema([
    integer("handed", 0, "n_items", ("n_arms",)), integer("arms", 0, "last_arm", ("n_cells",)),
    integer("items", 0, "n_items", ("n_cells",)), number("rewards", shape=("n_cells",)),
    number("costs", shape=("n_cells",), only_if="told_costs")])


def check_state_ahead(ahead, n_arms, n_items, told_costs):
    """Return the checked part "ahead" of a state: requests and rewards ahead of the race."""
    check_mapping("the part ahead of state", ahead, [entry.name for entry in AHEAD.top])
    return AHEAD.checked_part("the part ahead of state", dict(ahead), {
        "n_arms": n_arms, "last_arm": n_arms - 1, "told_costs": told_costs,
        "n_items": MOST_HELD if n_items is None else n_items})
