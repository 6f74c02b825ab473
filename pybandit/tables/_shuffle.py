"""The rows of a table in a random order, once, in memory that does not grow with it.

Every row is given a random key of 128 bits, and the rows are sorted by it, as Sandelius and Rao
did: first into piles by the leading bits, on the disk, then pile by pile. Whatever the piles are,
the order is that of the keys, so it follows from the seed alone.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

from pybandit._shared.checks import LARGEST, check_integer, shown
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
# Of the memory, what a pile may take that is sorted, and what is read at a time.
PILE_SHARE, BATCH_SHARE = 8, 16
# Batches that are dealt at a time: each pile is a message of Arrow then, 48 bytes a column.
DEALT_BATCHES = 4
MOST_PILES = 4096
# A table should have so many blocks, that there is an order of them; no block fewer rows.
BLOCKS, LEAST_ROWS = 64, 256


def shuffle(table: Any, path: str | os.PathLike[str], *, memory: int = 1 << 28,
            block_rows: int | None = None, overwrite: bool = False, rng: Rng = None) -> Blocks:
    """Write the rows of a table in one uniformly random order, to be read by blocks.

    Parameters
    ----------
    table : path, array or Blocks
        As of `Blocks.open`; of a file of Parquet all columns are written, text too. Columns
        that `Blocks.open` took of one keep their types; what a `read` of one's own returns is
        written in the dtype of block 0, which must hold the numbers of all blocks.
    path : path
        The file of Parquet to write.
    memory : int, default 2**28
        Bytes that the rows may take at a time, about; at least 2**24. A table of more than
        2,000 times as many takes more.
    block_rows : int, optional
        Rows of a block, a row group of the file. By default as many as make a million
        cells, or 64 blocks.
    overwrite : bool, default False
        If True, write over an existing file.
    rng : None, int, SeedSequence or Generator, optional
        Source of the order; an int must be in [0, 2**128). Its entropy is written to the
        metadata of the file, under ``pybandit_shuffle``, so that the order can be made again
        with ``rng=`` that number. A Generator leaves no entropy, and nor does a SeedSequence
        with a spawn key.

    Returns
    -------
    Blocks
        Of the file written: its columns of numbers, without labels and columns that number
        the rows.

    Raises
    ------
    ValueError, TypeError
        Where an argument is outside its range, `path` is there, or it is `table` itself;
        where `read` returns what is masked, of another shape, or not safely cast to that dtype.
    MissingPackageError
        Without pyarrow.

    See Also
    --------
    Blocks : reads what this writes.

    Notes
    -----
    The order depends on `rng` and the number of rows, and on nothing else: not on what
    is in the table, on the memory or on the blocks. It is uniform up to ties of keys, whose
    probability is below ``n_rows**2 / 2**129``. A seed that was chosen because of what came
    out of it makes an order that scores have chosen, which nothing can find out.

    Needs room on the disk, beside `path`, until it is done: for the table once more, 16 bytes
    a row, and what is written beside the numbers of wide rows, the more the less `memory`
    there is: 24 MB of 2,000 columns take 32 MB in 2**24 bytes. A call that fails, Ctrl-C too,
    leaves nothing behind. Neither does SIGTERM, unless the program handles it itself or calls
    this from another thread than the main one. After SIGKILL a folder ``.pybandit-...`` stays;
    the next shuffle into the same directory removes it.

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
    if not isinstance(overwrite, (bool, np.bool_)):  # a text has a truth too, and "no" is true
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
        made = os.path.join(folder, "made.parquet")
        _write(piles, made, block_rows, entropy)
        blocks = Blocks.open(made, columns=rows.models)  # nothing is there that cannot be read
        numbered = [] if rows.is_chosen else blocks.read.numberings()
        os.replace(made, target)
        return numbered if len(numbered) < len(rows.models) else []

    numbered = in_scratch(target.parent, write)
    if numbered:
        warn(f"columns {listed(numbered)} are written, and left out of the Blocks: they number "
             f"the rows; {REMEDY}")
    return Blocks.open(target, columns=[name for name in rows.models if name not in numbered])


def _stream(rng):
    """Return the bit generator of the order and the entropy that makes it again, or None."""
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
        raise ValueError(f"path must be in a folder that is there; got {str(target)!r}")
    if target.exists():
        same = isinstance(table, (str, os.PathLike)) and Path(table).exists() and (
            target.samefile(table))
        if same or not overwrite:
            raise ValueError(f"path must be another file than the table; got {str(target)!r}"
                             if same else f"path must be a file that does not exist, unless "
                             f"overwrite is True; got {str(target)!r}")
    return target


class _Piles:
    """Rows on the disk with their keys, by the leading bits of these."""

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
        """Deal all rows."""
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
        """Rows of batches, which are forgotten."""
        arrow = require("pyarrow", "tables")
        columns = arrow.Table.from_batches(batches).columns
        batches.clear()
        keys = bits.random_raw(2 * len(columns[0])).reshape(-1, 2)
        piles = (keys[:, 0] >> np.uint64(32)) * np.uint64(len(self._piles)) >> np.uint64(32)
        order = np.argsort(piles, kind="stable")
        ends = np.cumsum(np.bincount(piles.astype(np.int64), minlength=len(self._piles))).tolist()
        for at, column in enumerate(columns):  # one by one: what was taken is forgotten too
            columns[at] = column.take(arrow.array(order))
        columns += [arrow.array(np.ascontiguousarray(keys[order, part])) for part in (0, 1)]
        dealt = arrow.Table.from_arrays(columns, schema=self.schema)
        for pile, start, end in zip(self._piles, [0, *ends], ends, strict=False):
            if end > start:
                pile.add(dealt.slice(start, end - start))

    def sorted(self):
        """The rows of each pile in the order of their keys, pile after pile."""
        arrow = require("pyarrow", "tables")
        for pile in self._piles:
            table = pile.taken()
            high, low = (table.column(name).to_numpy() for name in self._keys)
            order = np.lexsort((low, high))
            yield table.select(self.rows.schema.names).take(arrow.array(order))


class _Pile:
    """Rows in a file, which is open only while it is added to: a process may open few.

    Of Arrow's formats the stream: a column's dictionary may change in it.
    """

    def __init__(self, path, schema):
        arrow = require("pyarrow", "tables")
        self._path, self._schema, self._sink = path, schema, _Sink()
        self._writer = arrow.ipc.new_stream(arrow.PythonFile(self._sink, mode="w"), schema)

    def add(self, table):
        with open(self._path, "ab") as self._sink.file:
            self._writer.write_table(table)

    def taken(self):
        """All rows, and no file any more."""
        arrow = require("pyarrow", "tables")
        if not os.path.exists(self._path):
            return self._schema.empty_table()
        with arrow.OSFile(self._path) as file:
            table = arrow.ipc.open_stream(file).read_all()
        os.remove(self._path)
        return table


class _Sink:
    """A file that is another one each time it is opened, for Arrow, which keeps one."""

    file, closed = None, False

    def write(self, data):
        return self.file.write(data)


def _unused(name, names):
    while name in names:
        name += "_"
    return name


def _write(piles, path, block_rows, entropy):
    """One row group a block, and the mark."""
    arrow, parquet = require("pyarrow", "tables"), require("pyarrow.parquet", "tables")
    schema = piles.rows.schema
    kept = {key: value for key, value in (schema.metadata or {}).items() if key != MARK}
    schema = schema.with_metadata(kept)
    left, checksums = schema.empty_table(), []
    # random rows have no runs and no ranges: what these would tell costs more than it saves
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
