"""Cells told before their turn, and the part of a state that has them."""

from typing import NamedTuple

import numpy as np

from pybandit._shared.checks import MOST_HELD
from pybandit._shared.schema import Schema, integer, number
from pybandit.betting._state import check_mapping


class Early(NamedTuple):
    """Cells in the order of play; never changed, so that they are told by one assignment.

    `keys` increase: place in the order of the items times number of arms, plus arm.
    `costs` is None where they are not told.
    """

    keys: np.ndarray
    rewards: np.ndarray
    costs: np.ndarray | None

    def places(self, keys):
        """Where each of these keys is; -1 where it is not."""
        if not self.keys.size:
            return np.full(np.shape(keys), -1)
        at = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        return np.where(self.keys[at] == keys, at, -1)

    def with_cells(self, keys, rewards, costs):
        """These and more."""
        keys = np.concatenate([self.keys, keys])
        order = np.argsort(keys, kind="stable")
        more = None if costs is None else np.concatenate([self.costs, costs])[order]
        return Early(keys[order], np.concatenate([self.rewards, rewards])[order], more)

    def only(self, kept):
        """Some of these."""
        return Early(self.keys[kept], self.rewards[kept],
                     None if self.costs is None else self.costs[kept])


AHEAD = Schema([
    integer("handed", 0, "n_items", ("n_arms",)), integer("arms", 0, "last_arm", ("n_cells",)),
    integer("items", 0, "n_items", ("n_cells",)), number("rewards", shape=("n_cells",)),
    number("costs", shape=("n_cells",), only_if="told_costs")])


def check_state_ahead(ahead, n_arms, n_items, told_costs):
    """Return the checked entries of the cells that a state holds ahead of its race."""
    check_mapping("the part ahead of state", ahead, [entry.name for entry in AHEAD.top])
    return AHEAD.checked_part("the part ahead of state", dict(ahead), {
        "n_arms": n_arms, "last_arm": n_arms - 1, "told_costs": told_costs,
        "n_items": MOST_HELD if n_items is None else n_items})
