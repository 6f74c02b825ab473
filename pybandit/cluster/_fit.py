"""Fits of k-medoids: the first medoids, growing stages, and labels of all points."""

import sys
from typing import NamedTuple

import numpy as np

from pybandit.cluster._kmedoids import Stage
from pybandit.cluster._team import Team
from pybandit.cluster._tiles import Sample

FIRST_POINTS = 1024      # points of the first stage; at least FIRST_PER_CLUSTER per cluster
FIRST_PER_CLUSTER = 64
GROWTH = 4               # of the number of points from stage to stage


class Fit(NamedTuple):
    """Medoids and labels, and the work that they took."""

    medoids: np.ndarray
    labels: np.ndarray
    loss: float
    n_iter: int
    n_swaps: int
    n_distances: int
    converged: bool


class StageReport(NamedTuple):
    """Work and loss of a stage, for progress."""

    points: int
    n_iter: int
    n_swaps: int
    mean_distance: float
    distances_per_point: float

    def __str__(self):
        return (f"{self.points:,} points, {self.n_iter} passes, {self.n_swaps} swaps, mean "
                f"distance {self.mean_distance:.6g}, {self.distances_per_point:,.0f} distances "
                "per point")


def stage_sizes(n, k):
    """Return the number of points of each stage."""
    sizes = [min(n, max(FIRST_POINTS, FIRST_PER_CLUSTER * k))]
    while sizes[-1] < n:
        sizes.append(min(n, GROWTH * sizes[-1]))
    return sizes


def fit(distances, k, weights, rng, *, init=None, tol=1e-3, max_iter=50, n_threads=1,
        report=lambda done: None):
    """Return the `Fit` of 2 <= k < n medoids; `weights` is None or float64, shape (n,)."""
    team = Team(1 if distances.rows is None else n_threads)  # a function is called by one
    return team.during(lambda team: _fit(distances, k, weights, rng, init, tol, max_iter, team,
                                         report))


def _fit(distances, k, weights, rng, init, tol, max_iter, team, report):
    order = rng.permutation(distances.n)
    sizes, n_swaps, n_distances = stage_sizes(distances.n, k), 0, 0
    medoids = init
    if init is None:
        sample = Sample(distances, order[:sizes[0]])
        medoids = first_medoids(sample, k, weights, rng)
        n_distances, sample = sample.n_distances, None
    for size in sizes:
        stage = None  # frees its memory
        stage = Stage(distances, order[:size], medoids, weights, tol / k, team)
        if size == distances.n:
            order = None
        n_iter, converged = stage.run(max_iter)
        if size == distances.n:
            stage.polish()
        medoids, n_swaps = stage.medoids, n_swaps + stage.n_swaps
        n_distances += stage.n_distances
        weight = size if weights is None else stage.total_weight
        report(StageReport(size, n_iter, stage.n_swaps, stage.loss / weight,
                           stage.n_distances / size))
    return Fit(medoids, stage.labels(), stage.loss, n_iter, n_swaps, n_distances, converged)


def first_medoids(sample, k, weights, rng):
    """Draw medoids in proportion to the distance from those so far; the best of several each.

    Greedy k-means++ for distances (Arthur and Vassilvitskii 2007), with 2 + floor(log k) trials.
    """
    rows, share = sample.rows, None if weights is None else weights[sample.rows]
    is_left = np.ones(rows.size, dtype=bool)
    # a sample in which no row has a weight is drawn from uniformly
    known = share is not None and share.any()
    first = _draw(share, 1, rng)[0] if known else rng.integers(rows.size)
    chosen, near = [int(rows[first])], _weighted(sample.measure(rows[[first]]), share)[0]
    is_left[first] = False
    while len(chosen) < k:
        if not near.sum() > 0:  # all rows with a weight are copies of chosen rows
            at = int(np.flatnonzero(is_left)[0])
        else:
            trials = _draw(near, 2 + int(np.log(k)), rng)
            nearest = np.minimum(near, _weighted(sample.measure(rows[trials]), share))
            best = int(np.argmin([one.sum() for one in nearest]))
            at, near = trials[best], nearest[best]
        chosen.append(int(rows[at]))
        is_left[at] = False
    return np.array(chosen)


def _weighted(distances, share):
    return distances if share is None else distances * share


def _draw(weights, size, rng):
    """Return positions drawn in proportion to weights, as `Generator.choice` draws them."""
    cumulative = (weights / weights.sum()).cumsum()
    cumulative /= cumulative[-1]
    return cumulative.searchsorted(rng.random(size), side="right")


def print_stage(done):
    """Report a stage on standard output."""
    print(f"[KMedoids] {done}", file=sys.stdout)
