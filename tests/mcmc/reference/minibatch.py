"""Exact tests on minibatches in plain NumPy, with the same random numbers in the same order."""

import numpy as np
from scipy import optimize, special

TWIN_OF = ("alias", "glm", "minibatch", "moves")  # kernels of csrc

LOGISTIC, PROBIT = 1 / (6 * np.sqrt(3)), 0.2959


def student_third(df, scale):
    return (df + 1) * (1.5 + np.sqrt(2)) / (2 * df**1.5 * scale**3)


class Family:
    """Log likelihoods of rows with three derivatives in s; `trials` is 1 by default."""

    def __init__(self, name, df=1.0, scale=1.0):
        self.name, self.df, self.scale = name, df, scale
        self.third = {"logistic": LOGISTIC, "probit": PROBIT, "poisson": np.inf}.get(
            name) or student_third(df, scale)

    def value(self, y, s, trials=1.0):
        if self.name == "logistic":
            return y * s - trials * np.logaddexp(0.0, s)
        if self.name == "probit":
            return special.log_ndtr((2 * y - 1) * s)
        if self.name == "poisson":
            return y * s - np.exp(s)
        return -(self.df + 1) / 2 * np.log1p(((y - s) / self.scale)**2 / self.df)

    def derivatives(self, y, s, trials=1.0):
        """Return the first, second and third derivatives."""
        if self.name == "logistic":
            p = special.expit(s)
            return y - trials * p, -trials * p * (1 - p), -trials * p * (1 - p) * (1 - 2 * p)
        if self.name == "probit":
            sign = 2 * y - 1
            t = sign * s
            m = np.exp(-t * t / 2 - np.log(2 * np.pi) / 2 - special.log_ndtr(t))
            return sign * m, -m * (t + m), sign * m * ((t + m) * (t + 2 * m) - 1)
        if self.name == "poisson":
            return y - np.exp(s), -np.exp(s), -np.exp(s)
        v, unit = (y - s) / self.scale / np.sqrt(self.df), self.scale * np.sqrt(self.df)
        h = (self.df + 1) / 2
        return (h * 2 * v / (1 + v**2) / unit, -h * 2 * (1 - v**2) / (1 + v**2)**2 / unit**2,
                -h * 4 * v * (3 - v**2) / (1 + v**2)**3 / unit**3)


def posterior_mode(family, x, y, prior, trials=1.0):
    """Find the mode by an optimiser, independently of the Newton steps in C."""
    def energy(theta):
        s = x @ theta
        return (prior * theta @ theta / 2 - family.value(y, s, trials).sum(),
                prior * theta - x.T @ family.derivatives(y, s, trials)[0])

    return optimize.minimize(energy, np.zeros(x.shape[1]), jac=True, method="BFGS",
                             options={"gtol": 1e-9}).x


class Problem:
    """A log posterior split at a mode: a quadratic function in z and bounded remainders."""

    def __init__(self, family, x, y, prior, mode, trials=1.0, radius=np.inf):
        self.radius, self.spread, self.is_own = radius, smooth_spread, False
        self.family, self.x, self.y, self.mode = family, x, y, mode
        self.trials = np.broadcast_to(trials, y.shape).astype(float)
        self.at_mode = x @ mode
        self.first, self.second, _ = family.derivatives(y, self.at_mode, self.trials)
        precision = prior * np.eye(mode.size) - (x.T * self.second) @ x
        covariance = np.linalg.inv(precision)
        self.factor = np.linalg.cholesky((covariance + covariance.T) / 2)
        self.slope = self.factor.T @ (x.T @ self.first - prior * mode)
        lengths = np.linalg.norm(x @ self.factor, axis=1)
        self.third = family.third * self.trials
        if family.name == "poisson":
            self.third = np.exp(self.at_mode + lengths * radius)
        self.bounds = self.third / 2 * lengths**3

    def remainders(self, z, rows=slice(None)):
        change = self.x[rows] @ (self.factor @ z)
        y, at, n = self.y[rows], self.at_mode[rows], self.trials[rows]
        return (self.family.value(y, at + change, n) - self.family.value(y, at, n)
                - change * (self.first[rows] + self.second[rows] * change / 2))

    def quadratic(self, z):
        return self.slope @ z - z @ z / 2


def spread(z, other):
    """Return max over w of |(w'other)^3 - (w'z)^3| / 3, on a grid of unit vectors in the plane."""
    plane, _ = np.linalg.qr(np.column_stack([z, other]))
    angles = np.linspace(0, np.pi, 20_001)
    directions = np.stack([np.cos(angles), np.sin(angles)])[:plane.shape[1]]
    first, second = plane.T @ z, plane.T @ other
    return np.abs((second @ directions)**3 - (first @ directions)**3).max() / 3


def smooth_spread(z, other):
    """Return `spread` to full precision, by a cubic equation for the best direction."""
    a, m = other - z, (z + other) / 2
    aa, mm, am = a @ a, m @ m, abs(a @ m)
    if aa == 0:
        return 0.0
    along = am / np.sqrt(aa)
    across = np.sqrt(max(0.0, mm - along**2))
    g = np.array([3 * across**2, 6 * along * across, 3 * along**2 + aa / 4])
    roots = np.roots([-g[0], -2 * g[1], 2 * g[0] - 3 * g[2], g[1]])
    t = np.concatenate([[0.0], roots.real[np.abs(roots.imag) < 1e-6]])
    return np.sqrt(aa) * (np.polyval(g, t) / (1 + t**2)**1.5).max() / 3


def spread_any(z, other):
    """Return the integral of |z + t a|^2 |a|, a = other - z, by Simpson's rule (exact here)."""
    a = other - z
    at = [np.sum((z + t * a)**2) for t in (0.0, 0.5, 1.0)]
    return np.linalg.norm(a) * (at[0] + 4 * at[1] + at[2]) / 6


def alias_table(weights):
    """Return the arrays `share` and `other` of an alias table, built by Vose's method."""
    n = len(weights)
    share, other = weights / weights.sum() * n, np.arange(n)
    small, large = list(np.flatnonzero(share < 1)), list(np.flatnonzero(share >= 1))
    while small and large:
        i, j = small.pop(), large[-1]
        other[i] = j
        share[j] -= 1 - share[i]
        if share[j] < 1:
            small.append(large.pop())
    share[small + large] = 1.0
    return share, other


class Move:
    """A random walk, or an autoregressive step, in z."""

    def __init__(self, is_walk, scale, target, factor=None, center=0.0, below=1.0,
                 target_all=None):
        self.is_walk, self.scale, self.target, self.below = is_walk, scale, target, below
        self.factor, self.center, self.n_adapted = factor, center, 0
        self.target_all = target if target_all is None else target_all

    def propose(self, z, rng):
        noise = np.array([rng.standard_normal() for _ in z])
        factor = np.eye(z.size) if self.factor is None else self.factor
        if self.is_walk:
            return z + self.scale * factor @ noise, 0.0
        b = min(1.0, self.scale)
        after = self.center + np.sqrt(1 - b * b) * (z - self.center) + b * factor @ noise
        u, v = np.linalg.solve(factor, np.stack([z, after]).T - np.reshape(self.center, (-1, 1))).T
        return after, (v @ v - u @ u) / 2

    def adapt(self, accepted, reads_all=False):
        self.n_adapted += 1
        target = self.target_all if reads_all else self.target
        self.scale *= np.exp((accepted - target) / self.n_adapted**0.6)
        if not self.is_walk:
            self.scale = min(1.5, self.scale)


class Chain:
    """One chain; `step` returns True if the proposal was accepted, and the number of rows read."""

    AHEAD = 16

    def __init__(self, problem, moves, rng, test, gamma, most):
        self.problem, self.moves, self.rng, self.test = problem, moves, rng, test
        self.gamma, self.most, self.z = gamma, most, np.zeros(problem.mode.size)
        self.table = alias_table(problem.bounds)

    def rows(self, n):
        """Yield n rows, each with a uniform number for its test, in blocks.

        A user-defined function is called once per block, after all numbers of the block are drawn.
        """
        while n > 0:
            count, drawn = min(n, self.AHEAD), []
            for _ in range(count):
                column = self.rng.integers(len(self.table[0]), dtype=np.uint32)
                taken = self.rng.random() < self.table[0][column]
                drawn.append(int(column if taken else self.table[1][column]))
            levels = [self.rng.random() for _ in drawn] if self.problem.is_own else None
            for k, i in enumerate(drawn):
                left = count - k - 1 if levels else 0
                yield i, (levels[k] if levels else self.rng.random()), left
            n -= count

    def step(self, adapts=False):
        move = self.moves[0]
        if len(self.moves) > 1:
            u = self.rng.random()
            move = next((m for m in self.moves[:-1] if u < m.below), self.moves[-1])
        after, correction = move.propose(self.z, self.rng)
        ratio = self.problem.quadratic(after) - self.problem.quadratic(self.z) + correction
        accepted, n_read = self.decide(after, ratio)
        if accepted:
            self.z = after
        if adapts:
            move.adapt(accepted, self.reads_all)
        return accepted, n_read

    def passes(self, ratio):
        return ratio >= 0 or np.log(1 - self.rng.random()) < ratio

    def decide(self, after, ratio):
        problem, n_read, self.reads_all = self.problem, 0, False
        if np.linalg.norm(after) > problem.radius:
            return False, 0
        m = problem.spread(self.z, after)
        rate = problem.bounds.sum() * m * (1 + self.gamma if self.test == "auxiliary" else 1)
        if rate > self.most:
            self.reads_all = True
            change = (problem.remainders(after) - problem.remainders(self.z)).sum()
            return self.passes(ratio + change), len(problem.y)
        if self.test == "factorised" and not self.passes(ratio):
            return False, 0
        for i, u, left in self.rows(self.rng.poisson(rate)):
            n_read += 1
            one = slice(i, i + 1)
            change = float((problem.remainders(after, one) - problem.remainders(self.z, one))[0])
            bound = problem.bounds[i] * m
            if self.test == "factorised" and u * bound < -change:
                return False, n_read + left
            ahead, back = (self.gamma * bound + max(0.0, c) for c in (-change, change))
            if self.test == "auxiliary" and u * (1 + self.gamma) * bound < ahead:
                ratio += np.log(back / ahead)
        return self.test == "factorised" or self.passes(ratio), n_read
