"""Medoids of digits, of images and of counts: time, loss and memory compared with rivals.

    python examples/cluster/real_data.py [--quick] [--data WORD ...] [--seeds N]

The digits are those of scikit-learn. The images are made: 70,000 of 28 x 28 pixels like those of
MNIST, which are shifted, blurred strokes of ten kinds. The counts are made as those of genes in
single cells, 20,000 cells of eight kinds and 2,000 genes, after a logarithm, in CSR.

A table per data set shows the medoid of all rows and the k medoids of `kmedoids`: the mean
distance (the loss), processor seconds, and the memory that is allocated in addition to the rows.
FasterPAM (package kmedoids) needs the matrix of all distances; it is left out if that has more
than 1 GB. OneBatchPAM (package onebatch) reads dense rows: CSR is made dense for it.
"""

import argparse
import time
import tracemalloc

import numpy as np

import pybandit as pb

MOST_MATRIX = 1 << 30  # bytes of the float32 matrix of FasterPAM
MOST_DENSE = 1 << 30   # bytes of the rows of OneBatchPAM


def digits(quick):
    """Return rows, the number of clusters and the metric."""
    from sklearn.datasets import load_digits

    return load_digits().data[:400 if quick else None].astype(np.float32), 10, "euclidean"


def images(quick):
    """Make images: a closed curve per kind, shifted, scaled and blurred."""
    n, side = (500, 12) if quick else (70_000, 28)
    rng = np.random.default_rng(0)
    kinds, angle = rng.normal(size=(10, 2, 4)), np.linspace(0, 2 * np.pi, 40)
    waves = np.array([np.cos(angle), np.sin(angle), np.cos(2 * angle), np.sin(3 * angle)])
    rows = np.empty((n, side * side), np.float32)
    grid = np.arange(side)
    for at in range(n):
        curve = (kinds[rng.integers(10)] + 0.25 * rng.normal(size=(2, 4))) @ waves
        y, x = side / 2 + side * 0.12 * rng.uniform(0.8, 1.2) * curve + rng.normal(size=(2, 1))
        strokes = np.exp(-0.5 * (grid[:, None] - y) ** 2) @ np.exp(-0.5 * (grid - x[:, None]) ** 2)
        rows[at] = np.minimum(255.0, 120.0 * strokes).ravel()
    return rows, 10, "euclidean"


def counts(quick):
    """Make counts of genes in CSR; about one in ten is not 0."""
    from scipy import sparse

    n, d = (400, 60) if quick else (20_000, 2000)
    rng = np.random.default_rng(0)
    profiles = rng.gamma(0.1, 1.0, size=(8, d))
    blocks = []
    for first in range(0, n, 1000):
        size = min(1000, n - first)
        depth = rng.lognormal(0.0, 0.5, size=(size, 1))
        drawn = rng.poisson(profiles[rng.integers(8, size=size)] * depth)
        blocks.append(sparse.csr_array(np.log1p(drawn).astype(np.float32)))
    return sparse.vstack(blocks, format="csr"), 8, "manhattan"


DATA = {"digits": digits, "images": images, "counts": counts}


def dense(X):
    return X if isinstance(X, np.ndarray) else X.toarray()


def loss(X, medoids, metric):
    """Return the mean distance from a row to the nearest medoid."""
    from sklearn.metrics import pairwise_distances_argmin_min

    medoids, parts = dense(X[medoids]), range(0, X.shape[0], 2000)
    return sum(pairwise_distances_argmin_min(dense(X[first:first + 2000]), medoids,
                                             metric=metric)[1].sum(dtype=float)
               for first in parts) / X.shape[0]


def ours(X, k, metric, seed):
    return pb.cluster.kmedoids(X, k, metric=metric, rng=seed).indices


def faster_pam(X, k, metric, seed):
    import kmedoids
    from sklearn.metrics import pairwise_distances

    matrix = pairwise_distances(X, metric=metric).astype(np.float32, copy=False)
    return kmedoids.fasterpam(matrix, k, random_state=seed, n_cpu=1).medoids.astype(int)


def one_batch(X, k, metric, seed):
    import onebatch

    return onebatch.OneBatchPAM(k, distance=metric, random_state=seed).fit(dense(X)).medoid_indices_


def fits(name, X):
    """Return True if the memory of a method is not too large for these rows."""
    n, d = X.shape
    return (name != "FasterPAM" or 4 * n * n <= MOST_MATRIX) and (
        name != "OneBatchPAM" or 4 * n * d <= MOST_DENSE)


METHODS = {"pybandit": (ours, None), "FasterPAM": (faster_pam, "kmedoids"),
           "OneBatchPAM": (one_batch, "onebatch")}


def is_installed(package):
    try:
        return package is None or bool(__import__(package))
    except ImportError:
        return False


def seconds_of(call):
    """Return the result of a call and its processor seconds."""
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def peak_of(call):
    """Return the peak of the bytes that a call allocates with NumPy and Python."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def print_table(name, seeds, quick):
    X, k, metric = DATA[name](quick)
    held = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes
    print(f"{name}, {X.shape[0]:,} x {X.shape[1]}, {metric}, {held / 1e6:,.1f} MB")

    def medoid():
        return pb.cluster.medoid(X, metric=metric, rng=0)

    found, seconds = seconds_of(medoid)
    print(f"  the medoid          {found.mean_distance:.4f}, {seconds:.2f} s, "
          f"{peak_of(medoid) / 1e6:,.1f} MB, row {found.index}, exact: {found.exact}")
    for method, (run, package) in METHODS.items():
        if not (is_installed(package) and fits(method, X)):
            continue
        calls = [lambda run=run, seed=seed: run(X, k, metric, seed) for seed in range(seeds)]
        medoids, times = zip(*map(seconds_of, calls), strict=True)
        mean = np.mean([loss(X, one, metric) for one in medoids])
        print(f"  {method:<12} k = {k:<2} {mean:.4f}, {min(times):.2f} s, "
              f"{peak_of(calls[0]) / 1e6:,.1f} MB", flush=True)


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Medoids of real data, compared with rivals.")
    parser.add_argument("--quick", action="store_true", help="tiny data")
    parser.add_argument("--data", nargs="*", default=list(DATA), choices=list(DATA))
    parser.add_argument("--seeds", type=int, default=2, help="fits per method")
    options = parser.parse_args(arguments)
    for name in options.data:
        print_table(name, 1 if options.quick else options.seeds, options.quick)


if __name__ == "__main__":
    main()
