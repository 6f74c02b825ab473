"""The price of a caplet by sixteen importance samplers (Neufeld et al. 2014, Figure 2).

    python examples/montecarlo/caplet.py [--runs N] [--quick] [--out PNG]

Prints n times the mean squared error of the pooled mean, computed as sum_k V_k N_k / n with the
exact V_k. "Raw" rewards are 1 - X^2 / B^2 as in the paper, with a fixed cap B; the paper does not
give its own. "Centred" rewards take centre and cap from ten values of each sampler. In
brackets: reference values of an independent implementation, whose error is not known. Centred
Thompson there, marked ~, had another cap and is not compared.
"""

import argparse
import functools
import time

import numpy as np
from estimator_policies import OURS, PAPER, make, measure, shared_variance
from population import population_monte_carlo

import pybandit as pb
from pybandit._shared import drawing

CAPS = {0.06: 50.0, 0.07: 35.0, 0.08: 25.0}
RAW, CENTRED = "{}, raw", "{}, centred"
# reference values at n = 1e5, by strike
REFERENCE = {
    "uniform": (252.1, 29.80, 2.604),
    "UCB1, raw": (133, 16.7, 2.40),
    "UCB-V, raw": (111, 12.4, 2.10),
    "KL-UCB, raw": (63.4, 9.3, 1.64),
    "Thompson, raw": (28.4, 6.23, 1.405),
    "population": (3.9, 3.9, 1.01),
}
OTHER_CAP = {"Thompson, centred": (3.0, 2.47, 1.038)}
REFERENCE_BUDGET = 100_000
PAPER_FOUR = [name for name in PAPER if name != "UCB-V (1/3, 1)"]
DRAWN = ("uniform", "Thompson, raw", "Thompson, centred", "thompson-variance", "population")


def uniform(caplet, n, n_runs, seed):
    """Run all samplers in turn; the result has no noise."""
    n_arms = caplet.n_arms
    pulls = n // n_arms + (np.arange(n_arms) < n % n_arms)
    return float(pulls @ caplet.variances) / n, 0.0


def bandit(name, options, caplet, n, n_runs, seed):
    metric = functools.partial(shared_variance, caplet.variances)
    return measure(name, caplet, n_runs, seed, metric, budget=n, **options)


def population(rule, caplet, n, n_runs, seed):
    """Return the error from the sample variance of the weighted payoffs."""
    streams = np.random.SeedSequence(seed).spawn(n_runs)
    values = np.array([population_monte_carlo(caplet, n, rule=rule, rng=stream).variance
                       for stream in streams])
    return values.mean(), 1.96 * values.std(ddof=1) / np.sqrt(n_runs)


def methods(strike):
    """Return name -> function of caplet, n, n_runs, seed."""
    found = {"uniform": uniform}
    for name in PAPER_FOUR:
        capped = {"value_range": (0.0, CAPS[strike])}
        found[RAW.format(name)] = functools.partial(bandit, name, capped)
    for name in PAPER_FOUR:
        found[CENTRED.format(name)] = functools.partial(bandit, name, {})
    for name in OURS:
        found[name] = functools.partial(bandit, name, {})
    found["population"] = functools.partial(population, "variance")
    found["population, as printed"] = functools.partial(population, "printed")
    return found


def print_table(strike, caplet, budgets, n_runs, seed):
    """Print one strike; return lines of a plot, and True for each reference in its interval."""
    column, lines, hits = list(CAPS).index(strike), [], {}
    print(f"\nstrike {strike}, best {caplet.variances.min():.4f} at theta = "
          f"{caplet.thetas[caplet.variances.argmin()]:.1f}, {n_runs} runs")
    print(f"{'':>24}" + "".join(f"{f'n = {n:,}':<18}" for n in budgets).rstrip())
    for name, method in methods(strike).items():
        found = [method(caplet, n, n_runs, seed) for n in budgets]
        text = "".join(f"{f'{value:.4g}±{half:.2g}':<18}" for value, half in found).rstrip()
        if budgets[-1] == REFERENCE_BUDGET and name in REFERENCE:
            (value, half), known = found[-1], REFERENCE[name][column]
            text = f"{text:<52} [{known}]"
            # the reference is printed with three digits
            hits[strike, name] = abs(value - known) <= half + 0.002 * known
        elif budgets[-1] == REFERENCE_BUDGET and name in OTHER_CAP:
            text = f"{text:<52} [~{OTHER_CAP[name][column]}]"
        print(f"{name:>22}  {text}", flush=True)
        if name in DRAWN:
            lines.append({"label": name, "x": budgets, "y": [v for v, _ in found],
                          "half": [h for _, h in found], "reference": [None] * len(budgets)})
    return lines, hits


def print_price(strike, caplet, n, seed):
    """Print the price with an interval, and the exact one of the same discretised rate."""
    allocator = make("thompson-variance", caplet.n_arms, budget=n, weights="predictable", rng=seed)
    rng = np.random.default_rng(seed)
    start = time.perf_counter()
    while not allocator.done:
        arms = allocator.ask()
        allocator.tell(arms, caplet.pull(arms, rng))
    low, high = allocator.interval()
    distance = (allocator.estimate - caplet.means[0]) / allocator.standard_error
    print(f"strike {strike}: price {allocator.estimate:.5f} in [{low:.5f}, {high:.5f}], exact "
          f"{caplet.means[0]:.5f}, {distance:+.2f} standard errors, "
          f"{time.perf_counter() - start:.1f} s")
    return distance


def main(argv=None):
    parser = argparse.ArgumentParser(description="A caplet by sixteen importance samplers.")
    parser.add_argument("--runs", type=int, default=20, help="of a cell (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="2 runs, n = 300 and 1,000")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", metavar="PNG", help="picture")
    arguments = parser.parse_args(argv)
    budgets, n_runs = [1000, 10_000, REFERENCE_BUDGET], arguments.runs
    if arguments.quick:
        budgets, n_runs = [300, 1000], 2
    start, panels, hits = time.perf_counter(), {}, {}
    caplets = {strike: pb.environments.CIRCaplet(strike) for strike in CAPS}
    for strike, caplet in caplets.items():
        lines, found = print_table(strike, caplet, budgets, n_runs, arguments.seed)
        panels[f"strike {strike}"] = lines
        hits |= found
    if hits:
        print(f"\n{sum(hits.values())} of {len(hits)} references in the intervals; outside: "
              f"{[key for key, inside in hits.items() if not inside]}")
    print(f"\nthompson-variance, predictable weights, n = {budgets[-1]:,}")
    for strike, caplet in caplets.items():
        print_price(strike, caplet, budgets[-1], arguments.seed)
    print(f"\n{time.perf_counter() - start:.0f} s")
    if arguments.out:
        figure = drawing.measured_figure(panels, "n", "n times the mean squared error", log=True)
        drawing.save(figure, arguments.out)
        print(f"picture: {arguments.out}")


if __name__ == "__main__":
    main()
