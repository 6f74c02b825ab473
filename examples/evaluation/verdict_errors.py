"""Errors at every look, power and items read of verdicts, beside the numbers of their design.

    python examples/evaluation/verdict_errors.py [--runs 2000] [--part PART] [--quick]

Parts are errors, power, graded and tied; by default all of them. `RunningVerdict` receives the
scores of ten items at a time, and its verdict is read after each ten. Two models differ on a share
q of n items; k is the difference in standard errors at the end. A number in parentheses is that of
the design, from other random numbers.
"""

import argparse
import math

import numpy as np
from scipy.special import bdtr, ndtri
from scipy.stats import ttest_1samp

import pybandit as pb

DELTA, STEP = 0.05, 10
# n, share of items with a difference, and the expected errors of McNemar's test looked at once, at
# every ten items, of the plan, and of bets alone that know n
ERRORS = [(100, 0.2, 0.032, 0.077, 0.025, 0.016), (200, 0.2, 0.042, 0.134, 0.036, 0.030),
          (500, 0.2, 0.045, 0.203, 0.033, 0.032), (1000, 0.05, 0.031, 0.158, 0.029, 0.028)]
# n, share, k, and the expected power of McNemar's test and of the plan, and items read
POWER = [(100, 0.2, 2.0, 0.445, 0.415, 97), (100, 0.2, 2.8, 0.779, 0.754, 91),
         (100, 0.2, 4.5, 1.0, 1.0, 64), (200, 0.2, 2.0, 0.470, 0.434, 192),
         (200, 0.2, 2.8, 0.783, 0.753, 176), (200, 0.2, 3.3, 0.904, 0.891, 159),
         (500, 0.2, 2.0, 0.477, 0.442, 480), (500, 0.2, 2.8, 0.779, 0.753, 442),
         (500, 0.2, 4.5, 0.995, 0.993, 285), (1000, 0.05, 2.0, 0.460, 0.432, 959),
         (1000, 0.05, 2.8, 0.766, 0.729, 883)]
TABLES = [((0.70, 0.70, 0.68, 0.62, 0.55), 500, 2.96, 0.020), ((0.70,) * 5, 500, 4.89, 0.095),
          ((0.72, 0.68, 0.66, 0.60, 0.55), 1000, 1.56, 0.0)]


def scores(rng, n, share, k):
    """Return the scores of two models; the first is better by k standard errors."""
    lift = k * math.sqrt(share / n)
    differs, base = rng.random(n) < share, rng.random(n) < 0.5
    wins = rng.random(n) < 0.5 + lift / (2 * share)
    return np.where(differs, wins, base), np.where(differs, ~wins, base)


def mcnemar(a, b):
    """Return the p-value of McNemar's exact test after each item."""
    wins, losses = np.cumsum(a & ~b), np.cumsum(b & ~a)
    return np.minimum(1.0, 2 * bdtr(np.minimum(wins, losses), np.maximum(wins + losses, 1), 0.5))


def first_claim(a, b, planned, final):
    """Return after how many items a run that is looked at every ten names a winner, or infinity."""
    running = pb.evaluation.RunningVerdict(planned=planned, final=final)
    for start in range(0, len(a), STEP):
        running.tell(a[start:start + STEP], b[start:start + STEP])
        if running.result().decision in ("better", "worse"):
            return running.n
    return math.inf


def first_claim_quick(a, b, planned, final):
    """Return the same with few looks: a winner that was named once stays the winner."""
    def claims(n):
        running = pb.evaluation.RunningVerdict(planned=planned, final=final)
        running.tell(a[:n], b[:n])
        return running.result().decision in ("better", "worse")

    if not claims(len(a)):
        return math.inf
    low, high = 0, math.ceil(len(a) / STEP)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if claims(STEP * middle) else (middle, high)
    return min(STEP * high, len(a))


def show_errors(runs):
    print("| no difference: n, q | McNemar's test, once | at every 10 items | plan, at any look | "
          "bets that know n, at any look |\n| --- | ---: | ---: | ---: | ---: |")
    for n, share, *expected in ERRORS:
        rng, found = np.random.default_rng([1, n]), np.zeros(4)
        for _ in range(runs):
            a, b = scores(rng, n, share, 0.0)
            p = mcnemar(a, b)
            found += [p[-1] <= DELTA, (p[STEP - 1::STEP] <= DELTA).any(),
                      first_claim(a, b, n, "exact") <= n, first_claim_quick(a, b, n, "none") <= n]
        cells = (f"{one / runs:.3f} ({was:.3f})" for one, was in zip(found, expected, strict=True))
        print(f"| {n:,}, {share:g} | {' | '.join(cells)} |", flush=True)


def show_power(runs):
    print("| n, q | k | McNemar's test, once | plan | of McNemar's power | items read |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: |")
    for n, share, k, once, plan, items in POWER:
        rng, rejected, reads = np.random.default_rng([2, n, int(10 * k)]), 0, []
        for _ in range(runs):
            a, b = scores(rng, n, share, k)
            rejected += mcnemar(a, b)[-1] <= DELTA
            reads.append(first_claim_quick(a, b, n, "exact"))
        found = np.isfinite(reads).mean()
        print(f"| {n:,}, {share:g} | {k:g} | {rejected / runs:.3f} ({once:.3f}) | {found:.3f} "
              f"({plan:.3f}) | {found * runs / max(rejected, 1):.2f} | "
              f"{np.minimum(reads, n).mean():.0f} ({items}) |", flush=True)


def show_graded(runs):
    """Print errors for differences between the ends of the range, whose mean is 0."""
    def normal(rng, n):
        return np.clip(rng.normal(0.0, 0.2, n), -1.0, 1.0)

    def skewed(rng, n):
        gains = rng.random(n) < 0.02
        return np.where(gains, 0.9, -0.9 * 0.02 / 0.98)

    print("| no difference: n | t-test | plan with `sign-flip` | bets, at any look |\n"
          "| --- | ---: | ---: | ---: |")
    expected = {("near normal", 100): (0.055, 0.037, 0.003),
                ("near normal", 200): (0.043, 0.035, 0.010),
                ("2 % of +.9", 100): (0.117, 0.117, 0.0), ("2 % of +.9", 200): (0.100, 0.100, 0.0)}
    for name, draw in (("near normal", normal), ("2 % of +.9", skewed)):
        for n in (100, 200):
            rng, found = np.random.default_rng([3, n]), np.zeros(3)
            for _ in range(runs):
                d = draw(rng, n)
                flipped = pb.verdict(d, np.zeros(n), value_range=(-1, 1), final="sign-flip", rng=1)
                a, b = np.maximum(d, 0.0), np.maximum(-d, 0.0)
                found += [np.ptp(d) == 0.0 or ttest_1samp(d, 0.0).pvalue <= DELTA,
                          flipped.decision != "undecided",
                          first_claim_quick(a, b, n, "none") <= n]
            cells = (f"{one / runs:.3f} ({was:.3f})"
                     for one, was in zip(found, expected[name, n], strict=True))
            print(f"| {name}, {n} | {' | '.join(cells)} |", flush=True)


def show_tied(runs):
    """Print sizes of tied sets, and how often a best model was left out; correlation .6."""
    print("| accuracies, n | models in the set | a best one left out |\n| --- | ---: | ---: |")
    for rates, n, size, lost in TABLES:
        rng, sizes, misses = np.random.default_rng([4, n, len(set(rates))]), 0, 0
        levels, best = ndtri(rates), np.flatnonzero(np.equal(rates, max(rates)))
        for _ in range(runs):
            common, own = rng.normal(size=(n, 1)), rng.normal(size=(n, len(rates)))
            tied = pb.tied_set(math.sqrt(0.6) * common + math.sqrt(0.4) * own < levels, rng=None)
            sizes += tied.tied.size
            misses += not np.isin(best, tied.tied).all()
        print(f"| {' '.join(f'{rate:.2f}'[1:] for rate in rates)}, {n:,} | {sizes / runs:.2f} "
              f"({size:.2f}) | {misses / runs:.3f} ({lost:.3f}) |", flush=True)


PARTS = {"errors": (show_errors, 1.0), "power": (show_power, 1.0), "graded": (show_graded, 0.2),
         "tied": (show_tied, 0.1)}


def main(runs=2000, part="all", quick=False):
    for name, (show, share) in PARTS.items():
        if part in (name, "all"):
            n_runs = 3 if quick else max(1, round(share * runs))
            print(f"{name}: {n_runs:,} runs per row\n")
            show(n_runs)
            print()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--part", choices=[*PARTS, "all"], default="all")
    parser.add_argument("--quick", action="store_true", help="3 runs per row")
    given = parser.parse_args()
    main(given.runs, given.part, given.quick)
