"""Bounds on the regret of index policies, as Neufeld et al. 2014 cite them for estimators.

Neufeld, György, Schuurmans and Szepesvári, Adaptive Monte Carlo via bandit allocation, ICML
2014. By its Theorem 4 they bound n^2 times the excess squared error of the pooled mean of
estimators with values in [0, 1], with the gaps ``V_k - V*`` of the variances.
"""

import math
from typing import Any

import numpy as np

from pybandit._shared.checks import check_in, check_scalar
from pybandit._shared.types import ArrayLike

__all__ = ["bernoulli_regret_rate", "thompson_regret", "ucb1_regret", "ucb_v_regret"]


def ucb1_regret(gaps: ArrayLike, n: ArrayLike) -> Any:
    """Return a bound on the expected regret of `UCB1` after n pulls.

    Neufeld et al. 2014, Eq. 4 (Auer et al. 2002).

    Parameters
    ----------
    gaps : array_like of float, shape (n_arms,)
        Gap of each arm to the best one, in [0, 1]; 0 for the best.
    n : float
        Number of pulls, at least 1.

    Returns
    -------
    float

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    ``sum(8 log(n) / gap_k + (1 + pi^2 / 3) gap_k)`` over the positive gaps, for rewards in
    [0, 1].

    Examples
    --------
    >>> import pybandit as pb
    >>> round(pb.bounds.ucb1_regret([0.0, 0.05], 10**5), 1)
    1842.3
    """
    gaps, log_n = _positive_gaps(gaps), _log(n)
    return float((8 * log_n / gaps + (1 + math.pi**2 / 3) * gaps).sum())


def ucb_v_regret(gaps: ArrayLike, n: ArrayLike, *, noise_std: ArrayLike,
                 constant: float = 10.0) -> Any:
    """Return a bound on the expected regret of `UCBV` with c = 1 and zeta = 1.2.

    Neufeld et al. 2014, Eq. 5 (Audibert et al. 2009).

    Parameters
    ----------
    gaps : array_like of float, shape (n_arms,)
        Gap of each arm to the best one, in [0, 1]; 0 for the best.
    n : float
        Number of pulls, at least 1.
    noise_std : array_like of float, shape (n_arms,)
        Standard deviation of each arm's rewards, at least 0; its square is V_k.
    constant : float, default 10
        Depends on c and zeta, above 0; 10 in Theorem 4.

    Returns
    -------
    float

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    ``constant * sum(V_k / gap_k + 2) log(n)`` over the positive gaps, for rewards in [0, 1].

    Examples
    --------
    >>> import pybandit as pb
    >>> round(pb.bounds.ucb_v_regret([0.0, 0.05], 10**5, noise_std=[0.2, 0.3]), 1)
    437.5
    """
    gaps = _checked_gaps(gaps)
    noise_std = check_in("noise_std", noise_std, "finite and at least 0",
                         lambda x: np.isfinite(x) & (x >= 0))
    positive = gaps[gaps > 0]
    if noise_std.shape != gaps.shape:
        raise ValueError(f"noise_std must have the shape of gaps, {gaps.shape}; got "
                         f"{noise_std.shape}")
    constant = check_scalar("constant", constant, "finite and above 0",
                            lambda x: np.isfinite(x) & (x > 0))
    return float(constant * _log(n) * (noise_std[gaps > 0] ** 2 / positive + 2).sum())


def thompson_regret(gaps: ArrayLike, n: ArrayLike) -> Any:
    """Return the order of the regret of `ThompsonSampling` with Bernoulli draws.

    Neufeld et al. 2014, Eq. 7, as printed. It is not a bound: Agrawal and Goyal 2012 prove it up
    to an unstated constant. With gaps 0 and 1 it is .69 for two pulls, whose regret is .83.

    Parameters
    ----------
    gaps : array_like of float, shape (n_arms,)
        Gap of each arm to the best one, in [0, 1]; 0 for the best.
    n : float
        Number of pulls, at least 1.

    Returns
    -------
    float

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    ``sum(1 / gap_k^2)^2 log(n)`` over the positive gaps, for rewards in [0, 1].

    Examples
    --------
    >>> import pybandit as pb
    >>> round(pb.bounds.thompson_regret([0.0, 0.5], 10**5), 1)
    184.2
    """
    return float((_positive_gaps(gaps) ** -2.0).sum() ** 2 * _log(n))


def bernoulli_regret_rate(means: ArrayLike) -> float:
    """Return the least growth of the regret per log(n) with Bernoulli rewards.

    Neufeld et al. 2014, Eq. 3 (Lai and Robbins 1985): no policy that pulls bad arms
    subpolynomially often has less. It is also the leading term of the bound for `KLUCB`, Eq. 6.

    Parameters
    ----------
    means : array_like of float, shape (n_arms,)
        Mean rewards, in [0, 1].

    Returns
    -------
    float
        0 if the best mean is 1.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    ``sum(gap_k / kl(mu_k, mu*))`` over the arms below the best mean mu*.

    Examples
    --------
    >>> import pybandit as pb
    >>> round(pb.bounds.bernoulli_regret_rate([0.5, 0.4]), 3)
    4.966
    """
    means = check_in("means", means, "in [0, 1]", lambda x: (x >= 0) & (x <= 1))
    if means.ndim != 1 or not means.size:
        raise ValueError(f"means must be flat and not empty; got shape {means.shape}")
    best = means.max()
    worse = means[means < best]
    if best == 1.0:
        return 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        divergences = (np.where(worse > 0, worse * np.log(worse / best), 0.0)
                       + (1 - worse) * np.log((1 - worse) / (1 - best)))
    return float(((best - worse) / divergences).sum())


def _positive_gaps(gaps):
    gaps = _checked_gaps(gaps)
    return gaps[gaps > 0]


def _checked_gaps(gaps):
    gaps = check_in("gaps", gaps, "in [0, 1]", lambda x: (x >= 0) & (x <= 1))
    if gaps.ndim != 1 or not gaps.size:
        raise ValueError(f"gaps must be flat and not empty; got shape {gaps.shape}")
    return gaps


def _log(n):
    return math.log(check_scalar("n", n, "finite and at least 1",
                                 lambda x: np.isfinite(x) & (x >= 1)))
