"""Simulate the policies for plates on random arms, and select the best one."""

import math
from typing import NamedTuple

import numpy as np

from pybandit._shared.checks import MOST_PULLS
from pybandit._shared.errors import InfeasibleBudgetError
from pybandit.cli._screen_policies import make_policy
from pybandit.simulation import simulate
from pybandit.simulation.environments import GaussianBandit

# in order of preference among policies that find equally many of the best arms
PLATES = "batch-screening", "batch-sar", "batch-halving", "round-robin"


class Screen(NamedTuple):
    """A planned screen: find the k best of n arms in batches of `size` wells.

    A batch has at most `repeats` wells of one arm.

    Means are drawn from N(0, 1); readings add normal noise with standard deviation `noise`.
    """

    n: int
    k: int
    size: int
    repeats: int | None
    noise: float


class Hits(NamedTuple):
    """Mean number of hits of a policy over runs, and half the width of its 95 % interval."""

    hits: float
    half: float


def policy_for_screen(name, screen, batches):
    """Return the policy for a screen; raise `InfeasibleBudgetError` if batches are too few."""
    options = {"k": screen.k, "batches": batches, "batch_size": screen.size,
               "repeats": screen.repeats}
    return make_policy(name, screen.n, options)


def fewest(name, screen):
    """Return the smallest number of batches that a policy accepts and that measures all arms."""
    low = 0 if name != "round-robin" else math.ceil(screen.n / screen.size) - 1
    high = low + 1
    while not accepts(name, screen, high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if accepts(name, screen, middle) else (middle, high)
    return high


def accepts(name, screen, batches):
    """Return True if a policy accepts this number of batches."""
    if batches * screen.size > MOST_PULLS:
        return True
    try:
        policy_for_screen(name, screen, batches)
    except InfeasibleBudgetError:
        return False
    return True


def play(name, screen, batches, n_runs, seed):
    """Return the hits of a policy, or None if it needs more batches."""
    if not accepts(name, screen, batches):
        return None

    def hits(policy, environment):
        best = np.argsort(-environment.means, kind="stable")[:screen.k]
        return float(np.isin(policy.recommend(), best).sum())

    result = simulate(
        lambda _: policy_for_screen(name, screen, batches),
        lambda rng: GaussianBandit(rng.normal(size=screen.n), screen.noise),
        n_runs, rng=seed, metrics=[hits], progress=False)
    found = result.metrics["hits"]
    half = 1.96 * found.std(ddof=1) / math.sqrt(n_runs) if n_runs > 1 else math.nan
    return Hits(float(found.mean()), float(half))


def choose(found):
    """Return the first policy of `PLATES` whose hits are within the interval of the best."""
    known = {name: one for name, one in found.items() if one is not None}
    if not known:
        return None
    most = max(known.values(), key=lambda one: one.hits)
    return next(name for name in PLATES
                if name in known and known[name].hits >= most.hits - most.half)
