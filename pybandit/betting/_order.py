"""What a race asks for next: the order of its items, and how many of them come at a time."""

import numpy as np

from pybandit._shared.checks import check_choice, check_integer

SMALLEST_BLOCK = 4
# Where evaluations cost money a block is at most this share of what was read: 1 % less is spent.
COSTLY_SHARE = 32
POPULATIONS = ("items", "sample")


def check_population(population, n_items):
    """Items that the question is about: as many as there are, more, or None for any number."""
    if isinstance(population, str) or population is None:
        check_choice("population", population, POPULATIONS)
        return n_items if population == "items" else None
    if n_items is None:
        raise ValueError("population must be left out for an endless stream; got "
                         f"{check_integer('population', population, 1)}")
    return check_integer("population", population, n_items)


class Ordered:
    """The items in the order that was drawn, block by block; what `PairedRace` adds to."""

    def _asked(self):
        items, arms = self._block_items(), self._race.alive
        if self._race.decided:
            items = items[:0]
        return np.tile(arms, items.size), np.repeat(items, arms.size)

    def _block_length(self):
        told = self._books.n_items
        length = self.block_size or self._usual_length(told)
        if self.n_items is not None:
            length = min(length, self.n_items - told)
        if self.max_evaluations is not None:
            left = self.max_evaluations - int(self._books.pulls.sum())
            length = min(length, left // max(1, self._race.alive.size))
        return self._affordable(length)

    def _usual_length(self, told):
        if self._money is not None:
            return max(1, told // COSTLY_SHARE)
        return max(SMALLEST_BLOCK, told // 16)

    def _affordable(self, length):
        """How many of so many items the money pays for."""
        if self._money is None or self._money.most is None or length <= 0:
            return length
        return self._money.affordable(self._items(length), self._race.alive,
                                      len(self._books.blocks), self._books.pulls)

    def _items(self, length):
        """The next so many items."""
        told = self._books.n_items
        if self._order is None:
            return np.arange(told, told + length)
        return self._order[told:told + length]

    def _block_items(self):
        return self._items(self._block_length())

    def _was_told(self, arm, item):
        if not 0 <= arm < self.n_arms:
            return False
        told = self._books.pulls[arm]
        if self._order is None:
            return 0 <= item < told
        return bool(np.isin(item, self._order[:told]))
