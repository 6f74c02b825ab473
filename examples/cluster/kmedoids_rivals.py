"""k-medoids compared with FasterPAM, OneBatchPAM and BanditPAM, if they are installed.

    python examples/cluster/kmedoids_rivals.py [--quick] [--seeds N] [--cases WORD ...] [--threads]

The table shows, per method, the mean distance to the nearest medoid (the loss), the largest loss
of a seed, and processor time per fit. FasterPAM (package kmedoids) reads the matrix of all
distances, whose time is the second number. OneBatchPAM (package onebatch) reads distances to one
sample of the rows. BanditPAM (package banditpam) estimates the swaps of PAM from samples. Data
are made from seed 0: ten blobs, a normal distribution, counts as of genes in single cells, and
uniform points in a square. The digits are those of scikit-learn.

BanditPAM takes 20 minutes of the time of all cases, so it is run with one seed. --threads adds the
time of our fit in one and two threads.
"""

import argparse
import time

import numpy as np

import pybandit as pb

# data, rows, columns, clusters, metric
CASES = (
    ("digits", 1797, 64, 10, "euclidean"),
    ("blobs", 3000, 100, 10, "euclidean"),
    ("blobs", 10_000, 100, 10, "euclidean"),
    ("gauss", 10_000, 20, 10, "euclidean"),
    ("blobs", 10_000, 20, 50, "euclidean"),
    ("counts", 10_000, 100, 20, "manhattan"),
    ("square", 6000, 2, 20, "euclidean"),
)
LARGE = (
    ("blobs", 50_000, 100, 10, "euclidean"),
    ("blobs", 50_000, 100, 50, "euclidean"),
    ("gauss", 50_000, 20, 10, "euclidean"),
    ("blobs", 200_000, 20, 10, "euclidean"),
    ("blobs", 200_000, 20, 50, "euclidean"),
    ("blobs", 1_000_000, 20, 10, "euclidean"),
)
QUICK = (("digits", 300, 64, 5, "euclidean"), ("counts", 400, 5, 4, "manhattan"))


def data(kind, n, d):
    """Return n rows of float32."""
    g = np.random.default_rng(0)
    if kind == "digits":
        from sklearn.datasets import load_digits

        return load_digits().data[:n].astype(np.float32)
    if kind == "blobs":
        centers = g.normal(size=(10, d)) * 4
        X = centers[g.integers(10, size=n)] + g.normal(size=(n, d))
    elif kind == "gauss":
        X = g.normal(size=(n, d))
    elif kind == "counts":
        profiles = g.gamma(0.3, 1, size=(8, d)) * 2
        sizes = g.lognormal(0, 0.5, size=(n, 1))
        X = np.log1p(g.poisson(profiles[g.integers(8, size=n)] * sizes))
    else:
        X = g.random((n, d))
    return X.astype(np.float32)


def loss(X, medoids, metric):
    """Return the mean distance from a row to the nearest medoid."""
    from sklearn.metrics import pairwise_distances_argmin_min

    return pairwise_distances_argmin_min(X, X[medoids], metric=metric)[1].mean(dtype=float)


def ours(X, k, metric, seed):
    result = pb.cluster.kmedoids(X, k, metric=metric, rng=seed)
    return result.indices, 0.0


def faster_pam(X, k, metric, seed):
    import kmedoids
    from sklearn.metrics import pairwise_distances

    start = time.process_time()
    matrix = pairwise_distances(X, metric=metric)
    made = time.process_time() - start
    return kmedoids.fasterpam(matrix, k, random_state=seed, n_cpu=1).medoids.astype(int), made


def one_batch(X, k, metric, seed):
    import onebatch

    return onebatch.OneBatchPAM(k, distance=metric, random_state=seed).fit(X).medoid_indices_, 0.0


def bandit_pam(X, k, metric, seed):
    import banditpam

    one = banditpam.KMedoids(n_medoids=k, algorithm="BanditPAM")
    one.seed = seed
    one.fit(X, "L1" if metric == "manhattan" else "L2")
    return one.medoids, 0.0


# method, the package that it needs, and the most rows and seeds that it is run with
METHODS = {
    "pybandit": (ours, None, 10**9, 10),
    "FasterPAM": (faster_pam, "kmedoids", 10_000, 3),
    "OneBatchPAM": (one_batch, "onebatch", 200_000, 3),
    "BanditPAM": (bandit_pam, "banditpam", 10_000, 1),
}


def is_installed(package):
    try:
        return package is None or bool(__import__(package))
    except ImportError:
        return False


def run(method, X, k, metric, seeds):
    """Return the losses, and the least processor time of a fit and of its matrix."""
    losses, times, matrices = [], [], []
    for seed in range(seeds):
        start = time.process_time()
        medoids, matrix = method(X, k, metric, seed)
        times.append(time.process_time() - start - matrix)
        matrices.append(matrix)
        losses.append(loss(X, np.asarray(medoids), metric))
    return losses, min(times), min(matrices)


def print_case(case, seeds):
    kind, n, d, k, metric = case
    X = data(kind, n, d)
    print(f"{kind}, {n:,} x {d}, k = {k}, {metric}")
    for name, (method, package, most_rows, most_seeds) in METHODS.items():
        if n > most_rows or not is_installed(package):
            continue
        losses, cpu, matrix = run(method, X, k, metric, min(seeds, most_seeds))
        apart = f" + {matrix:.2f} for the matrix" if matrix else ""
        print(f"  {name:<12} loss {np.mean(losses):.5f}, worst {max(losses):.5f} of "
              f"{len(losses)} seeds, {cpu:.3f} s{apart}", flush=True)


def thread_times(X, k, metric, rounds):
    """Return the time on the clock of one and two threads, the least of `rounds` fits each."""
    times = {1: [], 2: []}
    for _ in range(rounds):
        for n_threads in times:
            start = time.perf_counter()
            pb.cluster.kmedoids(X, k, metric=metric, rng=0, n_threads=n_threads)
            times[n_threads].append(time.perf_counter() - start)
    return [min(times[n]) for n in times]


def print_threads(case):
    kind, n, d, k, metric = case
    one, two = thread_times(data(kind, n, d), k, metric, 5)
    print(f"  threads      one {one:.3f} s, two {two:.3f} s, ratio {one / two:.2f}", flush=True)


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Compare k-medoids with its rivals.")
    parser.add_argument("--quick", action="store_true", help="tiny data")
    parser.add_argument("--seeds", type=int, default=10, help="fits per method")
    parser.add_argument("--cases", nargs="*", default=[], help="words of the cases to run")
    parser.add_argument("--large", action="store_true", help="50,000 rows and more")
    parser.add_argument("--threads", action="store_true", help="also time two threads")
    options = parser.parse_args(arguments)
    cases = QUICK if options.quick else LARGE if options.large else CASES
    for case in cases:
        if all(word in " ".join(map(str, case)) for word in options.cases):
            print_case(case, 2 if options.quick else options.seeds)
            if options.threads:
                print_threads(case)


if __name__ == "__main__":
    main()
