"""Cost of the medoid race: distances per point and processor time, next to all pairs.

    python bench/cluster/medoids.py [--quick] [--halving] [--data NAMES ...]

A row has, for each delta of the bets and for Student's bound at .05, the distances computed per
point and the processor seconds of one thread (minimum over seeds). "all pairs" is the time of all
n**2 distances by the same kernel, from a sample of the candidates. With --halving, the table
compares the errors of correlated sequential halving (Baharav and Tse 2019) with those of the race.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from pybandit._shared.progress import make_bar
from pybandit.cluster import _find
from pybandit.cluster._distances import Distances
from pybandit.cluster._rows import METRICS
from pybandit.cluster._sums import exact_sums, full_sums

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from cluster.data import data  # noqa: E402

ROWS = {"gauss": ("euclidean", 100_000, 20), "blobs": ("euclidean", 100_000, 100),
        "unif": ("euclidean", 100_000, 2), "heavyrow": ("euclidean", 100_000, 20),
        "scrna": ("manhattan", 100_000, 100), "gauss100": ("euclidean", 20_000, 100)}
DELTAS = (0.05, 1e-3, 1e-6)


def race_of(x, metric, delta, bound, seed):
    """Race for the medoid without cutting planes; return the index, distances and seconds."""
    start = time.process_time()
    q = _find.Question(Distances(x, METRICS[metric]), METRICS[metric], True, None, bound, delta,
                       False, np.random.default_rng(seed), 1, make_bar(False, None, "", ""))
    found = _find.compared(q, *_find.raced(q, np.arange(len(x)), bound))
    return found.index, found.n_distances / len(x), time.process_time() - start


def costs(x, metric, n_seeds):
    """Return {(bound, delta): (indices, distances per point, seconds)}."""
    found = {}
    for bound, delta in [*(("betting", delta) for delta in DELTAS), ("student", 0.05)]:
        runs = [race_of(x, metric, delta, bound, seed) for seed in range(n_seeds)]
        index, distances, seconds = zip(*runs, strict=True)
        found[bound, delta] = set(index), np.mean(distances), min(seconds)
    return found


def all_pairs(x, metric):
    """Return the processor seconds of all distances, from those of a few hundred candidates."""
    some = np.arange(0, len(x), max(1, len(x) // 512))
    start = time.process_time()
    full_sums(Distances(x, METRICS[metric]), None, some)
    return (time.process_time() - start) * len(x) / len(some)


def halving(x, metric, budget, rng):
    """Return the medoid by correlated sequential halving within budget * n distances."""
    source, alive, n = Distances(x, METRICS[metric]), np.arange(len(x)), len(x)
    n_rounds = int(np.ceil(np.log2(n)))
    for _ in range(n_rounds):
        size = int(np.clip(budget * n // (alive.size * n_rounds), 1, n))
        means = source.block(alive, rng.choice(n, size, replace=False)).sum(axis=1)
        alive = alive[np.argsort(means, kind="stable")[:-(-alive.size // 2)]]
        if size == n or alive.size == 1:
            break
    return int(alive[0])


def errors_of_halving(x, metric, n_seeds):
    """Return rows (budget, share of wrong answers, largest excess of the mean distance)."""
    totals = exact_sums(Distances(x, METRICS[metric]), None, np.arange(len(x)))
    best, rows = totals.min(), []
    for budget in (8, 16, 32, 64):
        found = [halving(x, metric, budget, np.random.default_rng(s)) for s in range(n_seeds)]
        excess = totals[found] / best - 1
        rows.append((f"{budget} n", np.mean(excess > 1e-12), excess.max()))
    runs = [race_of(x, metric, 1e-3, "betting", seed) for seed in range(n_seeds)]
    excess = totals[[one[0] for one in runs]] / best - 1
    cost = np.mean([one[1] for one in runs])
    return [*rows, (f"bets, {cost:.0f} n", np.mean(excess > 1e-12), excess.max())]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small data, one seed")
    parser.add_argument("--halving", action="store_true", help="errors of sequential halving")
    parser.add_argument("--data", nargs="*", default=list(ROWS), choices=list(ROWS))
    options = parser.parse_args()
    for name in options.data:
        metric, n, d = ROWS[name]
        if options.halving:
            x = data(name.rstrip("10"), 600 if options.quick else 4000, d)
            for budget, share, excess in errors_of_halving(x, metric, 2 if options.quick else 40):
                print(f"{name} {budget}: wrong {share:.3f}, worst {excess:.1e}")
            continue
        x = data(name.rstrip("10"), 2000 if options.quick else n, d)
        found = costs(x, metric, 1 if options.quick else 3)
        parts = [f"{distances:.0f} / {seconds:.3f} s"
                 for _, distances, seconds in found.values()]
        answers = set.union(*(index for index, _, _ in found.values()))
        print(f"{name}, {metric}, {len(x)}, {d}: {', '.join(parts)}; all pairs "
              f"{all_pairs(x, metric):.1f} s; answers {sorted(answers)}", flush=True)


if __name__ == "__main__":
    main()
