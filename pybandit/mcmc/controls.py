"""Second-order control variates in the parameters, for Metropolis-Hastings.

h_n(theta) is an expansion of the log likelihood of factor n around a center. What is
raced is d_n - (h_n(x') - h_n(x)); the sum of the second part over all n is a quadratic
form of the sums of the gradients and Hessians, which the threshold gets: O(d^2) a step.
"""

from typing import Any

import numpy as np

from pybandit._shared.checks import check_in
from pybandit._shared.types import ArrayLike
from pybandit.racing._linear_control import LinearChange, TotalChange, viewed


class _Quadratic:
    """What is the same for all: the sums of the gradients and Hessians."""

    @property
    def n_parameters(self):
        """d."""
        return self.center.size

    def total_change(self, points):
        """A function that returns the sum of the changes over all factors, O(d^2)."""
        return TotalChange(self.gradient, self.hessian, self.center, points)


class TaylorControl(_Quadratic):
    """h_n(theta) = g_n'(theta - c) + (theta - c)' H_n (theta - c) / 2, any g_n and H_n.

    Parameters
    ----------
    center : array_like of float, shape (d,)
        c, near the posterior's mode.
    gradients : array_like of float, shape (N, d)
        Of the log likelihood of each factor, at the center.
    hessians : array_like of float, shape (N, d, d), optional
        Symmetric. 0 by default, a first-order expansion.
    third : float or array_like of float, shape (N,), optional
        A bound of the third derivative of each log likelihood as a form, |sum_jkl D_jkl v_j
        v_k v_l| <= third |v|^3, wherever a chain may go; with Hessians that are exact.
        `ExactMinibatch.from_control` and ``bound="betting"`` of `RacingMetropolis` rest on it.

    Raises
    ------
    ValueError, TypeError
        Where the shapes disagree or a number is not finite.

    Notes
    -----
    A value costs O(d^2), in Python; `GLMControl` O(d), compiled.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(1).normal(0.3, 1.0, (10_000, 2))
    >>> center = y.mean(axis=0)
    >>> control = pb.mcmc.TaylorControl(center, y - center)
    """

    def __init__(self, center: ArrayLike, gradients: ArrayLike,
                 hessians: ArrayLike | None = None, *, third: ArrayLike | None = None) -> None:
        self.center = np.array(_finite("center", center, (None,)), order="C")
        d = self.center.size
        self.gradients = _finite("gradients", gradients, (None, d))
        self.hessians = None
        self.gradient = np.ascontiguousarray(self.gradients.sum(axis=0))
        self.hessian = np.zeros((d, d))
        if hessians is not None:
            self.hessians = _finite("hessians", hessians, (len(self.gradients), d, d))
            self.hessian = np.ascontiguousarray(self.hessians.sum(axis=0))
        self.third = _bounds(third, len(self.gradients))

    @property
    def n_factors(self) -> int:
        """N."""
        return len(self.gradients)

    def changes(self, points: ArrayLike) -> Any:
        """h_n(points[1]) - h_n(points[0]) as the values of a `ControlVariate`; read anew.

        `points` is a C-contiguous float64 array of shape (2, d).
        """
        viewed("points", points, 2, self.n_parameters)

        def values(indices, states):
            change, middle = points[1] - points[0], 0.5 * (points[0] + points[1]) - self.center
            slopes = self.gradients[indices]
            if self.hessians is not None:
                slopes = slopes + self.hessians[indices] @ middle
            return (slopes @ change)[:, None]

        return values


class GLMControl(_Quadratic):
    """h_n = slope_n s + curvature_n s^2 / 2, s = x_n'(theta - center).

    For models whose log likelihood depends on the parameters through x_n'theta alone,
    as generalised linear models: the first two derivatives with respect to it, at the
    center, give the second-order expansion.

    Parameters
    ----------
    features : array_like of float, shape (N, d)
        x_n. Not copied if C-contiguous float64.
    slopes, curvatures : array_like of float, shape (N,)
        First and second derivative with respect to x_n'theta at the center.
    center : array_like of float, shape (d,)
        Near the posterior's mode.
    third : float or array_like of float, shape (N,), optional
        The most that the third derivative with respect to x_n'theta is in size, wherever a
        chain may go: 1 / (6 sqrt 3) for logistic regression; with slopes and curvatures that
        are exact. `ExactMinibatch.from_control` and ``bound="betting"`` of
        `RacingMetropolis` rest on it.

    Raises
    ------
    ValueError, TypeError
        Where the shapes disagree or a number is not finite.

    Notes
    -----
    A value costs O(d), compiled; its making O(N d^2), once.

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
        self.features = np.ascontiguousarray(_finite("features", features, (None, None)))
        n, d = self.features.shape
        self.slopes = np.ascontiguousarray(_finite("slopes", slopes, (n,)))
        self.curvatures = np.ascontiguousarray(_finite("curvatures", curvatures, (n,)))
        self.center = np.array(_finite("center", center, (d,)))
        self.gradient = self.slopes @ self.features
        self.hessian = np.ascontiguousarray(
            self.features.T @ (self.curvatures[:, None] * self.features))
        self.third = _bounds(third, n)

    @property
    def n_factors(self) -> int:
        """N."""
        return len(self.features)

    def changes(self, points: ArrayLike) -> Any:
        """h_n(points[1]) - h_n(points[0]) as the values of a `ControlVariate`; read anew.

        `points` is a C-contiguous float64 array of shape (2, d). The values are of N
        factors: a ControlVariate of others is refused.
        """
        return LinearChange(self.features, self.slopes, self.curvatures, self.center, points)


def _finite(name, array, shape):
    """Finite float64 of this shape, where None is any length of at least 1."""
    array = check_in(name, array, "finite", np.isfinite)
    if array.ndim != len(shape) or 0 in array.shape or any(
            wanted not in (None, got) for wanted, got in zip(shape, array.shape, strict=True)):
        raise ValueError(f"{name} must have shape {shape} (None: any); got {array.shape}")
    return array


def _bounds(third, n):
    """At least 0, one number or one a factor; None where none are given."""
    if third is None:
        return None
    third = check_in("third", third, "finite and at least 0", lambda k: np.isfinite(k) & (k >= 0))
    if third.shape not in ((), (n,)):
        raise ValueError(f"third must be a number or have shape ({n},), one a factor; got "
                         f"{third.shape}")
    return third
