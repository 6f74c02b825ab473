"""The figure of a paper: the error of ten policies against the budget, 64 Gaussian arms.

    python examples/simulation/error_against_budget.py [--runs 1000] [--out error.png]

Policies without a budget run once, and are asked at each; the others run with each. Bands: 95 %.
"""

import argparse

import numpy as np

import pybandit as pb
from pybandit._shared.drawing import SEQUENCE, new_figure, save, tidy

K, BUDGETS = 64, [512, 768, 1024, 1536, 2048, 3072, 4096]
ARMS = pb.environments.GaussianBandit(np.linspace(1.0, 0.0, K), 0.25)
GO_ON = {"UCB1": pb.UCB1(K), "EBTC": pb.EBTC(K), "T3C": pb.TopTwo(K, sigma=0.5),
         "EB-TC": pb.TopTwo(K, leader="empirical", sigma=0.5),
         "TTUCB": pb.TopTwo(K, leader="ucb", sigma=0.5)}
PLANNED = {kind.__name__: kind for kind in (
    pb.Uniform, pb.SequentialHalving, pb.SuccessiveRejects, pb.VBR, pb.ContinuousRejects)}


def main(argv=None):
    parser = argparse.ArgumentParser(description="The error of ten policies against the budget.")
    parser.add_argument("--runs", type=int, default=1000, help="of each (%(default)s)")
    parser.add_argument("--out", default="error_against_budget.png")
    options = parser.parse_args(argv)
    once = pb.compare(GO_ON, ARMS, options.runs, rng=1, horizon=BUDGETS[-1], checkpoints=BUDGETS)
    lines = {name: once[name].curve() for name in once}
    each = [pb.compare({name: kind(K, budget) for name, kind in PLANNED.items()}, ARMS,
                       options.runs, rng=1) for budget in BUDGETS]
    for name in PLANNED:
        lines[name] = np.transpose([(one[name].error_probability, *one[name].error_interval)
                                    for one in each])
    figure, ((axis,),) = new_figure(6.4, 4.4)
    print(f"{'error':<20}" + "".join(f"{budget:>8,}" for budget in BUDGETS))
    for j, (name, (error, low, high)) in enumerate(lines.items()):
        colour = SEQUENCE[j % len(SEQUENCE)]
        axis.fill_between(BUDGETS, low, high, color=colour, alpha=0.2, lw=0)
        axis.plot(BUDGETS, error, "-" if name in GO_ON else "--", color=colour, lw=1.4, label=name)
        print(f"{name:<20}" + "".join(f"{share:>8.3f}" for share in error))
    axis.set(xlabel="budget", ylabel="share of runs with an error", xscale="log")
    axis.legend(fontsize=8, frameon=False)
    tidy(axis)
    save(figure, options.out)


if __name__ == "__main__":
    main()
