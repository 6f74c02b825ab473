"""Pulls needed to identify the best arm with confidence, relative to a lower bound.

    python examples/policies/fixed_confidence.py [--runs 300] [--quick] [--seed 1]

The first table uses ten Gaussian arms of means 1, .9, ..., .1 and standard deviation 1. It
compares policies under the stopping rule `pybandit.stopping.GLR`, with its proven and its heuristic
threshold, and policies with their own bounds. Entries are mean pulls over T log(1 / delta), with T
of Garivier and Kaufmann 2016, and the standard error in brackets; x gives the number of runs that
named a wrong arm. The second table shows pulls for the two Bernoulli instances of that paper, with
the heuristic threshold at delta = .1. The third shows pulls for rewards in [0, 1] with half of
these ten means, either 0 or 1 or with standard deviation .02, at delta = .1. It compares the rules
that assume only this range with the heuristic one.
"""

import argparse
import time

import numpy as np

import pybandit as pb
from pybandit.stopping import GLR, Betting, lower_bound

MEANS = np.arange(10, 0, -1) / 10
DELTAS = 0.1, 1e-4, 1e-10
RULES = {
    "TrackAndStop": lambda k, rule: pb.policies.TrackAndStop(k, stopping=rule),
    "T3C": lambda k, rule: pb.policies.TopTwo(k, stopping=rule),
    "T3C, ids": lambda k, rule: pb.policies.TopTwo(k, stopping=rule, beta="ids"),
    "EB-TC": lambda k, rule: pb.policies.TopTwo(k, stopping=rule, leader="empirical"),
    "EB-TCI, ids": lambda k, rule: pb.policies.TopTwo(
        k, stopping=rule, leader="empirical", challenger="cost-improved", beta="ids"),
    "TTUCB": lambda k, rule: pb.policies.TopTwo(k, stopping=rule, leader="ucb"),
    "EBTC": lambda k, rule: pb.policies.EBTC(k, epsilon=0.0, stopping=rule),
    "SuccessiveElimination": lambda k, rule: pb.policies.SuccessiveElimination(k, stopping=rule),
    "T3C, variances unknown": lambda k, rule: pb.policies.TopTwo(
        k, stopping=GLR(delta=rule.delta, law="gaussian-unknown", guarantee=rule.guarantee)),
}
GAUSSIAN_ONLY = "EBTC", "T3C, variances unknown"  # the challenger of EBTC is Gaussian
OWN_BOUNDS = {
    "LUCB": lambda k, delta: pb.policies.LUCB(k, delta=delta),
    "UGapEc": lambda k, delta: pb.policies.UGapEc(k, delta=delta),
    "LilUCB": lambda k, delta: pb.policies.LilUCB(k, delta=delta),
    "LilUCB, heuristic": lambda k, delta: pb.policies.LilUCB(k, delta=delta, guarantee="heuristic"),
}
BERNOULLI = (0.5, 0.45, 0.43, 0.4), (0.3, 0.21, 0.2, 0.19, 0.18)


def cell(make, environment, n_runs, seed, unit=1.0):
    result = pb.simulate(make, environment, n_runs, rng=seed)
    pulls = result.pulls / unit
    wrong = int(result.errors.sum())
    error = pulls.std() / n_runs**0.5
    digits = 2 if unit > 1.0 else 0
    return f"{pulls.mean():,.{digits}f} [{error:.{digits}f}]" + (f" x{wrong}" if wrong else "")


def gaussian(rules, own_bounds, n_runs, seed):
    arms = pb.environments.GaussianBandit(MEANS, 1.0)
    least = lower_bound(MEANS, delta=0.1) / (0.8 * np.log(9.0))  # T
    print(f"{'pulls over ' + format(least, ',.0f') + ' log(1/delta)':<32}"
          + "".join(f"{delta:>18}" for delta in DELTAS))
    for guarantee in "heuristic", "proven":
        for name, make in rules.items():
            cells = [cell(lambda e, d=delta, m=make, g=guarantee: m(10, GLR(delta=d, guarantee=g)),
                          arms, n_runs, seed, least * np.log(1 / delta)) for delta in DELTAS]
            print(f"{name + ', ' + guarantee:<32}" + "".join(f"{text:>18}" for text in cells))
    n_runs = max(2, n_runs // 10)
    for name, make in own_bounds.items():
        cells = [cell(lambda e, d=delta: make(10, d), arms, n_runs, seed,  # noqa: B023
                      least * np.log(1 / delta)) for delta in DELTAS]
        print(f"{name:<32}" + "".join(f"{text:>18}" for text in cells))


def bernoulli(rules, n_runs, seed):
    rule = GLR(delta=0.1, law="bernoulli", guarantee="heuristic")
    print("\n" + f"{'pulls, delta = .1':<32}" + "".join(f"{means!s:>34}" for means in BERNOULLI))
    arms = [pb.environments.BernoulliBandit(means) for means in BERNOULLI]
    rows = {name: lambda e, make=make: make(e.n_arms, rule) for name, make in rules.items()
            if name not in GAUSSIAN_ONLY}
    rows["KLLUCB"] = lambda e: pb.policies.KLLUCB(e.n_arms, delta=0.1)
    for name, make in rows.items():
        cells = [cell(make, environment, n_runs, seed) for environment in arms]
        print(f"{name:<32}" + "".join(f"{text:>34}" for text in cells))
    cells = [f"{lower_bound(means, delta=0.1, law='bernoulli'):,.0f}" for means in BERNOULLI]
    print(f"{'least of any rule':<32}" + "".join(f"{text:>34}" for text in cells))


def bounded(rules, n_runs, seed):
    kinds = {"coins": pb.environments.BernoulliBandit(MEANS / 2),
             "narrow": pb.environments.UniformBandit(MEANS / 2, 0.02)}
    stops = {"bets": Betting(delta=0.1), "GLR": GLR(delta=0.1, law="bernoulli"),
             "heuristic": GLR(delta=0.1, law="bernoulli", guarantee="heuristic")}
    print("\n" + f"{'pulls, delta = .1':<32}"
          + "".join(f"{f'{kind}, {stop}':>20}" for kind in kinds for stop in stops))
    for name, make in rules.items():
        if name not in GAUSSIAN_ONLY:
            cells = [cell(lambda e, rule=rule: make(10, rule), arms, n_runs, seed)  # noqa: B023
                     for arms in kinds.values() for rule in stops.values()]
            print(f"{name:<32}" + "".join(f"{text:>20}" for text in cells))


def main(argv=None):
    parser = argparse.ArgumentParser(description="Pulls relative to a lower bound for any rule.")
    parser.add_argument("--runs", type=int, default=300, help="runs per cell (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="two rules, 4 runs")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(argv)
    start = time.perf_counter()
    rules, own_bounds, n_runs = RULES, OWN_BOUNDS, arguments.runs
    if arguments.quick:
        rules, n_runs = {name: RULES[name] for name in ("T3C", "EBTC")}, 4
        own_bounds = {"LUCB": OWN_BOUNDS["LUCB"]}
    gaussian(rules, own_bounds, n_runs, arguments.seed)
    bernoulli(rules, n_runs, arguments.seed)
    bounded(rules, n_runs, arguments.seed)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
