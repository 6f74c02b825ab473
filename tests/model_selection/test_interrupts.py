"""Ctrl-C in a search leaves no trace: the next fit has the result of an uninterrupted one."""

import os
import time

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.linear_model import Ridge  # noqa: E402

from pybandit.model_selection import BanditSearchCV  # noqa: E402

from betting.interrupts import alarms, interruption  # noqa: E402

X = np.random.default_rng(0).normal(size=(40, 3))
GRID = {"alpha": [0.1, 1.0, 10.0, 100.0, 1000.0]}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("moments", [3, pytest.param(int(os.environ.get("PYBANDIT_MOMENTS", 1000)),
                                                     marks=pytest.mark.slow)])
def test_ctrl_c_in_fit_leaves_no_trace(moments):
    search = BanditSearchCV(Ridge(), GRID, cv=3, random_state=1)
    expected = search.fit(X, X[:, 0]).cv_results_["mean_test_score"]
    start, came, rng = time.perf_counter(), 0, np.random.default_rng(moments)
    search.fit(X, X[:, 0])
    length = time.perf_counter() - start
    while came < moments:
        error = interruption(1e-6 + length * rng.random(), search.fit, X, X[:, 0])
        came += error is not None
        if came % 20 == 0 or moments < 20:
            found = search.fit(X, X[:, 0]).cv_results_["mean_test_score"]
            assert np.array_equal(found, expected, equal_nan=True)


@pytest.fixture(autouse=True)
def _alarms():
    with alarms():
        yield
