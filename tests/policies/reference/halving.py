"""The best arm within a budget by stages: one pull, one arm and one stage at a time."""

import math
from fractions import Fraction


class Uniform:
    """Pulls all arms in turn; the base class. `pulls` and `sums` do not include lost pulls."""

    def __init__(self, n_arms, budget):
        self.n_arms, self.budget = n_arms, budget
        self.pulls, self.rewards = [0] * n_arms, [[] for _ in range(n_arms)]
        self.alive, self.stages, self.order = list(range(n_arms)), [], []
        self.lengths = self.stage_lengths()
        self.begin()

    def stage_lengths(self):
        return [self.budget]

    def begin(self):
        self.asked = 0
        self.first = [0] * self.n_arms
        self.stages.append(list(self.alive))

    @property
    def done(self):
        return not self.lengths

    def in_stage(self, arm):
        """Return the rewards of an arm that count in this stage."""
        return self.rewards[arm][self.first[arm]:]

    def next_arm(self):
        """Return the next arm, ties to the lowest index."""
        return min(self.alive, key=lambda arm: (self.count(arm), arm))

    def count(self, arm):
        return len(self.in_stage(arm))

    def step(self, reward_of, arm=None):
        """Make one pull and update the stage."""
        arm = self.next_arm() if arm is None else arm
        self.order.append(arm)
        self.rewards[arm].append(reward_of(arm))
        self.pulls[arm] += 1
        self.asked += 1
        while self.lengths and self.asked == self.lengths[0]:
            self.end_stage()

    def end_stage(self):
        del self.lengths[0]

    def keep(self, n_kept):
        means = {arm: math.fsum(self.in_stage(arm)) / len(self.in_stage(arm))
                 for arm in self.alive}
        self.alive = sorted(sorted(self.alive, key=lambda arm: (-means[arm], arm))[:n_kept])

    def recommend(self):
        means = [math.fsum(seen) / max(1, len(seen)) for seen in self.rewards]
        return max(self.alive, key=lambda arm: (means[arm], -arm))


class SuccessiveRejects(Uniform):
    """Return n_k = ceil((n - K) / (logbar(K) (K + 1 - k))), computed with exact fractions."""

    def schedule(self):
        K = self.n_arms
        logbar = Fraction(1, 2) + sum(Fraction(1, i) for i in range(2, K + 1))
        return [math.ceil((self.budget - K) / (logbar * (K + 1 - k))) for k in range(1, K)]

    def stage_lengths(self):
        reach = [0, *self.schedule()]
        return [(self.n_arms - k) * (reach[k + 1] - reach[k]) for k in range(self.n_arms - 1)]

    def end_stage(self):
        del self.lengths[0]
        self.keep(len(self.alive) - 1)
        self.begin()


class SequentialHalving(Uniform):
    def __init__(self, n_arms, budget, reuse=False, spend_all=False):
        self.reuse, self.spend_all = reuse, spend_all
        super().__init__(n_arms, budget)

    def stage_lengths(self):
        stages = 0
        while 2**stages < self.n_arms:
            stages += 1
        lengths = [self.budget // stages] * stages if stages else []
        if stages and self.spend_all:
            lengths[-1] += self.budget - sum(lengths)
        return lengths

    def begin(self):
        super().begin()
        self.first = [0 if self.reuse else n for n in self.pulls]

    def end_stage(self):
        del self.lengths[0]
        self.keep(math.ceil(Fraction(len(self.alive), 2)))
        self.begin()


class SHVar(SequentialHalving):
    def __init__(self, n_arms, budget, variances, **options):
        self.variances = variances
        super().__init__(n_arms, budget, **options)

    def next_arm(self):
        def ratio(arm):
            return self.variances[arm] / self.count(arm) if self.count(arm) else math.inf

        return max(self.alive, key=lambda arm: (ratio(arm), -arm))


class SHAdaVar(SequentialHalving):
    def __init__(self, n_arms, budget, delta=0.05, **options):
        self.level = -math.log(delta)
        super().__init__(n_arms, budget, **options)

    def begin(self):
        super().begin()
        self.known = {}

    def next_arm(self):
        return max(self.alive, key=self.rank)

    def rank(self, arm):
        n, bound = self.count(arm), self.bound(arm)
        return (math.inf, -n, -arm) if math.isinf(bound) else (bound / n, 0, -arm)

    def could_be_next(self, arm):
        """Return True if the arm could be next, up to the rounding of variances."""
        best, rank = self.rank(self.next_arm()), self.rank(arm)
        return rank == best or 0 < best[0] <= rank[0] * (1 + 1e-10) < math.inf

    def bound(self, arm):
        rewards = self.in_stage(arm)
        n = len(rewards)
        if n - 1 <= 4 * self.level:
            return math.inf
        if (arm, n) not in self.known:
            mean = math.fsum(rewards) / n
            variance = math.fsum((x - mean) ** 2 for x in rewards) / (n - 1)
            self.known[arm, n] = variance / (1 - 2 * math.sqrt(self.level / (n - 1)))
        return self.known[arm, n]
