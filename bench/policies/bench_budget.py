"""Policies with a fixed budget, Gaussian rewards included, on one core: nanoseconds per pull.

Run with ``make bench``. The first of a group only draws the same number of rewards one by one
with `GaussianBandit.pull`. The others are whole runs of `simulate`, set-up included. Policies that
never use single rewards get the sum of an arm's rewards in one draw and may be faster than the
first. For comparison: halving in NumPy for all runs at once, and UCB-E as a loop in Python.
"""

import runpy
from pathlib import Path

import numpy as np
import pytest

import pybandit as pb

from native import size

SIZES = size([(64, 5000), (1000, 50_000)], [(64, 5000)])
PULLS = size(500_000, 10_000)
EXAMPLES = Path(__file__).parents[2] / "examples"
SHARED = runpy.run_path(str(EXAMPLES / "papers" / "lalitha2023" / "setting.py"))


def bandit(n_arms):
    """Return setting B of the examples."""
    means, noise_std = SHARED["arms"](n_arms, "B", np.random.default_rng(1))
    return pb.environments.GaussianBandit(means, noise_std)


def numpy_halving(environment, budget, n_runs, rng, draw_sums):
    """Run sequential halving for all runs together."""
    n_arms, rows = environment.n_arms, np.arange(n_runs)[:, None]
    n_stages = (n_arms - 1).bit_length()
    means, deviations = environment.means, np.sqrt(environment.variances)
    arms = np.tile(np.arange(n_arms), (n_runs, 1))
    for _ in range(n_stages):
        width = arms.shape[1]
        pulls, more = divmod(budget // n_stages, width)
        counts = pulls + (np.arange(width) < more)
        if draw_sums:
            sums = np.sqrt(counts) * rng.standard_normal((n_runs, width))
        else:
            sums = np.zeros((n_runs, width))
            for j in range(pulls + 1):
                step = width if j < pulls else more
                sums[:, :step] += rng.standard_normal((n_runs, step))
        found = means[arms] + deviations[arms] * sums / counts
        keep = np.argsort(-found, axis=1, kind="stable")[:, :(width + 1) // 2]
        arms = arms[rows, np.sort(keep, axis=1)]
    return arms[:, 0]


def python_ucbe(environment, budget, rng):
    """Pull each arm once, then the largest mean + sqrt(a / pulls), one pull at a time."""
    n_arms, means = environment.n_arms, environment.means
    deviations = np.sqrt(environment.variances)
    a = 25 / 36 * (budget - n_arms) / (1 / SHARED["gaps"](means) ** 2).sum()
    sums, pulls = rng.normal(means, deviations), np.ones(n_arms)
    for _ in range(budget - n_arms):
        arm = int(np.argmax(sums / pulls + np.sqrt(a / pulls)))
        sums[arm] += rng.normal(means[arm], deviations[arm])
        pulls[arm] += 1
    return int(np.argmax(sums / pulls))


ROLES = ["rewards alone", *SHARED["POLICIES"], "NumPy halving, one by one",
         "NumPy halving, sums", "Python UCB-E"]


@pytest.mark.parametrize("n_arms, budget", SIZES)
@pytest.mark.parametrize("role", ROLES)
def test_budget(timed, n_arms, budget, role):
    environment, rng, n_runs = bandit(n_arms), np.random.default_rng(1), PULLS // budget
    if role == "rewards alone":
        in_turn = np.arange(budget) % n_arms

        def run():
            for _ in range(n_runs):
                environment.pull(in_turn, rng)
    elif role.startswith("NumPy"):
        def run():
            numpy_halving(environment, budget, n_runs, rng, role.endswith("sums"))
    elif role == "Python UCB-E":
        n_runs = 1

        def run():
            python_ucbe(environment, budget, rng)
    else:
        def run():
            pb.simulate(lambda e: SHARED["POLICIES"][role](e, budget), environment, n_runs, rng=1,
                        n_threads=1, progress=False)
    timed(f"a pull, K = {n_arms:,}, n = {budget:,}", role, run, per=n_runs * budget,
          rounds=1 if n_runs == 1 else 7)
