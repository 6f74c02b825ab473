"""Bounds of Lalitha et al. 2023 on the error of halving and on its pulls.

Lalitha, Kalantari, Ma, Deoras and Kveton, Fixed-budget best-arm identification with
heterogeneous reward variances, UAI 2023. Formulas are corrected where the printed ones
do not follow from their proofs; docs/explanation/papers.md names each difference.
"""

import math
from typing import Any

import numpy as np

from pybandit._shared.checks import MOST_PULLS, check_choice, check_delta, check_in, check_integer
from pybandit._shared.types import ArrayLike

__all__ = ["halving_least_pulls", "normal_variance_interval", "sequential_halving_error",
           "shadavar_error", "shvar_error"]


def sequential_halving_error(means: ArrayLike, *, budget: int) -> float:
    """Return the bound on the probability that `SequentialHalving` errs.

    Theorem of Karnin, Koren and Somekh 2013, Eq. 1 of Lalitha et al. 2023. It holds for
    rewards in [0, 1] and without reuse of earlier stages. The bound exceeds 1, and then
    says nothing, for small budgets.

    Parameters
    ----------
    means : array_like of float, shape (n_arms,)
        True means, in [0, 1]. At least two.
    budget : int
        Number of pulls, n, at least 1.

    Returns
    -------
    float
        ``3 log2(n_arms)``, the largest value, if the best mean is not unique.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    ``3 log2(K) exp(-n / (8 H log2(K)))`` with ``H = max(i / gap_i^2 for i >= 2)`` (H_2), arms in
    decreasing order of their means and gap_i the distance to the best mean. O(K log K).

    Examples
    --------
    >>> import pybandit as pb
    >>> round(pb.bounds.sequential_halving_error([0.9, 0.5, 0.4, 0.1], budget=2000), 5)
    0.00027
    """
    means = check_in("means", means, "in [0, 1]", lambda x: (x >= 0) & (x <= 1))
    ranked = -np.sort(-_arms("means", means))
    n = check_integer("budget", budget, 1, MOST_PULLS)
    stages = math.log2(means.size)
    with np.errstate(divide="ignore"):
        hardness = (np.arange(2, means.size + 1) / (ranked[0] - ranked[1:]) ** 2).max()
    return float(3 * stages * math.exp(-n / (8 * hardness * stages)))


def shvar_error(means: ArrayLike, *, noise_std: ArrayLike, budget: int,
                shares: str = "any") -> float:
    """Return the bound on the probability that `SHVar` errs (Theorems 3 and 4).

    Lalitha et al. 2023. It holds for normal rewards and without reuse of earlier stages.
    The bound exceeds 1, and then says nothing, for small budgets.

    Parameters
    ----------
    means : array_like of float, shape (n_arms,)
        True means. At least two arms.
    noise_std : array_like of float, shape (n_arms,)
        Standard deviations of the rewards, above 0. A single number stands for all arms.
    budget : int
        Number of pulls, n, at least ``n_arms * ceil(log2(n_arms))``.
    shares : {"any", "integer"}, default "any"
        ``"any"`` is Theorem 4, which holds for every budget. ``"integer"`` is Theorem 3,
        which is smaller, but holds only if in every stage an arm's share of the pulls,
        in proportion to its variance, is an integer.

    Returns
    -------
    float
        ``2 * ceil(log2(n_arms))``, the largest value, if the best mean is not unique.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    halving_least_pulls : the number of pulls on which Theorem 4 rests.
    shadavar_error : the same if variances are unknown.

    Notes
    -----
    With ``m = ceil(log2(K))`` stages of ``n_s = floor(n / m)`` pulls: Theorem 3 is ``2 m exp(-n_s
    gap^2 / (4 sum(sigma_j^2)))``, and Theorem 4 is ``2 m exp(-(n_s / K - 1) gap^2 / (4
    max(sigma_j^2)))``, where gap is that between the two best means. The paper prints ``n - K
    log(K)`` in Theorem 4; its proof gives ``n - K log2(K)``, as here. O(K).

    Examples
    --------
    >>> import pybandit as pb
    >>> arms = dict(means=[1.0, 0.5, 0.2, 0.0], noise_std=[1.0, 0.5, 0.5, 0.5])
    >>> round(pb.bounds.shvar_error(**arms, budget=1000), 5)
    0.00172
    >>> round(pb.bounds.shvar_error(**arms, budget=1000, shares="integer"), 8)
    7e-08
    """
    check_choice("shares", shares, ("any", "integer"))
    gap, variances, stages, per_stage = _problem(means, noise_std, budget)
    if shares == "integer":
        exponent = per_stage * gap**2 / (4 * variances.sum())
    else:
        exponent = (per_stage / variances.size - 1) * gap**2 / (4 * variances.max())
    return float(2 * stages * math.exp(-exponent))


def shadavar_error(means: ArrayLike, *, noise_std: ArrayLike, budget: int,
                   delta: float = 0.05) -> float:
    """Return the bound on the probability that `SHAdaVar` errs (Theorem 5, corrected).

    Lalitha et al. 2023. It holds for normal rewards and without reuse of earlier stages.
    The bound exceeds 1, and then says nothing, for small budgets and for a large `delta`.

    Parameters
    ----------
    means, noise_std, budget
        As in `shvar_error`.
    delta : float, default 0.05
        The parameter `delta` of `SHAdaVar`, the probability that one of its bounds on a
        variance fails, in (0, 1). The theorem is useful only far below 1 / (K n).

    Returns
    -------
    float

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    halving_least_pulls : the number of pulls on which the theorem rests.

    Notes
    -----
    ``2 m exp(-alpha (n_s / K - 1) gap^2 / (4 max(sigma_j^2))) + 2 K n delta`` with ``m =
    ceil(log2(K))``, ``n_s = floor(n / m)``, ``x = sqrt(log(1 / delta) / (n_s / K - 2))`` and
    ``alpha = (1 - 2 x) / (1 + 2 x + 2 x^2)``, or 0 if this is negative or ``n_s / K <= 2``. The
    last term bounds the probability that an inequality of Lemma 2 fails for some arm and number of
    pulls in a stage. The paper leaves it out, and has n in place of n_s in alpha. Its
    ``log(K n / delta)`` is obtained by passing ``delta / (K *
    n)``. O(K).

    Examples
    --------
    >>> import pybandit as pb
    >>> arms = dict(means=[1.0, 0.5, 0.2, 0.0], noise_std=[1.0, 0.5, 0.5, 0.5])
    >>> bound = pb.bounds.shadavar_error(**arms, budget=5000, delta=1e-8)
    >>> round(bound, 5)
    0.0004
    """
    gap, variances, stages, per_stage = _problem(means, noise_std, budget)
    delta, k = check_delta(delta), variances.size
    exponent = (_alpha(per_stage / k, delta) * (per_stage / k - 1) * gap**2
                / (4 * variances.max()))
    return float(2 * stages * math.exp(-exponent) + 2 * k * int(budget) * delta)


def halving_least_pulls(*, noise_std: ArrayLike, stage_pulls: float,
                        delta: float | None = None) -> Any:
    """Return the number of pulls that each arm of a stage has at least (Lemmas 7 and 8).

    Lower bounds of Lalitha et al. 2023, Appendices B and C, on the pulls of the arms in
    one stage of `SHVar` or `SHAdaVar`.

    Parameters
    ----------
    noise_std : array_like of float, shape (n_arms,)
        Standard deviations of the rewards of the stage's arms, above 0. At least two.
    stage_pulls : int
        Number of pulls in the stage, at least ``n_arms``.
    delta : float, optional
        None for `SHVar`. Otherwise the parameter `delta` of `SHAdaVar`, in (0, 1): the
        bound then holds with probability at least ``1 - 2 * n_arms * stage_pulls *
        delta`` for all arms at once.

    Returns
    -------
    ndarray of float64, shape (n_arms,)

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    ``alpha sigma_i^2 / max(sigma_j^2) * (n_s / K - 1)`` with ``alpha = 1`` for `SHVar` and that of
    `shadavar_error` otherwise. O(K).

    Examples
    --------
    >>> import pybandit as pb
    >>> pb.bounds.halving_least_pulls(noise_std=[1.0, 0.5, 0.5], stage_pulls=303)
    array([100.,  25.,  25.])
    >>> pb.bounds.halving_least_pulls(noise_std=[1.0, 0.5, 0.5], stage_pulls=303,
    ...                               delta=1e-4).round(1)
    array([21.7,  5.4,  5.4])
    """
    variances = _arms("noise_std", _positive(noise_std)) ** 2
    per_arm = check_integer("stage_pulls", stage_pulls, variances.size, MOST_PULLS)
    per_arm /= variances.size
    alpha = 1.0 if delta is None else _alpha(per_arm, check_delta(delta))
    return alpha * variances / variances.max() * (per_arm - 1)


def normal_variance_interval(n: ArrayLike, variance: ArrayLike, *, delta: float) -> Any:
    """Return bounds on the variance of normal values (Lemma 2 and Eq. 7).

    Lalitha et al. 2023, after Laurent and Massart 2000. Each of the two bounds is wrong
    with probability at most `delta`.

    Parameters
    ----------
    n : array_like of int
        Number of values, at least 2.
    variance : array_like of float
        Unbiased sample variance, at least 0.
    delta : array_like of float
        Probability of error of each bound, in (0, 1).

    Returns
    -------
    lower, upper : ndarray of float64 or float
        `upper` is infinite if ``n - 1 <= 4 log(1 / delta)``.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    With ``x = sqrt(log(1 / delta) / (n - 1))``: ``s^2 / (1 + 2 x + 2 x^2)`` and ``s^2 / (1 - 2
    x)``, s^2 the sample variance. `SHAdaVar` pulls the arm whose upper bound
    divided by its pulls is largest.

    Examples
    --------
    >>> import pybandit as pb
    >>> pb.bounds.normal_variance_interval([12, 20, 100, 10_000], 1.0, delta=0.05)[1].round(2)
    array([ inf, 4.86, 1.53, 1.04])
    """
    n = check_in("n", n, "at least 2", lambda x: x >= 2)
    variance = check_in("variance", variance, "finite and at least 0",
                        lambda x: np.isfinite(x) & (x >= 0))
    delta = check_in("delta", delta, "in (0, 1)", lambda x: (x > 0) & (x < 1))
    x = np.sqrt(-np.log(delta) / (n - 1))
    lower = variance / (1 + 2 * x + 2 * x**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        upper = np.where(x < 0.5, variance / (1 - 2 * x), np.inf)
    return (float(lower), float(upper)) if lower.ndim == 0 else (lower, upper)


def _alpha(per_arm, delta):
    """Return alpha of Lemma 8 for this number of pulls per arm in a stage."""
    if per_arm <= 2:
        return 0.0
    x = math.sqrt(-math.log(delta) / (per_arm - 2))
    return max(0.0, (1 - 2 * x) / (1 + 2 * x + 2 * x**2))


def _problem(means, noise_std, budget):
    """Return the smallest gap, the variances, the number of stages and pulls of a stage."""
    means = _arms("means", check_in("means", means, "finite", np.isfinite))
    noise_std = _positive(noise_std)
    if noise_std.shape not in ((), means.shape):
        raise ValueError(f"noise_std must be a number or have shape {means.shape}; got shape "
                         f"{noise_std.shape}")
    stages = (means.size - 1).bit_length()
    n = check_integer("budget", budget, means.size * stages, MOST_PULLS)
    second, best = np.sort(means)[-2:]
    return best - second, np.broadcast_to(noise_std**2, means.shape), stages, n // stages


def _positive(noise_std):
    return check_in("noise_std", noise_std, "finite and above 0",
                    lambda x: np.isfinite(x) & (x > 0))


def _arms(name, values):
    if values.ndim != 1 or values.size < 2:
        raise ValueError(f"{name} must have shape (n_arms,) with at least two arms; got shape "
                         f"{values.shape}")
    return values
