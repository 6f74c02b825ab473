"""What describes correlated arms: a kernel matrix, features, or a kernel and points."""

import warnings
from typing import NamedTuple

import numpy as np

from pybandit._shared.checks import check_in, check_integer
from pybandit._shared.optional import require
from pybandit.policies.protocol._deviations import WIDEST, check_deviation

# of the largest eigenvalue: what rounding may put below 0
SLACK = 1e-8


def prior_of_arms(kernel, features, n_arms):
    """The arms' matrix or features: (matrix or None, features or None), checked copies.

    A callable kernel is evaluated at `features`, points then; d features of fewer arms than
    d become a matrix.
    """
    if kernel is None and features is None:
        return np.eye(n_arms), None
    if callable(kernel):
        if features is None:
            raise ValueError("features must hold the arms' points where kernel is a function; "
                             "got None")
        return checked_kernel(kernel(checked_features(features))), None
    if features is None:
        return checked_kernel(kernel), None
    if kernel is not None:
        raise ValueError("kernel must be a function, or None, where features are given; got a "
                         f"{type(kernel).__name__}")
    features = checked_features(features)
    if features.shape[0] <= features.shape[1]:
        return features @ features.T, None
    return None, features


def checked_features(features):
    features = check_in("features", features, f"finite, of size {WIDEST:g} at most",
                        lambda x: np.abs(x) <= WIDEST)
    if features.ndim != 2 or not features.size:
        raise ValueError("features must have a row an arm, at least one, and a column or more; "
                         f"got shape {features.shape}")
    return features


def checked_kernel(kernel):
    """A copy that is exactly symmetric, if it is symmetric and not indefinite up to rounding."""
    kernel = check_in("kernel", kernel, f"finite, of size {WIDEST**2:g} at most",
                      lambda x: np.abs(x) <= WIDEST**2)
    if kernel.ndim != 2 or kernel.shape[0] != kernel.shape[1] or not kernel.size:
        raise ValueError(f"kernel must be square, a row an arm; got shape {kernel.shape}")
    largest = np.abs(kernel).max()
    apart = np.abs(kernel - kernel.T)
    if apart.max() > SLACK * largest:
        i, j = np.unravel_index(apart.argmax(), apart.shape)
        raise ValueError(f"kernel must be symmetric; got {kernel[i, j]} at ({i}, {j}) and "
                         f"{kernel[j, i]} at ({j}, {i})")
    # the lower triangle: equal rows of it stay equal
    kernel = np.tril(kernel) + np.tril(kernel, -1).T
    try:
        # a tenth of the cost of eigenvalues, and enough where it works
        np.linalg.cholesky(kernel + SLACK * kernel.diagonal().max() * np.eye(len(kernel)))
    except np.linalg.LinAlgError:
        values = np.linalg.eigvalsh(kernel)
        if values[0] < -SLACK * max(values[-1], 0.0):
            raise ValueError("kernel must be positive semi-definite; got the eigenvalue "
                             f"{values[0]:.6g}, and {values[-1]:.6g} as the largest") from None
    return kernel


def factor_of(kernel):
    """Features X of which the matrix is X X', with as many columns as its rank."""
    values, vectors = np.linalg.eigh(kernel)
    # what is below is rounding of the largest; a matrix of zeros keeps one column
    kept = values > len(values) * np.finfo(float).eps * values[-1]
    kept[-1] = True
    return np.ascontiguousarray(vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0.0)))


class Prior(NamedTuple):
    """The arms' prior, and what a posterior that starts from it needs."""

    points: np.ndarray | None  # in weight form
    norms: np.ndarray          # of the arms, squared, without prior_std
    means: np.ndarray
    variances: np.ndarray
    spread: np.ndarray
    weights: np.ndarray
    memory: np.ndarray

    @classmethod
    def of(cls, matrix, points, prior_std, as_weights):
        """In weight form where there are points, or where `as_weights` asks for it."""
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
    """Pulls between two refits; 0: never."""
    if refit_every is None:
        return 0
    if not hasattr(kernel, "clone_with_theta"):
        raise ValueError("kernel must be a kernel of scikit-learn, as pybandit.kernels makes them, "
                         f"where refit_every is given; got a {type(kernel).__name__}")
    if noise_std is None:
        raise ValueError("noise_std must be a number to begin with where refit_every is given; "
                         "got None")
    return check_integer("refit_every", refit_every, 1)


def checked_noise(noise_std):
    return None if noise_std is None else check_deviation("noise_std", noise_std)


def refitted(kernel, points, rewards, prior_std, noise_std):
    """Kernel, prior_std and noise_std of the largest marginal likelihood, from these on.

    As given where scikit-learn finds no better ones.
    """
    gaussian_process = require("sklearn.gaussian_process", "sklearn")
    kernels = require("sklearn.gaussian_process.kernels", "sklearn")
    model = (kernels.ConstantKernel(prior_std**2, (1e-6, 1e6)) * kernel
             + kernels.WhiteKernel(noise_std**2, (1e-10, 1e6)))
    regressor = gaussian_process.GaussianProcessRegressor(model, alpha=0.0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # bounds that were reached
            found = regressor.fit(points, rewards).kernel_
    except np.linalg.LinAlgError:
        return kernel, prior_std, noise_std
    return found.k1.k2, found.k1.k1.constant_value**0.5, found.k2.noise_level**0.5
