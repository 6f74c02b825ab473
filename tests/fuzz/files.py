"""A file is refused by its own kind of error, or read as it is: never another error.

What a person writes, CSV, is any bytes. What a program writes, workbooks, Parquet and arrays, is a
whole file of which bytes were changed.
"""

import atexit
import functools
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np

import pybandit as pb
from fuzz.source import Choices
from pybandit._shared.cells import BadFile
from pybandit.cli._study_arms import read_arms
from pybandit.evaluation._score_csv import read_scores
from pybandit.studies._codec import decode, encode
from pybandit.studies._plate_read import read_plates
from pybandit.studies._sheet import Dialect
from pybandit.studies.plates import Layout, Plates
from pybandit.tables import Blocks


@functools.cache
def folder():
    """Where the files are, in memory where there is such a place."""
    made = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


def written(name, content):
    path = folder() / name
    path.write_bytes(content)
    return str(path)


def refused(error):
    """It says why."""
    assert len(str(error)) >= 8, repr(error)


# text

def scores(content):
    """A table of scores."""
    path = written("scores.csv", content)
    try:
        read = read_scores(path)
    except BadFile as error:
        return refused(error)
    n_items, n_models = read.values.shape
    assert n_items == len(read.index) == len(read.lines) >= 1 and n_models == len(read.columns) >= 2
    assert read.values.dtype == np.float64 and len(set(read.columns)) == n_models
    kept = read.without_lost()
    assert not np.isnan(kept.values).any()
    assert all(read.place(n_items - 1, column) for column in range(n_models))


def arms(content):
    """Names of arms, and variances."""
    path = written("arms.csv", content)
    try:
        names, variances, *_ = read_arms(path)
    except BadFile as error:
        return refused(error)
    assert names and all(names) and len(set(names)) == len(names)
    assert variances is None or (variances.size == len(names) and not (variances <= 0).any())


PLATES = [Plates(Layout(2, 3)), Plates(Layout(2, 3), (0, 5)), Plates(Layout(1, 1)),
          Plates(Layout(3, 4), (3,), normalise=True)]
BATCHES = {0: ["tea", "coffee", "milk", "tea"], 7: [str(arm) for arm in range(11)]}


DIALECTS = [Dialect(",", ""), Dialect(",", "."), Dialect(",", " "), Dialect(".", ","), Dialect(),
            Dialect(".", "_"), Dialect(",", "'"), Dialect(".", "", {"value": "result"}),
            Dialect(",", "", {"well": "pos", "arm": "Name", "plate": "Barcode"})]


def arms_of(number):
    if number not in BATCHES:
        raise ValueError(f"batch must be 0 or 7; got {number}")
    return BATCHES[number]


def plates(content):
    """Readings of plates; the first byte says of which layout and batch, and in which dialect."""
    first = content[:1] or b"0"
    path, layout = written("plate.csv", content[1:]), PLATES[first[0] % len(PLATES)]
    batch, dialect = [None, 0, 7][first[0] // 4 % 3], DIALECTS[first[0] // 12 % len(DIALECTS)]
    try:
        reading = read_plates(path, layout, arms_of, batch, dialect)
    except BadFile as error:
        assert path in str(error)
        return refused(error)
    assert reading.batch in BATCHES and reading.names == BATCHES[reading.batch]
    n_wells = layout.layout.n_wells
    assert reading.values.size == reading.lines.size == n_wells * layout.n_plates(
        len(reading.names))
    assert not np.isinf(reading.values).any() and reading.parts
    assert all(reading.where(well, layout) for well in range(reading.values.size))


def codec(content):
    """Bytes of a value, as studies keep them."""
    try:
        value = decode(content)
    except ValueError as error:
        return refused(error)
    again = encode(value)
    assert encode(decode(again)) == again


# what programs write

def damaged(bits, content):
    """Bytes that are changed, put in, taken out, or cut."""
    made = bytearray(content)
    for _ in range(1 + bits.below(4)):
        at = int.from_bytes(bits.take(3), "little") % max(1, len(made))
        kind = bits.below(8)
        if kind == 0:
            del made[at:]
        elif kind == 1:
            page = made[at // 512 * 512:at // 512 * 512 + 512]
            to = bits.below(2**16) % max(1, len(made)) // 512 * 512
            made[to:to + len(page)] = page
        elif kind == 2:
            made[at:at] = bits.take(1 + bits.below(8))
        elif kind == 3:
            made[at:at + 8] = bits.integer().to_bytes(16, "big", signed=True)[-8:]
        else:
            made[at:at + 1] = bits.take(1)
    return bytes(made)


# tables

@functools.cache
def table_file(kind):
    """A table of scores as Parquet, or as an array; its bytes."""
    values = np.random.default_rng(1).random((40, 3)).astype(np.float32)
    path = folder() / f"whole.{kind}"
    if kind == "npy":
        np.save(path, values)
    else:
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.table({"item": [str(i) for i in range(40)],
                               **{f"m{i}": values[:, i] for i in range(3)}})
        pyarrow.parquet.write_table(table, path, row_group_size=15)
        if kind == "shuffled.parquet":
            made = folder() / "made.parquet"
            pb.tables.shuffle(path, made, seed=1, block_rows=10)
            path = made
    return Path(path).read_bytes()


def blocks(content):
    """A table of blocks, of which bytes were changed."""
    bits = Choices(content)
    kind = bits.of(["npy", "parquet", "shuffled.parquet"])
    path = written("table." + kind, damaged(bits, table_file(kind)))
    try:
        table = Blocks.open(path)
    except (ValueError, TypeError) as error:
        return refused(error)
    rows = np.unique(np.minimum([0, 14, 15, 39], table.n_rows - 1))
    columns = np.arange(min(3, table.n_columns))
    try:
        values = table.values(rows, columns)
    except (ValueError, TypeError) as error:
        return refused(error)
    assert values.shape == (rows.size, columns.size) and values.dtype == np.float64
