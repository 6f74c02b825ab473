"""Theorem 1 of Hoffman, Shahriari and de Freitas 2014 as a function of the means of the arms.

Exploiting correlation and budget constraints in Bayesian multi-armed bandit optimization,
arXiv:1303.6746.
"""

import numpy as np

from pybandit._shared.checks import (
    MOST_PULLS,
    check_in,
    check_integer,
    check_scalar,
    nonnegative,
)
from pybandit._shared.types import ArrayLike

__all__ = ["bayes_gap_error"]


def bayes_gap_error(means: ArrayLike, *, budget: int, noise_std: float,
                    prior_variances: ArrayLike | None = None, prior_std: float = 1.0,
                    epsilon: float = 0.0) -> float:
    """Return the bound on the probability that `BayesGap` errs (Theorem 1).

    Hoffman et al. 2014, Theorem 1: probability that the recommended arm is more than `epsilon`
    below the best, at most, if beta is that of the true gaps and each arm is pulled at least
    once. The intervals of its proof are those of the posterior, so it holds on average over
    means drawn from the prior, not for any fixed means.

    Parameters
    ----------
    means : array_like of float, shape (n_arms,)
        True means, at least two.
    budget : int
        T, number of pulls, at least 1.
    noise_std : float
        sigma, in [1e-150, 1e150].
    prior_variances : array_like of float, shape (n_arms,), optional
        ``G_kk = ||x_k||^2``, above 0: the diagonal of the kernel; default 1.
    prior_std : float, default 1
        eta, in [1e-150, 1e150].
    epsilon : float, default 0
        Tolerated difference from the best mean, at least 0.

    Returns
    -------
    float
        Above 1, and then it says nothing, unless the budget is far above the number of arms.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    ``K T exp(-beta^2 / 2)`` with ``beta^2 = ((T - K) / sigma^2 + sum(1 / |x_k|^2) / eta^2) / (4
    H)`` (Eq. 9), 0 if this is negative, ``H = sum(1 / max((gap_k + epsilon) / 2, epsilon)^2)``, and
    gap_k the distance to the best mean, for the best arm to the next one. O(K).

    Examples
    --------
    >>> import pybandit as pb
    >>> bound = pb.bounds.bayes_gap_error([0.0, 1.0, 2.0], budget=800, noise_std=1.0)
    >>> round(bound, 4)
    0.0359
    """
    means = check_in("means", means, "finite", np.isfinite)
    if means.ndim != 1 or means.size < 2:
        raise ValueError(f"means must have shape (n_arms,), n_arms at least 2; got {means.shape}")
    n, budget = means.size, check_integer("budget", budget, 1, MOST_PULLS)
    sigma, eta = (check_scalar(name, value, "in [1e-150, 1e150]",
                               lambda x: (x >= 1e-150) & (x <= 1e150))
                  for name, value in (("noise_std", noise_std), ("prior_std", prior_std)))
    epsilon = check_scalar("epsilon", epsilon, "finite and at least 0", nonnegative)
    if prior_variances is None:
        prior_variances = np.ones(n)
    norms = check_in("prior_variances", prior_variances, "finite and above 0",
                     lambda x: np.isfinite(x) & (x > 0))
    if norms.shape != (n,):
        raise ValueError(f"prior_variances must have the shape of means, {(n,)}; "
                         f"got {norms.shape}")
    second, best = np.partition(means, n - 2)[n - 2:]
    gaps = np.where(np.arange(n) == means.argmax(), best - second, best - means)
    with np.errstate(divide="ignore"):
        hardness = (1.0 / np.maximum((gaps + epsilon) / 2, epsilon)**2).sum()
    numerator = (budget - n) / sigma**2 + (1.0 / norms).sum() / eta**2
    return float(n * budget * np.exp(-max(numerator, 0.0) / (8.0 * hardness)))
