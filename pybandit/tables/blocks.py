"""A table that is read block by block: whatever holds it, and where races take it from."""

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np

from pybandit._shared.checks import (
    MOST_HELD,
    MOST_PULLS,
    as_list,
    check_flag,
    check_in,
    check_indices,
    check_integer,
    frozen,
    refuse_masks,
    shown,
)
from pybandit._shared.types import ArrayLike, Floats, Ints
from pybandit.tables._cache import Cache

__all__ = ["Blocks"]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Blocks:
    """A table of numbers that is read block by block, and of it no more than is asked for.

    `best_of` takes it as scores, rows being items and columns models; `race`,
    `RacingSampler` and `exact_sample` as factors, columns being states. They read whole
    blocks, in random order, of the columns that are left, and so want rows that were
    shuffled: once, by `pybandit.tables.shuffle` or ``pybandit shuffle IN OUT``.

    Parameters
    ----------
    read : callable
        ``read(block, columns)`` gets the number of a block and columns, int64 (k,),
        increasing, and returns its rows, numbers of shape (sizes[block], k).
    sizes : array_like of int, shape (B,)
        Rows of each block, at least 1.
    n_columns : int
        At least 1.
    names : iterable, optional
        Of the columns.
    shuffled : bool, default False
        Whether the rows are in a uniformly random order, in which no value had a part:
        the guarantees of those who read it rest on that.

    Attributes
    ----------
    n_rows : int

    Raises
    ------
    TypeError, ValueError
        Where an argument is not of its kind.

    Notes
    -----
    *Shuffled rows.* Let the rows of the file be a uniformly random permutation of the
    items. Read in any order that does not depend on it, that of the file or blocks in any
    order, they are one again: for a race this is a uniform random order of the items,
    without replacement, which is what its proof asks for, and nothing of it is approximate.
    What is random is the shuffle, once. A second race on the same file, whatever its
    `rng`, reads the same blocks in another order: its error has the same bound, but is
    not independent of the first one's, nor are the errors of the draws of a sampler. For
    errors that are independent shuffle again, with another seed.

    The last 64 MiB that were read are kept, the last block in any case. Several threads
    may read; they take turns.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> scores = np.random.default_rng(1).random((6000, 3)) * [0.7, 0.8, 1.0]
    >>> blocks = pb.tables.Blocks(lambda block, columns: scores[1000 * block:][:1000][:, columns],
    ...                           [1000] * 6, 3, shuffled=True)
    >>> blocks
    <Blocks: 6,000 rows of 3 columns in 6 blocks, shuffled>
    >>> result = pb.best_of(blocks, value_range=(0, 1), rng=1)
    >>> result.best, result.n_pulls
    (2, 380)
    """

    read: Callable[[int, Ints], ArrayLike]
    sizes: Ints
    n_columns: int
    _: KW_ONLY
    names: tuple[Any, ...] | None = None
    shuffled: bool = False
    n_rows: int = field(init=False)
    _cache: Cache = field(init=False)

    def __init__(self, read: Callable[[int, Ints], ArrayLike], sizes: ArrayLike,
                 n_columns: int, *, names: Iterable[Any] | None = None,
                 shuffled: bool = False) -> None:
        if not callable(read):
            raise TypeError(f"read must be callable; got {shown(read)}")
        counts = check_in("sizes", sizes, "whole numbers of at least 1",
                          lambda n: (n >= 1) & (n == np.floor(n)) & (n <= MOST_PULLS))
        if counts.ndim != 1 or not counts.size:
            raise ValueError(f"sizes must have shape (B,), B >= 1; got {counts.shape}")
        if counts.sum() > MOST_HELD:
            raise ValueError(f"sizes must sum to at most {MOST_HELD}; got {counts.sum():.17g}")
        counts = frozen(counts.astype(np.int64))
        n_columns = check_integer("n_columns", n_columns, 1, MOST_HELD)
        if names is not None:
            names = tuple(as_list("names", refuse_masks("names", names), "names of the columns", 0))
            if len(names) != n_columns:
                raise ValueError(f"names must be of n_columns = {n_columns} columns; got "
                                 f"{len(names)}")
        for name, value in dict(read=read, sizes=counts, n_columns=n_columns, names=names,
                                shuffled=check_flag("shuffled", shuffled),
                                n_rows=int(counts.sum()),
                                _cache=Cache(read, counts, n_columns)).items():
            object.__setattr__(self, name, value)

    @classmethod
    def open(cls, table: Any, *, columns: Iterable[Any] | None = None,
             shuffled: bool = False) -> Self:
        """The blocks of a file or of an array that is not in memory.

        Parameters
        ----------
        table : path or array
            A file of Parquet (``.parquet``, ``.pq``), an array of NumPy (``.npy``) or of
            Zarr (``.zarr``); or a Zarr array, a Dask array, an HDF5 dataset or anything
            else with a `shape`, a `dtype` and slices that are arrays. Blocks are the row
            groups of Parquet, the chunks of Dask, and of others as many rows, whole chunks
            where it has some, as make about a million cells.
        columns : iterable, optional
            Which to read, and in which order: names, of an array numbers. By default all;
            of Parquet without an index of pandas and without text in the first column.
        shuffled : bool, default False
            As in `Blocks`. Known without being said of a file that
            `pybandit.tables.shuffle` has written, from its metadata.

        Raises
        ------
        UnreadableFileError, ValueError, TypeError
            Where it cannot be read, has no two dimensions or holds something else than
            numbers; where a shuffled file was sorted, cut or added to since.
        MissingPackageError
            Without pyarrow or zarr, for their files.
        """
        from pybandit.tables._open import open_table

        return cls(**open_table(table, columns, check_flag("shuffled", shuffled)))

    def values(self, rows: ArrayLike, columns: ArrayLike) -> Floats:
        """Cells of the table.

        Parameters
        ----------
        rows : array_like of int, shape (n,)
            In [0, n_rows).
        columns : array_like of int, shape (k,)
            In [0, n_columns), increasing.

        Returns
        -------
        ndarray of float64, shape (n, k)

        Raises
        ------
        TypeError, ValueError
            Where an index is none of these, or `read` returns something else than numbers
            of the shape that was asked for.
        """
        rows = check_indices("rows", rows, self.n_rows)
        columns = check_indices("columns", columns, self.n_columns)
        if (np.diff(columns) <= 0).any():
            raise ValueError(f"columns must be increasing; got {shown(columns)}")
        return self._cache.values(rows, columns)

    def __reduce__(self):
        return _remade, (type(self), self.read, self.sizes, self.n_columns, self.names,
                         self.shuffled)

    def __repr__(self) -> str:
        order = "shuffled" if self.shuffled else "as they came"
        return (f"<{type(self).__name__}: {self.n_rows:,} rows of {self.n_columns:,} columns in "
                f"{self.sizes.size:,} blocks, {order}>")


def _remade(cls, read, sizes, n_columns, names, shuffled):
    return cls(read, sizes, n_columns, names=names, shuffled=shuffled)


def refuse_unshuffled(name, blocks):
    """Blocks whose rows are in random order, or a ValueError that says how they come there."""
    if not blocks.shuffled:
        raise ValueError(
            f"{name} must have rows in random order, which whole blocks are then read of; got "
            f"{blocks!r}: `pybandit shuffle IN OUT` writes them so, once; shuffled=True says that "
            "they are, by chance alone")
    return blocks
