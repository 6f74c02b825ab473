"""Hostile Zarr arrays of both formats: codecs that run code, bombs, and paths outside."""

import bz2
import gzip
import json
import lzma
import pickle
import struct
import zlib

import numcodecs
import numpy as np
import pytest
import zarr

import pybandit as pb
from pybandit.errors import UnreadableFileError
from pybandit.tables._zarr import ZarrFolder

from hostile.special import attacked, check_refused
from hostile.test_npy import Payload

OLD = {"zarr_format": 2, "shape": [100, 4], "chunks": [50, 4], "dtype": "<f8", "order": "C",
       "compressor": None, "filters": None, "fill_value": 0}
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
NEW = {"zarr_format": 3, "node_type": "array", "shape": [100, 4], "data_type": "float64",
       "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [50, 4]}},
       "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
       "fill_value": 0, "codecs": [BYTES], "attributes": {}}
GOOD = np.ones(200).tobytes()


def old(chunk=GOOD, **changes):
    return {".zarray": json.dumps(OLD | changes).encode(), "0.0": chunk, "1.0": GOOD}


def new(chunk=GOOD, **changes):
    return {"zarr.json": json.dumps(NEW | changes).encode(), "c/0/0": chunk, "c/1/0": GOOD}


def grid(*shape):
    return {"name": "regular", "configuration": {"chunk_shape": shape}}


def sharded(index, **options):
    codec = {"name": "sharding_indexed", "configuration": {
        "chunk_shape": [25, 2], "codecs": [BYTES, {"name": "gzip"}], "index_codecs": [BYTES],
        } | options}
    return new(bytes(800) + index, codecs=[codec])


def zstd_frame(declared, body):
    """Return a frame that states the length `declared`, which may be wrong."""
    return struct.pack("<IBQ", 0xFD2FB528, 0xE0, declared) + body


def metadata(folder):
    pickled = pickle.dumps(Payload(folder / "ran"))
    run = {"name": "posix.system", "configuration": {"command": f"touch {folder}/ran"}}
    other = json.dumps(NEW)[:-1]
    return {
        "pickle filter": (old(pickled, filters=[{"id": "pickle", "protocol": 5}]), "'pickle'"),
        "pickle compressor": (old(pickled, compressor={"id": "pickle"}), "'pickle'"),
        "pickled objects": (old(pickled, dtype="|O", filters=[{"id": "pickle"}]), "dtype"),
        "json2 objects": (old(dtype="|O", filters=[{"id": "json2"}]), "dtype"),
        "structured": (old(dtype=[["a", "<f8"]]), "dtype"),
        "categorize": (old(filters=[{"id": "categorize", "labels": ["a"], "dtype": "|O"}]),
                       "'categorize'"),
        "numcodecs.pickle": (new(pickled, codecs=[BYTES, {"name": "numcodecs.pickle"}]),
                             "'numcodecs.pickle'"),
        "a function": (new(codecs=[BYTES, run]), "'posix.system'"),
        "no name": (new(codecs=[BYTES, {"name": ["gzip"]}]), "name"),
        "transformer": (new(storage_transformers=[run]), "storage_transformers"),
        "vlen-utf8": (new(data_type="string", codecs=[{"name": "vlen-utf8"}]), "data_type"),
        "extension type": (new(data_type={"name": "numpy.void"}), "data_type"),
        "key encoding": (new(chunk_key_encoding={"name": "posix"}), "chunk_key_encoding"),
        "separator": (new(chunk_key_encoding={"name": "default", "configuration": {
            "separator": "/../"}}), "separator"),
        "separator of v2": (new(chunk_key_encoding={"name": "v2", "configuration": {
            "separator": "/../../"}}), "separator"),
        "old separator": (old(dimension_separator="/../"), "separator"),
        "other fields": (new(must_run={"name": "x"}), "fields of the metadata"),
        "group": (new(node_type="group"), "node_type"),
        "format 4": (new(zarr_format=4), "zarr_format"),
        "huge chunk": (new(shape=[1 << 40, 2], chunk_grid=grid(1 << 40, 2)), "chunk"),
        "huge shape": (new(shape=[1 << 47, 4], chunk_grid=grid(1 << 18, 4)), "blocks"),
        "chunks of 0": (new(chunk_grid=grid(0, 4)), "chunk_shape"),
        "negative": (old(shape=[-100, 4]), "shape"),
        "numbers as text": (old(shape=["100", "4"]), "shape"),
        "three dimensions": (old(shape=[2, 2, 2], chunks=[1, 1, 1]), "two sizes"),
        "10**8 chunks": (old(shape=[10_000, 10_000], chunks=[1, 1]), "at least 1,024 cells"),
        "60,000 missing chunks": (old(shape=[60_000, 1], chunks=[1, 1], fill_value=2.0),
                                  "chunk 0.0"),
        "wide block": (new(shape=[100_000, 100_000], chunk_grid=grid(1000, 1000)), "cells"),
        "deep JSON": ({"zarr.json": b"[" * 200_000}, "nested deeply"),
        "deep attributes": ({"zarr.json": other.encode() + b', "attributes": ' + b"[" * 100_000
                             + b"]" * 100_000 + b"}"}, "nested deeply"),
        "long JSON": ({"zarr.json": b"[" + b"[]," * 5_000_000 + b"[]]"}, "at most 4,194,304"),
        "long number": ({".zarray": json.dumps(OLD).replace("100", "1" * 5000).encode()}, "read"),
        "fill": (old(fill_value="x" * 100_000), "fill_value"),
        "no JSON": ({".zarray": b"\xff\xfe"}, "cannot be read"),
        "nothing": ({"other": b""}, "zarr.json or .zarray"),
    }


def chunks():
    """Make arrays with a chunk that contradicts the metadata."""
    blosc = bytearray(numcodecs.Blosc(cname="lz4").encode(GOOD))
    bombs = {"blosc": struct.pack("<4B3I", 2, 1, 0, 8, 1 << 31, 1 << 20, 1000) + bytes(984),
             "lz4": struct.pack("<I", 1 << 31) + bytes(1000),
             "zstd": zstd_frame(1 << 40, b"\1\0\0"),
             "gzip": gzip.compress(bytes(1 << 27), 1)[:2000], "zlib": zlib.compress(bytes(1 << 26)),
             "bz2": bz2.compress(bytes(1 << 26)), "lzma": lzma.compress(bytes(1 << 20), preset=0)}
    found = {f"bomb of {name}": (old(chunk[:5000], compressor={"id": name}), "chunk 0.0", "block 0")
             for name, chunk in bombs.items()}
    blosc[12:16] = struct.pack("<I", 1 << 20)  # false length: blosc would read beyond the end
    zeros = struct.pack("<3s", (1 | 1 << 1 | 100_000 << 3).to_bytes(3, "little")) + b"\0"
    missing = struct.pack("<QQ", 0, 10) * 3
    return found | {
        "long gzip": (old(gzip.compress(bytes(4 << 20)), compressor={"id": "gzip"}), "at most"),
        "two streams": (old(gzip.compress(GOOD) * 2, compressor={"id": "gzip"}),
                        "one complete stream"),
        "blosc reads on": (old(bytes(blosc), compressor={"id": "blosc"}), "header"),
        "two frames": (old(zstd_frame(1600, zeros) * 2, compressor={"id": "zstd"}), "frame"),
        "zstd ends early": (old(zstd_frame(1600, b"\0\0"), compressor={"id": "zstd"}), "blocks"),
        "too short": (new(GOOD[:-8]), "1,600 bytes", "chunk c/0/0", "block 0"),
        "too long": (new(GOOD * 100), "at most"),
        "not compressed": (new(codecs=[BYTES, {"name": "gzip"}]), "chunk c/0/0"),
        "wrong checksum": (new(GOOD + b"\0\0\0\0", codecs=[BYTES, {"name": "crc32c"}]), "checksum"),
        "many codecs": (new(codecs=[BYTES, *[{"name": "gzip"}] * 10]), "at most 4"),
        "shuffled by 3": (old(filters=[{"id": "shuffle", "elementsize": 3}]),
                          "multiple of the item size"),
        "shard beyond its end": (sharded(struct.pack("<QQ", 1 << 40, 1000) + missing), "bytes"),
        "shard of 2**64": (sharded(struct.pack("<QQ", (1 << 64) - 2, 9) + missing), "bytes"),
        "long part of a shard": (sharded(struct.pack("<QQ", 0, 1 << 40) + missing), "at most"),
        "shard without index": (new(b"", codecs=json.loads(sharded(b"")["zarr.json"])["codecs"]),
                                "bytes"),
        "shard of shards": (sharded(b"", codecs=[{"name": "sharding_indexed"}]), "codecs"),
        "shard of many": (sharded(b"", chunk_shape=[3, 3]), "divide"),
        "index that is compressed": (sharded(b"", index_codecs=[BYTES, {"name": "gzip"}]),
                                     "index_codecs")}


def test_hostile_arrays_are_refused(tmp_path):
    found = attacked(tmp_path, "best_of blocks", metadata(tmp_path) | chunks(), ".zarr", True)
    check_refused(found, least=100)


def test_irregular_chunk_files_are_refused(tmp_path):
    path = tmp_path / "t.zarr"
    zarr.create_array(path, shape=(100, 4), chunks=(50, 4), dtype="f8")[:] = 1
    chunk = path / "c" / "1" / "0"
    for make, word in ((lambda: chunk.symlink_to("/dev/zero"), "device"), (chunk.mkdir, "folder"),
                       (lambda: chunk.symlink_to(chunk), "symbolic links")):
        chunk.unlink(missing_ok=True)
        make()
        with pytest.raises(UnreadableFileError,
                           match=rf"t\.zarr: chunk c/1/0 cannot be read: .*{word}"):
            ZarrFolder(path)[slice(0, 100), np.arange(4)]
        if chunk.is_dir() and not chunk.is_symlink():
            chunk.rmdir()


def test_errors_of_passed_arrays_name_block(tmp_path):
    """A damaged chunk raises UnreadableFileError, not an exception of zarr."""
    path = tmp_path / "t.zarr"
    array = zarr.create_array(path, shape=(100, 4), chunks=(50, 4), dtype="f8")
    array[:] = 1
    (path / "c" / "1" / "0").write_bytes(b"damaged")
    blocks = pb.tables.Blocks.open(array)
    with pytest.raises(UnreadableFileError,
                       match=r"block 0, rows 0 to 99, of Array cannot be read: "):
        blocks.values([0, 99], [0])
    with pytest.raises(UnreadableFileError,
                       match=r"t\.zarr: chunk c/1/0 cannot be read: .* \(block 0\)"):
        pb.best_of(path, value_range=(0, 1))
