"""Plain versions of GLR stopping, optimal proportions and the policies with a confidence."""

import math

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import lambertw, log_ndtr, logsumexp, zeta

# C sources that it checks
TWIN_OF = ("glr", "glr_gaussian", "glr_rival", "glr_unknown", "kl_bounds", "proportions")


def divergence(law, p, q, noise_std=1.0):
    if law == "gaussian":
        return (p - q) ** 2 / (2 * noise_std**2)
    if law == "poisson":
        if p == 0 or q == 0:
            return math.inf if p else q
        return p * math.log(p / q) - p + q
    total = 0.0
    for one, other in ((p, q), (1 - p, 1 - q)):
        if one > 0:
            total += one * math.log(one / other) if other > 0 else math.inf
    return total


def statistic(law, n_a, a, n_b, b, noise_std=1.0, epsilon=0.0):
    """Compute Z by minimising over the common mean."""
    if a + epsilon <= b:
        return 0.0

    def total(v):
        return (n_a * divergence(law, a, v - epsilon, noise_std)
                + n_b * divergence(law, b, v, noise_std))

    found = minimize_scalar(total, bounds=(b, a + epsilon), method="bounded",
                            options={"xatol": 1e-12 * (1 + abs(a))})
    return min(found.fun, total(b) if epsilon == 0 else math.inf)


def unknown_cost(n, mean, v, q):
    return n / 2 * math.log1p((mean - q) ** 2 / v) if mean != q else 0.0


def unknown_statistic(a, b, epsilon=0.0):
    """Minimise for arms (n, mean, v) on a grid; return the minimum and the mean of `a` there."""
    low, high = b[1] - epsilon, a[1]
    if high <= low:
        return 0.0, high

    def total(u):
        return unknown_cost(*a, u) + unknown_cost(*b, u + epsilon)

    # fine near both ends, where a small variance makes a narrow valley
    steps = np.concatenate([[0], np.geomspace(1e-9, 0.5, 150)])
    grid = low + (high - low) * np.concatenate([steps, 1 - steps[::-1]])
    values = [total(u) for u in grid]
    least = [(values[0], grid[0]), (values[-1], grid[-1])]
    for i in range(1, len(grid) - 1):
        if values[i] <= min(values[i - 1], values[i + 1]):
            found = minimize_scalar(total, bounds=(grid[i - 1], grid[i + 1]), method="bounded",
                                    options={"xatol": 1e-13 * (high - low)})
            least.append((found.fun, found.x))
    return min(least)


def unknown_logarithm(n, z):
    """Return the logarithm of the mixed likelihood at the cost z = N d(mean, true mean)."""
    return z - math.log(1 + n) / 2 - n / 2 * math.log((n + math.exp(2 * z / n)) / (n + 1))


def unknown_margin(kind, delta, n_arms, a, b, t, epsilon=0.0):
    """Compute the margin by trying all ways to divide Z between the two arms."""
    z = unknown_statistic(a, b, epsilon)[0]
    if kind == "heuristic":
        return z - math.log((1 + math.log(t)) / delta)
    level = brentq(lambda x: math.log1p(x) - x - math.log(delta / (n_arms - 1)), 0, 2000)
    return min(unknown_logarithm(a[0], part) + unknown_logarithm(b[0], z - part)
               for part in np.linspace(0, z, 301)) - level


WIDTHS, WEIGHTS = 2.0 / 4.0 ** np.arange(5), np.array([2, 2, 2, 1, 1]) / 8


def evidence(n, d):
    """Return the log likelihood of Gaussian rewards mixed over means above the true one."""
    n, d = np.asarray(n, dtype=float)[..., None], np.asarray(d)[..., None]
    root = np.sqrt(1 + WIDTHS**2 * n)
    y = n * WIDTHS * d / root
    return logsumexp(np.log(2) + log_ndtr(y) + y**2 / 2, axis=-1, b=WEIGHTS / root)


def gaussian_margin(delta, n_arms, n_a, n_b, gap):
    """Compute the margin by minimising over the common mean; `gap` is in standard deviations."""
    wide = abs(gap) + 9 / math.sqrt(min(n_a, n_b))
    found = minimize_scalar(lambda x: evidence(n_a, gap - x) + evidence(n_b, x),
                            bounds=(-wide, gap + wide), method="bounded",
                            options={"xatol": 1e-10 * wide})
    return found.fun - math.log((n_arms - 1) / delta)


def margin(rule, n_arms, a, b, t, epsilon):
    """Return the margin of arms a and b, each (n, mean), for distributions with one parameter."""
    if rule.law == "gaussian" and rule.guarantee == "proven":
        return gaussian_margin(rule.delta, n_arms, a[0], b[0],
                               (a[1] - b[1] + epsilon) / rule.noise_std)
    return (statistic(rule.law, *a, *b, rule.noise_std, epsilon)
            - threshold(rule.law, rule.guarantee, rule.delta, n_arms, a[0], b[0], t))


def h_inverse(x):
    """Return u >= 1 with u - log u = x."""
    return float(-lambertw(-math.exp(-x), -1).real)


def family_level(x):
    """Return T of Kaufmann and Koolen 2021, theorem 7."""
    y = (h_inverse(1 + x) + math.log(2 * zeta(2))) / 2
    if y >= 1 / math.log(1.5) - math.log(1 / math.log(1.5)):
        return 2 * math.exp(1 / h_inverse(y)) * h_inverse(y)
    return 2 * 1.5 * (y - math.log(math.log(1.5)))


def threshold(law, kind, delta, n_arms, n_a, n_b, t):
    if kind == "heuristic":
        return math.log((1 + math.log(t)) / delta)
    x = math.log((n_arms - 1) / delta)
    if law == "bernoulli":
        return x + math.log(4 * n_a) / 2 + math.log(4 * n_b) / 2
    return (3 * math.log(1 + math.log(n_a)) + 3 * math.log(1 + math.log(n_b))
            + 2 * family_level(x / 2))


def proportions(law, means, noise_std=1.0):
    """Return optimal shares and the largest least Z by nested root finding."""
    means = np.asarray(means, dtype=float)
    best = int(means.argmax())
    if (means == means[best]).sum() > 1 or means.size == 1:
        return (means == means[best]) / (means == means[best]).sum(), 0.0
    others = [b for b in range(means.size) if b != best]

    def cost(b, x):
        m = (means[best] + x * means[b]) / (1 + x)
        return divergence(law, means[best], m, noise_std), divergence(law, means[b], m, noise_std)

    def x_of(b, y):
        def over(log_x):
            x = math.exp(log_x)
            to_best, to_arm = cost(b, x)
            return to_best + x * to_arm - y
        return math.exp(brentq(over, -25, 13, xtol=1e-14))

    def excess(y):
        return sum(np.divide(*cost(b, x_of(b, y))) for b in others) - 1

    nearest = min(divergence(law, means[best], means[b], noise_std) for b in others)
    y = brentq(excess, 1e-4 * nearest, nearest * (1 - 1e-4), xtol=1e-15 * nearest, rtol=1e-13)
    shares = np.ones(means.size)
    shares[others] = [x_of(b, y) for b in others]
    return shares / shares.sum(), y / shares.sum()


class _Plain:
    """Pulls each arm once, then what `choose` returns, until `stops`; keeps the rewards per arm."""

    def __init__(self, n_arms, rule=None, law="gaussian", noise_std=1.0, budget=math.inf):
        self.K, self.rule, self.budget = n_arms, rule, budget
        self.law, self.noise_std = (rule.law, rule.noise_std) if rule else (law, noise_std)
        self.epsilon = rule.epsilon if rule else 0.0
        self.is_unknown = self.law == "gaussian-unknown"
        self.rewards = [[] for _ in range(n_arms)]
        self.order, self.stopped, self.per_round = [], False, 1

    def mean(self, arm):
        return sum(self.rewards[arm]) / len(self.rewards[arm])

    def n(self, arm):
        return len(self.rewards[arm])

    def arm(self, arm):
        return self.n(arm), self.mean(arm), float(np.var(self.rewards[arm]))

    @property
    def means(self):
        return [self.mean(arm) for arm in range(self.K)]

    def best(self):
        return max(range(self.K), key=lambda arm: (self.mean(arm), -arm))

    def cost(self, a, b):
        epsilon = self.epsilon
        if self.mean(a) + epsilon <= self.mean(b):
            return 0.0
        if self.is_unknown:
            return unknown_statistic(self.arm(a), self.arm(b), epsilon)[0]
        n, m = self.n(a), self.n(b)
        if self.law == "gaussian":  # the minimum in closed form
            gap = self.mean(a) - self.mean(b) + epsilon
            return gap**2 / (2 * self.noise_std**2 * (1 / n + 1 / m))
        both = (n * self.mean(a) + m * self.mean(b)) / (n + m)
        return (n * divergence(self.law, self.mean(a), both)
                + m * divergence(self.law, self.mean(b), both))

    def stops(self):
        best, t = self.best(), len(self.order)
        if self.rule and self.is_unknown:
            return all(unknown_margin(self.rule.guarantee, self.rule.delta, self.K, self.arm(best),
                                      self.arm(b), t, self.rule.epsilon) > 0
                       for b in range(self.K) if b != best)
        return self.rule is not None and all(
            margin(self.rule, self.K, self.arm(best)[:2], self.arm(b)[:2], t, self.epsilon) > 0
            for b in range(self.K) if b != best)

    def run(self, draw, most=math.inf):
        for arm in np.repeat(range(self.K), 1 + self.is_unknown):
            self.pull(int(arm), draw)
        while True:
            self.stopped = self.stops()
            if self.stopped or len(self.order) + self.per_round > min(self.budget, most):
                return self.best()
            for arm in self.choose():
                self.pull(arm, draw)

    def pull(self, arm, draw):
        self.order.append(arm)
        self.rewards[arm].append(draw(arm))


class TopTwo(_Plain):
    def __init__(self, n_arms, rng, leader, challenger, beta, **options):
        super().__init__(n_arms, **options)
        self.rng, self.leader, self.challenger, self.beta = rng, leader, challenger, beta

    def draw(self, arm):
        n, total = self.n(arm), sum(self.rewards[arm])
        if self.law == "gaussian":
            return self.mean(arm) + self.rng.standard_normal() * self.noise_std / math.sqrt(n)
        if self.is_unknown:
            return self.mean(arm) + self.rng.standard_t(n - 1) * math.sqrt(
                self.arm(arm)[2] / (n - 1))
        if self.law == "bernoulli":
            return self.rng.beta(1 + total, max(1, 1 + n - total))
        return self.rng.standard_gamma(0.5 + total) / n

    def draw_best(self):
        return int(np.argmax([self.draw(arm) for arm in range(self.K)]))

    def upper(self, arm):
        return self.upper_at(arm, 2 * math.log(len(self.order)) / self.n(arm))

    def upper_at(self, arm, level):
        """Return the largest q with d(mean, q) <= level."""
        p = self.mean(arm)
        if self.law == "gaussian":
            return p + self.noise_std * math.sqrt(2 * level)
        if self.is_unknown:
            return p + math.sqrt(self.arm(arm)[2] * math.expm1(2 * level))
        if p >= 1:
            return 1.0
        return brentq(lambda q: divergence("bernoulli", p, q) - level, p, 1 - 1e-16, xtol=1e-15)

    def choose(self):
        if self.K == 1:
            return [0]
        arms = range(self.K)
        best = {"thompson": self.draw_best, "empirical": self.best,
                "ucb": lambda: int(np.argmax([self.upper(arm) for arm in arms]))}[self.leader]()
        other = None
        for _ in range(1000 if self.challenger == "thompson" else 0):
            other = self.draw_best()
            if other != best:
                break
        if other in (None, best):
            costs = [self.cost(best, arm) + math.log(self.n(arm))
                     * (self.challenger == "cost-improved") for arm in arms]
            costs[best] = math.inf
            other = int(np.argmin(costs))
        share = self.beta
        if share == "ids":
            share = self.ids(best, other)
        return [best if self.rng.random() < share else other]

    def ids(self, best, other):
        if self.mean(best) <= self.mean(other):
            return 0.5
        if self.is_unknown:
            z, both = unknown_statistic(self.arm(best), self.arm(other), self.epsilon)
            return unknown_cost(*self.arm(best), both) / z
        n, m = self.n(best), self.n(other)
        both = (n * self.mean(best) + m * self.mean(other)) / (n + m)
        own = n * divergence(self.law, self.mean(best), both)
        return own / (own + m * divergence(self.law, self.mean(other), both))


class TrackAndStop(_Plain):
    def __init__(self, n_arms, tracking="D", **options):
        super().__init__(n_arms, **options)
        self.tracking, self.owed = tracking, np.zeros(n_arms)

    def choose(self):
        w, t = proportions(self.law, self.means, self.noise_std)[0], len(self.order)
        counts = np.array([self.n(arm) for arm in range(self.K)])
        if self.tracking == "C":
            e = 0.5 / math.sqrt(self.K**2 + t)
            self.owed += (1 - self.K * e) * w + e
            return [int(np.argmax(self.owed - counts))]
        if counts.min() < math.sqrt(t) - self.K / 2:
            return [int(np.argmin(counts))]
        return [int(np.argmax(t * w - counts))]


class LUCB(_Plain):
    def __init__(self, n_arms, delta, k, noise_std=1.0, epsilon=0.0, kl=False, budget=math.inf):
        super().__init__(n_arms, budget=budget)
        self.delta, self.k, self.noise_std, self.epsilon, self.kl = delta, k, noise_std, epsilon, kl
        self.per_round = 2

    def width(self, arm):
        t, n = len(self.order), self.n(arm)
        return self.noise_std * math.sqrt(2 * math.log(5 * self.K * t**4 / (4 * self.delta)) / n)

    def bounds(self, arm):
        t, n, p = len(self.order), self.n(arm), self.mean(arm)
        if not self.kl:
            return p - self.width(arm), p + self.width(arm)
        x = math.log((4 * math.e + 2) * self.K * t**2 / self.delta)
        level = (x + math.log(x)) / n

        def over(q):
            return divergence("bernoulli", p, q) - level

        low = brentq(over, 1e-300, p, xtol=1e-15) if p > 1e-300 and over(1e-300) > 0 else 0.0
        high = brentq(over, p, 1 - 1e-16, xtol=1e-15) if over(1 - 1e-16) > 0 else 1.0
        return low, high

    def stops(self):
        ranked = sorted(range(self.K), key=lambda arm: (-self.mean(arm), arm))
        bounds = [self.bounds(arm) for arm in range(self.K)]
        self.pair = [min(sorted(ranked[:self.k]), key=lambda arm: bounds[arm][0]),
                     max(sorted(ranked[self.k:]), key=lambda arm: bounds[arm][1])]
        return bounds[self.pair[1]][1] - bounds[self.pair[0]][0] < self.epsilon

    def choose(self):
        return self.pair
