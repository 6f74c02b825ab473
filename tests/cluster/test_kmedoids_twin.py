"""k-medoids have the medoids of the reference implementation for the same seed."""

import numpy as np
import pytest

from pybandit.cluster import kmedoids

from cluster.reference import kmedoids as reference
from cluster.test_kmedoids import DATA, RNG, exact_loss


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", DATA)
def test_same_medoids_as_reference_for_same_seed(kind, seed):
    X, k = DATA[kind]
    stage, n_swaps = reference.kmedoids(reference.row_distance(X), len(X), k, seed=seed)
    result = kmedoids(X, k, rng=seed)
    assert result.indices.tolist() == stage.medoids.tolist()
    assert result.n_swaps == n_swaps and result.converged
    labels = np.empty(len(X), dtype=int)
    labels[stage.rows] = stage.nearest
    assert result.labels.tolist() == labels.tolist()
    assert result.inertia == pytest.approx(stage.loss, rel=1e-12)


@pytest.mark.parametrize("metric", ["manhattan", "sqeuclidean", "hamming"])
def test_other_metrics_follow_reference(metric):
    X, k = DATA["integers"][0][:500], 8
    stage, _ = reference.kmedoids(reference.row_distance(X, metric), len(X), k, seed=1)
    assert kmedoids(X, k, metric=metric, rng=1).indices.tolist() == stage.medoids.tolist()


def test_weights_follow_reference():
    X, k = DATA["unif"]
    weights = RNG.integers(0, 4, len(X)).astype(float)
    stage, _ = reference.kmedoids(reference.row_distance(X), len(X), k, weights, seed=2)
    result = kmedoids(X, k, weights=weights, rng=2)
    assert result.indices.tolist() == stage.medoids.tolist()
    assert result.inertia == pytest.approx(exact_loss(X, result, weights=weights), rel=1e-12)
