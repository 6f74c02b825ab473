"""Reference implementation of races by betting.

A process bets against one hypothesis on the next item's mean. Its wealth is a nonnegative
supermartingale while the hypothesis is true, so it exceeds 1/delta with probability at most delta
(Ville). `race` bets on the leader, for each arm b against "b is best"; `top_k` bets for each pair;
`threshold` for each arm and side. `enumerate_errors` runs the race over every order of a tiny
population.

Scores and sums are of rewards minus a common term, so that rewards near 1e12 keep their small
differences.

Pairs are indexed [a, b]: the bet is that a beats b, against "b >= a + epsilon".
"""

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from betting.reference.plug_in import Plugged, PluggedPairs

TWIN_OF = ("betting", "pairs", "top_k", "threshold")  # kernels of csrc

SLACK = 1e-9  # a hypothesis is impossible if its mean is below -SLACK
SMALLEST, LARGEST = 0.004, {"product": 2.0, "ebmix": 0.9}
NEAR_SHARE = 0.05  # share of delta for claims within epsilon
MOST_TOLERANT = 32  # such claims are made among at most this many arms


@dataclass(frozen=True)
class Options:
    """Options of a race. If `iid`, items are an endless stream, not a finite population."""

    delta: float = 0.05
    difference_range: float = 1.0
    mixture: str = "product"
    n_bets: int = 16
    hybrid: bool = False
    epsilon: float = 0.0
    iid: bool = False


class Outcome(NamedTuple):
    """Result of a race; `alive` has several arms if the items ran out before a decision."""

    best: int
    n_items: int
    n_pulls: int
    exact: bool
    alive: tuple


class TopK(NamedTuple):
    chosen: tuple
    n_items: int
    n_pulls: int
    exact: bool


class Sides(NamedTuple):
    """Per arm: True if its mean is above the threshold, and the items read for it."""

    above: tuple
    n_items: tuple
    exact: tuple


def bets(mixture, n_bets):
    if n_bets == 1:
        return np.array([np.sqrt(SMALLEST * LARGEST[mixture])])
    return np.geomspace(SMALLEST, LARGEST[mixture], n_bets)


class Product:
    """Processes of the given shape; each bet of a process multiplies its own wealth."""

    def __init__(self, shape, n_bets, capital=1.0):
        self.bets = bets("product", n_bets)
        self.log_capital = np.full((*shape, n_bets), np.log(capital / n_bets))

    def update(self, active, x, m, tilt):
        """Bet on x > m, both in [0, 1], for the processes with `active` True; all are arrays."""
        self.log_capital[active & (m < -SLACK)] = np.inf
        active = active & (m >= -SLACK) & (m < 1)
        x, m = x[active, None], np.maximum(m[active, None], SLACK)
        # a bet risks at most .9 of its wealth, so the log is finite
        stake = np.minimum(self.bets * tilt, 0.9 / m)
        self.log_capital[active] += np.log1p(stake * (x - m))

    def log_total(self):
        return np.logaddexp.reduce(self.log_capital, axis=-1)


class EBMix:
    """Processes with the empirical Bernstein wealth exp(bet A - psi(bet) V), averaged."""

    def __init__(self, shape, n_bets):
        self.bets = bets("ebmix", n_bets)
        self.psi = -np.log1p(-self.bets) - self.bets
        self.gain, self.variation, self.total, self.count = np.zeros((4, *shape))
        self.impossible = np.zeros(shape, dtype=bool)

    def update(self, active, x, m, tilt):
        self.impossible |= active & (m < -SLACK)
        active = active & (m >= -SLACK) & (m < 1)
        x, m = x[active], np.maximum(m[active], SLACK)
        centre = (0.5 + self.total[active]) / (self.count[active] + 1)  # shrunk towards 1/2
        self.gain[active] += x - m
        self.variation[active] += (x - centre) ** 2
        self.total[active] += x
        self.count[active] += 1

    def log_total(self):
        each = self.bets * self.gain[..., None] - self.psi * self.variation[..., None]
        mean = np.logaddexp.reduce(each, axis=-1) - np.log(len(self.bets))
        return np.where(self.impossible, np.inf, mean)


MIXTURES = {"product": Product, "ebmix": EBMix}


def null_mean(mean, seen, t, population):
    """Return the mean of item t if the overall mean is `mean` and earlier items sum to `seen`."""
    if population is None:
        return np.full(np.shape(seen), mean)
    return (mean * population - seen) / (population - t + 1)


def tilt_at(t, population):
    return 1.0 if population is None else population / (population - t + 1)


def differences(values):
    """Return a matrix with values[a] - values[b] at [a, b]."""
    return values[:, None] - values[None, :]


def pairs_of(arms):
    """Return a boolean matrix, True at [a, b] for different arms a and b of the mask `arms`."""
    return arms[:, None] & arms[None, :] & ~np.eye(len(arms), dtype=bool)


def to_unit(differences, difference_range):
    return (differences / difference_range + 1) / 2


def first_of(scores, arms):
    """Return the arm with the largest score in a mask, ties to the lowest index."""
    return int(np.argmax(np.where(arms, scores, -np.inf)))


def rivals_of(scores, alive):
    """Return the leader and each arm's rival: the leader, or for the leader the runner-up."""
    leader = first_of(scores, alive)
    rivals = np.full(len(scores), leader)
    others = alive.copy()
    others[leader] = False
    rivals[leader] = first_of(scores, others)
    return leader, rivals


class Leader:
    """One process per arm, which bets on the leader."""

    def __init__(self, n_arms, options):
        self.processes = MIXTURES[options.mixture]((n_arms,), options.n_bets)

    def update(self, alive, rivals, x, m, tilt):
        at = rivals, np.arange(len(rivals))
        self.processes.update(alive, x[at], m[at], tilt)

    def log_total(self, alive):
        return self.processes.log_total()

    def drop(self, alive, survivors):
        pass


class Hybrid:
    """Half of the wealth bets on the leader, and half is spread over all surviving rivals."""

    def __init__(self, n_arms, options):
        if options.mixture != "product":
            raise ValueError("hybrid needs mixture='product'")
        share = 0.5 / (n_arms - 1)
        self.on_leader = Product((n_arms,), options.n_bets, capital=0.5)
        self.on_each = Product((n_arms, n_arms), options.n_bets, capital=share)

    def update(self, alive, rivals, x, m, tilt):
        at = rivals, np.arange(len(rivals))
        self.on_leader.update(alive, x[at], m[at], tilt)
        self.on_each.update(pairs_of(alive), x, m, tilt)

    def log_total(self, alive):
        on_each = np.where(pairs_of(alive), self.on_each.log_total(), -np.inf)
        return np.logaddexp(self.on_leader.log_total(), np.logaddexp.reduce(on_each, axis=0))

    def drop(self, alive, survivors):
        """Move an arm's wealth on dropped arms to its other bets, in proportion."""
        each = np.exp(self.on_each.log_total())
        for b in np.flatnonzero(survivors):
            before, after = pairs_of(alive)[:, b], pairs_of(survivors)[:, b]
            left = each[after, b].sum()
            if left > 0:
                self.on_each.log_capital[after, b] += np.log(each[before, b].sum() / left)


class Claims:
    """One process per pair, against "b >= a + epsilon"; a claim is never withdrawn."""

    def __init__(self, n_arms, options, epsilon, threshold):
        self.options, self.epsilon, self.threshold = options, epsilon, threshold
        self.plugged = options.mixture == "plug-in"
        self.processes = (PluggedPairs((n_arms, n_arms)) if self.plugged else
                          MIXTURES[options.mixture]((n_arms, n_arms), options.n_bets))
        self.made = np.zeros((n_arms, n_arms), dtype=bool)

    def update(self, arms, d, gaps, t, population):
        m, tilt = null_mean(-self.epsilon, gaps, t, population), tilt_at(t, population)
        units = self.options.difference_range
        if self.plugged:
            ahead = (gaps + (t - 1) * self.epsilon) / units
            self.processes.update(pairs_of(arms), d / units, m / units, ahead, tilt)
        else:
            self.processes.update(pairs_of(arms), to_unit(d, units), to_unit(m, units), tilt)
        self.made |= pairs_of(arms) & (self.processes.log_total() >= np.log(self.threshold))

    def separate(self, inside, arms):
        """Return True if every arm inside has beaten every other one of these arms."""
        return bool(self.made[np.ix_(inside, arms & ~inside)].all())


def race(rewards, offsets, order, options):
    """Race the arms, columns of rewards, on the rows in this order.

    With an epsilon, NEAR_SHARE of delta is for claims of being within epsilon of the best arm,
    which end the race; the rest is for eliminations.
    """
    possible = np.flatnonzero(np.isfinite(offsets))
    rewards, offsets = np.asarray(rewards)[:, possible], np.asarray(offsets)[possible]
    population, n_arms = None if options.iid else len(rewards), len(possible)
    if n_arms == 1:
        return Outcome(int(possible[0]), 0, 0, True, (int(possible[0]),))
    scores = np.zeros(n_arms) if options.iid else offsets.astype(float)
    alive, t, n_pulls = np.ones(n_arms, dtype=bool), 0, 0
    plugged = options.mixture == "plug-in"
    capital = (Plugged(n_arms, options.difference_range) if plugged else
               (Hybrid if options.hybrid else Leader)(n_arms, options))
    near = NEAR_SHARE * options.delta if options.epsilon else 0.0
    share = options.delta - near
    tolerant = None
    for t, item in enumerate(order, start=1):
        n_pulls += int(alive.sum())
        if options.epsilon and tolerant is None and alive.sum() <= MOST_TOLERANT:
            threshold = (alive.sum() - 1) / near
            tolerant = Claims(n_arms, options, options.epsilon, threshold)

        leader, rivals = rivals_of(scores, alive)
        d, gaps = differences(rewards[item]), differences(scores)
        x = to_unit(d, options.difference_range)
        m = to_unit(null_mean(0.0, gaps, t, population), options.difference_range)
        if plugged:
            capital.update(alive, scores, rewards[item], t, population)
        else:
            capital.update(alive, rivals, x, m, tilt_at(t, population))
        survivors = alive & (capital.log_total(alive) < np.log(1 / share))
        if not survivors.any():
            survivors[leader] = True
        if survivors.sum() < alive.sum():
            capital.drop(alive, survivors)
        if tolerant:
            tolerant.update(survivors, d, gaps, t, population)
        alive, scores = survivors, scores + (rewards[item] - rewards[item, leader])
        best = first_of(scores, alive)
        only_best = np.arange(n_arms) == best
        if alive.sum() == 1 or (tolerant and tolerant.separate(only_best, alive)):
            break
    winner = int(possible[first_of(scores, alive)])
    left = tuple(possible[alive].tolist())
    return Outcome(winner, t, n_pulls, t == population, left)


UNDECIDED, ACCEPTED, REJECTED = 0, 1, -1


def settle(status, beats, k):
    """Accept and reject arms by their claims, in place, until nothing changes."""
    while True:
        undecided = status == UNDECIDED
        places = k - (status == ACCEPTED).sum()
        non_places = len(status) - k - (status == REJECTED).sum()
        if places <= 0 or non_places <= 0:
            return
        between = beats & pairs_of(undecided)
        reject = undecided & (between.sum(axis=0) >= places)
        # contradictory claims could satisfy both conditions
        accept = undecided & (between.sum(axis=1) >= non_places) & ~reject
        if not (reject | accept).any():
            return
        status[reject], status[accept] = REJECTED, ACCEPTED


def first_k(status, sums, k):
    """Return the accepted arms, then undecided ones by their sums, ties to the lowest index."""
    return sorted(range(len(sums)), key=lambda i: (-status[i], -sums[i], i))[:k]


def top_k(
    rewards,
    order,
    k,
    delta,
    difference_range,
    epsilon=0.0,
    mixture="product",
    n_bets=16,
    iid=False,
):
    """Find the k arms with the largest means by pairs; k = 1 with an epsilon is a race."""
    options = Options(delta, difference_range, mixture, n_bets, epsilon=epsilon, iid=iid)
    rewards = np.asarray(rewards)
    population, n_arms = None if iid else len(rewards), rewards.shape[1]
    if k == 1 and epsilon:
        result = race(rewards, np.zeros(n_arms), order, options)
        return TopK((result.best,), *result[1:4])
    n_pairs, near = k * (n_arms - k), NEAR_SHARE * delta if epsilon else 0.0
    strict = Claims(n_arms, options, 0.0, n_pairs / (delta - near))
    tolerant = Claims(n_arms, options, epsilon, n_pairs / near if epsilon else np.inf)
    status, sums, t, n_pulls = np.zeros(n_arms, dtype=int), np.zeros(n_arms), 0, 0
    if k < n_arms:
        for t, item in enumerate(order, start=1):
            undecided = status == UNDECIDED
            n_pulls += int(undecided.sum())
            d, gaps = differences(rewards[item]), differences(sums)
            for claims in [strict, tolerant] if epsilon else [strict]:
                claims.update(undecided, d, gaps, t, population)
            sums[undecided] += rewards[item, undecided] - rewards[item, undecided][0]
            settle(status, strict.made, k)
            if (status == ACCEPTED).sum() >= k or (status == REJECTED).sum() >= n_arms - k:
                break
            if epsilon:
                undecided = status == UNDECIDED
                inside = undecided & np.isin(np.arange(n_arms), first_k(status, sums, k))
                if tolerant.separate(inside, undecided):
                    break
    chosen = tuple(sorted(first_k(status, sums, k)))
    return TopK(chosen, t, n_pulls, t == population or k == n_arms)


def threshold(
    rewards, order, tau, delta, value_range, epsilon=0.0, mixture="product", n_bets=16, iid=False
):
    """Find the arms with a mean of at least tau, up to the epsilon.

    Sums are of reward - tau.
    """
    rewards = np.asarray(rewards)
    population, n_arms = None if iid else len(rewards), rewards.shape[1]
    low, high = value_range
    over, under = (MIXTURES[mixture]((n_arms,), n_bets) for _ in range(2))
    crossing = np.log(n_arms / delta)
    undecided, above = np.ones(n_arms, dtype=bool), np.zeros(n_arms, dtype=bool)
    sums, n_items = np.zeros(n_arms), np.zeros(n_arms, dtype=int)
    for t, item in enumerate(order, start=1):
        y = (rewards[item] - low) / (high - low)
        # bet against "mean <= tau - epsilon" and, with 1 - x, against "mean >= tau + epsilon"
        least, most = ((tau - low + null_mean(slack, sums, t, population)) / (high - low)
                       for slack in (-epsilon, epsilon))
        over.update(undecided, y, least, tilt_at(t, population))
        under.update(undecided, 1 - y, 1 - most, tilt_at(t, population))
        sums[undecided] += rewards[item, undecided] - tau
        n_items[undecided] = t
        up, down = over.log_total() >= crossing, under.log_total() >= crossing
        above[undecided & up] = True
        undecided = undecided & ~(up | down)
        if not undecided.any():
            break
    above[undecided] = sums[undecided] >= 0
    exact = n_items == population
    return Sides(*(tuple(column.tolist()) for column in (above, n_items, exact)))


def enumerate_errors(rewards, offsets, options):
    """Return the exact probability of every winner, over all orders of the items."""
    law, shorter, outcome = {}, None, None
    orders = list(itertools.permutations(range(len(rewards))))
    for order in orders:
        # sorted orders with the same start are neighbours, and share an outcome decided by then
        if outcome is None or order[: outcome.n_items] != shorter:
            outcome = race(rewards, offsets, order, options)
            shorter = order[: outcome.n_items]
        law[outcome.best] = law.get(outcome.best, 0) + Fraction(1, len(orders))
    return law
