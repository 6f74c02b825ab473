"""k-medoids: swaps as in the reference implementation, exact losses, threads, edge cases."""

import tracemalloc

import numpy as np
import pytest

import pybandit as pb
from pybandit.cluster import kmedoids
from pybandit.cluster._fit import fit, stage_sizes
from pybandit.cluster._sources import as_distances

from cluster.reference import kmedoids as reference

RNG = np.random.default_rng(0)
DATA = {
    "gauss": (RNG.normal(size=(1200, 6)), 5),
    "unif": (RNG.random((1200, 2)), 12),
    "integers": (RNG.poisson(1.5, (1200, 5)).astype(float), 8),
}


def exact_loss(X, result, metric="euclidean", weights=None):
    """Return the loss of the medoids of a result, computed from the rows."""
    distance = reference.row_distance(X, metric)
    nearest = distance(result.indices, np.arange(len(X))).min(axis=0)
    return nearest.sum() if weights is None else weights @ nearest


def largest_gain(X, result, weights=None):
    """Return the largest gain of a single swap, over all rows and clusters."""
    stage = reference.Stage(reference.row_distance(X), np.arange(len(X)), result.indices, weights,
                            0)
    return max(stage.exact_gains(i).max() for i in range(len(X)))


def test_equal_weights_follow_reference_without_weights():
    """Weights scale the loss only, once the first medoids are given."""
    X, k = DATA["gauss"]
    results = [kmedoids(X, k, weights=weights, init=np.arange(k), rng=0)
               for weights in (None, np.full(len(X), 4.0))]
    assert results[0].indices.tolist() == results[1].indices.tolist()
    assert results[1].inertia == 4 * results[0].inertia


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "sqeuclidean", "hamming", "cosine"])
def test_inertia_is_exact(dtype, metric):
    X = (DATA["gauss"][0] + 3).astype(dtype)
    if metric == "hamming":
        X = np.round(X)
    result = kmedoids(X, 7, metric=metric, rng=0)
    if metric == "cosine":
        unit = X / np.linalg.norm(X.astype(float), axis=1, keepdims=True)
        expected = (1 - unit @ unit[result.indices].T).min(axis=1).sum()
    else:
        expected = exact_loss(X, result, metric)
    assert result.inertia == pytest.approx(expected, rel=1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_do_not_change_a_bit(n_threads):
    X = RNG.normal(size=(9000, 3)).astype(np.float32)
    one, many = (kmedoids(X, 9, rng=5, n_threads=n) for n in (1, n_threads))
    assert one.indices.tolist() == many.indices.tolist()
    assert (one.labels == many.labels).all()
    assert (one.inertia, one.n_swaps, one.n_distances, one.n_iter) == (
        many.inertia, many.n_swaps, many.n_distances, many.n_iter)


def test_every_swap_lowers_the_loss():
    X = (RNG.normal(size=(3000, 4)) * RNG.pareto(1.2, size=(3000, 1))).astype(np.float32)
    distances, losses = as_distances(X, None, "euclidean")[0], []
    for most in range(1, 6):
        losses.append(fit(distances, 10, None, np.random.default_rng(0), max_iter=most).loss)
    assert losses == sorted(losses, reverse=True)
    stage, _ = reference.kmedoids(reference.row_distance(X[:1000]), 1000, 10, seed=0)
    assert (np.diff(stage.losses) < 0).all()


def test_no_single_swap_gains_if_samples_cover_all_points():
    for seed in range(3):
        X = np.random.default_rng(seed).random((300, 2))
        result = kmedoids(X, 6, rng=seed)
        assert largest_gain(X, result) <= 1e-3 / 6 * result.inertia * (1 + 1e-9)


def test_few_swaps_are_overlooked():
    """With 5,000 rows, samples do not cover all points: some gains are overlooked, not many."""
    X = np.random.default_rng(0).normal(size=(5000, 5))
    result = kmedoids(X, 10, rng=0)
    assert largest_gain(X, result) <= 2e-3 * result.inertia


def test_rare_far_cluster_is_found():
    X = RNG.normal(size=(6000, 10)).astype(np.float32)
    X[:30] += 40
    for seed in range(3):
        result = kmedoids(X, 4, rng=seed)
        assert len({*result.labels[:30]}) == 1 and (result.labels == result.labels[0]).sum() == 30


def test_several_fits_return_the_best():
    X = DATA["unif"][0]
    rng = np.random.default_rng(4)
    best = min(kmedoids(X, 12, rng=rng).inertia for _ in range(4))
    assert kmedoids(X, 12, rng=np.random.default_rng(4), n_init=4).inertia == best


def test_first_medoids_may_be_given():
    X, k = DATA["gauss"]
    result = kmedoids(X, k, init=[9, 8, 7, 6, 5], rng=0)
    assert result.inertia == pytest.approx(exact_loss(X, result), rel=1e-12)
    again = kmedoids(X, k, init=result.indices, rng=1)
    assert again.inertia <= result.inertia * (1 + 1e-12)


def test_functions_and_matrices_give_the_medoids_of_rows():
    X, k = DATA["gauss"][0][:400], 5
    distance = reference.row_distance(X)
    matrix = distance(np.arange(400), np.arange(400))
    shapes = []

    def function(i, j):
        assert i.dtype == j.dtype == np.int64
        shapes.append((i.size, j.size))
        return matrix[np.ix_(i, j)]

    rows = kmedoids(X, k, rng=3)
    for one in (kmedoids(function, k, n=400, rng=3), kmedoids(matrix, k, metric="precomputed",
                                                              rng=3)):
        assert one.indices.tolist() == rows.indices.tolist()
        assert (one.labels == rows.labels).all()
        assert one.inertia == pytest.approx(rows.inertia, rel=1e-12)
    assert max(j for _, j in shapes) == 64 and min(shapes) > (0, 0)


def test_distances_are_from_medoids_to_points_if_they_are_not_symmetric():
    matrix = RNG.random((200, 200)) + 0.5
    np.fill_diagonal(matrix, 0)
    result = kmedoids(matrix, 4, metric="precomputed", rng=0)
    assert result.inertia == pytest.approx(matrix[result.indices].min(axis=0).sum(), rel=1e-12)
    assert (result.labels == matrix[result.indices].argmin(axis=0)).all()
    assert result.inertia < matrix.T[result.indices].min(axis=0).sum()


@pytest.mark.parametrize("bad, message", [
    (np.nan, "finite and at least 0; got nan"), (np.inf, "got inf"), (-1.0, "got -1.0")])
def test_invalid_distances_are_refused_with_their_pair(bad, message):
    matrix = np.ones((300, 300))
    np.fill_diagonal(matrix, 0)
    matrix[7] = bad
    with pytest.raises(ValueError, match=message) as raised:
        kmedoids(matrix, 3, metric="precomputed", rng=0)
    assert "from point 7" in str(raised.value)
    with pytest.raises(ValueError, match=message):
        kmedoids(lambda i, j: matrix[np.ix_(i, j)], 3, n=300, rng=0)


def test_errors_of_a_function_reach_the_caller():
    def function(i, j):
        raise KeyError("no such point")

    with pytest.raises(KeyError, match="no such point"):
        kmedoids(function, 3, n=100)


def test_equal_rows_have_loss_zero():
    result = kmedoids(np.ones((50, 2)), 3, rng=0)
    assert result.inertia == 0 and (result.labels == 0).all()
    assert len({*result.indices.tolist()}) == 3 and result.n_swaps == 0


def test_fewer_different_rows_than_clusters():
    X = np.repeat(np.eye(3), 20, axis=0)
    result = kmedoids(X, 5, rng=0)
    assert result.inertia == 0 and len({*result.indices.tolist()}) == 5
    for label in set(result.labels.tolist()):
        equal = (X[result.indices] == X[result.indices[label]]).all(axis=1)
        assert label == np.flatnonzero(equal)[0]
    assert len({*result.labels.tolist()}) == 3


def test_one_cluster_is_the_medoid():
    X = DATA["gauss"][0][:200]
    result = kmedoids(X, 1, rng=0)
    totals = reference.row_distance(X)(np.arange(200), np.arange(200)).sum(axis=1)
    assert result.indices.tolist() == [totals.argmin()] and (result.labels == 0).all()
    assert result.inertia == pytest.approx(totals.min(), rel=1e-12)


def test_as_many_clusters_as_rows():
    X = np.array([[0.0], [1.0], [1.0], [5.0]])
    result = kmedoids(X, 4, rng=0)
    assert result.indices.tolist() == [0, 1, 2, 3] and result.labels.tolist() == [0, 1, 1, 3]
    assert result.inertia == 0 and result.n_swaps == 0


def test_rows_without_weight_can_be_medoids_and_cost_nothing():
    X = np.array([[0.0], [0.4], [1.0], [10.0], [10.1], [50.0]])
    weights = [1, 0, 1, 1, 0, 0]
    result = kmedoids(X, 2, weights=weights, rng=0)
    assert {*result.indices.tolist()} <= {0, 1, 2, 3, 4}
    assert result.inertia == pytest.approx(1.0)


@pytest.mark.parametrize("arguments, error, message", [
    (dict(n_clusters=0), ValueError, "n_clusters must be at least 1; got 0"),
    (dict(n_clusters=11), ValueError, "n_samples = 10; got 11"),
    (dict(metric="chebyshev"), ValueError, "metric must be one of"),
    (dict(weights=np.zeros(10)), ValueError, "weights must not all be 0"),
    (dict(weights=-np.ones(10)), ValueError, "weights must be finite and at least 0"),
    (dict(weights=np.ones(9)), ValueError, r"weights must have shape \(10,\)"),
    (dict(init="random"), ValueError, "init must be one of 'k-medoids\\+\\+'"),
    (dict(init=[1, 1]), ValueError, "init must be n_clusters = 2 different rows"),
    (dict(init=[1, 10]), ValueError, r"init must be in \[0, 10\)"),
    (dict(n_init=0), ValueError, "n_init must be at least 1"),
    (dict(max_iter=0), ValueError, "max_iter must be at least 1"),
    (dict(tol=-1.0), ValueError, "tol must be finite and at least 0"),
    (dict(n_threads=0), ValueError, "n_threads must be at least 1"),
    (dict(n=10), TypeError, "n must be given with a function of indices only"),
    (dict(X=np.ones(10)), ValueError, "X must have shape"),
    (dict(X=[[0.0], [np.nan]]), ValueError, "X must be finite; got .* in row 1"),
    (dict(X=lambda i, j: 0), TypeError, "n, the number of points, must be given"),
])
def test_bad_arguments_are_named(arguments, error, message):
    given = dict(X=np.arange(20.0).reshape(10, 2), n_clusters=2) | arguments
    with pytest.raises(error, match=message):
        kmedoids(given.pop("X"), given.pop("n_clusters"), **given)


def test_stages_grow_by_four():
    assert stage_sizes(300, 5) == [300] and stage_sizes(1024, 5) == [1024]
    assert stage_sizes(20_000, 5) == [1024, 4096, 16_384, 20_000]
    assert stage_sizes(20_000, 50) == [3200, 12_800, 20_000]


def test_unfinished_fit_says_so():
    X = RNG.random((3000, 2))
    result = kmedoids(X, 20, max_iter=1, rng=0)
    assert not result.converged and result.n_iter == 1
    assert result.inertia == pytest.approx(exact_loss(X, result), rel=1e-12)


def test_memory_map_gives_the_same(tmp_path):
    X = RNG.normal(size=(2000, 5)).astype(np.float32)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert kmedoids(mapped, 4, rng=0).indices.tolist() == kmedoids(X, 4, rng=0).indices.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_files_and_blocks_give_the_same(tmp_path, dtype):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    X = RNG.normal(size=(2000, 3)).astype(dtype)
    table = pa.table({name: X[:, i] for i, name in enumerate("abc")})
    parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=300)
    expected = kmedoids(X, 4, rng=0)
    blocks = pb.tables.Blocks.open(str(tmp_path / "rows.parquet"))
    for given in (tmp_path / "rows.parquet", blocks):
        result = kmedoids(given, 4, rng=0)
        assert result.indices.tolist() == expected.indices.tolist()
        assert result.inertia == expected.inertia  # float32 stays float32


def test_progress_counts_stages(capsys):
    pytest.importorskip("tqdm")
    kmedoids(RNG.random((5000, 2)), 3, rng=0, progress=True)
    text = capsys.readouterr().err
    assert "kmedoids: 3 stage" in text and "5,000 points" in text


def test_result_is_shown_in_one_line():
    result = pb.cluster.kmedoids(DATA["gauss"][0], 5, rng=0)
    assert repr(result).startswith("<KMedoidsResult: 5 medoids of 1,200 rows, inertia ")
    assert result.summary().endswith(" swaps.") and result.to_dict()["n_swaps"] == result.n_swaps


def test_memory_is_a_copy_of_the_rows_and_64_bytes_per_row():
    n, d, k = 150_000, 16, 10
    X = np.random.default_rng(0).normal(size=(n, d)).astype(np.float32)
    kmedoids(X[:2000], k, rng=0)
    tracemalloc.start()
    kmedoids(X, k, rng=0, max_iter=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.2 * X.nbytes + 64 * n + 16_384 * 4 * d + 8 * k * k, peak
