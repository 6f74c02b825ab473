"""Files are read correctly or rejected with the documented exception, never with another one.

CSV files consist of arbitrary bytes. Workbooks, Parquet files and arrays are valid files in which
bytes were changed.
"""

import atexit
import functools
import io
import json
import os
import re
import shutil
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np

import pybandit as pb
from fuzz.source import Choices
from pybandit.errors import UnreadableFileError
from pybandit.lab._read import read_plates
from pybandit.lab.plates import Layout, Plates
from pybandit.studies._codec import decode, encode
from pybandit.tables import Blocks
from pybandit.tables._arms import read_arms
from pybandit.tables._read_scores import read_scores
from pybandit.tables._sheet import Dialect
from pybandit.tables._zarr import METADATA
from pybandit.tables._zarr_codecs import DECODERS, decoded
from pybandit.tables._zarr_meta import MOST_CHUNK, parsed_meta


@functools.cache
def folder():
    """Return a temporary folder, in memory if /dev/shm exists."""
    made = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


def written(name, content):
    path = folder() / name
    path.write_bytes(content)
    return str(path)


def refused(error):
    """Check that an error has a message."""
    assert len(str(error)) >= 8, repr(error)


# text

def scores(content):
    """Read a table of scores."""
    path = written("scores.csv", content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # on aggregates and odd columns
            read = read_scores(path)
    except UnreadableFileError as error:
        return refused(error)
    n_items, n_models = read.values.shape
    assert n_items == len(read.index) == len(read.lines) >= 1 and n_models == len(read.columns) >= 2
    assert read.values.dtype == np.float64 and len(set(read.columns)) == n_models
    kept = read.without_lost()
    assert not np.isnan(kept.values).any()
    assert all(read.place(n_items - 1, column) for column in range(n_models))


def arms(content):
    """Read names and variances of arms."""
    path = written("arms.csv", content)
    try:
        names, variances, *_ = read_arms(path)
    except UnreadableFileError as error:
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
    """Read plates; the first byte selects the layout, the batch and the dialect."""
    first = content[:1] or b"0"
    path, layout = written("plate.csv", content[1:]), PLATES[first[0] % len(PLATES)]
    batch, dialect = [None, 0, 7][first[0] // 4 % 3], DIALECTS[first[0] // 12 % len(DIALECTS)]
    try:
        reading = read_plates(path, layout, arms_of, batch, dialect)
    except UnreadableFileError as error:
        assert path in str(error)
        return refused(error)
    assert reading.batch in BATCHES and reading.names == BATCHES[reading.batch]
    n_wells = layout.layout.n_wells
    assert reading.values.size == reading.lines.size == n_wells * layout.n_plates(
        len(reading.names))
    assert not np.isinf(reading.values).any() and reading.parts
    assert all(reading.where(well, layout) for well in range(reading.values.size))


def codec(content):
    """Decode a value from the format in which studies store it."""
    try:
        value = decode(content)
    except ValueError as error:
        return refused(error)
    again = encode(value)
    assert encode(decode(again)) == again


# files that programs write

def damaged(bits, content):
    """Return bytes after random changes, insertions and deletions."""
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
    """Return the bytes of a table of scores, as Parquet or as an array."""
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
            pb.tables.shuffle(path, made, rng=1, block_rows=10)
            path = made
    return Path(path).read_bytes()


def blocks(content):
    """Read a table in blocks from a file with changed bytes."""
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


# folders of Zarr

WORDS = [b"blosc", b"zstd", b"lz4", b"gzip", b"zlib", b"bz2", b"lzma", b"pickle", b"shuffle",
         b"crc32c", b"bytes", b"transpose", b"sharding_indexed", b"null", b"[]", b"{}", b"-1", b"0",
         b"1099511627776", b"1e999", b'"NaN"', b'"|O"', b'"<f8"', b'">i2"', b'"F"', b"true", b"/"]
OLD = {"zarr_format": 2, "shape": [40, 3], "chunks": [15, 2], "dtype": "<f4", "order": "C",
       "fill_value": 0, "dimension_separator": "."}
NEW = {"zarr_format": 3, "node_type": "array", "shape": [40, 3], "data_type": "float32",
       "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [15, 2]}},
       "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
       "fill_value": 0, "attributes": {}}
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}


@functools.cache
def zarr_parts():
    """Return metadata file, metadata, chunk file and chunk of an array with each codec."""
    import numcodecs

    raw = np.random.default_rng(1).integers(0, 9, 30).astype("<f4").tobytes()
    old = {"blosc": numcodecs.Blosc(), "zstd": numcodecs.Zstd(), "lz4": numcodecs.LZ4(),
           "gzip": numcodecs.GZip(), "zlib": numcodecs.Zlib(), "bz2": numcodecs.BZ2(),
           "lzma": numcodecs.LZMA()}
    found = [(".zarray", OLD | {"compressor": None, "filters": None}, "0.0", raw)]
    for name, codec in old.items():
        found.append((".zarray", OLD | {"compressor": {"id": name}, "filters": [
            {"id": "shuffle", "elementsize": 4}]}, "0.0", codec.encode(numcodecs.Shuffle(4)
                                                                       .encode(raw))))
    for name in ("blosc", "zstd", "gzip"):
        found.append(("zarr.json", NEW | {"codecs": [BYTES, {"name": name}]}, "c/0/0",
                      old[name].encode(raw)))
    shard = {"name": "sharding_indexed", "configuration": {
        "chunk_shape": [5, 2], "codecs": [BYTES, {"name": "zstd"}], "index_codecs": [BYTES]}}
    parts = [numcodecs.Zstd().encode(raw[40 * i:40 * i + 40]) for i in range(3)]
    ends = np.cumsum([len(part) for part in parts])
    index = b"".join(int(n).to_bytes(8, "little") for end, part in zip(ends, parts, strict=True)
                     for n in (end - len(part), len(part)))
    found.append(("zarr.json", NEW | {"codecs": [shard]}, "c/0/0", b"".join(parts) + index))
    return [(name, json.dumps(metadata).encode(), chunk, bytes(body))
            for name, metadata, chunk, body in found]


def zarrs(content):
    """Read a Zarr array whose metadata or chunk was changed."""
    bits = Choices(content)
    name, metadata, chunk, body = bits.of(zarr_parts())
    for _ in range(bits.below(3)):
        words = re.split(rb"([\w<|.-]+)", metadata)
        words[bits.below(len(words))] = bits.of(WORDS)
        metadata = b"".join(words)
    metadata = damaged(bits, metadata) if bits.below(4) == 0 else metadata
    body = damaged(bits, body) if bits.below(2) else body
    (zarr_in_memory if bits.below(16) else zarr_in_folder)(name, metadata, chunk, body)


def zarr_in_memory(name, metadata, chunk, body):
    """Check that metadata is rejected, or that a chunk is decoded to the size stated in it."""
    try:
        meta = parsed_meta(metadata, METADATA[name])
        assert set(meta.codecs) <= {"shuffle", *DECODERS} and meta.dtype.kind in "biuf"
        n_bytes = meta.chunks[0] * meta.chunks[1] * meta.dtype.itemsize
        assert n_bytes <= MOST_CHUNK and len(decoded(meta, body)) == n_bytes
    except ValueError as error:
        refused(error)


def zarr_in_folder(name, metadata, chunk, body):
    path = folder() / "table.zarr"
    shutil.rmtree(path, ignore_errors=True)
    (path / chunk).parent.mkdir(parents=True)
    (path / name).write_bytes(metadata)
    (path / chunk).write_bytes(body)
    try:
        table = Blocks.open(path)
        values = table.values(np.unique([0, table.n_rows - 1]),
                              np.arange(min(3, table.n_columns)))
    except UnreadableFileError as error:
        assert str(path) in str(error)
        return refused(error)
    except (ValueError, TypeError) as error:
        return refused(error)
    assert values.dtype == np.float64


# comparisons

@functools.cache
def comparison_parts():
    """Return the parts of a file of a comparison."""
    path = folder() / "whole.npz"
    pb.compare({"uniform": pb.policies.Uniform(3, budget=12)},
               pb.environments.BernoulliBandit([0.1, 0.5, 0.9]),
               n_runs=20, rng=1).save(path)
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def comparisons(content):
    """Read a comparison with changed bytes in the archive or in one part."""
    bits = Choices(content)
    parts = dict(comparison_parts())
    name = bits.of(sorted(parts))
    is_part = bits.below(4) > 0
    if is_part:
        parts[name] = damaged(bits, parts[name])
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as new:
        for part, body in parts.items():
            new.writestr(part, body)
    path = written("made.npz", made.getvalue() if is_part else damaged(bits, made.getvalue()))
    try:
        read = pb.simulation.Comparison.load(path)
    except ValueError as error:
        assert path in str(error)
        return refused(error)
    assert read.names
