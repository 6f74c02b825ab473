"""User-defined rows with a control and bounds, and ranges of a control's remainder."""

import dataclasses

import numpy as np

from pybandit._shared.checks import (
    check_in,
    check_positive,
    numbers_returned,
    read_only,
    shown,
)
from pybandit.mcmc._exact import UserRows
from pybandit.mcmc._problem import Expanded, spread
from pybandit.racing.control import ControlVariate
from pybandit.racing.factors import Factors

# Attributes that exact chains require of a control in addition to those of RacingMetropolis.
SUMS = ("gradient", "hessian")
CONTROL = ("center", "changes", "n_factors", "n_parameters", "total_change", *SUMS)
MOST_ROWS = 2**32 - 1
# Number of rows for which `row_bounds` computes L'x_i at a time.
BLOCK = 1 << 14
# Allowed rounding error of a difference of log likelihoods, in nats.
SLACK = 1e-10


def check_radius(radius):
    """Return the validated radius; inf if it is None."""
    return np.inf if radius is None else check_positive("radius", radius)


def check_rows(x, y):
    """Return the features and responses of a regression, C-contiguous."""
    x = np.ascontiguousarray(check_in("x", x, "finite", np.isfinite, copy=False))
    if x.ndim != 2 or not x.size:
        raise ValueError(f"x must have shape (N, d), N >= 1, d >= 1; got {x.shape}")
    if len(x) > MOST_ROWS:
        raise ValueError(f"x must have at most {MOST_ROWS} rows; got {len(x)}")
    y = np.ascontiguousarray(check_in("y", y, "finite", np.isfinite, copy=False))
    if y.shape != x.shape[:1]:
        raise ValueError(f"y must have shape ({len(x)},), one value per row of x; got {y.shape}")
    return x, y


def check_point(name, value, n_parameters):
    """Return a point of float64, shape (n_parameters,)."""
    point = check_in(name, value, "finite", np.isfinite)
    if point.shape != (n_parameters,):
        raise ValueError(f"{name} must have shape ({n_parameters},); got {point.shape}")
    return point


def check_control(control, n_factors, n_parameters):
    """Raise unless `control` has `n_factors` factors (None: any) and `n_parameters` parameters."""
    if not all(hasattr(control, name) for name in CONTROL[:-len(SUMS)]):
        raise TypeError(f"control must be a TaylorControl or a GLMControl; got {shown(control)}")
    if control.n_parameters != n_parameters or n_factors not in (None, control.n_factors):
        raise ValueError(f"control must have {n_factors} factors and {n_parameters} parameters; "
                         f"got {control.n_factors} and {control.n_parameters}")


def factors_of(log_likelihood, make, control, n_factors, points):
    """Return the log ratios between the rows of `points`, less the control's values."""
    if make is None:
        factors = Factors(_ratios(log_likelihood, read_only(points)), n_factors, 1)
    else:
        factors = make(read_only(points))
        if not isinstance(factors, Factors) or factors.n_states != 1:
            raise TypeError(f"factors must return pybandit.Factors with n_states = 1; got "
                            f"{shown(factors)}")
    if control is None:
        return factors
    return dataclasses.replace(
        factors, control=ControlVariate(control.changes(points), [0.0]))


def _ratios(log_likelihood, points):
    def function(indices, states):
        values = log_likelihood(indices, points)
        values = numbers_returned("the return value of log_likelihood", values,
                                  (indices.size, 2), "log_likelihood must return shape (n, 2)")
        return values[:, 1:] - values[:, :1]

    return function


class Bounded:
    """User-defined functions, a control and bounds; makes the objects that chains use."""

    def __init__(self, control, log_likelihood, factors, bounds, spread, slack):
        if not all(hasattr(control, name) for name in CONTROL):
            raise TypeError(f"control must be a TaylorControl or a GLMControl; got "
                            f"{shown(control)}")
        if (log_likelihood is None) == (factors is None):
            raise ValueError("pass exactly one of log_likelihood and factors; got "
                             f"{'neither' if factors is None else 'both'}")
        for name, function in (("log_likelihood", log_likelihood), ("factors", factors),
                               ("spread", spread)):
            if function is not None and not callable(function):
                raise TypeError(f"{name} must be callable; got {shown(function)}")
        if (bounds is None) != (spread is None):
            raise ValueError("bounds and spread must be given together: one is c_i, the other M")
        third = getattr(control, "third", None)
        if bounds is None and third is None:
            raise ValueError("control must have third, a bound on third derivatives; otherwise "
                             "pass bounds and spread")
        n = control.n_factors
        if n > MOST_ROWS:
            raise ValueError(f"control must have at most {MOST_ROWS} factors; got {n}")
        if bounds is not None:
            bounds = check_in("bounds", bounds, "finite and at least 0",
                              lambda c: np.isfinite(c) & (c >= 0))
            if bounds.shape not in ((), (n,)):
                raise ValueError(f"bounds must be a scalar or have shape ({n},), one value per "
                                 f"factor; got shape {bounds.shape}")
        self.control, self.log_likelihood, self.factors = control, log_likelihood, factors
        self.bounds, self.spread, self.slack = bounds, spread, slack

    def problem(self, factor, slope, radius):
        """Return the rows expanded around the control's center, with their bounds."""
        control, bounds, third = self.control, self.bounds, None
        features, form = getattr(control, "features", None), "own"
        if bounds is None:
            third = np.broadcast_to(control.third, (control.n_factors,))
            form = "space" if features is None else "line"
            bounds = row_bounds(control, factor)
        n, d = control.n_factors, control.n_parameters
        problem = Expanded(n, d, features if form == "line" else None, form, radius)
        problem.anchor(control.center.copy(), factor, slope, bounds,
                       third if form == "line" else None)
        if not np.isfinite(problem.total):
            raise ValueError("bounds must have a finite sum; got inf")
        return problem

    def own(self):
        """Return the rows and points of one chain."""
        points = np.zeros((2, self.control.n_parameters))
        points[:] = self.control.center
        factors = factors_of(self.log_likelihood, self.factors, self.control,
                             self.control.n_factors, points)
        if factors.n_factors != self.control.n_factors:
            raise ValueError(f"factors must have as many factors as the control, "
                             f"{self.control.n_factors}; got {factors.n_factors}")
        return UserRows(factors, points, self.slack, self.spread)


class Ranges:
    """Bounds of |log ratio minus control|: `largest` times M of the two points, plus `slack`."""

    def __init__(self, control):
        d, self.center = control.n_parameters, control.center
        self.is_line, self.slack, factor = hasattr(control, "features"), SLACK, np.eye(d)
        if self.is_line:
            factor = _spread_of(control)
        self.inverse = np.ascontiguousarray(np.tril(np.linalg.inv(factor)))
        self.largest = float(np.max(row_bounds(control, factor)))

    def most(self, points):
        """Return a bound on |log ratio minus control| of every factor between the two points."""
        z = np.ascontiguousarray((points - self.center) @ self.inverse.T)
        return self.largest * spread(z[0], z[1], not self.is_line) * (1 + 1e-9) + self.slack


def _spread_of(control):
    """Return a Cholesky factor L of the covariance; any L is valid, a good one makes M small."""
    for matrix in (-control.hessian, control.features.T @ control.features):
        try:
            np.linalg.cholesky(matrix)
            return np.linalg.cholesky(np.linalg.inv(matrix))
        except np.linalg.LinAlgError:
            continue
    return np.eye(control.n_parameters)


def row_bounds(control, factor):
    """Return c_i of all rows: third_i / 2, times |L'x_i|^3 if rows have features; L: `factor`."""
    features = getattr(control, "features", None)
    if features is None:
        return 0.5 * control.third
    lengths = np.concatenate([np.linalg.norm(features[i:i + BLOCK] @ factor, axis=1)
                              for i in range(0, len(features), BLOCK)])
    return 0.5 * control.third * lengths**3
