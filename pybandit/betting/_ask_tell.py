"""The methods ask and tell of races: rewards arrive in any order, bets follow the race's order."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from pybandit._shared.checks import MOST_HELD, check_integer, shown
from pybandit._shared.labels import told_in_order
from pybandit._shared.types import ArrayLike, Floats, Ints
from pybandit.betting._blocks import (
    Early,
    check_range,
    check_spread,
    check_state_ahead,
    checked_report,
)
from pybandit.betting._money import TOLD, check_told
from pybandit.betting._need import Spread, chances, first_needed, is_enough
from pybandit.betting._order import MOST_PAIRS, Ordered

FEW_ITEMS = 64  # items ahead of the block that are considered first
_Method = TypeVar("_Method", bound=Callable[..., Any])


def guarded(method: _Method) -> _Method:
    """Wrap a method so that a concurrent call from another thread raises a RuntimeError.

    Complete blocks whose bets Ctrl-C prevented are bet on first.
    """

    @functools.wraps(method)
    def call(self: "AskTell", *args: Any, **options: Any) -> Any:
        with self._guard:
            self._settle()
            return method(self, *args, **options)

    return cast(_Method, call)


class AskTell(Ordered):
    """The part of `PairedRace` that handles requests and reports.

    A reward is recorded once it is in `_early`, or its block was played, that is, bet on. A *cell*
    is a pair of an arm and an item.
    """

    _early: Early
    _handed: Ints   # per arm, the place up to which items were requested ahead of their block
    _spread: Spread
    _due: bool      # True if `_early` may hold a complete block, or cells that were played

    # -- ask and tell -------------------------------------------------------

    @guarded
    def ask(self, n: int | None = None) -> tuple[Ints, Ints]:
        """Return the evaluations that are needed now: each survivor on each item of a block.

        Repeated calls return the same pairs, without those reported since. Blocks have 4 items,
        later a sixteenth of the items read, or `block_size`.

        Parameters
        ----------
        n : int, optional
            Maximum number of pairs that are not reported yet: first those of the block, then
            pairs ahead of it, starting with arms that will probably survive for long. To keep
            many workers busy, request twice the number of concurrent calls. Rewards of arms that
            are eliminated in the meantime are discarded; see `n_wasted_by_arm`. A race with a
            limit on pulls or cost returns no pairs ahead of its block. At most 2²⁴ pairs are
            returned.

        Returns
        -------
        arms, items : ndarray of int64, shape (n,)
            Pairs to evaluate, the most urgent first; empty once the race is done.
        """
        if n is not None:
            return self._ask_ahead(min(check_integer("n", n, 1, MOST_HELD), MOST_PAIRS))
        arms, items = self._asked()
        return self._missing(arms, items)

    def tell(self, arms: ArrayLike, items: ArrayLike, rewards: ArrayLike,
             costs: ArrayLike | None = None) -> None:
        """Report rewards of requested pairs, all or some of them, in any order.

        A block is bet on when its last reward has arrived; rewards of later blocks wait
        (`pending`). The race is the same, bit for bit, as with rewards in order. If Ctrl-C ends
        the call, either all of it was recorded or nothing, and `ask` continues from there.

        Parameters
        ----------
        arms, items : array_like of int, shape (n,)
            Pairs returned by `ask`, also by an earlier call or of arms eliminated since.
        rewards : array_like of float, shape (n,)
            One reward per pair, in `value_range`. A lost reward cannot be left out, because its
            share of the total is unknown. Remove such items from the set before the race, or
            evaluate them again; `ask` repeats its requests.
        costs : array_like of float, shape (n,), optional
            Cost of each evaluation, finite and at least 0. Required with ``costs="told"``, and
            not accepted otherwise.

        Raises
        ------
        ValueError, TypeError
            If there are no rewards, a pair is reported twice or was not requested, a reward is
            not finite, masked or out of range, or a cost is NaN or negative. The message names
            arm, item and value, and the race is unchanged.
        RuntimeError
            If another thread is in a call of this race.
        """
        report = checked_report(arms, items, rewards)
        if (costs is not None) != self._is_told_costs():
            raise ValueError("costs must be given if and only if the race was made with "
                             f"costs='told'; got {type(costs).__name__} for "
                             f"costs={shown(self._prices)}")
        if costs is not None:
            told_in_order("costs", costs, arms, items)
            costs = check_told(costs, *report[:2])
        with self._guard:
            self._settle()
            self._tell(*report, costs)

    def _is_told_costs(self):
        return isinstance(self._prices, str)

    def _tell(self, arms, items, rewards, costs=None):
        if self._early.keys.size or not arms.size or arms.size != self._n_asked():
            return self._keep(arms, items, rewards, costs)
        asked = self._asked()
        if not (np.array_equal(arms, asked[0]) and np.array_equal(items, asked[1])):
            return self._keep(arms, items, rewards, costs)
        self._tell_block(arms, items, rewards, costs)

    def _tell_block(self, arms, items, rewards, costs):
        """Record a complete block in the order of the request, the usual case."""
        width = self._race.alive.size
        check_range(rewards, arms, items, self._limits(), self.value_range)
        values = rewards.reshape(-1, width)
        check_spread(values, arms[:width], items[::width], self._limits()[2])
        self._play(values, None if costs is None else costs.reshape(-1, width))

    def _play(self, values, costs):
        """Bet on a block and record it; `values` has one row per item, one column per survivor."""
        alive, n_blocks = self._race.alive, len(self._books.blocks)
        if self._money is not None:
            if costs is None:
                costs = self._money.of(self._items(len(values)), alive)
            self._money.enter(n_blocks, alive, costs)
        self._race.tell(self._books, values, *self._withdrawals(values))

    def _withdrawals(self, values):
        """Return how many arms to keep after these rewards and the keys that break ties.

        The base class keeps all.
        """
        return ()

    # -- ahead --------------------------------------------------------------

    def _ask_ahead(self, n):
        arms, items = (part[:n] for part in self._missing(*self._asked()))
        if self._race.decided or not self._block_length() or self._is_capped() or arms.size == n:
            return arms, items
        places, more = self._needed(n - arms.size)
        if (places >= self._handed[more]).any():
            handed = self._handed.copy()
            np.maximum.at(handed, more, places + 1)
            self._handed = handed
        return np.concatenate([arms, more]), np.concatenate([items, self._items_at(places)])

    def _needed(self, n):
        """Return places and arms of the n cells after the block most likely to be needed."""
        alive, n_read = self._race.alive, self._books.n_items
        start = n_read + self._block_length()
        depth = int(self._early.keys[-1:].sum()) // self.n_arms
        most = np.inf if self.n_items is None else self.n_items
        if start >= most:
            return alive[:0], alive[:0]
        self._spread = self._spread.after(self._books.blocks)
        ahead = FEW_ITEMS + n // alive.size
        while True:  # the first items with n cells usually suffice; n items always do
            end = min(max(start, depth + 1) + min(ahead, n), most)
            likely, new = self._chances(start, end)
            rows, columns = first_needed(likely, new, n)
            if ahead >= n or end == most or is_enough(likely, rows, columns, n):
                return start + rows, alive[columns]
            ahead *= 2

    def _chances(self, start, end):
        """Return, by place and survivor, the chance of being needed, and True for new cells."""
        alive, n_read = self._race.alive, self._books.n_items
        waiting = np.full((end - n_read, alive.size), np.nan)
        found = self._early.places(np.arange(n_read, end)[:, None] * self.n_arms + alive)
        waiting[found >= 0] = self._early.rewards[found[found >= 0]]
        likely = chances(np.arange(start, end), n_read, *self._differences(alive, waiting))
        return likely, found[start - n_read:] < 0

    @guarded
    def _n_ahead(self) -> int:
        """Return the number of rewards that wait for a block after the current one."""
        end = (self._books.n_items + self._block_length()) * self.n_arms
        return int(((self._early.keys >= end) & ~self._is_waste()).sum())

    def _is_capped(self):
        """Return True if pulls or cost are limited, so that no requested pair may be wasted."""
        return self.max_pulls is not None or (
            self._money is not None and self._money.most is not None)

    def _missing(self, arms, items):
        """Return these valid pairs without those that were already reported."""
        if not self._early.keys.size:
            return arms, items
        new = self._early.places(self._cell_keys(arms, items)) < 0
        return arms[new], items[new]

    def _cell_keys(self, arms, items):
        """Return one number per cell, increasing in the order of the bets."""
        return self._places_of(items) * self.n_arms + arms

    def _keep(self, arms, items, rewards, costs):
        """Keep these cells until their turn, and play the blocks that are complete."""
        keys = self._checked_keys(arms, items)
        check_range(rewards, arms, items, self._limits(), self.value_range)
        early = self._early.with_cells(keys, rewards, costs)
        if not isinstance(self.value_range, tuple):
            self._check_early_spread(early, keys)
        self._due = True  # set first: Ctrl-C may come before the next line
        self._early = early
        self._settle()

    def _checked_keys(self, arms, items):
        """Return the keys of the cells; raise unless all were requested and none is repeated."""
        wanted, n_asked = self._n_asked(), arms.size
        if not n_asked:
            done = "the race is done and asks for nothing" if not wanted else (
                "arms and items must hold at least one pair of ask()")
            raise ValueError(f"{done}; got 0 rewards")
        known = (arms >= 0) & (arms < self.n_arms) & (items >= 0)
        known &= items < (MOST_HELD if self.n_items is None else self.n_items)
        keys = np.full(n_asked, -1)
        keys[known] = self._cell_keys(arms[known], items[known])
        place, arm = keys // self.n_arms, np.where(known, arms, 0)
        before = known & ((place < self._books.pulls[arm]) | (self._early.places(keys) >= 0))
        asked_for = known & (place < self._reach()[arm])
        bad = ~asked_for | before
        if bad.any():
            self._refuse(int(bad.argmax()), arms, items, before, wanted)
        _, first, counts = np.unique(keys, return_index=True, return_counts=True)
        if first.size < n_asked:
            at = int(first[counts > 1][0])
            raise ValueError(f"each pair must be reported once; got item {items[at]} of arm "
                             f"{arms[at]} twice")
        return keys

    def _refuse(self, at, arms, items, before, n_asked):
        if not n_asked:
            raise ValueError(f"the race is done and asks for nothing; got {arms.size} rewards")
        what = "was reported before" if before[at] else "was not requested"
        raise ValueError(f"arms and items must be pairs of ask(); item {items[at]} of arm "
                         f"{arms[at]} {what}")

    def _reach(self):
        """Return, for each arm, the place up to which its items have been requested."""
        reach = np.maximum(self._handed, self._books.pulls)
        if not self._race.decided:
            alive = self._race.alive
            reach[alive] = np.maximum(reach[alive], self._books.n_items + self._block_length())
        return reach

    def _check_early_spread(self, early, keys):
        """Refuse known rewards of survivors that differ by more than the range on one item."""
        alive = self._race.alive
        for place in np.unique(keys // self.n_arms).tolist():
            found = early.places(place * self.n_arms + alive)
            arms, values = alive[found >= 0], early.rewards[found[found >= 0]]
            if arms.size:
                check_spread(values[None], arms, [self._item_at(place)], self._limits()[2])

    def _settle(self):
        """Play the blocks that are complete. Ctrl-C leaves the rest to the next call."""
        if not self._due:
            return
        while self._may_be_whole():
            found = self._early.places(self._cell_keys(*self._asked()))
            if (found < 0).any():
                break
            width, early = self._race.alive.size, self._early
            self._play(early.rewards[found].reshape(-1, width),
                       None if early.costs is None else early.costs[found].reshape(-1, width))
        keys = self._early.keys
        self._early = self._early.only(keys // self.n_arms
                                       >= self._books.pulls[keys % self.n_arms])
        self._due = False

    def _may_be_whole(self):
        """Return True if enough cells of the block's items are known, whatever their arms."""
        n_read, wanted = self._books.n_items, self._n_asked()
        ends = np.array([n_read, n_read + self._block_length()]) * self.n_arms
        first, last = np.searchsorted(self._early.keys, ends)
        return 0 < wanted <= last - first

    # -- pending and discarded rewards ---------------------------------------

    def _is_waste(self):
        """Return, for each reported cell that was not played, True if it never will be."""
        arms = self._early.keys % self.n_arms
        if self._race.decided or not self._block_length():
            return np.ones(arms.size, dtype=bool)
        return ~np.isin(arms, self._race.alive)

    @property
    @guarded
    def pending(self) -> tuple[Ints, Ints]:
        """Arms and items of rewards that were reported and wait for their block; int64."""
        keys = self._early.keys[~self._is_waste()]
        return keys % self.n_arms, self._items_at(keys // self.n_arms)

    @property
    @guarded
    def n_wasted_by_arm(self) -> Ints:
        """Rewards per arm that were requested ahead and are never used; int64.

        The arm was eliminated, or the race ended, before their block. They are not counted by
        `n_pulls`, `pulls`, `cost` and `cost_by_arm`.
        """
        arms = self._early.keys[self._is_waste()] % self.n_arms
        return np.bincount(arms, minlength=self.n_arms)

    @property
    @guarded
    def waste_cost(self) -> float | None:
        """Cost of the rewards in `n_wasted_by_arm`; None if the race has no costs."""
        if self._money is None:
            return None
        waste = self._is_waste()
        if self._early.costs is not None:
            return float(self._early.costs[waste].sum())
        keys = self._early.keys[waste]
        return float(self._money.price(self._items_at(keys // self.n_arms),
                                       keys % self.n_arms).sum())

    # -- state --------------------------------------------------------------

    def _state_ahead(self):
        """Return the part of a state for requests and rewards ahead of the race; {} if none."""
        early, handed = self._early, np.where(self._handed > self._books.pulls, self._handed, 0)
        if not early.keys.size and not handed.any():
            return {}
        return {"ahead": {
            "handed": handed, "arms": early.keys % self.n_arms,
            "items": self._items_at(early.keys // self.n_arms), "rewards": early.rewards.copy(),
            "costs": None if early.costs is None else early.costs.copy()}}

    def _restore_ahead(self, ahead):
        """Restore the requests and rewards ahead of the race."""
        known = check_state_ahead(ahead, self.n_arms, self.n_items, self._is_told_costs())
        self._handed, costs = known["handed"], known["costs"]
        report = [known[name] for name in ("arms", "items", "rewards")]
        if report[0].size:
            self._keep(*report, None if costs is None else check_told(costs, *report[:2]))


def first_early(n_arms: int, costs: Any) -> tuple[Early, Ints]:
    """Return the initial state: no early rewards, no requests ahead of a block."""
    nothing: Floats = np.empty(0)
    told = isinstance(costs, str) and costs == TOLD
    return (Early(np.empty(0, dtype=np.int64), nothing, nothing if told else None),
            np.zeros(n_arms, dtype=np.int64))
