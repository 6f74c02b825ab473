"""k-medoids as an estimator of scikit-learn."""

import copy
import numbers
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pybandit._shared.optional import require
from pybandit.cluster._assign import distances_to_rows
from pybandit.cluster._fit import print_stage
from pybandit.cluster.partition import fitted

require("sklearn.utils", "sklearn")

from joblib import effective_n_jobs  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.utils import check_random_state  # noqa: E402
from sklearn.utils._param_validation import Interval, StrOptions  # noqa: E402
from sklearn.utils.validation import (  # noqa: E402
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from pybandit._shared.warn import warn  # noqa: E402
from pybandit.cluster._estimator_base import ClusterBase  # noqa: E402
from pybandit.cluster._frames import is_frame, refuse_missing  # noqa: E402
from pybandit.cluster._rows import METRICS  # noqa: E402
from pybandit.cluster._sparse import dense  # noqa: E402

__all__ = ["KMedoids"]


class KMedoids(ClusterBase):
    """k-medoids for scikit-learn: clusters around rows of the data, for any distance.

    Parameters
    ----------
    n_clusters : int, default 8
        Number of medoids k, at most the number of rows.
    metric : str, default "euclidean"
        ``"euclidean"``, ``"sqeuclidean"``, ``"manhattan"``, ``"cosine"``, ``"hamming"``, or
        their other names in `kmedoids`. With ``"precomputed"``, X is a matrix of distances: in
        ``fit`` of shape (n, n), and later of shape (n_new, n), from new points to those of
        ``fit``.
    init : {"k-medoids++"} or array_like of int, shape (k,)
        As in `kmedoids`.
    n_init : int, default 1
        Number of fits with different random numbers, of which the best is kept.
    max_iter : int, default 50
        Most passes over the candidates of each stage.
    tol : float, default 1e-3
        A swap must lower the inertia by more than ``tol / n_clusters`` of it.
    random_state : None, int or RandomState
        An int gives the medoids of ``kmedoids(rng=...)`` with this int.
    n_jobs : int, optional
        Number of threads, as in scikit-learn; results do not depend on it.
    verbose : int, default 0
        1 prints a line per stage.

    Attributes
    ----------
    labels_ : ndarray of int32, shape (n,)
        Cluster of each row, the lowest one if several medoids are equally near.
    medoid_indices_ : ndarray of int64, shape (k,)
        Rows of the medoids.
    cluster_centers_ : ndarray of shape (k, n_columns), or None
        The medoids, also dense if X is sparse; None if `metric` is ``"precomputed"``.
    inertia_ : float
        Weighted sum of the distances of all rows to their medoids.
    n_iter_ : int
        Passes over the candidates of the last stage.
    n_swaps_ : int
    n_distances_ : int
        Distances measured for the result.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Raises
    ------
    ValueError, TypeError
        In ``fit``, if a parameter is outside its range, X has NaN or infinite entries, or there
        are fewer rows than clusters.

    Notes
    -----
    Algorithm, cost and limits are those of `kmedoids`. All methods take sparse rows. For a
    metric of two objects, as strings, call `kmedoids`, or pass their matrix of distances.

    A weight of 2 is not the same as a row that is present twice, because samples then differ; the
    two have the same optimum.

    ConvergenceWarning: fewer than k different rows, or `max_iter` passes were not enough.

    Threads may fit one estimator at once: each fits, and it keeps the attributes of the last
    fit. A call of ``fit`` that raises, or that Ctrl-C interrupts, leaves it unchanged.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pybandit.cluster import KMedoids
    >>> X, _ = load_iris(return_X_y=True, as_frame=True)
    >>> found = KMedoids(3, random_state=0).fit(X)
    >>> X.iloc[found.medoid_indices_, :2].values.tolist()
    [[5.7, 2.8], [5.0, 3.4], [6.5, 3.0]]
    """

    labels_: np.ndarray
    medoid_indices_: np.ndarray
    cluster_centers_: np.ndarray | None
    inertia_: float
    n_iter_: int
    n_swaps_: int
    n_distances_: int

    if TYPE_CHECKING:  # scikit-learn makes these methods

        def set_fit_request(self, *, sample_weight: bool | str | None = ...) -> Self: ...
        def set_score_request(self, *, sample_weight: bool | str | None = ...) -> Self: ...

    _parameter_constraints = {
        "n_clusters": [Interval(numbers.Integral, 1, None, closed="left")],
        "metric": [StrOptions(set(METRICS))],
        "init": [StrOptions({"k-medoids++"}), "array-like"],
        "n_init": [Interval(numbers.Integral, 1, None, closed="left")],
        "max_iter": [Interval(numbers.Integral, 1, None, closed="left")],
        "tol": [Interval(numbers.Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [numbers.Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(self, n_clusters: int = 8, *, metric: str = "euclidean",
                 init: Any = "k-medoids++", n_init: int = 1, max_iter: int = 50,
                 tol: float = 1e-3, random_state: Any = None, n_jobs: int | None = None,
                 verbose: int = 0) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find medoids of the rows of X.

        `sample_weight` has weights of at least 0, shape (n,); `y` is ignored. Returns the
        estimator.
        """
        self._validate_params()
        checked = copy.copy(self)  # a failure leaves this estimator unchanged
        if is_frame(X):
            refuse_missing("X", X)
        X = validate_data(checked, X, accept_sparse=self._accepted(), dtype="numeric")
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        result = fitted(X, self.n_clusters, metric=self.metric, weights=sample_weight,
                        init=self.init, n_init=self.n_init, max_iter=self.max_iter,
                        tol=self.tol, rng=_generator(self.random_state),
                        n_threads=effective_n_jobs(self.n_jobs),
                        report=print_stage if self.verbose else None)
        n_found = np.unique(result.labels).size
        if n_found < self.n_clusters:
            warn(f"{n_found} clusters were found instead of n_clusters={self.n_clusters}: X may "
                 "have fewer different rows", ConvergenceWarning)
        if not result.converged:
            warn(f"{self.max_iter} passes did not suffice: increase max_iter or tol",
                 ConvergenceWarning)
        for name in ("n_features_in_", "feature_names_in_"):
            vars(self).pop(name, None)
            if hasattr(checked, name):
                setattr(self, name, getattr(checked, name))
        self.labels_, self.medoid_indices_ = result.labels, result.indices
        self.cluster_centers_ = None if self.metric == "precomputed" else dense(X[result.indices])
        self.inertia_, self.n_iter_ = result.inertia, result.n_iter
        self.n_swaps_, self.n_distances_ = result.n_swaps, result.n_distances
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the cluster of the nearest medoid of each row; int32, shape (n_new,)."""
        return self._nearest(X)[0]

    def transform(self, X: Any) -> np.ndarray:
        """Return the distances of each row from the medoids; shape (n_new, k), X's float type."""
        X = self._checked(X)
        dtype = X.dtype if X.dtype.kind == "f" else np.float64
        distances = np.empty((X.shape[0], len(self.medoid_indices_)), dtype)
        for part, block in self._blocks(X):
            distances[part] = block.T
        return distances

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the weighted sum of the distances of the rows to their medoids.

        `sample_weight` has weights of at least 0, shape (n_new,); `y` is ignored.
        """
        _, nearest = self._nearest(X)
        if sample_weight is None:
            return -float(nearest.sum())
        weights = _check_sample_weight(sample_weight, nearest, dtype=np.float64,
                                       ensure_non_negative=True)
        return -float((weights * nearest).sum())

    def _nearest(self, X):
        """Return the label of each row, and its distance from the nearest medoid."""
        X = self._checked(X)
        labels, nearest = np.empty(X.shape[0], dtype=np.int32), np.empty(X.shape[0])
        for part, block in self._blocks(X):
            labels[part], nearest[part] = block.argmin(axis=0), block.min(axis=0)
        return labels, nearest

    def _checked(self, X):
        check_is_fitted(self)
        if is_frame(X):
            refuse_missing("X", X)
        return validate_data(self, X, accept_sparse=self._accepted(), dtype="numeric",
                             reset=False)

    def _accepted(self):
        """Return the sparse format of rows; a matrix of distances is dense."""
        return False if self.metric == "precomputed" else "csr"

    def _blocks(self, X):
        """Yield parts of X and their distances from the medoids, shape (k, m)."""
        if self.metric == "precomputed":
            return [(slice(None), X[:, self.medoid_indices_].T)]
        return distances_to_rows(self.cluster_centers_, X, self.metric)

    @property
    def _n_features_out(self):
        return len(self.medoid_indices_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.sparse = not tags.input_tags.pairwise
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _generator(random_state):
    """Return the Generator of an int itself, or one seeded from a RandomState."""
    if isinstance(random_state, numbers.Integral):
        return np.random.default_rng(int(random_state))
    return np.random.default_rng(check_random_state(random_state).randint(2**31))
