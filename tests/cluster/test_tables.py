"""Medoids of files, of tables read block by block, and of data frames."""

import tracemalloc

import numpy as np
import pytest

import pybandit as pb
from pybandit.cluster import _files, _find, kmedoids, medoid

from cluster.data import data

SUFFIXES = ["npy", "parquet", "blocks"]


def written(folder, x, kind):
    """Return a path or `Blocks` with the rows of x."""
    if kind == "npy":
        np.save(folder / "rows.npy", x)
        return folder / "rows.npy"
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = str(folder / "rows.parquet")
    parquet.write_table(pa.table({f"c{i}": x[:, i] for i in range(x.shape[1])}), path,
                        row_group_size=300)
    return path if kind == "parquet" else pb.tables.Blocks.open(path)


@pytest.mark.parametrize("kind", SUFFIXES)
@pytest.mark.parametrize("in_memory", [0, 1 << 28])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_files_give_the_medoids_of_their_rows(tmp_path, monkeypatch, kind, in_memory, dtype):
    monkeypatch.setattr(_files, "IN_MEMORY", in_memory)
    monkeypatch.setattr(_files, "AT_ONCE", 1000)
    x = np.random.default_rng(0).normal(size=(2500, 12)).astype(dtype)
    x[:2000] = x[:2000].astype(np.float32)  # float64 is needed late
    given, labels = written(tmp_path, x, kind), np.arange(2500) % 3
    assert medoid(given, rng=1).to_dict() == medoid(x, rng=1).to_dict()
    for metric in ("sqeuclidean", "manhattan", "cosine"):
        assert medoid(given, metric=metric, rng=1).index == medoid(x, metric=metric, rng=1).index
    found, expected = medoid(given, labels=labels, rng=1), medoid(x, labels=labels, rng=1)
    assert found.indices.tolist() == expected.indices.tolist()
    assert found.mean_distances.tolist() == expected.mean_distances.tolist()
    assert kmedoids(given, 4, rng=0).inertia == kmedoids(x, 4, rng=0).inertia


@pytest.mark.parametrize("columns", [6, 30])
def test_memory_of_a_large_file_is_bounded(tmp_path, monkeypatch, columns):
    """Neither the rows nor temporary arrays of their size are in memory."""
    n = 120_000
    x = data("gauss", n, columns)
    monkeypatch.setattr(_files, "IN_MEMORY", x.nbytes - 1)
    monkeypatch.setattr(_files, "AT_ONCE", 1 << 16)
    monkeypatch.setattr(_find, "ROWS_AT_ONCE", 1 << 10)
    given, weights = written(tmp_path, x, "npy"), np.ones(n)
    medoid(x[:2000], rng=1)
    for weighted in (None, weights):
        tracemalloc.start()
        found = medoid(given, weights=weighted, rng=1)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found.index == medoid(x, rng=1).index
        # the cache of Blocks holds the bytes of the file up to 64 MiB, and a block is 1 MiB
        assert peak < x.nbytes + 150 * n + (1 << 23), peak


def test_starting_rows_do_not_depend_on_their_parts(monkeypatch):
    x, weights = data("gauss", 5000, 3), np.random.default_rng(0).random(5000)
    for w in (None, weights):
        whole = medoid(x, weights=w, rng=1)
        monkeypatch.setattr(_find, "ROWS_AT_ONCE", 64)
        assert medoid(x, weights=w, rng=1).to_dict() == whole.to_dict()
        monkeypatch.undo()


def test_nan_in_a_file_is_named_by_its_column(tmp_path):
    x = data("gauss", 500, 3)
    x[417, 1] = np.nan
    for call in (medoid, lambda given: kmedoids(given, 3)):
        with pytest.raises(ValueError, match="X must be finite; got nan in row 417, column 'c1'"):
            call(written(tmp_path, x, "blocks"))
        with pytest.raises(ValueError, match="X must be finite; got nan in row 417, column 1"):
            call(written(tmp_path, x, "npy"))


@pytest.mark.parametrize("call", [medoid, lambda given: kmedoids(given, 2)])
def test_names_of_other_files_are_rejected(call):
    with pytest.raises(ValueError, match=r"X must be rows, .* ends in \.parquet.*got 'rows.csv'"):
        call("rows.csv")


def frames():
    """Yield frames of pandas that hold the numbers of `ROWS`."""
    pd = pytest.importorskip("pandas")
    yield pd.DataFrame({"a": pd.array([1, 2, 9], "Int64"), "b": pd.array([0, 1, 1], "boolean")})
    yield pd.DataFrame({"a": pd.array([1, 2, 9], "Float32"), "b": [False, True, True]})
    yield pd.DataFrame({"a": [1.0, 2.0, 9.0], "b": [False, True, True]})
    yield pd.DataFrame({"a": np.array([1, 2, 9], object), "b": [0, 1, 1]})


ROWS = np.array([[1.0, 0.0], [2.0, 1.0], [9.0, 1.0]])


def test_columns_of_frames_may_be_nullable_or_of_different_types():
    for frame in frames():
        assert medoid(frame).mean_distance == pytest.approx(medoid(ROWS).mean_distance)
        assert kmedoids(frame, 2, rng=0).inertia == pytest.approx(kmedoids(ROWS, 2, rng=0).inertia)


@pytest.mark.parametrize("type_", ["Int64", "float64", "boolean", "string"])
def test_missing_values_are_named_by_their_column(type_):
    pd = pytest.importorskip("pandas")
    cells = {"boolean": [True, None, False], "string": ["1", None, "2"]}.get(type_, [1, None, 2])
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": pd.array(cells, type_)})
    calls = [medoid, lambda given: kmedoids(given, 2)]
    if pytest.importorskip("sklearn"):
        calls.append(lambda given: pb.cluster.KMedoids(2).fit(given))
    for call in calls:
        with pytest.raises(ValueError, match=r"got (<NA>|nan) in row 1, column 'b'"):
            call(frame)


def test_text_is_named_by_its_column():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    with pytest.raises(TypeError, match="X must hold real numbers; got 'x' in column 'b'"):
        medoid(frame)
    with pytest.raises(TypeError, match=r"real numbers; got list .*: None at index \(1, 0\)"):
        medoid([[1, 2], [None, 3]])


def test_missing_labels_are_rejected():
    pd = pytest.importorskip("pandas")
    for labels in (pd.array([1, None, 1], "Int64"), pd.Series(["a", None, "a"])):
        with pytest.raises(ValueError, match="labels must not have missing values; got one at "
                                             "index 1"):
            medoid(ROWS, labels=labels)


def test_name_of_a_column_is_not_taken_as_labels():
    with pytest.raises(TypeError, match="labels must be one value per point; got 'cluster'"):
        medoid(ROWS, labels="cluster")


@pytest.mark.parametrize("call", [medoid, lambda x, **options: kmedoids(x, 2, **options)])
def test_objects_need_a_metric_that_returns_numbers(call):
    with pytest.raises(TypeError, match="metric may be a function of two other objects"):
        call(["ab", "bc", "c"])
    with pytest.raises(TypeError, match=r"metric must return a number; got 'x' from row \d to row"):
        call(["ab", "bc", "c"], metric=lambda a, b: "x")
