"""Reference implementation of races within a budget.

`successive_rejects` is the baseline: models are read on the same items, and at the end of each
phase the last one leaves. `race` is BudgetRace for k = 1: the schedule of rejects, recomputed at
every look, and bets on the same evaluations (`betting.Leader`).
"""

import math
from typing import NamedTuple

import numpy as np

from betting.reference import betting

TWIN_OF = ("rejects",)  # kernels of csrc

# LATE and EARLY: exponents minus 1, for the last FEW arms and earlier ones, at strength 0 and 1;
# they shrink if there are more than MANY arms. RELIABLE: reliabilities that give strength 0 and 1.
FEW, MANY = 8, 100
LATE, EARLY = (0.1, 0.6), (0.0, 0.2)
RELIABLE = (0.3, 0.8)
AT_FIRST = 0.5


def successive_rejects(rewards, order, budget, keys):
    """Return the winner and the number of cells read; rewards: (items, arms); keys break ties."""
    n_items, n_arms = rewards.shape
    depths = rejects_depths(n_items, n_arms, budget)
    alive, sums, read, used = list(range(n_arms)), np.zeros(n_arms), 0, 0
    for depth in depths:
        sums[alive] += rewards[order[read:depth]][:, alive].sum(axis=0)
        used += len(alive) * (depth - read)
        read = depth
        alive.remove(max(alive, key=lambda arm: (-sums[arm], keys[arm])))
    return alive[0], used


def rejects_depths(n_items, n_arms, budget):
    """Return n_1 <= ... <= n_(K-1): items read per survivor by the end of each phase."""
    log_bar = 0.5 + sum(1 / i for i in range(2, n_arms + 1))

    def depths(scale):
        return [min(n_items, math.ceil(scale / (log_bar * (n_arms + 1 - k))))
                for k in range(1, n_arms)]

    def cost(scale):
        return sum((now - before) * (n_arms + 1 - k) for k, (before, now) in
                   enumerate(zip([0, *depths(scale)], depths(scale), strict=False), start=1))

    low, high = 0.0, 2.0 * n_items * n_arms * log_bar
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if cost(middle) <= budget else (low, middle)
    return depths(low)


class Schedule:
    """Schedule by which arms leave: of r arms, one leaves after min(N, a w(r - places + 1)) items.

    N is the number of items, a the scale, w the weights; `n_wanted` of the n_arms are to be found.
    """

    def __init__(self, n_arms, n_items, strength, n_wanted=1):
        shrunk = min(1, MANY / (n_arms - n_wanted + 1))
        late = 1 + shrunk * (LATE[0] + strength * (LATE[1] - LATE[0]))
        early = 1 + shrunk * (EARLY[0] + strength * (EARLY[1] - EARLY[0]))
        j = np.arange(1, n_arms + 1, dtype=float)
        weights = np.where(j <= FEW, j**-late, float(FEW) ** (early - late) * j**-early)
        self.n_items, self.weights = n_items, np.append(np.inf, weights)

    def depths(self, scale, n_alive, places):
        """Return the items read of each arm by the time it leaves, in the order of leaving."""
        left = np.arange(n_alive, places, -1)
        return np.minimum(self.n_items, np.ceil(scale * self.weights[left - places + 1]))

    def cost(self, scale, n_alive, places, n_read):
        depths = np.append(n_read, np.maximum(n_read, self.depths(scale, n_alive, places)))
        return float((np.diff(depths) * np.arange(n_alive, places, -1)).sum())

    def scale(self, n_alive, places, n_read, cells):
        low, high = 0.0, self.n_items / self.weights[n_alive - places + 1]
        if self.cost(high, n_alive, places, n_read) <= cells:
            return high
        for _ in range(30):
            middle = 0.5 * (low + high)
            fits = self.cost(middle, n_alive, places, n_read) <= cells
            low, high = (middle, high) if fits else (low, middle)
        return low

    def keep(self, n_alive, places, n_read, cells):
        scale = self.scale(n_alive, places, n_read, cells)
        return n_alive - int((self.depths(scale, n_alive, places) <= n_read).sum())

    def block(self, n_alive, places, n_read, cells):
        if places == n_alive or n_read >= self.n_items:
            return 0
        first = self.depths(self.scale(n_alive, places, n_read, cells), n_alive, places)[0]
        least = max(1, n_read // 16)
        length = min(max(int(first) - n_read, least), max(4, least))
        return min(length, self.n_items - n_read, cells // n_alive)


def reliability(values):
    """Return the share of the variance of the arms' means that is not noise."""
    n_items, n_arms = values.shape
    means = values.mean(axis=0)
    spread = ((means - means.mean()) ** 2).sum() / (n_arms - 1)
    noise = 0.0
    for arm in range(n_arms):
        for item in range(n_items):
            noise += (values[item, arm] - means[arm] - values[item].mean() + means.mean()) ** 2
    noise /= (n_arms - 1) * (n_items - 1) * n_items
    return max(0.0, 1 - noise / spread) if spread > 0 else 0.0


def strength_of(values):
    """Return the strength of the schedule after the first arm has left, in [0, 1]."""
    low, high = RELIABLE
    return min(max((reliability(values) - low) / (high - low), 0.0), 1.0)


class Outcome(NamedTuple):
    """Result. `pulls`: items read per arm; `dropped`, `excluded`: arms, by schedule and by bets."""

    winner: int
    pulls: tuple
    dropped: tuple
    excluded: tuple
    certified: bool


def race(rewards, order, budget, keys, delta, difference_range, mixture="product", n_bets=16):
    """Run BudgetRace with k = 1 on rows of rewards in this order."""
    (n_items, n_arms), order = rewards.shape, np.asarray(order)
    options = betting.Options(delta, difference_range, mixture, n_bets)
    capital = betting.Leader(n_arms, options)
    alive, sums = np.ones(n_arms, dtype=bool), np.zeros(n_arms)
    pulls, dropped, excluded = np.zeros(n_arms, dtype=int), [], []
    schedule, measured, n_read = Schedule(n_arms, n_items, AT_FIRST), False, 0
    while alive.sum() > 1:
        asked = alive.copy()
        length = schedule.block(int(asked.sum()), 1, n_read, budget - int(pulls.sum()))
        if not length:
            break
        pulls[asked] += length
        for t in range(n_read + 1, n_read + length + 1):
            if alive.sum() > 1:
                out = bet(capital, rewards[order[t - 1]], sums, alive, t, n_items, options)
                excluded += np.flatnonzero(out).tolist()
                alive &= ~out
            sums += rewards[order[t - 1]]
        n_read += length
        if n_read == n_items:
            break
        where = int(asked.sum()), 1, n_read, budget - int(pulls.sum())
        kept = schedule.keep(*where)
        if kept < asked.sum() and not measured:
            found = 0.0 if n_read == 1 else strength_of(rewards[order[:n_read]][:, asked])
            schedule = Schedule(n_arms, n_items, found)
            measured, kept = True, schedule.keep(*where)
        while alive.sum() > kept:
            last = max(np.flatnonzero(alive), key=lambda arm: (-sums[arm], keys[arm]))
            alive[last] = False
            dropped.append(int(last))
    left = np.flatnonzero(alive)
    winner = int(min(left, key=lambda arm: (-sums[arm], keys[arm])))
    ended = len(left) == 1 or n_read == n_items
    return Outcome(winner, tuple(pulls.tolist()), tuple(sorted(dropped)),
                   tuple(sorted(excluded)), ended and not dropped)


def bet(capital, row, sums, alive, t, n_items, options):
    """Return the arms that the bets on one item exclude; if all, the leader stays."""
    leader, rivals = betting.rivals_of(sums, alive)
    x = betting.to_unit(betting.differences(row), options.difference_range)
    m = betting.to_unit(betting.null_mean(0.0, betting.differences(sums), t, n_items),
                        options.difference_range)
    capital.update(alive, rivals, x, m, betting.tilt_at(t, n_items))
    out = alive & (capital.log_total(alive) >= np.log(1 / options.delta))
    if out.sum() == alive.sum():
        out[leader] = False
    return out
