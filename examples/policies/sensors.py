"""Find the correlated sensor with the highest mean in few noisy readings.

    python examples/policies/sensors.py [--data CSV] [--runs N] [--quick] [--out PNG]

Hoffman, Shahriari and de Freitas 2014, section 6.1. Columns of the CSV are sensors, rows are
times. The first two thirds of the rows are history, from which the covariance of the sensors is
computed; in each run one later row holds the true means. A pull reads one sensor, with noise of
5 % of the mean variance. Prior: mean zero after subtracting the overall mean of the history,
covariance eta^2 times the empirical one, eta = 20. For traffic speeds the arm to find is the
slowest one, where the jam is: use --lowest. Without --data the sensors are the pixels of
scikit-learn's digits.

Two tables are printed: the probability of error (95 % half-width below .05 at 400 runs) and the
mean simple regret, in units of the readings.
"""

import argparse
import time

import numpy as np

import pybandit as pb
from pybandit._shared import drawing
from pybandit._shared.optional import require

BUDGETS, ETA, NOISE_SHARE = (25, 100, 400), 20.0, 0.05
POLICIES = ("BayesGap", "GPUCB", "BayesUCB", "GaussianThompson", "ExpectedImprovement",
            "ProbabilityOfImprovement")
INDEPENDENT = ("Uniform", "UGapEb")  # these need a pull of each sensor


def load(path):
    """Return readings of shape (times, sensors)."""
    if path:
        return np.genfromtxt(path, delimiter=",", skip_header=1)
    pixels = require("sklearn.datasets", "sklearn").load_digits().data
    return pixels[:, pixels.std(axis=0) > 0]


class Sensors:
    """The history of some sensors and their later readings."""

    def __init__(self, readings, lowest):
        readings = -readings if lowest else readings
        n_known = readings.shape[0] * 2 // 3
        level = readings[:n_known].mean()
        self.later = readings[n_known:] - level
        self.covariance = np.cov(readings[:n_known], rowvar=False)
        self.noise_std = np.sqrt(NOISE_SHARE * np.diag(self.covariance).mean())

    def draw(self, rng):
        """Return the environment of a run: the readings at a random later time."""
        return pb.environments.GaussianBandit(self.later[rng.integers(len(self.later))],
                                              self.noise_std)

    def policy(self, name, budget):
        """Return a function from environment to policy, or None if the budget is too small."""
        noise, n_sensors = self.noise_std, len(self.covariance)
        if name in POLICIES:
            return lambda environment: getattr(pb.policies, name)(
                n_sensors, budget=budget, kernel=self.covariance, noise_std=noise, prior_std=ETA)
        if budget < n_sensors:
            return None
        options = dict(noise_std=noise) if name == "UGapEb" else {}
        return lambda environment: getattr(pb.policies, name)(n_sensors, budget=budget, **options)


def run(sensors, budgets, n_runs, seed):
    """Return the results by (policy, budget); run i reads the same time for all policies."""
    found = {}
    for name in (*POLICIES, *INDEPENDENT):
        for budget in budgets:
            policy = sensors.policy(name, budget)
            if policy:
                found[name, budget] = pb.simulate(policy, sensors.draw, n_runs, rng=seed)
    return found


def print_table(found, budgets, title, value):
    print(f"\n{title:<26}" + "".join(f"{f'T = {budget}':>10}" for budget in budgets))
    for name in dict.fromkeys(name for name, _ in found):
        cells = [f"{value(found[name, b]):.3f}" if (name, b) in found else "" for b in budgets]
        print(f"{name:<26}" + "".join(f"{cell:>10}" for cell in cells))


def draw(found, budgets, path):
    figure, ((axis,),) = drawing.new_figure(7.0, 4.0)
    for name in dict.fromkeys(name for name, _ in found):
        known = [b for b in budgets if (name, b) in found]
        axis.plot(known, [found[name, b].error_probability for b in known], "o-", label=name)
    axis.set(xscale="log", xlabel="readings", ylabel="probability of error", ylim=(0, 1))
    axis.legend(fontsize="small")
    drawing.save(figure, path)


def main(argv=None):
    parser = argparse.ArgumentParser(description="The highest of many correlated sensors.")
    parser.add_argument("--data", metavar="CSV", help="a header, then one row per time")
    parser.add_argument("--lowest", action="store_true", help="look for the lowest reading")
    parser.add_argument("--runs", type=int, default=400, help="runs per cell (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="10 runs, T = 25 and 100")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="sensors.png", metavar="PNG",
                        help="file for a plot (default %(default)s)")
    arguments = parser.parse_args(argv)
    start = time.perf_counter()
    readings = load(arguments.data)
    sensors = Sensors(readings, arguments.lowest)
    budgets, n_runs = (BUDGETS[:2], 10) if arguments.quick else (BUDGETS, arguments.runs)
    print(f"{readings.shape[1]} sensors, {readings.shape[0]} times; {n_runs} runs")
    found = run(sensors, budgets, n_runs, arguments.seed)
    print_table(found, budgets, "probability of error", lambda r: r.error_probability)
    print_table(found, budgets, "mean simple regret", lambda r: r.mean_regret)
    draw(found, budgets, arguments.out)
    print(f"\n{time.perf_counter() - start:.0f} s; plot: {arguments.out}")


if __name__ == "__main__":
    main()
