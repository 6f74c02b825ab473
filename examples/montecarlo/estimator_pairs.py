"""Two estimators of one number: the best policy by variances (Neufeld et al. 2014, Figure 1).

    python examples/montecarlo/estimator_pairs.py [--runs N] [--quick] [--out PNG]

Values are 1/2 + s_k (Z - 1/2), Z a fair coin, with variances V1 and V1 + gap; rewards are 1 - X^2,
as in the paper. The regret is n^2 times the squared error of the pooled mean minus that of the
better estimator alone. In brackets: reference values of an independent implementation.
"""

import argparse
import functools
import time

import numpy as np
from estimator_policies import PAPER, excess, measure

import pybandit as pb
from pybandit._shared import drawing
from pybandit._shared.drawing import COLOURS, new_figure, tidy

FIRST = (0.001, 0.005, 0.01, 0.03, 0.05, 0.1, 0.2)
GAPS = (0.001, 0.003, 0.005, 0.01, 0.03, 0.05, 0.1)
# (V1, gap): mean and half-width of the 95 % interval by policy, n = 1e5
REFERENCE = {
    (0.001, 0.005): ((193.6, 0.4), (75.2, 1.0), (39.3, 1.0), (154.6, 0.7), (112, 10)),
    (0.05, 0.05): ((269, 5), (110, 2.5), (59.2, 2.1), (114.6, 3.3), (42.6, 5.3)),
    (0.2, 0.05): ((265, 7), (160, 5), (106, 5), (129, 5), (48.1, 5.6)),
}
FIGURE_1 = ("UCB1", "UCB-V", "KL-UCB", "Thompson")


def pair(first, gap):
    """Return two scaled Bernoulli estimators of 1/2."""
    variances = np.array([first, first + gap])
    return pb.environments.ScaledBernoulliBandit(0.5, 2 * np.sqrt(variances), 0.5), variances


def regret(name, first, gap, n, n_runs, seed):
    environment, variances = pair(first, gap)
    return measure(name, environment, n_runs, seed, functools.partial(excess, variances),
                   value_range=(0.0, 1.0), budget=n)


def print_reference(n, n_runs, seed):
    """Print regrets and reference values; count how many agree."""
    print(f"regret, n = {n:,}, {n_runs:,} runs [reference]")
    print(f"{'V1, gap':>16}   " + "".join(f"{name:<22}" for name in PAPER))
    hits = []
    for cell, known in REFERENCE.items():
        text = ""
        for name, (mean, half) in zip(PAPER, known, strict=True):
            value, error = regret(name, *cell, n, n_runs, seed)
            hits.append(abs(value - mean) <= np.hypot(error, half))
            text += f"{f'{value:.1f}±{error:.1f} [{mean}±{half}]':<22}"
        print(f"{cell!s:>16}   {text}", flush=True)
    print(f"{sum(hits)} of {len(hits)} within both intervals")


def winners(first, gaps, n, n_runs, seed):
    """Return regrets, shape (policies, gaps, first); NaN if the second variance exceeds 1/4."""
    regrets = np.full((len(FIGURE_1), len(gaps), len(first)), np.nan)
    for i, name in enumerate(FIGURE_1):
        for j, gap in enumerate(gaps):
            for k, v in enumerate(first):
                if v + gap <= 0.25 + 1e-12:
                    regrets[i, j, k], _ = regret(name, v, gap, n, n_runs, seed)
    return regrets


def print_winners(regrets, first, gaps):
    print("\nleast regret of UCB1, UCB-V, KL-UCB, Thompson")
    print(f"{'gap, V1':>10}" + "".join(f"{v:>10}" for v in first))
    for j in reversed(range(len(gaps))):
        row = [FIGURE_1[np.argmin(column)] if np.isfinite(column).all() else "-"
               for column in regrets[:, j].T]
        print(f"{gaps[j]:>10}" + "".join(f"{name:>10}" for name in row))


def picture(regrets, first, gaps, path):
    """Plot the winner of each cell, and the loss of the runner-up."""
    figure, axes = new_figure(5.4, 4.0)
    axis = axes[0, 0]
    for j in range(len(gaps)):
        for k in range(len(first)):
            column = regrets[:, j, k]
            if np.isfinite(column).all():
                best = int(np.argmin(column))
                axis.add_patch(_tile(k, j, COLOURS[best]))
                axis.text(k, j, f"{column[best]:.0f}", ha="center", va="center", fontsize=7,
                          color="white")
    axis.set_xlim(-0.5, len(first) - 0.5)
    axis.set_ylim(-0.5, len(gaps) - 0.5)
    axis.set_xticks(range(len(first)), first)
    axis.set_yticks(range(len(gaps)), gaps)
    axis.set_xlabel("variance of the better estimator", fontsize=9)
    axis.set_ylabel("additional variance of the other", fontsize=9)
    for i, name in enumerate(FIGURE_1):
        axis.plot([], [], "s", color=COLOURS[i], label=name)
    axis.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    axis.set_title("least regret", fontsize=10, loc="left")
    tidy(axis)
    drawing.save(figure, path)
    print(f"picture: {path}")


def _tile(x, y, colour):
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.48, y - 0.48), 0.96, 0.96, color=colour, lw=0)


def main(argv=None):
    parser = argparse.ArgumentParser(description="The best policy for two estimators.")
    parser.add_argument("--runs", type=int, default=200, help="runs per cell (default %(default)s)")
    parser.add_argument("--budget", type=int, default=100_000, help="runs of the estimators")
    parser.add_argument("--quick", action="store_true", help="4 runs, 3 x 3 cells, n = 1,000")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", metavar="PNG", help="file for a plot")
    arguments = parser.parse_args(argv)
    n, n_runs, first, gaps = arguments.budget, arguments.runs, FIRST, GAPS
    if arguments.quick:
        n, n_runs, first, gaps = 1000, 4, FIRST[::3], GAPS[::3]
    start = time.perf_counter()
    print_reference(n, n_runs, arguments.seed)
    regrets = winners(first, gaps, n, n_runs, arguments.seed)
    print_winners(regrets, first, gaps)
    print(f"\n{time.perf_counter() - start:.0f} s")
    if arguments.out:
        picture(regrets, first, gaps, arguments.out)


if __name__ == "__main__":
    main()
