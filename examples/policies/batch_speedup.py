"""Speedup of BatchRacing by batches: Table 1 of Jun, Jamieson, Nowak & Zhu 2016.

    python examples/policies/batch_speedup.py [--runs N] [--quick] [--out PNG]

A hundred Bernoulli arms, the ten best wanted, delta = .1. The speedup is the number of batches of
one pull over the number of batches of b pulls, at most r of them on one arm. In each run the j-th
reward of an arm is the same for every (b, r): each arm has a table with as many rewards as the
theoretical bound on its pulls, 16.6 million in all for Linear (a process of 330 MB; four seconds
per run). The table shows theory and measurement, the digits printed in the paper, and reference
values of an independent implementation with their standard deviation over ten runs.
"""

import argparse
import math
import time

import numpy as np

import pybandit as pb
from pybandit._shared import drawing

N, K, DELTA = 100, 10, 0.1
MEANS = {"Linear": (99 - np.arange(N)) / 99, "Sparse": np.repeat([0.5, 0.3], [K, N - K])}
# (b, r): theory and actual as printed, reference value of the actual and its standard deviation
# over ten runs; first Linear, then Sparse.
KNOWN = {
    (4, 1): ((2.71, 2.74, 2.710, 0.011), (4.00, 4.00, 3.998, 0.000)),
    (4, 2): ((4.00, 4.00, None, None), (4.00, 4.00, None, None)),
    (16, 1): ((3.14, 3.18, None, None), (16.00, 15.83, None, None)),
    (16, 2): ((6.08, 6.16, 6.068, 0.041), (16.00, 15.95, 15.949, 0.002)),
    (16, 4): ((10.84, 10.96, 10.839, 0.046), (16.00, 15.99, 15.986, 0.002)),
    (16, 8): ((16.00, 16.00, None, None), (16.00, 16.00, None, None)),
    (64, 1): ((3.16, 3.21, 3.155, 0.025), (63.97, 58.28, 58.15, 0.31)),
    (64, 2): ((6.32, 6.41, None, None), (63.97, 61.88, None, None)),
    (64, 4): ((12.55, 12.74, 12.527, 0.095), (63.97, 63.25, 63.248, 0.043)),
    (64, 8): ((24.31, 24.65, None, None), (63.97, 63.73, None, None)),
    (64, 16): ((43.37, 43.83, 43.355, 0.185), (63.97, 63.87, 63.889, 0.015)),
    (64, 32): ((64.00, 63.99, 63.989, 0.003), (63.97, 63.90, 63.918, 0.009)),
}


def most_pulls(means, k, delta):
    """Return T of each arm: with probability 1 - delta no arm has more pulls."""
    ranked = -np.sort(-means)
    gaps = np.where(means >= ranked[k - 1], means - ranked[k], ranked[k - 1] - means)
    omega = math.sqrt(delta / (6 * means.size))
    inside = np.log2(192 * gaps**-2 / omega)
    return 1 + np.floor(64 * gaps**-2 * np.log(2 / omega * inside)).astype(np.int64)


def theory_speedup(pulls, batch_size, max_repeats):
    """Return batches of one pull over batches of b, both as bounded by theory."""
    hardest_first, repeats = -np.sort(-pulls), min(max_repeats, batch_size // 2)
    n, left = pulls.size, hardest_first[batch_size // repeats:]
    batches = (hardest_first[0] / repeats + left.sum() / batch_size + math.log(n)
               + n / batch_size + 1 / repeats + 2)
    return pulls.sum() / batches


def reward_table(means, lengths, rng):
    """Return a TableBandit of Bernoulli rewards."""
    return pb.environments.TableBandit(
        [rng.random(length) < p for p, length in zip(means, lengths.tolist(), strict=True)])


def measure(means, k, settings, n_runs, seed):
    """Return batches by run and setting, and counts of short tables and of wrong answers.

    The first setting is (1, 1); the k best arms are the first ones.
    """
    lengths = most_pulls(means, k, DELTA) + max(b for b, _ in settings)
    batches, short, wrong = np.empty((n_runs, len(settings))), 0, 0
    best = np.sort(means)[-k:].min()
    for i in range(n_runs):
        table = reward_table(means, lengths, np.random.default_rng((seed, i)))
        for j, (b, r) in enumerate(settings):
            policies = []

            def make(environment, b=b, r=r, policies=policies):
                policies.append(pb.policies.BatchRacing(environment.n_arms, k, delta=DELTA,
                                                        batch_size=b, max_repeats=r))
                return policies[-1]

            result = pb.simulate(make, table, 1, n_threads=1, progress=False)
            batches[i, j] = result.batches[0]
            short += bool((policies[-1].pulls > lengths).any())
            wrong += bool((means[policies[-1].recommend()] < best).any())
    return batches, short, wrong


def run(instances, k, settings, n_runs, seed):
    """Print the table and return its rows."""
    rows = []
    for column, (name, means) in enumerate(instances.items()):
        pulls = most_pulls(means, k, DELTA)
        batches, short, wrong = measure(means, k, [(1, 1), *settings], n_runs, seed)
        print(f"{name}: {batches[:, 0].mean():,.0f} batches of one pull in {n_runs} runs; "
              f"{wrong} wrong answers, {short} tables too short")
        print(f"{'':8}{'b':>4}{'r':>4}{'theory':>9}{'[paper]':>9}{'actual':>9}{'[paper]':>9}"
              f"{'[reference, sd]':>20}")
        for j, (b, r) in enumerate(settings, 1):
            known = KNOWN[b, r][column] if means.size == N else (None,) * 4
            actual = batches[:, 0].mean() / batches[:, j].mean()
            rows.append({"name": name, "b": b, "r": r, "actual": actual, "known": known,
                         "theory": theory_speedup(pulls, b, r)})
            print(line(rows[-1]), flush=True)
    return rows


def line(row):
    """Format one row of the table."""
    theory, actual, reference, deviation = row["known"]
    beside = "" if reference is None else f"[{reference:.3f}, {deviation:.3f}]"
    return (f"{row['name']:8}{row['b']:>4}{row['r']:>4}{row['theory']:>9.2f}{bracket(theory):>9}"
            f"{row['actual']:>9.3f}{bracket(actual):>9}{beside:>20}").rstrip()


def bracket(value):
    return "" if value is None else f"[{value:.2f}]"


def draw(rows):
    """Plot speedup against r, one panel per instance and one line per batch size; rings: theory."""
    panels = {}
    for row in rows:
        lines = panels.setdefault(row["name"], {})
        line = lines.setdefault(row["b"], {"label": f"b = {row['b']}", "x": [], "y": [],
                                           "half": 0, "reference": []})
        line["x"].append(row["r"])
        line["y"].append(row["actual"])
        line["reference"].append(row["theory"])
    return drawing.measured_figure(
        {name: list(lines.values()) for name, lines in panels.items()},
        "r, pulls of one arm in a batch", "speedup (rings: theory)", log=True)


def main(argv=None):
    parser = argparse.ArgumentParser(description="Table 1: the speedup by batches.")
    parser.add_argument("--runs", type=int, default=10,
                        help="runs per setting (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="2 runs of 20 arms")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", metavar="PNG", help="file for a plot")
    arguments = parser.parse_args(argv)
    start = time.perf_counter()
    if arguments.quick:
        few = {"Linear": (19 - np.arange(20)) / 19, "Sparse": np.repeat([0.6, 0.2], [2, 18])}
        rows = run(few, 2, [(4, 1), (16, 2), (16, 8)], 2, arguments.seed)
    else:
        rows = run(MEANS, K, list(KNOWN), arguments.runs, arguments.seed)
    print(f"\n{time.perf_counter() - start:.0f} s")
    if arguments.out:
        drawing.save(draw(rows), arguments.out)
        print(f"plot: {arguments.out}")


if __name__ == "__main__":
    main()
