"""Read scores from a file, or from an array that is not in memory."""

import os

import numpy as np

from pybandit._shared.checks import shown
from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.warn import warn
from pybandit.tables._cache import parts_of
from pybandit.tables._frames import ArrowTable, is_labelled_array
from pybandit.tables._logs.fields import Choice
from pybandit.tables._logs.read import SKIP, log_paths, read_logs, refusal_of
from pybandit.tables._open import (
    FILES,
    MOST_CELLS,
    NUMPY,
    PARQUET,
    check_there,
    is_lazy,
    open_array,
    suffix_of,
)
from pybandit.tables._read_scores import READ, Form, kind_of, read_scores
from pybandit.tables._scores import Options, settled
from pybandit.tables._table import Scores
from pybandit.tables.blocks import Blocks, refuse_unshuffled

# Maximum number of cells of an array that is read whole: 32 MiB, some milliseconds. From larger
# arrays, single rows are read.
MOST_AT_ONCE = 1 << 22


def opened(scores, options=Options(), form=Form()):  # noqa: B008
    """Return the table behind a path or a lazy array; other scores unchanged."""
    refuse_lazy_frame(scores)
    paths = log_paths(scores)
    for path in paths or ([scores] if isinstance(scores, (str, os.PathLike)) else []):
        if paths or suffix_of(path) in FILES or kind_of(path) in READ:
            check_there(path)
    if paths is not None:
        return _of_logs(paths, options)
    refuse_log_options(options, "unless scores are log files of an evaluation tool")
    if isinstance(scores, (str, os.PathLike)):
        if kind_of(scores) in READ:
            return _read_named(os.fspath(scores), form, options)
        suffix = suffix_of(scores)
        if suffix not in FILES:
            raise ValueError(f"scores must be a function, a table, or the name of a file that "
                             f"ends in {', '.join((*READ, *FILES))}; got {os.fspath(scores)!r}")
        if suffix in NUMPY:
            file = open_array(scores)
            return np.asarray(file) if file.size <= MOST_AT_ONCE else file
        if suffix in PARQUET:
            return _of_parquet(os.fspath(scores), options)
        scores = Blocks.open(scores)
    elif is_labelled_array(scores):
        if scores.chunks is not None and scores.size > MOST_CELLS:
            raise ValueError(f"scores must have at most {MOST_CELLS:,} cells to be read into "
                             f"memory; got shape {scores.shape}: see pybandit shuffle")
        return scores
    elif is_lazy(scores):
        scores = Blocks.open(scores)
    if not isinstance(scores, Blocks) or scores.shuffled:
        return scores
    if scores.n_rows * scores.n_columns > MOST_CELLS:
        refuse_unshuffled("scores", scores)
    return in_memory(scores)


def refuse_lazy_frame(scores):
    """Refuse a query of polars that has not been computed."""
    if type(scores).__name__ == "LazyFrame" and hasattr(scores, "collect"):
        raise TypeError("scores must be a table; got a LazyFrame: collect it, scores.collect()")


def refuse_log_options(options, where):
    """Refuse the options of log files."""
    for name in Choice._fields:
        value = getattr(options.logs, name)
        if value not in (None, ()):
            raise ValueError(f"{name} must be left out {where}; got {shown(value)}")


def _of_logs(paths, options):
    """Return the scores of log files, negated if lower is better."""
    scores = scores_of_logs(paths, options)
    if scores.lost and options.logs.failed != SKIP:
        raise UnreadableFileError(refusal_of(paths, scores.lost))
    if scores.lower_is_better:
        warn(f"{paths[0]}: the logs say that lower scores are better: the scores are negated, "
             "and value_range must be (-HIGH, -LOW)")
        scores.values = -scores.values
    return scores


def scores_of_logs(paths, options):
    """Return the `Scores` of log files as they are in the files; lost scores are NaN."""
    for name in ("columns", "models", "items", "drop"):
        value = getattr(options, name)
        if not (value is None or isinstance(value, (list, tuple)) and not value):
            option = "--drop" if name == "drop" else name
            raise ValueError(f"{option} must be left out for log files of evaluation tools; got "
                             f"{shown(value)}")
    return read_logs(paths, options.logs)


def _read_named(path, form, options):
    try:
        return _named(read_scores(path, form, options))
    except UnreadableFileError as error:
        raise UnreadableFileError(f"{path}: {error}") from None


def _named(scores):
    """Return `scores`; refuse a long table with missing scores."""
    if scores.is_long:
        lost = np.argwhere(np.isnan(scores.values))
        if len(lost):
            raise UnreadableFileError(f"{scores.place(*lost[0])}: a score is lost or missing, "
                                      f"{len(lost)} in all: leave such items out for all models "
                                      "(pybandit best-of --missing drop), because their effect on "
                                      "the means is unknown")
    return scores


def _of_parquet(path, options):
    """Return the `Scores` of a file that fits into memory, or `Blocks` of a shuffled one."""
    from pybandit.tables._parquet import read_whole

    found = read_whole(path, MOST_CELLS)
    if found is not None:
        try:
            return settled(ArrowTable(*found), options)
        except UnreadableFileError as error:
            raise UnreadableFileError(f"{path}: {error}") from None
    if options.models == "rows" or options.items is not None or options.drop:
        raise ValueError(f"models, items and --drop must be left out for {path}, which is read "
                         "block by block")
    blocks = Blocks.open(path, columns=options.columns)
    return blocks if blocks.shuffled else refuse_unshuffled("scores", blocks)


def in_memory(blocks):
    """Return all cells: an array, or `Scores` if the columns have names."""
    values, first = np.empty((blocks.n_rows, blocks.n_columns)), 0
    for block, n_rows in enumerate(blocks.sizes.tolist()):
        for part, read in parts_of(blocks.read, block, n_rows, np.arange(blocks.n_columns)):
            values[first:first + n_rows, part] = read
        first += n_rows
    if blocks.names is None:
        return values
    return Scores(list(blocks.names), range(len(values)), values, range(len(values)))
