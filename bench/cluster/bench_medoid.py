"""Time of medoids and of their distances, compared with all pairs, scikit-learn and races.

Run with ``make bench``. Rivals do the same job on the same data; the first role of a group is
the limit if none is a rival.
"""

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances

import pybandit as pb
from pybandit.cluster import medoid
from pybandit.cluster._distances import Distances
from pybandit.cluster._find import first_anchor
from pybandit.cluster._planes import Planes
from pybandit.cluster._rows import METRICS
from pybandit.cluster._sums import full_sums

from native import size

N_CANDIDATES, N_REFERENCES = 512, 4096
POINTS = size(20_000, 600)
MANY = size(1_000_000, 3000)


def gauss(n, d):
    return np.random.default_rng(0).normal(size=(n, d)).astype(np.float32)


@pytest.mark.parametrize("d", [2, 20, 100])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("role", ["scikit-learn pairwise_distances", "tiles"])
def test_distances(timed, d, metric, role):
    """One distance of float32 rows; scikit-learn multiplies matrices if they are Euclidean."""
    x = gauss(N_REFERENCES, d)
    group, per = f"a {metric} distance of {d} columns", N_CANDIDATES * N_REFERENCES
    if role == "tiles":
        source, some = Distances(x, METRICS[metric]), np.arange(N_CANDIDATES)
        timed(group, role, lambda: full_sums(source, None, some), per=per, rounds=20)
        return
    timed(group, role, lambda: pairwise_distances(x[:N_CANDIDATES], x, metric=metric).sum(axis=1),
          per=per, rounds=20)


@pytest.mark.parametrize("role", ["plain all pairs by the same kernel", "Python race by pb.race",
                                  "medoid by bets", "medoid by Student's bound"])
def test_medoid(timed, role):
    """Normal points with 100 columns."""
    x, group = gauss(POINTS, 100), f"the medoid of {POINTS} points, 100 columns"
    if role.startswith("plain"):
        source, everyone = Distances(x, METRICS["euclidean"]), np.arange(POINTS)
        timed(group, role, lambda: full_sums(source, None, everyone), rounds=2)
    elif role.startswith("Python"):
        def minus_distances(j, i):
            return -pairwise_distances(x[j], x[i]).astype(float)

        factors = pb.Factors(minus_distances, POINTS, POINTS)
        timed(group, role, lambda: pb.race(factors, rng=1), rounds=3)
    else:
        bound = "betting" if "bets" in role else "student"
        timed(group, role, lambda: medoid(x, bound=bound, rng=1), rounds=10)


@pytest.mark.parametrize("role", ["race", "cutting planes"])
def test_planes(timed, role):
    """Uniform points in the plane; the race is wrong with a small probability, planes never."""
    x = np.random.default_rng(0).random((MANY, 2)).astype(np.float32)
    group = f"the medoid of {MANY} points in the plane"
    source = Distances(x, METRICS["euclidean"])
    if role == "race":
        wide = np.hstack([x, np.zeros((MANY, 9), np.float32)])  # 11 columns start without planes
        timed(group, role, lambda: medoid(wide, rng=1), rounds=3)
        return

    class Asked:
        distances, weights = source, None

    def cut():
        planes = Planes(source, None, np.arange(MANY))
        assert planes.run(first_anchor(Asked), 8, 0.5, MANY)

    timed(group, role, cut, rounds=3)


@pytest.mark.parametrize("metric", ["sqeuclidean", "cosine", "hamming", "manhattan"])
def test_separable_sums(timed, metric):
    """Exact medoids of metrics whose sums separate by column."""
    n = size(100_000, 2500)
    x = gauss(n, 20) if metric != "hamming" else (gauss(n, 20) > 0).astype(np.float32)
    timed(f"the exact medoid of {n} points, 20 columns", metric,
          lambda: medoid(x, metric=metric, exact=True, rng=1), rounds=3)
