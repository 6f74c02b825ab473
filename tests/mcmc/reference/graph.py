"""Gibbs draws of variables that interact in pairs, with the random numbers of the C code."""

import itertools

import numpy as np

from racing.reference.likelihoods import pairwise

TWIN_OF = ("graph",)  # kernels of csrc


class Graph:
    """Lists of neighbours and weights, one list per variable; log_prior (V, D)."""

    def __init__(self, table, neighbours, weights=None, log_prior=None):
        self.table = np.asarray(table, dtype=float)
        self.neighbours = [np.asarray(part, dtype=int) for part in neighbours]
        self.weights = [np.ones(len(part)) for part in neighbours] if weights is None else [
            np.asarray(part, dtype=float) for part in weights]
        self.log_prior = np.zeros((len(neighbours), len(self.table)))
        if log_prior is not None:
            self.log_prior = self.log_prior + log_prior

    def totals(self, v, values):
        return pairwise(self.table, values, self.neighbours[v], self.weights[v]).sum(axis=0)

    def joint(self):
        """Return the distribution of all variables, in the order of itertools.product."""
        scores = []
        for x in itertools.product(range(len(self.table)), repeat=len(self.neighbours)):
            x = np.array(x)
            pairs = sum(self.totals(v, x)[x[v]] for v in range(len(x))) / 2
            scores.append(pairs + self.log_prior[np.arange(len(x)), x].sum())
        p = np.exp(np.array(scores) - max(scores))
        return p / p.sum()

    def gumbels(self, rng):
        words = rng.bit_generator.random_raw(len(self.table)) >> np.uint64(12)
        return -np.log(-np.log((words.astype(float) + 0.5) * 2.0**-52))

    def draw(self, v, values, rng):
        return int(np.argmax(self.totals(v, values) + self.log_prior[v] + self.gumbels(rng)))

    def draw_counts(self, v, values, rng, rate=1.0):
        """Draw by Poisson-Gibbs, count by count; return the state and the factors read."""
        spread = (self.table.max(axis=1) - self.table.min(axis=1)).max()
        sizes = np.abs(self.weights[v]) * spread
        total, n_read, totals = sizes.sum(), 0, np.zeros(len(self.table))
        if total > 0:
            above = pairwise(self.table, values, self.neighbours[v], self.weights[v])
            above -= above.min(axis=1, keepdims=True)
            always = rate * total**2
            n_read = rng.poisson(always + total)
            for _ in range(n_read):
                n = rng.integers(0, len(sizes), dtype=np.uint32)
                if rng.random() * (always + total) < always + total * (
                        above[n, values[v]] / sizes[n]):
                    totals += np.log1p(total * above[n] / (always * sizes[n]))
        return int(np.argmax(totals + self.log_prior[v] + self.gumbels(rng))), n_read

    def kernel(self, v, values, rate=1.0):
        """Return P(x_v' | x_v) of draw_counts, summed over all counts; rows: x_v, columns: x_v'.

        For few factors only: counts are summed until their probabilities are negligible.
        """
        spread = (self.table.max(axis=1) - self.table.min(axis=1)).max()
        sizes = np.abs(self.weights[v]) * spread
        above = pairwise(self.table, values, self.neighbours[v], self.weights[v])
        above -= above.min(axis=1, keepdims=True)
        total = sizes.sum()
        always = rate * total**2 * sizes / total
        n_states, most = len(self.table), 25
        matrix = np.zeros((n_states, n_states))
        factorials = np.cumprod([1.0, *range(1, most + 1)])
        for counts in itertools.product(range(most + 1), repeat=len(sizes)):
            counts = np.array(counts)
            scores = (counts[:, None] * np.log1p(above / always[:, None])).sum(axis=0)
            law = np.exp(scores + self.log_prior[v] - (scores + self.log_prior[v]).max())
            means = always[:, None] + above
            chance = np.prod(np.exp(-means) * means**counts[:, None]
                             / factorials[counts][:, None], axis=0)
            matrix += chance[:, None] * law / law.sum()
        return matrix
