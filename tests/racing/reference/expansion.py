"""Second-order expansions of factors as plain NumPy."""

import numpy as np

TWIN_OF = ("expansion",)  # kernels of csrc


def matrices_of(weights, directions):
    """Sums of outer products, (n, d, d)."""
    return np.einsum("nk,nki,nkj->nij", weights, directions, directions)


def changes(gradients, hessians, center, points):
    """Of each row, h(points[1]) - h(points[0])."""
    values = [gradients @ (p - center)
              + 0.5 * np.einsum("i,nij,j->n", p - center, hessians, p - center) for p in points]
    return values[1] - values[0]
