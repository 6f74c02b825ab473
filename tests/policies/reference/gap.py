"""Gap-based policies with a budget of pulls, as printed, one pull at a time."""

import math


class Gap:
    """The base class: `first` pulls of each arm in one batch, then the largest index."""

    first = 1

    def __init__(self, n_arms, budget, complexity=None):
        self.n_arms, self.budget, self.complexity = n_arms, budget, complexity
        self.rewards = [[] for _ in range(n_arms)]
        self.asked = [0] * n_arms

    @property
    def done(self):
        return sum(self.asked) >= self.budget

    def ask(self):
        if self.done:
            return []
        if self.n_arms == 1:
            return [0] * self.budget
        if not sum(self.asked):
            return list(range(self.n_arms)) * self.first
        for arm in range(self.n_arms):
            if not self.known(arm) and self.asked[arm] < self.budget // self.n_arms:
                return [arm]
        self.arms = [arm for arm in range(self.n_arms) if self.known(arm)]
        return [self.choose() if len(self.arms) > 1 else (self.arms or [0])[0]]

    def tell(self, arms, rewards):
        """Take rewards; NaN is a lost pull."""
        for arm, reward in zip(arms, rewards, strict=True):
            self.asked[arm] += 1
            if not math.isnan(reward):
                self.rewards[arm].append(reward)

    def known(self, arm):
        return len(self.rewards[arm]) >= self.first

    def choose(self):
        return max(self.arms, key=self.index)

    def count(self, arm):
        return len(self.rewards[arm])

    def mean(self, arm):
        """Return the mean of an arm, or of all rewards if it has none."""
        seen = self.rewards[arm] or [x for arm in self.rewards for x in arm] or [0.0]
        return sum(seen) / len(seen)

    def variance(self, arm):
        """Return the unbiased variance, summed as policies do, so that indices on a grid tie."""
        total, deviations = 0.0, 0.0
        for n, x in enumerate(self.rewards[arm]):
            before = total / n if n else x
            total += x
            deviations += (x - before) * (x - total / (n + 1))
        return deviations / (self.count(arm) - 1)

    def recommend(self):
        return max(range(self.n_arms),
                   key=lambda arm: self.mean(arm) if self.count(arm) else -math.inf)


class GapE(Gap):
    """Gabillon et al. 2011; estimates the complexity if none is given."""

    factor = 4 / 9

    def __init__(self, n_arms, budget, b, complexity=None, scale=1.0):
        super().__init__(n_arms, budget, complexity)
        self.b, self.scale = b, scale

    def gap(self, arm):
        return abs(self.mean(arm) - max(self.mean(i) for i in self.arms if i != arm))

    def upper_gap(self, arm):
        return self.gap(arm) + self.b * math.sqrt(1 / (2 * self.count(arm)))

    def term(self, arm):
        return self.b**2 / self.upper_gap(arm) ** 2

    def choose(self):
        H = self.complexity
        if H is None:
            H = math.fsum(self.term(arm) for arm in self.arms)
        self.a = self.factor * (self.budget - self.first * self.n_arms) / (self.scale * H)
        return super().choose()

    def index(self, arm):
        return -self.gap(arm) + self.b * math.sqrt(self.a / self.count(arm))


class GapEV(GapE):
    first, factor = 2, 8 / 9

    def term(self, arm):
        u = self.upper_gap(arm)
        width = self.b * math.sqrt(2 / (self.count(arm) - 1))
        noise = max(0.0, math.sqrt(self.variance(arm)) - width)
        return (noise + math.sqrt(noise**2 + 16 / 3 * self.b * u)) ** 2 / u**2

    def index(self, arm):
        # separate square roots, as in the policy: otherwise variances differ in their last bits
        n, root = self.count(arm), math.sqrt(self.a)
        return (-self.gap(arm)
                + (root * math.sqrt(2 * self.variance(arm) / n)
                   + self.a * (7 * self.b / (3 * (n - 1)))))


class UCBE(Gap):
    """Audibert, Bubeck and Munos 2010."""

    def index(self, arm):
        a = 25 / 36 * (self.budget - self.n_arms) / self.complexity
        return self.mean(arm) + math.sqrt(a / self.count(arm))


class UGapEb(Gap):
    """Gabillon et al. 2012; with noise_std, estimates the complexity if none is given."""

    def __init__(self, n_arms, budget, complexity=None, epsilon=0.0, noise_std=None):
        super().__init__(n_arms, budget, complexity)
        self.epsilon, self.noise_std = epsilon, noise_std
        self.rounds = []

    def adaptive(self):
        upper = {i: self.mean(i) + 3 * self.noise_std / math.sqrt(self.count(i)) for i in self.arms}
        lower = {i: self.mean(i) - 3 * self.noise_std / math.sqrt(self.count(i)) for i in self.arms}
        terms = []
        for k in self.arms:
            others = [i for i in self.arms if i != k]
            gap = max(max(upper[i] for i in others) - lower[k],
                      upper[k] - max(lower[i] for i in others))
            terms.append(max((gap + self.epsilon) / 2, self.epsilon) ** -2)
        return math.fsum(terms)

    def choose(self):
        H = self.adaptive() if self.complexity is None else self.complexity
        beta = {i: math.sqrt((self.budget - self.n_arms) / (4 * H * self.count(i)))
                for i in self.arms}
        upper = {i: self.mean(i) + beta[i] for i in self.arms}
        B = {k: max(upper[i] for i in self.arms if i != k) - (self.mean(k) - beta[k])
             for k in self.arms}
        J = min(self.arms, key=B.get)
        j = max((i for i in self.arms if i != J), key=upper.get)
        self.rounds.append((B[J], J))
        return max(sorted([j, J]), key=beta.get)

    def recommend(self):
        if not self.rounds:
            return super().recommend()
        return min(self.rounds, key=lambda one: one[0])[1]
