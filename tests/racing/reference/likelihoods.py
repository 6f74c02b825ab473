"""Reference implementation of compiled factors and second-order expansions, in NumPy."""

import numpy as np
from scipy import stats

TWIN_OF = ("expansion", "pairwise", "quadratic")  # kernels of csrc


def pairwise(table, labels, members=None, weights=None):
    """Return weights[n] * table[i, labels[members[n]]] as an (N, D) matrix."""
    members = np.arange(len(labels)) if members is None else np.asarray(members)
    weights = np.ones(len(members)) if weights is None else np.asarray(weights)
    return weights[:, None] * np.asarray(table)[:, labels[members]].T


def gaussian(y, means, sd):
    return stats.norm.logpdf(y[:, None], means, sd) + 0.5 * np.log(2 * np.pi)


def poisson(y, rates):
    return y[:, None] * np.log(rates) - rates


def matrices_of(weights, directions):
    """Return the weighted sums of outer products, shape (n, d, d)."""
    return np.einsum("nk,nki,nkj->nij", weights, directions, directions)


def expansion_changes(gradients, hessians, center, points):
    """Return h(points[1]) - h(points[0]) for each row."""
    values = [gradients @ (p - center)
              + 0.5 * np.einsum("i,nij,j->n", p - center, hessians, p - center) for p in points]
    return values[1] - values[0]
