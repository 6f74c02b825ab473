"""Results of `medoid`."""

from dataclasses import dataclass

import numpy as np

from pybandit._shared.types import Floats, Ints
from pybandit.racing._results import Record


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class MedoidResult(Record):
    """The medoid of all points.

    Attributes
    ----------
    index : int
        Position of the medoid, in [0, n).
    mean_distance : float
        Its weighted mean distance to all points, itself included, computed from all of them.
    exact : bool
        True if no other point has a smaller mean distance. False: wrong with probability at
        most delta (``bound="betting"``), or about delta (``"student"``).
    bound : {"betting", "student"} or None
        Bound of the race; None if no point was eliminated by a race.
    n_distances : int
        Distances computed before the mean distance of the medoid.
    n_survivors : int
        Points compared by their sums over all points at the end.

    Notes
    -----
    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> x = np.random.default_rng(0).normal(size=(10_000, 50))
    >>> result = pb.cluster.medoid(x, rng=1)
    >>> result.index, result.exact, result.bound
    (3623, False, 'betting')
    >>> result.n_distances < 0.05 * 10_000**2
    True
    """

    index: int
    mean_distance: float
    exact: bool
    bound: str | None
    n_distances: int
    n_survivors: int

    def summary(self) -> str:
        """Return one sentence with the medoid and the cost."""
        return (f"Point {self.index} is the medoid, {_how(self.exact, self.bound)}; mean "
                f"distance: {self.mean_distance:.6g}, distances: {self.n_distances:,}.")

    def _repr_html_(self) -> str:
        return f"<p>{self.summary()}</p>"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class MedoidsResult(Record):
    """The medoid of each cluster.

    Attributes
    ----------
    labels : ndarray, shape (k,)
        Labels of the clusters, increasing; without -1 if labels are integers.
    indices : ndarray of int64, shape (k,)
        Position of each medoid, in [0, n).
    mean_distances : ndarray of float64, shape (k,)
        Weighted mean distance of each medoid to the points of its cluster, itself included.
    exact : ndarray of bool, shape (k,)
        True if no other point of the cluster has a smaller mean distance.
    bound : {"betting", "student"} or None
        Bound of the races; None if no point was eliminated by one.
    n_distances : int
        Distances computed, in all clusters.
    n_survivors : ndarray of int64, shape (k,)
        Points compared by their sums over the whole cluster at the end.

    Notes
    -----
    **Threads.** Immutable except for its arrays: threads may share it if none writes to them.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> x = np.array([[0.0], [1.0], [5.0], [7.0], [8.0], [99.0]])
    >>> result = pb.cluster.medoid(x, labels=["a", "a", "b", "b", "b", "b"])
    >>> result.labels.tolist(), result.indices.tolist()
    (['a', 'b'], [0, 3])
    """

    labels: np.ndarray
    indices: Ints
    mean_distances: Floats
    exact: np.ndarray
    bound: str | None
    n_distances: int
    n_survivors: Ints

    def summary(self) -> str:
        """Return one sentence with the number of clusters and the cost."""
        how = _how(bool(self.exact.all()), self.bound)
        return (f"Medoids of {len(self.labels):,} clusters, {how}; distances: "
                f"{self.n_distances:,}.")

    def _repr_html_(self) -> str:
        return f"<p>{self.summary()}</p>"


def _how(exact, bound):
    return "exactly" if exact else f"by a race with the bound {bound!r}"
