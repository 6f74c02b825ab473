"""Top-k policies in batches (Jun et al. 2016), one pull, one arm and one stage at a time."""

import math
from fractions import Fraction

TWIN_OF = ("round_robin", "batch_racing", "batch_sar", "ranking", "top")  # C sources that it checks


def round_robin(active, counts, b, r):
    """Return the pulls of Algorithm 1: the least pulled arm below r pulls, ties to the lowest."""
    asked, sequence = dict.fromkeys(active, 0), []
    for _ in range(min(b, len(active) * r)):
        free = [arm for arm in active if asked[arm] < r]
        arm = min(free, key=lambda arm: (counts[arm] + asked[arm], arm))
        asked[arm] += 1
        sequence.append(arm)
    return sequence


class RoundRobin:
    """Pulls all arms in turn for B batches; the base class of the other policies."""

    def __init__(self, n, k, b, r, B=math.inf):
        self.n, self.k, self.b, self.r, self.B = n, k, min(b, n * r), r, B
        self.asked, self.seen, self.sums = [0] * n, [0] * n, [0.0] * n
        self.alive, self.accepted = list(range(n)), []
        self.n_batches, self.done = 0, False
        self.begin()

    def begin(self):
        pass

    def ask(self):
        return [] if self.done else round_robin(self.alive, self.asked, self.b, self.r)

    def tell(self, arms, rewards):
        """Take rewards; NaN is a lost pull."""
        for arm, reward in zip(arms, rewards, strict=True):
            self.asked[arm] += 1
            if not math.isnan(reward):
                self.seen[arm] += 1
                self.sums[arm] += reward
        self.n_batches += 1
        self.step()

    def step(self):
        self.done = self.n_batches == self.B

    def means(self):
        """Return the means; arms without rewards get the mean of all rewards."""
        grand = sum(self.sums) / max(1, sum(self.seen))
        return [s / c if c else grand for s, c in zip(self.sums, self.seen, strict=True)]

    def ranked(self, arms):
        means = self.means()
        return sorted(arms, key=lambda arm: (-means[arm], arm))

    def recommend(self):
        """Return accepted arms or survivors, k at most; seen arms replace those without rewards."""
        means = self.means()

        def order(arm):
            return self.seen[arm] == 0, -means[arm], arm

        found = sorted(self.accepted or self.alive, key=order)[:self.k]
        seen = [arm for arm in found if self.seen[arm]]
        unseen = sorted(arm for arm in found if not self.seen[arm])
        others = [arm for arm in sorted(range(self.n), key=order)
                  if self.seen[arm] and arm not in seen]
        return sorted(seen + (others + unseen)[:len(unseen)],
                      key=lambda arm: (order(arm)[:2] if self.seen[arm] else (True, 0.0), arm))


class BatchHalving(RoundRobin):
    """Algorithm 4; stage_batches has one entry per stage."""

    def __init__(self, *problem, stage_batches):
        self.stage_left, self.stages = list(stage_batches), []
        super().__init__(*problem)

    def begin(self):
        self.done = not self.stage_left

    def step(self):
        self.stage_left[0] -= 1
        if self.stage_left[0] == 0:
            del self.stage_left[0]
            self.done = not self.stage_left
            kept = max(math.ceil(len(self.alive) / 2), math.ceil(self.b / self.r), self.k)
            self.alive = sorted(self.ranked(self.alive)[:self.k if self.done else kept])
            self.stages.append(self.alive)


class BatchSAR(RoundRobin):
    """Algorithm 3: m_s, or m'_s of Eq. 10, with ceilings of exact fractions."""

    def __init__(self, *problem, improved=True, tie="reject"):
        self.improved, self.tie = improved, tie
        self.removed, self.removed_pulls, self.ms = [], 0, []
        super().__init__(*problem)

    def begin(self):
        self.n_tilde = min(self.n, max(math.ceil(Fraction(self.b, self.r)), 2))
        self.r_tilde = min(self.r, math.ceil(Fraction(self.b, 2)))
        self.step()

    def least(self):
        pulls = sum(-(-self.b // i) for i in range(self.n_tilde + 1, self.n + 1))
        return (pulls + self.b + self.n_tilde * self.r_tilde + self.n) // self.b + 1

    def stage_pulls(self):
        n_left = len(self.alive)
        until, gone = (n_left, self.removed_pulls) if self.improved else (self.n, 0)
        tail = range(self.n_tilde + 1, until + 1)
        spare = (self.b * self.B - gone - sum(math.ceil(Fraction(self.b, i)) for i in tail)
                 - (self.b + self.n_tilde * self.r_tilde + until))
        shares = Fraction(self.n_tilde, 2) + sum(Fraction(1, i) for i in tail)
        return math.ceil(spare / shares / (n_left if n_left > self.n_tilde else 2))

    def step(self):
        while not self.done:
            n_left, open_places = len(self.alive), self.k - len(self.accepted)
            if open_places in (0, n_left):
                self.accepted += self.alive[:open_places]
                self.done = True
                break
            last, needed = n_left <= self.n_tilde, self.stage_pulls()
            if last and self.improved:
                if self.n_batches < self.B:
                    break
            elif min(self.asked[arm] for arm in self.alive) < needed:
                break
            self.ms.append(needed)
            order = self.ranked(self.alive)
            if last:
                self.accepted += order[:open_places]
                self.done = True
            else:
                self.remove(order, open_places, self.means())

    def remove(self, order, open_places, means):
        top, bottom = order[0], order[-1]
        above = means[top] - means[order[open_places]]
        below = means[order[open_places - 1]] - means[bottom]
        accepts = above > below
        if above == below:
            accepts = self.tie == "index" and top < bottom
        arm = top if accepts else bottom
        self.alive.remove(arm)
        self.removed_pulls += self.asked[arm]
        if accepts:
            self.accepted.append(arm)
        self.removed.append([arm, accepts, self.n_batches])


class BatchRacing(RoundRobin):
    """Algorithm 2."""

    def __init__(self, *problem, delta, noise_std=0.5):
        self.omega, self.scale, self.events = math.sqrt(delta / (6 * problem[0])), 2 * noise_std, []
        super().__init__(*problem)

    def begin(self):
        self.done = self.k in (0, self.n)

    def bounds(self, arm):
        if self.seen[arm] == 0:
            return -math.inf, math.inf
        t, mean = self.seen[arm], self.sums[arm] / self.seen[arm]
        width = self.scale * math.sqrt(4 * math.log(math.log2(2 * t) / self.omega) / t)
        return mean - width, mean + width

    def step(self):
        k = self.k - len(self.accepted)
        lower, upper = zip(*(self.bounds(arm) for arm in self.alive), strict=True)
        accept_above = sorted(upper, reverse=True)[k] if k < len(upper) else -math.inf
        reject_below = sorted(lower, reverse=True)[k - 1] if k > 0 else math.inf
        accepted = [arm for arm, bound in zip(self.alive, lower, strict=True)
                    if bound > accept_above]
        rejected = [arm for arm, bound in zip(self.alive, upper, strict=True)
                    if bound < reject_below and arm not in accepted]
        if accepted or rejected:
            self.events.append({"batch": self.n_batches, "accept": accepted, "reject": rejected})
        self.accepted += accepted
        self.alive = [arm for arm in self.alive if arm not in accepted + rejected]
        self.done = not self.alive
