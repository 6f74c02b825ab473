"""Checks of the kernel matrix, features, or kernel and points of correlated arms."""

import warnings
from typing import NamedTuple

import numpy as np

from pybandit._shared.checks import check_in, check_integer
from pybandit._shared.optional import require
from pybandit.policies.protocol._deviations import WIDEST, check_deviation

# rounding may put eigenvalues this far below 0, relative to the largest
SLACK = 1e-8


def prior_of_arms(kernel, features, n_arms):
    """Return checked copies of the arms' matrix or features: (matrix or None, features or None).

    A callable kernel is evaluated at `features`, which are then points. Features with at most as
    many rows as columns are converted to a matrix.
    """
    if kernel is None and features is None:
        return np.eye(n_arms), None
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
        return features @ features.T, None
    return None, features


def checked_features(features):
    features = check_in("features", features, f"finite, of size {WIDEST:g} at most",
                        lambda x: np.abs(x) <= WIDEST)
    if features.ndim != 2 or not features.size:
        raise ValueError("features must be a matrix with one row per arm and at least one column; "
                         f"got shape {features.shape}")
    return features


def checked_kernel(kernel):
    """Return an exactly symmetric copy of a kernel; raise if it is invalid beyond rounding."""
    kernel = check_in("kernel", kernel, f"finite, of size {WIDEST**2:g} at most",
                      lambda x: np.abs(x) <= WIDEST**2)
    if kernel.ndim != 2 or kernel.shape[0] != kernel.shape[1] or not kernel.size:
        raise ValueError(f"kernel must be square, one row per arm; got shape {kernel.shape}")
    largest = np.abs(kernel).max()
    apart = np.abs(kernel - kernel.T)
    if apart.max() > SLACK * largest:
        i, j = np.unravel_index(apart.argmax(), apart.shape)
        raise ValueError(f"kernel must be symmetric; got {kernel[i, j]} at ({i}, {j}) and "
                         f"{kernel[j, i]} at ({j}, {i})")
    # mirror the lower triangle: equal rows stay equal
    kernel = np.tril(kernel) + np.tril(kernel, -1).T
    try:
        # a tenth of the time of eigenvalues; if it succeeds, the kernel is valid
        np.linalg.cholesky(kernel + SLACK * kernel.diagonal().max() * np.eye(len(kernel)))
    except np.linalg.LinAlgError:
        values = np.linalg.eigvalsh(kernel)
        if values[0] < -SLACK * max(values[-1], 0.0):
            raise ValueError("kernel must be positive semi-definite; got least eigenvalue "
                             f"{values[0]:.6g} and largest {values[-1]:.6g}") from None
    return kernel


def factor_of(kernel):
    """Return features X with ``X X'`` equal to the kernel, as many columns as its rank."""
    values, vectors = np.linalg.eigh(kernel)
    # smaller eigenvalues are rounding errors of the largest; a matrix of zeros keeps one column
    kept = values > len(values) * np.finfo(float).eps * values[-1]
    kept[-1] = True
    return np.ascontiguousarray(vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0.0)))


class Prior(NamedTuple):
    """The arms' prior, and arrays for a posterior that starts from it."""

    points: np.ndarray | None  # None in covariance form
    norms: np.ndarray          # prior variances, without the factor prior_std^2
    means: np.ndarray
    variances: np.ndarray
    spread: np.ndarray
    weights: np.ndarray
    memory: np.ndarray

    @classmethod
    def of(cls, matrix, points, prior_std, as_weights):
        """Return the prior, in weight form if there are points or `as_weights` is set."""
        if as_weights and points is None:
            points = factor_of(matrix)
        square = prior_std**2
        if points is None:
            norms, n = np.maximum(matrix.diagonal(), 0.0), len(matrix)
            spread = square * matrix[np.tril_indices(n)]
            weights, memory = np.zeros(1), np.empty(n)
        else:
            norms, d = np.einsum("kj,kj->k", points, points), points.shape[1]
            spread = (prior_std * np.eye(d)).ravel()
            weights, memory = np.zeros(d), np.empty(2 * d)
        return cls(points, norms, np.zeros(len(norms)), square * norms, spread, weights, memory)


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
