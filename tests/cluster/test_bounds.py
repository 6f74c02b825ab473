"""References that are left out by the triangle inequality change no result of k-medoids."""

import numpy as np
import pytest

from pybandit.cluster import kmedoids
from pybandit.cluster._distances import Distances
from pybandit.cluster._rows import METRICS, as_rows, unit_rows

from cluster.data import data


def matrix_of(x, metric):
    """Return all distances, with the bits that `kmedoids` computes."""
    rows = as_rows("X", x)
    rows = unit_rows(rows) if metric == "cosine" else rows
    every = np.arange(len(x))
    distances = Distances(rows, METRICS[metric])
    return np.concatenate([distances.block(part, every) for part in np.array_split(every, 20)])


def assert_same(rows, whole):
    for name in ("indices", "labels", "inertia", "n_swaps", "n_iter"):
        assert np.array_equal(getattr(rows, name), getattr(whole, name))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "hamming", "cosine"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bounds_change_no_result(dtype, metric, weighted):
    """Bounds are not used for a matrix, of which all distances are read."""
    x = data("dups" if metric == "hamming" else "blobs", 1500, 8)
    x[100:200] = x[:100]
    x = x.astype(dtype)
    weights = np.random.default_rng(1).integers(0, 3, len(x)) if weighted else None
    matrix = matrix_of(x, metric)
    for seed in range(2):
        rows = kmedoids(x, 25, metric=metric, weights=weights, rng=seed)
        whole = kmedoids(matrix, 25, metric="precomputed", weights=weights, rng=seed)
        assert_same(rows, whole)
        assert rows.n_distances <= whole.n_distances
        if metric != "hamming":
            assert rows.n_distances < 0.6 * whole.n_distances


@pytest.mark.parametrize("scale", [1e-30, 1e-21, 1e-18, 1e15, 1e18])
@pytest.mark.parametrize("offset", [0.0, 300.0])
def test_bounds_cover_rounding(scale, offset):
    """Squares that underflow, large ones, and copies with noise of a few last digits."""
    x = data("blobs", 700, 4)
    x[300:600] = x[:300] * (1 + 1e-6 * np.random.default_rng(2).normal(size=(300, 4)))
    x = ((x + offset) * scale).astype(np.float32)
    assert_same(kmedoids(x, 20, rng=0), kmedoids(matrix_of(x, "euclidean"), 20,
                                                 metric="precomputed", rng=0))
