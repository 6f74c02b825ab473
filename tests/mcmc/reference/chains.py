"""Small models with exact stationary distributions: transition matrices, sums and integrals."""

import itertools

import numpy as np
from scipy import special


class Potts:
    """Three variables with three states each; each pair interacts through many small factors.

    log p(x) sums, over factors n, unary[n, v, x_v] for all v and pair[n] for pairs with x_v = x_w.
    """

    n_variables, n_states = 3, 3

    def __init__(self, seed, n_factors, spread, tie, noise=0.002):
        rng = np.random.default_rng(seed)
        self.unary = rng.normal(size=(n_factors, 3, 3)) * noise
        self.unary -= self.unary.mean(axis=0)
        self.unary += spread * rng.normal(size=(3, 3)) / n_factors
        self.pair = rng.normal(size=n_factors) * noise
        self.pair += tie / n_factors - self.pair.mean()

    def factors(self, variable, values, rows=slice(None)):
        """Return the log factors, (N, D) or the given rows, of a variable given the others."""
        others = np.delete(values, variable)
        agree = (others[:, None] == np.arange(3)).sum(axis=0)
        return self.unary[rows, variable] + self.pair[rows, None] * agree

    def stationary(self, order="sequential"):
        """Return the stationary distribution of the chain, and the transition matrix of a sweep."""
        everything = list(itertools.product(range(3), repeat=3))
        updates = []
        for variable in range(3):
            matrix = np.zeros((27, 27))
            for i, values in enumerate(everything):
                law = special.softmax(self.factors(variable, np.array(values)).sum(axis=0))
                for state in range(3):
                    to = values[:variable] + (state,) + values[variable + 1:]
                    matrix[i, everything.index(to)] += law[state]
            updates.append(matrix)
        sweep = updates[0] @ updates[1] @ updates[2]
        if order == "random":
            sweep = np.mean([updates[a] @ updates[b] @ updates[c]
                             for a, b, c in itertools.permutations(range(3))], axis=0)
        return np.linalg.matrix_power(sweep, 4096)[0], sweep

    def joint(self):
        """Return the softmax of the sum of all factors, over the 27 states."""
        totals, tie = self.unary.sum(axis=0), self.pair.sum()
        scores = [sum(totals[v, x[v]] for v in range(3))
                  + tie * sum(x[v] == x[w] for v, w in itertools.combinations(range(3), 2))
                  for x in itertools.product(range(3), repeat=3)]
        return special.softmax(scores)


def logistic_problem(seed, n_factors, coefficients):
    """Return features, labels in {0, 1} and the mode of the flat-prior posterior."""
    rng = np.random.default_rng(seed)
    coefficients = np.asarray(coefficients)
    features = rng.normal(size=(n_factors, coefficients.size))
    labels = (rng.random(n_factors) < special.expit(features @ coefficients)) * 1.0
    mode = np.zeros(coefficients.size)
    for _ in range(50):
        p = special.expit(features @ mode)
        hessian = -(features.T * (p * (1 - p))) @ features
        mode = mode - np.linalg.solve(hessian, features.T @ (labels - p))
    return features, labels, mode, np.linalg.inv(-hessian)
