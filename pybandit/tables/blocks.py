"""Tables that races and samplers read block by block."""

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
    """A table of numbers that is read block by block, as far as needed.

    `best_of` takes it as scores, with items as rows and models as columns; `race`,
    `RacingSampler` and `exact_sample` take it as factors, with states as columns. They read
    whole blocks in random order, with the surviving columns only. The rows must therefore be
    shuffled once, by `pybandit.tables.shuffle` or ``pybandit shuffle IN OUT``.

    Parameters
    ----------
    read : callable
        ``read(block, columns)`` takes the number of a block and increasing column numbers,
        int64 of shape (k,), and returns numbers of shape (sizes[block], k).
    sizes : array_like of int, shape (B,)
        Number of rows of each block, at least 1.
    n_columns : int
        Number of columns, at least 1.
    names : iterable, optional
        Names of the columns.
    shuffled : bool, default False
        True if the rows are in a uniformly random order that does not depend on their values.
        The guarantees of races and samplers require it.

    Attributes
    ----------
    n_rows : int
        Number of rows.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or is outside its range.

    Notes
    -----
    *Shuffled rows.* A uniformly random permutation followed by any permutation that does not
    depend on it is again uniform. Shuffled rows that are read block by block, in any order, are
    therefore items in uniformly random order without replacement, and the guarantees of races
    hold exactly. The only source of randomness is the shuffle, which happens once. A second race
    on the same file reads the same blocks in a different order: its error has the same bound,
    but is not independent of the first one, and neither are the draws of a sampler. For
    independent errors, shuffle again with another seed.

    **Threads.** Several threads may read; they take turns. The last 64 MiB of data read are
    cached, and always the last block.

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
                raise ValueError(f"names must be n_columns = {n_columns} names, one per column; "
                                 f"got {len(names)}")
        for name, value in dict(read=read, sizes=counts, n_columns=n_columns, names=names,
                                shuffled=check_flag("shuffled", shuffled),
                                n_rows=int(counts.sum()),
                                _cache=Cache(read, counts, n_columns)).items():
            object.__setattr__(self, name, value)

    @classmethod
    def open(cls, table: Any, *, columns: Iterable[Any] | None = None,
             shuffled: bool = False) -> Self:
        """Open a file, or an array that is not in memory.

        Parameters
        ----------
        table : path or array
            A file of Parquet (``.parquet``, ``.pq``), NumPy (``.npy``) or Zarr (``.zarr``); or
            a Zarr array, a Dask array, an HDF5 dataset or any object with a `shape`, a `dtype`
            and slices that are arrays. Blocks are the row groups of Parquet and the chunks of
            Dask. For other arrays a block has about a million cells; it consists of whole chunks
            if the array has chunks.
        columns : iterable, optional
            Columns to read, in this order: names, or numbers for an array. By default all; for
            Parquet all but labels, an index of pandas, a first column of text, and aggregates
            such as ``mean``.
        shuffled : bool, default False
            As in `Blocks`. Files written by `pybandit.tables.shuffle` are recognised by their
            metadata.

        Raises
        ------
        UnreadableFileError, ValueError, TypeError
            If `table` cannot be read, does not have two dimensions or does not hold numbers;
            if a shuffled file was sorted, cut or extended since.
        MissingPackageError
            If the package that reads the file is not installed.
        """
        from pybandit.tables._open import open_table

        return cls(**open_table(table, columns, check_flag("shuffled", shuffled)))

    def values(self, rows: ArrayLike, columns: ArrayLike) -> Floats:
        """Return cells of the table.

        Parameters
        ----------
        rows : array_like of int, shape (n,)
            Row numbers in [0, n_rows).
        columns : array_like of int, shape (k,)
            Increasing column numbers in [0, n_columns).

        Returns
        -------
        ndarray of float64, shape (n, k)

        Raises
        ------
        TypeError, ValueError
            If an index is invalid, or `read` does not return numbers of the requested shape.
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
    """Return `blocks`; raise ValueError if their rows are not in random order."""
    if not blocks.shuffled:
        raise ValueError(
            f"{name} must have rows in random order, because whole blocks are read; got "
            f"{blocks!r}: `pybandit shuffle IN OUT` writes such a file; pass shuffled=True if "
            "chance alone chose the order of the rows")
    return blocks
