"""Time per reward of races near a tie, by bound, compared with the memory they read.

Run with ``make bench``. Times are per arm and item read, because races with different bounds end at
different items.
"""

import ctypes

import numpy as np
import pytest

import pybandit as pb
from pybandit.betting._kernels import Bets, Books, LeaderRace

from native import pointer, size

N = size(100_000, 2_000)
i64 = ctypes.c_int64
BOUNDS = {
    "normal": pb.racing.NormalBound(delta=0.05),
    "betting": pb.racing.BettingBound(delta=0.05, value_range=1.0),
    "betting, ebmix": pb.racing.BettingBound(delta=0.05, value_range=1.0,
                                             bets=pb.betting.Bets("ebmix")),
    "betting, hybrid": pb.racing.BettingBound(delta=0.05, value_range=1.0,
                                              bets=pb.betting.Bets("product", hybrid=True)),
}


@pytest.fixture(scope="module")
def near_tie():
    """Return rewards of `n_arms` arms, one better by .006: betting reads about half of them."""
    made = {}

    def make(n_arms):
        if n_arms not in made:
            rewards = np.random.default_rng(8).random((N, n_arms)) < 0.5
            rewards[:, 0] = np.random.default_rng(9).random(N) < 0.506
            made[n_arms] = rewards * 1.0
        return made[n_arms]

    return make


@pytest.mark.parametrize("n_arms", [10, 16])
@pytest.mark.parametrize("role", ["bare gather", *BOUNDS])
def test_near_a_tie(timed, limits, near_tie, n_arms, role):
    """Time per arm and item of a race among ten or sixteen arms."""
    rewards = near_tie(n_arms)
    group = f"an arm and item of {n_arms} arms near a tie, {N} items"
    if role == "bare gather":
        rows = N // 2
        order = np.random.default_rng(3).permutation(N)[:rows]
        sums, squares = np.zeros(n_arms), np.zeros(n_arms)
        timed(group, role, lambda: limits.limit_gather(
            pointer(rewards), i64(n_arms), pointer(order), i64(rows), pointer(sums),
            pointer(squares)), per=rows * n_arms)
        return
    result = pb.race(rewards, bound=BOUNDS[role], rng=1)  # the same race each time
    timed(group, f"{role}, {result.n_evaluations / rewards.size:.0%} read",
          lambda: pb.race(rewards, bound=BOUNDS[role], rng=1), per=result.n_evaluations,
          rounds=3 if "hybrid" in role else 15)


@pytest.mark.parametrize("role", ["bare product", "betting"])
def test_against_the_product(timed, limits, near_tie, role):
    """The minimum of arithmetic, sixteen bets on one reward, and the race."""
    rewards = near_tie(10)
    group = "sixteen bets on one reward"
    if role == "bare product":
        values, bets, capital = rewards[:, 0].copy(), np.geomspace(0.004, 2, 16), np.empty(16)
        bets *= 1e-2  # avoids denormal numbers
        timed(group, role, lambda: limits.limit_bets_16(
            pointer(values), i64(N), ctypes.c_double(0.5), pointer(bets), pointer(capital)),
            per=N)
        return
    result = pb.race(rewards, bound=BOUNDS["betting"], rng=1)
    timed(group, role, lambda: pb.race(rewards, bound=BOUNDS["betting"], rng=1),
          per=result.n_evaluations, rounds=15)


@pytest.mark.parametrize("role", ["exact", "betting"])
def test_nothing_to_decide(timed, role):
    """The cost of betting in the worst case: equal arms, all of which are read."""
    rewards = np.tile(np.random.default_rng(5).random((N, 1)), 10)
    run = {"exact": lambda: pb.racing.exact_sample(rewards, rng=1),
           "betting": lambda: pb.race(rewards, bound=BOUNDS["betting"], rng=1)}[role]
    timed(f"an arm and item of 10 equal arms, {N} items, all read", role, run,
          per=rewards.size, rounds=10)


@pytest.mark.parametrize("n_arms", [2, 5, 10, 80, 450])
@pytest.mark.parametrize("role", ["bare sums", "product, 16 bets", "plug-in"])
def test_bets_that_win_nothing(timed, n_arms, role):
    """Time per arm and item of the kernel with ask and tell, on identical coins.

    This includes about 1 ns for recording the rewards. The aim with ten arms is 10 ns.
    """
    n_items = size(2_000_000, 20_000) // n_arms
    rewards = (np.random.default_rng(4).random((n_items, n_arms)) < 0.5) * 1.0
    group = f"an arm and item of {n_arms} arms under ask and tell"
    if role == "bare sums":
        timed(group, role, lambda: rewards.sum(axis=0), per=rewards.size, rounds=10)
        return
    bets = Bets("plug-in") if role == "plug-in" else Bets("product", 16)

    def run():
        race = LeaderRace(n_arms, 0, bets, (0.0, 1.0, 1.0), 1e-300)
        race.begin()
        race.tell(Books(n_arms, 0.0), rewards)

    timed(group, role, run, per=rewards.size, rounds=10)
