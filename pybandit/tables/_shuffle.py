"""The rows of a table in a random order, once, in memory that does not grow with it.

Every row is given a random key of 128 bits, and the rows are sorted by it, as Sandelius and Rao
did: first into piles by the leading bits, on the disk, then pile by pile. Whatever the piles are,
the order is that of the keys, so it follows from the seed alone.
"""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from pybandit._shared.checks import LARGEST, check_integer, shown
from pybandit._shared.optional import require
from pybandit.tables import _mark
from pybandit.tables._open import CELLS, PARQUET, suffix_of
from pybandit.tables._rows import open_rows
from pybandit.tables.blocks import Blocks

__all__ = ["shuffle"]

LEAST_MEMORY = 1 << 24
# Of the memory, what a pile may take that is sorted, and what is read at a time.
PILE_SHARE, BATCH_SHARE = 8, 16
MOST_PILES = 4096
# A table should have so many blocks, that there is an order of them; no block fewer rows.
BLOCKS, LEAST_ROWS = 64, 256


def shuffle(table: Any, path: str | os.PathLike[str], *, seed: int | None = None,
            memory: int = 1 << 28, block_rows: int | None = None,
            replace: bool = False) -> Blocks:
    """Write the rows of a table in one uniformly random order, to be read by blocks.

    Parameters
    ----------
    table : path, array or Blocks
        As of `Blocks.open`; of a file of Parquet all columns are written, text too. Columns
        that `Blocks.open` took of one keep their types; what a `read` of one's own returns is
        written in the dtype of block 0, which must hold the numbers of all blocks.
    path : path
        The file of Parquet to write.
    seed : int, optional
        At least 0. By default the operating system's randomness. It is kept in the
        metadata of the file, under ``pybandit_shuffle``.
    memory : int, default 2**28
        Bytes that the rows may take at a time, about; at least 2**24.
    block_rows : int, optional
        Rows of a block, a row group of the file. By default as many as make a million
        cells, or 64 blocks.
    replace : bool, default False
        Whether a file that is there may be written over.

    Returns
    -------
    Blocks
        Of the file written: its columns of numbers, but for labels.

    Raises
    ------
    ValueError, TypeError
        Where an argument is outside its range, `path` is there, or it is `table` itself;
        where `read` returns what is masked, of another shape, or not safely cast to that dtype.
    MissingPackage
        Without pyarrow.

    See Also
    --------
    Blocks : reads what this writes.

    Notes
    -----
    The order depends on the seed and the number of rows, and on nothing else: not on what
    is in the table, on the memory or on the blocks. It is uniform up to ties of keys, whose
    probability is below ``n_rows**2 / 2**129``. A seed that was chosen because of what came
    out of it makes an order that scores have chosen, which nothing can find out.

    Needs room on the disk for the table once more, beside `path`, until it is done. A call
    that fails, Ctrl-C too, leaves nothing behind.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> scores = np.random.default_rng(1).random((6000, 3)) * [0.7, 0.8, 1.0]
    >>> blocks = pb.tables.shuffle(scores, "scores.parquet", seed=7)
    >>> blocks
    <Blocks: 6,000 rows of 3 columns in 24 blocks, shuffled>
    >>> result = pb.best_of("scores.parquet", value_range=(0, 1), rng=1)
    >>> result.best, result.n_evaluations
    (2, 204)
    """
    require("pyarrow", "tables")
    if not isinstance(replace, (bool, np.bool_)):  # a text has a truth too, and "no" is true
        raise TypeError(f"replace must be True or False; got {shown(replace)}")
    target = _check_target(table, path, replace)
    seed = (int(np.random.SeedSequence().entropy) if seed is None
            else check_integer("seed", seed, 0, (1 << 128) - 1))
    memory = check_integer("memory", memory, LEAST_MEMORY)
    rows = open_rows(table)
    if block_rows is None:
        block_rows = max(LEAST_ROWS, min(CELLS // len(rows.schema.names), rows.n_rows // BLOCKS))
    block_rows = check_integer("block_rows", block_rows, 1, LARGEST)
    folder = tempfile.mkdtemp(prefix=".pybandit-", dir=target.parent)
    try:
        piles = _Piles(rows, folder, memory)
        piles.fill(np.random.PCG64(seed), memory // BATCH_SHARE)
        made = os.path.join(folder, "made.parquet")
        _write(piles, made, block_rows, seed)
        Blocks.open(made, columns=rows.models)  # nothing is there that cannot be read
        os.replace(made, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Blocks.open(target, columns=rows.models)


def _check_target(table, path, replace):
    if not isinstance(path, (str, os.PathLike)) or suffix_of(path) not in PARQUET:
        raise ValueError(f"path must be a file named {' or '.join(PARQUET)}; got "
                         f"{shown(path)}")
    target = Path(path)
    if not target.parent.is_dir():
        raise ValueError(f"path must be in a folder that is there; got {str(target)!r}")
    if target.exists():
        same = isinstance(table, (str, os.PathLike)) and Path(table).exists() and (
            target.samefile(table))
        if same or not replace:
            raise ValueError(f"path must be another file than the table; got {str(target)!r}"
                             if same else f"path must be a file that is not there, unless it is "
                             f"to be replaced; got {str(target)!r}")
    return target


class _Piles:
    """Rows on the disk with their keys, by the leading bits of these."""

    def __init__(self, rows, folder, memory):
        arrow = require("pyarrow", "tables")
        self.rows = rows
        needed = rows.n_rows * (rows.row_bytes + 16) * PILE_SHARE / memory
        self._n_piles = min(MOST_PILES, int(needed) + 1)
        self._paths = [os.path.join(folder, f"{pile}.rows") for pile in range(self._n_piles)]
        names = _unused("key", rows.schema.names), _unused("low", rows.schema.names)
        self._keys = names
        self.schema = arrow.schema([*rows.schema, *((name, arrow.uint64()) for name in names)])

    def fill(self, bits, batch_bytes):
        """Deal all rows."""
        arrow = require("pyarrow", "tables")
        n_rows = max(1, int(batch_bytes / (self.rows.row_bytes + 16)))
        sinks = []
        try:
            for path in self._paths:
                sinks.append(arrow.ipc.new_file(path, self.schema))
            for batch in self.rows.batches(n_rows):
                keys = bits.random_raw(2 * batch.num_rows).reshape(-1, 2)
                self._deal(batch, keys, sinks)
        finally:
            for sink in sinks:
                sink.close()

    def _deal(self, batch, keys, sinks):
        arrow = require("pyarrow", "tables")
        piles = (keys[:, 0] >> np.uint64(32)) * np.uint64(self._n_piles) >> np.uint64(32)
        order = np.argsort(piles, kind="stable")
        ends = np.cumsum(np.bincount(piles.astype(np.int64), minlength=self._n_piles)).tolist()
        columns = [column.take(arrow.array(order)) for column in batch.columns]
        columns += [arrow.array(np.ascontiguousarray(keys[order, part])) for part in (0, 1)]
        dealt = arrow.record_batch(columns, schema=self.schema)
        for sink, start, end in zip(sinks, [0, *ends], ends, strict=False):
            if end > start:
                sink.write_batch(dealt.slice(start, end - start))

    def sorted(self):
        """The rows of each pile in the order of their keys, pile after pile."""
        arrow = require("pyarrow", "tables")
        for path in self._paths:
            with arrow.OSFile(path) as file:
                pile = arrow.ipc.open_file(file).read_all()
            os.remove(path)
            high, low = (pile.column(name).to_numpy() for name in self._keys)
            order = np.lexsort((low, high))
            yield pile.select(self.rows.schema.names).take(arrow.array(order))


def _unused(name, names):
    while name in names:
        name += "_"
    return name


def _write(piles, path, block_rows, seed):
    """One row group a block, and the mark."""
    arrow, parquet = require("pyarrow", "tables"), require("pyarrow.parquet", "tables")
    schema = piles.rows.schema
    kept = {key: value for key, value in (schema.metadata or {}).items() if key != _mark.KEY}
    schema = schema.with_metadata(kept)
    left, checksums = schema.empty_table(), []
    # random rows have no runs and no ranges: what these would tell costs more than it saves
    with parquet.ParquetWriter(path, schema, use_dictionary=False, write_statistics=False,
                               compression="lz4") as writer:
        def write(block):
            writer.write_table(block, row_group_size=block_rows)
            if piles.rows.first is not None:
                checksums[1:] = [_mark.checksum(piles.rows.numbers(block))]

        for pile in piles.sorted():
            left = arrow.concat_tables([left, pile])
            whole = left.num_rows - left.num_rows % block_rows
            for start in range(0, whole, block_rows):
                write(left.slice(start, block_rows))
            left = left.slice(whole)
        if left.num_rows:
            write(left)
        writer.add_key_value_metadata(
            {_mark.KEY: _mark.make_mark(seed, piles.rows.n_rows, checksums[0], checksums[-1])})
