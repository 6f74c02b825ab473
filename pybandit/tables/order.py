"""The order in which a race reads a table: whole blocks, in random order.

A uniformly random permutation composed with a fixed one is again uniform. Rows that were shuffled
once may therefore be read in whole blocks, in any order that does not depend on the shuffle.
"""

import numpy as np


class BlockRows:
    """Row numbers, block after block in the given order, with the array methods races need.

    It stores a few numbers per block and none per row, so 10**9 rows take little memory.
    """

    def __init__(self, sizes, order):
        self._ends, self._row_ends = np.cumsum(sizes[order]), np.cumsum(sizes)
        # row number minus place in the order, for blocks in this order, and by block
        self._shift = (self._row_ends - sizes)[order] - (self._ends - sizes[order])
        self._row_shift = np.empty_like(self._shift)
        self._row_shift[order] = self._shift
        self.size = int(self._ends[-1])

    def __len__(self):
        return self.size

    def __getitem__(self, places):
        if isinstance(places, slice):
            places = np.arange(*places.indices(self.size), dtype=np.int64)
        return places + self._shift[np.searchsorted(self._ends, places, side="right")]

    def places(self, rows):
        """Return the places of rows in the order."""
        return rows - self._row_shift[np.searchsorted(self._row_ends, rows, side="right")]

    def __array__(self, dtype=None, copy=None):
        return self[:].astype(np.int64 if dtype is None else dtype, copy=False)

    def copy(self):
        """Return all row numbers as an array."""
        return self[:]


class BlockGenerator(np.random.Generator):
    """The Generator of a race on blocks, which orders items in whole blocks."""

    def __init__(self, rng, sizes):
        super().__init__(rng.bit_generator)
        self._sizes = sizes

    def order_of_items(self):
        """Return the rows of the blocks in random order, in sequence within each block."""
        return BlockRows(self._sizes, self.permutation(self._sizes.size))
