"""Policies that choose before every pull: whole simulations on one core, compared with plain loops.

Run with ``make bench``; times are nanoseconds per pull. A loop is what a careful user writes with
numba: all runs in one compiled function, with one normal number and all indices computed per pull.
"""

import numpy as np
import pytest

import pybandit as pb

from native import size

SIZES = size({20: 2000, 64: 6400, 1000: 20_000}, {20: 2000})
PULLS = size(400_000, 20_000)
COMPLEXITY, RANGE, SIGMA = 400.0, 1.0, 0.5


def loops():
    """Return name -> function of a generator, means, budget and runs that returns error shares."""
    numba = pytest.importorskip("numba")

    @numba.njit
    def ucbe(rng, means, budget, n_runs):
        n_arms, errors = means.size, 0
        a = 25 / 36 * (budget - n_arms) / COMPLEXITY
        for _ in range(n_runs):
            sums, pulls = np.empty(n_arms), np.ones(n_arms)
            for arm in range(n_arms):
                sums[arm] = means[arm] + SIGMA * rng.standard_normal()
            for _ in range(budget - n_arms):
                best, largest = 0, -np.inf
                for arm in range(n_arms):
                    index = sums[arm] / pulls[arm] + np.sqrt(a / pulls[arm])
                    if index > largest:
                        best, largest = arm, index
                sums[best] += means[best] + SIGMA * rng.standard_normal()
                pulls[best] += 1
            errors += np.argmax(sums / pulls) != 0
        return errors / n_runs

    @numba.njit
    def gape(rng, means, budget, n_runs):
        n_arms, errors = means.size, 0
        a = 4 / 9 * (budget - n_arms) / COMPLEXITY
        for _ in range(n_runs):
            sums, pulls = np.empty(n_arms), np.ones(n_arms)
            for arm in range(n_arms):
                sums[arm] = means[arm] + SIGMA * rng.standard_normal()
            for _ in range(budget - n_arms):
                leader, first, second = 0, -np.inf, -np.inf
                for arm in range(n_arms):
                    mean = sums[arm] / pulls[arm]
                    if mean > first:
                        leader, first, second = arm, mean, first
                    elif mean > second:
                        second = mean
                best, largest = 0, -np.inf
                for arm in range(n_arms):
                    mean = second if arm == leader else sums[arm] / pulls[arm]
                    index = mean - first + RANGE * np.sqrt(a / pulls[arm])
                    if index > largest:
                        best, largest = arm, index
                sums[best] += means[best] + SIGMA * rng.standard_normal()
                pulls[best] += 1
            errors += np.argmax(sums / pulls) != 0
        return errors / n_runs

    @numba.njit
    def gapev(rng, means, budget, n_runs):
        n_arms, errors = means.size, 0
        a = 8 / 9 * (budget - 2 * n_arms) / COMPLEXITY
        for _ in range(n_runs):
            sums, pulls, squares = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms)
            for pull in range(budget):
                best, largest = pull % n_arms, -np.inf
                if pull >= 2 * n_arms:
                    leader, first, second = 0, -np.inf, -np.inf
                    for arm in range(n_arms):
                        mean = sums[arm] / pulls[arm]
                        if mean > first:
                            leader, first, second = arm, mean, first
                        elif mean > second:
                            second = mean
                    for arm in range(n_arms):
                        n, mean = pulls[arm], sums[arm] / pulls[arm]
                        v = (squares[arm] - n * mean * mean) / (n - 1)
                        if arm == leader:
                            mean = second
                        index = (mean - first + np.sqrt(2 * a * v / n)
                                 + 7 * a * RANGE / (3 * (n - 1)))
                        if index > largest:
                            best, largest = arm, index
                reward = means[best] + SIGMA * rng.standard_normal()
                sums[best] += reward
                squares[best] += reward * reward
                pulls[best] += 1
            errors += np.argmax(sums / pulls) != 0
        return errors / n_runs

    @numba.njit
    def ugape(rng, means, budget, n_runs):
        n_arms, errors = means.size, 0
        a = (budget - n_arms) / (4 * COMPLEXITY)
        for _ in range(n_runs):
            sums, pulls = np.empty(n_arms), np.ones(n_arms)
            for arm in range(n_arms):
                sums[arm] = means[arm] + SIGMA * rng.standard_normal()
            found, least_bound = 0, np.inf
            for _ in range(budget - n_arms):
                top, first, second = 0, -np.inf, -np.inf
                other = 0
                for arm in range(n_arms):
                    upper = sums[arm] / pulls[arm] + np.sqrt(a / pulls[arm])
                    if upper > first:
                        other, second, top, first = top, first, arm, upper
                    elif upper > second:
                        other, second = arm, upper
                best, least = 0, np.inf
                for arm in range(n_arms):
                    lower = sums[arm] / pulls[arm] - np.sqrt(a / pulls[arm])
                    bound = (second if arm == top else first) - lower
                    if bound < least:
                        best, least = arm, bound
                if least < least_bound:
                    found, least_bound = best, least
                rival = other if best == top else top
                if pulls[rival] < pulls[best]:
                    best = rival
                sums[best] += means[best] + SIGMA * rng.standard_normal()
                pulls[best] += 1
            errors += found != 0
        return errors / n_runs

    @numba.njit
    def ebtc(rng, means, budget, n_runs):
        n_arms, errors = means.size, 0
        for _ in range(n_runs):
            sums, pulls = np.empty(n_arms), np.ones(n_arms)
            led, own = np.zeros(n_arms), np.zeros(n_arms)
            for arm in range(n_arms):
                sums[arm] = means[arm] + SIGMA * rng.standard_normal()
            for _ in range(budget - n_arms):
                leader, first = 0, -np.inf
                for arm in range(n_arms):
                    if sums[arm] / pulls[arm] > first:
                        leader, first = arm, sums[arm] / pulls[arm]
                led[leader] += 1
                chosen = leader
                if own[leader] > led[leader] / 2:
                    least = np.inf
                    for arm in range(n_arms):
                        if arm != leader:
                            gap = first - sums[arm] / pulls[arm] + 0.1
                            index = gap / np.sqrt(1 / pulls[arm] + 1 / pulls[leader])
                            if index < least:
                                chosen, least = arm, index
                own[leader] += chosen == leader
                sums[chosen] += means[chosen] + SIGMA * rng.standard_normal()
                pulls[chosen] += 1
            errors += np.argmax(sums / pulls) != 0
        return errors / n_runs

    @numba.njit
    def pull(rng, arm, means, sums, squares, pulls):
        reward = means[arm] + SIGMA * rng.standard_normal()
        sums[arm] += reward
        squares[arm] += reward * reward
        pulls[arm] += 1

    @numba.njit
    def vbr(rng, means, budget, n_runs):
        n_arms, errors = means.size, 0
        logbar = 0.5 + np.sum(1.0 / np.arange(2, n_arms + 1))
        for _ in range(n_runs):
            sums, squares, pulls = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms)
            arms, had = np.arange(n_arms), 0
            for left in range(n_arms, 1, -1):
                wanted = int(np.ceil((budget - n_arms) / (logbar * left) - 1e-9))
                for j in range(left * (wanted - had)):
                    best, largest = j % n_arms, -np.inf
                    if had:
                        for i in range(left):
                            arm = arms[i]
                            n, mean = pulls[arm], sums[arm] / pulls[arm]
                            index = np.inf
                            if n > 1:
                                index = (squares[arm] - n * mean * mean) / ((n - 1) * n)
                            if index > largest:
                                best, largest = arm, index
                    pull(rng, best, means, sums, squares, pulls)
                worst, least = -1, np.inf
                for i in range(left):
                    mean = sums[arms[i]] / pulls[arms[i]]
                    if mean <= least:
                        worst, least = i, mean
                arms[worst:left - 1] = arms[worst + 1:left].copy()
                had = wanted
            errors += arms[0] != 0
        return errors / n_runs

    @numba.njit
    def shadavar(rng, means, budget, n_runs):
        n_arms, errors, level = means.size, 0, -np.log(0.05)
        n_stages = int(np.ceil(np.log2(n_arms)))
        for _ in range(n_runs):
            arms = np.arange(n_arms)
            for _ in range(n_stages):
                sums, squares, pulls = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms)
                for j in range(budget // n_stages):
                    best, largest = arms[j % arms.size], -np.inf
                    # bounds are infinite up to 4 log(1 / delta) + 1 rewards
                    if j >= arms.size * (int(4 * level) + 2):
                        for arm in arms:
                            n, mean = pulls[arm], sums[arm] / pulls[arm]
                            v = (squares[arm] - n * mean * mean) / (n - 1)
                            index = v / (n * (1 - 2 * np.sqrt(level / (n - 1))))
                            if index > largest:
                                best, largest = arm, index
                    pull(rng, best, means, sums, squares, pulls)
                found = np.empty(arms.size)
                for i in range(arms.size):
                    found[i] = -sums[arms[i]] / pulls[arms[i]]
                arms = np.sort(arms[np.argsort(found)[:(arms.size + 1) // 2]])
            errors += arms[0] != 0
        return errors / n_runs

    return {"UCBE": ucbe, "GapE": gape, "GapEV": gapev, "UGapEb": ugape, "EBTC": ebtc,
            "VBR": vbr, "SHAdaVar": shadavar}


POLICIES = {
    "UCBE": lambda k, n: pb.policies.UCBE(k, budget=n, complexity=COMPLEXITY),
    "GapE": lambda k, n: pb.policies.GapE(k, budget=n, value_range=RANGE, complexity=COMPLEXITY),
    "GapEV": lambda k, n: pb.policies.GapEV(k, budget=n, value_range=RANGE, complexity=COMPLEXITY),
    "UGapEb": lambda k, n: pb.policies.UGapEb(k, budget=n, complexity=COMPLEXITY),
    "EBTC": lambda k, n: pb.policies.EBTC(k, max_pulls=n),
    "VBR": lambda k, n: pb.policies.VBR(k, budget=n),
    "SHAdaVar": lambda k, n: pb.policies.SHAdaVar(k, budget=n),
}


@pytest.fixture(scope="module")
def compiled():
    found = loops()
    for loop in found.values():
        loop(np.random.default_rng(1), np.linspace(1.0, 0.0, 4), 12, 1)
    return found


@pytest.mark.parametrize("n_arms", SIZES)
@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("role", ["numba", "simulate, a policy", "simulate, a factory"])
def test_one_pull(timed, compiled, name, role, n_arms):
    means, budget = np.linspace(1.0, 0.0, n_arms), SIZES[n_arms]
    n_runs = PULLS // budget
    if role == "numba":
        def run():
            compiled[name](np.random.default_rng(1), means, budget, n_runs)
    else:
        bandit = pb.environments.GaussianBandit(means, SIGMA)

        def make(environment=bandit):
            return POLICIES[name](n_arms, budget)

        def run():
            pb.simulate(make if "factory" in role else make(), bandit, n_runs, rng=1,
                        n_threads=1, progress=False)
    timed(f"{name}, K = {n_arms}, n = {budget:,}", role, run, per=n_runs * budget, rounds=3)


@pytest.mark.parametrize("name", POLICIES)
def test_errors_are_those_of_the_loop(compiled, name):
    """Check that the policy and the loop err about equally often."""
    means, n_runs = np.r_[0.5, np.full(9, 0.4)], 2000
    bandit = pb.environments.GaussianBandit(means, SIGMA)
    result = pb.simulate(lambda e: POLICIES[name](10, 300), bandit, n_runs, rng=1)
    expected = compiled[name](np.random.default_rng(2), means, 300, n_runs)
    assert abs(expected - result.error_probability) < 5 * np.sqrt(2 * 0.25 / n_runs)
