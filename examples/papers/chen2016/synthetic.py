"""Measure errors and reads of races on synthetic factors: Chen & Ghahramani 2016, Sec. 5.1.

    python examples/racing/synthetic_race.py [--draws N] [--quick] [--out PNG]

The factors have mean exactly 0 and standard deviation sigma, from three distributions. Each
draw uses new Gumbel noise, a new order of the factors and one race with the normal bound on
pairwise differences. The table shows, per sigma and delta, the share of wrong winners and the
share of the N * D factors read, next to the reference values of
tests/racing/data/synthetic.json (60,000 draws each) if there are any.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

import pybandit as pb
from pybandit._shared import datasets
from pybandit._shared.drawing import COLOURS, new_figure, save, tidy
from pybandit._shared.intervals import wilson_interval

DISTRIBUTIONS = ("normal", "uniform", "lognormal")
SIGMAS = (1e-1, 1e-3, 1e-4, 1e-5)
DELTAS = (0.001, 0.01, 0.05, 0.1)
REFERENCE = Path(__file__).parents[2] / "tests" / "racing" / "data" / "synthetic.json"
REFERENCE_SIZE = 100_000, 10


def race_once(factors, log_prior, delta, rng):
    """Race for one draw; return whether it is wrong, and the share of factors read."""
    perturbed = log_prior + rng.gumbel(size=log_prior.size)
    result = pb.race(factors, perturbed, bound="normal", delta=delta, rng=rng)
    return result.best != perturbed.argmax(), result.n_evaluations / factors.size


def measure(factors, log_prior, delta, n_draws, rng):
    """Share of wrong winners, and mean share read, over `n_draws` races."""
    return np.mean([race_once(factors, log_prior, delta, rng) for _ in range(n_draws)], axis=0)


def reference_values(n_factors, n_states):
    """Return (distribution, sigma, delta) -> (error, proportion); empty at another size."""
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
                    "error": error,
                    "error_interval": wilson_interval(round(error * n_draws), n_draws),
                    "proportion": proportion,
                    "reference_error": reference[0], "reference_proportion": reference[1],
                })
                print(line(table[-1]), flush=True)
    return table


def line(row):
    """Return one row of the table as text."""
    return (f"{row['distribution']:<11}{row['sigma']:>7g}{row['delta']:>8g}"
            f"{row['error']:>13.5f} {bracket(row['reference_error'], '.5f'):<12}"
            f"{row['proportion']:>10.4f} {bracket(row['reference_proportion'], '.4f')}".rstrip())


def bracket(value, form):
    return "" if value is None else f"[{value:{form}}]"


def race_figure(table, deltas):
    """Plot errors and share read of the synthetic race against sigma.

    Parameters
    ----------
    table : list of dict
        Keys ``distribution``, ``sigma``, ``delta``, ``error``, ``error_interval`` (low, high),
        ``proportion``, and ``reference_error``, ``reference_proportion``, which may be None.
    deltas : sequence of float

    Returns
    -------
    matplotlib.figure.Figure
    """
    distributions = list(dict.fromkeys(row["distribution"] for row in table))
    figure, axes = new_figure(3.6 * len(distributions), 5.8, 2, len(distributions), sharex=True,
                              sharey="row")
    for column, distribution in zip(axes.T, distributions, strict=True):
        for i, (delta, colour) in enumerate(zip(deltas, COLOURS, strict=False)):
            rows = [row for row in table
                    if row["distribution"] == distribution and row["delta"] == delta]
            _draw_errors(column[0], rows, delta, 1.2 ** (2 * i - len(deltas) + 1), colour)
            _draw_proportions(column[1], rows, delta, colour)
        column[0].set_title(f"{distribution} factors", fontsize=10, loc="left")
        column[1].set_xlabel(r"$\sigma$, deviation of the log factors", fontsize=9)
        for axis in column:
            axis.set_xscale("log")
            tidy(axis)
    axes[0, 0].set_yscale("symlog", linthresh=1e-4, linscale=0.5)
    axes[0, 0].set_ylim(-2e-5, 0.3)
    axes[0, 0].set_ylabel("wrong winners, 95 % (dotted: $\\delta$)", fontsize=9)
    axes[1, 0].set_yscale("log")
    axes[1, 0].set_ylabel("share read (rings: reference)", fontsize=9)
    axes[1, 0].legend(fontsize=8, frameon=False)
    return figure


def _draw_errors(axis, rows, delta, shift, colour):
    """Draw points with intervals, shifted sideways so that they do not overlap."""
    x = [shift * row["sigma"] for row in rows]
    error = np.array([row["error"] for row in rows])
    low, high = np.transpose([row["error_interval"] for row in rows])
    axis.errorbar(x, error, [error - low, high - error], fmt="o", ms=3, lw=1, color=colour)
    _draw_rings(axis, x, rows, "reference_error", colour)
    axis.axhline(delta, color=colour, lw=0.8, ls=":")


def _draw_proportions(axis, rows, delta, colour):
    x = [row["sigma"] for row in rows]
    axis.plot(x, [row["proportion"] for row in rows], "o-", ms=3, lw=1, color=colour,
              label=rf"$\delta$ = {delta:g}")
    _draw_rings(axis, x, rows, "reference_proportion", colour)


def _draw_rings(axis, x, rows, what, colour):
    known = [(place, row[what]) for place, row in zip(x, rows, strict=True)
             if row[what] is not None]
    if known:
        axis.plot(*zip(*known, strict=True), "o", ms=8, mfc="none", color=colour)


def main(argv=None):
    parser = argparse.ArgumentParser(description="The synthetic race of Sec. 5.1.")
    parser.add_argument("--draws", type=int, default=500, help="per line (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="20 draws of 2,000 factors")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="synthetic_race.png", metavar="PNG",
                        help="file of the plot (default %(default)s)")
    arguments = parser.parse_args(argv)
    start = time.perf_counter()
    if arguments.quick:
        table = run(20, 2_000, 10, arguments.seed)
    else:
        table = run(arguments.draws, *REFERENCE_SIZE, arguments.seed)
    print(f"\n{time.perf_counter() - start:.0f} s")
    save(race_figure(table, DELTAS), arguments.out)
    print(f"plot: {arguments.out}")


if __name__ == "__main__":
    main()
