"""Plain versions of elimination, bounds on regrets, iterated logarithms, and thresholds."""

import math

import numpy as np

from policies.reference.confidence import (
    LUCB,
    TopTwo,
    _Plain,
    divergence,
    margin,
    unknown_cost,
    unknown_logarithm,
    unknown_margin,
)


class SuccessiveElimination(_Plain):
    def __init__(self, n_arms, rule, k=1):
        super().__init__(n_arms, rule)
        self.left, self.accepted, self.k = list(range(n_arms)), [], k
        self.pairs = max(k * (n_arms - k), 1)

    @property
    def per_round(self):
        return len(self.left)

    @per_round.setter
    def per_round(self, value):
        pass

    def margin(self, a, b, epsilon):
        t = len(self.order)
        if self.is_unknown:
            return unknown_margin(self.rule.guarantee, self.rule.delta, self.pairs + 1, self.arm(a),
                                  self.arm(b), t, epsilon)
        return margin(self.rule, self.pairs + 1, self.arm(a)[:2], self.arm(b)[:2], t, epsilon)

    def stops(self):
        ranked = sorted(self.left, key=lambda arm: (-self.mean(arm), arm))
        places = self.k - len(self.accepted)
        top, below = ranked[:places], ranked[places:]

        def separated(highs, lows, epsilon=0.0):
            return all(self.margin(a, b, epsilon) > 0 for a in highs for b in lows)

        loosely = separated(top, below, self.rule.epsilon)
        accepted = [a for a in top if separated([a], below)]
        out = [b for b in below if separated(top, [b])]
        self.accepted += accepted
        self.left = [arm for arm in self.left if arm not in accepted + out]
        return loosely

    def best(self):
        """Return the answer, best arm first."""
        ranked = sorted(self.left, key=lambda arm: (-self.mean(arm), arm))
        found = self.accepted + ranked[:self.k - len(self.accepted)]
        return sorted(found, key=lambda arm: (-self.mean(arm), arm))

    def choose(self):
        return list(self.left)


class LilUCB(_Plain):
    def __init__(self, n_arms, delta, noise_std, guarantee):
        super().__init__(n_arms)
        self.noise_std = noise_std
        if guarantee == "proven":
            self.e, self.beta = 0.01, 1.0
            c = (2 + self.e) / self.e * (1 / math.log(1 + self.e)) ** (1 + self.e)
            self.d = ((math.sqrt(1 + delta) - 1) / 2) ** 2 / c
            self.d = min(self.d, 0.99 * math.log(1 + self.e) / (math.e * c))
            assert 4 * math.sqrt(c * self.d) + 4 * c * self.d <= delta * (1 + 1e-9)
            odds = ((2 + self.beta) / self.beta) ** 2
            self.share = odds * (1 + math.log(2 * math.log(odds / self.d)) / math.log(1 / self.d))
        else:
            self.e, self.beta, self.d, self.share = 0.0, 0.5, delta / 5, 1 + 10 / n_arms

    def stops(self):
        counts = [self.n(arm) for arm in range(self.K)]
        return any(n >= 1 + self.share * (sum(counts) - n) for n in counts)

    def upper(self, arm):
        n = self.n(arm)
        w = (1 + self.e) * n
        if self.e == 0:
            w = max(w, math.e)
        return self.mean(arm) + (1 + self.beta) * (1 + math.sqrt(self.e)) * math.sqrt(
            2 * self.noise_std**2 * (1 + self.e) * math.log(math.log(w) / self.d) / n)

    def choose(self):
        return [max(range(self.K), key=lambda arm: (self.upper(arm), -arm))]

    def run(self, draw, most=math.inf):
        best = super().run(draw, most)
        if self.stopped:
            return max(range(self.K), key=lambda arm: (self.n(arm), -arm))
        return best


class UGapEc(LUCB):
    def __init__(self, n_arms, delta, k, noise_std, epsilon):
        super().__init__(n_arms, delta, k, noise_std, epsilon)
        self.per_round = 1

    def width(self, arm):
        t, n = len(self.order), self.n(arm)
        return self.noise_std * math.sqrt(2 * math.log(4 * self.K * t**3 / self.delta) / n)

    def stops(self):
        arms = range(self.K)
        width = [self.width(arm) for arm in arms]
        upper = [self.mean(arm) + width[arm] for arm in arms]
        lower = [self.mean(arm) - width[arm] for arm in arms]
        regret = [sorted((upper[i] for i in arms if i != arm), reverse=True)[self.k - 1]
                  - lower[arm] for arm in arms]
        ranked = sorted(arms, key=lambda arm: (regret[arm], arm))
        self.answer, others = sorted(ranked[:self.k]), sorted(ranked[self.k:])
        low = min(self.answer, key=lambda arm: lower[arm])
        high = max(others, key=lambda arm: upper[arm])
        self.pair = [high if self.n(high) < self.n(low) else low]
        return regret[ranked[self.k - 1]] < self.epsilon

    def run(self, draw, most=math.inf):
        super().run(draw, most)
        return sorted(self.answer, key=lambda arm: (-self.mean(arm), arm))


class OCBA(_Plain):
    def __init__(self, n_arms, n_initial):
        super().__init__(n_arms)
        self.first = n_initial

    def variance(self, arm):
        rewards = self.rewards[arm]
        return float(np.var(rewards, ddof=1)) if len(set(rewards)) > 1 else 0.0

    def choose(self):
        b = max(range(self.K), key=lambda arm: (self.mean(arm), -arm))
        others = [arm for arm in range(self.K) if arm != b]
        gaps = {arm: self.mean(b) - self.mean(arm) for arm in others}
        if others and min(gaps.values()) == 0.0:  # arms tied with the best get all of the shares
            weights = {arm: self.variance(arm) if gaps[arm] == 0.0 else 0.0 for arm in others}
        else:
            weights = {arm: self.variance(arm) / gaps[arm] ** 2 for arm in others}
        weights[b] = math.sqrt(self.variance(b)) * math.sqrt(sum(
            weights[arm] ** 2 / self.variance(arm) for arm in others if weights[arm]))
        total, pulls = sum(weights.values()), sum(map(self.n, range(self.K)))
        lacks = [(pulls + 1) * weights[arm] / total - self.n(arm) if total else -self.n(arm)
                 for arm in range(self.K)]
        # all arms whose lack is the largest up to rounding
        return [arm for arm in range(self.K) if lacks[arm] >= max(lacks) - 1e-9]


class APT(_Plain):
    def __init__(self, n_arms, threshold, epsilon):
        super().__init__(n_arms)
        self.c, self.eps = threshold, epsilon

    def nearest(self, arms):
        return min(arms, key=lambda arm: (
            math.sqrt(self.n(arm)) * (abs(self.mean(arm) - self.c) + self.eps), arm))

    def choose(self):
        return [self.nearest(range(self.K))]

    def run(self, draw, most=math.inf):
        super().run(draw, most)
        good = [arm for arm in range(self.K) if self.mean(arm) >= self.c]
        return sorted(good, key=lambda arm: (-self.mean(arm), arm))


class GoodArms(APT, TopTwo):
    def __init__(self, n_arms, delta, threshold, sampling, law, noise_std, epsilon):
        _Plain.__init__(self, n_arms, law=law, noise_std=noise_std)
        self.c, self.eps, self.sampling = threshold, epsilon, sampling
        self.x, self.names = math.log(n_arms / delta), [0] * n_arms

    def level(self, n):
        """Return the level after n rewards, for distributions with one parameter."""
        if self.law == "gaussian":
            return (1 + 1 / n) * (self.x + math.log(1 + n) / 2)
        return self.x + math.log(4 * n) / 2

    def name(self, arm):
        p, n = self.mean(arm), self.n(arm)
        side = 1 if p >= self.c else -1
        q = self.c - side * self.eps
        if self.is_unknown:
            z = unknown_cost(*self.arm(arm), q)
            return side * (unknown_logarithm(n, z) > self.x)
        return side * (n * divergence(self.law, p, q, self.noise_std) > self.level(n))

    def stops(self):
        self.names = [self.names[arm] or self.name(arm) for arm in range(self.K)]
        return all(self.names)

    def upper(self, arm):
        if self.sampling == "hdoc":
            level = math.log(len(self.order))
        elif self.is_unknown:
            level = self.x + math.log(1 + self.n(arm)) / 2
        else:
            level = self.level(self.n(arm))
        return self.upper_at(arm, level / self.n(arm))

    def choose(self):
        arms = [arm for arm in range(self.K) if not self.names[arm]]
        if self.sampling == "apt":
            return [self.nearest(arms)]
        return [max(arms, key=lambda arm: (self.upper(arm), -arm))]

    def run(self, draw, most=math.inf):
        _Plain.run(self, draw, most)
        good = np.flatnonzero(np.array(self.names) > 0).tolist()
        return sorted(good, key=lambda arm: (-self.mean(arm), arm))
