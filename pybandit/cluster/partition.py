"""k-medoids: k points whose mean distance to the points around them is small."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pybandit._shared.checks import (
    check_choice,
    check_indices,
    check_integer,
    check_scalar,
    shown,
)
from pybandit._shared.generators import as_generator
from pybandit._shared.progress import make_bar
from pybandit._shared.records import Record
from pybandit._shared.types import ArrayLike, Ints, Rng
from pybandit.cluster._assign import assign
from pybandit.cluster._find import Question, find
from pybandit.cluster._fit import fit
from pybandit.cluster._sources import as_distances
from pybandit.cluster.medoid import _check_bound, _check_weights, _scaled

__all__ = ["KMedoidsResult", "kmedoids"]

MOST_THREADS = 1024


@dataclass(frozen=True, repr=False)
class KMedoidsResult(Record):
    """Medoids of k clusters, as `kmedoids` returns them.

    Attributes
    ----------
    indices : ndarray of int64, shape (k,)
        Rows of the medoids, by cluster.
    labels : ndarray of int32, shape (n,)
        Cluster of each row: that of its nearest medoid, the lowest if several are equally near.
    inertia : float
        Weighted sum of the distances of all rows to their medoids.
    n_iter : int
        Passes over the candidates of the last stage.
    n_swaps : int
        Swaps of all stages.
    n_distances : int
        Distances that were measured for the result.
    converged : bool
        True if all rows were tried since the last swap; False if `max_iter` passes were not
        enough.

    Notes
    -----
    Nothing changes it, so threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> result = pb.cluster.kmedoids(np.array([[0.0], [1.0], [9.0], [10.0], [11.0]]), 2, rng=0)
    >>> result.indices, result.labels, result.inertia
    (array([3, 1]), array([1, 1, 0, 0, 0], dtype=int32), 3.0)
    """

    _: KW_ONLY
    indices: Ints
    labels: NDArray[np.int32]
    inertia: float
    n_iter: int
    n_swaps: int
    n_distances: int
    converged: bool

    def summary(self) -> str:
        """Return one sentence."""
        return (f"{self.indices.size} medoids of {self.labels.size:,} rows with a total distance "
                f"of {self.inertia:.6g}, after {self.n_swaps} swaps.")

    def __repr__(self) -> str:
        return (f"<KMedoidsResult: {self.indices.size} medoids of {self.labels.size:,} rows, "
                f"inertia {self.inertia:.6g}>")


def kmedoids(X: Any, n_clusters: int, *,
             metric: str | Callable[..., Any] = "euclidean", n: int | None = None,
             weights: ArrayLike | None = None, init: str | ArrayLike = "k-medoids++",
             n_init: int = 1, max_iter: int = 50, tol: float = 1e-3, rng: Rng = None,
             n_threads: int = 1, progress: bool | None = None) -> KMedoidsResult:
    """Find k rows, the medoids, with a small total distance of all rows to the nearest one.

    A swap replaces a medoid by another row. Its gain is estimated from samples of the rows, and
    computed from all rows before it is made: every swap lowers the total distance, and the
    reported one is exact. A better swap may be overlooked, as in any local search; no bound on
    the distance from the optimum is known.

    Parameters
    ----------
    X : array_like, data frame, sparse array, path, Blocks or callable
        Rows, shape (n, n_columns); a file of Parquet, NumPy or Zarr, or `tables.Blocks`; or a
        function of indices. float32 and float64 rows are not copied, so that a memory map stays
        on the disk. Sparse rows of SciPy are read as CSR. Files and Blocks of more than 256 MiB
        are copied to a temporary file. With ``metric="precomputed"``, a matrix of distances,
        shape (n, n), in which row i has the distances from i as a medoid. A function ``X(i, j)``
        receives two int64 arrays and returns the distances from the points i, as medoids, to the
        points j, shape (len(i), len(j)), finite and at least 0. With a callable metric, rows or
        a list of any objects.
    n_clusters : int
        Number of medoids, k; 1 to n.
    metric : str or callable, default "euclidean"
        ``"euclidean"`` (``"l2"``), ``"sqeuclidean"``, ``"manhattan"`` (``"l1"``,
        ``"cityblock"``), ``"cosine"``, ``"hamming"`` (the share of columns that differ),
        ``"precomputed"``; or a function of two rows, which is called once per pair, and slow.
        The triangle inequality is not needed.
    n : int, optional
        Number of points; required if `X` is a function.
    weights : array_like of float, shape (n,), optional
        Weights of the rows, at least 0 and not all 0; default 1. A row of weight 0 may become a
        medoid.
    init : {"k-medoids++"} or array_like of int, shape (k,)
        First medoids: drawn among the first rows of a random order, in proportion to the
        distance from those drawn before; or k different rows.
    n_init : int, default 1
        Number of fits with different random numbers, of which the best is returned.
    max_iter : int, default 50
        Most passes over the candidates of each stage.
    tol : float, default 1e-3
        A swap must lower the total distance by more than ``tol / n_clusters`` of it.
    rng : None, int, SeedSequence or Generator
    n_threads : int, default 1
        The result does not depend on it. A function in Python is called by one thread.
    progress : bool, optional
        Show a progress bar of the stages; by default if tqdm is installed and stderr is a
        terminal.

    Returns
    -------
    KMedoidsResult
        ``indices``, ``labels``, ``inertia``, ``n_iter``, ``n_swaps``, ``n_distances`` and
        ``converged``.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or a distance is NaN, infinite or negative.

    Notes
    -----
    *Cost.* The first stage has max(1024, 64 k) rows, and each following one four times as many.
    A row is compared with 192 to some thousands of other rows per pass, so the time is nearly
    linear in n. Memory in addition to X: a copy of its rows (none of sparse ones), 64 bytes per
    row, 16,384 rows, and 8 k^2 bytes.

    *Limits of the estimates.* A candidate is verified if its estimated gain is two standard
    errors above 0, and dropped if it is three below `tol`. These are heuristic: on five data
    sets of 5,000 rows, at most 60 of 5,000 candidates would still have gained more than `tol`
    after a fit, and at most 0.15 % of the total distance.

    *Ctrl-C* ends a fit between two blocks of candidates.

    References
    ----------
    E. Schubert and P. Rousseeuw, Fast and eager k-medoids clustering, Information Systems 2021.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 5)) + 8 * rng.integers(0, 2, size=(3000, 1))
    >>> result = pb.cluster.kmedoids(X, 2, rng=0)
    >>> result
    <KMedoidsResult: 2 medoids of 3,000 rows, inertia 6505.3>
    >>> np.bincount(result.labels)
    array([1466, 1534])
    """
    with make_bar(progress, None, "stage", "kmedoids") as bar:
        def report(done):
            bar.set_postfix_str(str(done), refresh=False)
            bar.update(1)

        return fitted(X, n_clusters, metric=metric, n=n, weights=weights, init=init,
                      n_init=n_init, max_iter=max_iter, tol=tol, rng=rng, n_threads=n_threads,
                      report=report)


def fitted(X, n_clusters, *, metric="euclidean", n=None, weights=None, init="k-medoids++",
           n_init=1, max_iter=50, tol=1e-3, rng=None, n_threads=1, report=None):
    """Check the arguments of `kmedoids` and return its result; `report` receives stages."""
    distances, number, is_metric = as_distances(X, n, metric)
    n, k = distances.n, check_integer("n_clusters", n_clusters, 1)
    if k > n:
        raise ValueError(f"n_clusters must be at most the number of rows of X, n_samples = {n}; "
                         f"got {k}")
    weights = _check_weights(weights, n, X)
    if weights is not None and not weights.any():
        raise ValueError("weights must not all be 0")
    init = _first_rows(init, n, k)
    options = dict(
        init=init, report=report or (lambda done: None),
        max_iter=check_integer("max_iter", max_iter, 1),
        tol=check_scalar("tol", tol, "finite and at least 0", lambda x: (x >= 0) & (x < np.inf)),
        n_threads=min(check_integer("n_threads", n_threads, 1), MOST_THREADS))
    n_init, rng = check_integer("n_init", n_init, 1), as_generator(rng)
    if k == n:
        return _all_rows(distances, weights)
    if k == 1:
        with make_bar(False, None, "distances", "medoid") as bar:
            found = find(Question(distances, number, is_metric, _scaled(weights, None),
                                  _check_bound(None, is_metric), 1e-3, False, rng,
                                  options["n_threads"], bar))
        return _one_medoid(found, n, weights)
    best = min((fit(distances, k, weights, rng, **options) for _ in range(n_init)),
               key=lambda one: one.loss)
    return KMedoidsResult(indices=best.medoids, labels=best.labels, inertia=best.loss,
                          n_iter=best.n_iter, n_swaps=best.n_swaps,
                          n_distances=best.n_distances, converged=best.converged)


def _first_rows(init, n, k):
    """Return None, or k different rows."""
    if isinstance(init, str):
        check_choice("init", init, ("k-medoids++",))
        return None
    rows = check_indices("init", init, n)
    if rows.size != k or np.unique(rows).size != k:
        raise ValueError(f"init must be n_clusters = {k} different rows; got {shown(init)}")
    return rows


def _all_rows(distances, weights):
    """Return every row as a medoid; labels of copies are the lowest of them."""
    medoids = np.arange(distances.n)
    labels, nearest = assign(distances, medoids, medoids)
    inertia = nearest.sum() if weights is None else (weights * nearest).sum()
    return KMedoidsResult(indices=medoids, labels=labels, inertia=float(inertia), n_iter=1,
                          n_swaps=0, n_distances=distances.n**2, converged=True)


def _one_medoid(found, n, weights):
    """Return the medoid of all rows, a `Found`, as the only cluster."""
    total = n if weights is None else weights.sum()
    return KMedoidsResult(indices=np.array([found.index]), labels=np.zeros(n, dtype=np.int32),
                          inertia=float(found.mean_distance * total), n_iter=1, n_swaps=0,
                          n_distances=found.n_distances, converged=True)
