"""Gibbs updates: races, sums of all factors, Poisson-Gibbs, and numba loops.

Run as ``python bench/mcmc/bench_gibbs.py``; prints two tables. *Potts*: V variables with D states,
all pairs interact, L is the sum of a variable's factors. Columns: factors read, processor time
per update in microseconds, and ESS of the share of state 0 (ArviZ's bulk ESS of one chain, per
1,000 sweeps and per second), best of three alternating rounds. *Means given labels*: cost of an
update of one mean of a mixture, on a grid of D values, given the labels of N observations.
"""

import argparse
import time
import warnings

import numpy as np

import pybandit as pb
import pybandit.numba
from pybandit import mcmc

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import arviz
    import numba


@numba.njit
def exact_sweep(x, neighbours, weight, totals, rng):
    for v in range(x.size):
        totals[:] = 0.0
        for j in range(neighbours.shape[1]):
            totals[x[neighbours[v, j]]] += weight
        best, most = 0, -np.inf
        for s in range(totals.size):
            total = totals[s] - np.log(-np.log(rng.random()))
            if total > most:
                most, best = total, s
        x[v] = best


def spent(call, rounds=1):
    start = time.process_time()
    for _ in range(rounds):
        call()
    return (time.process_time() - start) / rounds


def chain_of(table, method, seed=1):
    sampler = mcmc.RacingGibbs(table, method=method)
    start = np.random.default_rng(seed).integers(0, table.n_states, table.n_variables)
    return sampler._native_chain(np.random.default_rng(seed), start)


def share_of_first(step, values, n_sweeps):
    shares = np.empty(n_sweeps)
    for t in range(n_sweeps):
        step()
        shares[t] = np.mean(values == 0)
    return float(arviz.ess(shares[None], method="mean"))


def potts(n_variables, n_states, sizes, n_sweeps, rounds=3):
    everybody, rng = np.arange(n_variables), np.random.default_rng(1)
    neighbours = np.stack([np.delete(everybody, v) for v in everybody])
    print(f"\nPotts, {n_variables} variables with {n_states} states, all pairs interact")
    print("| L | | factors read | us per update | ESS per 1,000 sweeps | ESS per second |")
    print("| ---: | --- | ---: | ---: | ---: | ---: |")
    for size in sizes:
        weight = size / (n_variables - 1)
        table = mcmc.PairwiseTable(weight * np.eye(n_states), neighbours)
        chains = {method: chain_of(table, method) for method in ("race", "exact", "poisson")}
        x = np.random.default_rng(1).integers(0, n_states, n_variables)
        totals = np.zeros(n_states)
        steps = {name: chain.step for name, chain in chains.items()}
        steps["numba, exact"] = lambda x=x, weight=weight, totals=totals: exact_sweep(
            x, neighbours, weight, totals, rng)
        values = {name: chain.values for name, chain in chains.items()} | {"numba, exact": x}
        for step in steps.values():
            step()
        for chain in chains.values():
            chain.clear()
        times = {name: min(spent(step) for _ in range(rounds)) for name, step in steps.items()}
        for name, step in steps.items():
            read = n_variables - 1
            if name in chains:
                chain = chains[name]
                read = chain.n_evaluations / (rounds * n_variables * n_states)
            ess = share_of_first(step, values[name], n_sweeps)
            each = times[name] / n_variables * 1e6
            print(f"| {size} | {name} | {read:,.0f} | {each:.2f} | {1000 * ess / n_sweeps:.0f} | "
                  f"{ess / n_sweeps / times[name]:.1f} |", flush=True)


def means(n, n_states, n_components, rounds=30):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, n_components, n)
    y = rng.normal(1.5 * labels, 1.0)
    grid = np.linspace(-1.0, 1.5 * n_components, n_states)

    @pybandit.numba.factor
    def log_factor(factors, states, out, y, members, grid):
        for f in range(factors.size):
            for s in range(states.size):
                out[f, s] = -0.5 * (y[members[factors[f]]] - grid[states[s]]) ** 2

    def by_numpy(k=3):
        own = y[labels == k]
        totals = own.sum() * grid - 0.5 * own.size * grid**2
        return int(np.argmax(totals + rng.gumbel(size=n_states)))

    def by_callback(k=3):
        members = np.flatnonzero(labels == k)
        factors = pb.Factors(log_factor.bind(y, members, grid), members.size, n_states)
        return pb.race(factors, rng.gumbel(size=n_states), rng=rng).best

    def all_of(draw):
        parts = pb.factors.members(labels, n_components)
        return [draw(pb.factors.gaussian(y, grid, members=part)) for part in parts]

    ways = {
        "NumPy, sums of y": (by_numpy, 1),
        "race, a function of numba": (by_callback, 1),
        "race, compiled factors": (lambda: all_of(lambda f: pb.race(
            f, rng.gumbel(size=n_states), rng=rng).best), n_components),
        "exact_sample, compiled factors": (
            lambda: all_of(lambda f: pb.racing.exact_sample(f, rng=rng)),
                                           n_components),
    }
    for call, _ in ways.values():
        call()
    best = dict.fromkeys(ways, np.inf)
    for _ in range(rounds):
        for name, (call, share) in ways.items():
            best[name] = min(best[name], spent(call) / share)
    print(f"\nA mean on a grid of {n_states} given labels, {n} observations, {n_components} "
          "components\n| | us per update |\n| --- | ---: |")
    for name, seconds in best.items():
        print(f"| {name} | {seconds * 1e6:.0f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-v", "--variables", type=int, default=10_001)
    parser.add_argument("--states", type=int, default=10)
    parser.add_argument("--sizes", type=float, nargs="+", default=[1, 2, 5, 10, 20])
    parser.add_argument("--sweeps", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="101 variables, 5 sweeps")
    given = parser.parse_args()
    if given.quick:
        given.variables, given.sweeps = 101, 5
    potts(given.variables, given.states, given.sizes, given.sweeps)
    means(2_000 if given.quick else 100_000, 21, 8)
