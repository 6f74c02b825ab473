"""Index policies without a horizon, as printed: every index at every pull."""

import math

TWIN_OF = ("kl", "kl_index", "scan")  # C sources that it checks


def kl(p, q):
    """Return the divergence of two Bernoulli distributions."""
    def term(a, b):
        return 0.0 if a == 0 else math.inf if b == 0 else a * math.log(a / b)
    return term(p, q) + term(1 - p, 1 - q)


def bisect(inside, good, bad):
    """Bisect between `good`, for which `inside` is true, and `bad`, for which it is not."""
    for _ in range(100):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if inside(middle) else (good, middle)
    return good


def kl_upper(mean, level):
    return bisect(lambda q: kl(mean, q) <= level, mean, 1.0)


def kl_lower(mean, level):
    return bisect(lambda q: kl(mean, q) <= level, mean, 0.0)


def kl_round(t):
    return math.log(max(t, 3)) + 3 * math.log(math.log(max(t, 3)))


class Index:
    """The base class: one pull of each arm in one batch, then the largest index."""

    def __init__(self, n_arms, scales=None):
        self.n_arms, self.scales = n_arms, scales
        self.asked = [0] * n_arms
        self.count, self.total, self.squares = [0] * n_arms, [0.0] * n_arms, [0.0] * n_arms

    def ask(self):
        if not any(self.asked):
            return list(range(self.n_arms))
        for arm in range(self.n_arms):
            if not self.count[arm] and self.asked[arm] <= sum(self.asked) // self.n_arms:
                return [arm]
        known = [arm for arm in range(self.n_arms) if self.count[arm]]
        if len(known) < 2:
            return known or [0]
        return [max(known, key=self.compared)]

    def tell(self, arms, rewards):
        """Take rewards, NaN for lost pulls; the variance is summed as policies do."""
        for arm, x in zip(arms, rewards, strict=True):
            self.asked[arm] += 1
            if math.isnan(x):
                continue
            before = self.mean(arm) if self.count[arm] else x
            self.count[arm] += 1
            self.total[arm] += x
            self.squares[arm] += (x - before) * (x - self.mean(arm))

    def mean(self, arm):
        return self.total[arm] / self.count[arm]

    def compared(self, arm):
        if self.scales is None:
            return self.index(arm)
        return self.scales[arm] * (self.index(arm) - 1)

    @property
    def t(self):
        return sum(self.asked) + 1

    def recommend(self):
        return max(range(self.n_arms),
                   key=lambda i: self.mean(i) if self.count[i] else -math.inf)


class UCB1(Index):
    """Auer et al. 2002."""

    def __init__(self, n_arms, constant=2.0, scales=None):
        super().__init__(n_arms, scales)
        self.constant = constant

    def index(self, arm):
        # separate square roots, as in the policy
        return self.mean(arm) + math.sqrt(self.constant * math.log(self.t)) * (
            1 / math.sqrt(self.count[arm]))


class UCBV(Index):
    """Audibert et al. 2009."""

    def __init__(self, n_arms, c=1.0, zeta=1.2, b=1.0, scales=None):
        super().__init__(n_arms, scales)
        self.c, self.zeta, self.b = c, zeta, b

    def index(self, arm):
        n, a = self.count[arm], self.zeta * math.log(self.t)
        variance = max(self.squares[arm], 0.0) / n
        return self.mean(arm) + (math.sqrt(a) * math.sqrt(2 * variance / n)
                                 + a * (3 * self.c * self.b / n))


class KLUCB(Index):
    """Cappe et al. 2013; bounds near 1 are compared by -log(1 - q)."""

    def index(self, arm):
        return -math.expm1(-self.tail(arm))

    def compared(self, arm):
        return self.tail(arm) - (0.0 if self.scales is None else math.log(self.scales[arm]))

    def tail(self, arm):
        """Bisect in w = log((1 - mean) / (1 - q)), of which kl is a function."""
        mean, level = self.mean(arm), kl_round(self.t) / self.count[arm]
        left = 1 - mean
        if mean in (0.0, 1.0):
            return level if mean == 0.0 else math.inf

        def inside(w):
            return left * w - mean * math.log1p(-left * math.expm1(-w) / mean) <= level
        return bisect(inside, 0.0, (level - mean * math.log(mean)) / left + 1) - math.log(left)
