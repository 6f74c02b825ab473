"""Base class of races that read all survivors on the same items."""

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np

from pybandit._shared.checks import (
    LARGEST,
    MOST_HELD,
    check_delta,
    check_integer,
    check_scalar,
    nonnegative,
)
from pybandit._shared.errors import InfeasibleBudgetError
from pybandit._shared.guard import Guard
from pybandit._shared.types import Floats, Ints
from pybandit.betting._ask_tell import AskTell, first_early, guarded
from pybandit.betting._estimate import by_arms
from pybandit.betting._kernels import Bets, Books
from pybandit.betting._money import Money, check_costs, check_feasible, check_told
from pybandit.betting._need import Spread
from pybandit.betting._order import check_weights, draw_order, population_of
from pybandit.betting._state import PARTS, check_state, flat_names, flat_options, grouped
from pybandit.betting.limits import check_limits
from pybandit.betting.options import MIXTURES, as_bets, as_costs

# The bets of all ordered pairs of this many arms can be counted by an int64.
MOST_ARMS = 2**27
# Numbers copied at a time, in all and per block: smaller copies take longer.
COPIED, SLICE = 2**18, 512


def _copied(value):
    return value.copy() if isinstance(value, np.ndarray) else value


class PairedRace(AskTell):
    """Base class: requests all survivors on the same items, block by block.

    A subclass creates the kernel's race in `_make_race` and reports its results. Methods that
    start with an underscore do not take the guard.
    """

    def __init__(self, n_arms, n_items, *, value_range, delta, epsilon=0.0, max_pulls=None,
                 population_size=None, weights=None, costs=None, bets=None, block_size=None,
                 rng=None):
        self.n_arms = check_integer("n_arms", n_arms, 1, MOST_ARMS)
        self.n_items = None if n_items is None else check_integer("n_items", n_items, 1, MOST_HELD)
        self.population_size = population_of(population_size, self.n_items)
        # population_size, or None if it is infinite
        self._world = None if self.population_size == math.inf else self.population_size
        self.delta = check_delta(delta)
        self.value_range = check_limits(value_range)
        self.epsilon = check_scalar("epsilon", epsilon, "finite and at least 0", nonnegative)
        self.bets = self._checked_bets(bets)
        self.block_size = (None if block_size is None
                           else check_integer("block_size", block_size, 1, LARGEST))
        self.max_pulls = max_pulls
        if max_pulls is not None:
            self.max_pulls = check_integer("max_pulls", max_pulls, 0, LARGEST)
            if self.max_pulls < self.n_arms:
                raise InfeasibleBudgetError(
                    f"max_pulls must be at least {self.n_arms}, one item for each of the "
                    f"{self.n_arms} arms; got {self.max_pulls}")
        costs = self._checked_costs(costs)
        self._prices = check_costs(None if costs is None else costs.values, self.n_arms,
                                   self.n_items)
        self.costs = None if costs is None else replace(costs, values=_copied(self._prices))
        self._money = None
        if costs is not None:
            self._money = Money(self._prices, getattr(costs, self._LIMIT), self.n_arms)
            check_feasible(self._LIMIT, self._money, self.n_arms)
        self.weights = check_weights(weights, self.n_items, self.population_size)
        # None for an endless stream, whose items are 0, 1, 2, ...
        self._order = (None if self.n_items is None
                       else draw_order(rng, self.n_items, self.weights))
        self._inverse, self._spread = None, Spread(0, np.zeros(self.n_arms))
        (self._early, self._handed), self._due = first_early(self.n_arms, self._prices), False
        self._guard = Guard(type(self))
        self._books = Books(self.n_arms, self._limits()[0] if isinstance(self.value_range, tuple)
                            else np.nan)
        race = self._make_race()
        race.begin()
        self._weigh(race)
        self._race = race  # last: an object that has it is complete

    # options with which an equal race can be created
    _OPTIONS: tuple[str, ...] = ("n_arms", "n_items", "delta", "value_range", "epsilon",
                                 "max_pulls", "bets", "block_size", "population_size")
    _PARTS: tuple[str, ...] = PARTS  # parts of a saved state
    _MIXTURES: tuple[str, ...] = MIXTURES
    _USUAL = "plug-in"  # mixture of bets if none are given
    _LIMIT, _OTHER_LIMIT = "max_cost", "budget"  # limits of costs: the one that applies, the other

    def _checked_bets(self, bets):
        """Return the checked bets of this race; refuse kinds that it does not support."""
        bets = as_bets(bets, self._USUAL, type(self).__name__)
        if bets.mixture not in self._MIXTURES:
            expected = " or ".join(map(repr, self._MIXTURES))
            raise ValueError(f"bets of {type(self).__name__} must have mixture {expected}; got "
                             f"{bets}")
        if bets.hybrid and not self._may_be_hybrid():
            raise ValueError("bets must have hybrid=False except in a BettingRace with k = 1; got "
                             f"{bets} for {type(self).__name__}")
        return bets

    def _may_be_hybrid(self):
        return False

    def _checked_costs(self, costs):
        """Return the checked costs; refuse the limit that only the other kind of race has."""
        costs = as_costs(costs)
        if costs is not None and getattr(costs, self._OTHER_LIMIT) is not None:
            raise ValueError(f"costs of {type(self).__name__} must have {self._LIMIT} instead of "
                             f"{self._OTHER_LIMIT}; got {getattr(costs, self._OTHER_LIMIT)}")
        return costs

    def _options(self):
        """Return the options of an equal race, with groups flattened."""
        return {name: _copied(value) for name, value in flat_options(
            {name: getattr(self, name) for name in self._OPTIONS}, self._LIMIT).items()}

    def _limits(self):
        if isinstance(self.value_range, tuple):
            low, high = self.value_range
            return low, high, high - low
        return -np.inf, np.inf, self.value_range

    def _make_bets(self):
        return Bets(self.bets.mixture, self.bets.n_bets or 1)

    # -- results -----------------------------------------------------------

    def _is_exact(self):
        return not self._race.decided and self._books.n_items == self._world

    @property
    @guarded
    def done(self) -> bool:
        """True if there is nothing left to request."""
        return self._race.decided or self._block_length() == 0

    @property
    @guarded
    def decided(self) -> bool:
        """True if the answer is final and `delta` applies to it, not if a limit ended the race."""
        return self._race.decided or self._is_exact()

    @property
    @guarded
    def exact(self) -> bool:
        """True if all items of the survivors were read, so that their totals decided.

        Arms eliminated earlier may be better, with probability at most `delta`.
        """
        return self._is_exact()

    @property
    @guarded
    def n_pulls(self) -> int:
        """Number of rewards reported and used."""
        return int(self._books.pulls.sum())

    @property
    @guarded
    def cost(self) -> float | None:
        """Cost of all rewards reported and used; None without costs."""
        return None if self._money is None else float(self._spent().sum())

    @property
    @guarded
    def cost_by_arm(self) -> Floats | None:
        """Cost of the rewards of each arm; float64, shape (n_arms,), a copy."""
        return None if self._money is None else self._spent().copy()

    def _spent(self):
        return self._money.spent(len(self._books.blocks))

    @property
    @guarded
    def n_batches(self) -> int:
        """Number of blocks that were reported completely."""
        return len(self._books.blocks)

    @property
    @guarded
    def pulls(self) -> Ints:
        """Number of items read per arm, from the first in the race's order on; int64, a copy."""
        return self._books.pulls

    @property
    @guarded
    def items(self) -> Ints:
        """Items on which the last arms were read, in the race's order; int64, a copy."""
        return self._items_at(np.arange(self._books.n_items))

    @property
    @guarded
    def means(self) -> Floats:
        """Mean reward of each arm on the items read; NaN if none was read.

        With `weights`, an estimate of the weighted mean: items that were read have their own
        weights, and the others count as the plain mean of the rewards read.
        """
        return self._books.base + self._centred()

    @property
    @guarded
    def variances(self) -> Floats:
        """Sample variance (divisor n - 1) of each arm's rewards; NaN for fewer than two."""
        return np.array([np.var(rewards - self._books.base, ddof=1) if rewards.size > 1
                         else np.nan for rewards in self._rewards_of_all()])

    @property
    @guarded
    def survivors(self) -> Ints:
        """Arms that are still read, increasing; int64."""
        return self._race.alive

    @guarded
    def rewards(self, arm: int) -> Floats:
        """Return the rewards of an arm in the race's order of items; float64, (pulls[arm],)."""
        arm = check_integer("arm", arm, 0, self.n_arms - 1)
        read = [values[:, np.searchsorted(arms, arm)]
                for arms, values in self._books.blocks if arm in arms]
        return np.concatenate(read) if read else np.empty(0)

    def _rewards_of_all(self):
        """Yield the rewards of each arm in turn.

        The rewards of several arms are copied together, up to `COPIED` numbers in all or `SLICE`
        per block, because copying many small blocks arm by arm takes ten times as long.
        """
        groups = [(arms.tolist(), values) for arms, values in by_arms(self._books.blocks)]
        before = np.append(0, self._books.pulls.cumsum())
        most = max(self._books.n_items, SLICE * len(self._books.blocks), COPIED)
        begin = 0
        while begin < self.n_arms:
            end = int(np.searchsorted(before, before[begin] + most, side="right")) - 1
            yield from map(np.concatenate, _columns(groups, begin, end))
            begin = end

    # -- state --------------------------------------------------------------

    @guarded
    def get_state(self) -> dict[str, Any]:
        """Return the state of the race as a dict of arrays and plain numbers.

        A race restored by `from_state` continues bit for bit.
        """
        return self._state()

    def _state(self):
        blocks = self._books.blocks
        return {
            "type": type(self).__name__,
            "options": self._options(),
            "order": None if self._order is None else self._order.copy(),
            "lengths": np.array([len(values) for _, values in blocks], dtype=np.int64),
            "rewards": np.concatenate([np.empty(0), *(v.ravel() for _, v in blocks)]),
            "costs": self._told_costs(len(blocks)),
        } | self._state_ahead()

    def _told_costs(self, n_blocks):
        """Return the reported costs in the order of the rewards; None unless costs are "told"."""
        if not self._is_told_costs():
            return None
        return np.concatenate([np.empty(0), *(c.ravel() for c in self._money.told[:n_blocks])])

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the race that `get_state` saved; its rewards are replayed.

        Raises
        ------
        ValueError, TypeError
            If the state is of another class, lacks a part, or is inconsistent.
        """
        more = cls._more_parts(state)
        ahead = ("ahead",) if isinstance(state, Mapping) and "ahead" in state else ()
        order, lengths, rewards, costs = check_state(state, cls, flat_names(cls._OPTIONS),
                                                     (*cls._PARTS, *more, *ahead))
        race = cls(rng=0, **grouped(state["options"], cls._LIMIT), **more)
        race._restore(state)
        race._replay(order, lengths, rewards, costs)
        if ahead:
            race._restore_ahead(state["ahead"])
        return race

    @staticmethod
    def _more_parts(state):
        """Return optional parts of a state, which are arguments of `__init__`."""
        return {}

    def _restore(self, state):
        """Restore the parts that a subclass adds to the state, before the replay."""

    def _replay(self, order, lengths, rewards, costs):
        if order is not None:
            self._order, self._inverse = order, None
            self._weigh(self._race)
        used = 0
        for length in lengths:
            asked = self._asked()
            part = slice(used, used + length * self._race.alive.size)
            values = rewards[part]
            used += values.size
            if values.size != asked[0].size or values.size == 0:
                raise ValueError(f"state must hold blocks of the lengths that the race requests; "
                                 f"got {length} items after {self._books.n_items}")
            self._tell_block(*asked, values,
                             None if costs is None else check_told(costs[part], *asked))
        if used != rewards.size:
            raise ValueError(f"state must hold {used} rewards for its blocks; got {rewards.size}")

    def __reduce__(self):
        return type(self).from_state, (self.get_state(),)

    def _summary(self):
        """Return the part of the representation that all races share."""
        books, items = self._books, self._items_in_words()
        end = ("decided" if self._race.decided else "exact" if self._is_exact()
               else "going on" if self._block_length()
               else "out of items" if books.n_items == self.n_items else "out of budget")
        cost = "" if self._money is None else f" for {self._spent().sum():,.6g}"
        return (f"{self.n_arms} arms, {items}, delta={self.delta:g}, {end} after "
                f"{int(books.pulls.sum()):,} evaluations{cost}")


def _columns(groups, begin, end):
    """Return, for each arm in [begin, end), its rewards as one array per group of blocks."""
    read = [[np.empty(0)] for _ in range(begin, end)]
    for arms, values in groups:
        first, last = bisect_left(arms, begin), bisect_left(arms, end)
        if first == last:
            continue
        part = np.concatenate(values if last - first == len(arms) else
                              [block[:, first:last] for block in values])
        for arm, rewards in zip(arms[first:last], part.T, strict=True):
            read[arm - begin].append(rewards)
    return read
