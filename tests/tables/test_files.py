"""Tables in files and arrays: values, blocks, and invalid files."""

import copy
import pickle

import numpy as np
import pytest

import pybandit as pb
from pybandit.errors import MissingPackageError, UnreadableFileError
from pybandit.tables import _open

from tables.conftest import SCORES

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def all_of(blocks):
    return blocks.values(np.arange(blocks.n_rows), np.arange(blocks.n_columns))


def write(path, columns, **options):
    parquet.write_table(arrow.table(columns), path, **options)
    return path


@pytest.fixture
def small(monkeypatch):
    """Set the block size to 500 rows for a table of four columns."""
    monkeypatch.setattr(_open, "CELLS", 2000)


def test_parquet_row_groups_are_blocks(tmp_path):
    names = ["gpt-4", "gpt-4.1", "b", "a"]  # for the first one, pyarrow reads the second too
    path = write(tmp_path / "scores.parquet", dict(zip(names, SCORES.T, strict=True)),
                 row_group_size=700)
    blocks = pb.tables.Blocks.open(path)
    assert blocks.names == tuple(names) and blocks.sizes.tolist() == [700] * 8 + [400]
    assert not blocks.shuffled and np.array_equal(all_of(blocks), SCORES)
    assert np.array_equal(blocks.values([5, 900], [0]), SCORES[[5, 900], :1])
    some = pb.tables.Blocks.open(str(path), columns=["a", "gpt-4"], shuffled=True)
    assert some.shuffled and np.array_equal(all_of(some), SCORES[:, [3, 0]])
    assert np.array_equal(all_of(pickle.loads(pickle.dumps(some))), SCORES[:, [3, 0]])
    assert copy.deepcopy(some).names == ("a", "gpt-4")
    assert pb.best_of(path, value_range=(0, 1), rng=1).best_name == "a"


def test_parquet_labels_bools_and_lost_scores(tmp_path):
    path = write(tmp_path / "scores.pq", {
        "id": ["x", "y", "z"], "won": [True, False, None], "n": [1, None, 3],
        "half": arrow.array(np.array([0.5, 1, 2], dtype="f2"))})
    blocks = pb.tables.Blocks.open(path)
    assert blocks.names == ("won", "n", "half")
    assert np.array_equal(all_of(blocks), [[1, 1, .5], [0, np.nan, 1], [np.nan, 3, 2]],
                          equal_nan=True)


def test_pandas_index_is_not_a_model(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(SCORES[:9], columns=list("abcd"), index=range(100, 109, 1))
    frame.index = pandas.Index(frame.index.to_numpy()[::-1], name="item")
    frame.to_parquet(tmp_path / "frame.parquet")
    assert pb.tables.Blocks.open(tmp_path / "frame.parquet").names == tuple("abcd")


@pytest.mark.parametrize("columns, options, error", [
    ({"a": [1.0], "b": ["x"]}, {}, r"real numbers; column 'b' holds string"),
    ({"a": [1.0], "b": [[1.0]]}, {}, "column 'b' holds list"),
    ({"a": ["x"]}, {}, "columns of numbers"), ({"a": np.empty(0)}, {}, "must have rows"),
    ({"a": [1.0]}, {"columns": ["c"]}, "columns must be columns of"),
    ({"a": ["x"], "b": [1]}, {"columns": ["a"]}, "column 'a' holds string"),
    ({"a": [1.0]}, {"columns": []}, "columns must "), ({"a": [1.0]}, {"columns": 3}, "columns")])
def test_parquet_refuses_invalid_columns(tmp_path, columns, options, error):
    path = write(tmp_path / "bad.parquet", columns)
    with pytest.raises((TypeError, ValueError), match=error):
        pb.tables.Blocks.open(path, **options)


def test_columns_of_one_name_are_refused(tmp_path):
    path = tmp_path / "twice.parquet"
    parquet.write_table(arrow.Table.from_arrays([arrow.array([1.0])] * 2, ["a", "a"]), path)
    with pytest.raises(UnreadableFileError, match="different names"):
        pb.tables.Blocks.open(path)


@pytest.mark.parametrize("name, error", [
    ("none.parquet", "none.parquet"), ("text.parquet", "cannot be read"),
    ("none.npy", "none.npy"), ("text.npy", "cannot be read"),
    ("none.zarr", "none.zarr"), ("scores.xls", "must be a file whose name ends in")])
def test_unreadable_files_are_refused(tmp_path, name, error):
    if name.endswith("zarr"):
        pytest.importorskip("zarr")
    for kind in ("parquet", "npy"):
        (tmp_path / f"text.{kind}").write_text("no table")
    kind = FileNotFoundError if name.startswith("none") else ValueError
    with pytest.raises(kind, match=error):
        pb.tables.Blocks.open(tmp_path / name)


def test_arrays_are_read_by_slices(folder, small):
    array = np.load(folder / "table.npy", mmap_mode="r")
    blocks = pb.tables.Blocks.open(folder / "table.npy")
    assert blocks.sizes.tolist() == [500] * 12 and blocks.names is None
    assert np.array_equal(all_of(blocks), SCORES)
    assert np.array_equal(all_of(pb.tables.Blocks.open(array[:700])), SCORES[:700])
    some = pb.tables.Blocks.open(array, columns=[2, 0])
    assert some.names == (2, 0) and np.array_equal(all_of(some), SCORES[:, [2, 0]])
    assert np.array_equal(some.values([3], [0]), SCORES[3:4, [2]])


def test_zarr_is_read_by_whole_chunks(tmp_path, small):
    zarr = pytest.importorskip("zarr")
    array = zarr.open_array(tmp_path / "t.zarr", mode="w", shape=SCORES.shape, chunks=(200, 3),
                            dtype="f4")
    array[:] = SCORES
    for table in (tmp_path / "t.zarr", array):
        blocks = pb.tables.Blocks.open(table, shuffled=True)
        assert set(blocks.sizes.tolist()) == {400} and blocks.shuffled
        assert np.array_equal(all_of(blocks), SCORES)
        assert np.array_equal(blocks.values([401, 7], [1, 3]), SCORES[[401, 7]][:, [1, 3]])
    assert np.array_equal(all_of(pb.tables.Blocks.open(array, columns=[3, 1])), SCORES[:, [3, 1]])
    # small tables that are not shuffled are read into memory
    assert pb.best_of(array, value_range=(0, 1), rng=2).n_pulls == pb.best_of(
        SCORES, value_range=(0, 1), rng=2).n_pulls
    assert pb.best_of(blocks, value_range=(0, 1), rng=2).best == 3
    assert pb.race(blocks, rng=2).best == 3


def test_dask_chunks_are_blocks():
    dask = pytest.importorskip("dask.array")
    array = dask.from_array(SCORES, chunks=((1000, 3000, 2000), (3, 1)))
    blocks = pb.tables.Blocks.open(array, shuffled=True)
    assert blocks.sizes.tolist() == [1000, 3000, 2000]
    assert np.array_equal(all_of(blocks), SCORES)
    assert pb.best_of(blocks, value_range=(0, 1), rng=2).best == 3
    assert pb.best_of(array, value_range=(0, 1), rng=2).items.tolist() == pb.best_of(
        SCORES, value_range=(0, 1), rng=2).items.tolist()
    equal = pb.tables.Blocks.open(array.rechunk((1000, 4)), shuffled=True)
    assert pb.race(equal, rng=1).best == 3
    unknown = array[array[:, 0] > 0.2]
    with pytest.raises(ValueError, match="table must have"):
        pb.tables.Blocks.open(unknown)


def test_hdf5_dataset_is_read():
    h5py = pytest.importorskip("h5py")
    with h5py.File("memory", "w", driver="core", backing_store=False) as file:
        dataset = file.create_dataset("scores", data=SCORES, chunks=(100, 2))
        assert np.array_equal(all_of(pb.tables.Blocks.open(dataset)), SCORES)
        assert np.array_equal(all_of(pb.tables.Blocks.open(dataset, columns=[3, 0])),
                              SCORES[:, [3, 0]])
        assert pb.best_of(dataset, value_range=(0, 1), rng=1).best == 3


@pytest.mark.parametrize("table, error", [
    (np.ones(3), "two dimensions"), (np.ones((3, 0)), "two dimensions"),
    (np.array([["a"]]), "real numbers"), ([[1.0]], "the name of a file, or an array"),
    (3, "the name of a file"), (None, "the name of a file")])
def test_values_other_than_tables_are_refused(table, error):
    with pytest.raises((TypeError, ValueError), match=error):
        pb.tables.Blocks.open(table)
    with pytest.raises((TypeError, ValueError), match="columns"):
        pb.tables.Blocks.open(np.ones((3, 2)), columns=[2])


def test_file_names_are_accepted_as_scores(folder, tmp_path):
    """CSV files are read as by the command line, .npy files as arrays."""
    path = tmp_path / "scores.csv"
    np.savetxt(path, SCORES[:300], delimiter=",", header="a,b,c,d", comments="")
    options = dict(value_range=(0, 1), rng=1)
    assert pb.best_of(path, **options).best_name == "d"
    found = pb.best_of(str(folder / "table.npy"), **options)
    assert found.to_dict() == pb.best_of(SCORES, **options).to_dict()
    for name in ("scores", "scores.xls", ""):
        with pytest.raises(ValueError, match="scores must be a function, a table, or the name"):
            pb.best_of(name, **options)
    with pytest.raises(FileNotFoundError, match="none.csv"):
        pb.best_of(tmp_path / "none.csv", **options)


def test_missing_pyarrow_error_names_extra(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingPackageError, match=r"pybandit-core\[tables\]"):
        pb.tables.Blocks.open(tmp_path / "scores.parquet")


def test_pages_of_read_only_map_are_released(tmp_path):
    """Pages of writable and copy-on-write maps stay, so that writes are kept."""
    import mmap

    from pybandit.tables._npy import _mapping_of, cells_of

    np.save(tmp_path / "t.npy", SCORES)
    for mode, given_back in (("r", True), ("r+", False), ("c", False)):
        array = np.load(tmp_path / "t.npy", mmap_mode=mode)
        assert isinstance(_mapping_of(np.asarray(array)[5:]), mmap.mmap) == given_back
        if mode == "c":
            array[7] = 0.25
        rows = np.random.default_rng(1).integers(6000, size=5000)
        expected = np.asarray(array)[rows][:, [1, 2]]
        assert np.array_equal(cells_of(np.asarray(array), rows, np.array([1, 2])), expected)
    assert _mapping_of(SCORES) is None


def test_damaged_parquet_page_error_names_file(tmp_path):
    """The OSError of pyarrow did not name the file; found by tests/fuzz."""
    path = tmp_path / "scores.parquet"
    values = np.random.default_rng(1).random(400)
    write(path, {"a": values, "b": values})
    content = bytearray(path.read_bytes())
    content[20:60] = bytes(40)
    path.write_bytes(content)
    with pytest.raises(UnreadableFileError, match=r"scores\.parquet cannot be read: "):
        all_of(pb.tables.Blocks.open(path))


def test_signalling_nan_is_lost_without_warning(tmp_path):
    """Its conversion was a RuntimeWarning, found by tests/fuzz."""
    bits = np.array([[0x7fa00000, 0x3f800000]], dtype=np.uint32)
    np.save(tmp_path / "scores.npy", bits.view(np.float32))
    found = pb.tables.Blocks.open(tmp_path / "scores.npy").values([0], [0, 1])
    assert np.isnan(found[0, 0]) and found[0, 1] == 1.0
