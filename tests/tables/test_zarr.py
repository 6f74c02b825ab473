"""Zarr arrays read without the package zarr equal those that it reads."""

import itertools
import pickle

import numpy as np
import pytest

import pybandit as pb
from pybandit.tables._zarr import ZarrFolder

zarr = pytest.importorskip("zarr")
numcodecs = pytest.importorskip("numcodecs")
SCORES = np.random.default_rng(1).random((53, 7)) * 100
KINDS = ["f4", "f8", "f2", "i2", "u8", "?"]


def check_equal(path, array):
    """Compare all cells, and some rows and columns; rows 41 to 52 were never written."""
    file, columns = ZarrFolder(path), np.array([0, 2, 6])
    assert (file.shape, file.chunks) == (array.shape, array.chunks)
    assert file.dtype == array.dtype.newbyteorder("=")
    assert np.array_equal(file[slice(0, 53), np.arange(7)], array[:], equal_nan=True)
    assert np.array_equal(file[slice(5, 50), columns], array[5:50][:, columns], equal_nan=True)
    assert np.array_equal(pickle.loads(pickle.dumps(file))[slice(0, 2), columns],
                          file[slice(0, 2), columns], equal_nan=True)


@pytest.mark.parametrize("kind", [*KINDS, ">f4", ">i4"])
def test_format_2_equals_zarr(kind, tmp_path):
    compressors = [None, numcodecs.Blosc(), numcodecs.Zstd(), numcodecs.GZip(), numcodecs.Zlib(),
                   numcodecs.BZ2(), numcodecs.LZMA(), numcodecs.LZ4()]
    values = SCORES.astype(kind)
    for i, (compressor, chunks) in enumerate(itertools.product(compressors, [(10, 3), (100, 1)])):
        array = zarr.create_array(
            tmp_path / f"{i}.zarr", shape=values.shape, chunks=chunks, dtype=values.dtype,
            zarr_format=2, compressors=compressor, order="CF"[i % 2], fill_value=1,
            filters=[numcodecs.Shuffle(values.itemsize)] if i % 3 else None,
            chunk_key_encoding={"name": "v2", "separator": "./"[i % 2]})
        array[:41] = values[:41]
        check_equal(tmp_path / f"{i}.zarr", array)


@pytest.mark.parametrize("kind", KINDS)
def test_format_3_equals_zarr(kind, tmp_path):
    from zarr.codecs import BloscCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec

    values = SCORES.astype(kind)
    pipelines = [None, BloscCodec(), ZstdCodec(), GzipCodec(), [ZstdCodec(), Crc32cCodec()]]
    for i, (codecs, shards, order) in enumerate(itertools.product(
            pipelines, [None, (20, 9)], [(0, 1), (1, 0)])):
        array = zarr.create_array(
            tmp_path / f"{i}.zarr", shape=values.shape, chunks=(10, 3), shards=shards,
            dtype=values.dtype, compressors=codecs, filters=[TransposeCodec(order=order)],
            fill_value=1, chunk_key_encoding={"name": ["default", "v2"][i % 2], "separator": "/"})
        array[:41] = values[:41]
        check_equal(tmp_path / f"{i}.zarr", array)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 2.5, 0.1])
def test_missing_chunks_have_fill_value(value, version, tmp_path):
    array = zarr.create_array(tmp_path / "t.zarr", shape=(53, 7), chunks=(10, 3), dtype="f4",
                              fill_value=value, zarr_format=version)
    check_equal(tmp_path / "t.zarr", array)


def test_named_tables_do_not_import_zarr(tmp_path):
    import subprocess
    import sys

    array = zarr.create_array(tmp_path / "t.zarr", shape=(53, 7), chunks=(10, 3), dtype="f8")
    array[:] = SCORES
    code = ("import sys, pybandit as pb\n"
            "found = pb.best_of(sys.argv[1], value_range=(0, 100), rng=1)\n"
            "print(found.best, 'zarr' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "t.zarr"], capture_output=True,
                          text=True, check=True)
    best = pb.best_of(SCORES, value_range=(0, 100), rng=1).best
    assert done.stdout.split() == [str(best), "False"]
