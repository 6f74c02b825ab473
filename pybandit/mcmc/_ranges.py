"""How far remainders can be apart, from bounds of third derivatives."""

import numpy as np

from pybandit.mcmc._problem import spread

# Rows whose features are multiplied at a time.
BLOCK = 1 << 14
# What a difference of log likelihoods may be wrong by, in nats: rounding is no excess.
SLACK = 1e-10


class Ranges:
    """How far what a control leaves of a log ratio can be from 0: largest M, of the points."""

    def __init__(self, control):
        d, self.center = control.n_parameters, control.center
        self.is_line, self.slack, factor = hasattr(control, "features"), SLACK, np.eye(d)
        if self.is_line:
            factor = _spread_of(control)
        self.inverse = np.ascontiguousarray(np.tril(np.linalg.inv(factor)))
        self.largest = float(np.max(row_bounds(control, factor)))

    def most(self, points):
        """The largest size of a difference between the two points."""
        z = np.ascontiguousarray((points - self.center) @ self.inverse.T)
        return self.largest * spread(z[0], z[1], not self.is_line) * (1 + 1e-9) + self.slack


def _spread_of(control):
    """L of the most likely covariance; any is right, this one makes M small."""
    for matrix in (-control.hessian, control.features.T @ control.features):
        try:
            np.linalg.cholesky(matrix)
            return np.linalg.cholesky(np.linalg.inv(matrix))
        except np.linalg.LinAlgError:
            continue
    return np.eye(control.n_parameters)


def row_bounds(control, factor):
    """c_i of all rows: third_i / 2, of rows with features times |L'x_i|^3."""
    features = getattr(control, "features", None)
    if features is None:
        return 0.5 * control.third
    lengths = np.concatenate([np.linalg.norm(features[i:i + BLOCK] @ factor, axis=1)
                              for i in range(0, len(features), BLOCK)])
    return 0.5 * control.third * lengths**3
