"""Distances from medoids to points, block by block."""

import numpy as np

from pybandit.cluster._sources import as_distances
from pybandit.cluster._sparse import dense, is_sparse

AT_ONCE = 1 << 22   # distances held at once
FEWEST = 64         # points per block


def blocks(n, k):
    """Yield slices of n points of which k numbers each fit into memory."""
    size = max(FEWEST, AT_ONCE // k)
    for first in range(0, n, size):
        yield slice(first, min(first + size, n))


def assign(distances, medoids, references):
    """Return labels (int32) of references and their distances from the nearest medoid."""
    labels = np.empty(references.size, dtype=np.int32)
    nearest = np.empty(references.size)
    order = np.argsort(medoids, kind="stable")  # functions take increasing candidates
    for part in blocks(references.size, medoids.size):
        block = np.empty((medoids.size, part.stop - part.start))
        block[order] = distances.block(medoids[order], references[part])
        labels[part], nearest[part] = block.argmin(axis=0), block.min(axis=0)
    return labels, nearest


def distances_to_rows(centers, rows, metric):
    """Yield (part, distances) of blocks of rows: distances from all centers, shape (k, m).

    Distances are computed in the type that `as_rows` chooses for centers and rows together.
    """
    k = len(centers)
    ends = [dense(one(axis=0)).reshape(1, -1) for one in (rows.min, rows.max)]
    ends = np.vstack([centers, *ends])
    dtype = np.result_type(as_distances(ends, None, metric)[0].rows, rows.dtype, centers)
    for part in blocks(rows.shape[0], max(k, rows.shape[1]) if is_sparse(rows) else k):
        both = np.vstack([centers, dense(rows[part])]).astype(dtype, copy=False)
        yield part, as_distances(both, None, metric)[0].block(np.arange(k), np.arange(k, len(both)))
