"""Scores that are in a file, or in an array that is not in memory."""

import os

import numpy as np

from pybandit._shared.cells import BadFile
from pybandit.evaluation._score_csv import Scores, read_scores
from pybandit.tables._cache import parts_of
from pybandit.tables._open import (
    FILES,
    MOST_CELLS,
    NUMPY,
    is_lazy,
    open_array,
    suffix_of,
)
from pybandit.tables.blocks import Blocks, refuse_unshuffled

TEXT = (".csv", ".tsv", ".txt")
# Most cells of an array that is read whole: 32 MiB, some milliseconds. From a larger one single
# rows are read.
MOST_AT_ONCE = 1 << 22


def opened(scores):
    """What a name of a file stands for, and what an array that is not in memory holds."""
    if isinstance(scores, (str, os.PathLike)):
        suffix = suffix_of(scores)
        if suffix in TEXT:
            return _read_text(os.fspath(scores))
        if suffix not in FILES:
            raise ValueError(f"scores must be a function, a table, or the name of a file of one, "
                             f"{', '.join((*TEXT, *FILES))}; got {os.fspath(scores)!r}")
        if suffix in NUMPY:
            file = open_array(scores)
            return np.asarray(file) if file.size <= MOST_AT_ONCE else file
        scores = Blocks.open(scores)
    elif is_lazy(scores):
        scores = Blocks.open(scores)
    if not isinstance(scores, Blocks) or scores.shuffled:
        return scores
    if scores.n_rows * scores.n_columns > MOST_CELLS:
        refuse_unshuffled("scores", scores)
    return in_memory(scores)


def _read_text(path):
    try:
        return read_scores(path)
    except BadFile as error:
        raise BadFile(f"{path}: {error}") from None


def in_memory(blocks):
    """All cells, with the names of the columns where there are some."""
    values, first = np.empty((blocks.n_rows, blocks.n_columns)), 0
    for block, n_rows in enumerate(blocks.sizes.tolist()):
        for part, read in parts_of(blocks.read, block, n_rows, np.arange(blocks.n_columns)):
            values[first:first + n_rows, part] = read
        first += n_rows
    if blocks.names is None:
        return values
    return Scores(list(blocks.names), range(len(values)), values, range(len(values)))
