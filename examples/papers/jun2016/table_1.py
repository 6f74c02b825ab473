"""Table 1 of Jun et al. 2016: the speedup of BatchRacing by batches.

    python examples/papers/jun2016/table_1.py [--quick] [--runs N] [--save PNG]

A hundred Bernoulli arms, the ten best wanted, delta = .1. Speedup: batches of one
pull over batches of b pulls, at most r of one arm. In each run the j-th reward of an
arm is the same for every (b, r): each arm has a table of rewards as long as theory
bounds its pulls, 16.6 million rewards in all for Linear (a process of 330 MB, four
seconds a run). In brackets: the printed digits, and the values of an independent
implementation with the standard deviation of the mean of ten runs.
"""

import numpy as np
from setting import DELTA, MEANS, Figure, K, N, bracket

import pybandit as pb
from pybandit._shared import drawing

# (b, r): theory and actual as printed, actual of the independent implementation and the
# standard deviation of a mean of ten runs; first Linear, then Sparse.
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


def theory_speedup(means, k, batch_size, max_repeats):
    """Return the speedup by Theorem 1: batches of one pull over batches of b."""
    one, many = (pb.bounds.batch_racing_batches(means, k, delta=DELTA, batch_size=b, max_repeats=r)
                 for b, r in ((1, 1), (batch_size, max_repeats)))
    return one / many


def measure(means, k, settings, n_runs, seed):
    """Return the batches of each run and setting, and the number of wrong answers.

    The first setting is (1, 1); the k best arms are the first ones.
    """
    lengths = pb.bounds.batch_racing_pulls(means, k, delta=DELTA).astype(int)
    lengths += max(b for b, _ in settings)
    batches, wrong = np.empty((n_runs, len(settings))), 0
    worst = np.sort(means)[-k:].min()
    for i in range(n_runs):
        rng = np.random.default_rng((seed, i))
        table = pb.environments.TableBandit(
            [rng.random(length) < p for p, length in zip(means, lengths, strict=True)])
        for j, (b, r) in enumerate(settings):
            policies = []

            def make(environment, b=b, r=r, policies=policies):
                policies.append(pb.policies.BatchRacing(environment.n_arms, k, delta=DELTA,
                                                        batch_size=b, max_repeats=r))
                return policies[-1]

            result = pb.simulate(make, table, 1, n_threads=1, progress=False)
            batches[i, j] = result.batches[0]
            if (policies[-1].pulls > lengths).any():
                raise RuntimeError("a table of rewards was too short")
            wrong += bool((means[policies[-1].recommend()] < worst).any())
    return batches, wrong


def run(instances, k, settings, n_runs, seed):
    """Print the table; return its rows."""
    rows = []
    for name, means in instances.items():
        column = list(MEANS).index(name)
        batches, wrong = measure(means, k, [(1, 1), *settings], n_runs, seed)
        print(f"{name}: {batches[:, 0].mean():,.0f} batches of one pull in {n_runs} runs; "
              f"{wrong} wrong answers")
        print(f"{'':8}{'b':>4}{'r':>4}{'theory':>9}{'[paper]':>9}{'actual':>9}{'[paper]':>9}"
              f"{'[reference, sd]':>20}")
        for j, (b, r) in enumerate(settings, 1):
            known = KNOWN[b, r][column] if means.size == N else (None,) * 4
            actual = batches[:, 0].mean() / batches[:, j].mean()
            rows.append({"name": name, "b": b, "r": r, "actual": actual, "known": known,
                         "theory": theory_speedup(means, k, b, r)})
            print(line(rows[-1]), flush=True)
    return rows


def line(row):
    """Return one row of the table."""
    theory, actual, reference, deviation = row["known"]
    beside = "" if reference is None else f"[{reference:.3f}, {deviation:.3f}]"
    return (f"{row['name']:8}{row['b']:>4}{row['r']:>4}{row['theory']:>9.2f}"
            f"{bracket(theory, '.2f'):>9}{row['actual']:>9.3f}{bracket(actual, '.2f'):>9}"
            f"{beside:>20}").rstrip()


def draw(rows):
    """Plot the speedup against r: one panel per instance, one line per batch size."""
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
        "r, pulls of one arm per batch", "speedup (rings: theory)", log=True)


def main(argv=None):
    figure = Figure(__doc__, runs=(10, 1), arguments=argv)
    settings = [(4, 1), (16, 2), (64, 16), (64, 32)] if figure.quick else list(KNOWN)
    instances = {"Sparse": MEANS["Sparse"]} if figure.quick else MEANS
    rows = run(instances, K, settings, figure.runs, figure.seed)
    printed = [(theory_speedup(means, K, b, r), KNOWN[b, r][column][0])
               for column, means in enumerate(MEANS.values()) for b, r in KNOWN]
    digits = sum(f"{ours:.2f}" == f"{paper:.2f}" for ours, paper in printed)
    figure.claim("Theorem 1 gives the theory columns", "24 entries", f"{digits} equal",
                 digits == 24, digits == 24)
    furthest = max(abs(row["actual"] / row["known"][1] - 1) for row in rows)
    figure.claim("Batches of b shorten the race by the printed factors",
                 "2.74 to 63.99", f"within {100 * furthest:.1f} %",
                 all(row["actual"] > 1 for row in rows), furthest < 0.03)
    slack = max(abs(row["actual"] / row["theory"] - 1) for row in rows)
    figure.claim("Theory matches the measured speedup extremely well", "within 9 %",
                 f"within {100 * slack:.1f} %", slack < 0.2, slack < 0.12)
    figure.end(lambda: draw(rows))


if __name__ == "__main__":
    main()
