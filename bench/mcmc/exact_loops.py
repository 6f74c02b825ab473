"""Loops that a careful user would write with numba for one model, for bench_exact.py."""

import math

import numba
import numpy as np
from scipy import special

THIRD = 1 / (6 * math.sqrt(3))
BATCH = 500  # rows per stochastic gradient


def hand_written(x, y, mode, covariance, is_draws, n_steps):
    """Return a chain with the factorised test; it draws from the approximation or walks."""
    factor = np.linalg.cholesky(covariance)
    p = special.expit(x @ mode)
    slope = factor.T @ (x.T @ (y - p) - mode)
    bounds = THIRD / 2 * np.linalg.norm(x @ factor, axis=1)**3
    share, other = alias_table(bounds)
    scale = 2.38 / math.sqrt(mode.size)

    def run():
        draws, n_read = chain(x, p, mode, factor, slope, bounds, share, other, bounds.sum(),
                              is_draws, scale, n_steps, np.random.default_rng(1))
        return draws, n_read / n_steps

    run()
    return run, n_steps


@numba.njit
def alias_table(weights):
    n = weights.size
    share, other = weights * (n / weights.sum()), np.arange(n)
    small, large = np.empty(n, np.int64), np.empty(n, np.int64)
    n_small = n_large = 0
    for i in range(n):
        if share[i] < 1.0:
            small[n_small] = i
            n_small += 1
        else:
            large[n_large] = i
            n_large += 1
    while n_small and n_large:
        n_small -= 1
        i, j = small[n_small], large[n_large - 1]
        other[i] = j
        share[j] -= 1.0 - share[i]
        if share[j] < 1.0:
            n_large -= 1
            small[n_small] = j
            n_small += 1
    for i in range(n_small):
        share[small[i]] = 1.0
    for i in range(n_large):
        share[large[i]] = 1.0
    return share, other


@numba.njit
def spread(z, new):
    aa = mm = am = 0.0
    for j in range(z.size):
        a, m = new[j] - z[j], 0.5 * (new[j] + z[j])
        aa += a * a
        mm += m * m
        am += a * m
    along = abs(am) / math.sqrt(aa)
    across = math.sqrt(max(0.0, mm - along**2))
    A, B, C = 3.0 * along**2 + 0.25 * aa, 6.0 * along * across, 3.0 * across**2
    t = math.sqrt(2.0)
    for _ in range(50):
        change = ((B + t * ((2.0 * C - 3.0 * A) - t * (2.0 * B + C * t)))
                  / ((2.0 * C - 3.0 * A) - t * (4.0 * B + 3.0 * C * t)))
        if not change > 1e-6:
            break
        t -= change
    return math.sqrt(aa) * (A + t * (B + t * C)) / (3.0 * (1.0 + t * t)**1.5)


@numba.njit
def remainder(p, change):
    return change * (p + 0.5 * p * (1.0 - p) * change) - math.log1p(p * math.expm1(change))


@numba.njit
def chain(x, p, mode, factor, slope, bounds, share, other, total, is_draws, scale, n_steps, rng):
    n, d = x.shape
    draws, n_read = np.empty((n_steps, d)), 0
    z, new, point, at = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    for t in range(n_steps):
        ratio = 0.0
        for j in range(d):
            xi = rng.standard_normal()
            new[j] = xi if is_draws else z[j] + scale * xi
            ratio += slope[j] * (new[j] - z[j])
            if not is_draws:
                ratio -= 0.5 * (new[j]**2 - z[j]**2)
        accepted = ratio >= 0.0 or math.log(1.0 - rng.random()) < ratio
        if accepted:
            for i in range(d):
                at[i] = 0.0
                for j in range(i + 1):
                    at[i] += factor[i, j] * new[j]
            m = spread(z, new)
            for _ in range(rng.poisson(total * m)):
                i = int(rng.random() * n)
                if rng.random() >= share[i]:
                    i = other[i]
                n_read += 1
                level = rng.random() * bounds[i] * m
                before = after = 0.0
                for j in range(d):
                    before += x[i, j] * point[j]
                    after += x[i, j] * at[j]
                if level >= THIRD / 6.0 * abs(after - before) * (
                        before * before + before * after + after * after):
                    continue
                if level < remainder(p[i], before) - remainder(p[i], after):
                    accepted = False
                    break
        if accepted:
            z, new, point, at = new, z, at, point
        for j in range(d):
            draws[t, j] = mode[j] + point[j]
    return draws, n_read


def stochastic_gradient(x, y, mode, covariance, is_hamiltonian, n_steps):
    """Return SGLD or SGHMC in z, with gradients of 500 rows and a control; biased: no test."""
    factor = np.linalg.cholesky(covariance)
    p = special.expit(x @ mode)

    def run():
        walk = hamiltonian if is_hamiltonian else langevin
        return walk(x, p, mode, factor, n_steps, np.random.default_rng(1)), float(BATCH)

    run()
    return run, n_steps


@numba.njit
def gradient(x, p, mode, factor, z, rng, out):
    """Write the gradient of the log posterior in z: change in p since the mode, and the prior."""
    n, d = x.shape
    point, total = factor @ z, np.zeros(d)
    for _ in range(BATCH):
        i = int(rng.random() * n)
        s = 0.0
        for j in range(d):
            s += x[i, j] * point[j]
        e = p[i] * math.exp(s)
        change = e / (1.0 - p[i] + e) - p[i]
        for j in range(d):
            total[j] -= change * x[i, j]
    back = factor.T @ (total * (n / BATCH) - point)
    for j in range(d):
        out[j] = back[j]


@numba.njit
def langevin(x, p, mode, factor, n_steps, rng):
    d, step = mode.size, 0.2
    z, slope, draws = np.zeros(d), np.zeros(d), np.empty((n_steps, d))
    for t in range(n_steps):
        gradient(x, p, mode, factor, z, rng, slope)
        for j in range(d):
            z[j] += 0.5 * step * slope[j] + math.sqrt(step) * rng.standard_normal()
        draws[t] = mode + factor @ z
    return draws


@numba.njit
def hamiltonian(x, p, mode, factor, n_steps, rng):
    d, step, friction = mode.size, 0.3, 0.5
    z, v, slope, draws = np.zeros(d), np.zeros(d), np.zeros(d), np.empty((n_steps, d))
    for t in range(n_steps):
        gradient(x, p, mode, factor, z, rng, slope)
        for j in range(d):
            v[j] += step * (slope[j] - friction * v[j]) + math.sqrt(
                2.0 * friction * step) * rng.standard_normal()
            z[j] += step * v[j]
        draws[t] = mode + factor @ z
    return draws
