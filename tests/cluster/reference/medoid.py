"""The medoid by sums that separate, by cutting planes and by a race of bets, in float64."""

import numpy as np

from cluster.reference.distance import distances, unit

TWIN_OF = ("medoid", "planes", "separable")
LOG_FLOOR = 1e-300
NEAR = 2.0**-10


def totals_of(x, metric, weights=None):
    """Return the weighted sum of the distances of every row to all rows."""
    w = np.ones(len(x)) if weights is None else weights
    return np.concatenate([distances(part, x, metric) @ w
                           for part in np.array_split(x, max(1, x.size // 20_000))])


def separable_totals(x, metric, weights=None):
    """Return the same sums in O(N d), or O(d N log N) by sorting."""
    x = np.asarray(x, float)
    n, d = x.shape
    w = np.ones(n) if weights is None else weights
    if metric == "sqeuclidean":
        centred = x - w @ x / w.sum()
        squares = (centred * centred).sum(1)
        return w.sum() * squares + w @ squares
    if metric == "cosine":
        u = unit(x)
        is_zero = ~x.any(1)
        return w.sum() - u @ (w @ u) - np.where(is_zero, w @ is_zero, 0.0)
    total = np.zeros(n)
    for c in range(d):
        order = np.argsort(x[:, c], kind="stable")
        v, u = x[order, c], w[order]
        if metric == "manhattan":
            below, moment = np.cumsum(u) - u, np.cumsum(u * v) - u * v
            above, rest = u.sum() - below - u, u @ v - moment - u * v
            total[order] += v * below - moment + rest - v * above
        else:  # hamming: the weight of the rows that hold another value
            first = np.r_[True, v[1:] != v[:-1]]
            group = np.cumsum(first) - 1
            total[order] += (u.sum() - np.bincount(group, u)[group]) / d
    return total


def directions(x, a, apart):
    """Return (x_j - a) / |x_j - a|, 0 where x_j = a."""
    return np.divide(x - x[a], apart[:, None], out=np.zeros_like(x), where=apart[:, None] > 0)


def plane_of(x, a, weights=None):
    """Return the mean distance of row a, and the slope there."""
    w = np.ones(len(x)) if weights is None else weights
    apart = distances(x[[a]], x, "euclidean")[0]
    return w @ apart / len(x), w @ directions(x, a, apart) / len(x)


def planes(x, a, weights=None):
    """Return (the medoid, the number of passes), starting from row a."""
    x = np.asarray(x, float)
    alive, bounds, best, winner, passes = np.arange(len(x)), np.full(len(x), -np.inf), np.inf, -1, 0
    while True:
        theta, slope = plane_of(x, a, weights)
        passes += 1
        if (theta, a) < (best, winner):
            best, winner = theta, a
        apart = distances(x[[a]], x[alive], "euclidean")[0]
        bounds = np.maximum(bounds, theta - (x[alive] - x[a]) @ slope)
        keep = (bounds <= best + 1e-12 * (best + theta + apart)) & (apart > 0)
        alive, bounds = alive[keep], bounds[keep]
        if not alive.size:
            return winner, passes
        a = int(alive[bounds.argmin()])


class Race:
    """Bets against each point, step by step; weights have mean 1."""

    def __init__(self, x, metric, delta, weights=None, precision=0.0):
        self.x, self.metric, self.delta = np.asarray(x, float), metric, delta
        self.n = len(x)
        self.w = np.ones(self.n) if weights is None else weights
        self.convex, self.precision = metric == "euclidean", precision
        self.alive = np.arange(self.n)
        self.raw, self.wealth = np.zeros(self.n), np.zeros(self.n)
        self.history, self.anchor, self.best = [], -1, np.inf
        self.read_ = self.shift = self.total = self.square = np.zeros(self.n)
        self.count = self.theta = self.past = self.inverse = self.near_below = 0

    @property
    def leader(self):
        return int(self.alive[self.raw.argmin()])

    def keep(self, which):
        for name in ("alive", "raw", "wealth", "read_", "shift", "total", "square"):
            setattr(self, name, getattr(self, name)[which])

    def set_anchor(self, a):
        t, past = len(self.history), np.array(self.history, dtype=int)
        near_below = NEAR * self.raw.min() / max(t, 1) if self.convex else np.inf
        self.apart = distances(self.x[[a]], self.x, self.metric)[0]
        self.theta = self.w @ self.apart / self.n
        self.near = self.apart <= near_below
        r = self.apart[self.alive]
        u = directions(self.x, a, self.apart) * ~self.near[:, None] if self.convex else \
            np.zeros_like(self.x)
        offset = self.x[self.alive] - self.x[a]
        self.shift = offset @ (self.w @ u / self.n) + r * (self.w @ self.near / self.n)
        self.read_ = (self.raw - self.w[past] @ self.apart[past] + offset @ (self.w[past] @ u[past])
                      + r * (self.w[past] @ self.near[past]))
        self.best = min(self.best, self.theta)
        keep = r > 0
        if self.convex:
            full = offset @ plane_of(self.x, a, self.w)[1]
            keep &= self.theta - full <= self.best + 1e-12 * (self.best + self.theta + r)
        self.anchor, self.count = a, 0
        self.keep(keep | (self.alive == a))
        self.past = self.raw.max() / self.n
        if self.convex:
            self.near_below = near_below
            self.inverse = (self.w[~self.near] / self.apart[~self.near]).sum() / self.n
        self.total = self.square = np.zeros(self.alive.size)

    def slack(self):
        """Return what rounding errors add to s_i at most."""
        if not self.convex:
            return self.precision * self.theta
        r = self.apart[self.alive]
        first = r * (1.0 + r * self.inverse) + self.near_below
        return self.precision * (self.past + first + self.precision * (self.theta + first))

    def read(self, rows):
        d = distances(self.x[self.alive], self.x[rows], self.metric)
        if self.anchor >= 0:
            self.bet(d, rows)
        self.raw = self.raw + d @ self.w[rows]
        self.history += list(rows)
        self.count += len(rows)

    def bet(self, d, rows):
        t, r = len(self.history), self.apart[self.alive]
        slack = self.slack()
        most = (self.n * (self.shift + slack) - self.read_) / (self.n - t - len(rows) + 1)
        most = np.maximum(np.maximum(most, slack), np.maximum(1e-12 * r, 1e-300))
        if self.count:
            mean = self.total / self.count
            variance = np.maximum(self.square / self.count - mean**2, 1e-12 * r * r)
            share = 1.0
        else:
            mean, share = self.read_ / t, 0.5
            variance = (0.02 if self.convex else 0.1) * r * r
        edge = mean - most
        bet = share * np.clip(edge / (variance + edge**2 + LOG_FLOOR), 0.0, 0.7 / most)
        bet[r == 0] = 0.0
        far = self.apart[rows]
        inverse = np.divide(0.5, far, out=np.zeros(len(rows)), where=~self.near[rows])
        gap = d - far
        c = (r[:, None] ** 2 - gap * (d + far)) * inverse + r[:, None] * self.near[rows]
        y = np.maximum(self.w[rows] * (gap + c), 0.0)
        self.read_, self.total = self.read_ + y.sum(1), self.total + y.sum(1)
        self.square = self.square + (y * y).sum(1)
        self.wealth = self.wealth + np.log(1.0 + bet[:, None] * (y - most[:, None])).sum(1)

    def drop(self):
        lost = (self.wealth >= np.log(1.0 / self.delta)) | (
            self.n * (self.shift + self.slack()) < self.read_)
        self.keep(~lost | (self.alive == self.anchor))

    def run(self, order, limit, pilot=16, tile=64, ratio=4.0):
        """Race along an order; return the number of distances."""
        cost, chosen_at = self.n * pilot, 0
        self.read(order[:pilot])
        t = pilot
        while self.alive.size > 1 and self.alive.size * self.n * ratio > cost:
            leader = self.leader
            if t + tile > limit:
                if self.anchor < 0 or t == self.n or self.alive.size * (self.n - t) > cost:
                    break
            elif leader != self.anchor and (self.anchor < 0 or t >= 2 * chosen_at):
                self.set_anchor(leader)
                cost, chosen_at = cost + self.n, t
            rows = order[t:t + tile]
            cost += self.alive.size * len(rows)
            self.read(rows)
            self.drop()
            t += len(rows)
        return cost
