"""Measured ratios of medoids and k-medoids next to their goals, in one run on one machine.

    python bench/cluster/goals.py [--quick] [--goals WORD ...]

A line per row has the goal, the measured value, its limit, and "met" or "not met". Every value is
to be at most its limit. Times are processor seconds of one thread, except those of two threads.
--goals runs the groups whose names are given, by default all; a group takes up to three minutes.
--quick has small data, for which the limits are not meant. The rivals are optional:
``pip install kmedoids onebatch scikit-learn``. Rows of a rival that is missing are left out.
"""

import argparse
import itertools
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pybandit as pb
from pybandit.cluster import kmedoids, medoid
from pybandit.cluster._distances import Distances
from pybandit.cluster._rows import METRICS
from pybandit.cluster._sums import exact_sums, full_sums

HOME = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(HOME / folder) for folder in ("tests", "examples/cluster", "bench/cluster")]
import kmedoids_rivals as rivals  # noqa: E402
import medoids  # noqa: E402
import memory  # noqa: E402

from cluster import test_medoid_race as promise  # noqa: E402
from cluster.data import data  # noqa: E402

DELTA = 1e-3
# distances per point; time of bets as a share of that of Student's bound
MOST_DISTANCES = {"gauss": 130, "blobs": 220, "unif": 100, "heavyrow": 280, "scrna": 160}
MOST_OF_STUDENT = 1.4
# rows, columns, clusters; share of the time of FasterPAM
TIMES = {("blobs", 10_000, 100, 10): 1 / 30, ("gauss", 10_000, 20, 10): 1 / 30,
         ("blobs", 10_000, 20, 50): 1 / 20}
# excess of the mean loss over FasterPAM's mean loss, and of the worst seed
USUAL, HARD = (0.001, 0.003), (0.003, 0.01)
NASTY = (
    ("heavyrow", 20, 10, "euclidean", USUAL), ("heavy", 20, 20, "euclidean", USUAL),
    ("rare", 20, 11, "euclidean", USUAL), ("dups", 5, 20, "manhattan", HARD),
    ("unif", 2, 20, "euclidean", HARD), ("gauss", 20, 10, "sqeuclidean", USUAL),
    ("gauss", 20, 100, "euclidean", HARD), ("blobs", 20, 2, "euclidean", USUAL),
)
# rows, columns, clusters; shares of the loss and of the time of OneBatchPAM
BATCH = {("blobs", 50_000, 100, 10): (0.985, 1 / 5), ("blobs", 50_000, 100, 50): (0.972, 0.9),
         ("blobs", 200_000, 20, 10): (0.999, 1 / 8), ("blobs", 200_000, 20, 50): (0.97, 1 / 3)}


class Row(NamedTuple):
    """A measured value and the largest value that meets the goal."""

    goal: str
    measured: float
    limit: float

    def __str__(self):
        met = "met" if self.measured <= self.limit else "not met"
        return f"{self.goal:<80} {self.measured:>9.4g} {self.limit:>9.4g}  {met}"


def seconds(call, rounds):
    """Return the least processor time of several calls."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def kernel(quick):
    """A distance of 100 columns compared with that of scikit-learn, both in float32."""
    from sklearn.metrics import pairwise_distances

    x = data("gauss", 1024 if quick else 4096, 100)
    some = np.arange(len(x) // 8)
    for metric, limit in (("euclidean", 0.45), ("manhattan", 0.12)):
        source = Distances(x, METRICS[metric])
        ours = seconds(lambda source=source: full_sums(source, None, some), 10)
        theirs = seconds(lambda metric=metric: pairwise_distances(
            x[some], x, metric=metric).sum(axis=1), 10)
        yield Row(f"kernel: {metric} / pairwise_distances, 100 columns", ours / theirs, limit)


def race(quick):
    """The medoid compared with all pairs and with a race of Python functions."""
    from sklearn.metrics import pairwise_distances

    n = 1000 if quick else 20_000
    x = data("gauss", n, 100)
    ours = seconds(lambda: medoid(x, rng=1), 10)
    yield Row(f"1: medoid of {n:,} x 100 gauss / all pairs by the same kernel",
              ours / medoids.all_pairs(x, "euclidean"), 1 / 60)
    factors = pb.Factors(lambda j, i: -pairwise_distances(x[j], x[i]).astype(float), n, n)
    theirs = seconds(lambda: pb.race(factors, rng=1), 3)
    yield Row(f"1: medoid of {n:,} x 100 gauss / pb.race of a Python function", ours / theirs,
              1 / 5)


def distances(quick):
    """Distances per point of the race, and its time compared with that of Student's bound."""
    for name, (metric, n, d) in medoids.ROWS.items():
        x = data(name.rstrip("10"), 2000 if quick else n, d)
        bets, student = ([medoids.race_of(x, metric, delta, bound, seed) for seed in range(5)]
                         for bound, delta in (("betting", DELTA), ("student", 0.05)))
        if name in MOST_DISTANCES:
            yield Row(f"2: {name}, {len(x):,} x {d}, {metric}: distances per point",
                      np.mean([one[1] for one in bets]), MOST_DISTANCES[name])
        yield Row(f"3: {name}, {len(x):,} x {d}: bets at .001 / Student's bound at .05, time",
                  min(one[2] for one in bets) / min(one[2] for one in student), MOST_OF_STUDENT)


def planes(quick):
    """Exact medoids in the plane."""
    n = 3000 if quick else 1_000_000
    x = data("unif", n, 2)
    found = medoid(x, exact=True)
    yield Row(f"4: unif, {n:,} x 2, exact: passes", found.n_distances / n, 30)
    theirs = min(medoids.race_of(x, "euclidean", DELTA, "betting", seed)[2] for seed in range(3))
    yield Row(f"4: unif, {n:,} x 2, exact / race, time",
              seconds(lambda: medoid(x, exact=True), 3) / theirs, 1 / 2)


def promises(quick):
    """Wrong answers of races, and of all orders of six points."""
    n, n_races, wrong = (1000, 2, 0) if quick else (4000, 300, 0)
    for kind, metric, d in promise.FIVE:
        x = data(kind, n, d)
        best = exact_sums(Distances(x, METRICS[metric]), None, np.arange(n)).argmin()
        wrong += sum(medoid(x, metric=metric, rng=seed).index != best for seed in range(n_races))
    yield Row(f"5: wrong answers of {5 * n_races:,} races at .001, five data sets", wrong, 0)
    orders = np.array(list(itertools.permutations(range(6))))[::24 if quick else 1]
    most = 0.0
    for metric, tile in itertools.product(("euclidean", "manhattan"), (1, 2)):
        for x, w in promise.small_populations():
            totals = promise.totals_of(x, metric, w)
            best = set(np.flatnonzero(totals <= totals.min() * (1 + 1e-12)).tolist())
            lost = [promise.loses(promise.compiled(x, metric, 0.3, w), order, tile,
                                  promise.by_leader, best) for order in orders]
            most = max(most, np.mean(lost))
    yield Row("5: orders of six points that lose the medoid at .3, largest share", most, 0.3)


def losses(goal, x, k, metric, limits, seeds):
    """Yield the excess of the loss over that of FasterPAM, of seeds of ours and of FasterPAM."""
    own = rivals.run(rivals.ours, x, k, metric, seeds[0])
    theirs = rivals.run(rivals.faster_pam, x, k, metric, seeds[1])
    mean = np.mean(theirs[0])
    yield Row(f"6: {goal}: mean loss / FasterPAM's - 1", np.mean(own[0]) / mean - 1, limits[0])
    yield Row(f"6: {goal}: worst loss of {seeds[0]} / FasterPAM's mean - 1",
              max(own[0]) / mean - 1, limits[1])
    limit = TIMES.get(goal_of(goal))
    if limit:
        ours = rivals.run(rivals.ours, x, k, metric, seeds[1])[1]  # the least of as many fits
        yield Row(f"7: {goal}: time / FasterPAM's, without its matrix", ours / theirs[1], limit)


def named(kind, n, d, k):
    return f"{kind}, {n:,} x {d}, k = {k}"


def goal_of(name):
    """Return the case of `TIMES` with this name, or None."""
    return next((case for case in TIMES if named(*case) == name), None)


def table(quick):
    """Loss and time compared with FasterPAM."""
    if not rivals.is_installed("kmedoids"):
        return
    for kind, n, d, k, metric in rivals.CASES:
        if kind in ("digits", "square"):
            continue
        x = rivals.data(kind, 500 if quick else n, d)
        k = min(k, 5) if quick else k
        yield from losses(named(kind, len(x), d, k), x, k, metric, USUAL,
                          (2, 1) if quick else (10, 3))


def nasty(quick):
    """Losses of data that are hard for estimates."""
    if not rivals.is_installed("kmedoids"):
        return
    for kind, d, k, metric, limits in NASTY:
        x = data(kind, 500 if quick else 6000, d)
        yield from losses(f"{named(kind, len(x), d, k)}, {metric}", x, k, metric, limits,
                          (2, 1) if quick else (4, 2))


def batch(quick):
    """Loss and time compared with OneBatchPAM."""
    if not rivals.is_installed("onebatch"):
        return
    for (kind, n, d, k), (loss, share) in BATCH.items():
        x = rivals.data(kind, 1000 if quick else n, d)
        ours, theirs = (rivals.run(method, x, k, "euclidean", 1 if quick else 2)
                        for method in (rivals.ours, rivals.one_batch))
        goal = f"8: {named(kind, len(x), d, k)}"
        yield Row(f"{goal}: loss / OneBatchPAM's", np.mean(ours[0]) / np.mean(theirs[0]), loss)
        yield Row(f"{goal}: time / OneBatchPAM's", ours[1] / theirs[1], share)


def growth(quick):
    """Time per row of many rows compared with that of fewer."""
    sizes = (1500, 6000) if quick else (200_000, 1_000_000)
    times = []
    for n in sizes:
        x = rivals.data("blobs", n, 20)
        times.append(rivals.run(rivals.ours, x, 10, "euclidean", 2)[1] / n)
    yield Row(f"9: blobs, time per row of {sizes[1]:,} x 20 rows / of {sizes[0]:,}",
              times[1] / times[0], 1.2)


def held(quick):
    """Memory of k-medoids compared with its bound."""
    n, d = (5000, 20) if quick else (500_000, 50)
    with tempfile.TemporaryDirectory() as folder:
        x = memory.mapped_rows(Path(folder) / "rows.npy", n, d)
        for k in (10, 50):
            peak = memory.peak_of(lambda k=k: kmedoids(x, k, rng=0, max_iter=1))[1]
            yield Row(f"10: memory of k = {k}, {n:,} x {d} / its bound",
                      peak / memory.bound_of(x, k), 1.0)


def threads(quick):
    """Time on the clock of two threads compared with that of one."""
    n = 2000 if quick else 50_000
    x = rivals.data("blobs", n, 100)
    for k in (10, 50):
        one, two = rivals.thread_times(x, k, "euclidean", 3)
        yield Row(f"11: blobs, {n:,} x 100, k = {k}: two threads / one, on the clock", two / one,
                  1 / 1.7)
        fits = [kmedoids(x, k, rng=0, n_threads=count) for count in (1, 2)]
        same = all(np.array_equal(getattr(fits[0], name), getattr(fits[1], name))
                   for name in ("indices", "labels", "inertia", "n_distances"))
        yield Row(f"11: blobs, {n:,} x 100, k = {k}: results that two threads change",
                  int(not same), 0)


GROUPS = {"kernel": kernel, "race": race, "distances": distances, "planes": planes,
          "promises": promises, "table": table, "nasty": nasty, "batch": batch, "growth": growth,
          "memory": held, "threads": threads}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small data")
    parser.add_argument("--goals", nargs="+", default=list(GROUPS), choices=list(GROUPS),
                        metavar="WORD", help=f"groups of rows: {', '.join(GROUPS)}")
    options = parser.parse_args(arguments)
    print(f"{'goal':<80} {'measured':>9} {'at most':>9}")
    for name in options.goals:
        for row in GROUPS[name](options.quick):
            print(row, flush=True)


if __name__ == "__main__":
    main()
