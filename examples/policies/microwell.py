"""Genes on plates: the microwell experiment of Jun, Jamieson, Nowak & Zhu 2016, Sec. 5.2.

    python examples/policies/microwell.py [--runs N] [--repeats R] [--quick] [--out PNG]

12,979 genes, plates of 384 wells, any number of wells per gene, normal rewards of
variance 0.1, means -.15 ln(-ln(1 - u)): few genes stand out. The table shows the share of
the k best genes that an algorithm does not find (false negatives), with the half-width
of its 95 % interval over runs; in brackets: reference values of an independent
implementation, 20 runs.
"""

import argparse
import time

import numpy as np

import pybandit as pb
from pybandit._shared import drawing

N, WELLS, NOISE_STD = 12_979, 384, np.sqrt(0.1)
POLICIES = {
    "RoundRobin": pb.policies.RoundRobin,
    "BatchHalving": pb.policies.BatchHalving,
    "BatchSAR m'": pb.policies.BatchSAR,
    "BatchSAR m": lambda *arms, **sizes: pb.policies.BatchSAR(*arms, **sizes, improved=False),
}
# (k, B): reference value and half-width for each policy, and the batches that BatchSAR m uses.
REFERENCE = {
    (100, 100): (((0.447, 0.016), (0.344, 0.019), (0.114, 0.011), (0.256, 0.016)), 55),
    (100, 800): (((0.170, 0.012), (0.039, 0.006), (0.010, 0.003), (0.010, 0.002)), 747),
    (400, 200): (((0.326, 0.009), (0.157, 0.006), (0.133, 0.007), (0.175, 0.007)), 147),
    (800, 200): (((0.319, 0.005), (0.207, 0.005), (0.210, 0.004), (0.259, 0.005)), 147),
    (800, 800): (((0.167, 0.003), (0.092, 0.003), (0.048, 0.002), (0.048, 0.002)), 747),
}


def gene_means(n):
    """Return the means of n genes, best first."""
    return -0.15 * np.log(-np.log1p(-(np.arange(n) + 0.5) / n))


def false_negatives(policy, environment):
    """Return the share of the k best genes that were not found."""
    return 1.0 - np.isin(environment.best(policy.k), policy.recommend()).mean()


def measure(make, means, k, n_batches, n_wells, n_runs, seed, repeats=None):
    """Return the mean share of false negatives, half of its 95 % interval, and mean batches."""
    result = pb.simulate(
        lambda environment: make(environment.n_arms, k, batch_size=n_wells,
                                 max_batches=n_batches, max_repeats=repeats),
        lambda rng: pb.environments.GaussianBandit(rng.permutation(means), NOISE_STD),
        n_runs, rng=seed, metrics=[false_negatives], progress=False)
    shares = result.metrics["false_negatives"]
    return shares.mean(), 1.96 * shares.std(ddof=1) / n_runs**0.5, result.mean_batches


def run(means, n_wells, cells, n_runs, seed, repeats=None):
    """Print the table and return its rows."""
    print(f"{means.size:,} genes, {n_wells} wells, at most {repeats or n_wells} of a gene, "
          f"{n_runs} runs")
    as_reference = means.size == N and repeats is None
    print(f"{'k':>5}{'B':>5}   " + "".join(f"{name:<22}" for name in POLICIES) + "batches of m")
    rows = []
    for k, n_batches in cells:
        known, used = REFERENCE[k, n_batches] if as_reference else ((None,) * 4, None)
        found = [measure(make, means, k, n_batches, n_wells, n_runs, seed, repeats)
                 for make in POLICIES.values()]
        rows.append({"k": k, "B": n_batches, "found": found, "known": known})
        print(f"{k:>5}{n_batches:>5}   " + "".join(
            f"{cell(*pair):<22}" for pair in zip(found, known, strict=True))
            + f"{found[-1][2]:g}" + ("" if used is None else f" [{used}]"), flush=True)
    return rows


def cell(found, known):
    """Format a share with its interval and the reference value."""
    text = f"{found[0]:.3f} ± {found[1]:.3f}"
    return text if known is None else f"{text} [{known[0]:.3f}]"


def draw(rows):
    """Plot the false negatives of each policy, with reference values as rings."""
    lines = []
    for i, name in enumerate(POLICIES):
        lines.append({
            "label": name, "x": [f"{row['k']}, {row['B']}" for row in rows],
            "y": [row["found"][i][0] for row in rows],
            "half": [row["found"][i][1] for row in rows],
            "reference": [row["known"][i] and row["known"][i][0] for row in rows]})
    return drawing.measured_figure({"genes not found": lines}, "k, B",
                                    "share of the k best (rings: reference)")


def main(argv=None):
    parser = argparse.ArgumentParser(description="The microwell experiment.")
    parser.add_argument("--runs", type=int, default=20, help="runs per cell (default %(default)s)")
    parser.add_argument("--repeats", type=int, metavar="R",
                        help="maximum wells per gene on a plate (default: all)")
    parser.add_argument("--quick", action="store_true", help="3 runs of 500 genes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", metavar="PNG", help="file for a plot")
    arguments = parser.parse_args(argv)
    start = time.perf_counter()
    if arguments.quick:
        rows = run(gene_means(500), 32, [(10, 50), (40, 100)], 3, arguments.seed)
    else:
        rows = run(gene_means(N), WELLS, list(REFERENCE), arguments.runs, arguments.seed,
                   arguments.repeats)
    print(f"\n{time.perf_counter() - start:.0f} s")
    if arguments.out:
        drawing.save(draw(rows), arguments.out)
        print(f"plot: {arguments.out}")


if __name__ == "__main__":
    main()
