"""Scores that are in a file, or in an array that is not in memory."""

import os

import numpy as np

from pybandit.evaluation._score_csv import MOST_CELLS, Scores, read_scores
from pybandit.tables._open import FILES, NUMPY, is_lazy, open_array, suffix_of
from pybandit.tables.blocks import Blocks, refuse_unshuffled

TEXT = (".csv", ".tsv", ".txt")


def opened(scores):
    """What a name of a file stands for, and what an array that is not in memory holds."""
    if isinstance(scores, (str, os.PathLike)):
        suffix = suffix_of(scores)
        if suffix in TEXT:
            return read_scores(os.fspath(scores))
        if suffix not in FILES:
            raise ValueError(f"scores must be a function, a table, or the name of a file of one, "
                             f"{', '.join((*TEXT, *FILES))}; got {os.fspath(scores)!r}")
        scores = open_array(scores) if suffix in NUMPY else Blocks.open(scores)
    elif is_lazy(scores):
        scores = Blocks.open(scores)
    if not isinstance(scores, Blocks) or scores.shuffled:
        return scores
    if scores.n_rows * scores.n_columns > MOST_CELLS:
        refuse_unshuffled("scores", scores)
    return in_memory(scores)


def in_memory(blocks):
    """All cells, with the names of the columns where there are some."""
    columns = np.arange(blocks.n_columns)
    values = np.concatenate([blocks.read(block, columns) for block in range(blocks.sizes.size)])
    if blocks.names is None:
        return values
    return Scores(list(blocks.names), range(len(values)), values, range(len(values)))
