"""EstimatorAllocator: a decision from Python, and a run in `simulate`, on one core.

Run with ``make bench``. From Python: one `ask` and `tell`, compared with the same rule in plain
NumPy. In `simulate`: microseconds per run with ten normal estimators; the first of the group
only draws the same number of values.
"""

import numpy as np
import pytest

import pybandit as pb

DEVIATIONS = np.geomspace(1.0, 20.0, 10)
BUDGET = 10_000


class NumpyAllocator:
    """thompson-variance and inverse-variance weights as a user would write them."""

    def __init__(self, n, rng):
        self.rng, self.pulls = rng, np.zeros(n)
        self.sums, self.squares = np.zeros(n), np.zeros(n)

    def ask(self):
        if self.pulls.min() < 10:
            return int(self.pulls.argmin())
        variances = self.squares / self.pulls - (self.sums / self.pulls) ** 2
        return int(np.argmin(variances * self.pulls / self.rng.chisquare(self.pulls - 1)))

    def tell(self, arm, value):
        self.pulls[arm] += 1
        self.sums[arm] += value
        self.squares[arm] += value * value


@pytest.mark.parametrize("role", ["NumPy by hand", "thompson-variance",
                                  "thompson-variance, predictable", "lcb-variance", "ucb-v",
                                  "thompson", "thompson-variance, observed costs"])
def test_ask_and_tell(timed, role):
    rng = np.random.default_rng(1)
    values = rng.normal(3.0, DEVIATIONS[:, None], (10, 1000))
    rows = list(rng.choice(values.ravel(), (1000, 1)))  # one value each
    if role == "NumPy by hand":
        allocator = NumpyAllocator(10, rng)

        def run():
            for j in range(1000):
                arm = allocator.ask()
                allocator.tell(arm, values[arm, j])
    else:
        policy, _, more = role.partition(", ")
        costs = "told" if "costs" in more else "equal"
        allocator = pb.montecarlo.EstimatorAllocator(10, policy=policy, costs=costs, rng=1,
                                                     weights="predictable" if more[:1] == "p"
                                                     else "mean")
        told = (np.ones(1),) if costs == "told" else ()
        first = allocator.ask()
        allocator.tell(first, values[first, 0], *[np.ones(first.size) for _ in told])

        def run():
            for row in rows:
                allocator.tell(allocator.ask(), row, *told)

    timed("ask and tell, 10 estimators", role, run, per=1000, rounds=20)


@pytest.mark.parametrize("role", ["values alone", "uniform", "thompson-variance", "lcb-variance",
                                  "ucb1", "ucb-v", "kl-ucb", "thompson"])
def test_simulate(timed, role):
    environment = pb.environments.GaussianBandit(np.full(10, 3.0), DEVIATIONS)
    in_turn, rng = np.arange(BUDGET) % 10, np.random.default_rng(1)

    def run():
        if role == "values alone":
            environment.pull(in_turn, rng)
        else:
            pb.simulate(lambda e: pb.montecarlo.EstimatorAllocator(10, policy=role, budget=BUDGET,
                                                                   weights="predictable"),
                        environment, 5, rng=1, n_threads=1, progress=False)

    timed("a decision in simulate, 10 estimators", role, run,
          per=BUDGET * (1 if role == "values alone" else 5), rounds=7)
