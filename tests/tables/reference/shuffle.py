"""Reference implementation of the order of a shuffle and of blocks."""

import numpy as np


def shuffled_rows(seed, n_rows):
    """Return the original places of the shuffled rows: draw all keys and sort them at once."""
    high, low = np.random.PCG64(seed).random_raw(2 * n_rows).reshape(-1, 2).T
    return np.lexsort((low, high))


def block_rows(sizes, order):
    """Return the row numbers of the blocks in this order."""
    ends = np.cumsum(sizes)
    return np.concatenate([np.arange(ends[block] - sizes[block], ends[block])
                           for block in order])
