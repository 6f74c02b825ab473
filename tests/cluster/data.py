"""Data sets of the tests and benchmarks of medoids."""

import numpy as np


def data(kind, n, d, seed=0):
    """Return n float32 rows of d columns."""
    rng = np.random.default_rng(seed)
    if kind == "blobs":
        centers = rng.normal(size=(10, d)) * 4
        x = centers[rng.integers(10, size=n)] + rng.normal(size=(n, d))
    if kind == "gauss":
        x = rng.normal(size=(n, d))
    if kind == "heavy":
        x = rng.standard_t(1.5, size=(n, d))
    if kind == "heavyrow":
        x = rng.normal(size=(n, d)) * rng.pareto(1.2, size=(n, 1))
    if kind == "scrna":
        profiles = rng.gamma(0.3, 1, size=(8, d)) * 2
        library = rng.lognormal(0, 0.5, size=(n, 1))
        x = np.log1p(rng.poisson(profiles[rng.integers(8, size=n)] * library))
    if kind == "bits":
        shares = rng.beta(0.5, 1.5, size=(4, d))
        x = rng.random((n, d)) < shares[rng.integers(4, size=n)]
    if kind == "unif":
        x = rng.random((n, d))
    if kind == "dups":
        x = rng.poisson(1.5, size=(n, d))
    if kind == "rare":
        x = data("blobs", n, d, seed)
        x[:30] = 40 + rng.normal(size=(30, d))
    return x.astype(np.float32)
