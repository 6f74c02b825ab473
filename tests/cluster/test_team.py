"""Threads that wait for jobs of a fit end with it, however it ends."""

import os

import numpy as np
import pytest

from pybandit.cluster import kmedoids
from pybandit.cluster._team import Team

from cluster.data import data

TASKS = "/proc/self/task"
pytestmark = pytest.mark.skipif(not os.path.isdir(TASKS), reason="needs the threads of Linux")


def n_threads():
    return len(os.listdir(TASKS))


def test_helpers_run_during_the_call_only():
    before, team = n_threads(), Team(4)
    assert team.during(lambda own: (own is team, n_threads() - before)) == (True, 3)
    assert n_threads() == before


def test_helpers_end_after_an_exception():
    def fail(team):
        raise KeyError(team.n_threads)

    before = n_threads()
    with pytest.raises(KeyError, match="3"):
        Team(3).during(fail)
    assert n_threads() == before


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_error_is_that_of_the_first_bad_distance(threads):
    """Threads find several bad distances; the one of the first part is reported."""
    x = data("gauss", 5000, 2).astype(float)
    matrix = np.sqrt(((x[:, None, :] - x) ** 2).sum(axis=2))
    matrix[7] = np.nan
    before, errors = n_threads(), []
    for count in (1, threads):
        with pytest.raises(ValueError, match="finite") as caught:
            kmedoids(matrix, 3, metric="precomputed", init=[7, 8, 9], rng=0, n_threads=count)
        errors.append(str(caught.value))
    assert errors[0] == errors[1] and n_threads() == before


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("k", [3, 40])
def test_threads_change_no_result(threads, k):
    x = data("blobs", 9000, 5)
    one, many = (kmedoids(x, k, rng=3, n_threads=count) for count in (1, threads))
    for name in ("indices", "labels", "inertia", "n_iter", "n_swaps", "n_distances"):
        assert np.array_equal(getattr(one, name), getattr(many, name))
