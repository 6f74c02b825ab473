"""Kernels of Gaussian processes from scikit-learn, for `BayesGap` and related policies.

Each function returns a kernel object of scikit-learn: sums and products of kernels are kernels,
and ``kernel(points)`` is the matrix. They need the extra ``pybandit-core[sklearn]``.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pybandit._shared.checks import check_in, check_scalar, plain
from pybandit._shared.optional import require
from pybandit._shared.types import ArrayLike

__all__ = ["matern", "rbf"]


def rbf(length_scale: ArrayLike = 1.0) -> Callable[..., Any]:
    """Return the kernel ``exp(-|x - y|^2 / (2 l^2))``.

    The kernel ``exp(-|x - y|^2 / l^2)`` of Hoffman, Shahriari and de Freitas 2014 is
    ``rbf(l / 2**0.5)``.

    Parameters
    ----------
    length_scale : float or array_like of float, shape (d,), default 1
        l, or one value per coordinate; above 0, in the units of the points.

    Returns
    -------
    sklearn.gaussian_process.kernels.RBF
        ``kernel(points)``, for points of shape (n, d), is a float64 matrix of shape (n, n).

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.
    MissingPackageError
        Without scikit-learn.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> points = np.array([[0.0], [1.0], [3.0]])
    >>> pb.kernels.rbf(1.0)(points).round(3)
    array([[1.   , 0.607, 0.011],
           [0.607, 1.   , 0.135],
           [0.011, 0.135, 1.   ]])

    Passed to a policy, for arms at these points:

    >>> x = np.linspace(0, 10, 50)[:, None]
    >>> policy = pb.policies.BayesGap(50, budget=30, noise_std=0.1,
    ...                               kernel=pb.kernels.rbf(2**0.5)(x))
    """
    return _sklearn().RBF(_checked(length_scale))


def matern(length_scale: ArrayLike = 1.0, nu: float = 2.5) -> Callable[..., Any]:
    """Return Matern's kernel, for functions that are ceil(nu) - 1 times differentiable.

    Parameters
    ----------
    length_scale : float or array_like of float, shape (d,), default 1
        l, or one value per coordinate; above 0, in the units of the points.
    nu : float, default 2.5
        Above 0; infinity gives `rbf`. The values 0.5, 1.5, 2.5 and infinity are fast.

    Returns
    -------
    sklearn.gaussian_process.kernels.Matern
        ``kernel(points)``, for points of shape (n, d), is a float64 matrix of shape (n, n).

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.
    MissingPackageError
        Without scikit-learn.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> points = np.array([[0.0], [1.0], [3.0]])
    >>> pb.kernels.matern(1.0, nu=0.5)(points).round(3)   # exp(-distance)
    array([[1.   , 0.368, 0.05 ],
           [0.368, 1.   , 0.135],
           [0.05 , 0.135, 1.   ]])
    """
    return _sklearn().Matern(
        _checked(length_scale), nu=check_scalar("nu", nu, "above 0", lambda x: x > 0))


def _checked(length_scale):
    return plain(check_in("length_scale", length_scale, "finite and above 0",
                          lambda x: np.isfinite(x) & (x > 0)))


def _sklearn():
    return require("sklearn.gaussian_process.kernels", "sklearn")
