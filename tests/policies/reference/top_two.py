"""Plain versions of VBR, EB-TC and continuous rejects."""

import math


def deviations_of(rewards):
    """Return the sum of squares about the mean, summed as a policy does, so that ties are equal."""
    total = deviations = 0.0
    for n, reward in enumerate(rewards):
        before = total / n if n else reward
        total += reward
        deviations += (reward - before) * (reward - total / (n + 1))
    return deviations


class _Plain:
    def __init__(self, n_arms, budget):
        self.K, self.T = n_arms, budget
        self.rewards = [[] for _ in range(n_arms)]
        self.asked = [0] * n_arms
        self.alive = list(range(n_arms))
        self.order = []

    def mean(self, arm):
        return sum(self.rewards[arm]) / len(self.rewards[arm])

    def pull(self, arm, draw):
        self.asked[arm] += 1
        self.order.append(arm)
        reward = draw(arm)
        if not math.isnan(reward):
            self.rewards[arm].append(reward)

    @property
    def pulls(self):
        return [len(rewards) for rewards in self.rewards]

    def best(self):
        return max(self.alive, key=lambda arm: (self.mean(arm), -arm))


class VBR(_Plain):
    def run(self, draw):
        K, had, self.rejected = self.K, 0, []
        logbar = 0.5 + sum(1 / i for i in range(2, K + 1))
        for k in range(1, K):
            n = math.ceil((self.T - K) / (logbar * (K + 1 - k)) - 1e-9)
            spend, had = (K + 1 - k) * (n - had), n
            for j in range(spend):
                arm = self.alive[j % K] if k == 1 else max(self.alive, key=self.ratio)
                self.pull(arm, draw)
            worst = min(self.alive, key=lambda arm: (self.mean(arm), -arm))
            self.alive.remove(worst)
            self.rejected.append(worst)
        return self.alive[0]

    def ratio(self, arm):
        n = len(self.rewards[arm])
        v_by_n = deviations_of(self.rewards[arm]) / ((n - 1) * n) if n > 1 else math.inf
        return v_by_n, -arm


class EBTC(_Plain):
    def __init__(self, n_arms, budget, epsilon=0.1, variances=None, variance_aware=False):
        super().__init__(n_arms, budget)
        self.epsilon, self.known, self.aware = epsilon, variances, variance_aware

    def square(self, arm):
        n = len(self.rewards[arm])
        if self.aware:
            return deviations_of(self.rewards[arm]) / ((n - 1) * n)
        return (self.known[arm] if self.known is not None else 1.0) / n

    def index(self, leader, arm):
        gap = self.mean(leader) - self.mean(arm) + self.epsilon
        # squaring does not change the order of indices
        noise = self.square(leader) + self.square(arm)
        return gap * gap / noise if noise else (math.inf if gap else 0.0)

    def run(self, draw):
        led, own, needed = [0] * self.K, [0] * self.K, 2 if self.aware else 1
        while len(self.order) < self.T:
            lacking = [arm for arm in range(self.K) for _ in range(needed - self.pulls[arm])]
            if lacking:
                for arm in lacking[:self.T - len(self.order)]:
                    self.pull(arm, draw)
                continue
            leader = self.best()
            led[leader] += 1
            arm = leader
            others = [k for k in range(self.K) if k != leader]
            if own[leader] > led[leader] / 2 and others:
                indices = {k: self.index(leader, k) for k in others}
                # if all indices are infinite, take the arm with the fewest pulls
                arm = min(others, key=lambda k: self.pulls[k] if indices[k] == math.inf  # noqa: B023
                          and min(indices.values()) == math.inf else indices[k])  # noqa: B023
            own[leader] += arm == leader
            self.pull(arm, draw)
        return self.best()


class ContinuousRejects(_Plain):
    def __init__(self, n_arms, budget, criterion="C"):
        super().__init__(n_arms, budget)
        self.criterion = criterion

    def worst_that_may_go(self):
        C, j = self.alive, len(self.alive)
        if j == 1 or any(not self.rewards[arm] for arm in C):
            return None
        out = [arm for arm in range(self.K) if arm not in C]
        worst = min(C, key=lambda arm: (self.mean(arm), -arm))
        others = [self.mean(arm) for arm in C if arm != worst]
        if self.asked[worst] <= max((self.asked[arm] for arm in out), default=0):
            return None
        logbar = 0.5 + sum(1 / i for i in range(2, j + 1))
        beta = (logbar * sum(self.asked[arm] for arm in C)
                / (self.T - sum(self.asked[arm] for arm in out)))
        gap = (min(others) if self.criterion == "C" else sum(others) / (j - 1)) - self.mean(worst)
        return worst if gap > 1 / math.sqrt(beta) - 1 else None

    def run(self, draw):
        self.rejected = []
        for arm in self.alive if self.K > 1 else []:
            self.pull(arm, draw)
        while True:
            while (worst := self.worst_that_may_go()) is not None:
                self.alive.remove(worst)
                self.rejected.append(worst)
            if len(self.alive) == 1 or len(self.order) == self.T:
                return self.best() if self.rewards[self.alive[0]] else self.alive[0]
            self.pull(min(self.alive, key=lambda arm: (self.asked[arm], arm)), draw)
