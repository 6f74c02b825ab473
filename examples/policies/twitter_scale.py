"""Half a million arms: the Twitter experiment of Jun, Jamieson, Nowak & Zhu 2016, Sec. 5.3.

    python examples/policies/twitter_scale.py [--runs N] [--quick] [--out PNG]

Find the 100 of 522,062 users who write most about a topic. A batch is a day on which
60,000 users can be followed, each of them at most r times. A reward is the share of 24 looks
at which a user had written, Binomial(24, mu) / 24. The means replace the data of the paper, of
which three facts are known: each user wrote at least once in 8,928 intervals, all users
707,776 times, and the means of the 100 best add up to .963. mu_i = max(1, a i^-s) / 8928
satisfies all three with s = .5097, a = 476.3.

Gain: sum of the means of the users found, at most .963. Seconds: a whole run, including
rewards and construction of the policy, on one core.
"""

import argparse
import time

import numpy as np
from scipy.optimize import brentq

import pybandit as pb
from pybandit._shared import drawing

N, K, FOLLOWED, LOOKS = 522_062, 100, 60_000, 24
INTERVALS, WRITTEN, BEST_GAIN = 31 * 24 * 12, 707_776, 0.963
BATCHES = (30, 40, 100, 200, 400, 800)
POLICIES = {  # name -> policy of (n, k, b, B, r), and whether r = b
    "RoundRobin": (pb.policies.RoundRobin, False),
    "BatchSAR r=12": (pb.policies.BatchSAR, False),
    "BatchSAR r=b": (pb.policies.BatchSAR, True),
    "BatchHalving r=12": (pb.policies.BatchHalving, False),
    "BatchHalving r=b": (pb.policies.BatchHalving, True),
}
# From an independent implementation, on another power law.
REFERENCE_GAIN = {"RoundRobin": {100: 0.67, 800: 0.92}, "BatchSAR r=12": {100: 0.46, 800: 0.50},
                  "BatchSAR r=b": {100: 0.717}}
REFERENCE_SECONDS = {"BatchSAR r=12": {100: 0.25, 200: 0.19, 400: 0.46, 800: 0.50},
                     "BatchSAR r=b": {100: 0.47, 200: 0.86, 400: 1.5, 800: 3.7}}


def power_law(slope, n=N):
    """Return the means of n users, best first; the K best add up to BEST_GAIN."""
    rank = np.arange(1, n + 1.0) ** -slope
    return np.maximum(1.0, INTERVALS * BEST_GAIN / rank[:K].sum() * rank) / INTERVALS


def user_means():
    """Return the power law for which the users together wrote WRITTEN times."""
    def excess(slope):
        return INTERVALS * power_law(slope).sum() - WRITTEN

    return power_law(brentq(excess, 0.2, 1.5))


def measure(make, repeats, means, sizes, n_batches, n_runs, seed):
    """Return the mean gain, half of its 95 % interval, and seconds per run."""
    k, batch_size = sizes
    best, gains, seconds = np.sort(means)[-k:].sum(), [], []
    for i in range(n_runs):
        rng = np.random.default_rng((seed, i))
        environment = pb.environments.BinomialBandit(rng.permutation(means), trials=LOOKS)
        start = time.perf_counter()
        result = pb.simulate(lambda e: make(e.n_arms, k, batch_size=batch_size,
                                            max_batches=n_batches, max_repeats=repeats),
                             environment, 1, rng=rng, n_threads=1, progress=False)
        seconds.append(time.perf_counter() - start)
        gains.append(best - k * result.mean_regret)
    half = 1.96 * np.std(gains, ddof=1) / n_runs**0.5 if n_runs > 1 else 0.0
    return np.mean(gains), half, np.mean(seconds)


def run(means, sizes, repeats, batches, n_runs, seed):
    """Print the table and return its rows."""
    k, batch_size = sizes
    print(f"{means.size:,} users, k = {k}, b = {batch_size:,}, {n_runs} runs; the maximum gain "
          f"is {np.sort(means)[-k:].sum():.3f}\n")
    print(f"{'':20}{'B':>5}{'gain':>17}{'[reference]':>13}{'seconds':>9}{'[reference]':>13}")
    rows = []
    for name, (make, unlimited) in POLICIES.items():
        found = [measure(make, batch_size if unlimited else repeats, means, sizes, n, n_runs, seed)
                 for n in batches]
        rows.append({"name": name, "batches": batches, "found": found})
        for n, cell in zip(batches, found, strict=True):
            print(line(name, n, *cell, means.size == N), flush=True)
    return rows


def line(name, n_batches, gain, half, seconds, full_size):
    """Format one row of the table."""
    known = REFERENCE_GAIN.get(name, {}).get(n_batches) if full_size else None
    known_seconds = REFERENCE_SECONDS.get(name, {}).get(n_batches) if full_size else None
    return (f"{name:20}{n_batches:>5}{gain:>9.3f} ± {half:.3f}{bracket(known):>13}"
            f"{seconds:>9.2f}{bracket(known_seconds):>13}").rstrip()


def bracket(value):
    return "" if value is None else f"[{value:g}]"


def draw(rows):
    """Plot the gain against the number of batches."""
    lines = [{"label": row["name"], "x": list(row["batches"]),
              "y": [found[0] for found in row["found"]],
              "half": [found[1] for found in row["found"]],
              "reference": [None] * len(row["batches"])} for row in rows]
    return drawing.measured_figure({"users found": lines}, "B, days", "gain")


def main(argv=None):
    parser = argparse.ArgumentParser(description="The Twitter experiment, on synthetic means.")
    parser.add_argument("--runs", type=int, default=10, help="runs per cell (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="2 runs of 5,000 users")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", metavar="PNG", help="file for a plot")
    arguments = parser.parse_args(argv)
    start = time.perf_counter()
    if arguments.quick:
        rows = run(power_law(0.5, 5_000), (20, 600), 12, (30, 100), 2, arguments.seed)
    else:
        rows = run(user_means(), (K, FOLLOWED), 12, BATCHES, arguments.runs, arguments.seed)
    print(f"\n{time.perf_counter() - start:.0f} s")
    if arguments.out:
        drawing.save(draw(rows), arguments.out)
        print(f"plot: {arguments.out}")


if __name__ == "__main__":
    main()
