"""Distances between rows, in float64."""

import numpy as np

TWIN_OF = ("distance",)


def distances(a, b, metric):
    """Return the distances of rows of `a` to rows of `b`."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    if metric == "cosine":
        a, b = unit(a), unit(b)
        near = 1.0 - a @ b.T
        # rows of zeros are copies of each other, and at distance 1 from all others
        both = (np.linalg.norm(a, axis=1) == 0)[:, None] & (np.linalg.norm(b, axis=1) == 0)
        return np.where(both, 0.0, np.maximum(near, 0.0))
    apart = a[:, None, :] - b[None, :, :]
    if metric == "manhattan":
        return np.abs(apart).sum(-1)
    if metric == "hamming":
        return (apart != 0).mean(-1)
    squares = (apart * apart).sum(-1)
    return np.sqrt(squares) if metric == "euclidean" else squares


def unit(rows):
    """Return rows divided by their lengths; rows of zeros stay."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
