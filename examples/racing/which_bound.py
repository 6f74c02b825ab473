"""Measure the reads, errors and cost of each bound.

    python examples/racing/which_bound.py [--races N] [--quick] [--write docs/which_bound.md]

Prints the tables of docs/which_bound.md as Markdown; `--write` inserts them between the
markers of that page. Reference values, if there are any, are in brackets.
"""

import argparse
import functools
import math
import re
import time
from pathlib import Path

import numpy as np

import pybandit as pb

N, DELTA = 100_000, 0.05
BOUNDS = {  # name -> (function of delta and range that returns the bound, variance)
    "normal": (lambda delta, span: pb.racing.NormalBound(delta=delta), "pairwise"),
    "student": (lambda delta, span: pb.racing.StudentBound(delta=delta), "pairwise"),
    "ebs": (lambda delta, span: pb.racing.EBSBound(delta=delta, value_range=span), "pairwise"),
    "betting": (lambda delta, span: pb.racing.BettingBound(delta=delta, value_range=span),
                "pairwise"),
    "ebmix": (lambda delta, span: pb.racing.BettingBound(
        delta=delta, value_range=span, bets=pb.betting.Bets("ebmix")), "pairwise"),
    "hybrid": (lambda delta, span: pb.racing.BettingBound(
        delta=delta, value_range=span, bets=pb.betting.Bets("product", hybrid=True)), "pairwise"),
    "normal, marginal": (lambda delta, span: pb.racing.NormalBound(delta=delta, convention="union"),
                         "marginal"),
    "ebs, marginal": (lambda delta, span: pb.racing.EBSBound(delta=delta, value_range=span),
                      "marginal"),
}
# Mean items per arm: (ebs, normal, betting); the first two with marginal variances.
REFERENCES = {
    "Bernoulli .55, .45": (3932, 1170, 446),
    "Bernoulli .525, .475": (11981, 4538, 1636),
    "Bernoulli .505, .495": (85542, 60754, 28792),
    "sd .1, gap .01, independent": (22364, 4747, 1819),
    "sd .1, gap .01, correlation .9": (18924, 4168, 674),
    "20 Bernoulli, .75 to .25": (5550, 2609, 799),
}
FRACTIONS = (0.001, 0.01, 0.1, 0.5, 0.9)
METHODS = ("hoeffding", "empirical-bernstein", "betting", "asymptotic")
# Half-widths at FRACTIONS; EBS and normal with a union over ten doubling looks.
WIDTHS = {
    "uniform": {"EBS": (.451, .0694, .0141, .00424, .00156),
                "normal": (.081, .0256, .0077, .00256, .00085),
                "betting": (.092, .0293, .0084, .00262, .00094)},
    "Bernoulli(.1)": {"EBS": (.450, .0702, .0144, .00438, .00161),
                      "betting": (.088, .0285, .0091, .00302, .00099)},
    "log-normal": {"EBS": (.371, .0451, .0068, .00182, .00076),
                   "betting": (.047, .0076, .0028, .00090, .00031)},
}


def bernoulli(*means):
    """Return a function that makes columns with exactly the shares `means` of ones, shuffled."""
    def make(n, rng):
        return np.column_stack([rng.permutation(np.arange(n) < round(p * n)) for p in means]) * 1.0
    return make


def normal_pair(gap, sd, correlation=0.0):
    """Return a function that makes two columns around .5, clipped to [0, 1].

    Means, standard deviations and correlation are exact before clipping.
    """
    def make(n, rng):
        z = rng.normal(size=(n, 2))
        z -= z.mean(axis=0)
        z = np.linalg.qr(z)[0] * math.sqrt(n)
        z[:, 1] = correlation * z[:, 0] + math.sqrt(1 - correlation**2) * z[:, 1]
        return np.clip(0.5 + sd * z + gap * np.array([0.5, -0.5]), 0.0, 1.0)
    return make


def rare(n, rng):
    """Return rewards of two arms: 1 on 3 % of the items and 0 on the others; always .02."""
    return np.column_stack([bernoulli(0.03)(n, rng), np.full(n, 0.02)])


def tie(n, rng):
    """Return ten arms and a tenth of the items; one arm is .005 better, which is hard to see."""
    return bernoulli(0.505, *[0.5] * 9)(n // 10, rng)


# Name -> (population, declared range of rewards, delta).
CASES = {
    "Bernoulli .55, .45": (bernoulli(0.55, 0.45), 1, DELTA),
    "Bernoulli .525, .475": (bernoulli(0.525, 0.475), 1, DELTA),
    "Bernoulli .505, .495": (bernoulli(0.505, 0.495), 1, DELTA),
    "sd .1, gap .01, independent": (normal_pair(0.01, 0.1), 1, DELTA),
    "sd .1, gap .01, correlation .9": (normal_pair(0.01, 0.1, 0.9), 1, DELTA),
    "20 Bernoulli, .75 to .25": (bernoulli(*np.linspace(0.75, 0.25, 20)), 1, DELTA),
    "sd .02, gap .01": (normal_pair(0.01, 0.02), 1, DELTA),
    "sd .02, gap .002": (normal_pair(0.002, 0.02), 1, DELTA),
    "Bernoulli .55, .45, range given as 10": (bernoulli(0.55, 0.45), 10, DELTA),
    "3% of ones against .02, delta .1": (rare, 1, 0.1),
    "10 Bernoulli, .505 and nine .5, N / 10 items, delta .1": (tie, 1, 0.1),
}


def races(rewards, bound, variance, n_races, seed):
    """Return mean items per arm, and the share of wrong winners, over orders of the items."""
    best, n_arms = rewards.sum(axis=0).argmax(), rewards.shape[1]
    looks = pb.racing.Looks(variance=variance, max_fraction=1.0)
    results = [pb.race(rewards, bound=bound, looks=looks,
                       rng=np.random.default_rng((seed, i))) for i in range(n_races)]
    return (np.mean([result.n_evaluations / n_arms for result in results]),
            np.mean([result.best != best for result in results]))


def race_tables(n, n_races, seed):
    """Return Markdown tables of items per arm and of errors, per bound and population."""
    read, wrong = [], []
    for name, (make, span, delta) in CASES.items():
        rewards = make(n, np.random.default_rng(seed))
        found = [races(rewards, bound(delta, float(span)), variance, n_races, seed)
                 for bound, variance in BOUNDS.values()]
        ebs, normal, betting = REFERENCES.get(name, (None,) * 3) if n == N else (None,) * 3
        known = {"ebs, marginal": ebs, "normal, marginal": normal, "betting": betting}
        read.append([name, *(f"{items:,.0f}{bracket(known.get(key), ',')}"
                             for key, (items, _) in zip(BOUNDS, found, strict=True))])
        wrong.append([name, *(f"{error:.3f}" for _, error in found)])
    return (markdown(["mean items per arm", *BOUNDS], read),
            markdown(["share of wrong winners", *BOUNDS], wrong))


def bracket(value, form):
    return "" if value is None else f" [{value:{form}}]"


def markdown(head, rows):
    """Return a Markdown table; the first column is aligned left, the others right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cost_table(n, seed):
    """Return a Markdown table of ns per arm and item, for ten arms near a tie."""
    rewards = bernoulli(*np.linspace(0.505, 0.495, 10))(n, np.random.default_rng(seed))
    row = ["ns per arm and item"]
    for bound, variance in BOUNDS.values():
        run = functools.partial(pb.race, rewards, bound=bound(DELTA, 1.0),
                                looks=pb.racing.Looks(variance=variance))
        run(rng=seed)
        start, evaluations = time.process_time(), 0
        for i in range(10):
            evaluations += run(rng=i).n_evaluations
        row.append(f"{(time.process_time() - start) / evaluations * 1e9:.1f}")
    return markdown(["cost", *BOUNDS], [row])


def populations(n, rng):
    """Return name -> values in [0, 1], distributed as for the reference values."""
    skewed = rng.lognormal(size=n)
    top = np.quantile(skewed, 0.999)
    return {"uniform": rng.random(n), "Bernoulli(.1)": bernoulli(0.1)(n, rng)[:, 0],
            "log-normal": np.minimum(skewed, top) / top}


def half_widths(values, method, n_orders, seed):
    """Return the median half-width of the 95% confidence sequence at FRACTIONS of the values."""
    at = np.array([max(2, round(f * values.size)) for f in FRACTIONS]) - 1
    rng, widths = np.random.default_rng(seed), []
    for _ in range(n_orders):
        bounds = pb.confidence_sequence(rng.permutation(values)[:at[-1] + 1],
                                        population_size=values.size,
                                        method=method)
        widths.append((bounds.upper[at] - bounds.lower[at]) / 2)
    return np.median(widths, axis=0)  # intervals of one order in twenty may miss the mean


def width_table(n, n_orders, seed):
    """Return a Markdown table of half-widths per method, followed by the reference values."""
    rows = []
    for name, values in populations(n, np.random.default_rng(seed)).items():
        for method in METHODS:
            widths = half_widths(values, method, n_orders, seed)
            rows.append([f"{name}: {method}", *(f"{width:.3g}" for width in widths)])
        for known, widths in WIDTHS[name].items() if n == N else ():
            rows.append([f"[{name}: {known}]", *(f"[{width:g}]" for width in widths)])
    return markdown(["half-width at n/N", *(f"{f:g}" for f in FRACTIONS)], rows)


def write(path, tables):
    """Insert each table between its markers in the page."""
    page = Path(path).read_text()
    for name, table in tables.items():
        pattern = re.compile(f"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not pattern.search(page):
            raise SystemExit(f"{path} has no markers <!-- {name} --> and <!-- end -->")
        page = pattern.sub(lambda found, table=table: found[1] + table + "\n" + found[2], page)
    Path(path).write_text(page)


def main(argv=None):
    parser = argparse.ArgumentParser(description="Measure the tables of docs/which_bound.md.")
    parser.add_argument("--races", type=int, default=1000,
                        help="races per cell (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="5 races of 2,000 items")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", metavar="PAGE", help="page in which to replace the tables")
    arguments = parser.parse_args(argv)
    n, n_races = (2_000, 5) if arguments.quick else (N, arguments.races)
    start = time.perf_counter()
    tables = {}
    tables["items"], tables["errors"] = race_tables(n, n_races, arguments.seed)
    tables["cost"] = cost_table(n, arguments.seed)
    tables["widths"] = width_table(n, max(1, n_races // 50), arguments.seed)
    for table in tables.values():
        print(table, end="\n\n")
    print(f"N = {n:,}, {n_races:,} races per cell; {time.perf_counter() - start:.0f} s")
    if arguments.write:
        write(arguments.write, tables)


if __name__ == "__main__":
    main()
