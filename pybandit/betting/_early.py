"""Cells told before their turn, and the part of a state that has them."""

from typing import NamedTuple

import numpy as np

from pybandit._shared.checks import MOST_HELD
from pybandit.betting._state import check_mapping, flat


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


NAMES = ("handed", "arms", "items", "rewards", "costs")


def check_state_ahead(ahead, n_arms, n_items, tells_costs):
    """What a state has ahead of its race: handed; arms, items and rewards; costs."""
    check_mapping("the part ahead of state", ahead, NAMES)
    handed, arms, items = (flat(ahead, name, "iu").astype(np.int64) for name in NAMES[:3])
    most = MOST_HELD if n_items is None else n_items
    if handed.shape != (n_arms,) or (handed < 0).any() or (handed > most).any():
        raise ValueError(f"state must hold handed as {n_arms} integers, one an arm, in [0, "
                         f"{most}]; got shape {handed.shape}, or others")
    rewards = flat(ahead, "rewards", "f").astype(np.float64)
    costs = flat(ahead, "costs", "f").astype(np.float64) if tells_costs else None
    if not tells_costs and ahead["costs"] is not None:
        raise ValueError("state must hold no costs unless its race is told them; got some ahead")
    for part in (items, rewards, *([] if costs is None else [costs])):
        if part.shape != arms.shape:
            raise ValueError(f"state must hold {arms.size} of each ahead of its race, one a cell; "
                             f"got {part.size}")
    return handed, (arms, items, rewards), costs
