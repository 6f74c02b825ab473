"""Our variation of Figures 5 and 6 of Lalitha et al. 2023: pulls are whole stars.

    python examples/papers/lalitha2023/star_histograms.py --data CSV [--runs N] [--quick]
        [--save PNG]

This is not an experiment of the paper, which draws continuous entries of a completed
matrix (figure_5.py, figure_6.py). Here a pull of a movie is one of its ratings, 1 to 5
stars. It shows a trap for SHAdaVar: the first 13 ratings of an arm are often all equal,
its estimated variance is then 0, and with reuse it is never rated again.

The CSV has a row per movie and columns c1 to c5, the numbers of users who gave it 1 to 5
stars. Without it a synthetic catalogue is used. In every run means and variances are drawn
as in setting.py. Each arm is matched to the movie closest in mean (0 is three stars) and
variance that no earlier arm took. The tables show probabilities of error.
"""

import argparse
import time

import numpy as np
from setting import BUDGETS, SETTINGS, arms, closest, draw, once_a_run, run_table

import pybandit as pb
from pybandit._shared import drawing

SIZES = 64, 128
STARS = np.arange(-2.0, 3.0)


def load(path):
    """Return the ratings of each movie by stars; shape (movies, 5)."""
    table = np.genfromtxt(path, delimiter=",", names=True)
    return np.stack([table[f"c{stars}"] for stars in range(1, 6)], axis=1)


def invent(n_movies, rng):
    """Return a realistic synthetic catalogue: few movies have many ratings, and tastes differ."""
    n_ratings = 5 + rng.lognormal(3.0, 1.5, n_movies).astype(int)
    centres, spreads = rng.normal(0.2, 0.6, n_movies), rng.uniform(0.3, 1.5, n_movies)
    return np.stack([
        np.bincount(np.clip(np.rint(rng.normal(centre, spread, n)), -2, 2).astype(int) + 2,
                    minlength=5)
        for centre, spread, n in zip(centres, spreads, n_ratings, strict=True)])


class Catalogue:
    """Movies whose ratings are not all equal."""

    def __init__(self, counts):
        self.counts = counts[(counts > 0).sum(axis=1) > 1]
        shares = self.counts / self.counts.sum(axis=1, keepdims=True)
        self.means = shares @ STARS
        self.variances = shares @ STARS**2 - self.means**2

    def closest(self, means, variances):
        """Return for each arm the closest movie that no earlier arm took."""
        return closest(self.means, self.variances, means, variances)

    def environment(self, n_arms, setting):
        """Return a function that draws an environment per run."""
        def draw_arms(rng):
            means, noise_std = arms(n_arms, setting, rng)
            movies = self.closest(means, noise_std**2)
            return pb.environments.EmpiricalBandit(values=STARS, counts=self.counts[movies])

        return once_a_run(draw_arms)


def main(argv=None):
    parser = argparse.ArgumentParser(description="The best movie by whole stars.")
    parser.add_argument("--data", metavar="CSV", help="columns c1 ... c5: ratings of each movie")
    parser.add_argument("--runs", type=int, default=5000,
                        help="runs per cell (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="20 runs of few movies")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", metavar="PNG", help="write the plot here")
    arguments = parser.parse_args(argv)
    start, panels = time.perf_counter(), {}
    if arguments.data:
        catalogue = Catalogue(load(arguments.data))
    else:
        print("No --data: the ratings are synthetic.")
        catalogue = Catalogue(invent(1700, np.random.default_rng(5)))
    print(f"{catalogue.means.size:,} movies whose ratings are not all equal")
    sizes, budgets, n_runs = SIZES, BUDGETS, arguments.runs
    if arguments.quick:
        sizes, budgets, n_runs = (8,), (100, 400), 20
    for n_arms in sizes:
        for setting in SETTINGS:
            environment, title = catalogue.environment(n_arms, setting), f"{setting}, K = {n_arms}"
            panels[title] = run_table(f"Setting {title}", "n",
                                      {n: (environment, n) for n in budgets}, n_runs,
                                      arguments.seed)
    print(f"\n{time.perf_counter() - start:.0f} s")
    if arguments.save:
        drawing.save(draw(panels, "n"), arguments.save)


if __name__ == "__main__":
    main()
