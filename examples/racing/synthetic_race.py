"""Errors and reads of the race on synthetic factors: Chen & Ghahramani 2016, Sec. 5.1.

    python examples/synthetic_race.py [--draws N] [--quick] [--out PNG]

Factors of mean exactly 0 and deviation sigma, from three distributions; Gumbel
noise, a fresh order of the factors and one race a draw. For each sigma and
delta: the share of wrong winners and the share of the N * D factors read, with
the normal bound on pairwise differences, beside the reference values of
tests/data/synthetic.json (60,000 draws each) where there are any.
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np

import pybandit as pb
from pybandit import datasets, plotting

DISTRIBUTIONS = ("normal", "uniform", "lognormal")
SIGMAS = (1e-1, 1e-3, 1e-4, 1e-5)
DELTAS = (0.001, 0.01, 0.05, 0.1)
REFERENCE = Path(__file__).parents[1] / "tests" / "data" / "synthetic.json"
REFERENCE_SIZE = 100_000, 10


def race_once(factors, log_prior, delta, rng):
    """Race for one draw; return whether it is wrong, and the share of factors read."""
    offsets = log_prior + rng.gumbel(size=log_prior.size)
    result = pb.race(factors, offsets, bound="normal", delta=delta, rng=rng)
    return result.winner != offsets.argmax(), result.n_evaluations / factors.size


def measure(factors, log_prior, delta, n_draws, rng):
    """Share of wrong winners, and mean share read, over `n_draws` races."""
    return np.mean([race_once(factors, log_prior, delta, rng) for _ in range(n_draws)], axis=0)


def wilson_interval(share, n):
    """95% confidence interval of a probability, from a share of n."""
    z2 = 1.96**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return max(0.0, centre - half), centre + half


def reference_values(n_factors, n_states):
    """(distribution, sigma, delta) -> (error, proportion); none at another size."""
    if (n_factors, n_states) != REFERENCE_SIZE or not REFERENCE.exists():
        return {}
    rows = json.loads(REFERENCE.read_text())["rows"]
    return {(row["dist"], row["sigma"], row["delta"]): (row["error"], row["proportion"])
            for row in rows if row["algo"] == "racing_normal_pair_eq5B"}


def run(n_draws, n_factors, n_states, seed):
    """Print the table line by line; return its rows."""
    known = reference_values(n_factors, n_states)
    rng = np.random.default_rng(seed)
    print(f"N = {n_factors:,}, D = {n_states}, {n_draws:,} draws a line; "
          "in brackets: reference\n")
    print(f"{'factors':<11}{'sigma':>7}{'delta':>8}{'wrong winners':>26}{'read':>20}")
    table = []
    for distribution in DISTRIBUTIONS:
        for sigma in SIGMAS:
            factors, log_prior = datasets.synthetic_race(distribution, sigma, n_factors, n_states,
                                                         rng=seed)
            for delta in DELTAS:
                error, proportion = measure(factors, log_prior, delta, n_draws, rng)
                reference = known.get((distribution, sigma, delta), (None, None))
                table.append({
                    "distribution": distribution, "sigma": sigma, "delta": delta,
                    "error": error, "error_interval": wilson_interval(error, n_draws),
                    "proportion": proportion,
                    "reference_error": reference[0], "reference_proportion": reference[1],
                })
                print(line(table[-1]), flush=True)
    return table


def line(row):
    """One row of the table."""
    return (f"{row['distribution']:<11}{row['sigma']:>7g}{row['delta']:>8g}"
            f"{row['error']:>13.5f} {bracket(row['reference_error'], '.5f'):<12}"
            f"{row['proportion']:>10.4f} {bracket(row['reference_proportion'], '.4f')}".rstrip())


def bracket(value, form):
    return "" if value is None else f"[{value:{form}}]"


def main(argv=None):
    parser = argparse.ArgumentParser(description="The synthetic race of Sec. 5.1.")
    parser.add_argument("--draws", type=int, default=500, help="a line (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="20 draws of 2,000 factors")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="synthetic_race.png", metavar="PNG",
                        help="picture (default %(default)s)")
    arguments = parser.parse_args(argv)
    start = time.perf_counter()
    if arguments.quick:
        table = run(20, 2_000, 10, arguments.seed)
    else:
        table = run(arguments.draws, *REFERENCE_SIZE, arguments.seed)
    print(f"\n{time.perf_counter() - start:.0f} s")
    plotting.save(plotting.race_figure(table, DELTAS), arguments.out)
    print(f"picture: {arguments.out}")


if __name__ == "__main__":
    main()
