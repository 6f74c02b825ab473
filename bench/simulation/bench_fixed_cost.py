"""Staged policies, whole simulations on one core: microseconds per run, compared with numba loops.

Run with ``make bench``, or alone: ``pytest bench/simulation``. A loop is what a careful user would
write: all runs in one compiled function, rewards drawn one by one or an arm's sum at once, no
objects and no intervals; it returns only the share of errors. It is compared with a full call of
`simulate`, including all that it sets up and returns, given a factory or a policy.
"""

import numpy as np
import pytest

import pybandit as pb

from native import size

N_ARMS, BUDGET, N_RUNS = 20, 2000, size(5000, 500)
MEANS = np.linspace(0.0, 1.0, N_ARMS)[::-1].copy()
POLICIES = {"SuccessiveRejects": lambda e: pb.policies.SuccessiveRejects(N_ARMS, budget=BUDGET),
            "SequentialHalving": lambda e: pb.policies.SequentialHalving(N_ARMS, budget=BUDGET)}


def loops():
    """Return (name, how) -> function of a generator that returns the share of errors."""
    numba = pytest.importorskip("numba")

    def reward_sum(rng, mean, n, one_by_one):
        if not one_by_one:
            return n * mean + np.sqrt(n) * rng.standard_normal()
        total = 0.0
        for _ in range(n):
            total += mean + rng.standard_normal()
        return total

    reward_sum = numba.njit(inline="always")(reward_sum)

    @numba.njit
    def rejects(rng, means, budget, n_runs, one_by_one):
        n_arms, errors = means.size, 0
        logbar = 0.5 + np.sum(1.0 / np.arange(2, n_arms + 1))
        sums, alive = np.empty(n_arms), np.empty(n_arms, np.bool_)
        for _ in range(n_runs):
            sums[:], alive[:], had = 0.0, True, 0
            for phase in range(1, n_arms):
                wanted = int(np.ceil((budget - n_arms) / (logbar * (n_arms + 1 - phase)) - 1e-9))
                worst, least = -1, np.inf
                for arm in range(n_arms):
                    if alive[arm]:
                        if wanted > had:
                            sums[arm] += reward_sum(rng, means[arm], wanted - had, one_by_one)
                        if sums[arm] <= least:
                            worst, least = arm, sums[arm]
                alive[worst], had = False, wanted
            errors += not alive[0]
        return errors / n_runs

    @numba.njit
    def halving(rng, means, budget, n_runs, one_by_one):
        n_arms, errors = means.size, 0
        n_stages = int(np.ceil(np.log2(n_arms)))
        for _ in range(n_runs):
            arms = np.arange(n_arms)
            for _ in range(n_stages):
                found = np.empty(arms.size)
                pulls, more = (budget // n_stages) // arms.size, (budget // n_stages) % arms.size
                for j in range(arms.size):
                    n = pulls + (j < more)
                    found[j] = -reward_sum(rng, means[arms[j]], n, one_by_one) / n
                arms = np.sort(arms[np.argsort(found)[:(arms.size + 1) // 2]])
            errors += arms[0] != 0
        return errors / n_runs

    return {"SuccessiveRejects": rejects, "SequentialHalving": halving}


@pytest.fixture(scope="module")
def compiled():
    found = loops()
    for loop in found.values():
        loop(np.random.default_rng(1), MEANS, BUDGET, 2, True)
    return found


ROLES = ["numba, one by one", "numba, sums", "simulate, a factory", "simulate, a policy"]


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("role", ROLES)
def test_fixed_cost(timed, compiled, name, role):
    bandit, make = pb.environments.GaussianBandit(MEANS), POLICIES[name]
    if role.startswith("numba"):
        def run():
            compiled[name](np.random.default_rng(1), MEANS, BUDGET, N_RUNS, "one" in role)
    else:
        def run():
            pb.simulate(make if "factory" in role else make(bandit), bandit, N_RUNS, rng=1,
                        n_threads=1, progress=False)
    timed(f"{name}, K = {N_ARMS}, n = {BUDGET:,}", role, run, per=N_RUNS, rounds=7)


@pytest.mark.parametrize("name", POLICIES)
def test_errors_are_those_of_the_loop(compiled, name):
    result = pb.simulate(POLICIES[name], pb.environments.GaussianBandit(MEANS), N_RUNS, rng=1)
    theirs = [compiled[name](np.random.default_rng(2), MEANS, BUDGET, N_RUNS, one)
              for one in (True, False)]
    spread = 5 * np.sqrt(2 * 0.25 / N_RUNS)
    assert all(abs(share - result.error_probability) < spread for share in theirs)
