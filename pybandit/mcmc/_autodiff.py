"""Gradients and Hessians of blocks of rows at one point, by autodiff or finite differences."""

import contextlib
from typing import NamedTuple

import numpy as np

from pybandit._shared.checks import numbers_returned, read_only
from pybandit._shared.optional import require
from pybandit._shared.types import Floats

BACKENDS = ("finite", "jax", "autograd")
# Maximum number of entries in the Hessians of one block: 16 MiB.
NUMBERS = 1 << 21
# Step of finite differences, relative to the length over which a row's log likelihood changes by a
# few nats. Truncation and rounding errors are then about 1e-8 to 1e-7 of a row's largest
# derivative.
APART = 1e-4
# Number of rows from which this length is estimated.
SAMPLE = 1000
# Entries below this fraction of a Hessian's largest entry are treated as errors, with each
# coordinate measured in units of its length: EXACT for rounding errors of exact derivatives,
# DIFFERENCES for errors of finite differences.
EXACT, DIFFERENCES = 1e-13, 1e-5


class Hessians(NamedTuple):
    """Hessians of a block of rows, (n, d, d), and the lengths of the coordinates, (d,)."""

    values: Floats
    lengths: Floats


def blocks_of(log_likelihood, n_factors, center, backend):
    """Yield indices, gradients (n, d) and `Hessians` of the rows, block by block."""
    d = center.size
    make = {"jax": _jax, "autograd": _autograd, "finite": _finite}[backend]
    derivatives = make(log_likelihood, n_factors, read_only(center))
    size = max(1, NUMBERS // (d * d))
    for begin in range(0, n_factors, size):
        rows = read_only(np.arange(begin, min(begin + size, n_factors)))
        gradients, hessians = derivatives(rows)
        for name, values in (("gradient", gradients), ("Hessian", hessians)):
            good = np.isfinite(values.reshape(rows.size, -1)).all(axis=1)
            if not good.all():
                raise ValueError(f"log_likelihood must have a finite {name} at center; factor "
                                 f"{rows[np.argmin(good)]} does not")
        yield rows, gradients, Hessians(hessians, lengths_of(gradients, hessians))


def lengths_of(gradients, hessians):
    """Return the step in each coordinate over which a row's value changes by about one nat."""
    steep = np.abs(gradients).mean(axis=0)
    bent = np.sqrt(np.abs(np.einsum("nii->ni", hessians)).mean(axis=0))
    lengths = 1 / np.clip(np.maximum(steep, bent), 1e-75, 1e75)
    # A linear coordinate has a length of at most 1, because its slope may be small at this point
    # only: the slope of the product a b in a is near 0 if b is near 0.
    return np.where(bent <= 1e-3 * steep, np.minimum(lengths, 1.0), lengths)


def rounding_of(backend):
    return DIFFERENCES if backend == "finite" else EXACT


def _checked(values, rows):
    return numbers_returned("the return value of log_likelihood", values, rows.shape,
                            "log_likelihood must return shape (n,)")


def _jax(log_likelihood, n_factors, center):
    jax = require("jax", "jax")

    def value(theta, row):
        values = log_likelihood(row[None], theta)
        if values.shape != (1,) or values.dtype != "float64":
            raise ValueError(f"log_likelihood must return float64 of shape (n,) = (1,), computed "
                             f"by jax from float64 data; got {values.dtype} of {values.shape}")
        return values[0]

    both = jax.jit(jax.vmap(lambda theta, row: (jax.grad(value)(theta, row),
                                                jax.hessian(value)(theta, row)),
                            in_axes=(None, 0)))

    def derivatives(rows):
        with _double(jax):
            gradients, hessians = both(jax.numpy.asarray(center), jax.numpy.asarray(rows))
            return np.array(gradients), np.array(hessians)

    return derivatives


def _double(jax):
    """Return a context in which jax computes in 64 bits, whatever its configuration."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    return contextlib.nullcontext() if jax.config.jax_enable_x64 else (
        jax.experimental.enable_x64())


def _autograd(log_likelihood, n_factors, center):
    make_jvp = require("autograd.differential_operators", "autograd").make_jvp
    units = np.eye(center.size)

    def along(function, unit):
        return lambda theta: make_jvp(function)(theta)(unit)[1]

    def derivatives(rows):
        """Apply forward mode twice: each pass gives one entry of the Hessians of all rows."""
        def value(theta):
            return log_likelihood(rows, theta)

        _checked(value(center), rows)
        gradients, hessians = _empty(rows.size, center.size)
        for j, unit in enumerate(units):
            slope = along(value, unit)
            gradients[:, j] = slope(center)
            for k in range(j + 1):
                hessians[:, j, k] = hessians[:, k, j] = along(slope, units[k])(center)
        return gradients, hessians

    return derivatives


def _finite(log_likelihood, n_factors, center):
    def value(rows, theta):
        return _checked(log_likelihood(rows, theta), rows)

    steps = APART * _lengths(value, n_factors, center)
    moves = np.diag(steps)

    def derivatives(rows):
        here = value(rows, center)
        gradients, hessians = _empty(rows.size, center.size)
        bends = np.empty_like(gradients)  # f(+) + f(-) - 2 f
        for j, move in enumerate(moves):
            up, down = value(rows, center + move), value(rows, center - move)
            gradients[:, j] = (up - down) / (2 * steps[j])
            bends[:, j] = (up - here) + (down - here)
            hessians[:, j, j] = bends[:, j] / steps[j]**2
            for k in range(j):
                both = move + moves[k]
                bend = (value(rows, center + both) - here) + (value(rows, center - both) - here)
                hessians[:, j, k] = hessians[:, k, j] = (
                    bend - bends[:, j] - bends[:, k]) / (2 * steps[j] * steps[k])
        return gradients, hessians

    return derivatives


def _lengths(value, n_factors, center):
    """Return the step in each coordinate over which sampled rows change by a few nats."""
    rows = read_only(np.unique(
        np.linspace(0, n_factors - 1, min(n_factors, SAMPLE)).astype(np.int64)))
    here = value(rows, center)
    lengths = np.maximum(1.0, np.abs(center))
    for j in range(center.size):
        for _ in range(20):
            move = np.zeros(center.size)
            move[j] = 100 * APART * lengths[j]
            ends = value(rows, center + move), value(rows, center - move)
            change = np.mean(np.abs(ends[0] - here) + np.abs(ends[1] - here)) / (200 * APART)
            if np.isfinite(change) and 0.1 < change < 10 or change == 0:
                break
            lengths[j] *= np.clip(1 / change, 0.01, 100) if np.isfinite(change) else 0.01
    return lengths


def _empty(n, d):
    return np.empty((n, d)), np.empty((n, d, d))


def products_of(hessians, rounding, most):
    """Return each Hessian as a sum of outer products: weights (n, r) and directions (n, r, d).

    With v = H u, H - v v' / (u'H u) has one rank less (Wedderburn). u is the coordinate of
    the largest diagonal entry, or the sum or difference of two coordinates if an off-diagonal
    entry is more than twice as large. If more than `most` products are needed, the
    Hessians are returned unchanged.
    """
    values, lengths = hessians
    n, d = values.shape[:2]
    # Entries can only be compared after scaling: their units differ.
    left, each = values * np.outer(lengths, lengths), np.arange(n)
    scale = np.abs(left).reshape(n, -1).max(axis=1)
    if rounding >= DIFFERENCES:  # errors of finite differences also depend on the other rows
        scale = np.maximum(scale, scale.mean())
    weights, directions = [], []
    while True:
        sizes = np.abs(left).reshape(n, -1)
        largest = sizes.max(axis=1)
        open_ = largest > rounding * scale
        if not open_.any():
            break
        if len(weights) == most:
            return values
        diagonal = np.einsum("nii->ni", left)
        j = np.abs(diagonal).argmax(axis=1)
        u = np.zeros((n, d))
        u[each, j] = 1.0
        row, column = np.divmod(sizes.argmax(axis=1), d)
        beside = 2 * np.abs(diagonal[each, j]) < largest
        # for u = e_j + e_k or u = e_j - e_k, |u'H u| >= 2 |H_jk|
        sign = np.where((diagonal[each, row] + diagonal[each, column])
                        * left[each, row, column] >= 0, 1.0, -1.0)
        u[beside] = 0.0
        u[each[beside], row[beside]] = 1.0
        u[each[beside], column[beside]] = sign[beside]
        v = np.einsum("nij,nj->ni", left, u)
        value = np.einsum("ni,ni->n", u, v)
        weight = np.where(open_, 1 / np.where(open_, value, 1.0), 0.0)
        v[~open_] = 0.0
        left -= weight[:, None, None] * v[:, :, None] * v[:, None, :]
        weights.append(weight)
        directions.append(v / lengths)
    if not weights:
        return np.zeros((n, 0)), np.zeros((n, 0, d))
    return np.stack(weights, axis=1), np.stack(directions, axis=1)
