"""The medoid of points, or of each cluster."""

from collections.abc import Callable
from typing import Any, overload

import numpy as np

from pybandit._shared.checks import (
    as_array,
    check_choice,
    check_delta,
    check_flag,
    check_in,
    check_integer,
    labels_of,
    nonnegative,
    shown,
)
from pybandit._shared.generators import as_generator, private_generator
from pybandit._shared.labels import in_order
from pybandit._shared.progress import make_bar
from pybandit._shared.types import ArrayLike, Rng
from pybandit.cluster._find import ALL_PAIRS_LABELLED, Question, find
from pybandit.cluster._result import MedoidResult, MedoidsResult
from pybandit.cluster._sources import as_distances, part_of


@overload
def medoid(X: Any, n: int | None = None, *, metric: str | Callable = "euclidean",
           labels: None = None, weights: ArrayLike | None = None, delta: float = 1e-3,
           exact: bool = False, bound: str | None = None, triangle: bool = False,
           rng: Rng = None, n_threads: int = 1,
           progress: bool | None = None) -> MedoidResult: ...


@overload
def medoid(X: Any, n: int | None = None, *, metric: str | Callable = "euclidean",
           labels: ArrayLike, weights: ArrayLike | None = None, delta: float = 1e-3,
           exact: bool = False, bound: str | None = None, triangle: bool = False,
           rng: Rng = None, n_threads: int = 1,
           progress: bool | None = None) -> MedoidsResult: ...


def medoid(X: Any, n: int | None = None, *, metric: str | Callable = "euclidean",
           labels: ArrayLike | None = None, weights: ArrayLike | None = None, delta: float = 1e-3,
           exact: bool = False, bound: str | None = None, triangle: bool = False,
           rng: Rng = None, n_threads: int = 1,
           progress: bool | None = None) -> MedoidResult | MedoidsResult:
    """Find the point with the smallest mean distance to all points, or one per cluster.

    The medoid is ``argmin_i (1/n) sum_j w_j d(i, j)`` over points i, the distance 0 of a point
    to itself included. Sums of ``sqeuclidean``, ``cosine`` and ``hamming`` distances separate
    by column and are computed exactly. Euclidean rows with at most 10 columns are first cut by
    planes, which find the medoid exactly. In all other cases points race: they are compared on
    reference points in random order, and eliminated by bets.

    Parameters
    ----------
    X : array_like, data frame, sparse array, path, Blocks, callable, compiled function or Factors
        Rows, shape (n, n_columns); a file of Parquet, NumPy or Zarr, or `tables.Blocks`; or a
        function of indices. Sparse rows of SciPy are read as CSR and give the result of the same
        dense rows. A function ``X(i, j)`` receives two int64 arrays and returns the distances of
        each point of i to each point of j, shape (len(i), len(j)), finite and at least 0. It is
        called for up to 1,024 by 64 points. Compiled functions have the signature of
        ``pybandit/racing/factors.h``, where factors are j and states are i. With
        ``metric="precomputed"``, a matrix of distances, shape (n, n). With a callable metric,
        rows or a list of any objects.
    n : int, optional
        Number of points of a function of indices.
    metric : str or callable, default "euclidean"
        ``"euclidean"`` (``"l2"``), ``"sqeuclidean"``, ``"manhattan"`` (``"l1"``,
        ``"cityblock"``), ``"cosine"``, ``"hamming"`` (the share of columns that differ),
        ``"precomputed"``; or a function of two rows, which is called once per pair, and slow.
    labels : array_like, shape (n,), optional
        Cluster of each point: integers, text or any values that can be sorted. One medoid per
        cluster is found among its points. Points with the integer label -1, noise in DBSCAN and
        HDBSCAN, are left out. The answer of a cluster does not depend on the other clusters.
    weights : array_like of float, shape (n,), optional
        Weight of each point as a reference, at least 0 and not all 0 (in any cluster). A point
        of weight 0 may be the medoid. Default: equal.
    delta : float, default 0.001
        Probability of a wrong answer of a race, in (0, 1); per cluster with `labels`.
    exact : bool, default False
        If True, the answer is exact: by planes if they suffice, and otherwise by all distances
        of the points that they leave. Without rows, all n**2 distances are computed.
    bound : {"betting", "student"}, optional
        ``"betting"`` is wrong with probability at most `delta`, for any metric; ``"student"``
        with probability about `delta`. Default: ``"betting"`` if the triangle inequality holds.
    triangle : bool, default False
        Pass True if a function, a callable metric or a matrix is symmetric and satisfies the
        triangle inequality. Named metrics do.
    rng : None, int, SeedSequence or Generator
        Order of the references.
    n_threads : int, default 1
        Threads for rows and matrices; results do not depend on it.
    progress : bool, optional
        Show the number of distances computed. Default: only in a terminal or notebook, if tqdm
        is installed.

    Returns
    -------
    MedoidResult or MedoidsResult
        The second with `labels`.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its range; rows are not finite; or a distance that was read is
        NaN, infinite or negative.

    See Also
    --------
    race : the same without distances, for log likelihoods.

    Notes
    -----
    The race is wrong with probability at most `delta`, without a range of the distances and
    without a union over points: under "i is the medoid", ``d(i, j) - d(a, j) + c_ij``, which is
    at least 0, has a mean of at most a known number for any anchor a, so that the product of
    bets is a nonnegative supermartingale. For Euclidean rows
    ``c_ij = <x_i - a, (x_j - a) / d(a, j)>`` by convexity, otherwise ``c_ij = d(i, a)`` by the
    triangle inequality. `delta` is small by default because a smaller `delta` costs little:
    .001 instead of .05, 1.0 to 1.7 times the distances.

    float32 rows are kept, and their distances are computed in float32 and added in float64.
    float16, integer and boolean rows become float32 if it holds them exactly. The survivors of a
    race are compared by all their distances, and near ties in float64. Equal points have equal
    means, and the lowest index is returned. Zero rows have cosine distance 1 to all other rows.

    Time O(n n_columns) per 64 references, usually about 100 in all; memory O(n) in addition to
    X, and a copy of X for cosine distances, or of the rows of a cluster with `labels`. A memory
    map of float32 or float64 stays on the disk. Files and Blocks of more than 256 MiB are copied
    to a temporary file, in the folder that `tempfile.gettempdir` returns. Ctrl-C takes effect
    between blocks of points.

    **Threads.** Threads may call it at once with separate generators.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> x = np.random.default_rng(0).normal(size=(10_000, 50))
    >>> pb.cluster.medoid(x, rng=1).index
    3623

    Of each cluster:

    >>> labels = (x[:, 0] > 0).astype(int)
    >>> pb.cluster.medoid(x, labels=labels, rng=1).indices.tolist()
    [452, 3623]

    By a function of indices, here of strings:

    >>> words = ["medoid", "method", "medal", "period", "model"]
    >>> def distance(i, j):
    ...     return np.array([[len(set(words[a]) ^ set(words[b])) for b in j] for a in i])
    >>> words[pb.cluster.medoid(distance, len(words)).index]
    'medoid'
    """
    distances, number, is_metric = as_distances(X, n, metric)
    is_metric |= check_flag("triangle", triangle)
    bound = _check_bound(bound, is_metric)
    delta, exact = check_delta(delta), check_flag("exact", exact)
    n_threads = check_integer("n_threads", n_threads, 1)
    weights = _check_weights(weights, distances.n, X)
    rng = as_generator(rng)

    def ask(points, weights, rng, bar, **options):
        return Question(points, number, is_metric, weights, bound, delta, exact, rng, n_threads,
                        bar, **options)

    if labels is None:
        with make_bar(progress, None, "distances", "medoid") as bar:
            return MedoidResult(*find(ask(distances, _scaled(weights, None), rng, bar)))
    names, members = _clusters(labels, distances.n, X)
    seed, found = private_generator(rng).bit_generator.state, []
    with make_bar(progress, None, "distances", "medoids") as bar:
        for name, own in zip(names, members, strict=True):
            stream = np.random.Generator(np.random.PCG64())
            stream.bit_generator.state = seed
            scaled = None if weights is None else _scaled(weights[own], name)
            found.append(find(ask(part_of(distances, number, own), scaled, stream, bar,
                                  all_pairs=ALL_PAIRS_LABELLED)))
    return _gathered(names, members, found)


def _gathered(names, members, found):
    """Return the result of all clusters."""
    return MedoidsResult(
        names, np.array([own[one.index] for own, one in zip(members, found, strict=True)]),
        np.array([one.mean_distance for one in found]), np.array([one.exact for one in found]),
        next((one.bound for one in found if one.bound), None),
        sum(one.n_distances for one in found), np.array([one.n_survivors for one in found]))


def _check_bound(bound, is_metric):
    check_choice("bound", bound, (None, "betting", "student"))
    if bound == "betting" and not is_metric:
        raise ValueError("bound must be 'student' unless the triangle inequality holds; got "
                         "'betting': pass triangle=True if it does")
    return bound or ("betting" if is_metric else "student")


def _check_weights(weights, n, x):
    if weights is None:
        return None
    in_order("weights", weights, labels_of(x), what="the index of X")
    weights = check_in("weights", weights, "finite and at least 0", nonnegative)
    if weights.shape != (n,):
        raise ValueError(f"weights must have shape ({n},), one value per point; got "
                         f"{weights.shape}")
    return weights


def _scaled(weights, name):
    """Return weights of mean 1."""
    if weights is None:
        return None
    largest = weights.max()
    if not largest > 0:
        where = "" if name is None else f" in cluster {name!r}"
        raise ValueError(f"weights must not all be 0{where}")
    weights = weights / largest  # so that sums neither overflow nor underflow
    return np.ascontiguousarray(weights / weights.mean())


def _refuse_missing(labels):
    """Refuse missing values of pandas, which cannot be sorted."""
    if hasattr(labels, "isna"):
        is_missing = np.asarray(labels.isna(), dtype=bool)
        if is_missing.any():
            at = int(np.argmax(is_missing.reshape(-1)))
            raise ValueError(f"labels must not have missing values; got one at index {at}: pass "
                             "-1, an integer, for points without a cluster")


def _clusters(labels, n, x):
    """Return the labels of the clusters, and the points of each, increasing."""
    if isinstance(labels, str):
        raise TypeError(f"labels must be one value per point; got {shown(labels)}: pass the column "
                        "itself, not its name, and X without it")
    in_order("labels", labels, labels_of(x), what="the index of X")
    _refuse_missing(labels)
    values = as_array("labels", labels)
    if values.shape != (n,):
        raise ValueError(f"labels must have shape ({n},), one value per point; got "
                         f"{values.shape}")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        where = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(f"labels must not be NaN or infinite; got {values[where]} at index "
                         f"{where}")
    try:
        names, places, sizes = np.unique(values, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise TypeError(f"labels must be values that can be sorted; got {shown(labels)}: "
                        f"{error}") from error
    order = np.argsort(places, kind="stable")
    members = np.split(order, np.cumsum(sizes)[:-1])
    if values.dtype.kind == "i" and names[0] == -1:
        names, members = names[1:], members[1:]
    if not len(names):
        raise ValueError("labels must have a cluster other than -1; got none")
    return names, members
