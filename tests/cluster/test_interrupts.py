"""Ctrl-C ends a fit soon, and leaves no trace: the next fit has the usual result."""

import os
import time

import numpy as np
import pytest

pytest.importorskip("sklearn")

from pybandit.cluster import KMedoids, kmedoids  # noqa: E402

from betting.interrupts import alarms, interruption  # noqa: E402

MOMENTS = [3, pytest.param(int(os.environ.get("PYBANDIT_MOMENTS", 1000)), marks=pytest.mark.slow)]
X = np.random.default_rng(0).normal(size=(3000, 3)).astype(np.float32)
DISTANCES = np.abs(X[:200, :1] - X[:200, 0])


def at_moments(moments, call, check):
    """Interrupt `call` at random moments, and call `check` after some of them."""
    start, came, rng = time.perf_counter(), 0, np.random.default_rng(moments)
    call()
    length = time.perf_counter() - start
    while came < moments:
        came += interruption(1e-6 + length * rng.random(), call) is not None
        if came % 20 == 0 or moments < 20:
            check()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("moments", MOMENTS)
def test_ctrl_c_in_fit_leaves_no_trace(moments, n_jobs):
    one = KMedoids(8, random_state=1, n_jobs=n_jobs)
    expected = one.fit(X).labels_

    def check():
        assert (one.fit(X).labels_ == expected).all()

    at_moments(moments, lambda: one.fit(X), check)


@pytest.mark.parametrize("moments", MOMENTS)
def test_ctrl_c_reaches_the_caller_of_a_function(moments):
    def distance(i, j):
        return DISTANCES[np.ix_(i, j)]

    expected = kmedoids(distance, 3, n=200, rng=1).indices.tolist()

    def check():
        assert kmedoids(distance, 3, n=200, rng=1).indices.tolist() == expected

    at_moments(moments, lambda: kmedoids(distance, 3, n=200, rng=1), check)


def test_interrupted_first_fit_leaves_the_estimator_unfitted():
    one = KMedoids(8, random_state=1)
    assert interruption(1e-4, one.fit, X) is not None
    assert not any(name.endswith("_") for name in vars(one) if not name.startswith("n_features"))


@pytest.fixture(autouse=True)
def _alarms():
    with alarms():
        yield
