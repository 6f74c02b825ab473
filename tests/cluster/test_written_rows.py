"""Rows that another thread writes to after they were checked: no crash, and indices in range."""

import sys

import numpy as np
import pytest

from pybandit.cluster import kmedoids, medoid, partition

from cluster.data import data

METRICS = ["euclidean", "manhattan", "sqeuclidean", "hamming", "cosine", "precomputed"]
ODD = [np.nan, np.inf, 3e38, -1.0]


@pytest.fixture
def written(monkeypatch):
    """Return a function that lets calls write to the rows between the check and the first read."""
    def let(value, places):
        for module in (partition, sys.modules["pybandit.cluster.medoid"]):
            original = module.as_distances

            def as_distances(*arguments, original=original):
                made = original(*arguments)
                made[0].rows.flat[places] = value
                return made

            monkeypatch.setattr(module, "as_distances", as_distances)

    return let


def rows_of(metric, n, d=4):
    x = data("dups" if metric == "hamming" else "gauss", n, d)
    return np.abs(x[:, None] - x[None]).sum(axis=2) if metric == "precomputed" else x


def answer(call):
    """Return the result of a call, or None if it refuses the distances."""
    try:
        with np.errstate(all="ignore"):
            return call()
    except (ValueError, IndexError) as error:
        assert "must be finite" in str(error), error
        return None


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("places", [slice(None), slice(0, None, 3), slice(17, 18)],
                         ids=["all", "third", "one"])
def test_clusters_stay_in_range(written, metric, value, places):
    x = rows_of(metric, 300)
    written(value, places)
    for k in (1, 2, 9, 300):
        found = answer(lambda k=k: kmedoids(x.copy(), k, metric=metric, rng=1, max_iter=2))
        if found is not None:
            assert 0 <= found.indices.min() <= found.indices.max() < 300
            assert 0 <= found.labels.min() <= found.labels.max() < k


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("places", [slice(None), slice(0, None, 3), slice(17, 18)],
                         ids=["all", "third", "one"])
def test_medoids_stay_in_range(written, metric, value, places):
    written(value, places)
    for n, d in ((50, 4), (300, 4), (300, 12), (2100, 12)):
        if metric == "precomputed" and n > 300:
            continue
        x = rows_of(metric, n, d)
        for exact in (False, True):
            found = answer(lambda x=x, exact=exact: medoid(x.copy(), metric=metric, exact=exact,
                                                           rng=1))
            assert found is None or 0 <= found.index < n
