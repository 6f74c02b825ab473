"""The order of a race's items, and the number of items per block."""

import math
from typing import TYPE_CHECKING

import numpy as np

from pybandit._shared.checks import LARGEST, check_in, refuse_masks, shown
from pybandit._shared.generators import as_generator
from pybandit._shared.guard import made_already
from pybandit._shared.labels import in_order
from pybandit._shared.types import Floats
from pybandit.betting._reads import DrawnOrder, permutation
from pybandit.betting._sequence_checks import check_population
from pybandit.betting.options import Bets, Costs

SMALLEST_BLOCK = 4
USUAL_SHARE = 16  # a block is at most 1/16 of the items read
# With costs, it is at most 1/32 of them: races then cost 1 % less.
COSTLY_SHARE = 32
# Numbers of items whose order is drawn as far as it is read. A permutation of fewer takes .1 ms.
FEWEST_DRAWN, MOST_DRAWN = 2**14, 2**32
MOST_PAIRS = 2**24  # per block: 256 MiB of arms and items
# limits of weights: the weight left is a difference of sums, with 16 digits
SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-9, 1e150


def population_of(population_size, n_items):
    """Return the size of the population, an int or math.inf."""
    if population_size is None:
        return math.inf if n_items is None else n_items
    size = check_population(population_size, n_items or 1, LARGEST)
    if n_items is None and size != math.inf:
        raise ValueError("population_size must be left out for an endless stream; got "
                         f"{population_size}")
    return size


def check_weights(weights, n_items, population_size):
    """Return a checked copy of the weights, or None."""
    if weights is None:
        return None
    if n_items is None or population_size != n_items:
        raise ValueError("weights must be left out unless population_size equals n_items: the "
                         "weights of the other items of a population or stream are unknown; got "
                         f"{shown(weights)}")
    in_order("weights", weights, range(n_items), what="the index of the items")
    weights = check_in("weights", refuse_masks("weights", weights), "finite and above 0",
                       lambda x: (x > 0) & (x <= LARGEST_WEIGHT))
    if weights.shape != (n_items,):
        raise ValueError(f"weights must have shape ({n_items},), one value per item; got "
                         f"{weights.shape}")
    least = int(weights.argmin())
    if weights[least] < SMALLEST_WEIGHT * weights.max():
        raise ValueError(f"weights must be at least {SMALLEST_WEIGHT:g} of the largest, "
                         f"{weights.max():g}; got {weights[least]} at index {least}: leave such "
                         "items out")
    return weights


def check_order(order):
    """Return a checked copy of an order that the caller drew."""
    order = check_in("order", refuse_masks("order", order), "finite", np.isfinite)
    n_items = order.size
    if order.shape != (n_items,) or (np.sort(order) != np.arange(n_items)).any():
        raise ValueError(f"order must be a permutation of its {n_items} items, from 0; got "
                         f"{shown(order)}")
    return order.astype(np.int64)


def draw_order(rng, n_items, weights):
    """Return a random order, each next item with probability proportional to its weight."""
    rng = as_generator(rng)
    if hasattr(rng, "order_of_items"):  # blocks of shuffled rows
        if weights is not None:
            raise ValueError("weights must be left out for blocks of shuffled rows, which are read "
                             f"in the order of the file; got {shown(weights)}")
        return rng.order_of_items()
    if weights is None:
        if n_items < FEWEST_DRAWN:
            return permutation(rng, n_items)
        return DrawnOrder(rng, n_items) if n_items < MOST_DRAWN else rng.permutation(n_items)
    return np.argsort(rng.exponential(size=n_items) / weights, kind="stable")


def weights_left(order, weights):
    """Return the weight left before each item and after the last; the mean weight is 1."""
    scaled = weights[order] * (order.size / weights.sum())
    left = np.append(np.cumsum(scaled[::-1])[::-1], 0.0)
    left[0] = order.size
    return left


class Initialised:
    """Base class of races, which explains a missing or repeated `__init__`."""

    if not TYPE_CHECKING:  # for type checkers, every name would exist

        def __getattr__(self, name):
            if name.startswith("__") or "_race" in self.__dict__:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}",
                                     name=name, obj=self)
            raise AttributeError(f"this {type(self).__name__} has no {name!r}: its __init__ was "
                                 "not called, or did not finish", name=name, obj=self)

    def _refuse_again(self):
        """Refuse a second call of `__init__`; subclasses call this first."""
        if "_race" in self.__dict__:
            raise made_already(type(self))


class Ordered(Initialised):
    """The part of `PairedRace` that takes items in the order drawn, block by block."""

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

    def _asked(self):
        items, arms = self._block_items(), self._race.alive
        if self._race.decided:
            items = items[:0]
        return np.tile(arms, items.size), np.repeat(items, arms.size)

    def _n_asked(self):
        """Return the number of pairs that `_asked` returns."""
        return 0 if self._race.decided else self._race.alive.size * self._block_length()

    def _block_length(self):
        n_read = self._books.n_items
        length = min(self.block_size or self._usual_length(n_read),
                     max(1, MOST_PAIRS // max(1, self._race.alive.size)))
        if self.n_items is not None:
            length = min(length, self.n_items - n_read)
        if self.max_pulls is not None:
            left = self.max_pulls - int(self._books.pulls.sum())
            length = min(length, left // max(1, self._race.alive.size))
        return self._affordable(length)

    def _usual_length(self, n_read):
        if self._money is not None:
            return max(1, n_read // COSTLY_SHARE)
        return max(SMALLEST_BLOCK, n_read // USUAL_SHARE)

    def _affordable(self, length):
        """Return how many of the next `length` items the unspent part of the budget pays for."""
        if self._money is None or self._money.most is None or length <= 0:
            return length
        return self._money.affordable(self._items(length), self._race.alive,
                                      len(self._books.blocks), self._books.pulls)

    def _items(self, length):
        """Return the next `length` items."""
        n_read = self._books.n_items
        if self._order is None:
            return np.arange(n_read, n_read + length)
        return self._order[n_read:n_read + length]

    def _block_items(self):
        return self._items(self._block_length())

    def _items_at(self, places):
        """Return the items at these places of the order."""
        return places.copy() if self._order is None else self._order[places]

    def _item_at(self, place):
        return place if self._order is None else int(self._order[place])

    def _places_of(self, items):
        """Return the places of these items in the order; all items must exist."""
        if self._order is None:
            return items
        if hasattr(self._order, "places"):  # `BlockRows` and `DrawnOrder`
            return self._order.places(items)
        if self._inverse is None:
            inverse = np.empty_like(self._order)
            inverse[self._order] = np.arange(self._order.size)
            self._inverse = inverse
        return self._inverse[items]

    def _weigh(self, race):
        """Pass the weights of the items to the kernel, in the order drawn."""
        if self.weights is not None:
            race.weigh(weights_left(self._order, self.weights))

    def _centred(self):
        """Return the means minus the base of `_books`."""
        if self.weights is None:
            return self._books.centred
        left = self._race.arrays["left"]
        means = np.full(self.n_arms, np.nan)
        for arm, rewards in enumerate(self._rewards_of_all()):
            if not rewards.size:
                continue
            rewards = rewards - self._books.base
            rest = left[rewards.size]
            weight = left[:rewards.size] - left[1:rewards.size + 1]
            means[arm] = ((weight * rewards).sum() + rest * rewards.mean()) / left[0]
        return means

    def _items_in_words(self):
        if self.n_items is None:
            return "endless items"
        of = "" if self._world == self.n_items else (
            " as a sample" if self._world is None else f" of {self._world:,}")
        return f"{self.n_items:,} items{of}"
