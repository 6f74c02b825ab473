"""Power and errors of `pb.verdict` beside McNemar's exact test on paired scores of 0 and 1.

    python examples/evaluation/verdict_power.py [--runs 1000] [--seed 77] [--quick]

Two models differ on a share q of n items; k is the difference in standard errors. "at every 10"
looks at McNemar's test at level .05 after every ten items, and counts a run if any look rejects.
"""

import argparse
import math

import numpy as np
from scipy.special import bdtr

import pybandit as pb

SETTINGS = [(100, 0.2), (200, 0.2), (500, 0.2), (1000, 0.05)]
EFFECTS = [2.0, 2.8, 3.3]


def scores(rng, n, share, k):
    """Return the scores of two models; the first wins more often by k standard errors."""
    lift = k * math.sqrt(share / n)
    differs, base = rng.random(n) < share, rng.random(n) < 0.5
    wins = rng.random(n) < 0.5 + lift / (2 * share)
    return np.where(differs, wins, base), np.where(differs, ~wins, base)


def mcnemar(n_wins, n_losses):
    """Return the two-sided p-value of McNemar's exact test."""
    k = n_wins + n_losses
    return np.minimum(1.0, 2 * bdtr(np.minimum(n_wins, n_losses), np.maximum(k, 1), 0.5))


def measured(seed, n, share, k, n_runs):
    """Return the shares of runs in which the test, its looks and the verdict find a winner."""
    rng, found = np.random.default_rng([seed, n, int(10 * k)]), np.zeros(3)
    for _ in range(n_runs):
        a, b = scores(rng, n, share, k)
        wins, losses = np.cumsum(a & ~b), np.cumsum(b & ~a)
        p = mcnemar(wins, losses)
        found += [p[-1] <= 0.05, (p[9::10] <= 0.05).any(),
                  pb.verdict(a, b, rng=None).decision in ("better", "worse")]
    return found / n_runs


def main(runs=1000, seed=77):
    print("| n, q | k | McNemar's test, looked at once | `verdict` |")
    print("| --- | ---: | ---: | ---: |")
    for n, share in SETTINGS:
        for k in EFFECTS:
            once, _, ours = measured(seed, n, share, k, runs)
            print(f"| {n:,}, {share:g} | {k:g} | {once:.3f} | {ours:.3f} |")
    print("\nno difference | once | at every 10 | `verdict` at any look")
    for n, share in SETTINGS:
        once, looks, ours = measured(seed, n, share, 0.0, runs)
        print(f"{n:,}, {share:g} | {once:.3f} | {looks:.3f} | {ours:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--quick", action="store_true", help="5 runs")
    given = parser.parse_args()
    main(5 if given.quick else given.runs, given.seed)
