"""Length of draws that the warm-up of exact chains chooses, against the best fixed length.

Run as ``python bench/mcmc/bench_warmup.py``; one row per size. Effective samples per second of
processor time (ArviZ's bulk ESS, the smallest of the d parameters) of `ExactMinibatch` with its
default warm-up, and of the same mixture of proposals with fixed steps of length b, b = 1 being
independent draws. The last column is the rate of the default divided by the best rate in the row.
"""

import argparse
import time
import warnings

import numpy as np
from bench_chains import problem, smallest_ess

from pybandit import mcmc

LENGTHS = (1.0, 0.9, 0.8, 0.65, 0.5, 0.3)
SIZES = [(n, d) for n in (1_000, 10_000, 100_000, 1_000_000) for d in (5, 20, 50)]


def measure(sampler, n_steps, n_warmup, n_runs):
    """Return effective samples per second, warm-up not counted, and the acceptance rate."""
    ess = seconds = accepted = 0.0
    for seed in range(n_runs):
        start = time.process_time()
        tree = sampler.sample(n_steps, n_warmup=n_warmup, n_chains=1, rng=seed)
        seconds += (time.process_time() - start) * n_steps / (n_steps + n_warmup)
        ess += smallest_ess(tree["posterior"]["x"].to_numpy()[0])
        accepted += float(tree["sample_stats"]["accepted"].mean()) / n_runs
    return ess / seconds, accepted


def row(n, d, n_steps, n_runs):
    """Measure all lengths and the default on one logistic regression."""
    x, y, mode, covariance = problem(n, d)
    walk = mcmc.RandomWalk(2.38 / np.sqrt(d) * np.linalg.cholesky(covariance))
    found = []
    for length in LENGTHS:
        draws = mcmc.Preconditioned(mode, covariance, step=length)
        sampler = mcmc.ExactMinibatch(x, y, proposal=mcmc.Mixture([draws, walk], [19, 1]),
                                      adapt=False)
        found.append(measure(sampler, n_steps, 0, n_runs)[0])
    default, accepted = measure(mcmc.ExactMinibatch(x, y), n_steps, 1_000, n_runs)
    return found, default, accepted


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--sizes", nargs="+", metavar="N,d",
                        type=lambda text: tuple(map(int, text.split(","))), default=SIZES)
    parser.add_argument("--quick", action="store_true", help="one size, 1,000 steps, one run")
    options = parser.parse_args()
    if options.quick:
        options.sizes, options.steps, options.runs = [(1_000, 5)], 1_000, 1
    print(f"{'N':>9}{'d':>4}" + "".join(f"{f'b = {length}':>12}" for length in LENGTHS)
          + f"{'default':>12}{'accepted':>10}{'of the best':>13}")
    for n, d in options.sizes:
        found, default, accepted = row(n, d, options.steps, options.runs)
        print(f"{n:>9,}{d:>4}" + "".join(f"{value:>12,.0f}" for value in found)
              + f"{default:>12,.0f}{accepted:>10.2f}{default / max(*found, default):>13.2f}",
              flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
