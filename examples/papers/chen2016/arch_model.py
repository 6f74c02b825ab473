"""ARCH models with Student-t innovations, and control variates for their likelihoods.

figure_2.py samples these models: Chen & Ghahramani 2016, sections 5.2 and C.2.
In a model of order q, the return r_t divided by sqrt(s_t) is Student-t with nu degrees of freedom,
where s_t = alpha_0 + sum_i alpha_i r_{t-i}^2. All parameters have the prior Exp(1). The code uses
unconstrained parameters x', whose values are log(1 + exp(x')): theta = (alpha_0', ..., alpha_q',
nu').
"""

from pathlib import Path

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from scipy.special import digamma, expit, gammaln

from pybandit._shared.optional import require

N_DECILES = 10


def softplus(x):
    return np.logaddexp(0.0, x)


def load(source):
    """Return centred log-returns in percent.

    `source` is the name of a price series of the `arch` package, or the path of a text file
    with one price per line.
    """
    if isinstance(source, Path):
        prices = np.loadtxt(source)
    else:
        table = require(f"arch.data.{source}", "demo").load()
        prices = table["Adj Close" if "Adj Close" in table else "DCOILWTICO"].to_numpy(float)
    returns = 100.0 * np.diff(np.log(prices[np.isfinite(prices)]))
    return returns - returns.mean()


class Returns:
    """Rows of all models: a return and the squares of the `longest` returns before it."""

    def __init__(self, returns, longest):
        self.r = returns[longest:]
        lagged = np.lib.stride_tricks.sliding_window_view(returns[:-1] ** 2, longest)
        self.squares = np.ascontiguousarray(lagged[:, ::-1])


def constant(nu):
    """Return the part of the log density that is equal for all rows."""
    return gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi)


def log_density(r, s, nu):
    """Return the Student-t log density with scale sqrt(s), without its `constant`."""
    return -0.5 * np.log(s) - (nu + 1) / 2 * np.log1p(r * r / (nu * s))


def expand(r, s, nu):
    """Return the log density and its derivatives by r, s, rr, rs, ss, on a new first axis."""
    w = nu * s + r * r
    return np.array([
        constant(nu) + log_density(r, s, nu),
        -(nu + 1) * r / w,
        nu / (2 * s) - (nu + 1) * nu / (2 * w),
        -(nu + 1) * (nu * s - r * r) / w**2,
        (nu + 1) * nu * r / w**2,
        (nu + 1) * nu**2 / (2 * w**2) - nu / (2 * s * s),
    ])


class Model:
    """Model of one order: posterior mode, Laplace pseudoprior, bins, and outliers at the mode."""

    def __init__(self, data, order, outlier_share=0.2):
        self.data, self.order = data, order
        self.squares = np.ascontiguousarray(data.squares[:, :order])
        self._fit()
        self._segment(round(outlier_share * data.r.size))

    def _by_row(self, theta, rows):
        """Return derivatives of log p(r_t | theta) by s_t and nu, and squares of past returns."""
        r, squares, values = self.data.r[rows], self.squares[rows], softplus(theta)
        nu, s = values[-1], values[0] + squares @ values[1:-1]
        w = nu * s + r * r
        by_s = nu / (2 * s) - (nu + 1) * nu / (2 * w)
        by_nu = 0.5 * (digamma((nu + 1) / 2) - digamma(nu / 2) - 1 / nu
                       - np.log1p(r * r / (nu * s)) + (nu + 1) * r * r / (nu * w))
        return by_s, by_nu, squares

    def gradients(self, theta):
        """Return d log p(r_t | theta) / d theta, one row per t."""
        by_s, by_nu, squares = self._by_row(theta, slice(None))
        return np.column_stack([by_s, by_s[:, None] * squares, by_nu]) * expit(theta)

    def gradient(self, theta, rows=slice(None)):
        """Return the sum of `gradients` over some rows."""
        by_s, by_nu, squares = self._by_row(theta, rows)
        return np.concatenate([[by_s.sum()], by_s @ squares, [by_nu.sum()]]) * expit(theta)

    def log_prior(self, theta):
        """Return the log density of theta if each value has the prior Exp(1)."""
        return float(np.sum(-softplus(theta) - softplus(-theta)))

    def log_prior_gradient(self, theta):
        return 1.0 - 2.0 * expit(theta)

    def log_posterior(self, theta):
        values = softplus(theta)
        s = values[0] + self.squares @ values[1:-1]
        return (log_density(self.data.r, s, values[-1]).sum()
                + self.data.r.size * constant(values[-1]) + self.log_prior(theta))

    def log_posterior_gradient(self, theta):
        return self.gradient(theta) + self.log_prior_gradient(theta)

    def _fit(self):
        """Find the mode, and the Gaussian approximation there, whose precision is root root'."""
        start = np.full(self.order + 2, -3.0)
        start[0], start[-1] = 0.0, 4.0
        self.mode = minimize(lambda x: -self.log_posterior(x), start, method="BFGS",
                             jac=lambda x: -self.log_posterior_gradient(x)).x
        steps = 1e-4 * np.eye(self.mode.size)
        hessian = np.array([self.log_posterior_gradient(self.mode + step)
                            - self.log_posterior_gradient(self.mode - step)
                            for step in steps]) / 2e-4
        self.root = np.linalg.cholesky(-(hessian + hessian.T) / 2)
        self.scale = solve_triangular(self.root, np.eye(self.mode.size), lower=True).T
        self.covariance = self.scale @ self.scale.T

    def draw_pseudo(self, rng):
        return self.mode + self.scale @ rng.standard_normal(self.mode.size)

    def log_pseudo(self, theta):
        white = self.root.T @ (theta - self.mode)
        return (np.log(np.diag(self.root)).sum() - 0.5 * white @ white
                - 0.5 * self.mode.size * np.log(2 * np.pi))

    def _segment(self, n_outliers):
        """Compute bins of (r, s at the mode) by deciles, outliers, and sums over other rows."""
        r, values = self.data.r, softplus(self.mode)
        z = np.column_stack([r, values[0] + self.squares @ values[1:-1]])
        z = (z - z.mean(axis=0)) / z.std(axis=0)
        cuts = np.quantile(z, np.arange(1, N_DECILES) / N_DECILES, axis=0)
        cells = [np.searchsorted(cut, column) for cut, column in zip(cuts.T, z.T, strict=True)]
        _, self.bins = np.unique(N_DECILES * cells[0] + cells[1], return_inverse=True)
        counts = np.bincount(self.bins)

        def means(columns):
            sums = np.zeros((counts.size, columns.shape[1]))
            np.add.at(sums, self.bins, columns)
            return sums / counts[:, None]

        distance = np.linalg.norm(z - means(z)[self.bins], axis=1)
        far = np.argsort(distance, kind="stable")[r.size - n_outliers:]
        self.outlier = np.zeros(r.size, dtype=bool)
        self.outlier[far] = True
        self.outliers, self.inliers = np.flatnonzero(self.outlier), np.flatnonzero(~self.outlier)
        self.outlier_rows = r[self.outliers], self.squares[self.outliers]
        self.mode_gradients = self.gradients(self.mode)
        self.mode_inlier_gradient = self.mode_gradients[self.inliers].sum(axis=0)
        self.centres = means(np.column_stack([r, self.squares]))
        self._sum(np.column_stack([r, self.squares]) - self.centres[self.bins])

    def _sum(self, away):
        """Compute first and second moments about the centres of each bin's other rows."""
        n_bins = len(self.centres)
        self.counts = np.bincount(self.bins[self.inliers], minlength=n_bins)
        self.firsts = np.zeros((n_bins, self.order + 1))
        self.seconds = np.zeros((n_bins, self.order + 1, self.order + 1))
        for b in range(n_bins):
            rows = away[self.inliers[self.bins[self.inliers] == b]]
            self.firsts[b], self.seconds[b] = rows.sum(axis=0), rows.T @ rows
        self.lag_seconds = np.ascontiguousarray(self.seconds[:, 1:, 1:]).reshape(n_bins, -1)

    def control(self, values):
        """Return Taylor coefficients (6, bins) and s at the centres, and the exact sum of h.

        s is linear in the squares, so the expansion in the data (r, squares) equals that of
        the density in (r, s).
        """
        alpha = values[1:-1]
        s = values[0] + self.centres[:, 1:] @ alpha
        c = expand(self.centres[:, 0], s, values[-1])
        ss = self.lag_seconds @ np.outer(alpha, alpha).ravel()
        total = (self.counts @ c[0] + self.firsts[:, 0] @ c[1] + (self.firsts[:, 1:] @ alpha) @ c[2]
                 + 0.5 * self.seconds[:, 0, 0] @ c[3] + (self.seconds[:, 0, 1:] @ alpha) @ c[4]
                 + 0.5 * ss @ c[5])
        return c, s, total


class Arms:
    """Log likelihoods of arms (model, theta), in full or with a control variate.

    The control variate h of an arm at a row is the Taylor polynomial of the row's bin. An
    arm's outliers are always computed. Arms share rows but not outliers, so reward and h are 0
    at the pairs (outlier, arm). `expand` returns the sum of the log likelihoods of the outliers
    and of h, for the offset of the arm.

    Attributes
    ----------
    n_evaluations : int
        Pairs (row, arm) whose likelihood `expand` and `rewards` computed. The centre of a
        bin counts as a row.
    """

    def __init__(self, models, thetas):
        self.models, self.data = models, models[0].data
        self.values = [softplus(theta) for theta in thetas]
        self.level = np.array([values[0] for values in self.values])
        self.nu = np.array([values[-1] for values in self.values])
        self.weights = np.zeros((self.data.squares.shape[1], len(models)))
        for state, (model, values) in enumerate(zip(models, self.values, strict=True)):
            self.weights[:model.order, state] = values[1:-1]
        self.constants = constant(self.nu)
        self.n_evaluations = 0

    def densities(self):
        """Return all log likelihoods without the `constants`, shape (rows, arms)."""
        s = self.level + self.data.squares @ self.weights
        return log_density(self.data.r[:, None], s, self.nu)

    def totals(self):
        """Return the log likelihood of each arm, from all rows."""
        return self.densities().sum(axis=0) + self.data.r.size * self.constants

    def expand(self):
        """Prepare `controls`; return the sums of h and of the outliers' log likelihoods."""
        known, polynomials = np.empty(len(self.models)), []
        for state, (model, values) in enumerate(zip(self.models, self.values, strict=True)):
            c, s, known[state] = model.control(values)
            polynomials.append(np.vstack([c, model.centres[:, 0], s]))
            r, squares = model.outlier_rows
            s = values[0] + squares @ values[1:-1]
            known[state] += log_density(r, s, values[-1]).sum() + r.size * self.constants[state]
            self.n_evaluations += r.size + c.shape[1]
        self.polynomials = np.concatenate(polynomials, axis=1)
        self.starts = np.cumsum([0, *(c.shape[1] for c in polynomials[:-1])])
        return known

    def _scales(self, rows, states):
        """Return s, and True for each pair whose row is not an outlier of the arm."""
        s = self.level[states] + self.data.squares[rows] @ self.weights[:, states]
        return s, ~np.array([self.models[state].outlier[rows] for state in states]).T

    def rewards(self, rows, states):
        """Return log likelihoods, shape (rows, states)."""
        s, inlier = self._scales(rows, states)
        self.n_evaluations += np.count_nonzero(inlier)
        found = log_density(self.data.r[rows][:, None], s, self.nu[states])
        return (found + self.constants[states]) * inlier

    def controls(self, rows, states):
        """Return h, shape (rows, states)."""
        s, inlier = self._scales(rows, states)
        bins = np.array([self.models[state].bins[rows] + self.starts[state]
                         for state in states]).T
        c = self.polynomials[:, bins]
        dr, ds = self.data.r[rows][:, None] - c[6], s - c[7]
        return inlier * (c[0] + dr * (c[1] + 0.5 * c[3] * dr + c[4] * ds)
                         + ds * (c[2] + 0.5 * c[5] * ds))
