"""Small regressions of each family, and their posteriors by numerical integration."""

import numpy as np
from scipy import special

from pybandit import mcmc

from mcmc.reference.minibatch import Family, Problem, posterior_mode

FAMILIES = ("logistic", "binomial", "probit", "student", "poisson")
RADIUS = 3.0  # radius of the ball to which Poisson posteriors are restricted; it excludes about 1 %


class Case:
    """Data of a family, its reference implementation, and the arguments of the sampler."""

    def __init__(self, kind, n, d, seed=1, prior=0.5, size=1.0):
        rng = np.random.default_rng(seed)
        self.kind, self.prior, self.trials = kind, prior, np.ones(n)
        self.inside = None  # function that returns True inside the ball
        self.x = rng.normal(size=(n, d)) * size
        s = self.x @ (rng.normal(size=d) + 0.5)
        self.radius = RADIUS if kind == "poisson" else np.inf
        self.twin = Family("logistic" if kind == "binomial" else kind, 3.0, 0.7)
        if kind == "student":
            self.y, self.family = s + 0.7 * rng.standard_t(3.0, size=n), mcmc.StudentT(3.0, 0.7)
        elif kind == "binomial":
            self.trials = rng.integers(1, 6, size=n).astype(float)
            self.y = rng.binomial(self.trials.astype(int), special.expit(s)).astype(float)
            self.family = mcmc.Binomial(self.trials)
        elif kind == "poisson":
            s = 0.5 * s
            self.y, self.family = rng.poisson(np.exp(s)).astype(float), kind
        else:
            link = special.expit if kind == "logistic" else special.ndtr
            self.y, self.family = (rng.random(n) < link(s)).astype(float), kind

    def sampler(self, **options):
        if self.kind == "poisson":
            options = dict(radius=self.radius) | options
        return mcmc.ExactMinibatch(self.x, self.y, family=self.family,
                                   prior_precision=self.prior, **options)

    def problem(self, mode=None):
        if mode is None:
            mode = posterior_mode(self.twin, self.x, self.y, self.prior, self.trials)
        return Problem(self.twin, self.x, self.y, self.prior, mode, self.trials, self.radius)

    def log_density(self, thetas):
        """Return the log density of each row of `thetas`, up to a constant."""
        value = self.twin.value(self.y, thetas @ self.x.T, self.trials).sum(axis=1)
        value -= self.prior * (thetas**2).sum(axis=1) / 2
        if self.radius < np.inf:
            if self.inside is None:
                self.inside = self.problem()
            z = np.linalg.solve(self.inside.factor, (thetas - self.inside.mode).T)
            value[np.linalg.norm(z, axis=0) > self.radius] = -np.inf
        return value


def cell_law(case, mode, deviations, n_cells=10, fine=60, far=7.0):
    """Return edges of cells in each coordinate, and each cell's probability by Simpson's rule."""
    edges = [np.concatenate([[m - far * s], np.linspace(m - 1.8 * s, m + 1.8 * s, n_cells - 1),
                             [m + far * s]])
             for m, s in zip(mode, deviations, strict=True)]
    nodes, weights = [], []
    simpson = np.ones(2 * fine + 1)
    simpson[1:-1:2], simpson[2:-1:2] = 4.0, 2.0
    for one in edges:
        nodes.append(np.concatenate([np.linspace(a, b, 2 * fine + 1)
                                     for a, b in zip(one, one[1:], strict=False)]))
        weights.append(np.concatenate([(b - a) / (6 * fine) * simpson
                                       for a, b in zip(one, one[1:], strict=False)]))
    grid = np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1).reshape(-1, len(edges))
    density = np.concatenate([case.log_density(part) for part in np.array_split(grid, 50)])
    density = np.exp(density - density.max())
    for axis, weight in enumerate(weights):
        shape = [-1 if i == axis else 1 for i in range(len(edges))]
        density = (density.reshape([len(n) for n in nodes]) * weight.reshape(shape)).ravel()
    cells = density.reshape([v for one in edges for v in (len(one) - 1, 2 * fine + 1)])
    law = cells.sum(axis=tuple(range(1, 2 * len(edges), 2))).ravel()
    return edges, law / law.sum()


def cell_counts(draws, edges):
    counts, _ = np.histogramdd(draws, edges)
    return counts.ravel()
