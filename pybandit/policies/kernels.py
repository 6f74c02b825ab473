"""Kernels of Gaussian processes, scikit-learn's own; for `BayesGap` and its rivals.

Each function gives a kernel object of scikit-learn: sums and products of them are kernels,
and ``kernel(points)`` is the matrix. They need the extra ``pybandit-core[sklearn]``.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pybandit._shared.checks import check_in, check_scalar, plain
from pybandit._shared.optional import require

__all__ = ["matern", "rbf", "squared_exponential"]


def rbf(length_scale: float = 1.0) -> Callable[..., Any]:
    """``exp(-|x - y|^2 / (2 l^2))``; a length scale, or one a coordinate."""
    return _sklearn().RBF(_checked(length_scale))


def squared_exponential(length_scale: float = 1.0) -> Callable[..., Any]:
    """``exp(-|x - y|^2 / l^2)``, as Hoffman, Shahriari and de Freitas 2014 write it."""
    return _sklearn().RBF(_checked(length_scale) / 2**0.5)


def matern(length_scale: float = 1.0, nu: float = 2.5) -> Callable[..., Any]:
    """Matern's kernel; `nu` 0.5, 1.5, 2.5 or infinity are fast."""
    return _sklearn().Matern(
        _checked(length_scale), nu=check_scalar("nu", nu, "above 0", lambda x: x > 0))


def _checked(length_scale):
    return plain(check_in("length_scale", length_scale, "finite and above 0",
                          lambda x: np.isfinite(x) & (x > 0)))


def _sklearn():
    return require("sklearn.gaussian_process.kernels", "sklearn")
