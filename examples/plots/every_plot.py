"""Draw every kind of plot once.

    python examples/plots/every_plot.py [--quick] [--out plots.png]

Each `plot` draws on one Axes and returns it: on `ax` if given, else on a new figure of pyplot.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import pybandit as pb

RUNS = 200


def models(n, seed=0):
    """Return a table of scores, 0 or 1, of n models on 3,000 items."""
    rng = np.random.default_rng(seed)
    return rng.random((3000, n)) < np.linspace(0.5, 0.85, n)


def many_policies(n):
    """Return n policies for 16 arms."""
    return {f"top two, beta {beta:.2g}": pb.policies.TopTwo(16, beta=beta, noise_std=0.5)
            for beta in np.linspace(0.1, 0.9, n)}


def compared(n, **options):
    """Return a comparison of n policies."""
    bandit = pb.environments.GaussianBandit(np.linspace(1, 0, 16), noise_std=0.5)
    return pb.compare(many_policies(n), bandit, RUNS, max_pulls=400, rng=1, **options)


def tossed(n):
    """Return n estimators of 1/2 with standard deviations from .1 to 1."""
    def estimator(std):
        def draw(rng):
            return rng.normal(0.5, std)

        draw.__name__ = f"std {std:.2f}"  # the name in the plot
        return draw

    return [estimator(std) for std in np.linspace(0.1, 1.0, n)]


def estimated(n):
    """Return the estimate from n estimators."""
    return pb.combine_estimators(tossed(n), 1000, rng=1)


def above_threshold():
    """Return the models with a mean score above .7."""
    race = pb.BettingThreshold(12, 3000, threshold=0.7, value_range=(0, 1), rng=1)
    return pb.evaluation.run_race(race, models(12))


CHECKPOINTS = [32, 64, 128, 200, 300, 400]
PLOTS = {
    "best_of": lambda ax: pb.best_of(models(12), rng=1).plot(ax),
    "best_of, not decided": lambda ax: pb.best_of(models(12), max_pulls=900, rng=1).plot(ax),
    "run_race, a threshold": lambda ax: above_threshold().plot(ax),
    "compare, few policies": lambda ax: compared(3, checkpoints=CHECKPOINTS).plot(ax),
    "compare, many policies": lambda ax: compared(12, checkpoints=CHECKPOINTS).plot(
        ax, of="regret", logy=True),
    "compare, without checkpoints": lambda ax: compared(12).plot(ax),
    "compare, pulls": lambda ax: compared(3).plot(ax, of="pulls"),
    "simulate, error": lambda ax: compared(1)["top two, beta 0.1"].plot(ax),
    "simulate, pulls": lambda ax: compared(1)["top two, beta 0.1"].plot(ax, of="pulls"),
    "combine_estimators, means": lambda ax: estimated(12).plot(ax),
    "combine_estimators, costs": lambda ax: estimated(12).plot(ax, of="costs"),
    "power_curves": lambda ax: pb.webtests.power_curves(0.04, [0.1, 0.15, 0.25], 5000,
                                                         max_batches=60, rng=1).plot(ax),
    "plan_counts": lambda ax: pb.webtests.plan_counts([0.04, 0.05], 5000, rng=1).plot(ax),
}


def main(argv=None):
    """Draw all kinds on one figure."""
    parser = argparse.ArgumentParser(description="Draw every kind of plot on one figure.")
    parser.add_argument("--quick", action="store_true", help="take a tenth of the runs")
    parser.add_argument("--out", default="plots.png", help="file of the figure")
    options = parser.parse_args(argv)
    global RUNS
    RUNS = RUNS // 10 if options.quick else RUNS
    figure, axes = plt.subplots(-(-len(PLOTS) // 2), 2, figsize=(15, 26), layout="constrained")
    for ax, (title, plot) in zip(axes.ravel(), PLOTS.items(), strict=False):
        plot(ax)
        ax.set_title(f"{title}: {ax.get_title(loc='left')}", loc="left", fontsize=10)
        print(title)
    for ax in axes.ravel()[len(PLOTS):]:
        ax.set_axis_off()
    figure.savefig(options.out, dpi=80)


if __name__ == "__main__":
    main()
