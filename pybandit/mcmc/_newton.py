"""The mode of a regression's posterior: Newton steps, the first ones on some of the rows."""

from typing import NamedTuple

import numpy as np

# Every 64th row, then every 8th, then all; with fewer than this many, the next.
STRIDES = (64, 8, 1)
LEAST_ROWS = 2_000
# Steps near the mode, and all of them. Where classes are separable each is worth a third of the
# one before, for ever; at a mode hundredths and less, until rounding is all that is left.
MOST_NEWTON, MOST_STEPS = 50, 500
SHRINKS, ROUNDING = 0.05, 1e-26
# What is left at the mode, in nats; of some of the rows less will do.
ENOUGH, ENOUGH_OF_SOME = 1e-8, 1e-2
# Above this Newton may lead down where the log likelihood is not concave.
NEAR = 0.1


class Sums(NamedTuple):
    """Log posterior up to a constant, its gradient and its negative Hessian."""

    value: float
    gradient: np.ndarray
    precision: np.ndarray


def sums_at(regression, prior, theta, stride=1, is_safe=False):
    """The sums of every stride-th row, as if each stood for as many; `prior` is a precision."""
    value, gradient, hessian = regression.sums(theta, stride, is_safe)
    slope = prior @ theta
    return Sums(stride * value - 0.5 * float(theta @ slope), stride * gradient - slope,
                prior - stride * hessian)


def find_mode(regression, n_rows, prior, start):
    """theta where the posterior is largest, to rounding, and the sums there."""
    theta, found = start, None
    for stride in STRIDES:
        if stride == 1 or n_rows // stride >= max(LEAST_ROWS, 50 * len(prior)):
            found = _climb(regression, prior, theta, stride)
            if found is not None:
                theta = found[0]
    if found is None:
        raise ValueError("no mode of the posterior was found: give mode, or a larger "
                         "prior_precision; classes that are separable have none without")
    return found


def _climb(regression, prior, theta, stride):
    """Newton steps from theta; None where they do not end."""
    worth, value, step, n_newton = np.inf, -np.inf, np.zeros_like(theta), 0
    for _ in range(MOST_STEPS):
        is_safe = worth > NEAR
        sums = sums_at(regression, prior, theta, stride, is_safe)
        if not sums.value >= value - 1e-9 * abs(value):  # too far: back halfway
            step = step / 2
            theta = theta - step
            continue
        before, value, direction = worth, sums.value, _solve(sums)
        if direction is None:
            if is_safe:
                return None
            worth, step = np.inf, np.zeros_like(theta)
            continue
        worth, step = 0.5 * float(sums.gradient @ direction), direction
        if worth < (ENOUGH if stride == 1 else ENOUGH_OF_SOME) and not is_safe and (
                worth < SHRINKS * before or worth < ROUNDING):
            return theta, sums
        n_newton += not is_safe
        if n_newton > MOST_NEWTON:
            return None
        theta = theta + step
    return None


def _solve(sums):
    """A Newton step, or None where the matrix is not positive definite."""
    try:
        np.linalg.cholesky(sums.precision)
        step = np.linalg.solve(sums.precision, sums.gradient)
    except np.linalg.LinAlgError:
        return None
    return step if np.isfinite(step).all() else None
