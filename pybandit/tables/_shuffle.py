"""Write the rows of a table in a random order, in memory that does not grow with the table.

Every row gets a random key of 128 bits, and the rows are sorted by key, as by Sandelius and Rao:
first into piles on the disk by the leading bits, then pile by pile. The order is that of the keys,
so it depends only on the seed, and not on the number of piles.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

from pybandit._shared.checks import LARGEST, check_integer, shown
from pybandit._shared.files import replace
from pybandit._shared.optional import require
from pybandit._shared.types import Rng
from pybandit._shared.warn import warn
from pybandit.tables._columns import REMEDY
from pybandit.tables._open import CELLS, MOST_CELLS, PARQUET, suffix_of
from pybandit.tables._parquet import MARK, checksum, make_mark
from pybandit.tables._rows import open_rows
from pybandit.tables._scratch import in_scratch
from pybandit.tables._text import listed
from pybandit.tables.blocks import Blocks

__all__ = ["shuffle"]

LEAST_MEMORY = 1 << 24
# A pile that is sorted takes at most 1/PILE_SHARE of the memory, a batch 1/BATCH_SHARE.
PILE_SHARE, BATCH_SHARE = 8, 16
# Number of batches dealt into piles at a time; each pile then gets an Arrow message, which takes 48
# bytes per column.
DEALT_BATCHES = 4
MOST_PILES = 4096
# Default number of blocks, so that their order varies, and minimum rows per block.
BLOCKS, LEAST_ROWS = 64, 256


def shuffle(table: Any, path: str | os.PathLike[str], *, memory: int = 1 << 28,
            block_rows: int | None = None, overwrite: bool = False, rng: Rng = None) -> Blocks:
    """Write the rows of a table in a uniformly random order, to be read by blocks.

    Parameters
    ----------
    table : path, array or Blocks
        As in `Blocks.open`. All columns of a Parquet file are written, including text. Columns
        of `Blocks` opened from such a file keep their types. Results of a user-defined `read` are
        written in the dtype of block 0, which must fit the numbers of all blocks.
    path : path
        The Parquet file to write.
    memory : int, default 2**28
        Approximate maximum number of bytes of rows in memory, at least 2**24. Tables more than
        2,000 times as large take more.
    block_rows : int, optional
        Number of rows per block, which is a row group of the file. By default such that a block
        has a million cells, or that there are 64 blocks.
    overwrite : bool, default False
        If True, write over an existing file.
    rng : None, int, SeedSequence or Generator, optional
        Draws the order; an int must be in [0, 2**128). Its entropy is written to the metadata
        of the file, under ``pybandit_shuffle``, and reproduces the order if it is passed as
        `rng`. No entropy is written for a Generator, nor for a SeedSequence with a spawn key.

    Returns
    -------
    Blocks
        Blocks of the written file: its columns of numbers, without labels and columns that
        number the rows.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; if `path` exists, or is `table` itself; if `read`
        returns a masked array, another shape, or numbers that do not fit the dtype of block 0.
    MissingPackageError
        If pyarrow is not installed.

    See Also
    --------
    Blocks : reads the written file.

    Notes
    -----
    The order depends only on `rng` and the number of rows, not on the values in the table, on
    `memory` or on `block_rows`. It is uniform unless two keys are equal, which has a probability
    below ``n_rows**2 / 2**129``. Do not try several seeds and choose one by the results of a race:
    the scores would then determine the order, and this cannot be detected.

    In the folder of `path`, a shuffle needs disk space for a second copy of the table, 16 bytes
    per row, and an overhead for tables with many columns. The overhead is larger for less
    `memory`: a table of 24 MB with 2,000 columns takes 32 MB with ``memory=2**24``. A call that
    fails or is interrupted by Ctrl-C leaves
    nothing behind; neither does SIGTERM, unless the program handles it or calls this outside the
    main thread. After SIGKILL a folder ``.pybandit-...`` remains, which the next shuffle into the
    same folder removes.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> scores = np.random.default_rng(1).random((6000, 3)) * [0.7, 0.8, 1.0]
    >>> blocks = pb.tables.shuffle(scores, "scores.parquet", rng=7)
    >>> blocks
    <Blocks: 6,000 rows of 3 columns in 24 blocks, shuffled>
    >>> result = pb.best_of("scores.parquet", value_range=(0, 1), rng=1)
    >>> result.best, result.n_pulls
    (2, 204)
    """
    require("pyarrow", "tables")
    if not isinstance(overwrite, (bool, np.bool_)):  # a text such as "no" would count as True
        raise TypeError(f"overwrite must be True or False; got {shown(overwrite)}")
    target = _check_target(table, path, overwrite)
    bits, entropy = _stream(rng)
    memory = check_integer("memory", memory, LEAST_MEMORY)
    rows = open_rows(table)
    if block_rows is None:
        block_rows = max(LEAST_ROWS, min(CELLS // len(rows.schema.names), rows.n_rows // BLOCKS))
        block_rows = max(1, min(block_rows, MOST_CELLS // len(rows.models)))
    block_rows = check_integer("block_rows", block_rows, 1, LARGEST)
    if min(block_rows, rows.n_rows) * len(rows.models) > MOST_CELLS:
        raise ValueError(f"block_rows must make blocks of at most {MOST_CELLS:,} cells; got "
                         f"{block_rows:,} rows of {len(rows.models):,} columns")

    def write(folder):
        piles = _Piles(rows, folder, memory)
        piles.fill(bits, memory // BATCH_SHARE)
        draft = os.path.join(folder, "made.parquet")
        _write(piles, draft, block_rows, entropy)
        # the file must be readable before it replaces `path`
        blocks = Blocks.open(draft, columns=rows.models)
        numbered = [] if rows.is_chosen else blocks.read.numberings()
        del blocks  # Windows does not rename open files
        replace(draft, target)
        return numbered if len(numbered) < len(rows.models) else []

    numbered = in_scratch(target.parent, write)
    if numbered:
        warn(f"columns {listed(numbered)} are written, but left out of the Blocks: they number "
             f"the rows; {REMEDY}")
    return Blocks.open(target, columns=[name for name in rows.models if name not in numbered])


def _stream(rng):
    """Return the bit generator of the order, and the entropy that reproduces it, or None."""
    if isinstance(rng, np.random.Generator):
        return np.random.PCG64(rng.integers(1 << 63, size=4)), None
    if rng is None or isinstance(rng, np.random.SeedSequence):
        seeds = np.random.SeedSequence() if rng is None else rng
        is_number = isinstance(seeds.entropy, int) and not seeds.spawn_key
        return np.random.PCG64(seeds), seeds.entropy if is_number else None
    if isinstance(rng, (int, np.integer)):
        seed = check_integer("rng", rng, 0, (1 << 128) - 1)
        return np.random.PCG64(seed), seed
    raise TypeError("rng must be None, an int, a SeedSequence or a numpy.random.Generator; got "
                    f"{shown(rng)}")


def _check_target(table, path, overwrite):
    if not isinstance(path, (str, os.PathLike)) or suffix_of(path) not in PARQUET:
        raise ValueError(f"path must be a file named {' or '.join(PARQUET)}; got "
                         f"{shown(path)}")
    target = Path(path)
    if not target.parent.is_dir():
        raise ValueError(f"path must be in an existing folder; got {str(target)!r}")
    if target.exists():
        same = isinstance(table, (str, os.PathLike)) and Path(table).exists() and (
            target.samefile(table))
        if same or not overwrite:
            raise ValueError(f"path must be another file than the table; got {str(target)!r}"
                             if same else f"path must be a file that does not exist, unless "
                             f"overwrite is True; got {str(target)!r}")
    return target


class _Piles:
    """Piles on the disk of rows with their keys, by the leading bits of the keys."""

    def __init__(self, rows, folder, memory):
        arrow = require("pyarrow", "tables")
        self.rows = rows
        needed = rows.n_rows * (rows.row_bytes + 16) * PILE_SHARE / memory
        n_piles = min(MOST_PILES, int(needed) + 1)
        names = _unused("key", rows.schema.names), _unused("low", rows.schema.names)
        self._keys = names
        self.schema = arrow.schema([*rows.schema, *((name, arrow.uint64()) for name in names)])
        self._piles = [_Pile(os.path.join(folder, f"{pile}.rows"), self.schema)
                       for pile in range(n_piles)]

    def fill(self, bits, batch_bytes):
        """Distribute all rows to the piles."""
        n_rows = max(1, int(batch_bytes / (self.rows.row_bytes + 16)))
        waiting, n_waiting = [], 0
        for batch in self.rows.batches(n_rows):
            waiting.append(batch)
            n_waiting += batch.num_rows
            if n_waiting >= DEALT_BATCHES * n_rows:
                self._deal(waiting, bits)
                n_waiting = 0
        if waiting:
            self._deal(waiting, bits)

    def _deal(self, batches, bits):
        """Distribute the rows of batches, and clear the list."""
        arrow = require("pyarrow", "tables")
        columns = arrow.Table.from_batches(batches).columns
        batches.clear()
        keys = bits.random_raw(2 * len(columns[0])).reshape(-1, 2)
        piles = (keys[:, 0] >> np.uint64(32)) * np.uint64(len(self._piles)) >> np.uint64(32)
        order = np.argsort(piles, kind="stable")
        ends = np.cumsum(np.bincount(piles.astype(np.int64), minlength=len(self._piles))).tolist()
        for at, column in enumerate(columns):  # one by one, to release each original column
            columns[at] = column.take(arrow.array(order))
        columns += [arrow.array(np.ascontiguousarray(keys[order, part])) for part in (0, 1)]
        dealt = arrow.Table.from_arrays(columns, schema=self.schema)
        for pile, start, end in zip(self._piles, [0, *ends], ends, strict=False):
            if end > start:
                pile.add(dealt.slice(start, end - start))

    def sorted(self):
        """Yield the rows of each pile in the order of their keys, pile after pile."""
        arrow = require("pyarrow", "tables")
        for pile in self._piles:
            table = pile.taken()
            high, low = (table.column(name).to_numpy() for name in self._keys)
            order = np.lexsort((low, high))
            yield table.select(self.rows.schema.names).take(arrow.array(order))


class _Pile:
    """Rows in a file, open only during writes: a process may have few open files.

    It uses Arrow's stream format, in which the dictionary of a column may change.
    """

    def __init__(self, path, schema):
        arrow = require("pyarrow", "tables")
        self._path, self._schema, self._sink = path, schema, _Sink()
        self._writer = arrow.ipc.new_stream(arrow.PythonFile(self._sink, mode="w"), schema)

    def add(self, table):
        with open(self._path, "ab") as self._sink.file:
            self._writer.write_table(table)

    def taken(self):
        """Return all rows and remove the file."""
        arrow = require("pyarrow", "tables")
        if not os.path.exists(self._path):
            return self._schema.empty_table()
        with arrow.OSFile(self._path) as file:
            table = arrow.ipc.open_stream(file).read_all()
        os.remove(self._path)
        return table


class _Sink:
    """A file object that stays the same for Arrow while its file is opened again and again."""

    file, closed = None, False

    def write(self, data):
        return self.file.write(data)


def _unused(name, names):
    while name in names:
        name += "_"
    return name


def _write(piles, path, block_rows, entropy):
    """Write one row group per block, and the mark."""
    arrow, parquet = require("pyarrow", "tables"), require("pyarrow.parquet", "tables")
    schema = piles.rows.schema
    kept = {key: value for key, value in (schema.metadata or {}).items() if key != MARK}
    schema = schema.with_metadata(kept)
    left, checksums = schema.empty_table(), []
    # in random order, dictionaries and statistics cost more than they save
    with parquet.ParquetWriter(path, schema, use_dictionary=False, write_statistics=False,
                               compression="lz4") as writer:
        def write(block):
            writer.write_table(block, row_group_size=block_rows)
            if piles.rows.first is not None:
                checksums[1:] = [checksum(piles.rows.numbers(block))]

        for pile in piles.sorted():
            left = arrow.concat_tables([left, pile])
            whole = left.num_rows - left.num_rows % block_rows
            for start in range(0, whole, block_rows):
                write(left.slice(start, block_rows))
            left = left.slice(whole)
        if left.num_rows:
            write(left)
        writer.add_key_value_metadata(
            {MARK: make_mark(entropy, piles.rows.n_rows, checksums[0], checksums[-1])})
