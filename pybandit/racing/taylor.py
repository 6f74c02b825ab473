"""Control variates from Taylor expansions in the data: Chen & Ghahramani 2016, Eq. 11."""

import numpy as np

from pybandit._shared.checks import check_in, check_numeric, owned
from pybandit._shared.types import ArrayLike
from pybandit.racing.control import ControlVariate

# Maximum size of the temporary array for one chunk of rows while h is computed: 8 MiB.
CHUNK = 1 << 20
# Maximum number of bins.
MOST_BINS = 1 << 24


class PopulationMoments:
    """Counts, means and covariances of N points by bin, from which totals are computed.

    Computed in one pass over the points. It can be reused for any number of calls of
    `taylor_control` with the same points, such as in a Gibbs sweep whose parameters change.

    Parameters
    ----------
    points : array_like of float, shape (N, p) or (N,)
        Not copied if float64: do not change them while controls made from them are in use.
    labels : array_like of int, shape (N,), optional
        Bin of each point, 0 ... B - 1. By default, one bin.
    outliers : array_like of bool, shape (N,) or (N, D), optional
        Points to exclude, for all states or per state.

    Attributes
    ----------
    points : ndarray of float64, shape (N, p)
    labels : ndarray of int64, shape (N,)
    outliers : ndarray of bool, shape (N, 1) or (N, D); or None
    counts : ndarray of float64, shape (B, 1) or (B, D)
        Points in each bin; the second axis has length D if outliers are given per state.
    means : ndarray of float64, shape (B, 1 or D, p)
        0 in an empty bin.
    covariances : ndarray of float64, shape (B, 1 or D, p, p)
        With the count as divisor.

    Raises
    ------
    ValueError, TypeError
        If an argument has the wrong shape, or a point is not finite.

    See Also
    --------
    taylor_control : accepts it instead of points.

    Notes
    -----
    O(N p^2), times D if outliers are given per state; with labels, O(N log N + B p^2) more.

    **Threads.** No method changes it: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(1).normal(0.3, 1.0, 100_000)
    >>> moments = pb.racing.PopulationMoments(y, labels=(y > 0).astype(int))
    >>> moments.counts[:, 0], moments.means[:, 0, 0].round(2)
    (array([38428., 61572.]), array([-0.69,  0.91]))
    >>> one = pb.racing.PopulationMoments(y)
    >>> means = np.linspace(-1, 1, 11)
    >>> control = pb.racing.taylor_control(one, [0.0], -0.5 * means**2, means[:, None],
    ...                                    np.full((11, 1, 1), -1.0))
    """

    def __init__(self, points: ArrayLike, labels: ArrayLike | None = None,
                 outliers: ArrayLike | None = None) -> None:
        points = check_in("points", points, "finite", np.isfinite, copy=False)
        points = points[:, None] if points.ndim == 1 else points
        if points.ndim != 2 or 0 in points.shape:
            raise ValueError(f"points must have shape (N, p); got {points.shape}")
        self.points = points
        self.labels = _check_labels(labels, len(points))
        self.outliers = None
        if outliers is not None:
            self.outliers = owned("outliers", outliers)
            if self.outliers.dtype != bool or self.outliers.ndim not in (1, 2) or (
                    len(self.outliers) != len(points)):
                raise ValueError(f"outliers must be bool of shape (N,) or (N, D), N = "
                                 f"{len(points)}; got {self.outliers.dtype} of shape "
                                 f"{self.outliers.shape}")
            self.outliers = self.outliers.reshape(len(points), -1)
        weights = np.ones((len(points), 1)) if outliers is None else 1.0 - self.outliers
        n_bins, n_columns, p = self.labels.max() + 1, weights.shape[1], points.shape[1]
        self.counts = np.zeros((n_bins, n_columns))
        self.means = np.zeros((n_bins, n_columns, p))
        self.covariances = np.zeros((n_bins, n_columns, p, p))
        # group the points by bin, in their order; empty bins cost nothing
        order = np.argsort(self.labels, kind="stable")
        bins, begins = np.unique(self.labels[order], return_index=True)
        for bin, begin, end in zip(bins, begins, [*begins[1:], len(points)], strict=True):
            self._add_bin(bin, order[begin:end], weights)

    def __repr__(self):
        n, p = self.points.shape
        return f"<PopulationMoments: {n:,} points of {p:,} numbers, {len(self.counts):,} bins>"

    def _add_bin(self, bin, rows, weights):
        for column in range(weights.shape[1]):
            kept = self.points[rows[weights[rows, column] > 0]]
            if not len(kept):
                continue
            mean = kept.mean(axis=0)
            centred = kept - mean
            self.counts[bin, column] = len(kept)
            self.means[bin, column] = mean
            self.covariances[bin, column] = centred.T @ centred / len(kept)


def taylor_control(points: ArrayLike | PopulationMoments, centers: ArrayLike, values: ArrayLike,
                   gradients: ArrayLike, hessians: ArrayLike | None = None, *,
                   labels: ArrayLike | None = None, outliers: ArrayLike | None = None,
                   outlier_values: ArrayLike | None = None) -> ControlVariate:
    """Return a control variate from expansions of log p(y | i) around reference points.

    h_n(i) = l_i(c) + g_i'(y_n - c) + (y_n - c)' H_i (y_n - c) / 2, where c is the center
    of the point's bin (Chen & Ghahramani 2016, Eq. 11). Its sums follow from the moments of the
    points: the average over a bin with mean m and covariance S is
    l(c) + g'(m - c) + tr(H (S + (m - c)(m - c)')) / 2.

    Parameters
    ----------
    points : array_like of float, shape (N, p) or (N,), or PopulationMoments
        The data y_n. With `PopulationMoments`, the cost does not depend on N.
    centers : array_like of float, shape (B, p); (p,) with one bin
        Reference point of each bin.
    values : array_like of float, shape (B, D); (D,) with one bin
        l_i(c) = log p(c | i) at the centers.
    gradients : array_like of float, shape (B, D, p); (D, p) with one bin
        Gradients of log p(y | i) with respect to y, at the centers.
    hessians : array_like of float, shape (B, D, p, p); (D, p, p) with one bin, optional
        0 by default, for a first-order expansion. Only their symmetric part matters.
    labels, outliers
        As in `PopulationMoments`; only if `points` is not one. h is 0 for outliers, because
        far from its center an expansion can be worse than none.
    outlier_values : array_like of float, shape (n, D), optional
        Log factors of the n points that are outliers of any state, in increasing order of
        the points. h is then equal to the log factor at each outlier instead of 0, so that
        outliers do not add to the variance.

    Returns
    -------
    ControlVariate
        Computes its values on demand, in O(p^2) each.

    Raises
    ------
    ValueError, TypeError
        If an argument has the wrong shape or is not finite.

    Notes
    -----
    O(B D p^2), in addition to the moments.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(1).normal(0.3, 1.0, 100_000)
    >>> means = np.linspace(-1, 1, 11)
    >>> control = pb.racing.taylor_control(y, [0.0], -0.5 * means**2, means[:, None],
    ...                                    np.full((11, 1, 1), -1.0))
    >>> factors = pb.Factors(lambda n, i: -0.5 * (y[n, None] - means[i]) ** 2, y.size, 11,
    ...                      control=control)
    >>> pb.race(factors, rng=1).n_evaluations   # the second-order expansion is exact here
    550
    """
    moments = points
    if not isinstance(points, PopulationMoments):
        moments = PopulationMoments(points, labels, outliers)
    elif labels is not None or outliers is not None:
        raise ValueError("labels and outliers must be None if points are PopulationMoments; pass "
                         "them to PopulationMoments instead")
    values = check_numeric("values", values)
    (n_bins, _, p), n_states = moments.means.shape, values.shape[-1] if values.ndim else 0
    expansion = _Expansion(
        moments,
        _shaped("centers", centers, (n_bins, p)),
        _shaped("values", values, (n_bins, n_states)),
        _shaped("gradients", gradients, (n_bins, n_states, p)),
        None if hessians is None else _shaped("hessians", hessians, (n_bins, n_states, p, p)),
    )
    if moments.counts.shape[1] not in (1, n_states):
        raise ValueError(f"outliers must have shape (N,) or (N, D) with D = {n_states}; got "
                         f"{moments.outliers.shape}")
    if outlier_values is not None:
        expansion.set_outliers(outlier_values)
    return ControlVariate(expansion, expansion.totals())


class _Expansion:
    """Function h of factors and states, and its sums."""

    def __init__(self, moments, centers, values, gradients, hessians):
        self.moments, self.centers = moments, centers
        self.values, self.gradients, self.hessians = values, gradients, hessians
        self.outlier_rows = self.outlier_values = None

    def set_outliers(self, outlier_values):
        outliers, n_states = self.moments.outliers, self.values.shape[1]
        if outliers is None:
            raise ValueError("outlier_values must come with outliers; got no outliers")
        rows = np.flatnonzero(outliers.any(axis=1))
        given = _shaped("outlier_values", outlier_values, (len(rows), n_states), bins=False)
        self.outlier_values = np.where(outliers[rows], given, 0.0)
        self.outlier_rows = np.full(len(outliers), -1)
        self.outlier_rows[rows] = np.arange(len(rows))

    def totals(self):
        away = self.moments.means - self.centers[:, None]
        means = self.values + (self.gradients * away).sum(axis=-1)
        if self.hessians is not None:
            second = self.moments.covariances + away[..., :, None] * away[..., None, :]
            means = means + 0.5 * (self.hessians * second).sum(axis=(-2, -1))
        totals = (self.moments.counts * means).sum(axis=0)
        if self.outlier_values is not None:
            totals = totals + self.outlier_values.sum(axis=0)
        return totals

    @property
    def shape(self):
        """(N, D); `ControlVariate` compares it with the sizes of the factors."""
        return len(self.moments.points), self.values.shape[1]

    def __call__(self, indices, states):
        p = self.centers.shape[1]
        rows = max(1, CHUNK // (len(states) * p * (1 if self.hessians is None else p)))
        out = np.empty((len(indices), len(states)))
        for start in range(0, len(indices), rows):
            chunk = slice(start, start + rows)
            out[chunk] = self._expand(indices[chunk], states)
        return out

    def _expand(self, indices, states):
        bins = self.moments.labels[indices]
        away = self.moments.points[indices] - self.centers[bins]
        # one bin needs no copy of its expansion per point
        cells = (slice(0, 1), states) if len(self.centers) == 1 else np.ix_(bins, states)
        slopes = self.gradients[cells]
        if self.hessians is not None:
            slopes = slopes + 0.5 * np.einsum("nkpq,nq->nkp", *_broadcast(
                self.hessians[cells], away))
        h = self.values[cells] + np.einsum("nkp,np->nk", *_broadcast(slopes, away))
        if self.moments.outliers is not None:
            outliers = self.moments.outliers[indices]
            if outliers.shape[1] > 1:
                outliers = outliers[:, states]
            h = np.where(outliers, self._at_outliers(indices, states), h)
        return h

    def _at_outliers(self, indices, states):
        if self.outlier_values is None or not len(self.outlier_values):
            return 0.0
        # a point that is not an outlier has row -1 here; its values are not used
        return self.outlier_values[np.ix_(self.outlier_rows[indices], states)]


def _broadcast(terms, away):
    """Return the terms with n rows for einsum, and `away`; terms of one bin are broadcast."""
    return np.broadcast_to(terms, (len(away), *terms.shape[1:])), away


def _check_labels(labels, n_points):
    if labels is None:
        return np.zeros(n_points, dtype=np.int64)
    labels = owned("labels", labels)
    if labels.dtype.kind not in "iu" or labels.shape != (n_points,) or labels.min() < 0:
        raise ValueError(f"labels must be integers of at least 0, shape (N,) = ({n_points},); got "
                         f"{labels.dtype} of shape {labels.shape}")
    if labels.max() >= MOST_BINS:
        raise ValueError(f"labels must be below {MOST_BINS}, the maximum number of bins; got "
                         f"{labels.max()}")
    return labels.astype(np.int64, copy=False)


def _shaped(name, array, shape, bins=True):
    """Return a finite float64 copy of this shape; a first axis of length 1 may be omitted."""
    array = check_in(name, array, "finite", np.isfinite)
    if bins and shape[0] == 1 and array.shape == shape[1:]:
        array = array[None]
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}; got {array.shape}")
    return array
