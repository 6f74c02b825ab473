"""The protocol of races that read all alive arms on the same items."""

from typing import Any, Self

import numpy as np

from pybandit._shared.checks import (
    InfeasibleBudget,
    check_choice,
    check_delta,
    check_in,
    check_integer,
    check_numeric,
)
from pybandit._shared.generators import as_generator
from pybandit._shared.types import ArrayLike, Floats, Ints
from pybandit.betting._kernels import Bets
from pybandit.betting.limits import MOST_BETS, check_limits

SMALLEST_BLOCK = 4


class PairedRace:
    """Asks for all alive arms on the same items, block by block, and keeps what it was told.

    A subclass makes the kernel's race in `_make_race` and says what it found.
    """

    def __init__(self, n_arms, n_items, delta, value_range, tolerance, max_evaluations, rng,
                 bets, mixture, block_size):
        self.n_arms = check_integer("n_arms", n_arms, 1)
        self.n_items = None if n_items is None else check_integer("n_items", n_items, 1)
        self.delta = check_delta(delta)
        self.value_range = check_limits(value_range)
        self.tolerance = float(check_in("tolerance", tolerance, "finite and at least 0",
                                        lambda x: np.isfinite(x) & (x >= 0)))
        self.bets = check_integer("bets", bets, 1)
        if self.bets > MOST_BETS:
            raise ValueError(f"bets must be at most {MOST_BETS}; got {self.bets}")
        self.mixture = check_choice("mixture", mixture, ("product", "ebmix"))
        self.block_size = (None if block_size is None
                           else check_integer("block_size", block_size, 1))
        self.max_evaluations = max_evaluations
        if max_evaluations is not None:
            self.max_evaluations = check_integer("max_evaluations", max_evaluations, 0)
            if self.max_evaluations < self.n_arms:
                raise InfeasibleBudget(
                    f"max_evaluations must be at least {self.n_arms}, one item for each of the "
                    f"{self.n_arms} arms; got {self.max_evaluations}")
        # an endless stream counts its items
        self._order = (None if self.n_items is None
                       else as_generator(rng).permutation(self.n_items))
        self._race = self._make_race()
        self._race.begin()
        self._blocks = []  # (arms, rewards of shape (items, arms)), as told
        self._n_items_told = 0
        self._pulls = np.zeros(self.n_arms, dtype=np.int64)
        self._sums = np.zeros(self.n_arms)

    # the options that make another race like this one
    _OPTIONS = ("n_arms", "n_items", "delta", "value_range", "tolerance", "max_evaluations",
                "bets", "mixture", "block_size")

    def _limits(self):
        if isinstance(self.value_range, tuple):
            low, high = self.value_range
            return low, high, high - low
        return -np.inf, np.inf, self.value_range

    def _make_bets(self):
        return Bets(self.mixture, self.bets)

    # -- what is known ------------------------------------------------------

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask."""
        return self._race.decided or self._block_length() == 0

    @property
    def decided(self) -> bool:
        """Whether the answer is final: `delta` holds for it, the budget did not end it."""
        return self._race.decided or self.exact

    @property
    def exact(self) -> bool:
        """Whether the answer is certain: all items of the last arms were read."""
        return not self._race.decided and self._n_items_told == self.n_items

    @property
    def n_pulls(self) -> int:
        """Evaluations told."""
        return int(self._pulls.sum())

    @property
    def n_batches(self) -> int:
        """Blocks told."""
        return len(self._blocks)

    @property
    def pulls(self) -> Ints:
        """Items read of each arm: the first ones of the race's order. int64, a copy."""
        return self._pulls.copy()

    @property
    def means(self) -> Floats:
        """Mean reward of each arm on the items read; NaN where none was."""
        with np.errstate(invalid="ignore"):
            return self._sums / self._pulls

    @property
    def variances(self) -> Floats:
        """Sample variance (divisor n - 1) of each arm's rewards; NaN below two."""
        return np.array([np.var(rewards, ddof=1) if rewards.size > 1 else np.nan
                         for rewards in map(self.rewards, range(self.n_arms))])

    @property
    def survivors(self) -> Ints:
        """The arms that are still read, increasing; int64."""
        return self._race.alive

    def rewards(self, arm: int) -> Floats:
        """The rewards of an arm in the order of the items; float64, shape (pulls[arm],)."""
        read = [values[:, np.searchsorted(arms, arm)]
                for arms, values in self._blocks if arm in arms]
        return np.concatenate(read) if read else np.empty(0)

    # -- ask and tell -------------------------------------------------------

    def ask(self) -> tuple[Ints, Ints]:
        """The evaluations that are wanted now: every alive arm on each item of a block.

        The same until they are told. Blocks have 4 items, later a sixteenth of
        those read, or `block_size`.

        Returns
        -------
        arms, items : ndarray of int64, shape (n,)
            Pairs to evaluate, item by item; empty once the race is done.
        """
        items, arms = self._block_items(), self._race.alive
        if self._race.decided:
            items = items[:0]
        return np.tile(arms, items.size), np.repeat(items, arms.size)

    def tell(self, arms: ArrayLike, items: ArrayLike, rewards: ArrayLike) -> None:
        """Give the rewards of everything that was asked, in any order; all or nothing.

        Parameters
        ----------
        arms, items : array_like of int, shape (n,)
            The pairs of `ask`.
        rewards : array_like of float, shape (n,)
            One a pair, in `value_range`. A lost reward cannot be left out: what an
            item would have added to the total is unknown. Take such items out of
            the set before, or evaluate again; `ask` repeats itself.

        Raises
        ------
        ValueError, TypeError
            Where pairs are missing, told twice or not asked for, or a reward is
            not finite or out of range: the message names arm, item and value,
            and the race is as before.
        """
        values = self._arranged(arms, items, rewards)
        alive = self._race.alive
        self._race.add(values)
        self._blocks.append((alive, values))
        self._n_items_told += len(values)
        self._pulls[alive] += len(values)
        self._sums[alive] += values.sum(axis=0)

    def _block_length(self):
        told = self._n_items_told
        length = self.block_size or max(SMALLEST_BLOCK, told // 16)
        if self.n_items is not None:
            length = min(length, self.n_items - told)
        if self.max_evaluations is not None:
            left = self.max_evaluations - self.n_pulls
            length = min(length, left // max(1, self._race.alive.size))
        return length

    def _block_items(self):
        told, length = self._n_items_told, self._block_length()
        if self._order is None:
            return np.arange(told, told + length)
        return self._order[told:told + length]

    def _arranged(self, arms, items, rewards):
        """The rewards as a checked matrix (items of the block, alive arms)."""
        asked_arms, asked_items = self.ask()
        arms, items = _integers("arms", arms), _integers("items", items)
        rewards = check_numeric("rewards", rewards)
        for name, values in (("items", items), ("rewards", rewards)):
            if values.shape != arms.shape:
                raise ValueError(f"{name} must have the shape of arms, {arms.shape}; got "
                                 f"{values.shape}")
        if not asked_arms.size:
            raise ValueError(f"the race is done and asks for nothing; got {arms.size} rewards")
        if not (np.array_equal(arms, asked_arms) and np.array_equal(items, asked_items)):
            rewards = rewards[self._places(arms, items, asked_arms, asked_items)]
        width = self._race.alive.size
        # a copy: the caller may reuse the array
        values = np.array(rewards, order="C").reshape(-1, width)
        self._check_rewards(values, asked_arms.reshape(-1, width),
                            asked_items.reshape(-1, width))
        return values

    def _places(self, arms, items, asked_arms, asked_items):
        """Where each pair that was asked is among those told."""
        told = {}
        asked = set(zip(asked_arms.tolist(), asked_items.tolist(), strict=True))
        for place, pair in enumerate(zip(arms.tolist(), items.tolist(), strict=True)):
            arm, item = pair
            if pair in told:
                raise ValueError(f"items must be told once; got item {item} of arm {arm} twice")
            if pair not in asked:
                before = "had been told before" if self._was_told(*pair) else "was not asked for"
                raise ValueError(f"arms and items must be pairs of ask(); item {item} of arm "
                                 f"{arm} {before}")
            told[pair] = place
        order = list(zip(asked_arms.tolist(), asked_items.tolist(), strict=True))
        missing = next((pair for pair in order if pair not in told), None)
        if missing is not None:
            raise ValueError(f"arms and items must be all {len(order)} pairs of ask(); got "
                             f"{arms.size}, without item {missing[1]} of arm {missing[0]}")
        return [told[pair] for pair in order]

    def _was_told(self, arm, item):
        if not 0 <= arm < self.n_arms:
            return False
        if self._order is None:
            return 0 <= item < self._pulls[arm]
        return bool(np.isin(item, self._order[:self._pulls[arm]]))

    def _check_rewards(self, values, arms, items):
        low, high, most = self._limits()
        bad = ~((values >= low) & (values <= high) & np.isfinite(values))
        if bad.any():
            at = tuple(np.argwhere(bad)[0])
            expected = (f"in value_range = {self.value_range}" if np.isfinite(values[at])
                        else "finite")
            raise ValueError(f"rewards must be {expected}; got {values[at]} for item "
                             f"{items[at]} of arm {arms[at]}")
        spread = np.ptp(values, axis=1)
        if spread.max() > most * (1 + 1e-12):
            row = int(spread.argmax())
            first, last = int(values[row].argmin()), int(values[row].argmax())
            raise ValueError(
                f"rewards of one item must differ by at most value_range = {most}; got "
                f"{values[row, first]} and {values[row, last]} for arms {arms[row, first]} and "
                f"{arms[row, last]} on item {items[row, 0]}")

    # -- state --------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Everything the race is, as a dict of arrays and plain numbers.

        `from_state` makes a race of it that continues bit for bit.
        """
        return {
            "type": type(self).__name__,
            "options": {name: getattr(self, name) for name in self._OPTIONS},
            "order": None if self._order is None else self._order.copy(),
            "lengths": np.array([len(values) for _, values in self._blocks], dtype=np.int64),
            "rewards": np.concatenate([np.empty(0), *(v.ravel() for _, v in self._blocks)]),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The race whose `get_state` this is: it is told again what it had been told.

        Raises
        ------
        ValueError
            Where the state is another class's, lacks a part, or its parts do not fit
            each other.
        """
        missing = {"type", "options", "order", "lengths", "rewards"} - set(state)
        if missing:
            raise ValueError(f"state must have {', '.join(sorted(missing))}; got "
                             f"{', '.join(sorted(state))}")
        if state["type"] != cls.__name__:
            raise ValueError(f"state must be that of a {cls.__name__}; got one of a "
                             f"{state['type']}")
        if set(state["options"]) != set(cls._OPTIONS):
            raise ValueError(f"state must have the options {', '.join(sorted(cls._OPTIONS))}; got "
                             f"{', '.join(sorted(state['options']))}")
        race = cls(rng=0, **state["options"])
        race._restore(state)
        return race

    def _restore(self, state):
        if self.n_items is not None:
            order = np.asarray(state["order"])
            if not np.array_equal(np.sort(order, axis=None), np.arange(self.n_items)):
                raise ValueError(f"state must hold an order of {self.n_items} items; got shape "
                                 f"{order.shape}")
            self._order = order.astype(np.int64)
        rewards, used = check_numeric("rewards", state["rewards"]), 0
        for length in np.asarray(state["lengths"]).tolist():
            asked_arms, asked_items = self.ask()
            values = rewards[used:used + length * self._race.alive.size]
            used += values.size
            if values.size != asked_arms.size or values.size == 0:
                raise ValueError(f"state must hold blocks of the lengths that the race asks for; "
                                 f"got {length} items after {self._n_items_told}")
            self.tell(asked_arms, asked_items, values)
        if used != rewards.size:
            raise ValueError(f"state must hold {used} rewards for its blocks; got {rewards.size}")

    def __reduce__(self):
        return type(self).from_state, (self.get_state(),)


def _integers(name, values):
    array = np.asarray(values)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise TypeError(f"{name} must be a flat array of integers; got "
                        f"{type(values).__name__} of dtype {array.dtype}, {array.ndim} "
                        f"dimensions")
    return array
