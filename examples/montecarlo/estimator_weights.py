"""Weights for combining values of several estimators: normal, rare and skewed values.

    python examples/montecarlo/estimator_weights.py [--runs N] [--quick] [--out PNG]

Prints three tables of n times the mean squared error, n = 1,000. First: five normal estimators
with standard deviations 1 to 20; the best alone has an error of 1. Second: two estimators of 1,
one normal with standard deviation 1.5, the other usually .5 +- .05 and rarely large, as from a
proposal that misses half of the mass. It also prints how often the interval contains the true
value, and how often the two means differ by over 3 standard errors, which is a warning sign.
Third: three log-normal estimators; their errors are divided by the smallest variance.
"""

import argparse
import time

import numpy as np
from scipy.special import ndtri

import pybandit as pb
from pybandit._shared import drawing
from pybandit._shared.drawing import COLOURS, tidy
from pybandit.environments import EmpiricalBandit, GaussianBandit

# name of a row: policy of EstimatorAllocator
BANDITS = {"UCB1": "ucb1", "UCB-V": "ucb-v", "UCB-V (1/3, 1)": None, "KL-UCB": "kl-ucb",
           "Thompson": "thompson"}
OURS = ("lcb-variance", "thompson-variance")
BUDGET = 1000
WEIGHTS = ("mean", "inverse-variance", "predictable")
DEVIATIONS = np.array([1.0, 1.5, 3.0, 10.0, 20.0])
QUANTILES = ndtri((np.arange(10_000) + 0.5) / 10_000)
# policy, weights and options if one value in 1,000 is large
RARE = (
    ("uniform", "mean", {}),
    ("uniform", "inverse-variance", {}),
    ("thompson-variance", "mean", {}),
    ("thompson-variance", "inverse-variance", {}),
    ("thompson-variance", "predictable", {}),
    ("thompson-variance", "predictable", {"pilot": 100}),
    ("UCB-V", "mean", {}),
)
SKEWED = (("mean", {}), ("inverse-variance", {}), ("predictable", {}),
          ("predictable", {"least_values": 30}))


def make(name, n_arms, **options):
    """Return an allocator with this policy."""
    policy = BANDITS.get(name, name) or pb.policies.UCBV(n_arms, c=1 / 3, zeta=1.0)
    return pb.montecarlo.EstimatorAllocator(n_arms, policy=policy, **options)


def five():
    return GaussianBandit(np.full(5, 3.0), DEVIATIONS)


def rare(share):
    """Return two estimators of 1; the second is large in this share of its runs."""
    second = 0.5 + 0.05 * QUANTILES
    second[::round(1 / share)] += 0.5 / share
    return EmpiricalBandit([_centred(1.0 + 1.5 * QUANTILES), _centred(second)])


def log_normal():
    """Return three estimators of 1: log-normal values (log-variance 1), scaled about their mean.

    Their standard deviations are 1, .5 and 1.5 times that of the log-normal.
    """
    values = _centred(np.exp(QUANTILES - 0.5))
    return EmpiricalBandit([1.0 + scale * (values - 1.0) for scale in (1.0, 0.5, 1.5)])


def _centred(values):
    return values + (1.0 - values.mean())


def estimate(policy, environment):
    return policy.estimate


def squared_error(policy, environment):
    """Return n times the squared error."""
    return policy.n_pulls * (policy.estimate - environment.means[0]) ** 2


def trusts_the_second(policy, environment):
    """Return True if the second estimator has over 80 % of the runs."""
    return policy.pulls[1] > 0.8 * policy.n_pulls


def says_so(policy, environment):
    """Return True if the two means differ by over 3 standard errors."""
    error = np.sqrt((policy.variances / policy.pulls).sum())
    return abs(policy.means[0] - policy.means[1]) > 3 * error


def covers(policy, environment):
    low, high = policy.interval()
    return low <= environment.means[0] <= high


def simulated(name, environment, n_runs, seed, metrics, **options):
    return pb.simulate(lambda e: make(name, e.n_arms, budget=BUDGET, **options), environment,
                       n_runs, rng=seed, metrics=metrics, progress=False)


def with_half(values):
    """Return the mean, and half of its 95 % interval."""
    return values.mean(), 1.96 * values.std(ddof=1) / np.sqrt(values.size)


def print_five(n_runs, seed):
    """Return errors and half-widths, (weights, policies, 2), and the policies' names."""
    names, found = ("uniform", *BANDITS, *OURS), []
    print(f"five normal estimators, {n_runs:,} runs")
    print(f"{'':>20}" + "".join(f"{weights:<20}" for weights in WEIGHTS) + "runs of the best")
    for name in names:
        results = [simulated(name, five(), n_runs, seed, [squared_error], weights=weights)
                   for weights in WEIGHTS]
        cells = [with_half(result.metrics["squared_error"]) for result in results]
        text = "".join(f"{f'{value:.3f} ± {half:.3f}':<20}" for value, half in cells)
        print(f"{name:>18}  {text}{results[0].arm_pulls[0]:.0f}", flush=True)
        found.append(cells)
    return np.swapaxes(found, 0, 1), names


def print_rare(n_runs, seed):
    """Print the table of rare values; return the estimates of each line."""
    found, environment = {}, rare(1e-3)
    print(f"\nonce in 1,000 runs a large value, {n_runs:,} runs")
    print(f"{'':>32}{'weights':<18}{'n MSE':>10}{'±':>9}{'median':>8}{'mean':>7}{'covers':>8}"
          f"{'says so':>9}{'trusts':>8}")
    for name, weights, options in RARE:
        values = simulated(name, environment, n_runs, seed, [
            estimate, squared_error, covers, says_so, trusts_the_second], weights=weights,
            **options).metrics
        label = ", ".join([name, *(f"{key}={value}" for key, value in options.items())])
        error, half = with_half(values["squared_error"])
        print(f"{label:>30}  {weights:<18}{error:>10.3g}{half:>9.2g}"
              f"{np.median(values['estimate']):>8.2f}{values['estimate'].mean():>7.2f}"
              f"{values['covers'].mean():>8.0%}{values['says_so'].mean():>9.0%}"
              f"{values['trusts_the_second'].mean():>8.0%}", flush=True)
        found[f"{label}, {weights}"] = values["estimate"]
    for name in ("thompson-variance", "UCB-V"):
        share = simulated(name, rare(1e-2), n_runs, seed,
                          [trusts_the_second]).metrics["trusts_the_second"].mean()
        print(f"once in 100 runs: {name} trusts the second in {share:.0%}")
    return found


def print_skewed(n_runs, seed):
    environment = log_normal()
    least = environment.variances.min()
    print(f"\nthree log-normal estimators, thompson-variance, {n_runs:,} runs; beside: five normal")
    for weights, options in SKEWED:
        cells = []
        for arms, variance in ((environment, least), (five(), 1.0)):
            error, half = with_half(simulated("thompson-variance", arms, n_runs, seed, [
                squared_error], weights=weights, **options).metrics["squared_error"] / variance)
            cells.append(f"{error:.3f} ± {half:.3f}")
        label = ", ".join([weights, *(f"{key}={value}" for key, value in options.items())])
        print(f"{label:>30}  {cells[0]:<20}{cells[1]}", flush=True)


def draw(errors, names, estimates, path):
    """Plot errors by policy and weights, and the estimates if large values are rare."""
    figure, ((left, right),) = drawing.new_figure(11.0, 4.0, 1, 2)
    for weights, cells, colour in zip(WEIGHTS, errors, COLOURS, strict=False):
        left.errorbar(range(len(names)), cells[:, 0], cells[:, 1], fmt="o", ms=4, lw=1,
                      color=colour, label=weights)
    left.axhline(1.0, lw=0.8, color="grey")
    left.set_yscale("log")
    left.set_xticks(range(len(names)), names, rotation=40, ha="right")
    left.set_ylabel("n times the mean squared error", fontsize=9)
    left.set_title("five normal estimators", fontsize=10, loc="left")
    for (label, values), colour in zip(list(estimates.items())[2:5], COLOURS, strict=False):
        right.hist(np.clip(values, 0.0, 4.0), np.linspace(0.0, 4.0, 81), histtype="step",
                   color=colour, label=label)
    right.axvline(1.0, lw=0.8, color="grey")
    right.set_yscale("log")
    right.set_xlabel("estimate (4: and above)", fontsize=9)
    right.set_ylabel("runs", fontsize=9)
    right.set_title("a large value once in 1,000 runs", fontsize=10, loc="left")
    for axis in (left, right):
        axis.legend(fontsize=8, frameon=False)
        tidy(axis)
    drawing.save(figure, path)
    print(f"picture: {path}")


def main(argv=None):
    parser = argparse.ArgumentParser(description="Weights of several estimators' values.")
    parser.add_argument("--runs", type=int, default=4000,
                        help="runs per cell, half as many with rare values (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="10 runs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", metavar="PNG", help="file for a plot")
    arguments = parser.parse_args(argv)
    n_runs = 10 if arguments.quick else arguments.runs
    start = time.perf_counter()
    errors, names = print_five(n_runs, arguments.seed)
    estimates = print_rare(max(2, n_runs // 2), arguments.seed)
    print_skewed(n_runs, arguments.seed)
    print(f"\n{time.perf_counter() - start:.0f} s")
    if arguments.out:
        draw(errors, names, estimates, arguments.out)


if __name__ == "__main__":
    main()
