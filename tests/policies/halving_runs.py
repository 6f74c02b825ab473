"""Random problems for the policies that halve."""

import math

import numpy as np


def grid_table(rng, n, steps=None):
    """Return rewards on a grid of few steps, so that means and variances tie."""
    steps = int(rng.choice([1, 2, 4, 16])) if steps is None else steps
    return rng.integers(0, steps + 1, (n, 7)) / steps


def stages_of(K):
    return math.ceil(math.log2(K))


def random_variances(rng, K):
    kind = rng.integers(5)
    if kind == 0:
        return np.full(K, float(rng.choice([1.0, 0.3, 1e-9])))
    if kind == 1:
        return rng.integers(1, 4, K) / 3.0
    if kind == 2:
        return 10 ** rng.uniform(-3, 3, K)
    if kind == 3:
        return np.where(rng.random(K) < 0.2, 1e6, 1.0)
    return rng.uniform(0.1, 1.5, K)
