"""Laplace's approximation of a posterior given by functions."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pybandit._shared.checks import (
    check_in,
    check_integer,
    check_numeric,
    numbers_returned,
    read_only,
    shown,
)
from pybandit._shared.types import ArrayLike, Floats, Ints
from pybandit.racing._results import Record

# Rows passed to the function at a time.
ROWS = 1 << 16
# Step of finite differences, in posterior standard deviations of a coordinate. The log density
# falls by about 2e-4 over one step, and a sum of a million logarithms is accurate to 1e-10.
APART = 0.02
# Newton's method ends when a step gains less than this, in nats.
ENOUGH = 1e-8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Laplace(Record):
    """A normal approximation of a posterior, for `Preconditioned`.

    Attributes
    ----------
    mode : ndarray of float64, shape (d,)
        Point at which the posterior density is largest.
    covariance : ndarray of float64, shape (d, d)
        Inverse of the negative Hessian of the log density at the mode.

    Notes
    -----
    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(1).normal(0.3, 1.0, 10_000)
    >>> def log_likelihood(indices, points):
    ...     return -0.5 * (y[indices, None] - points[:, 0]) ** 2
    >>> found = pb.mcmc.laplace(log_likelihood, y.size, 1)
    >>> found.mode.round(3), found.covariance.round(8).tolist()
    (array([0.289]), [[0.0001]])
    >>> proposal = pb.mcmc.Preconditioned(found.mode, found.covariance)
    """

    mode: Floats
    covariance: Floats


def laplace(log_likelihood: Callable[[Ints, Floats], ArrayLike], n_factors: int,
            n_parameters: int, *, log_prior: Callable[[Floats], float] | None = None,
            initial: ArrayLike | None = None, max_steps: int = 100) -> Laplace:
    """Find the mode of a posterior and the covariance there, by finite-difference Newton steps.

    Parameters
    ----------
    log_likelihood, n_factors, n_parameters, log_prior
        As for `RacingMetropolis`.
    initial : array_like of float, shape (d,), optional
        Starting point; 0 by default.
    max_steps : int, default 100
        Maximum number of Newton steps.

    Returns
    -------
    Laplace
        ``mode`` and ``covariance``.

    Raises
    ------
    ValueError, TypeError
            If an argument is outside its range, a value is not finite, or no mode is found:
            the Hessian is not negative definite where the search ends, or `max_steps` steps do
            not reach the mode.

    Notes
    -----
    A Newton step takes d (d + 1) passes over the data, each at two points. For expensive models
    with many parameters pass your own mode and covariance to `Preconditioned`, or compute them
    from a control variate, `Preconditioned.from_control`. The mode is accurate to about 1e-3
    standard deviations, which is enough for a proposal.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(1).normal(0.3, 1.0, 10_000)
    >>> found = pb.mcmc.laplace(lambda n, points: -0.5 * (y[n, None] - points[:, 0]) ** 2,
    ...                         y.size, 1)
    >>> bool(abs(found.mode[0] - y.mean()) < 1e-6), found.covariance.round(8).tolist()
    (True, [[0.0001]])
    >>> proposal = pb.mcmc.Preconditioned(found.mode, found.covariance)
    """
    for name, function in (("log_likelihood", log_likelihood), ("log_prior", log_prior)):
        if not callable(function) and not (name == "log_prior" and function is None):
            raise TypeError(f"{name} must be callable; got {shown(function)}")
    n = check_integer("n_factors", n_factors, 1)
    d = check_integer("n_parameters", n_parameters, 1, 10_000)
    max_steps = check_integer("max_steps", max_steps, 1)
    point = np.zeros(d) if initial is None else check_in("initial", initial, "finite",
                                                         np.isfinite)
    if point.shape != (d,):
        raise ValueError(f"initial must have shape ({d},); got {point.shape}")
    posterior = _Posterior(log_likelihood, log_prior, n)
    deviations = _deviations(posterior, point)
    for _ in range(max_steps):
        slope, hessian = _derivatives(posterior, point, APART * deviations)
        curvature = -np.diagonal(hessian)
        deviations = np.where(curvature > 0, 1 / np.sqrt(np.abs(curvature) + 1e-300), deviations)
        step, worth = _uphill(slope, hessian, deviations)
        point, moved = _climb(posterior, point, step, worth)
        if not moved or worth < ENOUGH:
            break
    else:
        raise ValueError(f"log_likelihood must have a mode within max_steps = {max_steps} steps of "
                         f"initial; the search ended at {point}")
    return Laplace(mode=point, covariance=_covariance(point, hessian, deviations))


class _Posterior:
    """Log density of all data at two points."""

    def __init__(self, log_likelihood, log_prior, n_factors):
        self.log_likelihood, self.log_prior = log_likelihood, log_prior
        self.blocks = [read_only(np.arange(i, min(i + ROWS, n_factors)))
                       for i in range(0, n_factors, ROWS)]

    def __call__(self, points):
        total, points = np.zeros(2), read_only(points)
        for rows in self.blocks:
            values = self.log_likelihood(rows, points)
            total += numbers_returned(
                "the return value of log_likelihood", values, (rows.size, 2),
                "log_likelihood must return shape (n, 2)").sum(axis=0)
        if self.log_prior is not None:
            total += [float(check_numeric("the return value of log_prior", self.log_prior(x)))
                      for x in points]
        if np.isnan(total).any() or (total == np.inf).any():
            raise ValueError(f"log_likelihood and log_prior must be below +inf and not NaN; their "
                             f"sums are {total} at {points}")
        return total


def _deviations(posterior, point):
    """Return the length scale of each coordinate, from second differences of adapted width."""
    here = posterior(np.stack([point, point]))[0]
    if not np.isfinite(here):
        raise ValueError(f"initial must have a finite log density; got {here}")
    found = np.empty(point.size)
    for j in range(point.size):
        width = 1e-4 * max(1.0, abs(point[j]))
        for _ in range(60):
            bend = 2 * here - posterior(_both(point, width * _unit(j, point.size))).sum()
            if not np.isfinite(bend) or abs(bend) > 4e-2:
                width /= 4.0
            elif abs(bend) < 1e-6:
                width *= 4.0
            else:
                break
        found[j] = width / np.sqrt(abs(bend)) if 0 < abs(bend) < np.inf else width
    return found


def _derivatives(posterior, point, widths):
    """Return gradient and Hessian by central differences of these widths."""
    d = point.size
    slope, hessian = np.empty(d), np.empty((d, d))
    here = posterior(np.stack([point, point]))[0]
    for j in range(d):
        one = widths[j] * _unit(j, d)
        up, down = posterior(_both(point, one))
        slope[j] = (up - down) / (2 * widths[j])
        hessian[j, j] = (up - 2 * here + down) / widths[j]**2
        for k in range(j):
            other = widths[k] * _unit(k, d)
            same, against = posterior(_both(point, one + other)), posterior(
                _both(point, one - other))
            hessian[j, k] = hessian[k, j] = (same.sum() - against.sum()) / (
                4 * widths[j] * widths[k])
    if not np.isfinite(hessian).all() or not np.isfinite(slope).all():
        raise ValueError(f"log_likelihood and log_prior must be finite around {point}")
    return slope, hessian


def _uphill(slope, hessian, deviations):
    """Return a Newton step with all curvatures made negative, and its gain in nats.

    Curvatures are compared in standard deviations, because the units of parameters differ.
    """
    values, vectors = np.linalg.eigh(-hessian * np.outer(deviations, deviations))
    curvatures = np.maximum(np.abs(values), 1e-8 * np.abs(values).max() + 1e-300)
    step = deviations * (vectors @ ((vectors.T @ (deviations * slope)) / curvatures))
    return step, 0.5 * float(slope @ step)


def _climb(posterior, point, step, worth):
    """Return the point after the step, halved until the density rises, and True if it moved."""
    for _ in range(40):
        before, after = posterior(np.stack([point, point + step]))
        if after > before or worth < ENOUGH and after >= before - ENOUGH:
            return point + step, True
        step = step / 2
    return point, False


def _covariance(point, hessian, deviations):
    """Return the inverse of the negative Hessian, scaled by standard deviations as in `_uphill`."""
    units = np.outer(deviations, deviations)
    try:
        np.linalg.cholesky(-hessian * units)
    except np.linalg.LinAlgError:
        raise ValueError(f"log_likelihood must have a mode with a negative definite Hessian; none "
                         f"was found from initial: the search ended at {point}") from None
    inverse = np.linalg.inv(-hessian * units)
    return units * (inverse + inverse.T) / 2


def _both(point, step):
    return np.stack([point + step, point - step])


def _unit(j, d):
    return np.eye(1, d, j)[0]
