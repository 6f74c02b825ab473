"""Estimators with errors that are hard to estimate, and error rates of intervals at any look."""

import numpy as np

import pybandit as pb

AREA = np.pi / 4


def coin(p):
    return lambda rng, n: (rng.random(n) < p) / p - 1.0


def both_ends(rng, n):
    x = rng.random(n)
    return (np.sqrt(1 - x**2) + np.sqrt(1 - (1 - x) ** 2)) / 2 - AREA


# Values of each estimator, all with mean 0, and their range, if it is known.
LAWS = {
    "coin of .9, B / p": ([coin(0.9)], (-1.0, 1 / 0.9 - 1)),
    "coin of .99, B / p": ([coin(0.99)], (-1.0, 1 / 0.99 - 1)),
    "coin of .01, B / p": ([coin(0.01)], (-1.0, 99.0)),
    "log-normal (1.5)": ([lambda rng, n: rng.lognormal(0, 1.5, n) - np.exp(1.125)], None),
    "README's three": ([lambda rng, n: (np.hypot(*rng.random((2, n))) < 1) - AREA,
                        lambda rng, n: np.sqrt(1 - rng.random(n) ** 2) - AREA, both_ends],
                       (-AREA, 1 - AREA)),
    "three exponentials": ([lambda rng, n, s=s: s * (rng.exponential(size=n) - 1.0)
                            for s in (1.0, 2.0, 3.0)], None),
    "five exponentials": ([lambda rng, n: rng.exponential(size=n) - 1.0] * 5, None),
    "three normals": ([lambda rng, n, s=s: s * rng.normal(size=n) for s in (1.0, 2.0, 3.0)], None),
}


def misses(name, n_runs, budget, *, seed=0, looks=None, alpha=0.05, method=None, **options):
    """Return how many runs miss 0 at any look, and how many end with a finite interval."""
    draw, value_range = LAWS[name]
    if method == "betting":
        options["value_range"] = value_range
    looks = {budget} if looks is None else set(looks)
    missed = finite = 0
    for run in range(n_runs):
        rng = np.random.default_rng((seed, run))
        allocator = pb.montecarlo.EstimatorAllocator(len(draw), budget=budget, rng=run, **options)
        values = [f(rng, budget) for f in draw]
        used, hit = [0] * len(draw), False
        while not allocator.done:
            arms, told = allocator.ask(), []
            for k in arms.tolist():
                told.append(values[k][used[k]])
                used[k] += 1
            allocator.tell(arms, told)
            if allocator.n_pulls in looks:
                low, high = allocator.interval(delta=alpha, method=method)
                hit |= not low - 1e-12 <= 0.0 <= high + 1e-12
        missed += hit
        finite += bool(np.isfinite(high - low))
    return missed, finite


def often(budget):
    """Return the numbers of runs after which to look: every run up to 200, then 40 more."""
    every = min(budget, 200)
    return {*range(1, every + 1), *np.geomspace(every, budget, 40).astype(int), budget}
