"""Second-order control variates in the parameters, for Metropolis-Hastings.

h_n(theta) is an expansion of the log likelihood of factor n around a center. The race reads
d_n - (h_n(x') - h_n(x)), where d_n = log p(y_n|x') - log p(y_n|x). The sum of h_n(x') - h_n(x)
over all n is a quadratic form of the sums of the gradients and Hessians, O(d^2) per step, and is
moved into the threshold.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pybandit._shared.checks import MOST_PULLS, check_choice, check_in, check_integer, shown
from pybandit._shared.types import ArrayLike, Floats, Ints
from pybandit.mcmc._autodiff import BACKENDS, blocks_of, products_of, rounding_of
from pybandit.mcmc._bounded import Ranges
from pybandit.racing._linear_control import ExpansionChange, LinearChange, TotalChange


class Quadratic:
    """Base class of the controls: sums of the gradients and Hessians, and ranges."""

    _ranges = None  # computed when needed

    def __repr__(self):
        return (f"<{type(self).__name__}: {self.n_factors:,} factors, "
                f"{self.n_parameters:,} parameters>")

    @property
    def n_parameters(self) -> int:
        """Number of parameters, d."""
        return self.center.size

    def value_range(self, points: ArrayLike) -> tuple[float, float]:
        """Return a range (low, high) of the log ratios d_n - (h_n(x') - h_n(x)) at two points.

        Computed from `third`: O(N d) the first time, O(d^2) afterwards. Pass it to the
        `BettingBound` of `accept`. `RacingMetropolis` computes it in each decision with
        ``BettingBound(value_range="control")``.
        """
        if self.third is None:
            raise ValueError("third must be given to the control to bound its remainder; got None")
        given = check_in("points", points, "finite", np.isfinite)
        if given.shape != (2, self.n_parameters):
            raise ValueError(f"points must have shape (2, {self.n_parameters}); got {given.shape}")
        if self._ranges is None:
            self._ranges = Ranges(self)
        high = self._ranges.most(given)
        return -high, high

    def total_change(self, points):
        """Return a function that computes the sum of the changes over all factors, O(d^2)."""
        return TotalChange(self.gradient, self.hessian, self.center, points)


class TaylorControl(Quadratic):
    """h_n(theta) = g_n'(theta - c) + (theta - c)' H_n (theta - c) / 2, for any g_n and H_n.

    Parameters
    ----------
    center : array_like of float, shape (d,)
        c, a point near the posterior's mode.
    gradients : array_like of float, shape (N, d)
        g_n, gradients of the log likelihood of each factor at the center. Copied.
    hessians : array_like of float, shape (N, d, d), optional
        H_n, symmetric. 0 by default, which is a first-order expansion. Copied: 8 N d^2 bytes;
        `from_autodiff` usually needs less.
    third : float or array_like of float, shape (N,), optional
        Bound on the third derivatives D_jkl of each log likelihood: |sum_jkl D_jkl v_j v_k v_l| <=
        third |v|^3 for every vector v, at every point that a chain may reach. The gradients and
        Hessians must then be exact. Required by `ExactMinibatch.from_control` (unless it is given
        bounds) and by ``BettingBound(value_range="control")`` of `RacingMetropolis`.

    Raises
    ------
    ValueError, TypeError
        If the shapes disagree or a number is not finite.

    Notes
    -----
    Computing h_n takes O(d^2), compiled; O(d) for a `GLMControl`.

    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(1).normal(0.3, 1.0, (10_000, 2))
    >>> center = y.mean(axis=0)
    >>> control = pb.mcmc.TaylorControl(center, y - center)
    """

    def __init__(self, center: ArrayLike, gradients: ArrayLike,
                 hessians: ArrayLike | None = None, *, third: ArrayLike | None = None) -> None:
        self.center = _finite("center", center, (None,))
        d = self.center.size
        # Copies: the sums are computed once, and the caller may reuse a buffer.
        self.gradients = _finite("gradients", gradients, (None, d))
        self.hessians = self.directions = self.weights = None
        self.gradient = np.ascontiguousarray(self.gradients.sum(axis=0))
        self.hessian = np.zeros((d, d))
        if hessians is not None:
            self.hessians = _finite("hessians", hessians, (len(self.gradients), d, d))
            self.hessian = np.ascontiguousarray(self.hessians.sum(axis=0))
        self.third = _bounds(third, len(self.gradients))

    @classmethod
    def from_autodiff(cls, log_likelihood: Callable[[Ints, Floats], ArrayLike], n_factors: int,
                      center: ArrayLike, *, backend: str = "finite",
                      third: ArrayLike | None = None) -> "TaylorControl":
        """Expand any smooth log likelihood to second order by automatic or numeric derivatives.

        Parameters
        ----------
        log_likelihood : callable
            ``log_likelihood(indices, theta)`` returns log p(y_n | theta) of these n factors at
            one point, shape (n,). With the backends jax and autograd it must be written in
            ``jax.numpy`` or ``autograd.numpy``.
        n_factors : int
            N.
        center : array_like of float, shape (d,)
            c, a point near the posterior's mode.
        backend : {"finite", "jax", "autograd"}
            ``"finite"`` uses central differences and needs no package. Its derivatives have
            about six correct digits: enough for a race, but not for `ExactMinibatch`, which needs
            exact ones. Derivatives of the other backends are exact up to rounding.
        third : float or array_like of float, shape (N,), optional
            As for the class.

        Returns
        -------
        TaylorControl

        Raises
        ------
        ValueError, TypeError
            If an argument is outside its range, or a derivative is not finite.
        MissingPackageError
            If the backend's package is not installed: ``pip install 'pybandit-core[jax]'`` or
            ``[autograd]``.

        Notes
        -----
        Makes about d^2 evaluations of all rows, in blocks whose Hessians take up to 16 MiB. For
        each row the gradient is kept and, if its Hessian has rank r <= d / 2, r vectors and
        weights: 8 (d + r (d + 1)) bytes instead of 8 d^2 for the matrix. A model with r linear
        predictors has rank r. Computing h_n then takes O(r d), compiled.

        Examples
        --------
        Student's t distribution with an unknown scale:

        >>> import numpy as np, pybandit as pb
        >>> rng = np.random.default_rng(1)
        >>> x = rng.normal(size=(5_000, 3))
        >>> y = x @ [1.0, -0.5, 0.0] + 0.5 * rng.standard_t(4, size=5_000)
        >>> def log_likelihood(rows, theta):
        ...     u = (y[rows] - x[rows] @ theta[:3]) * np.exp(-theta[3])
        ...     return -2.5 * np.log1p(u**2 / 4) - theta[3]
        >>> control = pb.mcmc.TaylorControl.from_autodiff(log_likelihood, 5_000,
        ...                                               [1.0, -0.5, 0.0, np.log(0.5)])
        >>> control.directions.shape                # two products per row
        (5000, 2, 4)
        """
        check_choice("backend", backend, BACKENDS)
        if not callable(log_likelihood):
            raise TypeError(f"log_likelihood must be callable; got {shown(log_likelihood)}")
        n = check_integer("n_factors", n_factors, 1, MOST_PULLS)
        point = _finite("center", center, (None,))
        d, gradients, kept = point.size, [], []
        most = d // 2
        for _, slopes, hessians in blocks_of(log_likelihood, n, point, backend):
            gradients.append(slopes)
            kept.append(products_of(hessians, rounding_of(backend), most))
        self = cls(point, np.concatenate(gradients), third=third)
        if any(isinstance(block, np.ndarray) for block in kept):
            # The rank of a row is too high: keep matrices of all rows, without another copy.
            self.hessians = _finite("hessians", np.concatenate([_matrices_of(b) for b in kept]),
                                    (n, d, d), copy=False)
            self.hessian = np.ascontiguousarray(self.hessians.sum(axis=0))
            return self
        rank = max(weights.shape[1] for weights, _ in kept)
        self.weights, self.directions = np.zeros((n, rank)), np.zeros((n, rank, d))
        begin = 0
        for weights, directions in kept:
            rows = slice(begin, begin + len(weights))
            self.weights[rows, :weights.shape[1]] = weights
            self.directions[rows, :weights.shape[1]] = directions
            self.hessian += np.tensordot(weights[:, :, None] * directions, directions,
                                         axes=((0, 1), (0, 1)))
            begin = rows.stop
        self.hessian = np.ascontiguousarray((self.hessian + self.hessian.T) / 2)
        if not rank:
            self.weights = self.directions = None
        return self

    @property
    def n_factors(self) -> int:
        """Number of factors, N."""
        return len(self.gradients)

    def changes(self, points: ArrayLike) -> Any:
        """Return h_n(points[1]) - h_n(points[0]) as the values of a `ControlVariate`.

        `points` is a C-contiguous float64 array of shape (2, d). It is not copied, and is read
        at each evaluation.
        """
        return ExpansionChange(self.gradients, self.hessians, self.directions, self.weights,
                               self.center, points)


class GLMControl(Quadratic):
    """h_n = slope_n s + curvature_n s^2 / 2, s = x_n'(theta - center).

    For models in which the log likelihood depends on the parameters through x_n'theta alone,
    such as generalised linear models. Its first two derivatives with respect to x_n'theta at
    the center give the second-order expansion.

    Parameters
    ----------
    features : array_like of float, shape (N, d)
        x_n. Not copied if C-contiguous float64: do not change it while the control is used.
    slopes, curvatures : array_like of float, shape (N,)
        First and second derivatives with respect to x_n'theta at the center. Copied.
    center : array_like of float, shape (d,)
        A point near the posterior's mode.
    third : float or array_like of float, shape (N,), optional
        Bound on the absolute third derivative with respect to x_n'theta, at every point that
        a chain may reach: 1 / (6 sqrt 3) for logistic regression. Slopes and curvatures must then
        be exact. Required by `ExactMinibatch.from_control` (unless it is given bounds) and by
        ``BettingBound(value_range="control")`` of `RacingMetropolis`.

    Raises
    ------
    ValueError, TypeError
        If the shapes disagree or a number is not finite.

    Notes
    -----
    Computing h_n takes O(d), compiled; the constructor takes O(N d^2).

    **Threads.** Immutable: threads may share it.

    Examples
    --------
    Logistic regression, y in {0, 1}:

    >>> import numpy as np, pybandit as pb
    >>> rng = np.random.default_rng(1)
    >>> x, center = rng.normal(size=(10_000, 3)), np.array([0.5, 0.0, -0.5])
    >>> p = 1 / (1 + np.exp(-x @ center))
    >>> y = rng.random(10_000) < p
    >>> control = pb.mcmc.GLMControl(x, y - p, -p * (1 - p), center)
    """

    def __init__(self, features: ArrayLike, slopes: ArrayLike, curvatures: ArrayLike,
                 center: ArrayLike, *, third: ArrayLike | None = None) -> None:
        self.features = np.ascontiguousarray(
            _finite("features", features, (None, None), copy=False))
        n, d = self.features.shape
        # Copies: the sums are computed once, and the caller may reuse a buffer.
        self.slopes = _finite("slopes", slopes, (n,))
        self.curvatures = _finite("curvatures", curvatures, (n,))
        self.center = _finite("center", center, (d,))
        self.gradient = self.slopes @ self.features
        self.hessian = np.ascontiguousarray(
            self.features.T @ (self.curvatures[:, None] * self.features))
        self.third = _bounds(third, n)

    @property
    def n_factors(self) -> int:
        """Number of factors, N."""
        return len(self.features)

    def changes(self, points: ArrayLike) -> Any:
        """Return h_n(points[1]) - h_n(points[0]) as the values of a `ControlVariate`.

        `points` is a C-contiguous float64 array of shape (2, d). It is not copied, and is read
        at each evaluation. The `ControlVariate` must be used with N factors.
        """
        return LinearChange(self.features, self.slopes, self.curvatures, self.center, points)


def _finite(name, array, shape, copy=True):
    """Return finite float64 values of this shape; None stands for any length of at least 1."""
    array = check_in(name, array, "finite", np.isfinite, copy)
    if array.ndim != len(shape) or 0 in array.shape or any(
            wanted not in (None, got) for wanted, got in zip(shape, array.shape, strict=True)):
        raise ValueError(f"{name} must have shape {shape} (None: any); got {array.shape}")
    return array


def _matrices_of(block):
    if isinstance(block, np.ndarray):
        return block
    weights, directions = block
    return np.einsum("nk,nki,nkj->nij", weights, directions, directions)


def _bounds(third, n):
    """Return a copy of the bounds, one number or one per factor; None if none are given."""
    if third is None:
        return None
    third = check_in("third", third, "finite and at least 0", lambda k: np.isfinite(k) & (k >= 0))
    if third.shape not in ((), (n,)):
        raise ValueError(f"third must be a scalar or have shape ({n},), one value per factor; got "
                         f"shape {third.shape}")
    return third
