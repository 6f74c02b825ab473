"""The order of a shuffle and of blocks, in a line each."""

import numpy as np


def shuffled_rows(seed, n_rows):
    """Where the rows of the shuffled table were: all keys drawn, and sorted at once."""
    high, low = np.random.PCG64(seed).random_raw(2 * n_rows).reshape(-1, 2).T
    return np.lexsort((low, high))


def block_rows(sizes, order):
    """Rows of the blocks, in this order of the blocks."""
    ends = np.cumsum(sizes)
    return np.concatenate([np.arange(ends[block] - sizes[block], ends[block])
                           for block in order])
