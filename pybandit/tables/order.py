"""The order in which a race reads a table: whole blocks, in random order.

If the rows of a file were put into a uniformly random order once, then read in any order that
does not depend on that one they come in a uniformly random order again: a permutation that is
composed with a fixed one stays uniform. So the blocks may come as they like, and whole.
"""

import numpy as np


class BlockRows:
    """Row numbers, block after block in the order given; of an array what races need.

    Nothing is kept a row: 10**9 of them are as many numbers as there are blocks.
    """

    def __init__(self, sizes, order):
        self._ends, self._row_ends = np.cumsum(sizes[order]), np.cumsum(sizes)
        # what a place in the order is behind its row; by place, and by row
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
        """Where in the order rows are."""
        return rows - self._row_shift[np.searchsorted(self._row_ends, rows, side="right")]

    def __array__(self, dtype=None, copy=None):
        return self[:].astype(np.int64 if dtype is None else dtype, copy=False)

    def copy(self):
        """All of them, as an array."""
        return self[:]


class BlockGenerator(np.random.Generator):
    """The Generator of a race on blocks: what orders its items draws whole blocks."""

    def __init__(self, rng, sizes):
        super().__init__(rng.bit_generator)
        self._sizes = sizes

    def order_of_items(self):
        """The blocks in random order, row by row as they lie."""
        return BlockRows(self._sizes, self.permutation(self._sizes.size))
