"""Data sets of the demo and the examples."""

import math

import numpy as np

from pybandit._shared.checks import check_choice, check_in, check_integer
from pybandit._shared.optional import require

# Rec. 601: brightness of red, green and blue.
LUMA = (0.299, 0.587, 0.114)

# Distributions of the raw rewards in Chen & Ghahramani 2016, Sec. 5.1.
_DISTRIBUTIONS = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "uniform": lambda rng, shape: rng.random(shape),
    "lognormal": lambda rng, shape: np.exp(math.sqrt(2.0) * rng.standard_normal(shape)),
}


def sp500_returns():
    """Return daily log-returns of the S&P 500 index, 1999 to 2018, in percent, minus their mean.

    Returns
    -------
    ndarray of float64, shape (5030,)

    Raises
    ------
    MissingPackageError
        If `arch`, which contains the prices, is not installed.
    """
    prices = require("arch.data.sp500", "demo").load()["Adj Close"].to_numpy(np.float64)
    returns = 100.0 * np.diff(np.log(prices))
    return returns - returns.mean()


def flower_brightness():
    """Return the brightness of scikit-learn's photograph of a flower, in grey levels 0 to 255.

    Returns
    -------
    ndarray of float64, shape (427, 640)

    Raises
    ------
    MissingPackageError
        If `scikit-learn`, which contains the photograph, or `pillow`, which
        decodes it, is not installed.
    """
    require("PIL", "demo")
    return require("sklearn.datasets", "demo").load_sample_image("flower.jpg") @ np.array(LUMA)


def flower_gradients():
    """Return the horizontal brightness gradient at each pixel, in grey levels per pixel.

    Central differences, one-sided at the left and right edges.

    Returns
    -------
    ndarray of float64, shape (273280,)
    """
    return np.gradient(flower_brightness(), axis=1).ravel()


def synthetic_race(distribution="normal", sigma=1e-4, n_factors=100_000, n_states=10, rng=None):
    """Return the synthetic environment of Chen & Ghahramani 2016, Sec. 5.1.

    Raw rewards are drawn independently. The rewards of a state are then shifted and scaled to mean
    0 and standard deviation `sigma` over the factors. The factors therefore cancel in the totals,
    and the distribution is the prior, p(i) proportional to i + 1, for any noise.

    Parameters
    ----------
    distribution : {"normal", "uniform", "lognormal"}
        Normal(0, 1), Uniform[0, 1], or log-normal of log-variance 2.
    sigma : float
        Standard deviation of the log factors of each state, at least 0.
    n_factors, n_states : int
        N, at least 2, and D, at least 1.
    rng : None, int, SeedSequence or Generator
        The same seed gives the same raw rewards at every `sigma`.

    Returns
    -------
    factors : ndarray of float64, shape (N, D)
        Log factors.
    log_prior : ndarray of float64, shape (D,)
        log p.
    """
    check_choice("distribution", distribution, tuple(_DISTRIBUTIONS))
    sigma = check_in("sigma", sigma, "at least 0 and finite", lambda s: (s >= 0) & np.isfinite(s))
    n_factors = check_integer("n_factors", n_factors, 2)
    n_states = check_integer("n_states", n_states, 1)
    factors = _DISTRIBUTIONS[distribution](np.random.default_rng(rng), (n_factors, n_states))
    factors -= factors.mean(axis=0)
    factors *= sigma / factors.std(axis=0)
    weights = np.arange(1.0, n_states + 1)
    return factors, np.log(weights / weights.sum())


def breast_cancer():
    """Return the Wisconsin breast cancer data of scikit-learn, with standardised features.

    Returns
    -------
    features : ndarray of float64, shape (569, 30)
    labels : ndarray of int64, shape (569,)
        1 if the tumour is benign.

    Raises
    ------
    MissingPackageError
        If `scikit-learn`, which contains the data, is not installed.
    """
    loaded = require("sklearn.datasets", "sklearn").load_breast_cancer()
    features = loaded.data.astype(np.float64)
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    return features, loaded.target.astype(np.int64)
