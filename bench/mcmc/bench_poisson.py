"""Benchmark of MH-SS: Poisson regression with d = 30; ESS per second, rows per step, ESS per row.

Run as ``python bench/mcmc/bench_poisson.py``. Data as simulated by Prado, Nemeth & Sherlock (2024,
Table 1): standard normal features with an intercept, coefficients N(0, 1 / d), counts with
mean log(1 + e^(x'theta)), a normal prior with variance 100. This model is not a built-in family:
`ExactMinibatch.from_control` receives a control, bounds and a numba function. The usual log link,
on a ball, is run too. E(B) is the mean number of rows read per step, ESS ArviZ's bulk ESS, the
smallest of the parameters. Times are processor times, best of a few rounds.
"""

import argparse
import time
import warnings

import numpy as np
from bench_chains import smallest_ess
from scipy import special

import pybandit as pb
import pybandit.numba
from pybandit import mcmc

PRIOR = 0.01


@pybandit.numba.factor
def log_ratios(factors, states, out, x, y, points):
    for f in range(factors.size):
        n = factors[f]
        before = after = 0.0
        for i in range(x.shape[1]):
            before += x[n, i] * points[0, i]
            after += x[n, i] * points[1, i]
        before = max(before, 0.0) + np.log1p(np.exp(-abs(before)))
        after = max(after, 0.0) + np.log1p(np.exp(-abs(after)))
        out[f, 0] = before - after
        if y[n] > 0:
            out[f, 0] += y[n] * np.log(after / before)


def derivatives(y, s):
    """Return three derivatives of y log m - m, m = log(1 + e^s)."""
    m, p = np.logaddexp(0.0, s), special.expit(s)
    q = p * (1 - p)  # m' = p, m'' = q, m''' = q (1 - 2 p)
    u, v = p / m, q / m
    return (y * u - p, y * (v - u**2) - q,
            y * (q * (1 - 2 * p) / m - 3 * u * v + 2 * u**3) - q * (1 - 2 * p))


def third_of(y):
    """Return bounds y K + 1 / (6 sqrt 3) of |l'''|, K = max |(log m)'''| on a grid, plus margin."""
    s = np.arange(-40.0, 40.0, 1e-3)
    return y * (1.001 * np.abs(derivatives(1.0, s)[2] - derivatives(0.0, s)[2]).max()) + (
        1 / (6 * np.sqrt(3)))


def problem(n, d, seed=1):
    """Return data with this link, the posterior mode, and an expansion there with bounds."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(n), rng.normal(size=(n, d - 1))])
    theta = rng.normal(size=d) / np.sqrt(d)
    y = rng.poisson(np.logaddexp(0.0, x @ theta)).astype(float)
    for _ in range(30):
        first, second, _ = derivatives(y, x @ theta)
        theta = theta + np.linalg.solve(PRIOR * np.eye(d) - (x.T * second) @ x,
                                        x.T @ first - PRIOR * theta)
    first, second, _ = derivatives(y, x @ theta)
    return x, y, mcmc.GLMControl(x, first, second, theta, third=third_of(y))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-n", type=int, nargs="+", default=[31_622, 100_000])
    parser.add_argument("-d", type=int, default=30)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="1,000 steps, 2,000 rows, one round")
    options = parser.parse_args()
    if options.quick:
        options.n, options.steps, options.rounds = [2_000], 1_000, 1
    print(f"{'':<50}{'E(B)':>8}{'us/step':>9}{'ESS/step':>10}{'ESS/s':>10}{'ESS/E(B)':>10}")
    for n in options.n:
        x, y, control = problem(n, options.d)
        functions = dict(factors=lambda points, x=x, y=y: pb.Factors(
            log_ratios.bind(x, y, points), len(x), 1), prior_precision=PRIOR)
        # counts with mean e^s, of about the same size
        counts = np.random.default_rng(2).poisson(np.exp(x @ control.center - 0.5)).astype(float)
        for test in ("factorised", "auxiliary"):
            for proposal in ("laplace", "walk"):
                name = f"N = {n:,}, {test}, {proposal}"
                report(name + ", log(1 + e^s)", options, mcmc.ExactMinibatch.from_control(
                    control, test=test, proposal=proposal, **functions))
                report(name + ", e^s, R = 11", options, mcmc.ExactMinibatch(
                    x, counts, family="poisson", radius=11.0, test=test, proposal=proposal,
                    prior_precision=PRIOR))


def report(name, options, sampler):
    best = np.inf
    for _ in range(options.rounds):
        start = time.process_time()
        tree = sampler.sample(options.steps, n_warmup=1000, n_chains=1, rng=1)
        best = min(best, (time.process_time() - start) / (options.steps + 1000))
    rows = float(tree["sample_stats"]["n_evaluations"].mean())
    per_step = smallest_ess(tree["posterior"]["x"].to_numpy()[0]) / options.steps
    print(f"{name:<50}{rows:>8.2f}{best * 1e6:>9.2f}{per_step:>10.4f}{per_step / best:>10,.0f}"
          f"{per_step * options.steps / rows:>10,.0f}", flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
