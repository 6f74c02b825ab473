"""Compiled factors as plain NumPy: what each is, and their sums."""

import numpy as np
from scipy import stats

TWIN_OF = ("pairwise", "quadratic")  # kernels of csrc


def pairwise(table, labels, members=None, weights=None):
    """weights[n] * table[i, labels[members[n]]] as an (N, D) matrix."""
    members = np.arange(len(labels)) if members is None else np.asarray(members)
    weights = np.ones(len(members)) if weights is None else np.asarray(weights)
    return weights[:, None] * np.asarray(table)[:, labels[members]].T


def gaussian(y, means, sd):
    return stats.norm.logpdf(y[:, None], means, sd) + 0.5 * np.log(2 * np.pi)


def poisson(y, rates):
    return y[:, None] * np.log(rates) - rates
