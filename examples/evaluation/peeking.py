"""How often do repeated looks name a winner between two equal models?

    python examples/evaluation/peeking.py [--runs N] [--items N] [--out peeking.png] [--quick]

Both models are right on half of the items, so any winner is wrong. Two stopping rules:

- The posterior probability that one model is better exceeds .95, with a flat prior; checked after
  every item, after every hundredth, or once, after the last.
- `CountRace` names a winner at delta .05, with ten items per report.

The table and the plot show the share of runs in which a winner was named by then.
"""

import argparse

import numpy as np
from scipy.stats import hypergeom

import pybandit as pb

CHANCE, SURE, DELTA, BATCH = 0.5, 0.95, 0.05, 10
EXACT = 30  # items from which on the normal approximation of the posterior is used


def sure_at(first, second):
    """Return booleans (runs, items): True if the posterior exceeds SURE for one model."""
    n = np.arange(1, first.shape[1] + 1)
    a, b = first.cumsum(axis=1) + 1, second.cumsum(axis=1) + 1  # Beta(a, n + 2 - a)
    mean_a, mean_b = a / (n + 2), b / (n + 2)
    variance = (mean_a * (1 - mean_a) + mean_b * (1 - mean_b)) / (n + 3)
    sure = np.abs(mean_a - mean_b) > 1.6449 * np.sqrt(variance)
    for i in range(min(EXACT, n.size)):
        less = hypergeom.sf(a[:, i] - 1, 2 * n[i] + 2, a[:, i] + b[:, i] - 1, n[i] + 1)
        sure[:, i] = np.maximum(less, 1 - less) > SURE
    return sure


def race_ends(first, second):
    """Return the item at which `CountRace` names a winner, or infinity."""
    race, totals = pb.CountRace(2, delta=DELTA), np.stack([first, second]).cumsum(axis=1)
    for n in range(BATCH, totals.shape[1] + 1, BATCH):
        before = totals[:, n - BATCH - 1] if n > BATCH else 0
        race.tell_counts([BATCH, BATCH], totals[:, n - 1] - before)
        if race.done:
            return n
    return np.inf


def named_by(n_runs, n_items, seed=1):
    """Return the share of runs that have named a winner, after each item, by name."""
    rng = np.random.default_rng(seed)
    first, second = rng.random((2, n_runs, n_items)) < CHANCE
    sure, items = sure_at(first, second), np.arange(1, n_items + 1)
    looks = {"posterior, every item": items > 0, "posterior, every 100": items % 100 == 0,
             "posterior, at the end": items == n_items}
    named = {name: np.maximum.accumulate(sure & at, axis=1).mean(axis=0)
             for name, at in looks.items()}
    ends = np.array([race_ends(*pair) for pair in zip(first, second, strict=True)])
    return named | {"CountRace, every 10": (ends[:, None] <= items).mean(axis=0)}


def draw(named, path):
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    for name, share in named.items():
        axes.plot(np.arange(1, share.size + 1), share, label=name, linewidth=2)
    axes.axhline(DELTA, color="0.5", linestyle=":", linewidth=1)
    axes.set(xlabel="items that both models have answered", ylabel="false winners", ylim=(0, 1))
    axes.set_title("Two equal models: how often a winner is named")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


def main(argv=None):
    options = argparse.ArgumentParser(description="False winners from repeated looks.")
    options.add_argument("--runs", type=int, default=2000)
    options.add_argument("--items", type=int, default=1000)
    options.add_argument("--out", metavar="PNG")
    options.add_argument("--quick", action="store_true", help="50 runs of 200 items")
    arguments = options.parse_args(argv)
    n_runs, n_items = (50, 200) if arguments.quick else (arguments.runs, arguments.items)
    named = named_by(n_runs, n_items)
    marks = [n for n in (10, 100, 300, 1000, 3000) if n <= n_items]
    print(f"{'winners named by item':<24}" + "".join(f"{n:>8,}" for n in marks))
    for name, share in named.items():
        print(f"{name:<24}" + "".join(f"{share[n - 1]:>8.3f}" for n in marks))
    if arguments.out:
        draw(named, arguments.out)


if __name__ == "__main__":
    main()
