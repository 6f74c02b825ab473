"""Checks of the kernel matrix, features, or kernel and points of correlated arms."""

import warnings
from typing import NamedTuple

import numpy as np

from pybandit._shared.checks import check_in, check_integer, check_numeric
from pybandit._shared.optional import require
from pybandit.policies.correlated._symmetry import inspected
from pybandit.policies.protocol._deviations import WIDEST, check_deviation

# rounding may put eigenvalues this far below 0, relative to the largest
SLACK = 1e-8
# a Cholesky decomposition of so many arms takes a millisecond
MOST_FACTORED = 256


class Kernel(NamedTuple):
    """A symmetric matrix, and the largest amount by which an eigenvalue may be below 0.

    `slack` is infinite if the matrix is positive semi-definite by its origin.
    """

    matrix: np.ndarray
    slack: float


def prior_of_arms(kernel, features, n_arms):
    """Return checked copies of the arms' kernel or features: (Kernel or None, features or None).

    A callable kernel is evaluated at `features`, which are then points. Features with at most as
    many rows as columns are converted to a matrix.
    """
    if kernel is None and features is None:
        return Kernel(np.eye(n_arms), np.inf), None
    if callable(kernel):
        if features is None:
            raise ValueError("features must be the arms' points if kernel is a function; got "
                             "None")
        return checked_kernel(kernel(checked_features(features))), None
    if features is None:
        return checked_kernel(kernel), None
    if kernel is not None:
        raise ValueError("kernel must be a function or None if features are given; got a "
                         f"{type(kernel).__name__}")
    features = checked_features(features)
    if features.shape[0] <= features.shape[1]:
        return Kernel(features @ features.T, np.inf), None
    return None, features


def checked_features(features):
    features = check_in("features", features, f"finite, of size {WIDEST:g} at most",
                        lambda x: np.abs(x) <= WIDEST)
    if features.ndim != 2 or not features.size:
        raise ValueError("features must be a matrix with one row per arm and at least one column; "
                         f"got shape {features.shape}")
    return features


def checked_kernel(kernel):
    """Return an exactly symmetric copy of a kernel as a `Kernel`; raise if it is invalid.

    All entries are checked, but positive semi-definiteness only for up to `MOST_FACTORED` arms.
    """
    kernel = check_numeric("kernel", kernel)
    if kernel.ndim != 2 or kernel.shape[0] != kernel.shape[1] or not kernel.size:
        raise ValueError(f"kernel must be square, one row per arm; got shape {kernel.shape}")
    largest, apart, row_sum, i, j = inspected(kernel)
    if not (np.isfinite(row_sum) and largest <= WIDEST**2):
        check_in("kernel", kernel, f"finite, of size {WIDEST**2:g} at most",
                 lambda x: np.abs(x) <= WIDEST**2, copy=False)
    if apart > SLACK * largest:
        raise ValueError(f"kernel must be symmetric; got {kernel[j, i]} at ({j}, {i}) and "
                         f"{kernel[i, j]} at ({i}, {j})")
    if apart:  # mirror the lower triangle: equal rows stay equal
        kernel = np.tril(kernel) + np.tril(kernel, -1).T
    slack = SLACK * row_sum  # the largest eigenvalue is at most row_sum
    _check_part(kernel, slack)
    return Kernel(kernel, slack)


def _check_part(kernel, slack):
    """Raise ValueError if the kernel of up to `MOST_FACTORED` arms, evenly spaced, is invalid."""
    step = -(-len(kernel) // MOST_FACTORED)
    part = kernel[::step, ::step]
    try:
        # a tenth of the time of eigenvalues; if it succeeds, the part is valid
        np.linalg.cholesky(part + SLACK * part.diagonal().max() * np.eye(len(part)))
    except np.linalg.LinAlgError:
        values = np.linalg.eigvalsh(part)
        _check_least(values, slack if step > 1 else SLACK * max(values[-1], 0.0))
    diagonal = kernel.diagonal()
    if diagonal.min() < -slack:
        raise ValueError(f"kernel must be positive semi-definite; got {diagonal.min()} on its "
                         f"diagonal, at index {diagonal.argmin()}")


def _check_least(values, slack):
    if values[0] < -slack:
        raise ValueError("kernel must be positive semi-definite; got least eigenvalue "
                         f"{values[0]:.6g} and largest {values[-1]:.6g}")


def factor_of(kernel):
    """Return features X with ``X X'`` equal to the kernel, as many columns as its rank."""
    values, vectors = np.linalg.eigh(kernel)
    _check_least(values, SLACK * max(values[-1], 0.0))
    # smaller eigenvalues are rounding errors of the largest; a matrix of zeros keeps one column
    kept = values > len(values) * np.finfo(float).eps * values[-1]
    kept[-1] = True
    return np.ascontiguousarray(vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0.0)))


class Prior(NamedTuple):
    """The arms' prior, and arrays for a posterior that starts from it."""

    points: np.ndarray | None  # None in covariance form
    matrix: np.ndarray | None  # None in weight form; the covariance is scale times it
    scale: float               # prior_std^2
    slack: float               # a variance below -slack shows that the matrix is invalid
    norms: np.ndarray          # prior variances, without the factor prior_std^2
    means: np.ndarray
    variances: np.ndarray
    spread: np.ndarray
    weights: np.ndarray
    memory: np.ndarray

    @classmethod
    def of(cls, kernel, points, prior_std, as_weights):
        """Return the prior, in weight form if there are points or `as_weights` is set."""
        if as_weights and points is None:
            points = factor_of(kernel.matrix)
        square = prior_std**2
        if points is None:
            matrix, slack = kernel.matrix, 2.0 * square * kernel.slack
            norms = np.maximum(matrix.diagonal(), 0.0)
            spread, weights, memory = np.empty(0), np.zeros(1), np.empty(1)
        else:
            matrix, slack = None, np.inf
            norms, d = np.einsum("kj,kj->k", points, points), points.shape[1]
            spread = (prior_std * np.eye(d)).ravel()
            weights, memory = np.zeros(d), np.empty(2 * d)
        return cls(points, matrix, square, slack, norms, np.zeros(len(norms)), square * norms,
                   spread, weights, memory)


def checked_noise_prior(noise_prior):
    prior = check_in("noise_prior", noise_prior, "finite and above 0",
                     lambda x: np.isfinite(x) & (x > 0))
    if prior.shape != (2,):
        raise ValueError(f"noise_prior must be two numbers, (a, b); got shape {prior.shape}")
    return float(prior[0]), float(prior[1])


def checked_refit(refit_every, kernel, noise_std):
    """Return the number of pulls between refits; 0 for none."""
    if refit_every is None:
        return 0
    if not hasattr(kernel, "clone_with_theta"):
        raise ValueError("kernel must be a kernel of scikit-learn, such as those of "
                         "pybandit.kernels, if refit_every is given; got a "
                         f"{type(kernel).__name__}")
    if noise_std is None:
        raise ValueError("noise_std must be a number, the initial value, if refit_every is given; "
                         "got None")
    return check_integer("refit_every", refit_every, 1)


def checked_noise(noise_std):
    return None if noise_std is None else check_deviation("noise_std", noise_std)


def refitted(kernel, points, rewards, prior_std, noise_std):
    """Return kernel, prior_std and noise_std that maximise the marginal likelihood.

    The search starts from the arguments, which are returned if scikit-learn's fit fails.
    """
    gaussian_process = require("sklearn.gaussian_process", "sklearn")
    kernels = require("sklearn.gaussian_process.kernels", "sklearn")
    model = (kernels.ConstantKernel(prior_std**2, (1e-6, 1e6)) * kernel
             + kernels.WhiteKernel(noise_std**2, (1e-10, 1e6)))
    regressor = gaussian_process.GaussianProcessRegressor(model, alpha=0.0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings that parameters are at their bounds
            found = regressor.fit(points, rewards).kernel_
    except np.linalg.LinAlgError:
        return kernel, prior_std, noise_std
    return found.k1.k2, found.k1.k1.constant_value**0.5, found.k2.noise_level**0.5
