"""An allocator of a budget among estimators, one run at a time, from all values seen."""

import math

import numpy as np

TWIN_OF = ("variance",)  # kernels of csrc


class Allocator:
    """Allocator with a rule on variances; all statistics are recomputed for each decision."""

    def __init__(self, n, policy, *, observed=False, budget=math.inf, batch_size=1, pilot=10,
                 cost_floor=1e-9, least_values=10, weights="mean", generator=None):
        self.n, self.policy, self.observed, self.budget = n, policy, observed, budget
        self.batch_size, self.pilot = batch_size, 0 if policy == "uniform" else pilot
        self.cost_floor, self.least_values = cost_floor, least_values
        self.weights, self.generator = weights, generator
        self.values, self.costs = [[] for _ in range(n)], [[] for _ in range(n)]
        self.asked, self.decisions, self.told, self.spent = [0] * n, 0, 0, 0.0
        self.weighted = []  # (estimator, weight, value)
        self.asks = None

    @property
    def done(self):
        return self.spent >= self.budget

    def variance(self, k):
        mean = math.fsum(self.values[k]) / len(self.values[k])
        return math.fsum((x - mean) ** 2 for x in self.values[k]) / (len(self.values[k]) - 1)

    def spread(self, k):
        return self.variance(k) * math.fsum(self.costs[k]) / len(self.values[k])

    def decide(self):
        for k in range(self.n):
            if len(self.values[k]) < 2 and self.asked[k] * self.n <= self.decisions:
                return k
        known = [k for k in range(self.n) if len(self.values[k]) >= 2]
        turn = self.decisions % self.n
        if self.policy == "uniform" or not known:
            return turn
        if self.policy == "lcb-variance":
            log_t = math.log(self.pilot * self.n + self.decisions + 1)
            index = {k: (math.log(self.spread(k)) if self.spread(k) else -math.inf)
                     - math.sqrt(4 * log_t / len(self.values[k])) for k in known}
        else:
            index = {}
            for k in known:
                half = (len(self.values[k]) - 1) / 2
                index[k] = self.spread(k) * half / self.generator.standard_gamma(half)
        return min(known, key=lambda k: (index[k], k))

    def ask(self):
        if self.asks is None:
            if self.told < self.pilot * self.n:
                self.asks = list(range(self.n)) * self.pilot
            else:
                self.asks = [self.decide()] * self.batch_size
                if not self.observed:
                    self.asks = self.asks[:int(self.budget - self.told)
                                          if self.budget < math.inf else None]
        return self.asks

    def tell(self, arms, values, costs=None):
        pilot = self.told < self.pilot * self.n
        costs = [1.0] * len(values) if costs is None else costs
        start = [self.weight_of(k) for k in range(self.n)]  # weights of the new values
        for k, value, cost in zip(arms, values, costs, strict=True):
            cost = max(cost, self.cost_floor)
            self.spent += cost
            if self.spent > self.budget:
                continue
            self.costs[k].append(cost)
            if math.isnan(value):
                continue
            if start[k]:
                self.weighted.append((k, start[k], value))
            self.values[k].append(value)
        if not pilot:
            self.asked[arms[0]] += 1
            self.decisions += 1
        self.told += len(values)
        self.asks = None

    def least(self, among):
        """Return the smallest positive variance, 0 if there is none."""
        return min((self.variance(k) for k in among
                    if len(self.values[k]) > 1 and self.variance(k) > 0), default=0.0)

    def weight_of(self, k):
        if len(self.values[k]) < self.least_values:
            return 0.0
        variance = self.variance(k) or self.least(range(self.n))
        return 1 / variance if variance else 0.0

    def estimate(self):
        """Return estimate and standard error."""
        if self.weights == "predictable" and self.weighted:
            total = math.fsum(w for _, w, _ in self.weighted)
            error = math.sqrt(math.fsum(w * w * self.variance(k) for k, w, _ in self.weighted))
            return math.fsum(w * x for _, w, x in self.weighted) / total, error / total
        counted = [k for k in range(self.n) if len(self.values[k]) >= self.least_values]
        if self.weights == "inverse-variance" and any(self.variance(k) for k in counted):
            shares = {k: len(self.values[k]) / (self.variance(k) or self.least(counted))
                      for k in counted}
            total = math.fsum(shares.values())
            return (math.fsum(shares[k] * np.mean(self.values[k]) for k in counted) / total,
                    math.sqrt(1 / total))
        if self.weights != "inverse-variance" or not counted:
            counted = [k for k in range(self.n) if self.values[k]]
        seen = [x for k in counted for x in self.values[k]]
        if not seen:
            return math.nan, math.nan
        error = math.nan
        if all(len(self.values[k]) > 1 for k in counted):
            error = math.sqrt(math.fsum(len(self.values[k]) * self.variance(k)
                                        for k in counted)) / len(seen)
        return math.fsum(seen) / len(seen), error
