"""Rows in CSR: the bits of the same rows as a dense array, in less memory."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from pybandit.cluster import kmedoids, medoid
from pybandit.cluster._distances import Distances
from pybandit.cluster._kmedoids import Stage
from pybandit.cluster._planes import Planes
from pybandit.cluster._rows import METRICS, as_rows, unit_rows
from pybandit.cluster._sparse import is_sparse
from pybandit.cluster._team import Team

from cluster.data import data

NAMES = ["euclidean", "sqeuclidean", "manhattan", "hamming", "cosine"]
TYPES = [np.float32, np.float64]


def counts(n, d, dtype=np.float32, seed=0):
    """Return rows of which a tenth of the entries are not 0; the last two are 0."""
    x = data("scrna", n, d, seed) * (np.random.default_rng(seed).random((n, d)) < 0.25)
    x[-2:] = 0
    return x.astype(dtype)


def both(x, metric):
    """Return `Distances` of dense and of sparse rows."""
    made = [as_rows("X", rows) for rows in (x, sparse.csr_array(x))]
    if metric == "cosine":
        made = [unit_rows(rows) for rows in made]
    assert is_sparse(made[1]) and not is_sparse(made[0])
    return [Distances(rows, METRICS[metric]) for rows in made]


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("d", [11, 64, 255, 256, 257, 700])
def test_distances_have_the_bits_of_dense_rows(metric, dtype, d):
    rng = np.random.default_rng(d)
    dense, csr = both(counts(90, d, dtype), metric)
    i, j = rng.permutation(90), rng.integers(90, size=70)
    assert dense.block(i, j).tobytes() == csr.block(i, j).tobytes()


@pytest.mark.parametrize("dtype", TYPES)
def test_planes_have_the_bits_of_dense_rows(dtype):
    made = [Planes(distances, np.linspace(0.5, 1.5, 400), np.arange(400))
            for distances in both(counts(400, 300, dtype), "euclidean")]
    for anchor in (0, 7, 399):
        for one in made:
            one.cut(anchor)
        assert made[0].best == made[1].best
        assert made[0].alive.tolist() == made[1].alive.tolist()


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("n", [100, 1200])
@pytest.mark.parametrize("weighted", [False, True])
def test_medoid_is_that_of_dense_rows(metric, exact, n, weighted):
    x = counts(n, 80)
    options = dict(metric=metric, exact=exact, rng=1,
                   weights=np.random.default_rng(2).random(n) if weighted else None)
    dense, csr = medoid(x, **options), medoid(sparse.csr_array(x), **options)
    assert csr.index == dense.index and csr.mean_distance == dense.mean_distance
    assert (csr.exact, csr.bound, csr.n_distances) == (dense.exact, dense.bound, dense.n_distances)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_medoids_of_clusters_are_those_of_dense_rows(metric):
    x, labels = counts(1500, 60), np.arange(1500) % 3
    dense, csr = (medoid(rows, labels=labels, metric=metric, rng=1)
                  for rows in (x, sparse.csr_array(x)))
    assert dense.indices.tolist() == csr.indices.tolist()


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_kmedoids_are_those_of_dense_rows(metric, n_threads):
    x = counts(1500, 60)
    weights = np.random.default_rng(0).integers(3, size=1500)
    dense = kmedoids(x, 6, metric=metric, weights=weights, rng=1)
    csr = kmedoids(sparse.csr_array(x), 6, metric=metric, weights=weights, rng=1,
                   n_threads=n_threads)
    assert dense.indices.tolist() == csr.indices.tolist() and dense.inertia == csr.inertia
    assert (dense.labels == csr.labels).all() and dense.n_distances == csr.n_distances


def test_other_formats_are_converted():
    x = counts(300, 40)
    expected = medoid(x, rng=1).index
    unsorted = sparse.csr_array(x)[:, ::-1][:, ::-1]
    doubled = sparse.coo_array(x)
    doubled = sparse.coo_array((np.tile(doubled.data / 2, 2), np.tile(doubled.coords, 2)), x.shape)
    for rows in (sparse.csr_matrix(x), sparse.csc_array(x), sparse.lil_array(x), unsorted, doubled):
        before = rows.copy()
        assert medoid(rows, rng=1).index == expected
        assert (rows != before).nnz == 0 and rows.nnz == before.nnz  # not changed
    full = np.random.default_rng(0).normal(size=(300, 40))
    assert medoid(sparse.csr_array(full), rng=1).index == medoid(full, rng=1).index
    assert medoid(sparse.csr_array((300, 40)), rng=1).index == 0


def test_integers_and_bits_are_taken():
    x = (counts(400, 50) > 0)
    for dtype in (bool, np.int8, np.int64, np.float16):
        rows = x.astype(dtype) if dtype is not np.float16 else x.astype(np.float32)
        assert (medoid(sparse.csr_array(rows), metric="hamming", rng=1).index
                == medoid(x, metric="hamming", rng=1).index)


def broken(change):
    rows = sparse.csr_array(counts(40, 30))
    change(rows)
    return rows


def set_entry(name, at, value):
    def change(rows):
        getattr(rows, name)[at] = value

    return change


@pytest.mark.parametrize("rows, message", [
    (broken(set_entry("data", 3, np.nan)), "must be finite; got .*nan.* in row 1"),
    (broken(set_entry("data", -1, np.inf)), "must be finite; got .*inf.* in row 3"),
    (broken(set_entry("indices", 3, 30)), "valid sparse array; got columns"),
    (broken(set_entry("indices", 3, -1)), "valid sparse array; got columns -1"),
    (broken(set_entry("indptr", 4, 10**6)), "valid sparse array; got positions"),
    (broken(set_entry("indptr", -1, 10**6)), "index pointer|got positions"),
    (sparse.csr_array(np.ones((2, 3), complex)), "real numbers"),
    (sparse.coo_array(np.ones(20)), "must have shape"),
])
def test_invalid_sparse_rows_are_rejected(rows, message):
    for call in (lambda: medoid(rows), lambda: kmedoids(rows, 2)):
        with pytest.raises((TypeError, ValueError), match=message):
            call()


@pytest.mark.parametrize("value", [2**31 - 1, -2**31, 59, 0])
def test_columns_that_change_later_do_not_crash(value):
    """Another thread may write to the arrays after they were checked."""
    rows = sparse.csr_array(counts(300, 60))
    distances = Distances(as_rows("X", rows), METRICS["euclidean"])
    rows.indices[::3] = value
    assert np.isfinite(distances.block(np.arange(300), np.arange(300))).all()
    stage = Stage(distances, np.arange(300), np.arange(4), None, 1e-3, Team(1))
    stage.run(2)
    assert 0 <= stage.labels().min() <= stage.labels().max() < 4
    Planes(distances, None, np.arange(300)).cut(0)


def test_rows_never_become_dense():
    rows = sparse.random_array((3000, 4000), density=0.005, format="csr", dtype=np.float32,
                               rng=np.random.default_rng(0))
    one_tenth = rows.shape[0] * rows.shape[1] * 4 // 10
    for call in (lambda: medoid(rows, rng=1), lambda: medoid(rows, metric="manhattan", rng=1)):
        tracemalloc.start()
        call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < one_tenth, peak


def test_estimator_takes_sparse_rows():
    pytest.importorskip("sklearn")
    from pybandit.cluster import KMedoids

    x = counts(500, 60)
    dense, csr = (KMedoids(5, random_state=1).fit(rows) for rows in (x, sparse.csr_array(x)))
    assert dense.medoid_indices_.tolist() == csr.medoid_indices_.tolist()
    assert (dense.cluster_centers_ == csr.cluster_centers_).all()
    new, pick = counts(90, 60, seed=1), sparse.csc_array(counts(90, 60, seed=1))
    assert (dense.predict(new) == csr.predict(pick)).all()
    assert (dense.transform(new) == csr.transform(pick)).all()
    assert dense.score(new) == csr.score(pick)
    with pytest.raises(TypeError, match="[Ss]parse"):
        KMedoids(2, metric="precomputed").fit(sparse.csr_array(x @ x.T))
