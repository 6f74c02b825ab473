"""Memory of medoid and kmedoids in addition to the rows, next to the documented bound.

    python bench/cluster/memory.py [--quick] [--rows N] [--columns D] [--sparse] [--folder F]

Rows are float32 in a file that is mapped, so the operating system reads them when they are
needed. The peak is that of all arrays that are allocated. With --sparse, the rows are in CSR in
memory, and one entry in twenty is not 0. The bound of kmedoids is 1.2 copies of the rows (none in
CSR), 64 bytes per row, 16,384 rows and 8 k^2 bytes.
"""

import argparse
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np

from pybandit.cluster import kmedoids, medoid

K = 10
AT_ONCE = 100_000  # rows made at once


def mapped_rows(path, n, d):
    """Write n rows of ten blobs, and return them mapped."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(10, d)) * 4
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (n, d))
    for first in range(0, n, AT_ONCE):
        count = min(AT_ONCE, n - first)
        rows[first:first + count] = (centers[rng.integers(10, size=count)]
                                     + rng.normal(size=(count, d)))
    rows.flush()
    return np.load(path, mmap_mode="r")


def sparse_rows(n, d):
    from scipy import sparse

    return sparse.random_array((n, d), density=0.05, format="csr", dtype=np.float32,
                               rng=np.random.default_rng(0))


def peak_of(call):
    """Return the result of a call, its peak of allocated bytes, and processor seconds."""
    tracemalloc.start()
    start = time.process_time()
    result = call()
    seconds, peak = time.process_time() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return result, peak, seconds


def bound_of(x, k):
    """Return the documented bound of the memory of k medoids of float32 rows, in bytes."""
    n, d = x.shape
    copies = 1.2 * x.nbytes if isinstance(x, np.ndarray) else 0.0
    return copies + 64 * n + 16_384 * 4 * d + 8 * k * k


def main():
    parser = argparse.ArgumentParser(description="Measure the memory of medoids.")
    parser.add_argument("--quick", action="store_true", help="20,000 rows")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--folder", help="folder of the file; default: that of temporary files")
    parser.add_argument("--sparse", action="store_true", help="rows in CSR")
    options = parser.parse_args()
    n, d = 20_000 if options.quick else options.rows, options.columns
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        x = (sparse_rows(n, d) if options.sparse
             else mapped_rows(Path(folder) / "rows.npy", n, d))
        size = x.data.nbytes * 2 if options.sparse else x.nbytes
        print(f"{n:,} rows of {d} columns, {size / 1e6:,.0f} MB")
        _, peak, seconds = peak_of(lambda: medoid(x, rng=0))
        print(f"medoid: {peak / 1e6:,.1f} MB, {peak / n:.0f} bytes per row, {seconds:.1f} s")
        found, peak, seconds = peak_of(lambda: kmedoids(x, K, rng=0))
        print(f"kmedoids: {peak / 1e6:,.1f} MB, {peak / bound_of(x, K):.2f} of the bound, "
              f"{seconds:.1f} s, mean distance {found.inertia / n:.4f}")


if __name__ == "__main__":
    main()
