"""Find the mode of a regression's posterior by Newton steps; the first use only some rows."""

from typing import NamedTuple

import numpy as np

# Use every 64th row, then every 8th, then all. Skip a stride that leaves fewer than LEAST_ROWS.
STRIDES = (64, 8, 1)
LEAST_ROWS = 2_000
# Maximum numbers of Newton steps near the mode and in total. If classes are separable, each step
# gains a third of the previous step's gain, without end. Near a mode, a step gains at most a few
# hundredths of the previous gain (SHRINKS), until only rounding errors (ROUNDING) are left.
MOST_NEWTON, MOST_STEPS = 50, 500
SHRINKS, ROUNDING = 0.05, 1e-26
# The search ends if a step gains less than this, in nats: ENOUGH if the step uses all rows,
# ENOUGH_OF_SOME if it uses some of them.
ENOUGH, ENOUGH_OF_SOME = 1e-8, 1e-2
# Gain above which the safe Hessian is used: the log likelihood may not be concave there.
NEAR = 0.1


class Sums(NamedTuple):
    """Log posterior up to a constant, its gradient and its negative Hessian."""

    value: float
    gradient: np.ndarray
    precision: np.ndarray


def sums_at(regression, prior, theta, stride=1, is_safe=False):
    """Return the sums over every stride-th row, scaled up to all; `prior` is a precision matrix."""
    value, gradient, hessian = regression.sums(theta, stride, is_safe)
    slope = prior @ theta
    return Sums(stride * value - 0.5 * float(theta @ slope), stride * gradient - slope,
                prior - stride * hessian)


def find_mode(regression, n_rows, prior, start):
    """Return the theta that maximises the posterior, up to rounding, and the sums there."""
    theta, found = start, None
    for stride in STRIDES:
        if stride == 1 or n_rows // stride >= max(LEAST_ROWS, 50 * len(prior)):
            found = _climb(regression, prior, theta, stride)
            if found is not None:
                theta = found[0]
    if found is None:
        raise ValueError("no mode of the posterior was found: pass mode, or a larger "
                         "prior_precision; without a prior, separable classes have no mode")
    return found


def _climb(regression, prior, theta, stride):
    """Take Newton steps from theta; return None if they do not converge."""
    worth, value, step, n_newton = np.inf, -np.inf, np.zeros_like(theta), 0
    for _ in range(MOST_STEPS):
        is_safe = worth > NEAR
        sums = sums_at(regression, prior, theta, stride, is_safe)
        if not sums.value >= value - 1e-9 * abs(value):  # the step was too long: halve it
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
    """Return a Newton step, or None if the matrix is not positive definite."""
    try:
        np.linalg.cholesky(sums.precision)
        step = np.linalg.solve(sums.precision, sums.gradient)
    except np.linalg.LinAlgError:
        return None
    return step if np.isfinite(step).all() else None
