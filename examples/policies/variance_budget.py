"""The best of K arms within n pulls when noise differs: Lalitha et al. 2023, Figures 2 and 3.

    python examples/policies/variance_budget.py [--runs N] [--quick] [--out PNG]

Means are 1 - sqrt(i / K) and rewards normal. Every other arm has variance .9 mean^2 + .1, the
others .1; means and variances are perturbed in every run. In setting A the first arm, which is
most often the best, has little noise; in setting B it has much, which agrees with the paper's
description of its figures. The tables show probabilities of error; in brackets: reference values
of an independent implementation, 2,000 runs (95 % half-width .004 to .022).
"""

import argparse
import time

from budget_policies import SETTINGS, arms, once_a_run, run_table, save

import pybandit as pb

BUDGETS, SIZES = (1000, 2000, 5000, 10_000), (32, 40, 48, 56, 64)
# K = 64, by setting and policy, at the four budgets
FIGURE_2 = {
    "A": {
        "Uniform": (0.499, 0.339, 0.1895, 0.1155),
        "SequentialHalving": (0.1045, 0.071, 0.0535, 0.034),
        "SHVar": (0.1735, 0.116, 0.053, 0.032),
        "SHAdaVar": (0.108, 0.0895, 0.054, 0.0365),
        "SHAdaVar, reuse": (0.092, 0.059, 0.0285, 0.0215),
        "GapE": (0.108, 0.05, 0.0275, 0.018),
        "GapEV": (0.4325, 0.2585, 0.139, 0.085),
        "VBR": (0.164, 0.0865, 0.044, 0.0225),
    },
    "B": {
        "Uniform": (0.4815, 0.3625, 0.24, 0.159),
        "SequentialHalving": (0.502, 0.304, 0.1225, 0.058),
        "SHVar": (0.2685, 0.167, 0.0735, 0.046),
        "SHAdaVar": (0.4345, 0.2525, 0.083, 0.0495),
        "SHAdaVar, reuse": (0.2785, 0.137, 0.0495, 0.0255),
        "GapE": (0.344, 0.1765, 0.061, 0.028),
        "GapEV": (0.4455, 0.348, 0.1955, 0.11),
        "VBR": (0.235, 0.113, 0.0545, 0.0365),
    },
}
# n = 5,000, at K = 32, 40, 48, 56; see above for 64
FIGURE_3 = {
    "A": {
        "Uniform": (0.039, None, 0.095, None),
        "SequentialHalving": (0.014, None, 0.03, None),
        "SHVar": (0.0115, None, 0.027, None),
        "SHAdaVar": (0.0115, None, 0.028, None),
        "SHAdaVar, reuse": (0.005, None, 0.0145, None),
        "GapE": (0.005, None, 0.0135, None),
        "GapEV": (0.024, None, 0.0735, None),
        "VBR": (0.0105, None, 0.0235, None),
    },
    "B": {
        "Uniform": (0.0675, None, 0.1565, None),
        "SequentialHalving": (0.025, 0.048, 0.069, 0.095),
        "SHVar": (0.0195, 0.029, 0.045, 0.055),
        "SHAdaVar": (0.021, 0.037, 0.0485, 0.064),
        "SHAdaVar, reuse": (0.0085, None, 0.0225, None),
        "GapE": (0.0115, None, 0.0275, None),
        "GapEV": (0.05, None, 0.126, None),
        "VBR": (0.008, None, 0.03, None),
    },
}


def reference(setting, figure):
    """Return the reference errors: a dict by policy of dicts by axis value."""
    by_budget = {name: dict(zip(BUDGETS, known, strict=True))
                 for name, known in FIGURE_2[setting].items()}
    if figure == 2:
        return by_budget
    return {name: dict(zip(SIZES, (*known, by_budget[name][5000]), strict=True))
            for name, known in FIGURE_3[setting].items()}


def gaussian(n_arms, setting):
    """Return a function that draws an environment per run."""
    return once_a_run(lambda rng: pb.environments.GaussianBandit(*arms(n_arms, setting, rng)))


def figure_2(setting, n_arms, budgets, n_runs, seed, known):
    environment = gaussian(n_arms, setting)
    return run_table(f"Setting {setting}, K = {n_arms}", "n",
                     {n: (environment, n) for n in budgets}, n_runs, seed, known)


def figure_3(setting, sizes, n, n_runs, seed, known):
    return run_table(f"Setting {setting}, n = {n:,}", "K",
                     {k: (gaussian(k, setting), n) for k in sizes}, n_runs, seed, known)


def main(argv=None):
    parser = argparse.ArgumentParser(description="Budgets and unequal noise.")
    parser.add_argument("--runs", type=int, default=5000,
                        help="runs per cell (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="20 runs of few arms and pulls")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", metavar="PNG", help="file for a plot")
    arguments = parser.parse_args(argv)
    start, panels = time.perf_counter(), {}
    for setting in SETTINGS:
        if arguments.quick:
            panels[setting] = figure_2(setting, 8, (100, 400), 20, arguments.seed, None)
            figure_3(setting, (4, 8), 200, 20, arguments.seed, None)
            continue
        panels[f"setting {setting}, K = 64"] = figure_2(
            setting, 64, BUDGETS, arguments.runs, arguments.seed, reference(setting, 2))
        figure_3(setting, SIZES, 5000, arguments.runs, arguments.seed, reference(setting, 3))
    print(f"\n{time.perf_counter() - start:.0f} s")
    if arguments.out:
        save(panels, "n", arguments.out)


if __name__ == "__main__":
    main()
