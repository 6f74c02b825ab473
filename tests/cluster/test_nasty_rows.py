"""k-medoids and medoids on difficult rows, and the sizes at which the method changes."""

import numpy as np
import pytest

from pybandit.cluster import kmedoids, medoid

from cluster.data import data
from cluster.reference import kmedoids as reference

# kind, metric, columns, clusters
NASTY = [("heavyrow", "euclidean", 10, 10), ("heavy", "euclidean", 10, 12),
         ("rare", "euclidean", 10, 11), ("dups", "manhattan", 5, 12), ("unif", "euclidean", 2, 12),
         ("gauss", "sqeuclidean", 10, 10), ("bits", "hamming", 30, 8)]


def noisy_copies(noise, n=1000):
    rng = np.random.default_rng(8)
    centers = rng.normal(size=(20, 10))
    return np.repeat(centers, n // 20, axis=0) + noise * rng.normal(size=(n, 10))


def check(X, result, k, metric="euclidean"):
    """Compare labels and inertia with distances from the rows; return the distances."""
    to_medoids = reference.row_distance(X, metric)(result.indices, np.arange(len(X)))
    assert len(set(result.indices.tolist())) == k
    at = to_medoids[result.labels, np.arange(len(X))]
    assert np.allclose(at, to_medoids.min(axis=0), rtol=1e-5, atol=1e-6 * to_medoids.max())
    assert result.inertia == pytest.approx(at.sum(), rel=1e-5, abs=1e-9 * at.size)


def local_optimum(X, k, metric, seed):
    """Return the loss of eager swaps whose gains are all computed from all rows."""
    distance = reference.row_distance(X, metric)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(X))
    stage = reference.Stage(distance, rows, reference.first_medoids(distance, rows, k, None, rng),
                            None, 1e-3 / k)
    since, i = 0, 0
    while since < len(X):
        since = 0 if stage.verify(i % len(X)) else since + 1
        i += 1
    return stage.loss


@pytest.mark.parametrize("kind, metric, d, k", NASTY)
def test_loss_is_that_of_exact_swaps(kind, metric, d, k):
    X = data(kind, 600, d)
    losses = []
    for seed in range(2):
        result = kmedoids(X, k, metric=metric, rng=seed)
        check(X, result, k, metric)
        losses.append(result.inertia)
    assert np.mean(losses) <= 1.02 * np.mean([local_optimum(X, k, metric, s) for s in range(2)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("noise", [1e-3, 1e-5, 0.0])
def test_one_medoid_per_group_of_copies(dtype, noise):
    X = noisy_copies(noise).astype(dtype)
    result = kmedoids(X, 20, rng=1)
    check(X, result, 20)
    assert sorted(result.indices // 50) == list(range(20))


@pytest.mark.parametrize("k", [2, 20, 30])
def test_copies_of_a_few_rows(k):
    X = noisy_copies(0.0).astype(np.float32)
    result = kmedoids(X, k, rng=1)
    check(X, result, k)
    assert (result.inertia == 0) == (k >= 20)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_far_from_zero(dtype):
    near = data("blobs", 1500, 8).astype(np.float64)
    X = (near + 300).astype(dtype)
    result = kmedoids(X, 10, rng=0)
    check(X, result, 10)
    exact = (X.astype(np.float64) - 300)
    if dtype == np.float64:
        assert result.indices.tolist() == kmedoids(exact, 10, rng=0).indices.tolist()
    assert result.inertia == pytest.approx(kmedoids(exact, 10, rng=0).inertia, rel=1e-3)


@pytest.mark.parametrize("n, is_compared", [(255, True), (256, False)])
def test_few_points_are_compared_in_full(n, is_compared):
    result = medoid(data("gauss", n, 20), rng=0)
    assert (result.n_distances == n * n) == is_compared and result.exact == is_compared


def test_one_row_and_two_rows():
    one, two = kmedoids([[3.0]], 1), kmedoids([[0.0], [4.0]], 1, weights=[1, 3])
    assert (one.indices.tolist(), one.labels.tolist(), one.inertia) == ([0], [0], 0.0)
    assert (two.indices.tolist(), two.labels.tolist(), two.inertia) == ([1], [0, 0], 4.0)
    assert kmedoids([[0.0], [4.0]], 1).indices.tolist() == [0]
    assert kmedoids([[0.0], [4.0]], 2).indices.tolist() == [0, 1]


def test_types_of_results():
    X = data("gauss", 1100, 4)
    found, center = kmedoids(X, 3, rng=0), medoid(X, labels=np.arange(1100) % 2)
    assert found.indices.dtype == center.indices.dtype == np.int64
    assert found.labels.dtype == np.int32 and isinstance(found.inertia, float)
    assert type(medoid(X).index) is int


def test_distances_may_be_asymmetric_without_bets():
    """A matrix has bets only if `triangle`, which means a symmetric one, is claimed."""
    d = np.random.default_rng(0).random((500, 500))
    assert medoid(d, metric="precomputed", rng=0).bound == "student"
    with pytest.raises(ValueError, match="bound must be 'student' unless the triangle"):
        medoid(d, metric="precomputed", bound="betting")
    exact = medoid(d, metric="precomputed", exact=True)
    assert exact.index == d.sum(axis=1).argmin()  # rows are candidates


def test_square_of_huge_rows_is_computed_in_double_precision():
    """The square of a difference fits into float32, but not the sum over 784 columns."""
    X = (5e17 * data("gauss", 300, 784)).clip(-4.9e17, 4.9e17)
    for metric in ("sqeuclidean", "euclidean"):
        assert np.isfinite(medoid(X, metric=metric, rng=0).mean_distance)
        assert np.isfinite(kmedoids(X, 3, metric=metric, rng=0).inertia)
