"""Lemma 1 of Jun et al. 2016, and Theorems 1 and 2 as functions of the means of the arms.

Jun, Jamieson, Nowak and Zhu, Top arm identification in multi-armed bandits with
batch arm pulls, AISTATS 2016.
"""

import math
from typing import Any

import numpy as np

from pybandit._shared.checks import MOST_PULLS, check_delta, check_in, check_integer, plain
from pybandit._shared.types import ArrayLike, Floats

__all__ = ["batch_racing_batches", "batch_racing_deviation", "batch_racing_pulls",
           "batch_sar_error"]


def batch_racing_deviation(n: ArrayLike, omega: ArrayLike, *, noise_std: ArrayLike = 0.5) -> Any:
    """Return the distance D that a mean of n rewards keeps from the true mean, at all n together.

    Jun et al. 2016, Lemma 1, by the law of the iterated logarithm. With probability at least ``1 -
    6 omega^2`` no mean of the first n independent rewards is further away, for any n.
    `BatchRacing` uses ``omega = sqrt(delta / (6 n_arms))``.

    Parameters
    ----------
    n : array_like
        Number of rewards, at least 1.
    omega : array_like
        In (0, sqrt(1/6)).
    noise_std : array_like, default 0.5
        Scale of sub-Gaussian rewards: half the range of bounded rewards, the standard deviation of
        normal ones. Above 0.

    Returns
    -------
    float or ndarray

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    ``2 noise_std sqrt(4 log(log2(2 n) / omega) / n)``; the paper has ``noise_std = 1/2``, for
    rewards in [0, 1].

    Examples
    --------
    >>> import pybandit as pb
    >>> pb.bounds.batch_racing_deviation([10, 1000], 0.05).round(3)
    array([1.336, 0.147])
    """
    n = check_in("n", n, "finite and at least 1", lambda x: np.isfinite(x) & (x >= 1))
    omega = check_in("omega", omega, "in (0, sqrt(1/6))", lambda x: (x > 0) & (x * x < 1 / 6))
    noise_std = check_in("noise_std", noise_std, "finite and above 0",
                         lambda x: np.isfinite(x) & (x > 0))
    # the difference of logarithms, because 1 / omega may overflow
    return plain(2 * noise_std * np.sqrt(4 * (np.log(1 + np.log2(n)) - np.log(omega)) / n))


def batch_racing_pulls(means: ArrayLike, k: int = 1, *, delta: float = 0.05) -> Floats:
    """Return the number of pulls that suffices for `BatchRacing` to decide each arm.

    T_i of Jun et al. 2016, Section 3. With probability at least ``1 - delta``, an arm is accepted
    or rejected by the time that it and all other survivors have this many pulls.

    Parameters
    ----------
    means : array_like of float, shape (n_arms,)
        True means of rewards in [0, 1].
    k : int, default 1
        Number of best arms to find, in [1, n_arms - 1].
    delta : float, default 0.05
        Error probability, in (0, 1).

    Returns
    -------
    ndarray of float64, shape (n_arms,)
        Pulls per arm; infinite for an arm whose gap is 0.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    ``T_i = 1 + floor(64 / gap_i^2 * log(2 / omega * log2(192 / (gap_i^2 omega))))`` with
    ``omega = sqrt(delta / (6 n))``, n the number of arms. The gap of an arm is the distance to the
    best rejected mean for the k best arms and to the worst accepted mean for the others. O(n log
    n).

    Examples
    --------
    >>> import pybandit as pb
    >>> pb.bounds.batch_racing_pulls([0.9, 0.5, 0.1], delta=0.1)
    array([2371., 2371.,  578.])
    """
    means, gaps = _means_and_gaps(means, k)
    # in logarithms: delta may be so small that 1 / omega overflows
    log_omega = 0.5 * (math.log(check_delta(delta)) - math.log(6 * means.size))
    with np.errstate(divide="ignore"):
        inverse = 1.0 / gaps**2
    inner = (np.log(192 * inverse) - log_omega) / math.log(2)
    return 1 + np.floor(64 * inverse * (math.log(2) - log_omega + np.log(inner)))


def batch_racing_batches(means: ArrayLike, k: int = 1, *, batch_size: int,
                         max_repeats: int | None = None, delta: float = 0.05) -> float:
    """Return the number of batches within which `BatchRacing` ends (Theorem 1).

    The batch complexity M_{b,r} of Jun et al. 2016, Eq. 7. With probability at least ``1 - delta``,
    `BatchRacing` returns the k best arms after at most this many batches.

    Parameters
    ----------
    means, k, delta
        As in `batch_racing_pulls`.
    batch_size : int
        Pulls per batch, b, at least 1.
    max_repeats : int, optional
        Maximum number of pulls of one arm in a batch, r, in [1, b]; default b.

    Returns
    -------
    float
        Infinite if the k best arms are not unique.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    For b >= 2 it is ``T_1 / r' + sum(T_i for i > floor(b / r')) / b + log(n) + n / b + 1 / r' +
    2``, where ``T_1 >= T_2 >= ...`` are the pulls of `batch_racing_pulls` and ``r' = min(r,
    floor(b / 2))``. For b = 1 it is the sum of all T_i. O(n log n).

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> sparse = np.repeat([0.5, 0.3], [10, 90])
    >>> one = pb.bounds.batch_racing_batches(sparse, 10, batch_size=1, delta=0.1)
    >>> many = pb.bounds.batch_racing_batches(sparse, 10, batch_size=64, delta=0.1)
    >>> round(one / many, 2)
    63.97
    """
    b, r = _sizes(batch_size, max_repeats)
    pulls = -np.sort(-batch_racing_pulls(means, k, delta=delta))
    if b == 1:
        return float(pulls.sum())
    n, r = pulls.size, min(r, b // 2)
    return float(pulls[0] / r + pulls[b // r:].sum() / b + math.log(n) + n / b + 1 / r + 2)


def batch_sar_error(means: ArrayLike, k: int = 1, *, batch_size: int, max_batches: int,
                    max_repeats: int | None = None) -> float:
    """Return the bound on the probability that `BatchSAR` errs (Theorem 2).

    Jun et al. 2016, Theorem 2: an upper bound on the probability that `BatchSAR` does not return
    exactly the k best arms. With few batches the bound exceeds 1 and says nothing.

    Parameters
    ----------
    means : array_like of float, shape (n_arms,)
        True means of rewards in [0, 1].
    k : int, default 1
        Number of best arms to find, in [1, n_arms - 1].
    batch_size : int
        Pulls per batch, b, at least 1; reduced to ``n_arms * max_repeats``, as
        `BatchSAR` does.
    max_batches : int
        Batch budget, B, at least 1.
    max_repeats : int, optional
        Maximum number of pulls of one arm in a batch, r, in [1, b]; default b.

    Returns
    -------
    float
        Infinite or above 1 if the budget is too small for the theorem.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    ``2 n^2 exp(-(B - sum(ceil(b / i) for i > n') / b - c / b) / (8 H))`` with ``n' = min(n,
    max(ceil(b / r), 2))``, ``c = b + n' min(r, ceil(b / 2)) + n`` and ``H = (n' / 2 + sum(1 / i
    for i > n')) / b * max(i / gap_i^2 for i = 2, n' + 1, ..., n)`` (H_3, Eq. 9), where gap_i are
    the gaps in increasing order. O(n log n).

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> means = np.repeat([0.9, 0.1], [2, 18])
    >>> bound = pb.bounds.batch_sar_error(means, 2, batch_size=20, max_batches=800)
    >>> round(bound, 8)
    9.8e-07
    """
    means, gaps = _means_and_gaps(means, k)
    b, r = _sizes(batch_size, max_repeats)
    batches = check_integer("max_batches", max_batches, 1, MOST_PULLS)
    n = means.size
    b = min(b, n * r)
    kept = min(n, max(-(-b // r), 2))
    c1 = b + kept * min(r, -(-b // 2)) + n
    later = np.arange(kept + 1, n + 1)
    with np.errstate(divide="ignore"):
        ratios = np.arange(1, n + 1) / np.sort(gaps)**2
    hardness = (kept / 2 + (1 / later).sum()) / b * ratios[np.r_[1, kept:n]].max()
    left = batches - (-(-b // later)).sum() / b - c1 / b
    if hardness == np.inf:
        return 2.0 * n**2
    # the limit of 600 avoids overflow if the budget is far too small
    return 2.0 * n**2 * math.exp(min(-left / (8 * hardness), 600.0))


def _means_and_gaps(means, k):
    """Return the checked means and the gaps.

    The gap of one of the k best arms is the distance to the largest other mean, that of another arm
    the distance to the k-th largest mean.
    """
    means = check_in("means", means, "in [0, 1]", lambda x: (x >= 0) & (x <= 1))
    if means.ndim != 1 or means.size < 2:
        raise ValueError(f"means must have shape (n_arms,) with at least two arms; got shape "
                         f"{means.shape}")
    k = check_integer("k", k, 1, means.size - 1)
    ranked = -np.sort(-means)
    best = np.argsort(-means, kind="stable")[:k]
    gaps = ranked[k - 1] - means
    gaps[best] = means[best] - ranked[k]
    return means, gaps


def _sizes(batch_size, max_repeats):
    b = check_integer("batch_size", batch_size, 1, MOST_PULLS)
    return b, b if max_repeats is None else check_integer("max_repeats", max_repeats, 1, b)
