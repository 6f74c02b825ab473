"""Reference implementation of k-medoids: eager swaps on two strata, each one verified.

The random numbers are those of `pybandit.cluster.kmedoids`, so that the same seed gives the same
medoids. Distances are a function of rows: ``distance(candidates, references)`` returns an array
of this shape.
"""

import numpy as np

TWIN_OF = ("kmedoids", "gains", "swaps", "trials")  # kernels of csrc

Z_ASK, Z_DROP = 2.0, 3.0
FIRST, MIXED = 64, 16384
FIRST_POINTS, GROWTH = 1024, 4


def row_distance(X, metric="euclidean"):
    """Return the distance function of the rows of X."""
    X = np.asarray(X, dtype=np.float64)

    def distance(candidates, references):
        difference = X[candidates][:, None, :] - X[references][None, :, :]
        if metric == "manhattan":
            return np.abs(difference).sum(-1)
        if metric == "hamming":
            return (difference != 0).mean(-1)
        squared = (difference**2).sum(-1)
        return np.sqrt(squared) if metric == "euclidean" else squared

    return distance


class Sample:
    """Sums over the references of one stratum, for every cluster that may be removed."""

    def __init__(self, u, o, clusters, size, k):
        self.n, self.size = u.size, size
        self.sums = u.sum() + np.bincount(clusters, o, k)
        self.squares = (u**2).sum() + np.bincount(clusters, (u + o) ** 2 - u**2, k)

    def totals(self):
        return self.sums * self.size / self.n if self.n else 0 * self.sums

    def variances(self):
        if not self.n:
            return 0 * self.sums
        spread = np.maximum(self.squares - self.sums**2 / self.n, 0)
        return (self.size / self.n) ** 2 * spread * (1 - self.n / self.size)


class Stage:
    """Swaps among the first n rows of a random order."""

    def __init__(self, distance, rows, medoids, weights, tolerance):
        self.distance, self.rows, self.medoids = distance, rows, np.array(medoids)
        self.n, self.k, self.tolerance = len(rows), len(medoids), tolerance
        self.weights = np.ones(self.n) if weights is None else weights[rows]
        self.assign()
        self.stratum, self.n_swaps, self.losses = self.nearest, 0, [self.loss]
        self.scores = np.full(self.n, -np.inf)

    def assign(self):
        to_medoids = self.distance(self.medoids, self.rows)
        two = np.argsort(to_medoids, axis=0, kind="stable")[:2]
        self.nearest = two[0]
        self.d1, self.d2 = np.take_along_axis(to_medoids, two, axis=0)
        self.loss = self.weights @ self.d1
        self.cost = self.weights * (self.d2 - self.d1)
        self.removal = np.bincount(self.nearest, self.cost, self.k)

    def gains(self, d, at):
        """Return the gain whichever medoid is removed, and the rest if it is the nearest."""
        u = np.maximum(self.d1[at] - d, 0)
        o = np.maximum(self.d2[at] - np.maximum(d, self.d1[at]), 0)
        return self.weights[at] * u, self.weights[at] * o

    def estimate(self, i, own, n_own, n_mixed):
        """Return the estimated gain and both variances per cluster, from samples of these sizes."""
        s, cluster = self.stratum[i], self.nearest[i]
        at = own[:n_own]
        u, o = self.gains(self.distance(self.rows[[i]], self.rows[at])[0], at)
        same = self.nearest[at] == cluster
        inside = Sample(u, o, self.nearest[at], own.size, self.k)
        paired = Sample(u, np.where(same, o - self.cost[at], 0), self.nearest[at], own.size, self.k)
        inside.sums[cluster] = paired.sums[cluster]
        inside.squares[cluster] = paired.squares[cluster]
        inside.squares += (self.weights[i] * self.d1[i]) ** 2  # its own gain, which is known
        rest = np.flatnonzero(self.stratum[:n_mixed] != s)
        u, o = self.gains(self.distance(self.rows[[i]], self.rows[rest])[0], rest)
        outside = Sample(u, o, self.nearest[rest], self.n - own.size, self.k)
        removal = self.removal.copy()
        removal[cluster] -= self.cost[own[self.nearest[own] == cluster]].sum()
        return (inside.totals() + outside.totals() - removal, inside.variances(),
                outside.variances())

    def attempt(self, i):
        """Try candidate i; return True if it became a medoid."""
        if self.d1[i] == 0:
            return False
        own = np.flatnonzero(self.stratum == self.stratum[i])
        most_mixed, least = min(self.n, MIXED), self.tolerance * self.loss
        n_own, n_mixed = min(FIRST, own.size), min(2 * FIRST, most_mixed)
        while True:
            gains, inside, outside = self.estimate(i, own, n_own, n_mixed)
            errors = np.sqrt(inside + outside)
            best, top = gains.argmax(), (gains + Z_DROP * errors).argmax()
            if gains[best] > max(least, Z_ASK * errors[best]):
                return self.verify(i)
            if gains[top] + Z_DROP * errors[top] <= least:
                self.scores[i] = gains[best]
                return False
            is_used_up = n_mixed == most_mixed
            if n_own < own.size and (is_used_up or inside[top] / n_own >= outside[top] / n_mixed):
                n_own = min(2 * n_own, own.size)
            elif not is_used_up:
                n_mixed = min(2 * n_mixed, most_mixed)
            else:
                return self.verify(i)

    def exact_gains(self, i):
        u, o = self.gains(self.distance(self.rows[[i]], self.rows)[0], np.arange(self.n))
        return u.sum() + np.bincount(self.nearest, o, self.k) - self.removal

    def verify(self, i):
        gains = self.exact_gains(i)
        cluster = gains.argmax()
        if not gains[cluster] > self.tolerance * self.loss:
            return False
        self.medoids[cluster] = self.rows[i]
        self.assign()
        self.n_swaps += 1
        self.losses.append(self.loss)
        return True

    def run(self, most_passes):
        since = tried = 0
        while since < self.n and tried < most_passes * self.n:
            since = 0 if self.attempt(tried % self.n) else since + 1
            tried += 1
        return -(-tried // self.n)

    def polish(self, rounds=4, per_cluster=10):
        for _ in range(rounds):
            tried = np.argsort(-self.scores, kind="stable")[:per_cluster * self.k]
            made = [self.verify(i) for i in tried if self.d1[i] > 0]
            self.scores[tried] = -np.inf
            if not any(made):
                break


def first_medoids(distance, rows, k, weights, rng):
    """Draw medoids greedily, in proportion to the distance from those so far."""
    share = np.ones(len(rows)) if weights is None else weights[rows]
    first = rng.integers(len(rows)) if weights is None else rng.choice(len(rows),
                                                                       p=share / share.sum())
    chosen = [int(rows[first])]
    near = share * distance([chosen[0]], rows)[0]
    while len(chosen) < k:
        if not near.sum() > 0:  # fewer than k distinct rows
            chosen.append(int(next(row for row in rows if row not in chosen)))
            continue
        drawn = rng.choice(len(rows), 2 + int(np.log(k)), p=near / near.sum())
        lowered = [np.minimum(near, share * distance([rows[at]], rows)[0]) for at in drawn]
        best = int(np.argmin([one.sum() for one in lowered]))
        chosen.append(int(rows[drawn[best]]))
        near = lowered[best]
    return chosen


def kmedoids(distance, n_points, k, weights=None, seed=0, tol=1e-3, max_iter=50, polish=True):
    """Return the last stage and the number of swaps of all stages."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_points)
    n = min(n_points, max(FIRST_POINTS, 64 * k))
    medoids, n_swaps = first_medoids(distance, order[:n], k, weights, rng), 0
    while True:
        stage = Stage(distance, order[:n], medoids, weights, tol / k)
        stage.run(max_iter)
        if n == n_points and polish:
            stage.polish()
        n_swaps += stage.n_swaps
        if n == n_points:
            return stage, n_swaps
        medoids, n = stage.medoids, min(n_points, GROWTH * n)
