"""Time and loss of k-medoids, compared with FasterPAM, OneBatchPAM and the bare distances.

Run with ``make bench``. Rivals are optional: ``pip install kmedoids onebatch``. FasterPAM needs
the matrix of all distances, which is timed apart. The bare distances are as many as ours
measured, by the same kernel, from one row to each tile of 64: the least that they can take.
"""

import numpy as np
import pytest

import pybandit as pb
from pybandit.cluster._sources import as_distances

from native import size

# kind, rows, columns, clusters: tables of docs/medoids.md
CASES = size([("blobs", 10_000, 100, 10), ("gauss", 10_000, 20, 10), ("blobs", 10_000, 20, 50)],
             [("gauss", 1200, 5, 5)])
LARGE = size([("blobs", 50_000, 100, 10), ("blobs", 50_000, 100, 50), ("blobs", 200_000, 20, 10)],
             [("blobs", 1500, 5, 4)])
SEED = 0
AT_ONCE = 512  # rows per block of bare distances


def rows(kind, n, d):
    """Return rows of float32: ten blobs, or one normal distribution."""
    rng = np.random.default_rng(0)
    if kind == "blobs":
        centers = rng.normal(size=(10, d)) * 4
        return (centers[rng.integers(10, size=n)] + rng.normal(size=(n, d))).astype(np.float32)
    return rng.normal(size=(n, d)).astype(np.float32)


def of(case):
    kind, n, d, k = case
    return f"{k} medoids of {n} {kind}, {d} columns"


def bare_distances(X, count):
    """Return a function that measures `count` distances between rows of X."""
    distances = as_distances(X, None, "euclidean")[0]
    rng = np.random.default_rng(1)
    references = rng.permutation(len(X))[:AT_ONCE]
    candidates = rng.integers(len(X), size=max(1, count // AT_ONCE))
    return lambda: distances.block(candidates, references)


@pytest.mark.parametrize("case", CASES, ids=of)
@pytest.mark.parametrize("role", ["bare distances", "FasterPAM", "matrix of distances",
                                  "kmedoids"])
def test_against_faster_pam(timed, case, role):
    """FasterPAM reads the matrix, and swaps as soon as a candidate gains."""
    kind, n, d, k = case
    X = rows(kind, n, d)
    if role == "kmedoids":
        timed(of(case), role, lambda: pb.cluster.kmedoids(X, k, rng=SEED), rounds=5)
    elif role == "bare distances":
        count = pb.cluster.kmedoids(X, k, rng=SEED).n_distances
        timed(of(case), role, bare_distances(X, count), rounds=5, is_ours=False)
    else:
        rival = pytest.importorskip("kmedoids")
        metrics = pytest.importorskip("sklearn.metrics")
        if role == "matrix of distances":
            timed(of(case), role, lambda: metrics.pairwise_distances(X), rounds=2,
                  is_ours=False)
            return
        matrix = metrics.pairwise_distances(X)
        timed(of(case), role, lambda: rival.fasterpam(matrix, k, random_state=SEED, n_cpu=1),
              rounds=2, is_ours=False)


@pytest.mark.parametrize("case", CASES + LARGE, ids=of)
@pytest.mark.parametrize("role", ["OneBatchPAM", "kmedoids"])
def test_against_one_batch(timed, case, role):
    """OneBatchPAM reads the distances from all rows to one sample."""
    kind, n, d, k = case
    X, group = rows(kind, n, d), f"{of(case)}, one batch"
    if role == "kmedoids":
        timed(group, role, lambda: pb.cluster.kmedoids(X, k, rng=SEED), rounds=3)
        return
    onebatch = pytest.importorskip("onebatch")
    timed(group, role, lambda: onebatch.OneBatchPAM(k, random_state=SEED).fit(X), rounds=2,
          is_ours=False)
