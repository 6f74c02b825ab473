"""Figure 1 of Jun et al. 2016: genes on plates, the microwell experiment of Sec. 5.2.

    python examples/papers/jun2016/figure_1.py [--quick] [--runs N] [--repeats R]
        [--cells k,B ...] [--data FILE] [--save PNG]

12,979 genes, plates of 384 wells, any number of wells per gene, normal rewards of
variance .1. The share of the k best genes that an algorithm misses (false negatives),
with the half-width of its 95 % interval over runs, for k and B in {100, 200, 400, 800}.
The measured means are not public: the stand-in has means -.15 ln(-ln(1 - u)), so few
genes stand out. In brackets: values of an independent implementation on these means,
20 runs.
"""

import numpy as np
from setting import N_GENES, N_WELLS, NOISE_STD, POLICIES, Figure, gene_means, level

import pybandit as pb
from pybandit._shared import drawing

FORMAT = "text file with the mean of one gene per line (log fluorescence, higher is better)"
SIZES = 100, 200, 400, 800
# (k, B): share and half-width of each policy, and the batches that BatchSAR m uses.
REFERENCE = {
    (100, 100): (((0.447, 0.016), (0.344, 0.019), (0.114, 0.011), (0.256, 0.016)), 55),
    (100, 800): (((0.170, 0.012), (0.039, 0.006), (0.010, 0.003), (0.010, 0.002)), 747),
    (400, 200): (((0.326, 0.009), (0.157, 0.006), (0.133, 0.007), (0.175, 0.007)), 147),
    (800, 200): (((0.319, 0.005), (0.207, 0.005), (0.210, 0.004), (0.259, 0.005)), 147),
    (800, 800): (((0.167, 0.003), (0.092, 0.003), (0.048, 0.002), (0.048, 0.002)), 747),
}


def false_negatives(policy, environment):
    """Return the share of the k best arms that were not found."""
    return 1.0 - np.isin(environment.best(policy.k), policy.recommend()).mean()


def measure(make, means, k, n_batches, n_wells, n_runs, seed, repeats=None):
    """Return the mean share of false negatives, half of its 95 % interval, mean batches."""
    result = pb.simulate(
        lambda environment: make(environment.n_arms, k, batch_size=n_wells,
                                 max_batches=n_batches, max_repeats=repeats),
        lambda rng: pb.environments.GaussianBandit(rng.permutation(means), NOISE_STD),
        n_runs, rng=seed, metrics=[false_negatives], progress=False)
    shares = result.metrics["false_negatives"]
    return shares.mean(), 1.96 * shares.std(ddof=1) / n_runs**0.5, result.mean_batches


def run(means, n_wells, cells, n_runs, seed, repeats=None):
    """Print the table; return its rows."""
    print(f"{means.size:,} genes, {n_wells} wells, at most {repeats or n_wells} of a gene, "
          f"{n_runs} runs")
    as_reference = means.size == N_GENES and repeats is None
    print(f"{'k':>5}{'B':>5}   " + "".join(f"{name:<22}" for name in POLICIES) + "batches of m")
    rows = []
    for k, n_batches in cells:
        known, used = as_reference and REFERENCE.get((k, n_batches)) or ((None,) * 4, None)
        found = [measure(make, means, k, n_batches, n_wells, n_runs, seed, repeats)
                 for make in POLICIES.values()]
        rows.append({"k": k, "B": n_batches, "found": found, "known": known})
        print(f"{k:>5}{n_batches:>5}   " + "".join(
            f"{cell(*pair):<22}" for pair in zip(found, known, strict=True))
            + f"{found[-1][2]:g}" + ("" if used is None else f" [{used}]"), flush=True)
    return rows


def cell(found, known):
    """Return a share with its interval and the reference."""
    text = f"{found[0]:.3f} ± {found[1]:.3f}"
    return text if known is None else f"{text} [{known[0]:.3f}]"


def draw(rows):
    """Plot false negatives against the number of batches, one panel per k."""
    panels = {}
    for row in rows:
        lines = panels.setdefault(f"k = {row['k']}", [
            {"label": name, "x": [], "y": [], "half": [], "reference": []} for name in POLICIES])
        for line, found, known in zip(lines, row["found"], row["known"], strict=True):
            line["x"].append(row["B"])
            line["y"].append(found[0])
            line["half"].append(found[1])
            line["reference"].append(known and known[0])
    return drawing.measured_figure(panels, "B, batches", "share missed (rings: reference)")


def add(parser):
    parser.add_argument("--repeats", type=int, metavar="R",
                        help="wells of a gene per plate at most (default: all)")
    parser.add_argument("--cells", nargs="+", metavar="k,B",
                        type=lambda text: tuple(map(int, text.split(","))))


def main(argv=None):
    figure = Figure(__doc__, runs=(20, 3), data=FORMAT, add=add, arguments=argv)
    cells = figure.options.cells or (
        [(100, 100), (800, 200), (800, 800)] if figure.quick
        else [(k, n_batches) for k in SIZES for n_batches in SIZES])
    means = gene_means() if figure.data is None else -np.sort(-np.loadtxt(figure.data))
    rows = run(means, N_WELLS, cells, figure.runs, figure.seed, figure.options.repeats)
    shares = np.array([[found[0] for found in row["found"]] for row in rows])
    robin, halving, sar = shares[:, 0], shares[:, 1], shares[:, 2]
    figure.claim("BatchSAR and Halving significantly outperform RoundRobin", "all 16 cells",
                 f"{(np.maximum(halving, sar) < robin).sum()} of {len(rows)} cells, misses "
                 f"{np.mean(sar / robin):.2f} and {np.mean(halving / robin):.2f} times as many",
                 (np.maximum(halving, sar) < robin).all())
    large = np.array([row["B"] == max(n for _, n in cells) for row in rows])
    figure.claim("BatchSAR outperforms Halving in most cases, above all at large budgets",
                 "most cells", f"{(sar < halving).sum()} of {len(rows)} cells; at the largest "
                 f"budget {(sar < halving)[large].sum()} of {large.sum()}",
                 (sar < halving).mean() > 0.5 and (sar < halving)[large].all())
    close = [level(*found[:2], *known) for row in rows
             for found, known in zip(row["found"], row["known"], strict=True) if known]
    if close:
        figure.claim("The shares equal those of an independent implementation", "(reference)",
                     f"{sum(close)} of {len(close)} within three standard errors", all(close))
    figure.end(lambda: draw(rows))


if __name__ == "__main__":
    main()
